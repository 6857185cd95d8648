//! How far the runs are, from shared memory.

use std::sync::atomic::Ordering::{Acquire, Relaxed};

use pgfsbench_core::{
    spec::Bound,
    units::{format_count, format_seconds},
};
use pgrx::{iter::TableIterator, name, pg_extern, pg_sys::panic::ErrorReport};

use super::guard;
use crate::{
    board::{Board, Phase, Request, RequestState},
    clock,
    pg::{session, shmem},
};

/// How far the active run is.
struct Now {
    phase: Phase,
    done: u64,
    total: u64,
    seconds: f64,
    seconds_left: Option<f64>,
    tps: Option<f64>,
    tps_last_second: Option<f64>,
    p99_ms: Option<f64>,
}

impl Now {
    fn of(board: &Board, request: &Request) -> Self {
        let run = &board.run;
        let phase = run.phase();
        let remote = run.remote.load(Relaxed) == 1;
        let elapsed_ms = clock::ms(run.phase_started_ns.load(Relaxed), clock::now_ns());
        let total = run.total.load(Relaxed);
        let spec = board.specification(request).ok();
        // Other kinds of workloads count what they have done by themselves.
        let transactions_run = spec
            .as_ref()
            .is_some_and(|spec| spec.workload.runs_transactions());
        let counts_time = phase == Phase::Warmup
            || (phase == Phase::Measure
                && transactions_run
                && spec
                    .as_ref()
                    .is_some_and(|spec| matches!(spec.bound, Bound::DurationMs(_))));
        let done = if counts_time {
            (elapsed_ms as u64).min(total)
        } else if phase == Phase::Measure && transactions_run && !remote {
            shmem::clients()
                .iter()
                .map(|slot| {
                    slot.measured.load(Relaxed)
                        + slot.skipped.load(Relaxed)
                        + slot.failed.load(Relaxed)
                })
                .sum()
        } else {
            run.done.load(Relaxed)
        };
        let seconds_left = if total == 0 || done == 0 {
            None
        } else if counts_time {
            Some((total as f64 - elapsed_ms).max(0.0) / 1000.0)
        } else {
            Some(elapsed_ms / 1000.0 * (total.saturating_sub(done)) as f64 / done as f64)
        };
        let running = transactions_run && matches!(phase, Phase::Warmup | Phase::Measure);
        let sampled = running && spec.is_some_and(|spec| spec.options.sample);
        let p99_ns = run.latency_p99_ns.load(Relaxed);
        Self {
            phase,
            done,
            total,
            seconds: elapsed_ms / 1000.0,
            seconds_left,
            tps: (running && elapsed_ms > 0.0).then(|| {
                if remote {
                    f64::from_bits(run.phase_tps_bits.load(Relaxed))
                } else {
                    transactions(phase) as f64 * 1000.0 / elapsed_ms
                }
            }),
            tps_last_second: sampled
                .then(|| f64::from_bits(run.tps_bits.load(Relaxed)))
                .filter(|tps| !tps.is_nan()),
            p99_ms: (running && p99_ns > 0).then(|| p99_ns as f64 / 1e6),
        }
    }
}

/// What the clients have committed in this phase.
fn transactions(phase: Phase) -> u64 {
    let slots = shmem::clients().iter();
    if phase == Phase::Measure {
        slots.map(|slot| slot.measured.load(Relaxed)).sum()
    } else {
        slots.map(|slot| slot.committed.load(Relaxed)).sum()
    }
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
        let before = format_count(board.before(request) as u64, "run");
        return format!("queued, after {before}");
    }
    let now = Now::of(board, request);
    let mut parts = vec![now.phase.as_str().to_owned()];
    if now.total > 0 {
        parts.push(format!(
            "{:.0} %",
            100.0 * now.done as f64 / now.total as f64
        ));
    }
    parts.extend(
        now.seconds_left
            .map(|s| format!("{} left", format_seconds(s.ceil()))),
    );
    parts.extend(now.tps_last_second.map(|tps| format!("{tps:.0} tps")));
    parts.extend(now.p99_ms.map(|ms| format!("p99 {ms:.1} ms")));
    parts.join(", ")
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
        ),
    >,
    ErrorReport,
> {
    let ready = guard::ready()?;
    let board = ready.board;
    let home = session::database();
    let mut rows = Vec::new();
    let mut open: Vec<&Request> = board.requests.iter().filter(|r| r.is_open()).collect();
    open.sort_by_key(|request| request.ticket.load(Acquire));
    for (before, request) in (0..).zip(open) {
        let run_id = request.run_id.load(Acquire);
        let ours = request.home.load(Acquire) == home
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
            ));
            continue;
        }
        let now = Now::of(board, request);
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
        ));
    }
    Ok(TableIterator::new(rows))
}
