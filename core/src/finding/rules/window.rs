//! The measured window: long enough, steady, and all of it done.

use super::{
    super::{Finding, RunFacts, Severity, facts::CheckpointFacts},
    unless_quick,
};
use crate::{series, texts::finding::window as text};

/// Complete checkpoints that a window should hold (docs/findings.md).
const CHECKPOINTS: u32 = 3;
/// Share of failed transactions beyond which a run is invalid (docs/findings.md).
const FAILED_SHARE: f64 = 0.001;
/// Under a rate, fewer transactions than this in a third differ by chance alone by the drift that is looked for.
const FEWEST_IN_THIRD: f64 = 2000.0;
/// Below this rate a second without a transaction is chance, not a stall.
const LOWEST_RATE_FOR_STALLS: f64 = 10.0;
/// Share of the window that may be spent on warming up.
const WARMING_UP: f64 = 0.25;
/// By how much what was warming up must differ from the rest.
const COLD: f64 = 0.05;
/// Transactions that start later than this many of their own mean durations after they were due are behind schedule.
const BEHIND: f64 = 1.0;

/// Share of the window by which the starts of several servers may be apart.
const APART: f64 = 0.01;

/// A server that is alone on the storage for a while is faster then.
pub fn instances_apart(facts: &RunFacts) -> Option<Finding> {
    let instances = facts.instances.as_ref()?;
    let (skew_ms, window_ms) = (instances.skew_ms, instances.window_ms);
    (skew_ms > window_ms * APART).then(|| {
        Finding::new(
            Severity::Invalid,
            text::instances_apart(skew_ms, window_ms, APART),
        )
    })
}

/// The facts of a run with several servers are those of the first one, where they cannot be added up.
pub fn instance_findings(facts: &RunFacts) -> Option<Finding> {
    let codes = &facts.instances.as_ref()?.findings;
    (!codes.is_empty()).then(|| Finding::new(Severity::Warning, text::instance_findings(codes)))
}

pub fn checkpoints(facts: &RunFacts) -> Option<Finding> {
    let complete = facts.checkpoints?;
    let needs_none = facts.workload.is_some_and(|w| !w.depends_on_checkpoints());
    if needs_none || complete >= CHECKPOINTS || has_whole_cycles(&facts.checkpoints_seen) {
        return None;
    }
    let text = text::checkpoints(complete, CHECKPOINTS);
    Some(Finding::new(unless_quick(facts), text))
}

/// Whether the window has as many cycles, each begun by the clock: the last checkpoint may then end a moment after the window.
fn has_whole_cycles(seen: &CheckpointFacts) -> bool {
    // Windows are timed to some milliseconds.
    let cycles = seen.cycles.map(|cycles| (cycles + 0.01) as u32);
    cycles >= Some(CHECKPOINTS) && seen.timed >= Some(CHECKPOINTS) && seen.requested == Some(0)
}

pub fn failed_transactions(facts: &RunFacts) -> Option<Finding> {
    let (failed, measured) = (facts.failed?, facts.measured?);
    let share = failed as f64 / (failed as f64 + measured as f64).max(1.0);
    (failed > 0).then(|| {
        let severity = if share > FAILED_SHARE {
            Severity::Invalid
        } else {
            Severity::Info
        };
        Finding::new(severity, text::failed_transactions(failed, share))
    })
}

pub fn skipped_transactions(facts: &RunFacts) -> Option<Finding> {
    let (skipped, measured) = (facts.skipped?, facts.measured?);
    let share = skipped as f64 / (skipped as f64 + measured as f64).max(1.0);
    (skipped > 0).then(|| {
        Finding::new(
            Severity::Warning,
            text::skipped_transactions(skipped, share),
        )
    })
}

pub fn stalls(facts: &RunFacts) -> Option<Finding> {
    let seconds = facts.alike_seconds()?;
    let stalls = series::stalls(seconds);
    let by_chance = facts.rate.is_some_and(|rate| rate < LOWEST_RATE_FOR_STALLS);
    (stalls.stall_seconds > 0 && !by_chance).then(|| {
        let (stalled, empty) = (stalls.stall_seconds, stalls.zero_seconds);
        let text = text::stalls(stalled, empty, seconds.len(), stalls.median);
        Finding::new(Severity::Warning, text)
    })
}

pub fn drift(facts: &RunFacts) -> Option<Finding> {
    let seconds = facts.alike_seconds()?;
    let drift = series::drift(seconds)?;
    let by_chance = facts
        .rate
        .is_some_and(|rate| rate * (seconds.len() / 3) as f64 <= FEWEST_IN_THIRD);
    ((drift.ratio - 1.0).abs() > series::DRIFT_SHARE && !by_chance).then(|| {
        let text = text::drift(drift.first_third, drift.last_third, drift.ratio);
        Finding::new(Severity::Warning, text)
    })
}

/// The start of the window differs from the rest (MSER).
pub fn warming_up(facts: &RunFacts) -> Option<Finding> {
    let seconds = facts.alike_seconds()?;
    // A drift tells more.
    if facts.rate.is_some() || drift(facts).is_some() {
        return None;
    }
    let cut = series::mser_cut(seconds)?;
    let before = series::mean(&seconds[..cut])?;
    let after = series::mean(&seconds[cut..])?;
    let is_cold = (before / after - 1.0).abs() > COLD;
    (cut as f64 > WARMING_UP * seconds.len() as f64 && is_cold).then(|| {
        let text = text::warming_up(cut, seconds.len(), before, after);
        Finding::new(Severity::Warning, text)
    })
}

/// Checkpoints that WAL has forced are of another regime than those that time has.
pub fn checkpoints_requested(facts: &RunFacts) -> Option<Finding> {
    let (timed, requested) = (
        facts.checkpoints_seen.timed?,
        facts.checkpoints_seen.requested?,
    );
    (requested > 0).then(|| {
        let distance = facts
            .checkpoints_seen
            .distance_bytes
            .map(|bytes| bytes as u64);
        let all = (timed + requested).into();
        let text = text::checkpoints_requested(requested, all, distance);
        Finding::new(Severity::Warning, text)
    })
}

/// Under a rate: the transactions did not start when they were due.
pub fn behind_schedule(facts: &RunFacts) -> Option<Finding> {
    let (latency, service) = (facts.latency_ms?, facts.service_ms?);
    let lag = latency - service;
    facts.rate?;
    (service > 0.0 && lag > BEHIND * service)
        .then(|| Finding::new(Severity::Warning, text::behind_schedule(lag, service)))
}
