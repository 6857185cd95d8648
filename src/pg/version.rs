//! Differences between the versions of PostgreSQL.

use pgrx::pg_sys;

/// Timeouts that work in background workers too.
pub const TIMEOUTS: &[&str] = &[
    "lock_timeout",
    #[cfg(since = "17")]
    "transaction_timeout",
];

/// Core's statistics views of one row about the whole server.
pub const SHARED_STATISTICS: &[&str] = &[
    "pg_stat_wal",
    "pg_stat_bgwriter",
    #[cfg(since = "17")]
    "pg_stat_checkpointer",
];

/// pg_stat_io, where there is one.
pub const STAT_IO: &[&str] = &[
    #[cfg(since = "16")]
    "pg_stat_io",
];

/// Whether `pgbench -i` of this version loads all its tables frozen, and not only pgbench_accounts.
pub const PGBENCH_FREEZES_ALL: bool = cfg!(since = "17");

/// Whether statements of a pipeline after the first one are in an implicit transaction block, so that LOCK TABLE and SAVEPOINT are allowed.
pub const PIPELINE_IS_BLOCK: bool = cfg!(since = "18");

/// A handler of a signal.
#[cfg(not(since = "19"))]
pub type SignalHandler = unsafe extern "C-unwind" fn(i32);
/// A handler of a signal.
#[cfg(since = "19")]
pub type SignalHandler = unsafe extern "C-unwind" fn(i32, *const pg_sys::pg_signal_info);

/// Sets the handler of a signal.
///
/// # Safety
/// As pqsignal: the handler must do only what is allowed in one.
pub unsafe fn pqsignal(signal: u32, handler: SignalHandler) {
    // SAFETY: the caller's duty.
    unsafe {
        // A macro in 18, of this name underneath.
        #[cfg(since = "18")]
        pg_sys::pqsignal_be(signal as i32, Some(handler));
        #[cfg(not(since = "18"))]
        pg_sys::pqsignal(signal as i32, Some(handler));
    }
}

/// Runs a portal to its end, as a statement that was sent by a client.
///
/// # Safety
/// The portal was started; the receiver is valid.
pub unsafe fn portal_run(portal: pg_sys::Portal, receiver: *mut pg_sys::DestReceiver) {
    let all = std::ffi::c_long::MAX;
    let mut completion = pg_sys::QueryCompletion::default();
    // SAFETY: the caller's duty.
    unsafe {
        pg_sys::PortalRun(
            portal,
            all,
            true,
            #[cfg(not(since = "18"))]
            true,
            receiver,
            receiver,
            &mut completion,
        );
    }
}

/// Has the executor run a planned statement to its end, with the snapshot that is active.
///
/// # Safety
/// In a transaction; the statement is no utility, and statement, text, receiver and parameters are valid.
pub unsafe fn execute(
    statement: *mut pg_sys::PlannedStmt,
    text: *const std::ffi::c_char,
    receiver: *mut pg_sys::DestReceiver,
    parameters: pg_sys::ParamListInfo,
) {
    // SAFETY: the caller's duty; the description of the query ends here, or with the transaction.
    unsafe {
        let query = pg_sys::CreateQueryDesc(
            statement,
            text,
            pg_sys::GetActiveSnapshot(),
            std::ptr::null_mut(),
            receiver,
            parameters,
            std::ptr::null_mut(),
            0,
        );
        pg_sys::ExecutorStart(query, 0);
        pg_sys::ExecutorRun(
            query,
            pg_sys::ScanDirection::ForwardScanDirection,
            0,
            #[cfg(not(since = "18"))]
            true,
        );
        pg_sys::ExecutorFinish(query);
        pg_sys::ExecutorEnd(query);
        pg_sys::FreeQueryDesc(query);
    }
}

/// SLRU buffers that a checkpoint wrote; told since 18.
pub fn slru_written(_stats: &pg_sys::CheckpointStatsData) -> Option<i32> {
    #[cfg(since = "18")]
    return Some(_stats.ckpt_slru_written);
    #[cfg(not(since = "18"))]
    None
}

/// This process's place among the server's.
pub fn procno() -> u32 {
    // SAFETY: set when this process joined the shared memory, and never changed.
    #[cfg(not(since = "17"))]
    unsafe {
        (*pg_sys::MyProc).pgprocno as u32
    }
    // SAFETY: as above.
    #[cfg(since = "17")]
    unsafe {
        pg_sys::MyProcNumber as u32
    }
}

/// Writes and flushes of WAL by this process and their times: since the server's statistics were last told, in 18 since it began.
#[derive(Clone, Copy, Default)]
pub struct WalIo {
    pub writes: u64,
    pub syncs: u64,
    pub write_ns: u64,
    pub sync_ns: u64,
}

/// True if each write of WAL waits until the disk has it (wal_sync_method open_sync or open_datasync). The server counts no sync then.
#[inline]
pub fn is_each_write_a_sync() -> bool {
    // Constants of xlog.h, in all versions.
    const OPEN: i32 = 2;
    const OPEN_DSYNC: i32 = 4;
    // SAFETY: settings of this process.
    unsafe {
        #[cfg(not(since = "17"))]
        let method = pg_sys::sync_method;
        #[cfg(since = "17")]
        let method = pg_sys::wal_sync_method;
        pg_sys::enableFsync && [OPEN, OPEN_DSYNC].contains(&method)
    }
}

/// See [`WalIo`]; 18 has its own way.
#[cfg(not(since = "18"))]
#[inline]
pub fn wal_io() -> WalIo {
    // SAFETY: counters of this process alone. Times are microseconds in 15, instr_time after it.
    unsafe {
        let pending = &raw const pg_sys::PendingWalStats;
        #[cfg(not(since = "16"))]
        let ns = |microseconds: i64| microseconds as u64 * 1000;
        #[cfg(since = "16")]
        let ns = |time: pg_sys::instr_time| time.ticks as u64;
        WalIo {
            writes: (*pending).wal_write as u64,
            syncs: (*pending).wal_sync as u64,
            write_ns: ns((*pending).wal_write_time),
            sync_ns: ns((*pending).wal_sync_time),
        }
    }
}

/// Nanoseconds that this process has read and written blocks of shared buffers, while track_io_timing was on.
#[inline]
pub fn block_io_times() -> (u64, u64) {
    #[cfg(not(since = "16"))]
    let ns = |time: pg_sys::instr_time| time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64;
    #[cfg(since = "16")]
    let ns = |time: pg_sys::instr_time| time.ticks as u64;
    // SAFETY: counters of this process alone.
    unsafe {
        let usage = &raw const pg_sys::pgBufferUsage;
        #[cfg(not(since = "17"))]
        let times = ((*usage).blk_read_time, (*usage).blk_write_time);
        #[cfg(since = "17")]
        let times = (
            (*usage).shared_blk_read_time,
            (*usage).shared_blk_write_time,
        );
        (ns(times.0), ns(times.1))
    }
}

/// Blocks that processes of the server have written which count by themselves, blocks that others have, the clients among them,
/// and when that was last set to 0, as an array in JSON. Making a file longer is writing it.
#[cfg(not(since = "16"))]
pub const BLOCKS_WRITTEN: &str = "(SELECT jsonb_build_array(buffers_checkpoint + buffers_clean, buffers_backend, stats_reset) \
     FROM pg_stat_bgwriter)";
/// As above; autovacuum, sessions and so on are counted apart from background workers, as the clients are.
#[cfg(all(since = "16", not(since = "18")))]
pub const BLOCKS_WRITTEN: &str = "(SELECT jsonb_build_array( \
     sum(CASE backend_type WHEN 'background worker' THEN 0 ELSE coalesce(writes, 0) + coalesce(extends, 0) END), \
     sum(CASE backend_type WHEN 'background worker' THEN coalesce(writes, 0) + coalesce(extends, 0) ELSE 0 END), \
     max(stats_reset)) FROM pg_stat_io WHERE object = 'relation')";
/// As above.
#[cfg(since = "18")]
pub const BLOCKS_WRITTEN: &str = include_str!("queries/blocks_written_18.sql");
