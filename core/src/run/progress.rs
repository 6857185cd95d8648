//! How far a run is, from what is counted while it is on.

use super::phase::Phase;
use crate::units::format_seconds;

/// Counters of the active run.
#[derive(Clone, Copy, Debug)]
pub struct RunCounters {
    /// The phase that is on.
    pub phase: Phase,
    /// For how long.
    pub elapsed_ms: f64,
    /// Steps of the phase, or its length in milliseconds where a time ends it; 0: not known.
    pub total: u64,
    /// Steps that are done, where they are counted by the run itself.
    pub done: u64,
    /// Whether the workload makes transactions, which the clients count.
    pub has_transactions: bool,
    /// Whether it makes one window after the other, and counts them itself.
    pub has_cycles: bool,
    /// Whether a time ends its window.
    pub ends_by_time: bool,
    /// Whether each second is sampled.
    pub is_sampled: bool,
    /// Transactions per second of this phase, where another server makes the run and says so.
    pub remote_tps: Option<f64>,
    /// Transactions that were committed.
    pub committed: u64,
    /// Transactions of the measured window.
    pub measured: u64,
    /// Transactions of the window that were skipped or failed.
    pub missed: u64,
    /// Transactions per second in the last second; not a number: not known.
    pub tps_last_second: f64,
    /// 99th percentile of their latency; 0: not known.
    pub p99_ns: u64,
    /// The probe of a search for a rate that is on; 0: none.
    pub probe: u32,
    /// The rate that it tries; 0: none.
    pub rate: f64,
}

/// How far the active run is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The phase that is on.
    pub phase: Phase,
    /// Steps that are done, or milliseconds.
    pub done: u64,
    /// All work of the phase, in the same unit; 0: not known.
    pub total: u64,
    /// How long the phase is on.
    pub seconds: f64,
    /// How long it goes on as it goes now.
    pub seconds_left: Option<f64>,
    /// Transactions per second in this phase.
    pub tps: Option<f64>,
    /// And in the last second.
    pub tps_last_second: Option<f64>,
    /// 99th percentile of the latency in the last second.
    pub p99_ms: Option<f64>,
    /// The probe that is on, of a search for a rate.
    pub probe: Option<u32>,
    /// The rate that it tries.
    pub rate: Option<f64>,
}

impl Progress {
    /// Computes progress from the counters.
    pub fn of(counted: &RunCounters) -> Self {
        let RunCounters {
            phase,
            elapsed_ms,
            total,
            ..
        } = *counted;
        let is_measured =
            phase == Phase::Measure && counted.has_transactions && !counted.has_cycles;
        let counts_time = phase == Phase::Warmup || is_measured && counted.ends_by_time;
        let done = if counts_time {
            (elapsed_ms as u64).min(total)
        } else if is_measured && counted.remote_tps.is_none() {
            counted.measured + counted.missed
        } else {
            counted.done
        };
        // The number of cycles of a search is not known beforehand.
        let is_open = counted.has_cycles && phase == Phase::Measure;
        let seconds_left = if total == 0 || done == 0 || is_open {
            None
        } else if counts_time {
            Some((total as f64 - elapsed_ms).max(0.0) / 1000.0)
        } else {
            Some(elapsed_ms / 1000.0 * (total.saturating_sub(done)) as f64 / done as f64)
        };
        let has_tps = counted.has_transactions && matches!(phase, Phase::Warmup | Phase::Measure);
        let transactions = match phase {
            Phase::Measure => counted.measured,
            _ => counted.committed,
        };
        Self {
            phase,
            done,
            total,
            seconds: elapsed_ms / 1000.0,
            seconds_left,
            tps: (has_tps && elapsed_ms > 0.0).then(|| {
                counted
                    .remote_tps
                    .unwrap_or(transactions as f64 * 1000.0 / elapsed_ms)
            }),
            tps_last_second: Some(counted.tps_last_second)
                .filter(|tps| has_tps && counted.is_sampled && !tps.is_nan()),
            p99_ms: (has_tps && counted.p99_ns > 0).then(|| counted.p99_ns as f64 / 1e6),
            probe: Some(counted.probe).filter(|probe| *probe > 0),
            rate: Some(counted.rate).filter(|rate| *rate > 0.0),
        }
    }

    /// In one line.
    pub fn in_words(&self) -> String {
        let mut parts = vec![self.phase.as_str().to_owned()];
        if self.total > 0 {
            let percent = 100.0 * self.done as f64 / self.total as f64;
            parts.push(format!("{percent:.0} %"));
        }
        if let (Some(probe), Some(rate)) = (self.probe, self.rate) {
            parts.push(format!("probe {probe} at {rate:.0} tps"));
        }
        let left = self.seconds_left;
        parts.extend(left.map(|s| format!("{} left", format_seconds(s.ceil()))));
        parts.extend(self.tps_last_second.map(|tps| format!("{tps:.0} tps")));
        parts.extend(self.p99_ms.map(|ms| format!("p99 {ms:.1} ms")));
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const COUNTED: RunCounters = RunCounters {
        phase: Phase::Measure,
        elapsed_ms: 2_000.0,
        total: 10_000,
        done: 0,
        has_transactions: true,
        has_cycles: false,
        ends_by_time: true,
        is_sampled: true,
        remote_tps: None,
        committed: 900,
        measured: 600,
        missed: 3,
        tps_last_second: 321.0,
        p99_ns: 2_500_000,
        probe: 0,
        rate: 0.0,
    };

    #[test]
    fn a_search_counts_its_cycles() {
        let progress = Progress::of(&RunCounters {
            has_cycles: true,
            total: 26,
            done: 13,
            probe: 4,
            rate: 512.3,
            ..COUNTED
        });
        assert_eq!((progress.done, progress.seconds_left), (13, None));
        assert_eq!(
            progress.in_words(),
            "measure, 50 %, probe 4 at 512 tps, 321 tps, p99 2.5 ms"
        );
    }

    #[test]
    fn a_window_that_a_time_ends_counts_milliseconds() {
        let progress = Progress::of(&COUNTED);
        assert_eq!((progress.done, progress.seconds_left), (2_000, Some(8.0)));
        assert_eq!(progress.tps, Some(300.0));
        assert_eq!(
            progress.in_words(),
            "measure, 20 %, 8 s left, 321 tps, p99 2.5 ms"
        );
        let late = RunCounters {
            elapsed_ms: 12_000.0,
            ..COUNTED
        };
        assert_eq!(Progress::of(&late).done, 10_000);
        assert_eq!(Progress::of(&late).seconds_left, Some(0.0));
    }

    #[test]
    fn a_window_that_a_number_ends_counts_what_was_due() {
        let by_number = RunCounters {
            ends_by_time: false,
            total: 6_030,
            ..COUNTED
        };
        let progress = Progress::of(&by_number);
        assert_eq!((progress.done, progress.seconds_left), (603, Some(18.0)));
        // The clients of another server are not seen here.
        let there = RunCounters {
            remote_tps: Some(7.0),
            done: 5,
            ..by_number
        };
        let progress = Progress::of(&there);
        assert_eq!((progress.done, progress.tps), (5, Some(7.0)));
    }

    #[test]
    fn what_has_no_transactions_has_no_tps() {
        let scans = RunCounters {
            has_transactions: false,
            total: 4,
            done: 1,
            ..COUNTED
        };
        let progress = Progress::of(&scans);
        assert_eq!(
            (progress.tps, progress.tps_last_second, progress.p99_ms),
            (None, None, None)
        );
        assert_eq!((progress.done, progress.seconds_left), (1, Some(6.0)));
        let loading = RunCounters {
            phase: Phase::Load,
            ..COUNTED
        };
        assert_eq!(Progress::of(&loading).in_words(), "load, 0 %");
    }

    #[test]
    fn the_warm_up_counts_what_was_committed_in_it() {
        let warmup = RunCounters {
            phase: Phase::Warmup,
            is_sampled: false,
            p99_ns: 0,
            ..COUNTED
        };
        let progress = Progress::of(&warmup);
        assert_eq!(
            (progress.tps, progress.tps_last_second, progress.p99_ms),
            (Some(450.0), None, None)
        );
    }

    proptest! {
        #[test]
        fn nothing_is_negative_or_no_number(
            phase in 0u32..12, elapsed_ms in 0.0..1e9f64, total in any::<u32>(), done in any::<u32>(),
            flags in any::<[bool; 4]>(), there in prop::option::of(0.0..1e6f64), n in any::<[u32; 3]>(),
            last in prop_oneof![Just(f64::NAN), 0.0..1e6f64], p99_ns in any::<u32>(),
        ) {
            let progress = Progress::of(&RunCounters {
                phase: Phase::from_u32(phase), elapsed_ms, total: total.into(), done: done.into(),
                has_transactions: flags[0], has_cycles: flags[3], ends_by_time: flags[1], is_sampled: flags[2], remote_tps: there,
                committed: n[0].into(), measured: n[1].into(), missed: n[2].into(), tps_last_second: last, p99_ns: p99_ns.into(), probe: p99_ns, rate: elapsed_ms,
            });
            let figures = [progress.seconds_left, progress.tps, progress.tps_last_second, progress.p99_ms];
            for figure in figures.into_iter().flatten() {
                prop_assert!(figure.is_finite() && figure >= 0.0, "{progress:?}");
            }
            prop_assert!(!progress.in_words().contains("NaN"));
        }
    }
}
