//! Histories: the change points of runs that are made every night, and one bad night.
//!
//! x is ln metric of one target under the same declared factors. Each night checks the current segment: its last 60 nights at most and 11 at least:
//! 1. Values are clipped to median ± 2.5·max(1.4826·MAD, 0.003), so that single bad nights weigh little.
//! 2. For each split with at least 8 nights left and 3 right of it: the two-sample t of the clipped values with pooled variance (÷ (n − 2)). The
//!    largest |t| counts; of equals the earlier.
//! 3. It is a change if |t| > 4.2, and the medians of both sides, not clipped, differ by ln 1.025 at least. The segment then begins at the split.
//!
//! The largest t over all splits, as in Hinkley, "Inference about the change-point in a sequence of random variables" (1970); the median absolute deviation for scale: Hampel,
//! "The influence curve and its role in robust estimation" (1974).

use crate::series::median;

/// The most nights of a segment that count.
const LONGEST: usize = 60;
/// Nights before a change, and after it.
const LEFT: usize = 8;
const RIGHT: usize = 3;
const CLIP: f64 = 2.5;
/// Makes a median absolute deviation a standard deviation, under the normal distribution.
const MAD_TO_SD: f64 = 1.4826;
const LEAST_SD: f64 = 0.003;
const THRESHOLD: f64 = 4.2;
/// Smaller changes do not count, as a ratio.
const LEAST_CHANGE: f64 = 1.025;
/// t of splits that differ by less are equal.
const ROUNDING: f64 = 1e-9;

/// A change of level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The first night of the new level, from 0, counting all nights that were given.
    pub night: usize,
    /// Median before.
    pub before: f64,
    /// Median of the new level, when it was seen.
    pub after: f64,
    /// After how many nights of the new level it was seen.
    pub seen_after: usize,
}

/// The changes of a history, as they were seen night by night; a night without a value is not counted.
pub fn change_points(nights: &[Option<f64>]) -> Vec<Change> {
    let valid: Vec<(usize, f64)> = (nights.iter().enumerate())
        .filter_map(|(night, x)| Some((night, (*x)?)))
        .collect();
    let values: Vec<f64> = valid.iter().map(|v| v.1).collect();
    let (mut begin, mut changes) = (0, Vec::new());
    for end in 1..=values.len() {
        let from = begin.max(end.saturating_sub(LONGEST));
        let segment = &values[from..end];
        // Few nights are a change: the medians of both sides are computed only for those.
        let is_likely = likeliest(segment).is_some_and(|(_, t)| t > THRESHOLD);
        if is_likely && let Some(split) = split(segment).filter(Split::is_change) {
            begin = from + split.left;
            changes.push(Change {
                night: valid[begin].0,
                before: split.before,
                after: split.after,
                seen_after: end - begin,
            });
        }
    }
    changes
}

/// The likeliest split of a segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    /// Nights before it.
    pub left: usize,
    /// |t| of the clipped values.
    pub t: f64,
    /// Median before.
    pub before: f64,
    /// Median after.
    pub after: f64,
}

impl Split {
    /// True if the split is a change of level.
    pub fn is_change(&self) -> bool {
        self.t > THRESHOLD && (self.after - self.before).abs() >= LEAST_CHANGE.ln()
    }
}

/// The best split of a segment. None for fewer than 11 nights.
pub fn split(segment: &[f64]) -> Option<Split> {
    let (left, t) = likeliest(segment)?;
    Some(Split {
        left,
        t,
        before: median(&segment[..left])?,
        after: median(&segment[left..])?,
    })
}

/// The place of the best split, and its |t|. A history of years has thousands of segments: sums are carried on from split to split.
fn likeliest(segment: &[f64]) -> Option<(usize, f64)> {
    let n = segment.len();
    if n < LEFT + RIGHT {
        return None;
    }
    let clipped = clipped(segment)?;
    let sums = |x: &[f64]| (x.iter().sum::<f64>(), x.iter().map(|x| x * x).sum::<f64>());
    let ((mut left_sum, mut left_squares), (mut right_sum, mut right_squares)) =
        (sums(&clipped[..LEFT]), sums(&clipped[LEFT..]));
    let mut best = (LEFT, -1.0);
    for (left, x) in clipped.iter().enumerate().take(n - RIGHT + 1).skip(LEFT) {
        let (before, after) = (left as f64, (n - left) as f64);
        let deviations = (left_squares - left_sum.powi(2) / before)
            + (right_squares - right_sum.powi(2) / after);
        let error =
            (deviations.max(1e-15) / (before + after - 2.0) * (1.0 / before + 1.0 / after)).sqrt();
        let t = (left_sum / before - right_sum / after).abs() / error;
        if t > best.1 * (1.0 + ROUNDING) {
            best = (left, t);
        }
        (left_sum, left_squares) = (left_sum + x, left_squares + x * x);
        (right_sum, right_squares) = (right_sum - x, right_squares - x * x);
    }
    Some(best)
}

/// The values without what is far from their median, as differences from it.
fn clipped(x: &[f64]) -> Option<Vec<f64>> {
    let center = median(x)?;
    let reach = CLIP * (MAD_TO_SD * deviation(x, center)?).max(LEAST_SD);
    Some(
        x.iter()
            .map(|x| (x - center).clamp(-reach, reach))
            .collect(),
    )
}

/// Median absolute deviation.
fn deviation(x: &[f64], center: f64) -> Option<f64> {
    let deviations: Vec<f64> = x.iter().map(|x| (x - center).abs()).collect();
    median(&deviations)
}

/// Fewest nights before a bad one.
const FEWEST_BEFORE: usize = 10;
/// Least deviation of a history that is believed.
const LEAST_DEVIATION: f64 = 0.002;
const DEVIATIONS: f64 = 6.0;
/// Worse by so much is a bad night, as a share, unless it is said otherwise.
pub const WORSE_BY: f64 = 0.05;

/// The judgement of one night.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Night {
    /// By how much it is worse than the median of the segment before it.
    pub worse: f64,
    /// True if it is worse both by ln(1 + `worse_by`) and by more than 6 median absolute deviations (each taken as 0.002 at least).
    pub suspect: bool,
}

/// Is tonight a bad night? `before` is the segment, of which the last 60 nights count; None for fewer than 10. It is never a change by itself: the value that goes on
/// is the median of this one and two repeats.
pub fn bad_night(
    before: &[f64],
    tonight: f64,
    more_is_better: bool,
    worse_by: f64,
) -> Option<Night> {
    let before = &before[before.len().saturating_sub(LONGEST)..];
    if before.len() < FEWEST_BEFORE {
        return None;
    }
    let center = median(before)?;
    let deviation = deviation(before, center)?.max(LEAST_DEVIATION);
    let worse = if more_is_better {
        center - tonight
    } else {
        tonight - center
    };
    Some(Night {
        worse,
        suspect: worse >= worse_by.ln_1p() && worse > DEVIATIONS * deviation,
    })
}
