//! The number of blocks that a decision would take.

use super::looks::{FEWEST_BLOCKS, level};
use super::student_t::quantile;

/// More are not looked for.
const MOST: u32 = 200;
/// 80 % point of the normal distribution: in four of five experiments of that length it would be decided.
const POWER: f64 = 0.84;

/// The least n ≤ 200 with (t(a/(2m), n − 1) + 0.84)·s/√n ≤ |x|, so that a direction is seen, or (t(a, n − 1) + 0.84)·s/√n ≤ δ − |x|, so that it is
/// equivalent; a is the level at n blocks, m the number of comparisons.
pub fn blocks_needed(mean: f64, sd: f64, comparisons: usize, delta: f64) -> Option<u32> {
    fewest(sd, mean.abs(), 2.0 * comparisons as f64, delta - mean.abs())
}

/// The blocks needed with goal `best`, by the mean of ln(best / target). A target is out, against k − 1 others, only where it is measured behind by
/// more than δ.
pub fn blocks_needed_to_rank(mean: f64, sd: f64, targets: usize, delta: f64) -> Option<u32> {
    let behind = if mean > delta { mean } else { 0.0 };
    fewest(sd, behind, targets as f64 - 1.0, delta - mean.abs())
}

/// Until the half width of direction, whose level is divided by `parts`, is at most `direction`, or that of equivalence at most `equivalence`.
fn fewest(sd: f64, direction: f64, parts: f64, equivalence: f64) -> Option<u32> {
    (FEWEST_BLOCKS..=MOST).find(|&n| {
        let error = sd / f64::from(n).sqrt();
        let width = |p: f64| (quantile(p, f64::from(n - 1)) + POWER) * error;
        width(level(n) / parts) <= direction || width(level(n)) <= equivalence
    })
}
