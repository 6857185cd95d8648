//! The Poisson schedule of one client, as pgbench's `--rate`: transactions are due at random times that do not depend on
//! how fast the server is, and latency is counted from the time a transaction was due.

use crate::random::Stream;

/// When one client's transactions are due.
#[derive(Clone, Debug)]
pub struct Pacer {
    mean_gap_ns: f64,
    stream: Stream,
    due_ns: u64,
}

impl Pacer {
    /// A schedule of `rate` transactions a second of this client (the run's rate divided by its clients). The rate must be
    /// positive, as a resolved specification's is; else nothing is ever due.
    pub fn new(rate: f64, stream: Stream) -> Self {
        Self {
            mean_gap_ns: mean_gap_ns(rate),
            stream,
            due_ns: 0,
        }
    }

    /// Sets the rate from the next transaction on, per second.
    pub fn set_rate(&mut self, rate: f64) {
        self.mean_gap_ns = mean_gap_ns(rate);
    }

    /// Starts the schedule at `now_ns`; the first transaction is due one random gap later.
    pub fn start(&mut self, now_ns: u64) {
        self.due_ns = now_ns;
    }

    /// The time in nanoseconds, on the clock given to [`Pacer::start`], at which the next transaction is due. It never
    /// goes back, and may lie in the past when the client is behind.
    #[allow(clippy::should_implement_trait)]
    #[inline]
    pub fn next(&mut self) -> u64 {
        let gap_ns = (self.stream.exponential(self.mean_gap_ns) + 0.5) as u64;
        self.due_ns = self.due_ns.saturating_add(gap_ns);
        self.due_ns
    }
}

fn mean_gap_ns(rate: f64) -> f64 {
    if rate > 0.0 {
        1e9 / rate
    } else {
        f64::INFINITY
    }
}

/// Whether a transaction that was due at `scheduled_ns` is skipped because at `now_ns`, before it starts, it is already
/// later than the latency limit, as pgbench does under `--rate` and `--latency-limit`. Never without a limit.
pub fn is_missed(scheduled_ns: u64, now_ns: u64, limit_ns: Option<u64>) -> bool {
    limit_ns.is_some_and(|limit| now_ns.saturating_sub(scheduled_ns) > limit)
}

/// A transaction that starts later than this was not done in time, whatever the latency limit (VERDICTS.md, part 1).
const BEHIND_NS: u64 = 10_000_000_000;

/// Whether a transaction that was due at `scheduled_ns` and has started at `start_ns` was not started in time.
#[inline]
pub fn is_behind(scheduled_ns: u64, start_ns: u64) -> bool {
    start_ns.saturating_sub(scheduled_ns) > BEHIND_NS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    fn pacer(rate: f64) -> Pacer {
        Pacer::new(rate, Stream::new(42, 0, Purpose::Pacing))
    }

    #[test]
    fn the_mean_rate_is_the_one_asked_for() {
        let mut p = pacer(250.0);
        p.start(1_000_000);
        let last = (0..100_000).map(|_| p.next()).last().unwrap();
        let rate = 100_000.0 / ((last - 1_000_000) as f64 / 1e9);
        assert!((rate / 250.0 - 1.0).abs() < 0.01, "{rate}");
    }

    #[test]
    fn another_rate_goes_on_with_the_same_stream() {
        let (mut a, mut b) = (pacer(100.0), pacer(1000.0));
        a.start(0);
        b.start(0);
        a.set_rate(1000.0);
        assert!((0..100).all(|_| a.next() == b.next()));
    }

    #[test]
    fn it_never_goes_back() {
        for rate in [0.001, 1.0, 1e6, 1e12] {
            let mut p = pacer(rate);
            p.start(77);
            let mut before = 77;
            for _ in 0..1000 {
                let due = p.next();
                assert!(due >= before);
                before = due;
            }
        }
    }

    #[test]
    fn gaps_vary_as_exponential_ones_do() {
        let mut p = pacer(1000.0);
        p.start(0);
        let due: Vec<u64> = (0..50_000).map(|_| p.next()).collect();
        let short = due.windows(2).filter(|w| w[1] - w[0] < 1_000_000).count() as f64 / 49_999.0;
        assert!(
            (short - 0.632).abs() < 0.01,
            "1 - 1/e of the gaps are below the mean, not {short}"
        );
    }

    #[test]
    fn without_a_usable_rate_nothing_is_due() {
        for rate in [0.0, -1.0, f64::NAN] {
            assert_eq!(pacer(rate).next(), u64::MAX, "{rate}");
        }
    }

    #[test]
    fn behind_when_started_more_than_ten_seconds_after_its_time() {
        assert!(!is_behind(5, 5));
        assert!(!is_behind(5, 10_000_000_005));
        assert!(is_behind(5, 10_000_000_006));
        assert!(!is_behind(7, 5), "before its time");
    }

    #[test]
    fn missed_only_when_later_than_the_limit() {
        assert!(!is_missed(100, 1_000_000, None));
        assert!(!is_missed(100, 150, Some(50)));
        assert!(is_missed(100, 151, Some(50)));
        assert!(!is_missed(100, 50, Some(0)), "not due yet");
        assert!(!is_missed(u64::MAX, u64::MAX, Some(0)));
    }
}
