//! The knee of a scaling curve: the degree of parallelism after which another worker no longer helps, or why it cannot be told.
//!
//! # Method
//! The speed at a degree is 1 / median time of its repeats. A degree is *on the plateau* when no degree is faster by more than the
//! tolerance: 5 %, or what the medians of that many degrees would differ by chance (the 95 % studentized range times the
//! standard error of a median, 1.253 σ / √n, pooled over all degrees), whichever is larger, at most 25 %. Let m be the smallest degree on the plateau. Then
//! - m is the largest degree that was measured: the curve is *still rising* there, and the knee lies beyond the one before;
//! - m is the smallest: all are on the plateau, and the curve is *flat*, if the tolerance is small enough for that to mean anything
//!   (15 %); or it falls, and all that is known is that the knee is at or before the next degree, and not before one worker: when that
//!   was measured, the interval has both ends;
//! - else the knee lies between two bounds. Up to it speed rises, at most in proportion to the degree, so that it is not
//!   before p·s(m)/s(p), where p is the degree before m and s the speed (the corner of a line through the origin and the
//!   plateau). If speed is kept after m, the knee is not after m either, or as little as what the best is faster than m; if it
//!   falls, the top may lie anywhere up to the degree after the fastest, and is not before m if m is within 5 % of that corner: m
//!   itself then still counts as rising.
//!
//! All of this is done on the medians and on 1000 bootstrap resamples of the repeats of each degree; the interval is from the
//! 2.5th percentile of the lower to the 97.5th of the upper bounds. It has both ends: that is the knee.
//!
//! # Sources
//! A corner of two lines is the broken-line ("segmented") regression of Muggeo, "Estimating regression models with unknown
//! break-points", Statistics in Medicine 22 (2003), here with a first line through the origin: perfect scaling is what a worker can bring at most
//! (Amdahl 1967; Gunther, "Guerrilla Capacity Planning", 2007, for curves that fall after their top). Percentile bootstrap: Efron and Tibshirani,
//! "An Introduction to the Bootstrap" (1993), ch. 13. The standard error of a median of normal values: Kendall and
//! Stuart, "The Advanced Theory of Statistics", vol. 1; the studentized range: Tukey 1949. Unlike Kneedle (Satopää et al., 2011) it does not find a knee in every curve that bends.

use serde::{Deserialize, Serialize};

use crate::random::{Purpose, Stream};
use crate::series::{median, squared_deviations};

/// Differences in speed that do not count.
pub const TOLERANCE: f64 = 0.05;
/// The largest tolerance: beyond this, nothing would be left to see.
const MOST_TOLERANCE: f64 = 0.25;
/// A plateau on which speeds may differ by more is none: the repeats are too noisy to call it flat.
const FLAT: f64 = 0.15;
/// A degree this close to perfect scaling counts as rising.
const NEARLY_PERFECT: f64 = 0.05;
const RESAMPLES: usize = 1000;
/// Share of the resamples that may lie outside of the interval, on each side.
const TAIL: f64 = 0.025;

/// The repeats at one degree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The degree, at least 1.
    pub degree: u32,
    /// Times in milliseconds, each above 0.
    pub times_ms: Vec<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// There is one, in the interval.
    Knee,
    /// More workers change nothing that could be seen.
    Flat,
    /// The largest degree is still faster than all others.
    StillRising,
    /// The measurements do not tell.
    NotIdentifiable,
}

impl Verdict {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Knee => "knee",
            Self::Flat => "flat",
            Self::StillRising => "still_rising",
            Self::NotIdentifiable => "not_identifiable",
        }
    }
}

/// The verdict, with what it rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Knee {
    pub verdict: Verdict,
    /// The smallest degree on the plateau; None unless there is a knee.
    pub degree: Option<u32>,
    /// Lower end of the interval; None when there is none.
    pub low: Option<f64>,
    /// Upper end of the interval; None when there is none.
    pub high: Option<f64>,
    /// Difference in speed that did not count, as a share.
    pub tolerance: f64,
    /// The sentence about this knee.
    pub text: String,
}

/// Looks for the knee. The seed makes the bootstrap repeatable. `check_interrupts` is called in each resample: many take long.
pub fn find(points: &[Point], seed: u64, mut check_interrupts: impl FnMut()) -> Knee {
    let points = sorted(points);
    let degrees: Vec<f64> = points.iter().map(|p| f64::from(p.degree)).collect();
    let tolerance = tolerance(&points);
    if points.len() < 3 {
        return Knee {
            verdict: Verdict::NotIdentifiable,
            degree: None,
            low: None,
            high: None,
            tolerance,
            text: "not identifiable: it takes at least three degrees".into(),
        };
    }
    let speeds: Vec<f64> = points.iter().map(|p| speed(&p.times_ms)).collect();
    let seen = plateau(&degrees, &speeds, tolerance);
    let mut random = Stream::new(seed, 0, Purpose::Resample);
    let (mut lows, mut highs) = (Vec::new(), Vec::new());
    for _ in 0..RESAMPLES {
        check_interrupts();
        let speeds: Vec<f64> = points
            .iter()
            .map(|point| speed(&resampled(&point.times_ms, &mut random)))
            .collect();
        let plateau = plateau(&degrees, &speeds, tolerance);
        lows.push(plateau.low);
        highs.push(plateau.high);
    }
    let low = percentile(&mut lows, TAIL).min(seen.low);
    let high = percentile(&mut highs, 1.0 - TAIL).max(seen.high);
    conclude(&points, &seen, low, high, tolerance)
}

/// The look at one curve.
struct Plateau {
    /// Index of the smallest degree on the plateau.
    first: usize,
    /// True if every degree is on it.
    all: bool,
    /// Minus infinity for none.
    low: f64,
    /// Infinity for none.
    high: f64,
}

fn plateau(degrees: &[f64], speeds: &[f64], tolerance: f64) -> Plateau {
    let best = speeds.iter().copied().fold(0.0, f64::max);
    let on_plateau = |speed: f64| speed >= best * (1.0 - tolerance);
    let first = speeds.iter().position(|&s| on_plateau(s)).unwrap_or(0);
    let all = speeds.iter().all(|&s| on_plateau(s));
    let last = degrees.len() - 1;
    let (low, high) = if first == last {
        (degrees[last - 1], f64::INFINITY)
    } else if first == 0 {
        // There is nothing before one worker.
        let low = if degrees[0] <= 1.0 && !all {
            1.0
        } else {
            f64::NEG_INFINITY
        };
        (low, if all { f64::INFINITY } else { degrees[1] })
    } else {
        let (m, before) = (degrees[first], degrees[first - 1]);
        let corner = (before * speeds[first] / speeds[first - 1]).min(m);
        let rises = corner >= m * (1.0 - NEARLY_PERFECT);
        let falls = speeds[first + 1..].iter().any(|&s| !on_plateau(s));
        let next = degrees[first + 1];
        let top = speeds.iter().position(|&s| s == best).unwrap_or(first);
        let low = if rises && falls { m } else { corner };
        // The rest up to the best may have been gained after m, by workers that bring half their share at least.
        let gained = m * (best / speeds[first]).powi(2);
        let high = match degrees.get(top + 1) {
            Some(&after_top) if falls => after_top,
            _ => gained.min(next),
        };
        (low, high)
    };
    Plateau {
        first,
        all,
        low,
        high,
    }
}

fn conclude(points: &[&Point], seen: &Plateau, low: f64, high: f64, tolerance: f64) -> Knee {
    let last = points[points.len() - 1].degree;
    let knee = |verdict, degree, text| Knee {
        verdict,
        degree,
        low: Some(low).filter(|x| x.is_finite()),
        high: Some(high).filter(|x| x.is_finite()),
        tolerance,
        text,
    };
    match (low.is_finite(), high.is_finite()) {
        (true, true) => {
            let degree = points[seen.first].degree;
            knee(Verdict::Knee, Some(degree), between(low, high))
        }
        (_, false) if seen.first == points.len() - 1 => knee(
            Verdict::StillRising,
            None,
            format!("still rising at {last}"),
        ),
        (_, false) if seen.all && tolerance <= FLAT => {
            let first = points[0].degree;
            knee(
                Verdict::Flat,
                None,
                format!(
                    "flat from {first} to {last}: more workers change less than {:.0} %",
                    tolerance * 100.0
                ),
            )
        }
        (false, true) => knee(
            Verdict::NotIdentifiable,
            None,
            format!(
                "not identifiable beyond \"at or before {}\"",
                whole(high.ceil())
            ),
        ),
        (true, false) => knee(
            Verdict::NotIdentifiable,
            None,
            format!(
                "not identifiable beyond \"at or after {}\"",
                whole(low.floor())
            ),
        ),
        (false, false) => knee(
            Verdict::NotIdentifiable,
            None,
            "not identifiable: the repeats differ as much as the degrees".into(),
        ),
    }
}

/// Degrees are whole, and the interval is not to be narrower than it is.
fn between(low: f64, high: f64) -> String {
    let (low, high) = (whole(low.floor()), whole(high.ceil()));
    if low == high {
        format!("at {low}")
    } else {
        format!("between {low} and {high}")
    }
}

fn whole(x: f64) -> u64 {
    x as u64
}

fn sorted(points: &[Point]) -> Vec<&Point> {
    let mut points: Vec<&Point> = points.iter().filter(|p| !p.times_ms.is_empty()).collect();
    points.sort_by_key(|p| p.degree);
    points
}

fn speed(times_ms: &[f64]) -> f64 {
    1.0 / median(times_ms).unwrap_or(f64::INFINITY)
}

fn resampled(times_ms: &[f64], random: &mut Stream) -> Vec<f64> {
    let last = times_ms.len() as i64 - 1;
    (0..times_ms.len())
        .map(|_| times_ms[random.range(0, last) as usize])
        .collect()
}

/// From the spread of the logarithms of the repeats about their mean at each degree; single measurements say nothing of it.
fn tolerance(points: &[&Point]) -> f64 {
    let (mut squares, mut freedom, mut fewest) = (0.0, 0usize, usize::MAX);
    for point in points {
        let logs: Vec<f64> = point.times_ms.iter().map(|ms| ms.ln()).collect();
        squares += squared_deviations(&logs).unwrap_or_default();
        freedom += logs.len() - 1;
        fewest = fewest.min(logs.len());
    }
    if freedom == 0 {
        return TOLERANCE;
    }
    let sigma = (squares / freedom as f64).sqrt();
    let error = 1.253 * sigma / (fewest as f64).sqrt();
    // The 95 % point of the studentized range, within 2 % of its table from 2 to 50 degrees.
    let x = (points.len() as f64 / 2.0).ln();
    let range = 2.77 + 1.30 * x - 0.135 * x * x;
    (range * error).clamp(TOLERANCE, MOST_TOLERANCE)
}

fn percentile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let at = (share * (values.len() - 1) as f64).round() as usize;
    values[at]
}

#[cfg(test)]
mod tests;
