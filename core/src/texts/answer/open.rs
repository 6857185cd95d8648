//! Reasons for which an answer is open, and the way on. Times are seconds.

use crate::{
    quoting::sql_literal,
    units::{format_count, format_seconds},
    verdict::{Reason, looks::FEWEST_BLOCKS},
};

/// The way on where an experiment can have no more blocks.
pub const LONGER_WINDOWS: &str = "-- a new experiment with a longer cycle, or a longer duration: runs with longer windows differ less";

/// The way on where windows have fewer than two checkpoint cycles.
pub const WINDOWS_OF_TWO_CYCLES: &str = "-- a new experiment with a duration of at least two checkpoint cycles, or without duration and transactions";

/// The way on where targets were set aside.
pub const MEND_TARGETS: &str = "-- a new experiment, once what made the runs fail is mended; fsbench.experiment_run has the errors";

/// The way on where the baseline cannot keep the rate.
pub const LOWER_RATE: &str = "-- a new experiment with a lower rate, or with another baseline";

/// The statement that extends an experiment to more blocks.
pub fn extend(experiment: &str, blocks: u32) -> String {
    let name = sql_literal(experiment);
    format!("SELECT fsbench.extend_experiment({name}, {blocks});")
}

/// The way on where neighbours made the noise.
pub fn in_a_quieter_hour(experiment: &str) -> String {
    let name = sql_literal(experiment);
    format!(
        "SELECT fsbench.confirm_experiment({name}); -- in a quieter hour; or a new experiment with a longer cycle or duration"
    )
}

/// Runs that neighbours disturbed, of all, where the machine was taken as it is.
pub fn busy_machine(disturbed: u64, runs: u64, is_expected: bool) -> String {
    let expected = if is_expected { ", as expected" } else { "" };
    format!(
        "busy machine{expected}: others disturbed {disturbed} of {runs} runs, and intervals are the wider for it"
    )
}

/// `has_least`: whether the least of the neighbours' work is known.
pub fn neighbours_not_seen(has_least: bool) -> String {
    let known = match has_least {
        true => "only the least of what others did",
        false => "nothing of what others did",
    };
    format!("{known} is known here: see the load of the machine from outside")
}

/// The lengths of a window and of a checkpoint cycle, where both are known.
pub fn windows_too_short(lengths: Option<(f64, f64)>) -> String {
    let lengths = lengths.map_or(String::new(), |(window, cycle)| {
        format!(
            " ({}, and two checkpoint cycles are {})",
            format_seconds(window),
            format_seconds(2.0 * cycle)
        )
    });
    format!(
        "windows too short{lengths}: a new experiment needs a longer duration, or a shorter cycle"
    )
}

pub fn too_few_blocks(blocks: u32, ended_by: Option<Reason>) -> String {
    let by = ended_by.map_or(String::new(), |by| format!("{}: ", by.as_str()));
    format!("{by}too few blocks: {blocks} of the {FEWEST_BLOCKS} that the first look takes")
}

pub fn ended_early(target: &str, blocks: u32, ended_by: Reason) -> String {
    let (by, blocks) = (ended_by.as_str(), more(blocks));
    format!("{by}: {target} was not decided yet, and needs about {blocks}")
}

pub fn noise(target: &str, blocks: u32) -> String {
    format!("noise: {target} needs about {}", more(blocks))
}

pub fn too_many_blocks(target: &str, most: usize) -> String {
    format!(
        "noise: {target} needs more than the {most} blocks that an experiment can have; longer windows differ less"
    )
}

pub fn given_up(target: &str) -> String {
    format!("noise: more blocks would hardly decide {target}; longer windows differ less")
}

pub fn noise_floor() -> String {
    "noise: two names of one target differ as much".into()
}

/// `why` says which targets were not run any more.
pub fn no_reference(why: Option<&str>) -> String {
    match why {
        Some(why) => format!("nothing to compare with: {why}"),
        None => "nothing to compare with: the baseline cannot keep the rate".into(),
    }
}

fn more(blocks: u32) -> String {
    format_count(blocks.into(), "more block")
}

/// A lasting step in the time that flushes take: how many times as long, and the first block after it.
pub fn throttled(times: f64, block: u32) -> String {
    let how = match times >= 1.0 {
        true => format!("{times:.1} times as long"),
        false => format!("only {times:.2} times as long"),
    };
    format!("throttled: flushes take {how} from block {block} on")
}
