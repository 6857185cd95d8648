//! The processor probe: a fixed piece of work before each run, by which it is seen that the machine is slower or faster than it was before the others
//! (clocks, neighbours, a host that takes time away). It never corrects a metric: it makes a run wait a while, and is told with the results.

use crate::series::median;

/// Fewer probes tell nothing of what is usual.
const FEWEST: usize = 3;
/// By how much a probe may differ from the median.
const OFF: f64 = 0.05;
/// It is waited so long at a time.
const STEP_SECONDS: f64 = 60.0;
/// In all, so much of what a run takes.
const SHARE: f64 = 0.1;

/// Whether a probe is far from those before the other runs.
pub fn is_off(others: &[f64], now: f64) -> bool {
    let usual = median(others).filter(|_| others.len() >= FEWEST);
    usual.is_some_and(|usual| (now / usual - 1.0).abs() > OFF)
}

/// How long to wait before the next probe; None when the run is to be made whatever the probe says. `most` is what somebody allows.
pub fn wait_seconds(run_seconds: f64, waited: f64, most: Option<f64>) -> Option<f64> {
    let left = most.unwrap_or(run_seconds * SHARE) - waited;
    (left >= 1.0).then(|| left.min(STEP_SECONDS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_probes_tell_what_is_usual() {
        assert!(!is_off(&[100.0, 100.0], 50.0));
        assert!(is_off(&[100.0, 101.0, 99.0], 94.0));
        assert!(!is_off(&[100.0, 101.0, 99.0], 96.0));
        assert!(is_off(&[100.0, 101.0, 99.0], 106.0));
    }

    #[test]
    fn a_minute_at_a_time_and_a_tenth_of_a_run_in_all() {
        assert_eq!(wait_seconds(1200.0, 0.0, None), Some(60.0));
        assert_eq!(wait_seconds(1200.0, 60.0, None), Some(60.0));
        assert_eq!(wait_seconds(1200.0, 120.0, None), None);
        assert_eq!(wait_seconds(100.0, 0.0, None), Some(10.0));
        assert_eq!(wait_seconds(1200.0, 0.0, Some(0.0)), None);
    }
}
