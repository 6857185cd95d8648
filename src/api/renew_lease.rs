//! `_renew_lease`.

use std::sync::atomic::Ordering::Acquire;

use pgrx::{pg_extern, pg_sys::panic::ErrorReport};

use super::guard;
use crate::pg::{session, shmem};

/// Only looks at shared memory: a server that is stalled by what it measures must not lose the run for that.
#[pg_extern(sql = false)]
fn fsbench_renew_lease(run_id: i64) -> Result<bool, ErrorReport> {
    let Some(board) = shmem::board() else {
        // Says why there is none.
        guard::ready()?;
        return Ok(false);
    };
    let extension_database = session::database();
    let request = board.requests.iter().find(|request| {
        request.is_open()
            && request.run_id.load(Acquire) == run_id
            && request.extension_database.load(Acquire) == extension_database
            && request.lease_ms.load(Acquire) != 0
    });
    if let Some(request) = request {
        request.renew_lease();
    }
    Ok(request.is_some())
}
