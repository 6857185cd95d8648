//! At which rate the share of misses crosses q, from all cycles together: their shares are made to rise with the rate (pool
//! adjacent violators: Ayer et al., "An empirical distribution function for sampling with incomplete information", 1955), and it is interpolated between two of these levels.

use super::Cycle;
use crate::random::{Purpose, Stream};

/// Rates that differ by less are not told apart, as a ratio.
pub const RESOLUTION: f64 = 1.06;
const RESAMPLES: usize = 200;
const TAIL: f64 = 0.025;

/// Neighbouring rates with one share of misses.
struct Level {
    /// Sum of scheduled × ln rate.
    weighted: f64,
    scheduled: f64,
    misses: f64,
}

impl Level {
    fn ln_rate(&self) -> f64 {
        self.weighted / self.scheduled
    }

    fn share(&self) -> f64 {
        self.misses / self.scheduled
    }

    fn add(&mut self, other: &Self) {
        self.weighted += other.weighted;
        self.scheduled += other.scheduled;
        self.misses += other.misses;
    }
}

/// The rate at which a share q would be missed: on the straight line in ln share (at least q/10) over ln rate (mean, weighted by what was scheduled) between the last level with
/// a share ≤ q and the next. Where the first is above q: the least rate / 1.06; where none is: the highest rate. None without cycles.
pub fn estimate(cycles: &[Cycle], q: f64) -> Option<f64> {
    let levels = levels(cycles);
    let rates = || cycles.iter().map(|c| c.rate);
    let above = levels.iter().position(|level| level.share() > q);
    match above {
        None => rates().reduce(f64::max),
        Some(0) => Some(rates().reduce(f64::min)? / RESOLUTION),
        Some(at) => Some(crossing(&levels[at - 1], &levels[at], q).exp()),
    }
}

fn crossing(below: &Level, above: &Level, q: f64) -> f64 {
    let low = below.share().max(q / 10.0).ln();
    let way = (q.ln() - low) / (above.share().ln() - low);
    below.ln_rate() + (above.ln_rate() - below.ln_rate()) * way
}

fn levels(cycles: &[Cycle]) -> Vec<Level> {
    let mut sorted = cycles.to_vec();
    sorted.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    let mut levels: Vec<Level> = Vec::new();
    for cycle in sorted {
        let mut level = Level {
            weighted: cycle.scheduled * cycle.rate.ln(),
            scheduled: cycle.scheduled,
            misses: cycle.misses,
        };
        // Multiplied out, so that equal shares are equal.
        while let Some(before) =
            levels.pop_if(|b| b.misses * level.scheduled >= level.misses * b.scheduled)
        {
            level.add(&before);
        }
        levels.push(level);
    }
    levels
}

/// The 2.5th and the 97.5th percentile of the estimate over 200 seeded resamples of the cycles.
pub fn bootstrap(cycles: &[Cycle], q: f64, seed: u64) -> Option<(f64, f64)> {
    let mut random = Stream::new(seed, 0, Purpose::Resample);
    let last = cycles.len() as i64 - 1;
    let mut estimates = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        let drawn = |_| cycles.get(random.range(0, last) as usize).copied();
        let resampled: Option<Vec<Cycle>> = (0..cycles.len()).map(drawn).collect();
        estimates.push(estimate(&resampled?, q)?);
    }
    estimates.sort_by(f64::total_cmp);
    Some((
        percentile(&estimates, TAIL),
        percentile(&estimates, 1.0 - TAIL),
    ))
}

/// A percentile of sorted values, interpolated.
fn percentile(sorted: &[f64], share: f64) -> f64 {
    let at = share * (sorted.len() - 1) as f64;
    let (below, part) = (at.floor() as usize, at.fract());
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * part
}
