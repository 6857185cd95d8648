//! The result of a test, and the row that is stored of it.

use serde::Serialize;

use super::{BLOCK_BYTES, Method, Test};
use crate::{hist::Histogram, rows};

/// Fewer operations than this have no 99.9th percentile.
const P999_SYNCS: u64 = 10_000;

/// The result of a test.
#[derive(Clone, Debug)]
pub struct Measured {
    pub test: Test,
    /// Whether it wrote past the page cache.
    pub direct: bool,
    /// How long its operations took.
    pub syncs: Histogram,
    /// From the first start to the last end of its writers.
    pub ns: u64,
}

impl Measured {
    /// The test that stands for a run: what the server itself does, one write by as few writers as were tested.
    pub fn main(all: &[Self], server_uses: Option<Method>) -> Option<&Self> {
        all.iter()
            .filter(|m| Some(m.test.method) == server_uses && m.test.writes == 1)
            .min_by_key(|m| m.test.writers)
    }

    /// Operations of all writers per second.
    pub fn per_second(&self) -> Option<f64> {
        (self.ns > 0).then(|| self.syncs.count() as f64 * 1e9 / self.ns as f64)
    }

    /// A percentile of their time.
    pub fn percentile_ms(&self, fraction: f64) -> Option<f64> {
        self.syncs.percentile(fraction).map(|ns| ns / 1e6)
    }

    /// The 99.9th, of enough of them.
    pub fn p999_ms(&self) -> Option<f64> {
        self.percentile_ms(0.999)
            .filter(|_| self.syncs.count() >= P999_SYNCS)
    }

    /// The row that is stored of it; `position` is its place among the tests, from 0.
    pub fn to_row(&self, position: usize) -> Row {
        let (buckets, counts) = self.syncs.nonzero().unzip();
        let exact = |ns: Option<u64>| ns.map(|ns| ns as f64 / 1e6);
        Row {
            method: self.test.method.as_str(),
            writes: self.test.writes,
            writers: self.test.writers,
            position: position + 1,
            block_bytes: BLOCK_BYTES,
            direct: self.direct,
            syncs: self.syncs.count(),
            ops_per_second: self.per_second(),
            latency_avg_ms: self.syncs.mean_ns().map(|ns| ns / 1e6),
            latency_p50_ms: self.percentile_ms(0.5),
            latency_p90_ms: self.percentile_ms(0.9),
            latency_p95_ms: self.percentile_ms(0.95),
            latency_p99_ms: self.percentile_ms(0.99),
            latency_p999_ms: self.p999_ms(),
            latency_min_ms: exact(self.syncs.min()),
            latency_max_ms: exact(self.syncs.max()),
            buckets,
            counts,
        }
    }
}

/// A row of `fsbench.fsync`; its columns say what they are.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    pub method: &'static str,
    pub writes: u32,
    pub writers: u32,
    pub position: usize,
    pub block_bytes: u64,
    pub direct: bool,
    pub syncs: u64,
    pub ops_per_second: Option<f64>,
    pub latency_avg_ms: Option<f64>,
    pub latency_p50_ms: Option<f64>,
    pub latency_p90_ms: Option<f64>,
    pub latency_p95_ms: Option<f64>,
    pub latency_p99_ms: Option<f64>,
    pub latency_p999_ms: Option<f64>,
    pub latency_min_ms: Option<f64>,
    pub latency_max_ms: Option<f64>,
    pub buckets: Vec<usize>,
    pub counts: Vec<u64>,
}

impl rows::Row for Row {
    const TABLE: &'static str = "fsync";
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(method: Method, writes: u32, writers: u32, syncs: u64) -> Measured {
        let mut all = Histogram::new();
        (0..syncs).for_each(|_| all.record(2_000_000));
        Measured {
            test: Test {
                method,
                writes,
                writers,
            },
            direct: false,
            syncs: all,
            ns: 1_000_000_000,
        }
    }

    #[test]
    fn what_the_server_does_stands_for_the_run() {
        let all = [
            measured(Method::Fsync, 1, 1, 5),
            measured(Method::Fdatasync, 1, 4, 5),
            measured(Method::Fdatasync, 2, 1, 5),
            measured(Method::Fdatasync, 1, 2, 5),
        ];
        let main = Measured::main(&all, Some(Method::Fdatasync)).unwrap();
        assert_eq!((main.test.writes, main.test.writers), (1, 2));
        assert!(Measured::main(&all, Some(Method::OpenSync)).is_none());
        assert!(Measured::main(&all, None).is_none());
    }

    #[test]
    fn a_row_has_what_was_counted() {
        let row = measured(Method::Fsync, 1, 1, 500).to_row(0);
        assert_eq!(
            (row.position, row.syncs, row.ops_per_second),
            (1, 500, Some(500.0))
        );
        assert_eq!((row.latency_min_ms, row.latency_p999_ms), (Some(2.0), None));
        assert_eq!(row.counts, [500]);
        assert!(
            measured(Method::Fsync, 1, 1, P999_SYNCS)
                .p999_ms()
                .is_some()
        );
    }

    #[test]
    fn nothing_done_has_no_time() {
        let none = Measured {
            ns: 0,
            ..measured(Method::None, 1, 1, 0)
        };
        let row = none.to_row(3);
        assert_eq!(
            (row.ops_per_second, row.latency_avg_ms, row.latency_max_ms),
            (None, None, None)
        );
    }
}
