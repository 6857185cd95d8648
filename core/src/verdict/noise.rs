//! The noise of the ratios. Pairs that are alike in noise share it, since three blocks tell little of it.
//!
//! Alike are all pairs at 3 blocks; from 4 on those with s² ≤ 6 × the median of all s². Their pooled variance is S² = Σ(h − 1)s² / Σ(h − 1). An
//! alike pair uses max(s², S²), with the degrees of freedom F of the pool; another its own s², with h − 1. F is less than Σ(h − 1),
//! as pairs have a target in common: ratios that share one correlate by ½, their squares by ¼.

use crate::series::median;

use super::set_aside::KeptValues;

/// Least standard deviation of a ratio that is believed: 0.5 % a run.
pub const FLOOR: f64 = 0.007;
const ALIKE: f64 = 6.0;
/// At so few blocks a variance does not tell who is alike.
const ALL_ALIKE_AT: u32 = 3;
/// Squared correlation of two ratios that share a target.
const SHARED: f64 = 0.25;

/// The spread of one pair: its variance, at least [`FLOOR`] squared, and how many ratios it is of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub variance: f64,
    pub kept: usize,
}

impl Spread {
    /// The spread of the ratios that were kept.
    pub fn of(kept: &KeptValues) -> Self {
        Self {
            variance: kept.variance.max(FLOOR * FLOOR),
            kept: kept.count,
        }
    }

    fn freedom(self) -> f64 {
        self.kept as f64 - 1.0
    }
}

/// Variance and degrees of freedom with which an interval is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    pub sd: f64,
    pub freedom: f64,
}

/// The pool of alike pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pool {
    limit: f64,
    variance: f64,
    freedom: f64,
}

impl Pool {
    /// The pool for the ratios of several targets to one baseline: F = Σ(h − 1) / (1 + (q − 1)/4), with q alike ones.
    pub fn to_baseline(spreads: &[Spread], blocks: u32) -> Self {
        Self::new(spreads, blocks, |q| q)
    }

    /// The pool for the ratios of all pairs of `targets`. Each target is in |R| − 1 pairs, so F = mean(h − 1) × r / (1 + (r − 1)/4), with
    /// r = max(1, 2q/|R|).
    pub fn among(spreads: &[Spread], targets: usize, blocks: u32) -> Self {
        Self::new(spreads, blocks, |q| (2.0 * q / targets as f64).max(1.0))
    }

    /// `independent` gives how many ratios with a common target are worth as much as q alike ones.
    fn new(spreads: &[Spread], blocks: u32, independent: impl Fn(f64) -> f64) -> Self {
        let variances: Vec<f64> = spreads.iter().map(|s| s.variance).collect();
        let limit = match median(&variances) {
            Some(median) if blocks > ALL_ALIKE_AT => ALIKE * median,
            _ => f64::INFINITY,
        };
        let alike = || spreads.iter().filter(|s| s.variance <= limit);
        let q = alike().count() as f64;
        let freedom: f64 = alike().map(|s| s.freedom()).sum();
        let squares: f64 = alike().map(|s| s.freedom() * s.variance).sum();
        let worth = independent(q);
        Self {
            limit,
            variance: squares / freedom,
            freedom: freedom / q * worth / (1.0 + (worth - 1.0) * SHARED),
        }
    }

    /// The noise of a pair, which need not be of the pool itself.
    pub fn noise_of(&self, spread: Spread) -> Noise {
        // Without a pair in the pool its variance is not a number.
        let alike = spread.variance <= self.limit && self.variance.is_finite();
        Noise {
            sd: if alike {
                spread.variance.max(self.variance)
            } else {
                spread.variance
            }
            .sqrt(),
            freedom: if alike {
                self.freedom
            } else {
                spread.freedom()
            },
        }
    }
}
