//! Findings about scans.

use std::collections::BTreeSet;

use super::{
    facts::{ScanFacts, ScanMade},
    part_of_table,
};
use crate::{
    finding_row::{Finding, Severity},
    spec::Cache,
    units::{format_bytes, format_count},
};

/// A scan that is slower than this share of plain reading waits for the processor, not for storage.
const BOUND_BY_READING: f64 = 0.8;

/// The findings that these facts make. A fact that is not known makes none.
pub fn judge(facts: &ScanFacts) -> Vec<Finding> {
    let rules = [
        workers_not_launched,
        cache_not_as_asked,
        read_for_others,
        cpu_bound,
    ];
    rules.iter().filter_map(|rule| rule(facts)).collect()
}

/// Degrees whose workers were not all there.
fn workers_not_launched(facts: &ScanFacts) -> Option<Finding> {
    let degrees = facts.degrees_not_launched.as_ref()?;
    (!degrees.is_empty()).then(|| {
        let list: Vec<String> = degrees.iter().map(u32::to_string).collect();
        let message = format!("not all workers were there at degree {}", list.join(", "));
        let hint = "Those scans do not count, and are not part of the curve: raise max_worker_processes and max_parallel_workers, or see who else uses them.";
        Finding::new("workers_not_launched", Severity::Warning, message, hint)
    })
}

/// The cache was not what the run wanted while it scanned, though it was when each scan began. Such scans do not count, and are made
/// again: worth a warning where none of them was better, and where only the device was seen to read, perhaps for others.
fn cache_not_as_asked(facts: &ScanFacts) -> Option<Finding> {
    let (scans, cache) = (facts.scans.as_ref()?, facts.cache?);
    let which = |scan: &ScanMade| (scan.degree, scan.repeat);
    let shares = |used: bool| {
        let those = scans.iter().filter(move |scan| scan.used == used);
        those.filter_map(move |scan| Some(scan.blocks.wrong(cache)?.share))
    };
    let told = |shares: Vec<f64>| seen(cache, scans.len(), &shares);
    let finding = |severity, message: String, hint: &str| {
        Some(Finding::new("cache_not_as_asked", severity, message, hint))
    };
    let lost: Vec<f64> = shares(false).collect();
    if lost.is_empty() {
        let doubtful: Vec<f64> = shares(true).collect();
        if doubtful.is_empty() {
            return None;
        }
        return finding(
            Severity::Warning,
            format!("{}, or was read for others; they count", told(doubtful)),
            "Only the device is known to have read: measure on one that nobody else uses.",
        );
    }
    let right: BTreeSet<_> = scans.iter().filter(|scan| scan.used).map(which).collect();
    let has_any = |degree: &u32| right.iter().any(|(other, _)| other == degree);
    let missing = scans
        .iter()
        .map(which)
        .filter(|which| !right.contains(which));
    let missing: BTreeSet<u32> = missing.map(|(degree, _)| degree).collect();
    let (fewer, none): (Vec<u32>, Vec<u32>) = missing.into_iter().partition(has_any);
    let (message, hint) = (told(lost), hint_on(cache));
    if fewer.is_empty() && none.is_empty() {
        let message = format!("{message}; they do not count, and were made again");
        return finding(Severity::Info, message, hint);
    }
    let at = |what: &str, degrees: &[u32]| {
        let list: Vec<String> = degrees.iter().map(u32::to_string).collect();
        (!list.is_empty()).then(|| format!("{what} left at degree {}", list.join(", ")))
    };
    let what = [
        at("fewer repeats than asked for are", &fewer),
        at("no scan is", &none),
    ];
    let what: Vec<String> = what.into_iter().flatten().collect();
    let severity = if right.is_empty() {
        Severity::Invalid
    } else {
        Severity::Warning
    };
    let message = format!(
        "{message}; they do not count, and even made again {}",
        what.join(", and ")
    );
    finding(severity, message, hint)
}

/// How far the table was missing where it should be: these `shares` of it, each in one of `all` scans.
fn seen(cache: Cache, all: usize, shares: &[f64]) -> String {
    let of = format_count(all as u64, "scan");
    let of = format!("in {} of {of} from", shares.len());
    let most = part_of_table(shares.iter().copied().fold(0.0, f64::max));
    let least = part_of_table(shares.iter().copied().fold(f64::INFINITY, f64::min));
    match cache {
        Cache::Cold => format!("{of} a cold cache as little as {least} came from storage"),
        Cache::Warm => format!("{of} a warm cache up to {most} came from storage"),
        Cache::SharedBuffers => format!("{of} shared buffers up to {most} was not there"),
    }
}

fn hint_on(cache: Cache) -> &'static str {
    match cache {
        Cache::Cold => {
            "Something else keeps what was read: somebody reads the same files, or there is a cache of which the kernel does not tell; or the filesystem compresses, of which its mount options do not tell."
        }
        Cache::Warm => {
            "The kernel has given pages of the table to others while it was scanned, or somebody empties its cache: leave more memory free, or use a smaller scale. fsbench.scan tells which scans these are."
        }
        Cache::SharedBuffers => {
            "Other sessions of the server need shared buffers, too: leave it alone, or raise shared_buffers."
        }
    }
}

/// Others had the server's I/O workers read during a scan, so the reads from storage for the scan are unknown.
fn read_for_others(facts: &ScanFacts) -> Option<Finding> {
    let (scans, cache) = (facts.scans.as_ref()?, facts.cache?);
    let others: Vec<u64> = scans.iter().filter_map(|scan| scan.for_others).collect();
    let most = others
        .iter()
        .max()
        .filter(|_| cache != Cache::SharedBuffers)?;
    let message = format!(
        "in {} of {} the server's I/O workers read for others, too, up to {}",
        others.len(),
        format_count(scans.len() as u64, "scan"),
        format_bytes(*most)
    );
    let hint = "What came from storage for these scans is known of the device alone: keep others away from the server, or set io_method = sync, with which each process reads for itself.";
    Some(Finding::new(
        "read_for_others",
        Severity::Warning,
        message,
        hint,
    ))
}

/// The executor, and not storage, was what the scans waited for. Expected of a table in memory.
fn cpu_bound(facts: &ScanFacts) -> Option<Finding> {
    let (scan, read) = (facts.gb_per_second?, facts.read_gb_per_second?);
    let by = match facts.readers? {
        1 => "1 process".to_owned(),
        readers => format!("{readers} processes"),
    };
    (scan < read * BOUND_BY_READING).then(|| {
        let severity = if facts.cache == Some(Cache::Cold) {
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

#[cfg(test)]
mod tests;
