//! Seconds of a run: what was counted in each, and what the clients were seen waiting for.

use std::collections::{BTreeMap, HashMap};

use pgfsbench_core::board::{Figure, Sample};
use serde_json::{Value, json};

use super::insert_rows;
use crate::{errors::Fault, pg::usage};

/// Rows that are passed on in one document.
const AT_ONCE: usize = 1000;

/// Stores the records of each second, with what was counted of transactions if the run has any.
pub fn insert_samples(
    run_id: i64,
    samples: &[Sample],
    has_transactions: bool,
) -> Result<(), Fault> {
    let ms = |ns: u64| ns as f64 / 1e6;
    // A second without transactions has no latency.
    let latency = |sample: &Sample, ns: u64| (sample.transactions > 0).then(|| ms(ns));
    let count = |n: u64| has_transactions.then_some(n);
    let row = |s: &Sample| {
        let mut row = json!({
            "second": s.second, "interval_ms": ms(s.interval_ns),
            "transactions": count(s.transactions), "skipped": count(s.skipped), "late": count(s.late),
            "failed": count(s.failed),
            "latency_avg_ms": latency(s, s.mean_ns), "latency_p50_ms": latency(s, s.p50_ns),
            "latency_p95_ms": latency(s, s.p95_ns), "latency_p99_ms": latency(s, s.p99_ns),
            "latency_max_ms": latency(s, s.max_ns), "commit_p99_ms": latency(s, s.commit_p99_ns),
        });
        for figure in Figure::ALL {
            if let Some(value) = s.figures.json(*figure) {
                row[figure.column()] = value;
            }
        }
        row
    };
    for samples in samples.chunks(AT_ONCE) {
        let rows: Vec<Value> = samples.iter().map(row).collect();
        insert_rows(run_id, "sample", &rows)?;
    }
    Ok(())
}

/// Stores what the clients were seen waiting for in each second.
pub fn insert_waits(run_id: i64, samples: &[Sample]) -> Result<(), Fault> {
    let mut names = HashMap::new();
    for samples in samples.chunks(AT_ONCE) {
        // Two numbers can have the same name, as those that no version knows.
        let mut counts = BTreeMap::new();
        for sample in samples {
            for (event, n) in sample.waits.iter() {
                let name = names.entry(event).or_insert_with(|| match event {
                    Some(event) => usage::wait_name(event),
                    None => ("other".into(), "other".into()),
                });
                *counts.entry((sample.second, name.clone())).or_insert(0) += n;
            }
        }
        let rows: Vec<Value> = counts
            .into_iter()
            .map(|((second, (kind, event)), n)| {
                json!({
                    "second": second, "wait_event_type": kind, "wait_event": event, "samples": n,
                })
            })
            .collect();
        insert_rows(run_id, "wait_event", &rows)?;
    }
    Ok(())
}
