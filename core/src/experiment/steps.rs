//! The next step of an experiment.
//!
//! The blocks are walked from the first one. In each, the targets that were open after the block before run in the stored order, until each has a run that
//! counts or was tried often enough. The result of a look follows from the runs alone, and is not stored.

mod before;
mod moved;
mod outcome;
mod time;

use super::{
    conditions,
    metric::{self, Metric},
    neighbours,
    state::{Experiment, ExperimentRun, Goal, Outcome, State},
    throttled,
    wal::Fixed,
};
use crate::texts::steps::{self as text, Change};
use crate::verdict::{
    Reason, Run,
    best::{self, Ranked, SetAside, Standing},
    compare::{self, Compared, Verdict},
    control,
    looks::Looks,
};

pub use before::{own_parameters, parameters};
pub use moved::why_moved;
pub use outcome::{ExcludedTarget, excluded, outcome, without_value};
pub use time::ends_early;

/// A failed run is tried again once.
const TRIES_OF_FAILED: usize = 2;
/// An invalid run is repeated twice.
const TRIES_OF_INVALID: usize = 3;
/// A run that was cut off is no target's fault, and is made again; but something that cuts off so many in one place will not end by itself.
const OFTEN_INTERRUPTED: usize = 10;

/// The next step.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Store what became of a run that is over, by its index.
    Judge(usize, Outcome, Option<String>),
    /// Store that an attempt counts after all, by its index, with its outcome and why: no other attempt of its place is to follow.
    Count(usize, Outcome, String),
    /// Store that the machine is taken as it is, with the block that shows it and why: no further run is made again for its neighbours.
    TakeAsItIs(u32, String),
    /// Wait for the run of that number.
    Wait(i64),
    /// The conductor was cut off while it started a run: the run may exist or not. Index of the run.
    Find(usize),
    /// Store that the runs of a block do not count, and why: it is made again.
    Repeat(u32, String),
    /// Store that the runs of all blocks before one do not count, and why: these are made again.
    RepeatBefore(u32, String),
    /// Make a run.
    Start(Place),
    /// From now on runs have this rate, and why.
    Rate { rate: f64, why: String },
    /// From now on runs find so much WAL to be used again.
    Wal(Fixed),
    /// It is over.
    End(End),
}

/// A place for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub block: u32,
    pub position: u32,
    pub attempt: u32,
    pub number: usize,
}

impl Place {
    /// The place of a run that was made.
    pub fn of(made: &ExperimentRun) -> Self {
        Self {
            block: made.block,
            position: made.position,
            attempt: made.attempt,
            number: made.number,
        }
    }

    /// A run that is not started yet.
    pub fn made(self) -> ExperimentRun {
        ExperimentRun {
            block: self.block,
            position: self.position,
            number: self.number,
            attempt: self.attempt,
            ..ExperimentRun::default()
        }
    }

    /// The label of its run, by which that is found again.
    pub fn label(self, state: &State) -> String {
        let name = state.targets.get(self.number);
        let name = name.map_or("", |target| target.name.as_str());
        let again = match self.attempt {
            1 => String::new(),
            attempt => format!(", attempt {attempt}"),
        };
        format!(
            "{}, block {}, run {}: {name}{again}",
            state.experiment.experiment, self.block, self.position
        )
    }
}

/// Why an experiment is over.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// Nothing is open.
    Decided,
    /// All blocks were made.
    MaxBlocks,
    /// Another run would not end in time.
    MaxDuration,
    /// The baseline is out, or fewer than two targets are left.
    NoReference(String),
}

impl End {
    /// The reason for which open targets stayed open.
    pub fn reason(&self) -> Option<Reason> {
        match self {
            Self::Decided | Self::MaxBlocks => None,
            Self::MaxDuration => Some(Reason::MaxDuration),
            Self::NoReference(_) => Some(Reason::NoReference),
        }
    }

    /// In words, after so many blocks.
    pub fn why(&self, blocks: u32) -> Option<String> {
        match self {
            Self::Decided => None,
            Self::MaxBlocks => Some(text::blocks_are_made(blocks)),
            Self::MaxDuration => Some(text::max_duration()),
            Self::NoReference(why) => Some(why.clone()),
        }
    }
}

/// The result of the looks.
#[derive(Clone, Debug, PartialEq)]
pub enum LookResults {
    /// Goal baseline: by number, None for the baseline itself.
    Baseline(Vec<Option<Compared>>),
    /// Goal best: by number.
    Best(Vec<Ranked>),
}

/// Plays the looks on the first blocks.
pub fn replay_looks(state: &State, blocks: u32, metric: Metric, looks: &Looks) -> LookResults {
    let runs = |number: usize| -> Vec<Run> {
        (1..=blocks)
            .map(|block| state.run(block, number, metric))
            .collect()
    };
    let e = &state.experiment;
    let (numbers, delta) = (0..state.targets.len(), e.delta());
    match (e.goal, e.baseline) {
        (Goal::Baseline, Some(baseline)) => {
            let others: Vec<usize> = numbers.clone().filter(|&i| i != baseline).collect();
            let targets: Vec<Vec<Run>> = others.iter().map(|&i| runs(i)).collect();
            let mut compared = compare::compare(&runs(baseline), &targets, delta, looks);
            if let Some(twin) = others.iter().position(|&i| Some(i) == e.control) {
                control::of_comparison(&mut compared, twin);
            }
            let mut by_number = vec![None; state.targets.len()];
            for (i, compared) in others.into_iter().zip(compared) {
                by_number[i] = Some(compared);
            }
            LookResults::Baseline(by_number)
        }
        _ => {
            let turned = |run: Run| match run {
                Run::Measured(ln) if !metric.more_is_better => Run::Measured(-ln),
                run => run,
            };
            let targets: Vec<Vec<Run>> = numbers
                .map(|i| runs(i).into_iter().map(turned).collect())
                .collect();
            let mut ranked = best::best_without(&targets, &gone(state), delta, looks);
            if let Some(twin) = e.control {
                control::of_best(&mut ranked, [0, twin]);
            }
            LookResults::Best(ranked)
        }
    }
}

/// Those that were set aside, as goal best takes them.
fn gone(state: &State) -> Vec<SetAside> {
    let excluded = excluded(state).into_iter();
    let gone = excluded.map(|excluded| SetAside {
        target: excluded.number,
        block: excluded.block,
    });
    gone.collect()
}

impl LookResults {
    /// Which targets are run in the next block: what is open, and what it is compared with. None when nothing is open.
    fn runs_next(&self, state: &State, excluded: &[ExcludedTarget]) -> Option<Vec<bool>> {
        let is_aside = |number: usize| excluded.iter().any(|a| a.number == number);
        let undecided: Vec<bool> = match self {
            Self::Baseline(compared) => (compared.iter())
                .map(|c| c.is_some_and(|c| c.verdict == Verdict::Inconclusive(Reason::Running)))
                .collect(),
            Self::Best(ranked) => (ranked.iter())
                .map(|r| r.standing == Standing::Open(Reason::Running))
                .collect(),
        };
        let others_open = undecided
            .iter()
            .enumerate()
            .any(|(i, open)| *open && !is_aside(i));
        if !others_open {
            return None;
        }
        let runs = (undecided.iter().enumerate()).map(|(i, open)| {
            let is_reference = match self {
                Self::Baseline(_) => state.experiment.baseline == Some(i),
                Self::Best(ranked) => {
                    matches!(ranked[i].standing, Standing::Best | Standing::Leading)
                }
            };
            (*open || is_reference) && !is_aside(i)
        });
        Some(runs.collect())
    }
}

/// How far an experiment is.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Blocks that are complete.
    pub blocks: u32,
    /// The next step.
    pub next: Next,
}

/// The metric that was declared.
pub fn declared(state: &State) -> Metric {
    metric::find(&state.experiment.metric).unwrap_or(metric::ALL[0])
}

/// How far an experiment is, and what is to be done next. `now` are the marks of the operating system's start and of versions as they are now.
pub fn next(state: &State, boot_id: &str, versions: &str) -> Progress {
    let mut progress = walk(state, boot_id, versions);
    let would_go_on = matches!(
        progress.next,
        Next::Start(_) | Next::End(End::Decided | End::MaxBlocks)
    );
    if would_go_on && let Some(step) = throttled::to_be_repeated(state) {
        progress.next = Next::RepeatBefore(step.block, step.why());
    }
    progress
}

/// The blocks from the first one to where something is to be done.
fn walk(state: &State, boot_id: &str, versions: &str) -> Progress {
    let metric = declared(state);
    let excluded = excluded(state);
    let open = |blocks, next| Progress { blocks, next };
    let looks = looks_of(&state.experiment);
    let mut blocks = 0;
    if let Some(next) = before::next(state) {
        return open(blocks, unfinished(state, metric).unwrap_or(next));
    }
    for block in 1..=state.experiment.max_blocks {
        // Until then it ran as the others did.
        let gone = excluded.iter().filter(|excluded| excluded.block <= block);
        let gone: Vec<ExcludedTarget> = gone.cloned().collect();
        let runs = match blocks {
            0 => Some(all_run(state, &gone)),
            _ => replay_looks(state, blocks, metric, &looks).runs_next(state, &gone),
        };
        let Some(runs) = runs else {
            return open(
                blocks,
                unfinished(state, metric).unwrap_or(Next::End(End::Decided)),
            );
        };
        if let Some(end) = without_reference(state, &gone, &runs) {
            return open(blocks, unfinished(state, metric).unwrap_or(Next::End(end)));
        }
        let places = in_block(state, block, &runs, boot_id, versions);
        let is_open = |place: &&InBlock| {
            let is_aside = excluded
                .iter()
                .any(|excluded| excluded.number == place.place.number);
            !place.is_closed && !is_aside
        };
        match places.iter().find(is_open) {
            None => blocks = block,
            Some(place) => {
                let next = unfinished(state, metric)
                    .or_else(|| restart_block(state, block, boot_id, versions))
                    .or_else(|| take_as_it_is(state, block, places.len()))
                    .or_else(|| count(state, metric, place))
                    .unwrap_or_else(|| start(state, place.place));
                return open(blocks, next);
            }
        }
    }
    let end = Next::End(End::MaxBlocks);
    open(blocks, unfinished(state, metric).unwrap_or(end))
}

/// The looks by which blocks are made. An experiment that ended before the first look has none of its own.
fn looks_of(e: &Experiment) -> Looks {
    let planned = || Looks::planned(e.max_blocks);
    let own = Looks {
        looks: e.looks.clone(),
        ended: None,
    };
    match e.looks.is_empty() {
        true => planned().unwrap_or(own),
        false => own,
    }
}

fn all_run(state: &State, excluded: &[ExcludedTarget]) -> Vec<bool> {
    let is_aside = |number: usize| excluded.iter().any(|a| a.number == number);
    (0..state.targets.len()).map(|i| !is_aside(i)).collect()
}

/// Why nothing can be compared any more.
fn without_reference(state: &State, excluded: &[ExcludedTarget], runs: &[bool]) -> Option<End> {
    let name = |number: usize| state.targets.get(number).map_or("", |t| t.name.as_str());
    let of = |number: usize| excluded.iter().find(|a| a.number == number);
    if let Some(baseline) = state.experiment.baseline
        && let Some(excluded) = of(baseline)
    {
        let why = text::baseline_is_excluded(name(baseline), &excluded.why);
        return Some(End::NoReference(why));
    }
    (runs.iter().filter(|run| **run).count() < 2).then(|| {
        let excluded =
            (excluded.iter()).map(|excluded| (name(excluded.number), excluded.why.as_str()));
        let excluded: Vec<_> = excluded.collect();
        End::NoReference(text::too_few_targets(&excluded))
    })
}

/// The work that is left for a run that was made.
fn unfinished(state: &State, metric: Metric) -> Option<Next> {
    let index = state.runs.iter().position(|made| made.outcome.is_none())?;
    let made = &state.runs[index];
    Some(match made.run_id {
        None => Next::Find(index),
        Some(run_id) if !made.is_over() => Next::Wait(run_id),
        Some(_) => {
            let (mut outcome, mut why) = outcome(made, metric);
            if made.block == 0 {
                (outcome, why) = before::outcome(state, index, outcome, why);
            } else if outcome.counts() {
                match neighbours::disturbed(state, made) {
                    Some(others) => (outcome, why) = (Outcome::Disturbed, Some(others)),
                    None => why = why.or_else(|| neighbours::counts_nevertheless(state, made)),
                }
            }
            Next::Judge(index, outcome, why)
        }
    })
}

/// Why an experiment is to be paused after a run, by its index, that was judged: it was the tenth (twentieth, ...) of its place that was cut off.
/// No block is lost by that, and nothing crashes the server all night.
pub fn often_interrupted(state: &State, index: usize) -> Option<String> {
    let made = &state.runs[index];
    let is_cut_off = |other: &&ExperimentRun| {
        other.block == made.block
            && other.number == made.number
            && other.outcome == Some(Outcome::Interrupted)
    };
    let count = state.runs.iter().filter(is_cut_off).count();
    let is_often =
        made.outcome == Some(Outcome::Interrupted) && count.is_multiple_of(OFTEN_INTERRUPTED);
    is_often.then(|| {
        let name = state
            .targets
            .get(made.number)
            .map_or("", |t| t.name.as_str());
        let why = made.why.as_deref().unwrap_or_default();
        text::often_cut_off(count, name, made.block, why)
    })
}

struct InBlock {
    place: Place,
    /// Attempts that neighbours disturbed, by their indexes.
    disturbed: Vec<usize>,
    /// It has a run that counts, or it has failed too often and no attempt of it could count.
    is_closed: bool,
    /// It has failed too often.
    is_given_up: bool,
}

/// The places of a block in their order, with the attempt that is next.
fn in_block(
    state: &State,
    block: u32,
    runs: &[bool],
    boot_id: &str,
    versions: &str,
) -> Vec<InBlock> {
    let order = state.experiment.run_order.get(block as usize - 1);
    let order = order.map_or(&[][..], Vec::as_slice);
    let is_run = |number: usize| runs.get(number).copied().unwrap_or(false);
    (1..)
        .zip(order)
        .filter(|(_, number)| is_run(**number))
        .map(|(position, &number)| {
            let tries: Vec<&ExperimentRun> = (state.runs.iter())
                .filter(|made| made.block == block && made.number == number)
                .collect();
            let often = |outcome: Outcome, most: usize| {
                tries.iter().filter(|m| m.outcome == Some(outcome)).count() >= most
            };
            let attempt = tries.iter().map(|made| made.attempt).max().unwrap_or(0) + 1;
            let has_counted = tries.iter().any(|m| m.outcome.is_some_and(Outcome::counts));
            let disturbed = neighbours::attempts(state, block, number, boot_id, versions);
            let is_given_up = often(Outcome::Failed, TRIES_OF_FAILED)
                || often(Outcome::Invalid, TRIES_OF_INVALID);
            InBlock {
                place: Place {
                    block,
                    position,
                    attempt,
                    number,
                },
                is_closed: has_counted || (is_given_up && disturbed.is_empty()),
                disturbed,
                is_given_up,
            }
        })
        .collect()
}

fn take_as_it_is(state: &State, block: u32, targets: usize) -> Option<Next> {
    let why = neighbours::found(state, block, targets)?;
    Some(Next::TakeAsItIs(block, why))
}

/// One of the attempts of a place that neighbours disturbed counts where no other one is to follow, or none could end in time.
fn count(state: &State, metric: Metric, place: &InBlock) -> Option<Next> {
    let (index, chosen) = neighbours::least_disturbed(state, &place.disturbed)?;
    let is_last = place.is_given_up
        || neighbours::is_enough(state, place.disturbed.len())
        || matches!(start(state, place.place), Next::End(_));
    let (outcome, why) = outcome(&state.runs[index], metric);
    let why = [why, Some(chosen)].into_iter().flatten();
    let why: Vec<String> = why.collect();
    is_last.then(|| Next::Count(index, outcome, why.join("; ")))
}

/// Repeats a block that was begun under other conditions.
fn restart_block(state: &State, block: u32, boot_id: &str, versions: &str) -> Option<Next> {
    let of_block = state
        .runs
        .iter()
        .filter(|made| made.block == block && made.outcome.is_some_and(Outcome::counts));
    let differs =
        |then: &Option<String>, now: &str| then.as_deref().is_some_and(|then| then != now);
    of_block
        .into_iter()
        .find_map(|made| {
            if differs(&made.boot_id, boot_id) {
                Some(Change::Restart)
            } else {
                conditions::change(made.versions.as_deref()?, versions)
            }
        })
        .map(|change| Next::Repeat(block, text::changed(change).into()))
}

fn start(state: &State, place: Place) -> Next {
    let e = &state.experiment;
    match e.max_seconds {
        Some(max) if e.elapsed_seconds + time::longest_run(state) > max => {
            Next::End(End::MaxDuration)
        }
        _ => Next::Start(place),
    }
}
