//! Figures in words.

use super::{Base, Checkpoints, Row, open};
use crate::{
    experiment::{
        metric::{Kind, Metric},
        neighbours,
        plan::MOST_BLOCKS,
        state::{Experiment, Goal, Outcome, State},
    },
    finding::Durability,
    series::median,
    units::{format_count, format_seconds},
    verdict::{best::Standing, words},
};

/// The figures without a verdict.
pub(super) fn arithmetic(state: &State, metric: Metric, base: &Base) -> String {
    let name = |i: usize| state.targets[i].name.as_str();
    let noun = metric.noun;
    let values = |number: usize| state.values(number, metric);
    let cannot = Standing::CannotKeepTheRate.as_str();
    if base.verdict == cannot {
        return format!(": {cannot}");
    }
    match (base.ends, base.against) {
        // A metric that can be zero is shown side by side.
        (_, against) if metric.kind == Kind::Shown => {
            let own = spread(&values(base.number)).map(|s| format!(": {s} {noun}"));
            let other =
                against.and_then(|i| Some(format!(", {}: {}", name(i), spread(&values(i))?)));
            [own, other].into_iter().flatten().collect()
        }
        (Some((ratio, low, high)), Some(against)) => {
            let typical =
                median(&values(base.number)).map(|m| format!(", median {}", amount(metric, m)));
            format!(
                ": {ratio:.2} times {} ({low:.2} to {high:.2}){}",
                name(against),
                typical.unwrap_or_default()
            )
        }
        _ => median(&values(base.number))
            .map_or_else(String::new, |m| format!(": median {}", amount(metric, m))),
    }
}

/// A figure with its noun and its unit.
fn amount(metric: Metric, x: f64) -> String {
    let noun = metric.noun;
    match (words::is_counted(noun), metric.unit()) {
        (true, _) => format!("{} {noun}", figure(x)),
        (false, Some((unit, of))) => format!("{noun} {} {unit}", figure(x / of)),
        (false, None) => format!("{noun} {}", figure(x)),
    }
}

/// The level of each target that has runs with a value: the median of these, and from the least to the most.
pub fn levels(state: &State, metric: Metric) -> impl Iterator<Item = String> {
    let of = match (words::is_counted(metric.noun), metric.unit()) {
        (false, Some((_, of))) => of,
        _ => 1.0,
    };
    state
        .targets
        .iter()
        .enumerate()
        .filter_map(move |(number, target)| {
            let values = state.values(number, metric);
            let median = amount(metric, median(&values)?);
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let runs = format_count(values.len() as u64, "run");
            Some(format!(
                "{}: {median}, the median of {runs} ({} to {})",
                target.name,
                figure(least / of),
                figure(most / of)
            ))
        })
}

/// Median and range.
fn spread(values: &[f64]) -> Option<String> {
    let (least, most) = values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), x| {
            (least.min(*x), most.max(*x))
        });
    let median = median(values)?;
    // Most of them are counts.
    let figure = |x: f64| {
        if x.fract() == 0.0 {
            format!("{x:.0}")
        } else {
            figure(x)
        }
    };
    Some(format!(
        "median {} ({} to {})",
        figure(median),
        figure(least),
        figure(most)
    ))
}

/// Checkpoints that WAL has forced on one of two targets: they come more often than by the clock, so that it is another regime.
pub(super) fn checkpoints(
    own: Option<Checkpoints>,
    other: Option<Checkpoints>,
    name: &str,
) -> Option<String> {
    let words = |of: Checkpoints| format!("{} of {} a run", plain(of.forced), plain(of.all));
    if !has_forced(own) && !has_forced(other) {
        return None;
    }
    let other = other.map(|other| format!(" ({name}: {})", words(other)));
    Some(format!(
        "; checkpoints forced by WAL: {}{}",
        own.map_or_else(|| "not known".into(), words),
        other.unwrap_or_default()
    ))
}

/// Whether WAL has forced some.
pub(super) fn has_forced(of: Option<Checkpoints>) -> bool {
    of.is_some_and(|c| c.forced > 0.0)
}

/// Checkpoint settings that the experiment gave to all targets in place of the servers' own.
pub(super) fn regime(e: &Experiment) -> String {
    let cycle = e.cycle_seconds.filter(|_| e.cycle_is_given);
    // Where WAL forces them, they come more often than that.
    let cycle = cycle.map(|s| format!("; with checkpoint_timeout {}", format_seconds(s)));
    let raised = e.raised_max_wal_size.as_ref();
    let raised = raised.map(|size| format!("; with max_wal_size raised to {size}"));
    [cycle, raised].into_iter().flatten().collect()
}

/// A decision would take more blocks than there can be.
pub(super) fn too_many_blocks() -> String {
    format!(
        "; a decision needs more than the {MOST_BLOCKS} blocks that an experiment can have: runs with longer windows differ less"
    )
}

/// How many blocks a decision would still take.
pub(super) fn further(blocks: u32) -> String {
    let s = if blocks == 1 { "" } else { "s" };
    format!("; about {blocks} more block{s} would decide it")
}

pub fn plain(x: f64) -> String {
    let text = format!("{x:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// A number with three digits.
pub fn figure(x: f64) -> String {
    match x.abs() {
        100.0.. => format!("{x:.0}"),
        10.0.. => format!("{x:.1}"),
        1.0.. => format!("{x:.2}"),
        _ => format!("{x:.3}"),
    }
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
    let loses = |row: &Row| {
        let why = row.durability.as_ref().and_then(Durability::why_not);
        unlike && why.is_some()
    };
    let parts: Vec<String> = (rows.iter())
        .map(|row| match &row.reason {
            _ if row.is_set_aside() => format!("{} set aside", row.target),
            Some(reason) if row.is_inconclusive() || row.is_open() => {
                format!("{} {} ({})", row.target, row.verdict, reason.says())
            }
            _ => format!("{} {}", row.target, row.verdict),
        })
        .zip(&rows)
        .map(|(says, row)| match loses(row) {
            true => format!("{says} and NOT equally durable"),
            false => says,
        })
        .collect();
    let over: Vec<Outcome> = state.runs.iter().filter_map(|made| made.outcome).collect();
    let many = |is_meant: fn(Outcome) -> bool| over.iter().filter(|o| is_meant(**o)).count();
    let (before, repeated) = (many(Outcome::is_before), many(Outcome::is_repeated));
    let mut runs = format_count(over.len() as u64, "run");
    if before > 0 {
        runs += &format!(", {before} of them before the first block");
    }
    if repeated > 0 {
        runs += &format!(", {repeated} repeated");
    }
    let caveats = caveats(&rows);
    let caveats = match caveats.is_empty() {
        true => String::new(),
        false => format!("; {}", caveats.join(", ")),
    };
    let busy = neighbours::busy(state).map_or_else(String::new, |busy| busy.says() + "; ");
    let open: String = (open.others())
        .map(|why| format!("; {}", why.says()))
        .collect();
    format!(
        "{busy}{}{caveats}{open}; {} in {runs}",
        parts.join(", "),
        format_seconds(state.experiment.elapsed_seconds)
    )
}

/// Caveats that a reader of this one line has to know.
fn caveats(rows: &[&Row]) -> Vec<&'static str> {
    // This caveat holds on both sides of each ratio.
    let is_nothing_durable = |row: &&Row| {
        let why = row.durability.as_ref().and_then(Durability::why_not);
        why.is_some() && row.same_durability != Some(false)
    };
    let mut caveats = Vec::new();
    if !rows.is_empty() && rows.iter().all(is_nothing_durable) {
        caveats.push("nothing durable");
    }
    if rows.iter().any(|row| row.has_forced_checkpoints) {
        caveats.push("checkpoints forced by WAL");
    }
    caveats
}
