//! Findings about scans.

use std::collections::BTreeSet;

use super::{
    facts::{ScanFacts, ScanMade},
    part_of_table,
};
use crate::{
    finding_row::{Finding, Severity},
    spec::Cache,
    texts::finding::scan::{self as text, Misses, Outcome},
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
    (!degrees.is_empty())
        .then(|| Finding::new(Severity::Warning, text::workers_not_launched(degrees)))
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
    let misses = |shares: &[f64]| Misses {
        cache,
        scans: shares.len(),
        of: scans.len(),
        least: part_of_table(shares.iter().copied().fold(f64::INFINITY, f64::min)),
        most: part_of_table(shares.iter().copied().fold(0.0, f64::max)),
    };
    let finding = |severity, shares: &[f64], outcome: &Outcome| {
        let text = text::cache_not_as_asked(&misses(shares), outcome);
        Some(Finding::new(severity, text))
    };
    let lost: Vec<f64> = shares(false).collect();
    if lost.is_empty() {
        let doubtful: Vec<f64> = shares(true).collect();
        if doubtful.is_empty() {
            return None;
        }
        return finding(Severity::Warning, &doubtful, &Outcome::Doubtful);
    }
    let right: BTreeSet<_> = scans.iter().filter(|scan| scan.used).map(which).collect();
    let has_any = |degree: &u32| right.iter().any(|(other, _)| other == degree);
    let missing = scans
        .iter()
        .map(which)
        .filter(|which| !right.contains(which));
    let missing: BTreeSet<u32> = missing.map(|(degree, _)| degree).collect();
    let (fewer, none): (Vec<u32>, Vec<u32>) = missing.into_iter().partition(has_any);
    if fewer.is_empty() && none.is_empty() {
        return finding(Severity::Info, &lost, &Outcome::MadeAgain);
    }
    let severity = if right.is_empty() {
        Severity::Invalid
    } else {
        Severity::Warning
    };
    finding(severity, &lost, &Outcome::Missing { fewer, none })
}

/// Others had the server's I/O workers read during a scan, so the reads from storage for the scan are unknown.
fn read_for_others(facts: &ScanFacts) -> Option<Finding> {
    let (scans, cache) = (facts.scans.as_ref()?, facts.cache?);
    let others: Vec<u64> = scans.iter().filter_map(|scan| scan.for_others).collect();
    let most = others
        .iter()
        .max()
        .filter(|_| cache != Cache::SharedBuffers)?;
    let text = text::read_for_others(others.len(), scans.len(), *most);
    Some(Finding::new(Severity::Warning, text))
}

/// The executor, and not storage, was what the scans waited for. Expected of a table in memory.
fn cpu_bound(facts: &ScanFacts) -> Option<Finding> {
    let (scan, read) = (facts.gb_per_second?, facts.read_gb_per_second?);
    let readers = facts.readers?;
    (scan < read * BOUND_BY_READING).then(|| {
        let severity = if facts.cache == Some(Cache::Cold) {
            Severity::Warning
        } else {
            Severity::Info
        };
        Finding::new(severity, text::cpu_bound(scan, read, readers))
    })
}

#[cfg(test)]
mod tests;
