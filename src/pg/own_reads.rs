//! Bytes that the kernel reads for the parallel workers of a scan. Only they themselves can tell, and only as long as they are
//! there: each adds it when its part of the query is over.
//!
//! The hook is called for each query of the server: it returns at once unless the process is a parallel worker of a scan. It has no guard of
//! pgrx's, since nothing in it panics; errors of the query pass a frame that has nothing to drop.

use std::{
    fs,
    sync::atomic::Ordering::{Acquire, Release},
};

use pgfsbench_core::proc::{OWN_IO, Reads, parse_reads};
use pgrx::pg_sys;

use crate::{board::RunArea, pg::shmem};

static mut PREVIOUS: pg_sys::ExecutorRun_hook_type = None;

// pgrx's own of this name catches errors, which takes time in each query.
unsafe extern "C-unwind" {
    #[link_name = "standard_ExecutorRun"]
    fn standard_executor_run(
        query: *mut pg_sys::QueryDesc,
        direction: pg_sys::ScanDirection::Type,
        rows: u64,
        #[cfg(not(since = "18"))] once: bool,
    );
}

/// Has the parallel workers of scans count from now on. From `_PG_init`, while shared libraries are preloaded.
pub fn install_hook() {
    // SAFETY: the postmaster is single-threaded here, and hooks are meant to be chained like this.
    unsafe {
        PREVIOUS = pg_sys::ExecutorRun_hook;
        pg_sys::ExecutorRun_hook = Some(on_run);
    }
}

unsafe extern "C-unwind" fn on_run(
    query: *mut pg_sys::QueryDesc,
    direction: pg_sys::ScanDirection::Type,
    rows: u64,
    #[cfg(not(since = "18"))] once: bool,
) {
    let run = run_that_scans();
    let before = run.and_then(|_| of_this_process());
    // SAFETY: what the server has called this with; the previous hook was set by another library.
    unsafe {
        let next = PREVIOUS.unwrap_or(standard_executor_run);
        #[cfg(since = "18")]
        next(query, direction, rows);
        #[cfg(not(since = "18"))]
        next(query, direction, rows, once);
    }
    if let (Some(run), Some(before)) = (run, before)
        && let Some(after) = of_this_process()
    {
        let reads = after.since(before);
        run.workers_requested_bytes
            .fetch_add(reads.requested, Release);
        run.workers_read_bytes.fetch_add(reads.storage, Release);
        run.workers_told.fetch_add(1, Release);
    }
}

/// The run whose scan this parallel worker takes part in; None in every other process.
fn run_that_scans() -> Option<&'static RunArea> {
    // SAFETY: a variable of this process.
    if unsafe { pg_sys::ParallelWorkerNumber } < 0 {
        return None;
    }
    let run = &shmem::board()?.run;
    // SAFETY: this process's entry in shared memory; a parallel worker has joined its leader's group before it runs anything.
    let leader = unsafe { (*pg_sys::MyProc).lockGroupLeader };
    if leader.is_null() || run.worker_is_measured.load(Acquire) != 1 {
        return None;
    }
    // SAFETY: an entry in shared memory, which stays.
    let leader = unsafe { (*leader).pid };
    (leader == run.worker.pid.load(Acquire)).then_some(run)
}

/// Bytes read for this process; None if the kernel does not count them.
pub fn of_this_process() -> Option<Reads> {
    parse_reads(&fs::read_to_string(OWN_IO).ok()?)
}

/// Bytes read for another process; None also if we may not see it, or it is gone.
pub fn of_process(pid: i32) -> Option<Reads> {
    parse_reads(&fs::read_to_string(format!("/proc/{pid}/io")).ok()?)
}
