//! Advice of `recommend`: one function for each piece. Some pieces are built from parts, which are codes here.

pub mod choice;
pub mod lines;
pub mod regime;
pub mod survives;
pub mod untested;

use crate::units::{format_bytes, format_figure};

/// A busy machine before the first piece of advice.
pub fn busy_before(busy: &str, advice: &str) -> String {
    format!("{busy}; {advice}")
}

/// A name and what is known of it.
pub fn of(name: &str, says: &str) -> String {
    format!("{name}: {says}")
}

/// Costs of the transactions of a target, as medians over its runs. None: not known.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Bytes written to the device a transaction.
    pub written: Option<f64>,
    /// Whether other programs may have written some of them.
    pub by_all: bool,
    /// Flushes of the device a transaction.
    pub flushes: Option<f64>,
    /// Microseconds of a flush before the window.
    pub flush_us: Option<f64>,
}

/// None where nothing is known.
pub fn cost(name: &str, cost: Cost) -> Option<String> {
    let by = if cost.by_all { " by all programs" } else { "" };
    let written = cost.written.map(|bytes| {
        let bytes = format_bytes(bytes as u64);
        format!("{bytes} written to the device{by}")
    });
    let flushes = cost.flushes.map(format_figure);
    let flushes = flushes.map(|flushes| format!("{flushes} flushes of it"));
    let parts: Vec<String> = written.into_iter().chain(flushes).collect();
    let each = (!parts.is_empty()).then(|| format!("per transaction {}", parts.join(" and ")));
    let flush = cost.flush_us.map(format_figure);
    let flush = flush.map(|us| format!("before the runs a flush took {us} us"));
    let parts: Vec<String> = each.into_iter().chain(flush).collect();
    (!parts.is_empty()).then(|| format!("{name}: {} (medians)", parts.join("; ")))
}

/// A target that promises less than others, and the reasons.
pub fn less_durable(name: &str, reasons: &str) -> String {
    format!(
        "{name} is not as durable as others of these ({reasons}): what it gains may be paid with commits that are lost when power is"
    )
}

pub fn for_comparison_only(name: &str, filesystem: Option<&str>) -> String {
    let filesystem = filesystem.unwrap_or("it");
    format!("{name} is for comparison only: {filesystem} is no filesystem to keep a database on")
}

/// The query for the messages of an experiment's findings.
pub fn query_of_findings(experiment_id: i64) -> String {
    format!(
        "in words, with figures: SELECT run_id, code, message FROM fsbench.finding JOIN fsbench.experiment_run USING (run_id) WHERE experiment_id = {experiment_id} AND severity = 'warning'"
    )
}
