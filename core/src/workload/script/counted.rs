//! The transactions of each script: counted by clients in shared memory, and stored as rows.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed},
};

use serde::Serialize;

use super::Named;
use crate::{
    board::add,
    hist::{AtomicHistogram, Histogram},
    rows::Row,
    sqlstate,
};

/// Under this many transactions there is no 99.9th percentile.
const P999_TRANSACTIONS: u64 = 10_000;

/// The measured transactions of one script by one client, which is the only writer. All bytes zero is nothing.
#[repr(C)]
pub struct Counted {
    /// Latencies of those that were committed.
    latency: AtomicHistogram,
    /// Those whose last try ended with 40001, with 40P01, and with another SQLSTATE.
    failed: [AtomicU64; 3],
    /// Transactions that were tried more than once.
    retried: AtomicU64,
    /// All further tries.
    retries: AtomicU64,
}

impl Counted {
    /// Counts a transaction.
    #[inline]
    pub fn count(&self, end: End, retries: u64) {
        match end {
            End::Done(ns) => self.latency.record(ns),
            End::SerializationFailure => add(&self.failed[0], 1),
            End::Deadlock => add(&self.failed[1], 1),
            End::OtherError => add(&self.failed[2], 1),
        }
        if retries > 0 {
            add(&self.retried, 1);
            add(&self.retries, retries);
        }
    }

    pub fn reset(&self) {
        self.latency.reset();
        for word in self.failed.iter().chain([&self.retried, &self.retries]) {
            word.store(0, Relaxed);
        }
    }
}

/// How a transaction has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It was carried out, and took so many nanoseconds.
    Done(u64),
    SerializationFailure,
    Deadlock,
    OtherError,
}

impl End {
    /// The end of a transaction that failed with this SQLSTATE.
    pub fn failed(code: &str) -> Self {
        match code {
            sqlstate::SERIALIZATION_FAILURE => Self::SerializationFailure,
            sqlstate::DEADLOCK => Self::Deadlock,
            _ => Self::OtherError,
        }
    }
}

/// A script of a run, a row of `fsbench.script_result`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ScriptResult {
    pub position: usize,
    pub script: String,
    pub weight: u32,
    pub transactions: u64,
    pub serialization_failures: u64,
    pub deadlock_failures: u64,
    pub other_failures: u64,
    pub retried: u64,
    pub retries: u64,
    pub latency_avg_ms: Option<f64>,
    pub latency_stddev_ms: Option<f64>,
    pub latency_p50_ms: Option<f64>,
    pub latency_p90_ms: Option<f64>,
    pub latency_p95_ms: Option<f64>,
    pub latency_p99_ms: Option<f64>,
    pub latency_p999_ms: Option<f64>,
    pub latency_max_ms: Option<f64>,
}

impl Row for ScriptResult {
    const TABLE: &'static str = "script_result";
}

/// The rows of all scripts. `counted` has the scripts of the first client, then those of the next.
pub fn results(scripts: &[Named], counted: &[Counted]) -> Vec<ScriptResult> {
    let of_script = |(index, script): (usize, &Named)| {
        let own = || counted.iter().skip(index).step_by(scripts.len());
        let sum = |field: fn(&Counted) -> &AtomicU64| own().map(|c| field(c).load(Acquire)).sum();
        let mut latency = Histogram::new();
        own().for_each(|counted| counted.latency.read_into(&mut latency));
        let ms = |ns: Option<f64>| ns.map(|ns| ns / 1e6);
        let percentile = |p| ms(latency.percentile(p));
        ScriptResult {
            position: index + 1,
            script: script.name.clone(),
            weight: script.weight,
            transactions: latency.count,
            serialization_failures: sum(|counted| &counted.failed[0]),
            deadlock_failures: sum(|counted| &counted.failed[1]),
            other_failures: sum(|counted| &counted.failed[2]),
            retried: sum(|counted| &counted.retried),
            retries: sum(|counted| &counted.retries),
            latency_avg_ms: ms(latency.mean_ns()),
            latency_stddev_ms: ms(latency.stddev_ns()),
            latency_p50_ms: percentile(0.5),
            latency_p90_ms: percentile(0.9),
            latency_p95_ms: percentile(0.95),
            latency_p99_ms: percentile(0.99),
            latency_p999_ms: percentile(0.999).filter(|_| latency.count >= P999_TRANSACTIONS),
            latency_max_ms: ms(latency.max().map(|ns| ns as f64)),
        }
    };
    scripts.iter().enumerate().map(of_script).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_script_has_what_all_clients_have_counted() {
        let named = |name: &str| Named {
            name: name.into(),
            weight: 1,
            text: String::new(),
        };
        let scripts = [named("a"), named("b")];
        let counted: Vec<Counted> = (0..4)
            .map(|_| Counted {
                latency: AtomicHistogram::new(),
                failed: [7, 7, 7].map(AtomicU64::new),
                retried: AtomicU64::new(7),
                retries: AtomicU64::new(7),
            })
            .collect();
        counted.iter().for_each(Counted::reset);
        // Client 0 and client 1 have a row of two scripts each.
        counted[0].count(End::Done(1_000_000), 0);
        counted[2].count(End::Done(3_000_000), 2);
        counted[3].count(End::failed("40001"), 1);
        counted[3].count(End::failed("40P01"), 0);
        counted[1].count(End::failed("22012"), 0);
        let rows = results(&scripts, &counted);
        let of = |index: usize| {
            let row: &ScriptResult = &rows[index];
            (row.transactions, row.retried, row.retries)
        };
        assert_eq!((of(0), of(1)), ((2, 1, 2), (0, 1, 1)));
        let failures = |row: &ScriptResult| {
            let ScriptResult {
                serialization_failures,
                deadlock_failures,
                other_failures,
                ..
            } = *row;
            (serialization_failures, deadlock_failures, other_failures)
        };
        assert_eq!(failures(&rows[0]), (0, 0, 0));
        assert_eq!(failures(&rows[1]), (1, 1, 1));
        assert_eq!(rows[0].latency_avg_ms, Some(2.0));
        assert_eq!((rows[1].position, rows[1].latency_max_ms), (2, None));
    }
}
