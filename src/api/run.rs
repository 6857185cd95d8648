//! `run` and `start`.

use std::{
    sync::atomic::Ordering::{Acquire, Release},
    time::Duration,
};

use pgfsbench_core::spec::{Asked, Kind, Stage};
use pgrx::{
    JsonB, datum::Interval, iter::TableIterator, name, pg_extern, pg_sys::panic::ErrorReport,
};

use super::{
    guard,
    request::{self, Ticket},
    wait,
};
use crate::{
    board::{Cancel, RequestState, outcome::Outcome},
    errors::Fault,
    pg::{report, settings, shmem},
};

#[allow(clippy::too_many_arguments)]
fn asked(
    target: Option<String>,
    workload: Option<String>,
    scale: Option<i32>,
    size: Option<String>,
    clients: Option<i32>,
    duration: Option<Interval>,
    transactions: Option<i64>,
    warmup: Option<Interval>,
    rate: Option<f64>,
    latency_limit_ms: Option<f64>,
    seed: Option<i64>,
    settings: Option<JsonB>,
    options: Option<JsonB>,
    label: Option<String>,
    keep: Option<bool>,
    force: Option<bool>,
) -> Asked {
    // An interval beyond what fits is as wrong as the longest that does.
    let micros =
        |interval: Interval| interval.as_micros().clamp(i64::MIN.into(), i64::MAX.into()) as i64;
    Asked {
        stage: Stage::Whole,
        target,
        workload,
        scale,
        size,
        clients,
        duration_us: duration.map(micros),
        transactions,
        warmup_us: warmup.map(micros),
        rate,
        latency_limit_ms,
        seed,
        settings: settings.map(|json| json.0),
        options: options.map(|json| json.0),
        label,
        keep: keep.unwrap_or(false),
        force: force.unwrap_or(false),
    }
}

#[allow(clippy::too_many_arguments, clippy::type_complexity)]
#[pg_extern(sql = false)]
fn fsbench_run(
    target: Option<String>,
    workload: Option<String>,
    scale: Option<i32>,
    size: Option<String>,
    clients: Option<i32>,
    duration: Option<Interval>,
    transactions: Option<i64>,
    warmup: Option<Interval>,
    rate: Option<f64>,
    latency_limit_ms: Option<f64>,
    seed: Option<i64>,
    settings: Option<JsonB>,
    options: Option<JsonB>,
    label: Option<String>,
    keep: Option<bool>,
    force: Option<bool>,
) -> Result<
    TableIterator<
        'static,
        (
            name!(run_id, i64),
            name!(target, String),
            name!(filesystem, Option<String>),
            name!(workload, String),
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
    let asked = asked(
        target,
        workload,
        scale,
        size,
        clients,
        duration,
        transactions,
        warmup,
        rate,
        latency_limit_ms,
        seed,
        settings,
        options,
        label,
        keep,
        force,
    );
    Ok(wait::narrow(run(&asked)?))
}

#[allow(clippy::too_many_arguments)]
#[pg_extern(sql = false)]
fn fsbench_start(
    target: Option<String>,
    workload: Option<String>,
    scale: Option<i32>,
    size: Option<String>,
    clients: Option<i32>,
    duration: Option<Interval>,
    transactions: Option<i64>,
    warmup: Option<Interval>,
    rate: Option<f64>,
    latency_limit_ms: Option<f64>,
    seed: Option<i64>,
    settings: Option<JsonB>,
    options: Option<JsonB>,
    label: Option<String>,
    keep: Option<bool>,
    force: Option<bool>,
) -> Result<i64, ErrorReport> {
    let asked = asked(
        target,
        workload,
        scale,
        size,
        clients,
        duration,
        transactions,
        warmup,
        rate,
        latency_limit_ms,
        seed,
        settings,
        options,
        label,
        keep,
        force,
    );
    Ok(start(&asked)?)
}

fn run(asked: &Asked) -> Result<crate::board::outcome::Row, Fault> {
    let ready = guard::ready()?;
    request::check_can_wait("fsbench.run()")?;
    let spec = request::specify(&ready, asked)?;
    request::check_timeout(&spec)?;
    guard::janitor_is_there(ready.board)?;
    let ticket = request::submit(&ready, asked, &spec, false)?;
    let guard = CancelOnDrop(&ticket);
    let run_id = await_id(&ticket)?;
    report::notice(
        format!(
            "run {run_id} on target \"{}\": {}",
            spec.target,
            spec.plan_text()
        ),
        None,
    );
    let result = wait::for_end(&ticket, ready.board, run_id);
    std::mem::forget(guard);
    let outcome = result?;
    match outcome {
        Outcome::Failed(fault) => Err(fault),
        Outcome::Done(row) => {
            report::notice(
                format!("run {run_id} is done"),
                Some(format!(
                    "Everything about it: SELECT * FROM fsbench.result WHERE run_id = {run_id}; \
                     {}, what can mislead in fsbench.finding.",
                    match spec.workload.kind() {
                        Kind::Transactions => "each second is in fsbench.sample".to_owned(),
                        Kind::Fsync => "each test is in fsbench.fsync".to_owned(),
                        Kind::Scan => format!(
                            "each scan is in fsbench.scan, the curve is fsbench.scan_curve({run_id}), \
                             and its knee fsbench.scan_knee({run_id})"
                        ),
                    }
                )),
            );
            Ok(row)
        }
    }
}

fn start(asked: &Asked) -> Result<i64, Fault> {
    let ready = guard::ready()?;
    let asked = &Asked {
        stage: settings::stage()?,
        ..asked.clone()
    };
    let spec = request::specify(&ready, asked)?;
    guard::janitor_is_there(ready.board)?;
    let ticket = request::submit(&ready, asked, &spec, true)?;
    let guard = CancelOnDrop(&ticket);
    let run_id = await_id(&ticket)?;
    std::mem::forget(guard);
    // From here on nobody waits for it.
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
fn await_id(ticket: &Ticket) -> Result<i64, Fault> {
    let request = ticket.request;
    loop {
        let known = || request.run_id.load(Acquire) != 0 || request.state() == RequestState::Ended;
        shmem::wait_for_change(Duration::from_secs(1), known);
        let run_id = request.run_id.load(Acquire);
        if run_id != 0 {
            return Ok(run_id);
        }
        if request.state() == RequestState::Ended {
            return match Outcome::from_json(&request.outcome.get()) {
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
