//! Figures of targets.

use crate::{
    texts::verdict::is_counted,
    units::{format_count, format_figure, format_seconds, format_tenths},
};

/// A metric in words.
#[derive(Clone, Copy, Debug)]
pub struct Noun {
    pub noun: &'static str,
    /// The unit for people, and how many of the metric's own unit are one of these.
    pub unit: Option<(&'static str, f64)>,
}

/// The values of a target's runs.
#[derive(Clone, Copy, Debug)]
pub struct Values {
    pub median: f64,
    pub least: f64,
    pub most: f64,
    pub runs: usize,
}

/// A figure with its noun and its unit.
fn amount(metric: Noun, x: f64) -> String {
    let noun = metric.noun;
    match (is_counted(noun), metric.unit) {
        (true, _) => format!("{} {noun}", format_figure(x)),
        (false, Some((unit, of))) => format!("{noun} {} {unit}", format_figure(x / of)),
        (false, None) => format!("{noun} {}", format_figure(x)),
    }
}

/// The level of a target.
pub fn level(target: &str, metric: Noun, values: Values) -> String {
    let of = match (is_counted(metric.noun), metric.unit) {
        (false, Some((_, of))) => of,
        _ => 1.0,
    };
    format!(
        "{target}: {}, the median of {} ({} to {})",
        amount(metric, values.median),
        format_count(values.runs as u64, "run"),
        format_figure(values.least / of),
        format_figure(values.most / of)
    )
}

/// Median and range. Most of them are counts.
fn spread(values: Values) -> String {
    let figure = |x: f64| match x.fract() == 0.0 {
        true => format!("{x:.0}"),
        false => format_figure(x),
    };
    format!(
        "median {} ({} to {})",
        figure(values.median),
        figure(values.least),
        figure(values.most)
    )
}

/// A metric that can be zero has no ratio: the values of a target, and those of the one that it is compared with.
pub fn side_by_side(noun: &str, own: Option<Values>, other: Option<(&str, Values)>) -> String {
    let own = own.map(|values| format!(": {} {noun}", spread(values)));
    let other = other.map(|(name, values)| format!(", {name}: {}", spread(values)));
    own.into_iter().chain(other).collect()
}

/// The ratio to another target with the ends of its interval, and the median of the target's own values.
pub fn ratio(ratio: [f64; 3], against: &str, metric: Noun, median: Option<f64>) -> String {
    let [ratio, low, high] = ratio;
    let median = median.map_or(String::new(), |x| format!(", median {}", amount(metric, x)));
    format!(": {ratio:.2} times {against} ({low:.2} to {high:.2}){median}")
}

pub fn median(metric: Noun, median: f64) -> String {
    format!(": median {}", amount(metric, median))
}

/// Checkpoints that WAL forced, and all, a run.
pub type Forced = (f64, f64);

/// Forced checkpoints of a target, and of the one that it is compared with. None: not known.
pub fn forced_checkpoints(own: Option<Forced>, other: Option<(&str, Forced)>) -> String {
    let words = |(forced, all)| forced_of_all(forced, all);
    let other = other.map(|(name, other)| format!(" ({name}: {})", words(other)));
    format!(
        "; checkpoints forced by WAL: {}{}",
        own.map_or_else(|| "not known".into(), words),
        other.unwrap_or_default()
    )
}

pub fn forced_of_all(forced: f64, all: f64) -> String {
    format!("{} of {} a run", format_tenths(forced), format_tenths(all))
}

/// Checkpoint settings that the experiment gave to all targets: checkpoint_timeout in seconds, and max_wal_size.
pub fn settings(cycle_seconds: Option<f64>, max_wal_size: Option<&str>) -> String {
    let cycle = cycle_seconds.map(|s| format!("; with checkpoint_timeout {}", format_seconds(s)));
    let raised = max_wal_size.map(|size| format!("; with max_wal_size raised to {size}"));
    cycle.into_iter().chain(raised).collect()
}

pub fn too_many_blocks(most: usize) -> String {
    format!(
        "; a decision needs more than the {most} blocks that an experiment can have: runs with longer windows differ less"
    )
}

/// Blocks that a decision would still take.
pub fn further(blocks: u32) -> String {
    let s = if blocks == 1 { "" } else { "s" };
    format!("; about {blocks} more block{s} would decide it")
}

/// Runs that are over, those of them before the first block, and those that were made again.
pub(super) fn runs([over, before, repeated]: [u64; 3]) -> String {
    let mut runs = format_count(over, "run");
    if before > 0 {
        runs += &format!(", {before} of them before the first block");
    }
    if repeated > 0 {
        runs += &format!(", {repeated} repeated");
    }
    runs
}
