//! Findings about scans.

use super::{Finding, RunFacts, Severity};

/// A scan that is slower than this share of plain reading waits for the processor, not for storage.
const BOUND_BY_READING: f64 = 0.8;

/// Degrees whose workers were not all there.
pub fn workers_not_launched(facts: &RunFacts) -> Option<Finding> {
    let degrees = facts.scan.degrees_not_launched.as_ref()?;
    (!degrees.is_empty()).then(|| {
        let list: Vec<String> = degrees.iter().map(u32::to_string).collect();
        let message = format!("not all workers were there at degree {}", list.join(", "));
        let hint = "Those scans do not count, and are not part of the curve: raise max_worker_processes and max_parallel_workers, or see who else uses them.";
        Finding::new("workers_not_launched", Severity::Warning, message, hint)
    })
}

/// The executor, and not storage, was what the scans waited for. Expected of a table in memory.
pub fn cpu_bound(facts: &RunFacts) -> Option<Finding> {
    let (scan, read) = (facts.scan.gb_per_second?, facts.scan.read_gb_per_second?);
    let by = match facts.scan.readers? {
        1 => "1 process".to_owned(),
        readers => format!("{readers} processes"),
    };
    (scan < read * BOUND_BY_READING).then(|| {
        let severity = if facts.scan.cold == Some(true) {
            Severity::Warning
        } else {
            Severity::Info
        };
        let message = format!(
            "scans were bound by the processor: {scan:.2} GB/s at their fastest, and {read:.2} GB/s when {by} read the same files without the executor"
        );
        let hint = "The knee is that of processors and memory, not of the filesystem; fsbench.scan_read has the speed of reading alone.";
        Finding::new("cpu_bound", severity, message, hint)
    })
}
