//! This process's own counters of WAL and blocks, and the shared memory of the server on other processes.

use pgfsbench_core::board::{Counts, Work};
use pgrx::pg_sys;

#[cfg(since = "18")]
use crate::pg::backend_io::wal_io as counted;
#[cfg(not(since = "18"))]
use crate::pg::version::wal_io as counted;
use crate::pg::version::{self, WalIo};

/// Writes and syncs of WAL by this process. A write that waits for the disk is a sync, too.
#[inline]
fn wal_io() -> WalIo {
    let io = counted();
    match version::is_each_write_a_sync() {
        true => WalIo {
            syncs: io.writes,
            sync_ns: io.write_ns,
            ..io
        },
        false => io,
    }
}

/// Counters of this process; those of writing WAL may begin anew whenever statistics are reported.
#[inline]
pub fn work() -> Work {
    let wal_io = wal_io();
    let (block_read_ns, block_write_ns) = version::block_io_times();
    // SAFETY: counters of this process alone, which only grow.
    unsafe {
        let (wal, blocks) = (
            &raw const pg_sys::pgWalUsage,
            &raw const pg_sys::pgBufferUsage,
        );
        Work {
            wal_records: (*wal).wal_records as u64,
            wal_fpi: (*wal).wal_fpi as u64,
            wal_bytes: (*wal).wal_bytes,
            wal_writes: wal_io.writes,
            wal_syncs: wal_io.syncs,
            wal_write_ns: wal_io.write_ns,
            wal_sync_ns: wal_io.sync_ns,
            blocks_hit: (*blocks).shared_blks_hit as u64,
            blocks_read: (*blocks).shared_blks_read as u64,
            blocks_dirtied: (*blocks).shared_blks_dirtied as u64,
            blocks_written: (*blocks).shared_blks_written as u64,
            block_read_ns,
            block_write_ns,
        }
    }
}

/// `work` as it stands after statistics were reported.
#[inline]
pub fn after_report(work: &mut Work) {
    let wal_io = wal_io();
    work.wal_writes = wal_io.writes;
    work.wal_syncs = wal_io.syncs;
    work.wal_write_ns = wal_io.write_ns;
    work.wal_sync_ns = wal_io.sync_ns;
}

/// Which of the counters count with the settings of this session.
pub fn counts() -> Counts {
    // SAFETY: settings of this process.
    let (wal_times, block_times) =
        unsafe { (pg_sys::track_wal_io_timing, pg_sys::track_io_timing) };
    Counts::WORK
        .with(Counts::WAL_IO, true)
        .with(Counts::WAL_TIMES, wal_times)
        .with(Counts::BLOCK_TIMES, block_times)
}

/// This process's place among the server's, for [`wait_of`].
pub fn procno() -> u32 {
    version::procno()
}

/// The wait event of the process at that place, 0 for none; None if it is another process by now.
#[inline]
pub fn wait_of(procno: u32, pid: i32) -> Option<u32> {
    // SAFETY: the array lies in shared memory, is as long as it says, and stays. The words are read whole; who writes them
    // does not care for readers.
    unsafe {
        let global = pg_sys::ProcGlobal;
        if procno >= (*global).allProcCount {
            return None;
        }
        let process = (*global).allProcs.add(procno as usize);
        if std::ptr::read_volatile(&raw const (*process).pid) != pid {
            return None;
        }
        Some(std::ptr::read_volatile(
            &raw const (*process).wait_event_info,
        ))
    }
}

/// Type and name of a wait event, as pg_stat_activity has them; `CPU` is none.
pub fn wait_name(event: u32) -> (String, String) {
    if event == 0 {
        return ("CPU".into(), "CPU".into());
    }
    // SAFETY: any number has a name, `unknown wait event` if there is no other; the texts stay.
    let text = |name: *const std::ffi::c_char| {
        if name.is_null() {
            return "unknown".to_owned();
        }
        // SAFETY: as above.
        unsafe { std::ffi::CStr::from_ptr(name) }
            .to_string_lossy()
            .into_owned()
    };
    // SAFETY: as above.
    unsafe {
        (
            text(pg_sys::pgstat_get_wait_event_type(event)),
            text(pg_sys::pgstat_get_wait_event(event)),
        )
    }
}

/// The insert position of WAL, and the position up to which it is flushed.
pub fn lsns() -> (u64, u64) {
    // SAFETY: read from shared memory under the server's own locks; not on a standby, where no run is.
    unsafe {
        (
            pg_sys::GetXLogInsertRecPtr(),
            pg_sys::GetFlushRecPtr(std::ptr::null_mut()),
        )
    }
}

/// Waits of a process outside of the server's own functions, in the server's words.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub enum Wait {
    /// For what is to come.
    Extension = pg_sys::PG_WAIT_EXTENSION,
    /// For a write of a file of WAL.
    WalWrite = pg_sys::WaitEventIO::WAIT_EVENT_WAL_WRITE,
    /// For such a file to be on disk.
    WalSync = pg_sys::WaitEventIO::WAIT_EVENT_WAL_SYNC,
    /// For a read of a file of a table.
    DataFileRead = pg_sys::WaitEventIO::WAIT_EVENT_DATA_FILE_READ,
}

/// Has `f` show as a wait, and not as work.
#[inline]
pub fn shown_as_waiting<R>(wait: Wait, f: impl FnOnce() -> R) -> R {
    // SAFETY: this process's own word in shared memory, as pgstat_report_wait_start() sets it.
    unsafe {
        std::ptr::write_volatile(pg_sys::my_wait_event_info, wait as u32);
        let result = f();
        std::ptr::write_volatile(pg_sys::my_wait_event_info, 0);
        result
    }
}
