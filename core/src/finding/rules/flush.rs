//! Flushes: whether they can be real, and whether they changed.

use super::super::{Code, Finding, RunFacts, Severity, durability};
use crate::{sys::LayerKind, texts::finding::flush as text};

/// By how much flushes must have changed.
const STEP: f64 = 2.5;
/// And by how many microseconds, since the shortest ones differ by chance.
const STEP_US: f64 = 200.0;

/// A flush, or a sync of WAL, that reached no disk.
pub fn fsync_too_fast(facts: &RunFacts) -> Option<Finding> {
    let is_it = |code: &Code| {
        matches!(
            code,
            Code::FlushTooFast { .. } | Code::SyncTooFast { .. } | Code::SyncBelowProbe { .. }
        )
    };
    let found = contradictions(facts, is_it)?;
    Some(Finding::new(
        Severity::Warning,
        text::fsync_too_fast(&found),
    ))
}

/// The counters of the device do not show what the server has synced.
pub fn flushes_missing(facts: &RunFacts) -> Option<Finding> {
    let is_it = |code: &Code| matches!(code, Code::NoFlushes { .. } | Code::NoWrites { .. });
    let found = contradictions(facts, is_it)?;
    Some(Finding::new(
        Severity::Warning,
        text::flushes_missing(&found),
    ))
}

/// The contradictions of a kind; None where there are none.
fn contradictions(facts: &RunFacts, is_it: impl Fn(&Code) -> bool) -> Option<Vec<Code>> {
    let mut found = durability::contradictions(facts);
    found.retain(is_it);
    (!found.is_empty()).then_some(found)
}

/// The flush probe differs before and after the clients.
pub fn flush_step(facts: &RunFacts) -> Option<Finding> {
    let (before, after) = (facts.flush.before_us?, facts.flush.after_us?);
    let ratio = after.max(before) / after.min(before).max(0.1);
    (ratio > STEP && (after - before).abs() > STEP_US)
        .then(|| Finding::new(Severity::Warning, text::flush_step(before, after)))
}

/// Only the host knows whether what it was given is on a disk.
pub fn virtual_disk_without_flush(facts: &RunFacts) -> Option<Finding> {
    let machine = facts
        .machine
        .virtualization
        .as_deref()
        .filter(|kind| *kind != "none")?;
    let (storage, is_wal) = facts.commit_storage();
    let is_disk = storage.layers_of(LayerKind::Disk).next().is_some();
    (is_disk && storage.write_cache.as_deref()? == "write through").then(|| {
        let text = text::virtual_disk_without_flush(machine, is_wal);
        Finding::new(Severity::Info, text)
    })
}
