//! Writes and flushes of WAL by this process, from PostgreSQL 18 on. The server counts them out of the reach of extensions, and hands them on to
//! pg_stat_get_backend_io() with its statistics, at most once a second. This module hands them on at each read, in less than a microsecond: that
//! entry has this process as its only writer, and pg_stat_io and pg_stat_wal get nothing of it earlier than without.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use pgrx::pg_sys;

use super::version::WalIo;

/// PGSTAT_BACKEND_FLUSH_IO of pgstat_internal.h.
const FLUSH_IO: u32 = 1;

// Declared in pgstat_internal.h, too.
unsafe extern "C-unwind" {
    fn pgstat_flush_backend(nowait: bool, flags: u32) -> bool;
}

/// The values that were known last, and how much WAL this process had made and how many blocks it had written by then: one that has done neither has
/// not written WAL. One writer, this process.
static LAST: [AtomicU64; 6] = [const { AtomicU64::new(0) }; 6];

/// See [`WalIo`].
#[inline]
pub fn wal_io() -> WalIo {
    let (wal, buffers) = (
        &raw const pg_sys::pgWalUsage,
        &raw const pg_sys::pgBufferUsage,
    );
    // SAFETY: counters of this process alone.
    let (records, written) = unsafe {
        (
            (*wal).wal_records as u64,
            (*buffers).shared_blks_written as u64,
        )
    };
    let known = |n: usize| LAST[n].load(Relaxed);
    if known(0) == records && known(1) == written {
        return WalIo {
            writes: known(2),
            syncs: known(3),
            write_ns: known(4),
            sync_ns: known(5),
        };
    }
    let now = ask();
    let all = [
        records,
        written,
        now.writes,
        now.syncs,
        now.write_ns,
        now.sync_ns,
    ];
    for (last, value) in LAST.iter().zip(all) {
        last.store(value, Relaxed);
    }
    now
}

fn ask() -> WalIo {
    let (wal, normal) = (
        pg_sys::IOObject::IOOBJECT_WAL as usize,
        pg_sys::IOContext::IOCONTEXT_NORMAL as usize,
    );
    let (write, sync) = (
        pg_sys::IOOp::IOOP_WRITE as usize,
        pg_sys::IOOp::IOOP_FSYNC as usize,
    );
    // SAFETY: the entry is this process's own, and the answer a copy of it, which is freed. Without the setting, the answer
    // would be that of the first time in a transaction.
    unsafe {
        pg_sys::ffi::pg_guard_ffi_boundary(|| pgstat_flush_backend(false, FLUSH_IO));
        let consistency = pg_sys::pgstat_fetch_consistency;
        pg_sys::pgstat_fetch_consistency =
            pg_sys::PgStat_FetchConsistency::PGSTAT_FETCH_CONSISTENCY_NONE as i32;
        let entry = pg_sys::pgstat_fetch_stat_backend(pg_sys::MyProcNumber);
        pg_sys::pgstat_fetch_consistency = consistency;
        if entry.is_null() {
            return WalIo::default();
        }
        let io = &raw const (*entry).io_stats;
        let count = |what: usize| (*io).counts[wal][normal][what] as u64;
        let ns = |what: usize| (*io).times[wal][normal][what] as u64 * 1000;
        let now = WalIo {
            writes: count(write),
            syncs: count(sync),
            write_ns: ns(write),
            sync_ns: ns(sync),
        };
        pg_sys::pfree(entry.cast());
        now
    }
}
