//! Columns of `fsbench.run_log`, as far as they are not written by statements that name them one by one (ids, times, errors,
//! and what tells a run's work database from others).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{cost::Cost, rate_search::Sustainable};
use crate::{hist::Histogram, rows::Row, statistics::IoBytes};

/// A run that was asked for.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RequestedRun {
    pub status: String,
    pub target: String,
    pub workload: &'static str,
    pub scale: Option<u32>,
    pub clients: Option<u32>,
    pub duration: Option<String>,
    pub transactions: Option<u64>,
    pub warmup: Option<String>,
    pub rate: Option<f64>,
    pub latency_limit_ms: Option<f64>,
    pub seed: i64,
    pub label: Option<String>,
    pub forced: bool,
    pub used: Value,
    pub requested_by: String,
}

impl Row for RequestedRun {
    const TABLE: &'static str = "run_log";
}

/// Under this many transactions a run has no 99.9th percentile.
const P999_TRANSACTIONS: u64 = 10_000;

/// Latencies of the transactions of a run, and of their COMMIT alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Latencies {
    pub latency_avg_ms: Option<f64>,
    pub latency_stddev_ms: Option<f64>,
    pub latency_p50_ms: Option<f64>,
    pub latency_p90_ms: Option<f64>,
    pub latency_p95_ms: Option<f64>,
    pub latency_p99_ms: Option<f64>,
    pub latency_p999_ms: Option<f64>,
    pub latency_max_ms: Option<f64>,
    pub commit_avg_ms: Option<f64>,
    pub commit_p50_ms: Option<f64>,
    pub commit_p99_ms: Option<f64>,
    pub commit_max_ms: Option<f64>,
}

impl Latencies {
    /// Latencies from the histograms. Percentiles are among `due` transactions: a transaction that is not in the histogram took for ever.
    pub fn of(latency: &Histogram, commit: &Histogram, due: u64) -> Self {
        let ms = |ns: Option<f64>| ns.map(|ns| ns / 1e6);
        let max = |histogram: &Histogram| ms(histogram.max().map(|ns| ns as f64));
        let percentile = |fraction| ms(latency.percentile_among(fraction, due));
        Self {
            latency_avg_ms: ms(latency.mean_ns()),
            latency_stddev_ms: ms(latency.stddev_ns()),
            latency_p50_ms: percentile(0.5),
            latency_p90_ms: percentile(0.9),
            latency_p95_ms: percentile(0.95),
            latency_p99_ms: percentile(0.99),
            latency_p999_ms: percentile(0.999).filter(|_| latency.count() >= P999_TRANSACTIONS),
            latency_max_ms: max(latency),
            commit_avg_ms: ms(commit.mean_ns()),
            commit_p50_ms: ms(commit.percentile(0.5)),
            commit_p99_ms: ms(commit.percentile(0.99)),
            commit_max_ms: max(commit),
        }
    }
}

/// The figures that a workload has measured. A figure that it has not is None.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Measured {
    pub measured_ms: f64,
    pub transactions_total: Option<u64>,
    pub transactions_outside: Option<u64>,
    pub skipped: Option<u64>,
    pub late: Option<u64>,
    pub failed: Option<u64>,
    pub behind: Option<u64>,
    pub tps: Option<f64>,
    #[serde(flatten)]
    pub latencies: Latencies,
    pub stall_seconds: Option<u32>,
    pub zero_seconds: Option<u32>,
    pub balances: Option<Value>,
    #[serde(flatten)]
    pub cost: Cost,
    #[serde(flatten)]
    pub sustainable: Sustainable,
}

/// A run that is done.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Done {
    pub status: &'static str,
    pub used: Value,
    pub phases: Value,
    pub steps: Value,
    pub kept: bool,
    pub load_ms: Option<f64>,
    pub data_bytes: Option<u64>,
    pub xids_used: u64,
    pub wal_bytes: u64,
    pub wal_start_lsn: String,
    pub wal_end_lsn: String,
    #[serde(flatten)]
    pub checkpoints: Checkpoints,
    #[serde(flatten)]
    pub io: IoBytes,
    pub track_io_timing: Option<bool>,
    pub track_wal_io_timing: Option<bool>,
    pub clock_read_ns: Option<f64>,
    pub facts: Value,
    #[serde(flatten)]
    pub measured: Measured,
}

impl Row for Done {
    const TABLE: &'static str = "run_log";
}

/// The cost of a maintenance step after the window, a row of `fsbench.maintenance`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Maintenance {
    pub position: usize,
    pub step: String,
    pub ms: f64,
    pub bytes: Option<i64>,
    pub wal_bytes: i64,
}

impl Row for Maintenance {
    const TABLE: &'static str = "maintenance";
}

/// How many checkpoints there were in the measured window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Checkpoints {
    pub complete_checkpoints: Option<u32>,
    pub checkpoints_timed: Option<u32>,
    pub checkpoints_requested: Option<u32>,
    pub checkpoints_logged: Option<bool>,
}
