//! The measured window: long enough, steady, and all of it done.

use super::{
    super::{Finding, RunFacts, Severity, facts::CheckpointFacts},
    percent, unless_quick,
};
use crate::{
    series,
    units::{format_bytes, format_count},
};

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

pub fn checkpoints(facts: &RunFacts) -> Option<Finding> {
    let complete = facts.checkpoints?;
    let needs_none = facts.workload.is_some_and(|w| !w.depends_on_checkpoints());
    if needs_none || complete >= CHECKPOINTS || has_whole_cycles(&facts.checkpoints_seen) {
        return None;
    }
    let (code, message) = match complete {
        0 => (
            "no_complete_checkpoint",
            "no complete checkpoint in the measured window".into(),
        ),
        n => (
            "too_short",
            format!("{n} of at least {CHECKPOINTS} complete checkpoints in the measured window"),
        ),
    };
    let hint = "Most of the data is written by checkpoints: use a duration of at least three times checkpoint_timeout.";
    Some(Finding::new(code, unless_quick(facts), message, hint))
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
        let severity = if share > FAILED_SHARE { Severity::Invalid } else { Severity::Info };
        let message = format!("{} failed, {}", format_count(failed, "transaction"), percent(share));
        let hint = "The first failure of each client is in the server's log. A run with over 0.1 % failed transactions does not count.";
        Finding::new("failed_transactions", severity, message, hint)
    })
}

pub fn skipped_transactions(facts: &RunFacts) -> Option<Finding> {
    let (skipped, measured) = (facts.skipped?, facts.measured?);
    let share = skipped as f64 / (skipped as f64 + measured as f64).max(1.0);
    (skipped > 0).then(|| {
        let message = format!("{} skipped, {} of those due",
            format_count(skipped, "transaction"), percent(share));
        let hint = "They were later than the latency limit before they could start, and count as misses: lower the rate.";
        Finding::new("skipped_transactions", Severity::Warning, message, hint)
    })
}

pub fn stalls(facts: &RunFacts) -> Option<Finding> {
    let seconds = facts.alike_seconds()?;
    let stalls = series::stalls(seconds);
    let by_chance = facts.rate.is_some_and(|rate| rate < LOWEST_RATE_FOR_STALLS);
    (stalls.stall_seconds > 0 && !by_chance).then(|| {
        let message = format!(
            "throughput stalled in {} of {} seconds, {} of them without a transaction; the median is {:.0} tps",
            stalls.stall_seconds,
            seconds.len(),
            stalls.zero_seconds,
            stalls.median
        );
        let hint = "The mean hides them: look at the samples of these seconds, and at checkpoints and other load then.";
        Finding::new("stalls", Severity::Warning, message, hint)
    })
}

pub fn drift(facts: &RunFacts) -> Option<Finding> {
    let seconds = facts.alike_seconds()?;
    let drift = series::drift(seconds)?;
    let by_chance = facts
        .rate
        .is_some_and(|rate| rate * (seconds.len() / 3) as f64 <= FEWEST_IN_THIRD);
    ((drift.ratio - 1.0).abs() > series::DRIFT_SHARE && !by_chance).then(|| {
        let change = if drift.ratio < 1.0 { "less" } else { "more" };
        let message = format!(
            "the last third of the window did {} {change} than the first ({:.0} against {:.0} tps)",
            percent((drift.ratio - 1.0).abs()),
            drift.last_third,
            drift.first_third
        );
        let hint = "The run was not steady: use a longer warm-up and a longer duration.";
        Finding::new("drift", Severity::Warning, message, hint)
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
        let message = format!(
            "the first {cut} of {} seconds were not like the rest ({before:.0} against {after:.0} tps)",
            seconds.len()
        );
        let hint = "It was still warming up: use a longer warm-up.";
        Finding::new("warming_up", Severity::Warning, message, hint)
    })
}

/// Checkpoints that WAL has forced are of another regime than those that time has.
pub fn checkpoints_requested(facts: &RunFacts) -> Option<Finding> {
    let (timed, requested) = (
        facts.checkpoints_seen.timed?,
        facts.checkpoints_seen.requested?,
    );
    (requested > 0).then(|| {
        let distance = facts.checkpoints_seen.distance_bytes.map(|bytes| bytes as u64);
        let message = format!(
            "{requested} of {} in the window came before checkpoint_timeout was over{}",
            format_count((timed + requested).into(), "checkpoint"),
            distance.map_or(String::new(), |bytes| format!(", {} of WAL apart", format_bytes(bytes)))
        );
        let hint = "Raise max_wal_size, and have nobody call CHECKPOINT; or compare only with runs whose checkpoints came for the same reason.";
        Finding::new("checkpoints_requested", Severity::Warning, message, hint)
    })
}

/// Under a rate: the transactions did not start when they were due.
pub fn behind_schedule(facts: &RunFacts) -> Option<Finding> {
    let (latency, service) = (facts.latency_ms?, facts.service_ms?);
    let lag = latency - service;
    facts.rate?;
    (service > 0.0 && lag > BEHIND * service).then(|| {
        let message = format!(
            "transactions started {lag:.1} ms after they were due, and took {service:.1} ms (means)"
        );
        let hint =
            "The rate is beyond what the clients can do here: lower it, or use more clients.";
        Finding::new("behind_schedule", Severity::Warning, message, hint)
    })
}
