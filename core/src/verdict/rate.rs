//! The highest rate at which a percentile of latency stays under a limit. A *miss* is a transaction that was skipped, failed, or was later than the limit, counted from its
//! scheduled start; with q = 1 − percentile/100 a rate is sustained if at most a share q of what was scheduled are misses.

pub mod estimate;
pub mod search;

/// One checkpoint cycle at a rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cycle {
    /// Scheduled transactions per second.
    pub rate: f64,
    /// Transactions that were scheduled.
    pub scheduled: f64,
    /// Scheduled transactions that were late, skipped or failed.
    pub misses: f64,
}

/// The share of misses in all cycles at exactly one rate.
fn share_at(cycles: &[Cycle], rate: f64) -> f64 {
    let at = || cycles.iter().filter(|c| c.rate == rate);
    at().map(|c| c.misses).sum::<f64>() / at().map(|c| c.scheduled).sum::<f64>()
}
