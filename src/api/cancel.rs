//! `cancel`.

use std::sync::atomic::Ordering::Acquire;

use pgrx::{pg_extern, pg_sys::panic::ErrorReport};

use super::{guard, wait};
use crate::{
    board::Cancel,
    pg::{process, session},
    process::janitor,
};

#[pg_extern(sql = false)]
fn fsbench_cancel(run_id: i64) -> Result<bool, ErrorReport> {
    let ready = guard::ready()?;
    let Some(request) = wait::request_of(&ready, run_id) else {
        return Ok(false);
    };
    request.set_cancel(Cancel::Asked, &session::role_name(session::role()));
    process::wake(request.coordinator.load(Acquire));
    janitor::wake(ready.board);
    Ok(true)
}
