//! Findings about scans.

use std::collections::BTreeSet;

use super::{Finding, RunFacts, Severity};
use crate::units::format_count;

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

/// The cache was not what the run wanted while it scanned, though it was when each scan began. Such scans do not count, and are made
/// again: worth a warning where none of them was better.
pub fn cache_not_as_asked(facts: &RunFacts) -> Option<Finding> {
    let (scans, cold) = (facts.scan.scans.as_ref()?, facts.scan.cold?);
    let (mut shares, mut wrong, mut right) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for scan in scans {
        let which = (scan.degree, scan.repeat);
        match scan.read.wrong_share(cold) {
            Some(share) => {
                shares.push(100.0 * share);
                wrong.insert(which);
            }
            None => {
                right.insert(which);
            }
        }
    }
    if shares.is_empty() {
        return None;
    }
    let missing: BTreeSet<u32> = wrong.difference(&right).map(|which| which.0).collect();
    let of = format!(
        "{} of {}",
        shares.len(),
        format_count(scans.len() as u64, "scan")
    );
    let (message, hint) = if cold {
        let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
        (
            format!(
                "in {of} from a cold cache as little as {least:.1} % of the table came from the device"
            ),
            "Something else keeps what was read: somebody reads the same files, or a cache of which the kernel does not tell.",
        )
    } else {
        let most = shares.iter().copied().fold(0.0, f64::max);
        (
            format!(
                "in {of} from a warm cache up to {most:.1} % of the table came from the device"
            ),
            "The kernel has given pages of the table to others while it was scanned: leave more memory free, or use a smaller scale. fsbench.scan tells which scans these are.",
        )
    };
    let (severity, then) = if missing.is_empty() {
        (
            Severity::Info,
            "they do not count, and were made again".to_owned(),
        )
    } else {
        let list: Vec<String> = missing.iter().map(u32::to_string).collect();
        let list = list.join(", ");
        (
            Severity::Warning,
            format!(
                "they do not count, and fewer repeats than asked for are left at degree {list}"
            ),
        )
    };
    Some(Finding::new(
        "cache_not_as_asked",
        severity,
        format!("{message}; {then}"),
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
