//! Verdicts: is the difference between targets real, and which of them is best? Arithmetic on one number per run, without
//! randomness but for the order of the runs and the bootstrap of [`rate`].
//!
//! # Terms
//! A *block* has one run of each target that is not settled yet. An experiment has one goal, which is fixed before the
//! first run: [`compare`] (each target against a named baseline: more, less or the same?) or [`best`] (which target is best,
//! and which are as good?). Both work on d = ln(metric of one / metric of the other), within a block. The *margin* is the
//! difference that does not count, δ = ln(1 + margin) on that scale. After certain blocks, and only then, there is a
//! *look* ([`looks`]); what is settled at one is not run again.
//!
//! # How sure
//! Each look spends a part of the 5 % by which an experiment may err, by Bonferroni over looks and comparisons. Equivalence is tested by two one-sided
//! t tests (Schuirmann, "A comparison of the two one-sided tests procedure and the power approach", 1987), and comes before
//! direction: what is certainly within the margin is `equivalent`, whatever else might be said of it. Looking repeatedly at fixed levels is
//! group sequential testing (Jennison and Turnbull, "Group Sequential Methods", 1999), with t quantiles in place of normal ones.

pub mod best;
pub mod compare;
pub mod confirmed;
pub mod control;
mod giving_up;
pub mod keeping;
pub mod looks;
pub mod needed;
pub mod nights;
mod noise;
pub mod order;
pub mod rate;
pub mod set_aside;
pub mod student_t;
pub mod table;

use serde::{Deserialize, Serialize};

/// A target's result in one block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Run {
    /// ln of the metric.
    Measured(f64),
    /// No run, or one that does not count.
    Missing,
    /// A run that could not keep the rate that was asked for: it has no value.
    BehindSchedule,
}

impl Run {
    /// ln of the metric, if there is one.
    pub fn value(self) -> Option<f64> {
        match self {
            Self::Measured(ln) => Some(ln),
            Self::Missing | Self::BehindSchedule => None,
        }
    }
}

/// Why there is no verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// A look is still to come.
    Running,
    /// More blocks, up to the last one, would hardly decide it.
    TooNoisy,
    /// It was open after the last block.
    MaxBlocks,
    /// The difference is no larger than twice that between two names of one target.
    NoiseFloor,
    /// The baseline cannot keep the rate.
    NoReference,
    /// The time was over.
    MaxDuration,
    /// A user cancelled it.
    Cancelled,
}

impl Reason {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::TooNoisy => "too_noisy",
            Self::MaxBlocks => "max_blocks",
            Self::NoiseFloor => "noise_floor",
            Self::NoReference => "no_reference",
            Self::MaxDuration => "max_duration",
            Self::Cancelled => "cancelled",
        }
    }
}

/// A mean of d and its interval, at a look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Mean of what was kept.
    pub mean: f64,
    /// Half width of the interval that tells direction.
    pub half_width: f64,
    /// Standard deviation of one d, as it was used.
    pub sd: f64,
    /// The number of blocks at the look.
    pub blocks: u32,
    /// Blocks in which both ran.
    pub pairs: usize,
    /// The number of blocks that were kept, and not set aside.
    pub kept: usize,
}

impl Estimate {
    /// Low end of the interval.
    pub fn low(&self) -> f64 {
        self.mean - self.half_width
    }

    /// High end of the interval.
    pub fn high(&self) -> f64 {
        self.mean + self.half_width
    }
}

#[cfg(test)]
mod tests;
