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
    let parts = 2.0 * comparisons as f64;
    (FEWEST_BLOCKS..=MOST).find(|&n| {
        let error = sd / f64::from(n).sqrt();
        let width = |p: f64| (quantile(p, f64::from(n - 1)) + POWER) * error;
        width(level(n) / parts) <= mean.abs() || width(level(n)) <= delta - mean.abs()
    })
}
