//! Goal `baseline`: is each target more, less or the same as one that was named before the first run? Targets that are both
//! `more` are not ranked against each other; that is what [`super::best`] is for.
//!
//! At a look with level a, for each open one of m targets: x is the mean of d = ln(target / baseline) over the blocks in which both ran and which are
//! not [set aside](super::set_aside), s its [noise](super::noise) with f degrees of freedom, h the number kept, e = s/√h. The interval of direction is x ± t(a/(2m), f)·e, that of
//! equivalence x ± t(a, f)·e. The first that holds: inside (−δ, δ): `equivalent`; above 0: `more`; below 0: `less`; else it stays open.
//! A verdict is final: later blocks do not change it.

use super::giving_up::gives_up;
use super::keeping::cannot_keep;
use super::looks::{FEWEST_BLOCKS, Look, Looks};
use super::needed;
use super::noise::{Noise, Pool, Spread};
use super::set_aside::{KeptValues, set_aside};
use super::student_t::quantile;
use super::{Estimate, Reason, Run};

/// A target against the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The difference is certainly within the margin.
    Equivalent,
    /// More of the metric.
    More,
    /// Less of the metric.
    Less,
    /// It did not keep the rate: there is no ratio.
    CannotKeepTheRate,
    /// It is not decided.
    Inconclusive(Reason),
}

impl Verdict {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Equivalent => "equivalent",
            Self::More => "more",
            Self::Less => "less",
            Self::CannotKeepTheRate => "cannot keep the rate",
            Self::Inconclusive(_) => "inconclusive",
        }
    }

    /// True for more and less.
    pub fn is_direction(self) -> bool {
        matches!(self, Self::More | Self::Less)
    }
}

/// A target's verdict, and what it rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compared {
    pub verdict: Verdict,
    /// The estimate at the look that settled the verdict, or at the last one. None when it never had three blocks.
    pub estimate: Option<Estimate>,
}

impl Compared {
    /// True if the interval of the direction is wholly outside of the margin.
    pub fn beyond_margin(&self, delta: f64) -> Option<bool> {
        let estimate = self.estimate?;
        Some(estimate.low() >= delta || estimate.high() <= -delta)
    }

    /// Blocks that a decision would take, when there is none.
    pub fn blocks_needed(&self, comparisons: usize, delta: f64) -> Option<u32> {
        let estimate = self.estimate?;
        matches!(self.verdict, Verdict::Inconclusive(_))
            .then(|| needed::blocks_needed(estimate.mean, estimate.sd, comparisons, delta))?
    }
}

/// Plays the looks in order, as far as there are blocks. `baseline` and each of `targets` have one run a block; runs after a target was settled are
/// not used. `delta` is ln(1 + margin).
pub fn compare(baseline: &[Run], targets: &[Vec<Run>], delta: f64, looks: &Looks) -> Vec<Compared> {
    let mut replay = Replay {
        baseline,
        targets,
        delta,
        settled: vec![None; targets.len()],
        spreads: vec![None; targets.len()],
        estimates: vec![None; targets.len()],
    };
    for look in &looks.looks {
        if look.blocks as usize <= baseline.len() && replay.is_open() {
            replay.look(*look);
        }
    }
    replay.conclude(looks.why_open(baseline.len() as u32))
}

struct Replay<'a> {
    baseline: &'a [Run],
    targets: &'a [Vec<Run>],
    delta: f64,
    settled: Vec<Option<Verdict>>,
    /// The spread at the last look of each target.
    spreads: Vec<Option<Spread>>,
    estimates: Vec<Option<Estimate>>,
}

impl Replay<'_> {
    fn is_open(&self) -> bool {
        self.settled.iter().any(Option::is_none)
    }

    fn open(&self) -> Vec<usize> {
        let numbers = 0..self.settled.len();
        numbers.filter(|&i| self.settled[i].is_none()).collect()
    }

    fn look(&mut self, look: Look) {
        self.give_up_the_slow(look.blocks as usize);
        let kept: Vec<(usize, KeptValues)> = (self.open().into_iter())
            .filter_map(|i| Some((i, self.ratios(i, look.blocks as usize)?)))
            .collect();
        for (i, kept) in &kept {
            self.spreads[*i] = Some(Spread::of(kept));
        }
        let pool: Vec<Spread> = self.spreads.iter().flatten().copied().collect();
        let pool = Pool::to_baseline(&pool, look.blocks);
        for (i, kept) in kept {
            self.judge(i, &kept, pool.noise_of(Spread::of(&kept)), look);
        }
    }

    /// Settles the targets that cannot keep the rate; they take no part in the pool.
    fn give_up_the_slow(&mut self, blocks: usize) {
        if cannot_keep(&self.baseline[..blocks]) {
            for i in self.open() {
                self.settled[i] = Some(Verdict::Inconclusive(Reason::NoReference));
            }
        }
        for i in self.open() {
            if cannot_keep(&self.targets[i][..blocks]) {
                self.settled[i] = Some(Verdict::CannotKeepTheRate);
                self.spreads[i] = None;
                self.estimates[i] = None;
            }
        }
    }

    /// The ratios of a target; None below three.
    fn ratios(&self, target: usize, blocks: usize) -> Option<KeptValues> {
        let d = ratios(&self.targets[target][..blocks], &self.baseline[..blocks]);
        (d.len() >= FEWEST_BLOCKS as usize).then(|| set_aside(&d))
    }

    fn judge(&mut self, target: usize, kept: &KeptValues, noise: Noise, look: Look) {
        let parts = 2.0 * self.targets.len() as f64;
        let error = noise.sd / (kept.count as f64).sqrt();
        let direction = quantile(look.level() / parts, noise.freedom) * error;
        let equivalence = quantile(look.level(), noise.freedom) * error;
        let x = kept.mean;
        self.estimates[target] = Some(Estimate {
            mean: x,
            half_width: direction,
            sd: noise.sd,
            blocks: look.blocks,
            pairs: kept.kept.len(),
            kept: kept.count,
        });
        self.settled[target] = if x.abs() + equivalence < self.delta {
            Some(Verdict::Equivalent)
        } else if x - direction > 0.0 {
            Some(Verdict::More)
        } else if x + direction < 0.0 {
            Some(Verdict::Less)
        } else {
            gives_up(look, parts, self.delta, x, noise, kept.kept.len())
                .then_some(Verdict::Inconclusive(Reason::TooNoisy))
        };
    }

    fn conclude(self, why_open: Reason) -> Vec<Compared> {
        let open = Verdict::Inconclusive(why_open);
        (self.settled.into_iter().zip(self.estimates))
            .map(|(settled, estimate)| Compared {
                verdict: settled.unwrap_or(open),
                estimate,
            })
            .collect()
    }
}

/// ln(a / b) over the blocks in which both have a value.
pub(super) fn ratios(a: &[Run], b: &[Run]) -> Vec<f64> {
    (a.iter().zip(b))
        .filter_map(|(a, b)| Some(a.value()? - b.value()?))
        .collect()
}
