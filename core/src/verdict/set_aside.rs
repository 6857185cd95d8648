//! Ratios of a target that are too far from the others, and are set aside: something else ran at that time.
//!
//! With fewer than 6 ratios: none. Else g = ⌊n/4⌋ and h = n − g; of the g + 1 runs of h neighbours in sorted order the one with
//! the least variance (÷ (h − 1); of equals the lower one) is the core, the half of Rousseeuw's "least median of squares" (1984) made larger, with mean c and deviation v = max(√variance, 1e-6). Kept
//! is all that has |d − c| ≤ K·v, K = 10 for n < 10, else 8: so wide that of normal noise next to nothing is cut.

use crate::series::{mean, squared_deviations};

/// Fewest ratios of which any is set aside.
const FEWEST: usize = 6;
/// From here on the core is known well enough for the narrower cut.
const MANY: usize = 10;
const CUT_OF_FEW: f64 = 10.0;
const CUT_OF_MANY: f64 = 8.0;
/// Least deviation of a core.
const LEAST_DEVIATION: f64 = 1e-6;
/// Variances that differ by less are equal: they are the same in real numbers.
const ROUNDING: f64 = 1e-9;

/// The values that are kept.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptValues {
    /// True for each value that is kept, in the order given.
    pub kept: Vec<bool>,
    /// The number of values that are kept.
    pub count: usize,
    /// Their mean; NaN when there are none.
    pub mean: f64,
    /// Their variance (÷ (count − 1)); NaN below two.
    pub variance: f64,
}

/// Sorts the ratios into kept and set aside.
pub fn set_aside(d: &[f64]) -> KeptValues {
    let kept: Vec<bool> = match core(d) {
        Some((center, reach)) => d.iter().map(|x| (x - center).abs() <= reach).collect(),
        None => vec![true; d.len()],
    };
    let values: Vec<f64> = (d.iter().zip(&kept))
        .filter_map(|(&x, &kept)| kept.then_some(x))
        .collect();
    KeptValues {
        kept,
        count: values.len(),
        mean: mean(&values).unwrap_or(f64::NAN),
        variance: variance(&values),
    }
}

/// Center of the core, and how far from it a ratio may be.
fn core(d: &[f64]) -> Option<(f64, f64)> {
    if d.len() < FEWEST {
        return None;
    }
    let mut sorted = d.to_vec();
    sorted.sort_by(f64::total_cmp);
    let size = d.len() - d.len() / 4;
    let mut runs = sorted.windows(size);
    let mut core = runs.next()?;
    for run in runs {
        if variance(run) < variance(core) * (1.0 - ROUNDING) {
            core = run;
        }
    }
    let cut = if d.len() < MANY {
        CUT_OF_FEW
    } else {
        CUT_OF_MANY
    };
    let deviation = variance(core).sqrt().max(LEAST_DEVIATION);
    Some((mean(core)?, cut * deviation))
}

fn variance(values: &[f64]) -> f64 {
    match squared_deviations(values) {
        Some(squares) if values.len() > 1 => squares / (values.len() - 1) as f64,
        _ => f64::NAN,
    }
}
