//! Metrics of `fsbench.result` that may be compared, since their direction is known.

mod family;
mod measured;
mod transaction;

use std::{collections::BTreeSet, sync::Mutex};

use crate::{
    refusal::{Refusal, quoted},
    spec::Workload,
    texts::verdict::is_counted,
};

pub use measured::{Files, MeasuredBy, PlannedRun};

/// One metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metric {
    /// Column in `fsbench.result`.
    pub name: &'static str,
    /// Whether more of it is better.
    pub more_is_better: bool,
    /// How it is compared.
    pub kind: Kind,
    /// Noun in the plural, or a mass noun: "more tps".
    pub noun: &'static str,
    /// The runs that have it.
    pub measured_by: MeasuredBy,
}

/// How a metric is compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// By ratios.
    Ratio,
    /// By ratios, but only at a fixed rate: in a closed loop it mirrors the rate that was reached. With the percentile, None for a mean.
    Latency(Option<f64>),
    /// It can be zero: shown, and never decided.
    Shown,
}

const fn ratio(
    name: &'static str,
    more_is_better: bool,
    noun: &'static str,
    measured_by: MeasuredBy,
) -> Metric {
    Metric {
        name,
        more_is_better,
        kind: Kind::Ratio,
        noun,
        measured_by,
    }
}

const fn latency(name: &'static str, percentile: Option<f64>, noun: &'static str) -> Metric {
    Metric {
        name,
        more_is_better: false,
        kind: Kind::Latency(percentile),
        noun,
        measured_by: MeasuredBy::Transactions,
    }
}

const fn shown(name: &'static str, noun: &'static str) -> Metric {
    Metric {
        name,
        more_is_better: false,
        kind: Kind::Shown,
        noun,
        measured_by: MeasuredBy::Transactions,
    }
}

/// The rate that a search finds (option `sustain`).
pub const SUSTAINABLE_RATE: &str = "sustainable_rate";

/// All of them.
pub const ALL: &[Metric] = &[
    ratio("tps", true, "tps", MeasuredBy::Operations),
    ratio(
        "tps_cv",
        false,
        "variation of tps from second to second",
        MeasuredBy::Seconds,
    ),
    latency("latency_avg_ms", None, "mean latency"),
    latency("latency_p50_ms", Some(50.0), "median latency"),
    latency("latency_p90_ms", Some(90.0), "p90 latency"),
    latency("latency_p95_ms", Some(95.0), "p95 latency"),
    latency("latency_p99_ms", Some(99.0), "p99 latency"),
    latency("latency_p999_ms", Some(99.9), "p99.9 latency"),
    latency("commit_p50_ms", Some(50.0), "median duration of COMMIT"),
    latency("commit_p99_ms", Some(99.0), "p99 duration of COMMIT"),
    ratio(
        "cpu_ms_per_transaction",
        false,
        "processor time per transaction",
        MeasuredBy::Seconds,
    ),
    ratio(
        "write_amplification",
        false,
        "write amplification",
        MeasuredBy::Writes,
    ),
    ratio(
        "server_write_amplification",
        false,
        "write amplification of the server",
        MeasuredBy::Writes,
    ),
    ratio(
        "filesystem_write_amplification",
        false,
        "write amplification of the filesystem",
        MeasuredBy::Writes,
    ),
    ratio(
        "device_bytes_per_transaction",
        false,
        "bytes written to the device per transaction",
        MeasuredBy::Seconds,
    ),
    ratio(
        "flushes_per_transaction",
        false,
        "flushes per transaction",
        MeasuredBy::Seconds,
    ),
    ratio("load_ms", false, "time to load", MeasuredBy::Loading),
    ratio(
        "recovery_ms",
        false,
        "time to recover",
        MeasuredBy::Option("crash"),
    ),
    ratio(
        "maintenance_ms",
        false,
        "time of maintenance",
        MeasuredBy::Option("maintenance"),
    ),
    ratio("scan_bytes_per_s", true, "scan speed", MeasuredBy::Scans),
    ratio(
        "read_mb_per_s",
        true,
        "bandwidth of reads",
        MeasuredBy::Files(Files::Reads),
    ),
    ratio(
        "write_mb_per_s",
        true,
        "bandwidth of writes",
        MeasuredBy::Files(Files::Writes),
    ),
    ratio(
        "iops",
        true,
        "operations per second of fio",
        MeasuredBy::Files(Files::Operations),
    ),
    ratio(
        "sync_p99_ms",
        false,
        "p99 time of a sync",
        MeasuredBy::Files(Files::Syncs),
    ),
    ratio(
        SUSTAINABLE_RATE,
        true,
        "tps under the latency limit",
        MeasuredBy::Search,
    ),
    ratio(
        "even_seconds",
        true,
        "share of seconds without a stall",
        MeasuredBy::Seconds,
    ),
    shown("stall_seconds", "stall seconds"),
    shown("zero_seconds", "seconds without a commit"),
    shown("failed", "failed transactions"),
    shown("missed", "missed transactions"),
];

/// The metric of an experiment that names none: p99 under a rate, what the workload is about else.
pub fn of_workload(workload: Option<Workload>, has_rate: bool) -> &'static str {
    match workload.and_then(|workload| workload.metric()) {
        Some(own) => own,
        None if has_rate => "latency_p99_ms",
        None => "tps",
    }
}

/// The number of metrics other than the declared one: they share a level.
pub fn not_declared(declared: &str, has_rate: bool) -> usize {
    let others = ALL.iter().filter(|metric| metric.name != declared);
    others
        .filter(|metric| metric.decides(has_rate).is_ok())
        .count()
}

/// The metric of that name.
pub fn find(name: &str) -> Result<Metric, Refusal> {
    let known = ALL.iter().find(|metric| metric.name == name).copied();
    let of_family = || family::member(name).or_else(|| transaction::member(name));
    known.or_else(of_family).ok_or_else(|| {
        let names = ALL.iter().map(|metric| metric.name.to_owned());
        let names = names.chain(family::names()).chain([transaction::form()]);
        let names: Vec<String> = names.collect();
        Refusal::argument(format!("metric {} does not exist", quoted(name)))
            .detail(
                "A metric is a figure of a run of which it is known whether more of it is better.",
            )
            .hint(format!("Use one of {}.", names.join(", ")))
    })
}

/// A text that stays, each once: a session names few metrics.
fn kept(text: &str) -> &'static str {
    static KEPT: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut kept = KEPT
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(known) = kept.get(text) {
        return known;
    }
    let new: &'static str = Box::leak(text.to_owned().into_boxed_str());
    kept.insert(new);
    new
}

impl Metric {
    /// The unit of its figures for people, and how many of its own unit are one of these; None of a number or a count.
    pub fn unit(self) -> Option<(&'static str, f64)> {
        match transaction::figure(self.name) {
            "scan_bytes_per_s" => Some(("GB/s", 1e9)),
            name if name.starts_with("scan_gb_per_s") => Some(("GB/s", 1.0)),
            name if name.ends_with("_ms") || name.contains("_ms_per_") => Some(("ms", 1.0)),
            _ => None,
        }
    }

    /// The best target in words: "most tps", "lowest p99 latency".
    pub fn superlative(self) -> String {
        let is_a_time = self.noun.starts_with("time ");
        let which = match (is_counted(self.noun), self.more_is_better) {
            (false, false) if is_a_time => "shortest",
            (true, true) => "most",
            (true, false) => "fewest",
            (false, true) => "highest",
            (false, false) => "lowest",
        };
        format!("{which} {}", self.noun)
    }

    /// Whether a verdict may be based on it in an experiment with or without a fixed rate.
    pub fn decides(self, has_rate: bool) -> Result<(), Refusal> {
        match self.kind {
            Kind::Ratio => Ok(()),
            Kind::Latency(_) if has_rate => Ok(()),
            Kind::Latency(_) => Err(Refusal::argument(format!(
                "metric \"{}\" decides nothing without a rate",
                self.name
            ))
            .detail("Where each client begins its next transaction when the one before is over, latency is clients / tps: the verdict on tps again.")
            .hint("Give a rate that all targets can keep, at most 0.9 of the slowest one's tps, or use the metric tps.")),
            Kind::Shown => Err(Refusal::argument(format!(
                "metric \"{}\" can be zero, and decides nothing",
                self.name
            ))
            .detail("Verdicts are about ratios.")
            .hint("Use another metric; compare() shows this one beside it.")),
        }
    }
}
