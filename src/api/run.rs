//! `run` and `start`.

use std::{
    ffi::CStr,
    sync::atomic::Ordering::{Acquire, Release},
    time::Duration,
};

use pgfsbench_core::{
    spec::{RunArguments, Workload},
    units::format_count,
};
use pgrx::{iter::TableIterator, name, pg_extern, pg_sys, pg_sys::panic::ErrorReport};

use super::{
    guard,
    request::{self, Ticket},
    started, wait,
};
use crate::{
    board::{Board, Cancel, RequestState, outcome::Outcome},
    errors::Fault,
    pg::{report, shmem, text::Text, xact},
};

#[allow(clippy::type_complexity)]
#[pg_extern(sql = false)]
fn fsbench_run(
    call: pg_sys::FunctionCallInfo,
) -> Result<
    TableIterator<
        'static,
        (
            name!(run_id, i64),
            name!(target, String),
            name!(tps, Option<f64>),
            name!(latency_p99_ms, Option<f64>),
            name!(latency_max_ms, Option<f64>),
            name!(commit_p99_ms, Option<f64>),
            name!(stall_seconds, Option<i32>),
            name!(findings, String),
        ),
    >,
    ErrorReport,
> {
    Ok(wait::narrow(run(
        c"fsbench.run()",
        &request::arguments(call)?,
    )?))
}

#[pg_extern(sql = false)]
fn fsbench_start(call: pg_sys::FunctionCallInfo) -> Result<i64, ErrorReport> {
    Ok(start_told(&request::arguments(call)?)?)
}

/// For a server whose run is carried out here.
#[pg_extern(sql = false)]
fn fsbench_start_asked(arguments: Text) -> Result<i64, ErrorReport> {
    Ok(start_told(&request::arguments_by_server(&arguments.0)?)?)
}

fn start_told(arguments: &RunArguments) -> Result<i64, Fault> {
    // Also a cancel and a timeout tell which runs stay.
    let result = xact::catch(|| start(arguments)).and_then(|result| result);
    result.map_err(started::told)
}

/// Makes a run, and waits for it; `function` is what was called for it.
pub fn run(
    function: &'static CStr,
    arguments: &RunArguments,
) -> Result<crate::board::outcome::Row, Fault> {
    let ready = guard::ready()?;
    xact::check_may_write(function);
    request::check_can_wait(&function.to_string_lossy())?;
    let spec = request::specify(&ready, arguments)?;
    request::check_timeout(&spec)?;
    guard::janitor_is_there(ready.board)?;
    let ticket = request::submit(&ready, arguments, &spec, spec.options.wait_turn)?;
    let guard = CancelOnDrop(&ticket);
    let run_id = await_id(ready.board, &ticket)?;
    tell_remarks(spec.workload, arguments);
    report::notice(
        format!(
            "run {run_id} on target \"{}\": {}",
            spec.target,
            spec.plan_text()
        ),
        None,
    );
    tell_turn(ready.board, &ticket, run_id);
    let result = wait::for_end(&ticket, ready.board, run_id);
    std::mem::forget(guard);
    let outcome = result?;
    match outcome {
        Outcome::Failed(fault) => Err(fault),
        Outcome::Done(row) => {
            report::notice(
                match &row.filesystem {
                    Some(filesystem) => {
                        format!("run {run_id} is done: {} on {filesystem}", row.workload)
                    }
                    None => format!("run {run_id} is done: {}", row.workload),
                },
                Some(format!(
                    "Everything about it: SELECT * FROM fsbench.result WHERE run_id = {run_id}; \
                     {}, what can mislead in fsbench.finding.",
                    spec.workload.details(run_id)
                )),
            );
            Ok(row)
        }
    }
}

/// Tells the session what its arguments may do against its expectation.
pub fn tell_remarks(workload: Workload, arguments: &RunArguments) {
    for remark in workload.remarks(arguments) {
        report::notice(remark.message, Some(remark.hint.into()));
    }
}

/// Tells a waiting session how many runs come before its own.
fn tell_turn(board: &Board, ticket: &Ticket, run_id: i64) {
    if !ticket.request.waits_for_its_turn() {
        return;
    }
    let before = format_count(board.before(ticket.request) as u64, "run");
    report::notice(
        format!("run {run_id} waits for its turn, after {before}"),
        Some("Cancel the statement to take it out of the queue.".into()),
    );
}

fn start(arguments: &RunArguments) -> Result<i64, Fault> {
    let ready = guard::ready()?;
    xact::check_may_write(c"fsbench.start()");
    let spec = request::specify(&ready, arguments)?;
    guard::janitor_is_there(ready.board)?;
    let ticket = request::submit(&ready, arguments, &spec, true)?;
    let guard = CancelOnDrop(&ticket);
    let run_id = await_id(ready.board, &ticket)?;
    std::mem::forget(guard);
    tell_remarks(spec.workload, arguments);
    started::remember(run_id);
    // From here on no session waits for it.
    ticket.request.renew_lease();
    ticket.request.waiter.store(0, Release);
    report::notice(
        format!(
            "run {run_id} on target \"{}\": {}",
            spec.target,
            spec.plan_text()
        ),
        Some(format!(
            "See fsbench.progress, and wait for it with CALL fsbench.wait({run_id})."
        )),
    );
    Ok(run_id)
}

/// Waits until the coordinator has stored the row. A request that could not start is left to the caller's guard.
fn await_id(board: &Board, ticket: &Ticket) -> Result<i64, Fault> {
    let request = ticket.request;
    loop {
        let known = || request.run_id.load(Acquire) != 0 || request.state() == RequestState::Ended;
        shmem::wait_for_change(Duration::from_secs(1), known);
        let run_id = request.run_id.load(Acquire);
        if run_id != 0 {
            return Ok(run_id);
        }
        if request.state() == RequestState::Ended {
            return match Outcome::from_json(&board.outcome(request)) {
                Outcome::Failed(fault) => Err(fault),
                Outcome::Done(row) => Ok(row.run_id),
            };
        }
    }
}

/// Cancels the run when the waiting statement ends before it: dropped when an error unwinds, while the request is still this
/// session's. It writes atomics only, since nothing that could raise an error may be called here; the coordinator looks at
/// them several times a second, and the janitor frees a request that has ended.
struct CancelOnDrop<'a>(&'a Ticket);

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        if !self.0.is_gone() {
            self.0.request.set_cancel(Cancel::Statement, "");
            self.0.request.waiter.store(0, Release);
        }
    }
}
