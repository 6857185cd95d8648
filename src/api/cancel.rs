//! `cancel`.

use std::sync::atomic::Ordering::Acquire;

use pgrx::{pg_extern, pg_sys::panic::ErrorReport};

use super::{guard, wait};
use crate::{
    board::Cancel,
    errors::Fault,
    pg::{process, report, session, xact},
    process::janitor,
    store,
};

#[pg_extern(sql = false)]
fn fsbench_cancel(run_id: i64) -> Result<bool, ErrorReport> {
    let ready = guard::ready()?;
    xact::check_may_write(c"fsbench.cancel()");
    let Some(request) = wait::request_of(&ready, run_id) else {
        tell_why_not(&ready, run_id)?;
        return Ok(false);
    };
    request.set_cancel(Cancel::Requested, &session::role_name(session::role()));
    process::wake(request.coordinator.load(Acquire));
    janitor::wake(ready.board);
    Ok(true)
}

/// Nothing was cancelled: the run is over, or there is none.
fn tell_why_not(ready: &guard::Ready, run_id: i64) -> Result<(), Fault> {
    let status = session::with_rights_of(ready.owner, || store::status_of(run_id))?;
    let (message, hint) = match status.as_deref() {
        None => (
            format!("run {run_id} does not exist in this database"),
            "See fsbench.progress for the runs that are queued or running.",
        ),
        Some(status @ ("done" | "failed" | "cancelled")) => (
            format!("run {run_id} is over already: {status}"),
            "See fsbench.result.",
        ),
        Some(_) => (
            format!("run {run_id} is not queued or running in this server"),
            "Its row comes from elsewhere, or the run is just ending.",
        ),
    };
    report::notice(message, Some(hint.into()));
    Ok(())
}
