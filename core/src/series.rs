//! Statistics of a few numbers: moments, median, and what a run's seconds say of it (stalls, drift).
//!
//! Functions over an empty slice give None. A NaN among the numbers makes their result NaN, or is sorted to the end; the
//! callers have none.

use serde::{Deserialize, Serialize};

/// A second below this share of the median is a stall (docs/method.md).
pub const STALL_SHARE: f64 = 0.1;

/// Difference between the last and the first third that is a drift (docs/findings.md).
pub const DRIFT_SHARE: f64 = 0.10;

/// Fewest seconds from which [`drift`] is computed: two in each third.
const FEWEST_FOR_DRIFT: usize = 6;

pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Standard deviation of the population, sqrt(sum of squared deviations / n): of all values there are.
pub fn population_stddev(values: &[f64]) -> Option<f64> {
    Some((squared_deviations(values)? / values.len() as f64).sqrt())
}

/// Standard deviation estimated from a sample, sqrt(sum of squared deviations / (n - 1)). None below two values.
pub fn sample_stddev(values: &[f64]) -> Option<f64> {
    let squares = squared_deviations(values)?;
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

/// The middle value, or the mean of the two middle ones.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// Seconds in which next to nothing happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stalls {
    /// Seconds below a tenth of the median. When the median is 0, because most seconds stood still, the seconds without
    /// any transaction.
    pub stall_seconds: u32,
    /// Seconds without any transaction; part of `stall_seconds`.
    pub zero_seconds: u32,
    /// Median of the seconds, in transactions a second; 0 when there are none.
    pub median: f64,
}

/// Tells which seconds of a window are stalls, by their transactions per second, given the median of all of them.
pub fn stall_rule(median: f64) -> impl Fn(f64) -> bool {
    move |tps| tps < STALL_SHARE * median || tps <= 0.0
}

/// Counts the stalls in a window, given its seconds' transactions per second.
pub fn stalls(transactions_per_second: &[f64]) -> Stalls {
    let median = median(transactions_per_second).unwrap_or(0.0);
    let count = |stalled: &dyn Fn(f64) -> bool| {
        transactions_per_second
            .iter()
            .filter(|tps| stalled(**tps))
            .count() as u32
    };
    Stalls {
        stall_seconds: count(&stall_rule(median)),
        zero_seconds: count(&|tps| tps <= 0.0),
        median,
    }
}

/// The change of throughput during the window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// Mean of the first third, in transactions a second.
    pub first_third: f64,
    /// Mean of the last third, in transactions a second.
    pub last_third: f64,
    /// Last third divided by first third; 1 is no drift.
    pub ratio: f64,
    /// Change over the whole window along the least-squares line, as a share of the mean; 0 is no drift.
    pub slope_share: f64,
}

/// The drift of a window, given its seconds' transactions per second. None below six seconds, or when nothing happened in
/// the first third.
pub fn drift(transactions_per_second: &[f64]) -> Option<Drift> {
    let tps = transactions_per_second;
    if tps.len() < FEWEST_FOR_DRIFT {
        return None;
    }
    let third = tps.len() / 3;
    let first_third = mean(&tps[..third])?;
    let last_third = mean(&tps[tps.len() - third..])?;
    let slope_share = slope(tps)? * (tps.len() - 1) as f64 / mean(tps)?;
    let ratio = last_third / first_third;
    (first_third > 0.0).then_some(Drift {
        first_third,
        last_third,
        ratio,
        slope_share,
    })
}

/// Values in a batch, when the point is sought where a window becomes steady.
const BATCH: usize = 5;
/// Fewest batches for that.
const FEWEST_BATCHES: usize = 12;

/// The number of values at the start to leave out for the best mean of the rest (MSER-5, White 1997): the cut in the first half at
/// which the squared standard error of the rest is smallest. None for fewer than 60 values.
pub fn mser_cut(values: &[f64]) -> Option<usize> {
    let batches: Vec<f64> = values.chunks_exact(BATCH).filter_map(mean).collect();
    if batches.len() < FEWEST_BATCHES {
        return None;
    }
    let error = |cut: &usize| {
        let rest = &batches[*cut..];
        squared_deviations(rest).unwrap_or(f64::INFINITY) / (rest.len() * rest.len()) as f64
    };
    let cuts = 0..=batches.len() / 2;
    let best = cuts.min_by(|a, b| error(a).total_cmp(&error(b)))?;
    Some(best * BATCH)
}

/// Slope of the least-squares line through the values at 0, 1, 2, …: change per step. None below two values.
pub fn slope(values: &[f64]) -> Option<f64> {
    let mean_y = mean(values)?;
    let mean_x = (values.len() - 1) as f64 / 2.0;
    let deviations = values
        .iter()
        .enumerate()
        .map(|(i, y)| (i as f64 - mean_x, y - mean_y));
    let (xy, xx) = deviations.fold((0.0, 0.0), |(xy, xx), (x, y)| (xy + x * y, xx + x * x));
    (values.len() > 1).then_some(xy / xx)
}

/// Sum of the squares of their differences from their mean.
pub fn squared_deviations(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    Some(values.iter().map(|x| (x - mean).powi(2)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn moments() {
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert_eq!(mean(&values), Some(5.0));
        assert_eq!(population_stddev(&values), Some(2.0));
        assert!((sample_stddev(&values).unwrap() - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!(
            (median(&values), median(&[3.0, 1.0, 2.0])),
            (Some(4.5), Some(2.0))
        );
    }

    #[test]
    fn nothing_gives_nothing() {
        assert_eq!(
            (
                mean(&[]),
                population_stddev(&[]),
                sample_stddev(&[]),
                median(&[])
            ),
            (None, None, None, None)
        );
        assert_eq!(
            (slope(&[]), slope(&[1.0]), drift(&[]), stalls(&[])),
            (None, None, None, Stalls::default())
        );
        assert_eq!(
            (population_stddev(&[3.0]), sample_stddev(&[3.0])),
            (Some(0.0), None)
        );
    }

    #[test]
    fn stalls_are_below_a_tenth_of_the_median() {
        let s = stalls(&[100.0, 110.0, 9.9, 10.5, 0.0, 100.0, 105.0, 95.0, 101.0]);
        assert_eq!(
            s,
            Stalls {
                stall_seconds: 2,
                zero_seconds: 1,
                median: 100.0
            }
        );
        assert_eq!(stalls(&[100.0; 60]).stall_seconds, 0);
    }

    #[test]
    fn a_window_that_mostly_stood_still_stalled() {
        let s = stalls(&[500.0, 0.0, 0.0, 0.0, 400.0]);
        assert_eq!((s.stall_seconds, s.zero_seconds, s.median), (3, 3, 0.0));
    }

    #[test]
    fn drift_of_a_line() {
        let falling: Vec<f64> = (0..9).map(|i| 100.0 - 5.0 * f64::from(i)).collect();
        let d = drift(&falling).unwrap();
        assert_eq!((d.first_third, d.last_third), (95.0, 65.0));
        assert!(
            (d.slope_share + 0.5).abs() < 1e-12,
            "from 100 to 60 with mean 80: {}",
            d.slope_share
        );
        assert_eq!(slope(&falling), Some(-5.0));
    }

    #[test]
    fn no_drift_where_it_cannot_be_told() {
        assert_eq!(
            drift(&[100.0; 12]).map(|d| (d.ratio, d.slope_share)),
            Some((1.0, 0.0))
        );
        assert_eq!(drift(&[1.0; 5]), None);
        assert_eq!(drift(&[0.0; 12]), None);
        assert_eq!(drift(&[0.0, 0.0, 0.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0]), None);
    }

    proptest! {
        #[test]
        fn within_the_values(values in prop::collection::vec(0.0f64..1e9, 1..50)) {
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let most = values.iter().copied().fold(0.0, f64::max);
            for figure in [mean(&values), median(&values)] {
                let x = figure.unwrap();
                prop_assert!(x >= least * (1.0 - 1e-9) && x <= most * (1.0 + 1e-9));
            }
            let s = stalls(&values);
            prop_assert!(s.zero_seconds <= s.stall_seconds && s.stall_seconds as usize <= values.len());
        }
    }
}
