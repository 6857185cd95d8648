//! Rows of results of each transaction type and each command, from the counters of all clients.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU64, Ordering::Acquire},
};

use serde::Serialize;

use super::{CommandCounters, Counted, Mix, Shape, Type, TypeCounters};
use crate::{
    hist::{self, AtomicHistogram, Histogram, Measure},
    rows::Row,
};

/// Under this many values no 99.9th percentile is shown.
const P999_VALUES: u64 = 10_000;
/// The word for SQLSTATEs that were not counted apart.
const OTHERS: &str = "other";

/// A distribution of latencies, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Latencies {
    pub latency_avg_ms: Option<f64>,
    pub latency_stddev_ms: Option<f64>,
    pub latency_p50_ms: Option<f64>,
    pub latency_p90_ms: Option<f64>,
    pub latency_p95_ms: Option<f64>,
    pub latency_p99_ms: Option<f64>,
    pub latency_p999_ms: Option<f64>,
    pub latency_max_ms: Option<f64>,
}

impl Latencies {
    pub fn of(histogram: &Histogram) -> Self {
        let ms = |ns: Option<f64>| ns.map(|ns| ns / 1e6);
        let percentile = |p| ms(histogram.percentile(p));
        Self {
            latency_avg_ms: ms(histogram.mean_ns()),
            latency_stddev_ms: ms(histogram.stddev_ns()),
            latency_p50_ms: percentile(0.5),
            latency_p90_ms: percentile(0.9),
            latency_p95_ms: percentile(0.95),
            latency_p99_ms: percentile(0.99),
            latency_p999_ms: percentile(0.999).filter(|_| histogram.count() >= P999_VALUES),
            latency_max_ms: ms(histogram.max().map(|ns| ns as f64)),
        }
    }
}

/// A row of `fsbench.transaction_result`; its columns say what they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TransactionResult {
    pub position: usize,
    pub transaction: String,
    pub weight: u32,
    pub tps: Option<f64>,
    pub committed: u64,
    pub rolled_back: Option<u64>,
    pub failed: u64,
    pub retried: u64,
    pub retries: u64,
    pub limit_ms: Option<f64>,
    pub late: Option<u64>,
    #[serde(flatten)]
    pub latencies: Latencies,
}

impl Row for TransactionResult {
    const TABLE: &'static str = "transaction_result";
}

/// A row of `fsbench.transaction_failure`; its columns say what they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TransactionFailure {
    pub position: usize,
    pub sqlstate: String,
    pub transactions: u64,
    pub retries: u64,
}

impl Row for TransactionFailure {
    const TABLE: &'static str = "transaction_failure";
}

/// A row of `fsbench.command_result`; its columns say what they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CommandResult {
    pub position: usize,
    pub command: usize,
    pub line: u32,
    pub kind: &'static str,
    pub executions: u64,
    pub failures: u64,
    #[serde(flatten)]
    pub latencies: Latencies,
}

impl Row for CommandResult {
    const TABLE: &'static str = "command_result";
}

/// Everything that is stored of the types of a run.
#[derive(Default)]
pub struct Results {
    pub transactions: Vec<TransactionResult>,
    pub failures: Vec<TransactionFailure>,
    pub commands: Vec<CommandResult>,
    pub histograms: Vec<hist::Row>,
}

impl Results {
    /// Results from the counters of all clients. `whole` is the name under which the histogram of all types is stored.
    pub fn of(mix: &Mix, shape: &Shape, counted: &Counted, whole: &str) -> Self {
        let mut results = Self::default();
        let mut first_command = 0;
        for (index, type_) in mix.types.iter().enumerate() {
            let of_clients: Vec<&TypeCounters> = every(counted.types, index, shape.types).collect();
            results.add_type(index + 1, type_, mix.counts_rollbacks, &of_clients, whole);
            for (number, command) in type_.commands.iter().enumerate() {
                let of_clients: Vec<&CommandCounters> =
                    every(counted.commands, first_command + number, shape.commands).collect();
                let latency = merged(of_clients.iter().map(|counters| &counters.latency));
                let failures = of_clients.iter().map(|counters| &counters.failures);
                let failures = sum(failures);
                results.commands.push(CommandResult {
                    position: index + 1,
                    command: number + 1,
                    line: command.line,
                    kind: command.kind,
                    executions: latency.count() + failures,
                    failures,
                    latencies: Latencies::of(&latency),
                });
                results.add_histogram(&type_.name, Measure::Command(number + 1), &latency);
            }
            first_command += type_.commands.len();
        }
        results
    }

    /// The rates of the types in a window of that length.
    pub fn with_rates(mut self, measured_ms: f64) -> Self {
        for type_ in &mut self.transactions {
            type_.tps = (measured_ms > 0.0).then(|| type_.committed as f64 * 1000.0 / measured_ms);
        }
        self
    }

    /// The counts alone: latencies of a search, which goes through rates of its own choice, say nothing together.
    pub fn without_latencies(mut self) -> Self {
        for type_ in &mut self.transactions {
            type_.latencies = Latencies::default();
        }
        self.commands.clear();
        self.histograms.clear();
        self
    }

    fn add_type(
        &mut self,
        position: usize,
        type_: &Type,
        counts_rollbacks: bool,
        of_clients: &[&TypeCounters],
        whole: &str,
    ) {
        let latency = merged(of_clients.iter().map(|counters| &counters.latency));
        let of = |field: fn(&TypeCounters) -> &AtomicU64| {
            sum(of_clients.iter().map(|counters| field(counters)))
        };
        let rolled_back = of(|counters| &counters.rolled_back);
        let limit_ms = type_.limit_ns.map(|ns| ns as f64 / 1e6);
        self.transactions.push(TransactionResult {
            position,
            transaction: type_.name.clone(),
            weight: type_.weight,
            tps: None,
            committed: latency.count().saturating_sub(rolled_back),
            rolled_back: counts_rollbacks.then_some(rolled_back),
            failed: of_clients.iter().map(|counters| counters.failed()).sum(),
            retried: of(|counters| &counters.retried),
            retries: of(|counters| &counters.retries),
            limit_ms,
            late: limit_ms.map(|_| of(|counters| &counters.late)),
            latencies: Latencies::of(&latency),
        });
        self.add_failures(position, of_clients);
        if type_.name == whole {
            return;
        }
        self.add_histogram(&type_.name, Measure::Latency, &latency);
        let commit = merged(of_clients.iter().map(|counters| &counters.commit));
        self.add_histogram(&type_.name, Measure::Commit, &commit);
    }

    fn add_failures(&mut self, position: usize, of_clients: &[&TypeCounters]) {
        let mut by_code: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for (code, failed, retried) in of_clients.iter().flat_map(|counters| counters.failures()) {
            let counts = by_code
                .entry(code.unwrap_or_else(|| OTHERS.into()))
                .or_default();
            *counts = (counts.0 + failed, counts.1 + retried);
        }
        for (sqlstate, (transactions, retries)) in by_code {
            self.failures.push(TransactionFailure {
                position,
                sqlstate,
                transactions,
                retries,
            });
        }
    }

    fn add_histogram(&mut self, transaction: &str, measure: Measure, histogram: &Histogram) {
        if histogram.count() > 0 {
            self.histograms.push(histogram.to_row(transaction, measure));
        }
    }
}

/// The counters number `index` of each client, of which each has `of_each`.
fn every<T>(all: &[T], index: usize, of_each: usize) -> impl Iterator<Item = &T> {
    all.iter().skip(index).step_by(of_each.max(1))
}

fn merged<'a>(histograms: impl Iterator<Item = &'a AtomicHistogram>) -> Histogram {
    let mut merged = Histogram::new();
    histograms.for_each(|histogram| histogram.read_into(&mut merged));
    merged
}

fn sum<'a>(words: impl Iterator<Item = &'a AtomicU64>) -> u64 {
    words.map(|word| word.load(Acquire)).sum()
}
