//! A second source: what a run has measured, against what settings and layers say.

use super::{
    super::{RunFacts, StorageFacts, WalSyncFacts},
    Code, Device,
    layers::is_volatile,
};
use crate::sys::{Layer, LayerKind};

/// A disk that rotates needs about half a turn.
const FASTEST_ROTATING_US: f64 = 1000.0;
/// A device with a volatile cache that flushes it needs more than this.
const FASTEST_VOLATILE_US: f64 = 50.0;
/// No request comes back from any device in this time: a sync that takes less has sent none.
const FASTEST_US: f64 = 5.0;
/// A sync of WAL takes as long as the probe, which does the same. Clocks of processors and caches of devices make a difference of some times.
const TIMES: f64 = 10.0;
/// From this many syncs on they can be compared.
const ENOUGH_SYNCS: u64 = 100;
/// From this much WAL on it can be compared.
const ENOUGH_BYTES: u64 = 1 << 20;
/// A filesystem that compresses may write less than the server, but not this many times less.
const LESS: u64 = 100;

/// The shortest time (microseconds) that a flush of a storage takes, and of which kind of device that is.
fn fastest_flush(facts: &RunFacts, storage: &StorageFacts) -> (f64, Device) {
    // A virtual machine does not know what its disk is.
    let is_real = facts.machine.virtualization.as_deref() == Some("none");
    if storage.power_loss_protected == Some(true) {
        (FASTEST_US, Device::Any)
    } else if is_real && rotates(storage) {
        (FASTEST_ROTATING_US, Device::Rotating)
    } else if storage.write_cache.as_deref() == Some("write back") {
        (FASTEST_VOLATILE_US, Device::VolatileCache)
    } else {
        (FASTEST_US, Device::Any)
    }
}

/// True if nothing but disks that rotate is below. An image may be in a cache, and an SSD may be one (bcache, LVM).
fn rotates(storage: &StorageFacts) -> bool {
    let layers = storage.layers.as_deref().unwrap_or_default();
    let is_still = |layer: &Layer| {
        use LayerKind::{Disk, Memory, Network, PersistentMemory, Uml};
        let is_disk = matches!(layer.kind, Disk | Memory | Network | PersistentMemory | Uml);
        is_disk && layer.queue.as_ref().and_then(|queue| queue.rotational) == Some(false)
    };
    let may_cache = |layer: &Layer| layer.kind == LayerKind::Loop || is_still(layer);
    storage.rotational == Some(true) && !layers.iter().any(may_cache)
}

/// All contradictions of a run.
pub(super) fn of(facts: &RunFacts) -> Vec<Code> {
    let (storage, _) = facts.commit_storage();
    let codes = [
        too_fast(facts, storage),
        no_flushes(&facts.wal_sync, storage),
        no_writes(&facts.wal_sync),
    ];
    codes.into_iter().flatten().collect()
}

fn too_fast(facts: &RunFacts, storage: &StorageFacts) -> Option<Code> {
    let (fastest, device) = fastest_flush(facts, storage);
    let probe_us = probe(facts);
    if let Some(us) = probe_us.filter(|us| *us < fastest) {
        return Some(Code::FlushTooFast { us, device });
    }
    let us = mean_sync_us(&facts.wal_sync)?;
    if us < fastest {
        return Some(Code::SyncTooFast { us, device });
    }
    // A probe is slow, too, while the machine still writes what was loaded: only the second one is known to be of a quiet machine.
    facts.flush.after_us?;
    let probe_us = probe_us.filter(|probe_us| us * TIMES < *probe_us)?;
    Some(Code::SyncBelowProbe { us, probe_us })
}

/// The shorter one of the two probes.
fn probe(facts: &RunFacts) -> Option<f64> {
    let before = facts.flush.before_us?;
    Some(
        facts
            .flush
            .after_us
            .map_or(before, |after| f64::min(before, after)),
    )
}

/// The most that one sync of WAL took in the mean. A server does one at a time, and each takes a part of the window of its own,
/// however many commits share it.
fn mean_sync_us(wal: &WalSyncFacts) -> Option<f64> {
    let syncs = wal.syncs.filter(|n| *n >= ENOUGH_SYNCS)? as f64;
    let of_window = wal.window_ms? * servers(wal) as f64;
    let measured = wal.sync_ms.unwrap_or(of_window);
    Some(f64::min(of_window, measured) * 1000.0 / syncs)
}

/// Servers of the run.
fn servers(wal: &WalSyncFacts) -> u64 {
    wal.servers.unwrap_or(1).max(1)
}

/// Each sync of WAL of a server needs a flush of its own where a device has a cache. Servers on one filesystem share flushes. The kernel does not flush a device that says that it has
/// none; the devices below it may have one. A write of open_datasync may have the flush in it.
fn no_flushes(wal: &WalSyncFacts, storage: &StorageFacts) -> Option<Code> {
    let syncs = wal.syncs.filter(|n| *n >= ENOUGH_SYNCS)?;
    let flushes = wal.device_flushes?;
    let layers = storage.layers.as_deref().unwrap_or_default();
    let has_cache = storage.write_cache.as_deref() == Some("write back");
    let needs_flushes = has_cache || layers.iter().any(is_volatile);
    let is_flushed = needs_flushes && !wal.method.as_deref()?.starts_with("open_");
    let are_few = flushes.saturating_mul(TIMES as u64) < syncs / servers(wal);
    (is_flushed && are_few).then_some(Code::NoFlushes { syncs, flushes })
}

fn no_writes(wal: &WalSyncFacts) -> Option<Code> {
    wal.syncs.filter(|n| *n >= ENOUGH_SYNCS)?;
    let wal_bytes = wal.wal_bytes.filter(|bytes| *bytes >= ENOUGH_BYTES)?;
    let device_bytes = wal.device_write_bytes?;
    (device_bytes.saturating_mul(LESS) < wal_bytes).then_some(Code::NoWrites {
        wal_bytes,
        device_bytes,
    })
}
