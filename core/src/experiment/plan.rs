//! The plan of an experiment, made before it does anything.

pub mod budget;
pub mod rows;

use serde::{Deserialize, Serialize};

use super::{arguments::Checked, state::Goal};
use crate::{
    texts::plan::Announced,
    verdict::{
        looks::{LOOKS, Look, Looks},
        needed::blocks_needed,
        order,
    },
    workload::power_cut_seconds,
};

/// Blocks whose order is drawn: as many as an experiment can be extended to.
pub const MOST_BLOCKS: usize = 24;
/// By this factor runs are reckoned longer where they must fit into a time: for what lies between runs.
const SLACK: f64 = 1.2;
/// Seconds that a run takes beside its warm-up and window: making a filesystem, copying data, a checkpoint, storing the result.
const OVERHEAD_SECONDS: f64 = 5.0;
/// Transactions a second that are assumed of the runs of a whole night without a rate, for their transaction ids. One run is reckoned with four times as many,
/// which a fast server does while data are in memory: a night reckoned so would be refused almost everywhere.
pub const ASSUMED_TPS: f64 = 5000.0;
/// The shortest checkpoint cycle that can be given.
const SHORTEST_CYCLE_SECONDS: f64 = 30.0;
/// PostgreSQL's default of checkpoint_timeout.
pub const DEFAULT_CYCLE_SECONDS: f64 = 300.0;
/// With shorter cycles than this an answer is provisional: far more is written than on a server that works.
const PROVISIONAL_BELOW_SECONDS: f64 = 60.0;
/// How fast data are copied at least, as assumed: bytes a second.
const COPY_SPEED: f64 = 150e6;

/// Whether an answer by such checkpoint cycles is provisional.
pub fn is_provisional(cycle_seconds: f64) -> bool {
    cycle_seconds < PROVISIONAL_BELOW_SECONDS
}

/// The arguments that decide how long a run takes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Length {
    /// Warm-up.
    pub warmup_seconds: f64,
    /// Measured window; an estimate where the number of transactions ends it.
    pub window_seconds: f64,
    /// Bytes of the data.
    pub data_bytes: u64,
    /// A checkpoint cycle.
    pub cycle_seconds: f64,
}

impl Length {
    /// Length of a run, seconds.
    pub fn run_seconds(self) -> f64 {
        self.warmup_seconds
            + self.window_seconds
            + OVERHEAD_SECONDS
            + self.data_bytes as f64 / COPY_SPEED
    }

    /// Seconds of a run that only measures a checkpoint cycle.
    pub fn cycle_run_seconds(self) -> f64 {
        let cycle = Self {
            warmup_seconds: 0.0,
            window_seconds: self.cycle_seconds,
            ..self
        };
        cycle.run_seconds()
    }

    /// Whether the window has fewer than two complete checkpoint cycles, so that nothing is decided by it.
    pub fn is_too_short(self) -> bool {
        self.window_seconds < 2.0 * self.cycle_seconds
    }
}

/// The reason of a verdict by windows that are too short.
pub const TOO_SHORT_REASON: &str = "too_short";

/// The order in which targets take turns, the control among them, a row a block; drawn once, before the first run.
pub fn run_order(targets: usize, seed: i64) -> Vec<Vec<usize>> {
    order::draw(targets, MOST_BLOCKS, seed as u64)
}

/// The looks that are planned.
pub fn looks(max_blocks: u32) -> Vec<Look> {
    Looks::planned(max_blocks).map_or_else(Vec::new, |looks| looks.looks)
}

/// The numbers of targets beside the baseline, or of all with goal best.
fn comparisons(goal: Goal, targets: usize) -> usize {
    match goal {
        Goal::Baseline => targets - 1,
        Goal::Best => targets,
    }
}

/// Runs before the first block, which do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunsBefore {
    /// As long as the others: one that burns the disk in, one of each target without a rate.
    pub whole: u32,
    /// Runs of one checkpoint cycle.
    pub cycles: u32,
    /// Runs that cut the power.
    pub power_cut_runs: u32,
    /// Power cuts of each of these.
    pub power_cuts: u32,
}

impl RunsBefore {
    /// Runs before the first block of an experiment of this many targets, without the control.
    pub fn planned(burn_in: bool, has_share: bool, pilot_cycle: bool, targets: u32) -> Self {
        let whole = u32::from(burn_in) + if has_share { targets } else { 0 };
        // The others tell, too, how much WAL a cycle of their target takes.
        let cycles = match pilot_cycle {
            true => targets.saturating_sub(whole),
            false => 0,
        };
        Self {
            whole,
            cycles,
            ..Self::default()
        }
    }

    /// These runs, and one of each of this many targets that cuts its power.
    pub fn with_power_cuts(self, cuts: Option<u32>, targets: u32) -> Self {
        match cuts {
            Some(power_cuts) => Self {
                power_cut_runs: targets,
                power_cuts,
                ..self
            },
            None => self,
        }
    }

    /// Their number.
    pub fn runs(self) -> u32 {
        self.whole + self.cycles + self.power_cut_runs
    }

    /// Seconds of those that cut the power.
    pub fn power_cut_seconds(self) -> f64 {
        f64::from(self.power_cut_runs) * power_cut_seconds(self.power_cuts)
    }

    /// Seconds that these runs take.
    pub fn seconds(self, length: Length) -> f64 {
        f64::from(self.whole) * length.run_seconds()
            + f64::from(self.cycles) * length.cycle_run_seconds()
            + self.power_cut_seconds()
    }
}

/// An experiment in one line, for a NOTICE.
pub fn announced(checked: &Checked, length: Length, before: RunsBefore) -> String {
    let candidates = checked.candidates.len() as u64;
    let targets = candidates + u64::from(checked.control);
    let runs = [3, u64::from(checked.max_blocks)].map(|blocks| blocks * targets);
    let looks = LOOKS.into_iter().filter(|n| *n <= checked.max_blocks);
    let announced = Announced {
        targets: candidates,
        has_control: checked.control,
        baseline: checked
            .baseline
            .map(|baseline| checked.candidates[baseline].name.as_str()),
        metric: checked.metric.name,
        margin: checked.margin,
        looks: looks.collect(),
        runs,
        seconds: runs.map(|runs| runs as f64 * length.run_seconds() + before.seconds(length)),
        uncounted: before.runs(),
        max_seconds: checked.max_seconds,
    };
    announced.words()
}

/// The smallest difference that is found in four of five experiments of so many blocks, as a share, when a ratio of two runs has this
/// standard deviation; None when it is above 100 %.
pub fn smallest_difference(goal: Goal, targets: usize, blocks: u32, noise: f64) -> Option<f64> {
    let m = comparisons(goal, targets);
    // A run's noise is in both runs of a ratio.
    let sd = noise * std::f64::consts::SQRT_2;
    let is_found = |share: f64| {
        blocks_needed(share.ln_1p(), sd, m, 0.0).is_some_and(|needed| needed <= blocks)
    };
    (1..=1000)
        .map(|n| f64::from(n) / 1000.0)
        .find(|x| is_found(*x))
}

/// How much time there is, as `plan_experiment` offers it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Offer {
    pub name: &'static str,
    /// How long it may take.
    pub seconds: f64,
}

/// Half an hour, a night, a weekend.
pub const OFFERS: [Offer; 3] = [
    Offer {
        name: "half an hour",
        seconds: 1800.0,
    },
    Offer {
        name: "a night",
        seconds: 12.0 * 3600.0,
    },
    Offer {
        name: "a weekend",
        seconds: 60.0 * 3600.0,
    },
];

/// Seconds that so many runs take in a time that they must fit into.
fn seconds_of(runs: f64, length: Length) -> f64 {
    SLACK * runs * length.run_seconds()
}

/// Blocks that can be made in a time, after what comes before the first one.
pub fn blocks_within(seconds: f64, targets: usize, length: Length, before: RunsBefore) -> u32 {
    let left = seconds - before.seconds(length);
    let blocks = (left / seconds_of(targets as f64, length)).floor();
    blocks.clamp(0.0, MOST_BLOCKS as f64) as u32
}
