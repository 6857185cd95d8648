//! Findings about scans.

use super::{Finding, RunFacts, Severity};
use crate::units::format_count;

/// A scan that is slower than this share of plain reading waits for the processor, not for storage.
const BOUND_BY_READING: f64 = 0.8;
/// By so large a share of the table may the device have read more or less than it should have.
const TOLERATED: f64 = 0.01;
/// So much can others have read from it.
const OTHERS_READ: u64 = 1 << 20;

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

/// The cache was not what the run wanted while it scanned, though it was when each scan began.
pub fn cache_not_as_asked(facts: &RunFacts) -> Option<Finding> {
    let (reads, cold) = (facts.scan.device_reads.as_ref()?, facts.scan.cold?);
    let share = |read: u64, bytes: u64| read as f64 / bytes as f64;
    let is_other = |&(read, bytes): &(u64, u64)| match cold {
        true => share(read, bytes) < 1.0 - TOLERATED,
        false => share(read, bytes) > TOLERATED && read > OTHERS_READ,
    };
    let others: Vec<f64> = reads
        .iter()
        .filter(|read| read.1 > 0 && is_other(read))
        .map(|&(read, bytes)| 100.0 * share(read, bytes))
        .collect();
    if others.is_empty() {
        return None;
    }
    let of = format!(
        "{} of {}",
        others.len(),
        format_count(reads.len() as u64, "scan")
    );
    let (message, hint) = if cold {
        let least = others.iter().copied().fold(f64::INFINITY, f64::min);
        (
            format!(
                "in {of} from a cold cache the device read as little as {least:.1} % of the table"
            ),
            "Something else keeps what was read: somebody reads the same files, or a cache of which the kernel does not tell.",
        )
    } else {
        let most = others.iter().copied().fold(0.0, f64::max);
        (
            format!("in {of} from a warm cache the device read up to {most:.1} % of the table"),
            "The kernel has given its pages to others while it was scanned, or others have read from the same device: leave more memory free, use a smaller scale, or see fsbench.scan for which scans these are.",
        )
    };
    Some(Finding::new(
        "cache_not_as_asked",
        Severity::Warning,
        message,
        hint,
    ))
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
            "scans were bound by the processor: {scan:.2} GB/s at the best degree, and {read:.2} GB/s when {by} read the same files without the executor"
        );
        let hint = "The knee is that of processors and memory, not of the filesystem; fsbench.scan_read has the speed of reading alone.";
        Finding::new("cpu_bound", severity, message, hint)
    })
}
