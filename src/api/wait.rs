//! Waiting for the end of a run, and the narrow row.

use std::{
    sync::atomic::Ordering::{Acquire, Release},
    time::{Duration, Instant},
};

use pgfsbench_core::finding::summary;
use pgrx::{iter::TableIterator, name, pg_extern, pg_sys::panic::ErrorReport};

use super::{
    guard::{self, Ready},
    progress,
    request::{self, Ticket},
};
use crate::{
    board::{
        Board, Cancel, Phase, Request, RequestState,
        outcome::{Outcome, Row},
    },
    clock,
    errors::{Fault, sqlstate},
    pg::{report, session, settings, shmem, xact},
    store,
};

/// The columns that `run` and `wait` return. Their signatures repeat them, since pgrx reads the type there, and no alias.
type Columns = (
    i64,
    String,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<i32>,
    String,
);

/// The row as a set of one.
pub fn narrow(row: Row) -> TableIterator<'static, Columns> {
    // Rounded for a terminal; the tables have all digits.
    let round = |value: Option<f64>, digits: i32| {
        value.map(|value| (value * 10f64.powi(digits)).round() / 10f64.powi(digits))
    };
    let tps = round(row.tps, if row.tps >= Some(1000.0) { 0 } else { 1 });
    let findings = summary(row.findings, row.worst, &row.worst_code);
    TableIterator::once((
        row.run_id,
        row.target,
        tps,
        round(row.latency_p99_ms, 3),
        round(row.latency_max_ms, 3),
        round(row.commit_p99_ms, 3),
        row.stall_seconds,
        findings,
    ))
}

/// Gives the request back after its end.
pub fn release(board: &Board, ticket: &Ticket) {
    ticket.request.waiter.store(0, Release);
    if ticket
        .request
        .advance(RequestState::Ended, RequestState::Free)
    {
        board.take_texts_back(ticket.number);
    }
    shmem::announce();
}

/// Waits for the end of this session's own request, shows its progress, and cancels it when the client is gone.
pub fn for_end(ticket: &Ticket, board: &'static Board, run_id: i64) -> Result<Outcome, Fault> {
    let request = ticket.request;
    let mut reporter = ProgressReporter::new();
    loop {
        let ended = || {
            request.state() == RequestState::Ended
                || ticket.is_gone()
                || clears_up_for_long(board, request)
        };
        if shmem::wait_for_change(Duration::from_secs(1), ended) {
            break;
        }
        if !session::is_connected() {
            request.set_cancel(Cancel::ConnectionLost, "");
        }
        reporter.tell(board, request, run_id);
    }
    if ticket.is_gone() {
        return Err(Fault::new(
            sqlstate::INTERNAL,
            "the request of the run is gone",
        ));
    }
    let outcome = Outcome::from_json(&board.outcome(request));
    if request.state() != RequestState::Ended {
        report::notice(
            format!("the work database of run {run_id} is still being removed"),
            Some("It goes on without this session; the next run waits for it.".into()),
        );
    }
    release(board, ticket);
    Ok(outcome)
}

/// After this a session that waits in a SELECT is told what its snapshot does.
const PATIENCE: Duration = Duration::from_secs(300);

/// Whether a run is over, its outcome is there, and clearing up takes longer than it should.
///
/// DROP DATABASE waits until every process of the server has let go of its files, and one that does not look for such
/// requests holds it up: pg_cron's launcher (1.4) while a job of its own is on. Such a job must not wait for the end of
/// clearing up, which waits for the job's end.
fn clears_up_for_long(board: &Board, request: &Request) -> bool {
    let since = board.run.phase_started_ns.load(Acquire);
    progress::is_active(board, request)
        && board.run.phase() == Phase::Cleanup
        && !board.outcome(request).is_empty()
        && clock::ms(since, clock::now_ns()) > request::CLEARING_UP.as_secs_f64() * 1000.0
}

/// Tells how far a run is: every 5 s in the first minute, then every 30 s.
struct ProgressReporter {
    started: Instant,
    next: Instant,
    warned: bool,
}

impl ProgressReporter {
    fn new() -> Self {
        let now = Instant::now();
        Self {
            started: now,
            next: now + Duration::from_secs(5),
            warned: false,
        }
    }

    fn tell(&mut self, board: &Board, request: &Request, run_id: i64) {
        let now = Instant::now();
        if now < self.next || !settings::progress() {
            return;
        }
        if !self.warned && now - self.started >= PATIENCE {
            self.warned = true;
            report::notice(
                "this session has waited for some minutes, and its snapshot holds back vacuum in this database".into(),
                Some("Use fsbench.start() and CALL fsbench.wait(run_id), which does not.".into()),
            );
        }
        let minute = now - self.started < Duration::from_secs(60);
        self.next = now + Duration::from_secs(if minute { 5 } else { 30 });
        report::notice(
            format!("run {run_id}: {}", progress::line(board, request)),
            None,
        );
    }
}

/// The request of a run of this database, if it is queued or active.
pub fn request_of(ready: &Ready, run_id: i64) -> Option<&'static Request> {
    let extension_database = session::database();
    ready.board.requests.iter().find(|request| {
        request.extension_database.load(Acquire) == extension_database
            && request.extension.load(Acquire) == ready.extension
            && request.run_id.load(Acquire) == run_id
            && request.is_open()
    })
}

/// Waits at most that long; whether the run is over.
fn is_over(ready: &Ready, run_id: i64, timeout: Duration) -> bool {
    shmem::wait_for_change(timeout, || {
        request_of(ready, run_id).is_none_or(|request| clears_up_for_long(ready.board, request))
    })
}

fn outcome(owner: u32, run_id: i64) -> Result<Option<Outcome>, Fault> {
    session::with_rights_of(owner, || {
        xact::without_keeping_locks(|| store::outcome_of(run_id))
    })
}

fn no_run_id() -> Fault {
    Fault::new(sqlstate::INVALID_PARAMETER, "run_id must not be null")
        .detail("It says which run to wait for.")
        .hint("fsbench.start() returns it.")
}

fn no_such_run(run_id: i64) -> Fault {
    Fault::new(
        sqlstate::INVALID_PARAMETER,
        format!("run {run_id} does not exist"),
    )
    .detail("There is no row with this run_id in fsbench.run_log of this database.")
    .hint("See fsbench.result and fsbench.progress.")
}

#[allow(clippy::type_complexity)]
#[pg_extern(sql = false)]
fn fsbench_wait(
    run_id: Option<i64>,
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
    Ok(narrow(wait(run_id)?))
}

fn wait(run_id: Option<i64>) -> Result<Row, Fault> {
    let ready = guard::ready()?;
    let run_id = run_id.ok_or_else(no_run_id)?;
    request::check_can_wait("fsbench.wait()")?;
    guard::janitor_is_there(ready.board)?;
    if outcome(ready.owner, run_id)?.is_none() && request_of(&ready, run_id).is_none() {
        return Err(no_such_run(run_id));
    }
    let mut reporter = ProgressReporter::new();
    while !is_over(&ready, run_id, Duration::from_secs(1)) {
        if !session::is_connected() {
            return Err(Fault::new(
                sqlstate::CONNECTION_LOST,
                "connection to client lost",
            ));
        }
        if let Some(request) = request_of(&ready, run_id) {
            reporter.tell(ready.board, request, run_id);
        }
    }
    match outcome(ready.owner, run_id)? {
        None => Err(no_such_run(run_id)),
        Some(Outcome::Done(row)) => Ok(row),
        Some(Outcome::Failed(fault)) => Err(fault),
    }
}

#[pg_extern(sql = false)]
fn fsbench_ended(run_id: Option<i64>, timeout_ms: Option<i32>) -> Result<bool, ErrorReport> {
    let ready = guard::ready()?;
    let run_id = run_id.ok_or_else(no_run_id)?;
    guard::janitor_is_there(ready.board)?;
    if request_of(&ready, run_id).is_none() && outcome(ready.owner, run_id)?.is_none() {
        return Err(no_such_run(run_id).into());
    }
    if is_over(&ready, run_id, Duration::ZERO) {
        return Ok(true);
    }
    if !session::may_commit() {
        return Err(Fault::new(
            sqlstate::IN_TRANSACTION,
            "CALL fsbench.wait() cannot be used in a transaction block",
        )
        .detail("It commits again and again while it waits, so as to hold no snapshot; within a transaction block, a function or a DO block in one it cannot.")
        .hint("Call it by itself, or use SELECT * FROM fsbench.wait(run_id), which holds a snapshot.")
        .into());
    }
    let timeout = Duration::from_millis(timeout_ms.unwrap_or(0).max(0) as u64);
    Ok(is_over(&ready, run_id, timeout))
}
