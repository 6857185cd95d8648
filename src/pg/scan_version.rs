//! Differences between the versions of PostgreSQL for scans, and for pages of tables and indexes.

use pgrx::pg_sys;

use crate::errors::Fault;

/// Runs a query to its end, once.
///
/// # Safety
/// As ExecutorRun.
pub unsafe fn executor_run(query: *mut pg_sys::QueryDesc) {
    let forward = pg_sys::ScanDirection::ForwardScanDirection;
    // SAFETY: the caller's duty.
    unsafe {
        #[cfg(since = "18")]
        pg_sys::ExecutorRun(query, forward, 0);
        #[cfg(not(since = "18"))]
        pg_sys::ExecutorRun(query, forward, 0, true);
    }
}

/// Has shared buffers forget the blocks of one fork of a relation from a block on, without writing them.
///
/// # Safety
/// They must have no dirty page, and no process may be using them.
pub unsafe fn drop_relation_buffers(
    storage: pg_sys::SMgrRelation,
    fork: *mut pg_sys::ForkNumber::Type,
    from: *mut pg_sys::BlockNumber,
) {
    // SAFETY: the caller's duty.
    unsafe {
        #[cfg(not(since = "16"))]
        pg_sys::DropRelFileNodeBuffers(storage, fork, 1, from);
        #[cfg(since = "16")]
        pg_sys::DropRelationBuffers(storage, fork, 1, from);
    }
}

/// Logs pages of a fork of a table as they are.
///
/// # Safety
/// As log_newpages.
pub unsafe fn log_pages(
    relation: pg_sys::Relation,
    fork: pg_sys::ForkNumber::Type,
    blocks: &mut [pg_sys::BlockNumber],
    pages: &mut [*mut std::ffi::c_char],
) {
    // SAFETY: the caller's duty; both are as long.
    unsafe {
        #[cfg(not(since = "16"))]
        let place = &raw mut (*relation).rd_node;
        #[cfg(since = "16")]
        let place = &raw mut (*relation).rd_locator;
        pg_sys::log_newpages(
            place,
            fork,
            blocks.len() as i32,
            blocks.as_mut_ptr(),
            pages.as_mut_ptr().cast(),
            true,
        );
    }
}

/// Stores how large a relation is that was written by pages: its blocks and rows, and how many of its pages are all-visible and all-frozen.
///
/// # Safety
/// The relation is open, and its files have these blocks.
pub unsafe fn set_size(relation: pg_sys::Relation, blocks: u32, rows: u64, frozen: u32) {
    // SAFETY: the caller's duty. Transaction ids are left as they are, and so is whether there are indexes, as inside of an outer transaction.
    unsafe {
        pg_sys::vac_update_relstats(
            relation,
            blocks,
            rows as f64,
            frozen,
            #[cfg(since = "18")]
            frozen,
            false,
            pg_sys::InvalidTransactionId,
            pg_sys::InvalidTransactionId,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            true,
        );
    }
}

/// The processes of the server that read what others ask for; None where each process reads for itself. In a transaction.
pub fn io_workers() -> Result<Option<Vec<i32>>, Fault> {
    #[cfg(since = "18")]
    if super::config::shown("io_method")?.as_deref() == Some("worker") {
        let pids = super::sql::read(
            "SELECT coalesce(json_agg(pid ORDER BY pid), '[]') FROM pg_stat_activity WHERE backend_type = 'io worker'",
            &[],
        )?;
        return crate::errors::read_json("answer", &pids.unwrap_or_default()).map(Some);
    }
    Ok(None)
}
