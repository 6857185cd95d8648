//! Tells whether a target keeps the rate that was asked for: latency means something only where it does.

use super::Run;

/// Most transactions of a run that may not be done in time, as a share.
const LIMIT: f64 = 0.01;
/// Fewest such runs before a target is given up.
const FEWEST: usize = 2;

/// The transactions of a window under a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheduled {
    /// All that were due in the window.
    pub scheduled: u64,
    /// Scheduled transactions that were skipped, failed, or started more than 10 s after their time. Each is counted once.
    pub not_in_time: u64,
}

impl Scheduled {
    /// True if the run has no value for a percentile (0 to 100; None: for the mean): more than min(0.01, 1 − percentile/100) were not in time.
    pub fn behind(self, percentile: Option<f64>) -> bool {
        let limit = percentile.map_or(LIMIT, |p| LIMIT.min(1.0 - p / 100.0));
        self.not_in_time as f64 > limit * self.scheduled as f64
    }
}

/// True if a target cannot keep the rate, by its runs so far: 2 or more were behind, and at least a third of them.
pub fn cannot_keep(runs: &[Run]) -> bool {
    let behind = runs.iter().filter(|r| **r == Run::BehindSchedule).count();
    let made = runs.iter().filter(|r| **r != Run::Missing).count();
    behind >= FEWEST && behind * 3 >= made
}
