//! `_start_together`.

use std::sync::atomic::Ordering::{Acquire, Release};

use pgrx::{pg_extern, pg_sys::panic::ErrorReport};

use super::guard;
use crate::{
    board::AWAITS_START,
    pg::{session, shmem},
};

/// Only looks at shared memory, as [`super::renew_lease`] does.
#[pg_extern(sql = false)]
fn fsbench_start_together(run_id: Option<i64>, start_ns: Option<i64>) -> Result<bool, ErrorReport> {
    let Some(board) = shmem::board() else {
        // Says why there is none.
        guard::ready()?;
        return Ok(false);
    };
    let index = board.run.request.load(Acquire).checked_sub(1);
    let request = index.and_then(|index| board.requests.get(index as usize));
    let is_it = request.is_some_and(|request| {
        Some(request.run_id.load(Acquire)) == run_id
            && request.extension_database.load(Acquire) == session::database()
    });
    let cell = &board.run.start_ns;
    if !is_it || cell.load(Acquire) != AWAITS_START {
        return Ok(false);
    }
    if let Some(start_ns) = start_ns.and_then(|ns| u64::try_from(ns).ok()) {
        cell.store(start_ns.max(AWAITS_START + 1), Release);
        shmem::announce();
    }
    Ok(true)
}
