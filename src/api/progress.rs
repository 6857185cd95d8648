//! How far the runs are, from shared memory.

use std::sync::atomic::Ordering::{Acquire, Relaxed};

use pgfsbench_core::{
    board::ClientSlot,
    run::progress::{Progress, RunCounters},
    spec::Bound,
    units::format_count,
};
use pgrx::{iter::TableIterator, name, pg_extern, pg_sys::panic::ErrorReport};

use super::guard;
use crate::{
    board::{Board, Phase, Request, RequestState},
    clock,
    pg::{session, shmem},
};

/// How far the active run is.
fn now(board: &Board, request: &Request) -> Progress {
    let run = &board.run;
    let spec = board.specification(request).ok();
    let slots = || shmem::clients().iter();
    let sum = |field: fn(&ClientSlot) -> u64| slots().map(field).sum::<u64>();
    let remote = run.remote.load(Relaxed) == 1;
    Progress::of(&RunCounters {
        phase: run.phase(),
        elapsed_ms: clock::ms(run.phase_started_ns.load(Relaxed), clock::now_ns()),
        total: run.total.load(Relaxed),
        done: run.done.load(Relaxed),
        // Other kinds of workloads count what they have done by themselves.
        has_transactions: spec
            .as_ref()
            .is_some_and(|spec| spec.workload.runs_transactions()),
        has_cycles: spec
            .as_ref()
            .is_some_and(|spec| spec.searched_percentile().is_some()),
        ends_by_time: spec
            .as_ref()
            .is_some_and(|spec| matches!(spec.bound, Bound::DurationMs(_))),
        is_sampled: spec.is_some_and(|spec| spec.options.sample),
        remote_tps: remote.then(|| f64::from_bits(run.phase_tps_bits.load(Relaxed))),
        committed: sum(|slot| slot.committed.load(Relaxed)),
        measured: sum(|slot| slot.measured.load(Relaxed)),
        missed: sum(|slot| slot.skipped.load(Relaxed) + slot.failed.load(Relaxed)),
        tps_last_second: f64::from_bits(run.tps_bits.load(Relaxed)),
        p99_ns: run.latency_p99_ns.load(Relaxed),
        probe: run.probe.load(Relaxed),
        rate: f64::from_bits(run.rate_bits.load(Relaxed)),
    })
}

/// Whether this is the request of the active run, and that has begun.
pub fn is_active(board: &Board, request: &Request) -> bool {
    // A coordinator takes the area before it enters a phase.
    if board.run.phase() == Phase::Queued {
        return false;
    }
    (board.run.request.load(Acquire) as usize)
        .checked_sub(1)
        .and_then(|index| board.requests.get(index))
        .is_some_and(|active| std::ptr::eq(active, request))
}

/// One line for a NOTICE.
pub fn line(board: &Board, request: &Request) -> String {
    if request.state() == RequestState::Ended {
        return "ending".into();
    }
    if !is_active(board, request) {
        return match board.before(request) {
            0 => "queued, the next".into(),
            before => format!("queued, after {}", format_count(before as u64, "run")),
        };
    }
    now(board, request).in_words()
}

#[allow(clippy::type_complexity)]
#[pg_extern(sql = false)]
fn fsbench_progress() -> Result<
    TableIterator<
        'static,
        (
            name!(run_id, i64),
            name!(status, String),
            name!(phase, String),
            name!(done, Option<i64>),
            name!(total, Option<i64>),
            name!(seconds_left, Option<f64>),
            name!(phase_seconds, Option<f64>),
            name!(tps, Option<f64>),
            name!(tps_last_second, Option<f64>),
            name!(latency_p99_ms, Option<f64>),
            name!(coordinator_pid, Option<i32>),
            name!(runs_before, Option<i32>),
            name!(probe, Option<i32>),
            name!(rate, Option<f64>),
        ),
    >,
    ErrorReport,
> {
    let ready = guard::ready()?;
    let board = ready.board;
    let extension_database = session::database();
    let mut rows = Vec::new();
    let mut open: Vec<&Request> = board.requests.iter().filter(|r| r.is_open()).collect();
    open.sort_by_key(|request| request.ticket.load(Acquire));
    for (before, request) in (0..).zip(open) {
        let run_id = request.run_id.load(Acquire);
        let ours = request.extension_database.load(Acquire) == extension_database
            && request.extension.load(Acquire) == ready.extension;
        if run_id == 0 || !ours {
            continue;
        }
        if !is_active(board, request) {
            rows.push((
                run_id,
                "queued".to_owned(),
                "queued".to_owned(),
                None,
                None,
                None,
                None,
                None,
                None,
                None,
                None,
                Some(before),
                None,
                None,
            ));
            continue;
        }
        let now = now(board, request);
        rows.push((
            run_id,
            "running".to_owned(),
            now.phase.as_str().to_owned(),
            Some(now.done as i64),
            (now.total > 0).then_some(now.total as i64),
            now.seconds_left,
            Some(now.seconds),
            now.tps,
            now.tps_last_second,
            now.p99_ms,
            Some(request.coordinator.load(Acquire)),
            None,
            now.probe.map(|probe| probe as i32),
            now.rate,
        ));
    }
    Ok(TableIterator::new(rows))
}
