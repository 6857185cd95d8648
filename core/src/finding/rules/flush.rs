//! Flushes: whether they can be real, and whether they changed.

use super::super::{Code, Finding, RunFacts, Severity, durability};
use crate::{sys::LayerKind, units::format_microseconds};

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
    let message = contradiction(facts, is_it)?;
    let hint = "Something keeps writes in memory (a host's cache, a controller): see the durability of the run, and declare power_loss_protected => true for the target if it keeps them when power is lost.";
    Some(Finding::new(
        "fsync_too_fast",
        Severity::Warning,
        message,
        hint,
    ))
}

/// The counters of the device do not show what the server has synced.
pub fn flushes_missing(facts: &RunFacts) -> Option<Finding> {
    let is_it = |code: &Code| matches!(code, Code::NoFlushes { .. } | Code::NoWrites { .. });
    let message = contradiction(facts, is_it)?;
    let hint = "Either a layer drops what the server syncs, or the kernel does not count it: do not rely on commits here before a power cut was tried.";
    Some(Finding::new(
        "flushes_missing",
        Severity::Warning,
        message,
        hint,
    ))
}

/// The contradictions of a kind, in words.
fn contradiction(facts: &RunFacts, is_it: impl Fn(&Code) -> bool) -> Option<String> {
    let found = durability::contradictions(facts);
    let words: Vec<String> = found
        .iter()
        .filter(|code| is_it(code))
        .map(Code::with_figures)
        .collect();
    (!words.is_empty()).then(|| words.join("; "))
}

/// The flush probe differs before and after the clients.
pub fn flush_step(facts: &RunFacts) -> Option<Finding> {
    let (before, after) = (facts.flush.before_us?, facts.flush.after_us?);
    let ratio = after.max(before) / after.min(before).max(0.1);
    (ratio > STEP && (after - before).abs() > STEP_US).then(|| {
        let message = format!("a flush took {} before the clients and {} after them (medians)",
            format_microseconds(before), format_microseconds(after));
        let hint = match after > before {
            true => "A cloud disk's burst credits are used up, it is throttled, or another program uses it: run it longer, and again at another time.",
            false => "Another program used the disk before the clients began, or a cache has taken over since: run it again on a quiet machine.",
        };
        Finding::new("flush_step", Severity::Warning, message, hint)
    })
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
        let of = if is_wal { " of WAL" } else { "" };
        let message = format!("the virtual disk{of} ({machine}) says that it has no write cache, so that nothing is flushed");
        let hint = "Whether a commit survives a power cut is decided by the host: see how it caches the disk.";
        Finding::new("virtual_disk_without_flush", Severity::Info, message, hint)
    })
}
