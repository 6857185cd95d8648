//! The rows of jobs that are stored.

use serde::Serialize;

use super::{
    document::{Direction, Measured},
    job::Job,
    series::{Seconds, Steadiness},
    setting::{STEADY_STATE, Value},
};
use crate::{
    hist::{self, Histogram, Measure},
    rows,
};

/// Fewer operations than this have no 99.9th percentile.
const P999_OPERATIONS: u64 = 10_000;

/// A row of `fsbench.io_job`; its columns say what they are.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    pub position: usize,
    pub job: String,
    pub direction: &'static str,
    pub access: &'static str,
    pub copies: u64,
    pub file_bytes: u64,
    pub sync_call: Option<&'static str>,
    pub sync_every: Option<u64>,
    pub operations: u64,
    pub bytes: Option<u64>,
    pub runtime_ms: Option<u64>,
    pub mb_per_second: Option<f64>,
    pub iops: Option<f64>,
    pub latency_avg_ms: Option<f64>,
    pub latency_stddev_ms: Option<f64>,
    pub latency_p50_ms: Option<f64>,
    pub latency_p90_ms: Option<f64>,
    pub latency_p95_ms: Option<f64>,
    pub latency_p99_ms: Option<f64>,
    pub latency_p999_ms: Option<f64>,
    pub latency_min_ms: Option<f64>,
    pub latency_max_ms: Option<f64>,
    pub user_cpu_ms: Option<f64>,
    pub system_cpu_ms: Option<f64>,
    #[serde(flatten)]
    pub steadiness: Steadiness,
    pub fio_steady_state: Option<String>,
    pub fio_steady_seconds: Option<u64>,
    pub fio_steady: Option<bool>,
    pub fio_steady_percent: Option<f64>,
}

impl rows::Row for Row {
    const TABLE: &'static str = "io_job";
}

/// The call by which a job syncs, and the writes after which it does.
fn sync_of(job: &Job) -> Option<(&'static str, u64)> {
    job.settings
        .iter()
        .find_map(|setting| match (setting.name, &setting.value) {
            ("fsync" | "fdatasync", Value::Number(every)) if *every > 0 => {
                Some((setting.name, *every))
            }
            _ => None,
        })
}

impl Measured {
    fn per_second(&self, number: f64) -> Option<f64> {
        (self.runtime_ms > 0).then(|| number * 1000.0 / self.runtime_ms as f64)
    }

    /// The row that is stored of it.
    pub fn to_row(&self, jobs: &[Job], seconds: &Seconds) -> Option<Row> {
        let job = jobs.get(self.job)?;
        let ms = |ns: f64| ns / 1e6;
        let percentile = |share| self.latency.percentile(share).map(ms);
        let exact = |ns: Option<u64>| ns.map(|ns| ms(ns as f64));
        // A direction in which nothing was done has neither a time nor a speed.
        let is_any = self.operations > 0;
        let sync = sync_of(job).filter(|_| self.direction == Direction::Sync);
        Some(Row {
            position: self.job + 1,
            job: job.name.clone(),
            direction: self.direction.as_str(),
            access: job.access.as_str(),
            copies: job.copies,
            file_bytes: job.file_bytes,
            sync_call: sync.map(|(call, _)| call),
            sync_every: sync.map(|(_, every)| every),
            operations: self.operations,
            bytes: self.bytes,
            runtime_ms: is_any.then_some(self.runtime_ms),
            mb_per_second: self
                .bytes
                .filter(|_| is_any)
                .and_then(|bytes| self.per_second(bytes as f64 / 1e6)),
            iops: self.per_second(self.operations as f64).filter(|_| is_any),
            latency_avg_ms: self.latency.mean_ns().map(ms),
            latency_stddev_ms: self.latency.stddev_ns().map(ms),
            latency_p50_ms: percentile(0.5),
            latency_p90_ms: percentile(0.9),
            latency_p95_ms: percentile(0.95),
            latency_p99_ms: percentile(0.99),
            latency_p999_ms: percentile(0.999).filter(|_| self.latency.count() >= P999_OPERATIONS),
            latency_min_ms: exact(self.latency.min()),
            latency_max_ms: exact(self.latency.max()),
            user_cpu_ms: self.user_cpu_ms,
            system_cpu_ms: self.system_cpu_ms,
            steadiness: seconds.steadiness(self.job),
            fio_steady_state: job.setting(STEADY_STATE).map(Value::to_string),
            fio_steady_seconds: job.steady_seconds(),
            fio_steady: self.steady.map(|steady| steady.is_attained),
            fio_steady_percent: self.steady.and_then(|steady| steady.percent),
        })
    }

    /// The histogram that is stored of it; None when nothing was done.
    pub fn to_histogram(&self, jobs: &[Job]) -> Option<hist::Row> {
        let measure = match self.direction {
            Direction::Read => Measure::Read,
            Direction::Write => Measure::Write,
            Direction::Sync => Measure::Sync,
        };
        let job = jobs.get(self.job)?;
        (self.latency.count() > 0).then(|| self.latency.to_row(&job.name, measure))
    }
}

/// The figures that stand for a run: reads and writes of all jobs.
pub struct Total {
    pub operations: u64,
    /// Times of jobs that ran one after the other, added up.
    pub runtime_ms: u64,
    pub latency: Histogram,
}

impl Total {
    /// Adds up all that was measured. Syncs are not among them.
    pub fn of(all: &[Measured]) -> Self {
        let data = || all.iter().filter(|m| m.direction != Direction::Sync);
        let mut latency = Histogram::new();
        let mut operations = 0;
        for measured in data() {
            latency.merge(&measured.latency);
            operations += measured.operations;
        }
        let last = data().map(|m| m.job).max().map_or(0, |last| last + 1);
        let longest = |job| data().filter(|m| m.job == job).map(|m| m.runtime_ms).max();
        Self {
            operations,
            runtime_ms: (0..last).filter_map(longest).sum(),
            latency,
        }
    }

    /// Operations per second.
    pub fn per_second(&self) -> Option<f64> {
        (self.runtime_ms > 0).then(|| self.operations as f64 * 1000.0 / self.runtime_ms as f64)
    }
}
