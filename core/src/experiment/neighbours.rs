//! Neighbours: other programs that use the machine while a run is measured.
//!
//! A run beside neighbours is made again, twice at most. Of its attempts the one with the least foreign processor time counts; its own figure never
//! chooses. When most attempts of a block were disturbed, the machine is taken as it is, and no further run is made again for that.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{
    conditions,
    state::{ExperimentRun, Neighbours, OthersSeen, Outcome, State},
};
use crate::{
    texts::{answer::open::busy_machine, steps as text},
    wording,
};

/// Attempts of a run that neighbours disturb.
const ATTEMPTS: usize = 3;

/// Whether a run is made again for its neighbours. Windows that are too short decide nothing, so that a repeat would change nothing.
fn has_repeats(state: &State) -> bool {
    state.experiment.neighbours.has_repeats() && !state.experiment.too_short
}

/// The resources that neighbours took from a run.
fn taken_from(made: &ExperimentRun) -> text::NeighbourUse {
    text::NeighbourUse {
        processors: made.cpu_others,
        is_least: made.others_seen == OthersSeen::Least,
        disk: made.device_others,
    }
}

/// Why a run that is over does not count yet; None if it does.
pub fn disturbed(state: &State, made: &ExperimentRun) -> Option<String> {
    (made.disturbed && has_repeats(state)).then(|| text::disturbed(taken_from(made)))
}

/// Note on a run that counts although neighbours disturbed it.
pub fn counts_nevertheless(state: &State, made: &ExperimentRun) -> Option<String> {
    let is_noted = made.disturbed && !state.experiment.neighbours.has_repeats();
    is_noted.then(|| text::counts_though_disturbed(taken_from(made), 1))
}

/// Attempts of a place in a block that neighbours disturbed, by their indexes: those of this start of the operating system and of these versions.
pub fn attempts(
    state: &State,
    block: u32,
    number: usize,
    boot_id: &str,
    versions: &str,
) -> Vec<usize> {
    let has_booted = |then: &str| then != boot_id;
    let has_changed = |then: &str| conditions::change(then, versions).is_some();
    let is_one = |made: &ExperimentRun| {
        made.block == block
            && made.number == number
            && made.outcome == Some(Outcome::Disturbed)
            && !made.boot_id.as_deref().is_some_and(has_booted)
            && !made.versions.as_deref().is_some_and(has_changed)
    };
    let runs = state.runs.iter().enumerate();
    runs.filter(|(_, made)| is_one(made))
        .map(|(index, _)| index)
        .collect()
}

/// Whether a place with so many disturbed attempts has no further one.
pub fn is_enough(state: &State, attempts: usize) -> bool {
    attempts >= ATTEMPTS || !has_repeats(state)
}

/// The attempt that counts: the one with the least foreign processor time, then with the least foreign use of the disk, then the first. Shares are compared,
/// since a number of transactions may end the window: its length would then be the run's own figure. What is not known comes last.
pub fn least_disturbed(state: &State, attempts: &[usize]) -> Option<(usize, String)> {
    let share = |known: Option<f64>| known.unwrap_or(f64::INFINITY);
    let processors = |index: usize| share(state.runs[index].cpu_others);
    let disk = |index: usize| share(state.runs[index].device_others);
    let least = attempts.iter().min_by(|&&a, &&b| {
        let by_processors = processors(a).total_cmp(&processors(b));
        by_processors.then(disk(a).total_cmp(&disk(b)))
    })?;
    let taken = taken_from(&state.runs[*least]);
    let why = text::counts_though_disturbed(taken, attempts.len());
    Some((*least, why))
}

/// Why the machine is to be taken as it is, by a block in which so many targets run: most of its attempts were disturbed, and those of most of its targets.
pub fn found(state: &State, block: u32, targets: usize) -> Option<String> {
    let is_over = |made: &&ExperimentRun| {
        made.block == block && made.outcome.is_some() && made.status.as_deref() == Some("done")
    };
    let over = || state.runs.iter().filter(is_over);
    let disturbed = || over().filter(|made| made.disturbed);
    let of: BTreeSet<usize> = disturbed().map(|made| made.number).collect();
    let (all, many) = (over().count(), disturbed().count());
    let is_most = 2 * many > all && 2 * of.len() > targets;
    (has_repeats(state) && is_most).then(|| text::no_more_repeats(many, all, block))
}

/// Runs beside neighbours, where the machine was taken as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Busy {
    /// Runs that neighbours disturbed.
    pub disturbed: u64,
    /// All runs that are over.
    pub runs: u64,
    /// Whether the caller expected neighbours.
    pub expected: bool,
}

impl Busy {
    /// In words.
    pub fn says(&self) -> String {
        wording::say("busy_machine", || {
            busy_machine(self.disturbed, self.runs, self.expected)
        })
    }
}

/// How far the runs of an experiment that are over could see neighbours, the least that one of them saw.
pub fn seen(state: &State) -> OthersSeen {
    let is_over =
        |made: &&ExperimentRun| made.outcome.is_some() && made.status.as_deref() == Some("done");
    let over = state.runs.iter().filter(is_over);
    over.map(|made| made.others_seen).max().unwrap_or_default()
}

/// The neighbours of an experiment whose machine was taken as it is; None where none disturbed a run.
pub fn busy(state: &State) -> Option<Busy> {
    let neighbours = state.experiment.neighbours;
    let over = || {
        let runs = state.runs.iter();
        runs.filter(|made| made.outcome.is_some() && made.status.as_deref() == Some("done"))
    };
    let disturbed = over().filter(|made| made.disturbed).count() as u64;
    (!neighbours.has_repeats() && disturbed > 0).then(|| Busy {
        disturbed,
        runs: over().count() as u64,
        expected: neighbours == Neighbours::Expected,
    })
}
