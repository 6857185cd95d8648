//! The stored state of an experiment, as the extension reads it.

use serde::{Deserialize, Serialize};

use super::{
    metric::{self, Kind, Metric},
    wal::WalUse,
};
use crate::verdict::{
    Reason, Run,
    keeping::Scheduled,
    looks::{Look, Looks},
};

/// The question that an experiment answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// Which target is best, and which are as good.
    Best,
    /// Whether each target is more, less or the same as the baseline.
    Baseline,
}

impl Goal {
    /// Name in SQL.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Best => "best",
            Self::Baseline => "baseline",
        }
    }
}

/// Whether the machine has neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Neighbours {
    /// None are expected: a run beside some is made again.
    #[default]
    Unexpected,
    /// The caller expects them.
    Expected,
    /// They disturbed most attempts of a block.
    Found,
}

impl Neighbours {
    /// The values of the argument.
    pub const GIVEN: [Self; 2] = [Self::Unexpected, Self::Expected];

    /// Name in SQL.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unexpected => "unexpected",
            Self::Expected => "expected",
            Self::Found => "found",
        }
    }

    /// Whether a run beside neighbours is made again.
    pub fn has_repeats(self) -> bool {
        self == Self::Unexpected
    }
}

/// An experiment with its targets and the runs that were made.
#[derive(Clone, Debug, Deserialize)]
pub struct State {
    /// The plan.
    pub experiment: Experiment,
    /// By their numbers, from 0.
    pub targets: Vec<Target>,
    /// In the order in which they were made.
    pub runs: Vec<ExperimentRun>,
}

/// Columns of `fsbench.experiment`.
#[derive(Clone, Debug, Deserialize)]
pub struct Experiment {
    pub experiment_id: i64,
    pub experiment: String,
    pub status: String,
    pub goal: Goal,
    /// Number of the target that the others are compared with.
    #[serde(rename = "baseline_number")]
    pub baseline: Option<usize>,
    /// Number of the target that is the first one, or the baseline, once more.
    #[serde(rename = "control_number")]
    pub control: Option<usize>,
    pub metric: String,
    pub margin: f64,
    pub max_blocks: u32,
    pub looks: Vec<Look>,
    /// Why it ended before it was over.
    pub ended_by: Option<Reason>,
    /// Numbers of targets, a row a block.
    pub run_order: Vec<Vec<usize>>,
    /// So long it may be on in all.
    pub max_seconds: Option<f64>,
    /// max_duration, as it was given.
    #[serde(default)]
    pub max_duration_seconds: Option<f64>,
    #[serde(default)]
    pub started_at: Option<String>,
    /// For so long it was on: while it is paused, or waits for another one, nothing is counted.
    #[serde(default)]
    pub elapsed_seconds: f64,
    /// Planned length of one run, seconds.
    pub run_seconds: f64,
    #[serde(default)]
    pub forced: bool,
    /// The rate of its runs; None without one, or while that is not known yet.
    #[serde(default)]
    pub rate: Option<f64>,
    /// The rate as a share of what the slowest target does without one, by a pilot run of each.
    #[serde(default)]
    pub rate_share: Option<f64>,
    /// Whether a run of one checkpoint cycle comes first, by which the WAL of all is fixed.
    #[serde(default)]
    pub pilot_cycle: bool,
    /// How many segments of WAL runs find ready; None while that is not known.
    #[serde(default)]
    pub wal_segments: Option<u64>,
    /// Whether max_wal_size was given, for all runs or for a target.
    #[serde(default)]
    pub max_wal_is_given: bool,
    /// max_wal_size, where the experiment has raised it by itself.
    #[serde(default)]
    pub raised_max_wal_size: Option<String>,
    /// Whether blocks were made again since the disk had become another one.
    #[serde(default)]
    pub was_throttled: bool,
    /// Whether the length of a checkpoint cycle was given.
    #[serde(default)]
    pub cycle_is_given: bool,
    /// Length of a checkpoint cycle.
    #[serde(default)]
    pub cycle_seconds: Option<f64>,
    /// Whether runs are made at a fixed rate.
    #[serde(default)]
    pub has_rate: bool,
    /// Whether an uncounted run is made first, which burns the disk in.
    #[serde(default)]
    pub burn_in: bool,
    /// Fewest cycles of checkpoints in a window that is decided by; the windows have fewer when this is set.
    #[serde(default)]
    pub too_short: bool,
    #[serde(default)]
    pub neighbours: Neighbours,
    /// Length of a measured window, seconds.
    #[serde(default)]
    pub window_seconds: Option<f64>,
    /// Power cuts of each target before the first block.
    #[serde(default)]
    pub power_cuts: Option<u32>,
}

/// Columns of `fsbench.experiment_target`.
#[derive(Clone, Debug, Deserialize)]
pub struct Target {
    #[serde(rename = "target_number")]
    pub number: usize,
    /// Name in the experiment.
    #[serde(rename = "target")]
    pub name: String,
    /// Name in `fsbench.target`.
    #[serde(rename = "target_name")]
    pub target: String,
}

/// A run of an experiment: columns of `fsbench.experiment_run`, and what `fsbench.result` has of it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ExperimentRun {
    pub block: u32,
    pub position: u32,
    pub attempt: u32,
    #[serde(rename = "target_number")]
    pub number: usize,
    pub run_id: Option<i64>,
    /// Identifier of the operating system's start.
    pub boot_id: Option<String>,
    /// Versions of kernel, server and extension.
    pub versions: Option<String>,
    /// Outcome of the run; None until the conductor has judged the run.
    pub outcome: Option<Outcome>,
    pub why: Option<String>,
    /// Status of the run; None when it has no row.
    pub status: Option<String>,
    pub error_code: Option<String>,
    pub error: Option<String>,
    /// The metric that decides.
    pub value: Option<f64>,
    /// Another one, where that is asked for.
    pub other_value: Option<f64>,
    /// Codes of the findings that call it invalid.
    pub invalid: Vec<String>,
    /// Whether others took a tenth of the processors or a third of the disk from it.
    pub disturbed: bool,
    /// Share of the processors' time in its window that others used; None when it is not known.
    pub cpu_others: Option<f64>,
    /// How far the run could see what others used.
    #[serde(default)]
    pub others_seen: OthersSeen,
    /// Share of its window in which others kept the disk busy; None when it is not known.
    pub device_others: Option<f64>,
    /// Transactions that were due in the window, and those that were not done in time.
    pub scheduled: Option<u64>,
    pub not_in_time: Option<u64>,
    /// Transactions per second.
    pub tps: Option<f64>,
    pub seconds: Option<f64>,
    /// WAL of its window, and what bounds that; None when it is not known.
    pub wal: Option<WalUse>,
    /// Duration of a flush in the probe before its clients (us).
    pub flush_us: Option<f64>,
    /// The sentence of a search that has found no rate.
    pub found_none: Option<String>,
}

/// How far a run could see what other programs used of the processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OthersSeen {
    /// All of it.
    #[default]
    All,
    /// The least that they used.
    Least,
    /// Nothing of it.
    Nothing,
}

/// The outcome of a run of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It counts.
    Measured,
    /// It could not keep the rate, or its search has found none that it keeps: it counts, and has no value.
    Behind,
    /// Findings call the run invalid.
    Invalid,
    /// It failed.
    Failed,
    /// The server or the machine stopped under it.
    Interrupted,
    /// The block of the run is made again.
    Repeated,
    /// Others took much of the machine: it is made again, or another attempt counts.
    Disturbed,
    /// The first one, which burns the disk in.
    BurnIn,
    /// One without a rate, from which the rate of the others follows.
    Pilot,
    /// One that cuts the power of its target.
    PowerCut,
}

impl Outcome {
    /// Name in SQL.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Behind => "behind",
            Self::Invalid => "invalid",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
            Self::Repeated => "repeated",
            Self::Disturbed => "disturbed",
            Self::BurnIn => "burn_in",
            Self::Pilot => "pilot",
            Self::PowerCut => "power_cut",
        }
    }

    /// Whether nothing more is to be done for its place in the block.
    pub fn counts(self) -> bool {
        matches!(self, Self::Measured | Self::Behind)
    }

    /// Whether it comes before the first block.
    pub fn is_before(self) -> bool {
        matches!(self, Self::BurnIn | Self::Pilot | Self::PowerCut)
    }

    /// Whether it was to count and does not, so that its place in the block is filled once more, or its target set aside.
    pub fn is_repeated(self) -> bool {
        !self.counts() && !self.is_before()
    }
}

impl ExperimentRun {
    /// Whether the run is over.
    pub fn is_over(&self) -> bool {
        !matches!(self.status.as_deref(), Some("queued" | "running"))
    }
}

impl Experiment {
    /// The looks, as far as they are known.
    pub fn looks(&self) -> Looks {
        Looks {
            looks: self.looks.clone(),
            ended: self.ended_by,
        }
    }

    /// ln(1 + margin).
    pub fn delta(&self) -> f64 {
        self.margin.ln_1p()
    }

    /// So long it may be on in all when it is extended now: max_duration once more.
    pub fn max_seconds_when_extended(&self) -> Option<f64> {
        self.max_duration_seconds
            .map(|seconds| self.elapsed_seconds + seconds)
    }
}

/// Most blocks that a row may name: an experiment makes 24, and repeated blocks keep their number.
const MOST_BLOCKS: u32 = 1000;

impl State {
    /// The position, in block 0, of the run that cuts the power of a target: behind those of all other runs before the first block.
    pub fn position_of_power_cut(&self, number: usize) -> u32 {
        (self.targets.len() + number + 1) as u32
    }

    /// Whether a run at this position of this block cuts the power of its target.
    pub fn is_power_cut(&self, block: u32, position: u32) -> bool {
        block == 0 && position as usize > self.targets.len()
    }

    /// Why the rows cannot be those of an experiment; None when they can. Rows of a changed dump may hold anything.
    pub fn contradiction(&self) -> Option<String> {
        let e = &self.experiment;
        let targets = self.targets.len();
        let is_known = |number: usize| number < targets;
        let numbered = (self.targets.iter().enumerate()).all(|(i, target)| target.number == i);
        if targets == 0 || !numbered {
            return Some("its targets are not numbered from 0".into());
        }
        let compared = e.baseline.into_iter().chain(e.control);
        let ordered = e.run_order.iter().flatten().copied();
        let made = self.runs.iter().map(|made| made.number);
        if let Some(number) = compared.chain(ordered).chain(made).find(|&n| !is_known(n)) {
            return Some(format!(
                "it has {targets} targets, and names number {number}"
            ));
        }
        if e.goal == Goal::Baseline && e.baseline.is_none() {
            return Some("its goal is baseline, and it has none".into());
        }
        if let Some(made) = self.runs.iter().find(|made| made.block > MOST_BLOCKS) {
            return Some(format!("it has a block {}", made.block));
        }
        let blocks: Vec<u32> = e.looks.iter().map(|look| look.blocks).collect();
        let fit = blocks
            .iter()
            .all(|blocks| (1..=MOST_BLOCKS).contains(blocks));
        (!fit || !blocks.is_sorted()).then(|| "its looks are not in order".into())
    }

    /// The result of a target in a block, as the arithmetic of verdicts takes it.
    pub fn run(&self, block: u32, number: usize, metric: Metric) -> Run {
        let counted = self.runs.iter().find(|made| {
            made.block == block
                && made.number == number
                && made.outcome.is_some_and(Outcome::counts)
        });
        match counted {
            Some(made) if self.is_behind(made, metric) => Run::BehindSchedule,
            Some(made) => match self.value(made, metric) {
                Some(value) if value > 0.0 && value.is_finite() => Run::Measured(value.ln()),
                _ => Run::Missing,
            },
            None => Run::Missing,
        }
    }

    /// Values of the metric in the blocks that count, in their order.
    pub fn values(&self, number: usize, metric: Metric) -> Vec<f64> {
        let of_target = self.runs.iter().filter(|made| made.number == number);
        of_target
            .filter(|made| made.outcome.is_some_and(Outcome::counts))
            .filter(|made| !self.is_behind(made, metric))
            .filter_map(|made| self.value(made, metric))
            .collect()
    }

    fn value(&self, made: &ExperimentRun, metric: Metric) -> Option<f64> {
        match metric.name == self.experiment.metric {
            true => made.value,
            false => made.other_value,
        }
    }

    /// Whether a run that counts has no value of this metric, since it could not keep the rate, or its search has found none. Outcomes are by the metric that decides, and each percentile
    /// has a limit of its own.
    fn is_behind(&self, made: &ExperimentRun, metric: Metric) -> bool {
        if metric.name == metric::SUSTAINABLE_RATE {
            return made.found_none.is_some();
        }
        let Kind::Latency(percentile) = metric.kind else {
            return false;
        };
        match (made.scheduled, made.not_in_time) {
            (Some(scheduled), Some(not_in_time)) if metric.name != self.experiment.metric => {
                let scheduled = Scheduled {
                    scheduled,
                    not_in_time,
                };
                scheduled.behind(percentile)
            }
            _ => made.outcome == Some(Outcome::Behind),
        }
    }
}
