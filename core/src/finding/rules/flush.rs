//! Flushes: whether they can be real, and whether they changed.

use super::super::{Finding, RunFacts, Severity, StorageFacts};
use crate::sys::{self, LayerKind};

/// A disk that rotates needs about half a turn; below this there is a cache that does not flush.
const FASTEST_ROTATING_US: f64 = 1000.0;
/// A device with a volatile cache that flushes it needs more than this.
const FASTEST_US: f64 = 50.0;
/// By how much flushes must have changed.
const STEP: f64 = 2.5;
/// And by how many microseconds, since the shortest ones differ by chance.
const STEP_US: f64 = 200.0;

fn microseconds(us: f64) -> String {
    match us {
        us if us < 100.0 => format!("{us:.1} us"),
        us if us < 10_000.0 => format!("{us:.0} us"),
        us => format!("{:.1} ms", us / 1000.0),
    }
}

/// Nothing reaches a disk in that time.
pub fn fsync_too_fast(facts: &RunFacts) -> Option<Finding> {
    let (storage, _) = facts.commit_storage();
    let flush = match (facts.flush.before_us?, facts.flush.after_us) {
        (before, Some(after)) => f64::min(before, after),
        (before, None) => before,
    };
    // Told by findings of their own.
    if storage.memory().is_some() || storage.is_protected() {
        return None;
    }
    // A virtual machine does not know what its disk is.
    let is_real = facts.machine.virtualization.as_deref() == Some("none")
        && storage.layers_of(LayerKind::Loop).next().is_none();
    let (fastest, kind) = match (storage.rotational, storage.write_cache.as_deref()) {
        (Some(true), _) if is_real && waits_for_rotation(storage) => {
            (FASTEST_ROTATING_US, "a disk that rotates")
        }
        (_, Some("write back")) => (FASTEST_US, "a device with a volatile write cache"),
        _ => return None,
    };
    (flush < fastest).then(|| {
        let message = format!("a flush takes {} (median), too short for {kind}", microseconds(flush));
        let hint = "Something keeps writes in memory (a host's cache, a controller): see the durability of the run, and declare power_loss_protected => true for the target if it keeps them when power is lost.";
        Finding::new("fsync_too_fast", Severity::Warning, message, hint)
    })
}

/// False where a disk below does not rotate: a cache (bcache, LVM's) may flush to that disk alone.
fn waits_for_rotation(storage: &StorageFacts) -> bool {
    let layers = storage.layers.as_deref().unwrap_or_default();
    sys::all_rotate(layers) != Some(false)
}

/// The same probe before and after differs.
pub fn flush_step(facts: &RunFacts) -> Option<Finding> {
    let (before, after) = (facts.flush.before_us?, facts.flush.after_us?);
    let ratio = after.max(before) / after.min(before).max(0.1);
    (ratio > STEP && (after - before).abs() > STEP_US).then(|| {
        let message = format!("a flush took {} before the clients and {} after them (medians)",
            microseconds(before), microseconds(after));
        let hint = "A cloud disk's burst credits are used up, it is throttled, or somebody else uses it: run it longer, and again at another time.";
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
