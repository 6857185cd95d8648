//! Figures in words.

use super::{Cause, Checkpoints, Row, TargetResult, open};
use crate::{
    experiment::{
        metric::{Kind, Metric},
        neighbours,
        state::{Experiment, Goal, Outcome, State},
    },
    finding::Durability,
    series::median,
    texts::answer::{
        Caveat, Line, TargetSummary,
        figures::{self as text, Noun, Values},
    },
    verdict::best::Standing,
};

fn noun(metric: Metric) -> Noun {
    Noun {
        noun: metric.noun,
        unit: metric.unit(),
    }
}

/// The figures without a verdict.
pub(super) fn arithmetic(state: &State, metric: Metric, base: &TargetResult) -> String {
    let name = |i: usize| state.targets[i].name.as_str();
    let values = |number: usize| values_of(&state.values(number, metric));
    let own = values(base.number);
    let cannot = Standing::CannotKeepTheRate.as_str();
    if base.verdict == cannot {
        return format!(": {cannot}");
    }
    match (base.ends, base.against) {
        // A metric that can be zero is shown side by side.
        (_, against) if metric.kind == Kind::Shown => {
            let other = against.and_then(|i| Some((name(i), values(i)?)));
            text::side_by_side(metric.noun, own, other)
        }
        (Some((ratio, low, high)), Some(against)) => {
            let median = own.map(|own| own.median);
            text::ratio([ratio, low, high], name(against), noun(metric), median)
        }
        _ => own.map_or_else(String::new, |own| text::median(noun(metric), own.median)),
    }
}

/// The level of each target that has runs with a value: the median of these, and from the least to the most.
pub fn levels(state: &State, metric: Metric) -> impl Iterator<Item = String> {
    let targets = state.targets.iter().enumerate();
    targets.filter_map(move |(number, target)| {
        let values = values_of(&state.values(number, metric))?;
        Some(text::level(&target.name, noun(metric), values))
    })
}

/// None without values.
fn values_of(values: &[f64]) -> Option<Values> {
    Some(Values {
        median: median(values)?,
        least: values.iter().copied().fold(f64::INFINITY, f64::min),
        most: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        runs: values.len(),
    })
}

/// Checkpoints that WAL has forced on one of two targets: they come more often than by the clock, so that it is another regime.
pub(super) fn checkpoints(
    own: Option<Checkpoints>,
    other: Option<Checkpoints>,
    name: &str,
) -> Option<String> {
    let forced = |of: Checkpoints| (of.forced, of.all);
    let other_forced = other.map(|other| (name, forced(other)));
    (has_forced(own) || has_forced(other))
        .then(|| text::forced_checkpoints(own.map(forced), other_forced))
}

/// Whether WAL has forced some.
pub(super) fn has_forced(of: Option<Checkpoints>) -> bool {
    of.is_some_and(|c| c.forced > 0.0)
}

/// Checkpoint settings that the experiment gave to all targets in place of the servers' own. Where WAL forces checkpoints, they come more
/// often than these say.
pub(super) fn regime(e: &Experiment) -> String {
    let cycle = e.cycle_seconds.filter(|_| e.cycle_is_given);
    text::settings(cycle, e.raised_max_wal_size.as_deref())
}

/// One line for the morning: what is known of each target, and what it took.
pub fn line(state: &State, rows: &[Row]) -> String {
    let open = open::of(state, rows);
    let mut rows: Vec<&Row> = rows.iter().collect();
    if state.experiment.goal == Goal::Best {
        // The best one is the answer.
        rows.sort_by_key(|row| !row.is_ahead());
    }
    let unlike = rows.iter().any(|row| row.same_durability == Some(false));
    let targets = rows.iter().map(|row| {
        let why_not = row.durability.as_ref().and_then(Durability::why_not);
        let is_open = row.is_inconclusive() || row.is_open();
        let reason = row.reason.as_ref().filter(|_| is_open);
        let verdict = (!row.is_set_aside()).then_some(row.verdict.as_str());
        TargetSummary {
            target: &row.target,
            verdict,
            reason: verdict.and(reason).map(Cause::says),
            is_less_durable: unlike && why_not.is_some(),
        }
    });
    let over: Vec<Outcome> = state.runs.iter().filter_map(|made| made.outcome).collect();
    let many = |is_meant: fn(Outcome) -> bool| over.iter().filter(|o| is_meant(**o)).count();
    let (before, repeated) = (many(Outcome::is_before), many(Outcome::is_repeated));
    let line = Line {
        busy: neighbours::busy(state).map(|busy| busy.says()),
        targets: targets.collect(),
        caveats: caveats(&rows),
        open: open.others().map(|why| why.says()).collect(),
        seconds: state.experiment.elapsed_seconds,
        runs: [over.len(), before, repeated].map(|n| n as u64),
    };
    line.words()
}

/// Caveats that a reader of this one line has to know.
fn caveats(rows: &[&Row]) -> Vec<Caveat> {
    // This caveat holds on both sides of each ratio.
    let is_nothing_durable = |row: &&Row| {
        let why = row.durability.as_ref().and_then(Durability::why_not);
        why.is_some() && row.same_durability != Some(false)
    };
    let is_nothing_durable = !rows.is_empty() && rows.iter().all(is_nothing_durable);
    let has_forced = rows.iter().any(|row| row.has_forced_checkpoints);
    let caveats = [
        is_nothing_durable.then_some(Caveat::NothingDurable),
        has_forced.then_some(Caveat::ForcedCheckpoints),
    ];
    caveats.into_iter().flatten().collect()
}
