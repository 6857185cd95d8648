//! Durability: codes of what a COMMIT promises, and their words.

use serde::{Deserialize, Serialize};

use crate::{
    units::{format_bytes, format_count, format_microseconds},
    wording,
};

/// Classes of durability, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// A power cut loses commits that were reported.
    NotDurable,
    /// A layer is not known, or a measurement contradicts the settings.
    NotKnown,
    /// Durable if the device keeps its cache when power is lost, as the target's owner has declared.
    Declared,
    /// Durable as far as settings and layers tell; no power cut has tried it.
    BySettings,
    /// Durable as far as settings and layers tell, and no power cut has lost a commit.
    Shown,
}

/// One fact that decides about durability. Times are microseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Code {
    FsyncOff,
    SynchronousCommitOff,
    FullPageWritesOff,
    UnloggedTables,
    /// The filesystem or disk of this name is in memory.
    InMemory {
        what: String,
    },
    /// A filesystem does not flush its device.
    BarriersOff,
    /// The kernel sends no flush to the device of this name, since its queue/write_cache says "write through".
    FlushesOff {
        device: String,
        /// True if the memory of this machine may hold what was not flushed.
        in_memory: bool,
    },
    /// jfs never flushes, and the device's cache is volatile.
    JfsDoesNotFlush,
    /// A sync does nothing on this filesystem, because of this option or property.
    SyncDoesNothing {
        filesystem: String,
        option: String,
    },
    /// zfs does not flush its devices, because of a parameter of its module.
    ZfsDoesNotFlush,
    /// pgfsbench does not know when a filesystem of this type writes to a disk.
    UnknownFilesystem {
        filesystem: String,
    },
    /// The devices below a filesystem of this type are not known.
    UnknownDevices {
        filesystem: String,
    },
    /// The property sync of zfs is not known.
    UnknownZfsSync,
    /// This process cannot see a layer.
    UnknownLayer {
        layer: String,
    },
    /// The disk of this name is on another machine.
    RemoteDisk {
        disk: String,
    },
    /// The disk of this name is memory that may or may not keep its contents.
    PersistentMemory {
        disk: String,
    },
    /// The run's own probe took less time than a flush of such a device.
    FlushTooFast {
        us: f64,
        device: Device,
    },
    /// WAL was synced in less time than a flush of such a device takes.
    SyncTooFast {
        us: f64,
        device: Device,
    },
    /// WAL was synced in much less time than the run's own probe took.
    SyncBelowProbe {
        us: f64,
        probe_us: f64,
    },
    /// WAL was synced, and the device got few requests to flush or none.
    NoFlushes {
        syncs: u64,
        flushes: u64,
    },
    /// WAL was written and synced, and the device wrote almost nothing.
    NoWrites {
        wal_bytes: u64,
        device_bytes: u64,
    },
    /// The target's owner has declared that the device keeps its cache when power is lost.
    PowerLossProtected,
    /// Power cuts on this target have lost or damaged data.
    FailedPowerCuts {
        failed: u64,
        cuts: u64,
    },
    /// Power cuts on this target have lost and damaged nothing.
    SurvivedPowerCuts {
        cuts: u64,
    },
    /// An array of this level has a write hole: a power cut and then a lost disk lose data. A power cut alone does not.
    WriteHole {
        level: String,
    },
    /// An array of this level has a write hole and lacks members: a power cut alone loses data.
    DegradedWriteHole {
        level: String,
    },
    /// The workload syncs by itself; settings of the server do not count.
    WhereATestSyncs,
    /// A code of another version.
    #[serde(other)]
    Other,
}

/// A kind of device, by how long it takes to flush it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Device {
    Any,
    VolatileCache,
    Rotating,
}

impl Device {
    /// The name of the kind, with an article.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Any => "any device",
            Self::VolatileCache => "a device with a volatile write cache",
            Self::Rotating => "a disk that rotates",
        }
    }
}

/// The name of a layer of which only the upper one is known.
pub const UNKNOWN_LOWER_LAYER: &str = "what a layer lies on";

impl Code {
    /// A contradiction with its figures; other codes have none.
    pub fn with_figures(&self) -> String {
        match self {
            Self::FlushTooFast { us, device } => format!(
                "a flush takes {} (median), too short for {}",
                format_microseconds(*us),
                device.as_str()
            ),
            Self::SyncTooFast { us, device } => format!(
                "a sync of WAL takes {} (mean), too short for {}",
                format_microseconds(*us),
                device.as_str()
            ),
            Self::SyncBelowProbe { us, probe_us } => format!(
                "a sync of WAL takes {} (mean), and a flush {} (median)",
                format_microseconds(*us),
                format_microseconds(*probe_us)
            ),
            Self::NoFlushes { syncs, flushes } => {
                format!("WAL was synced {syncs} times, and the device was flushed {flushes} times")
            }
            Self::NoWrites {
                wal_bytes,
                device_bytes,
            } => format!(
                "{} of WAL were synced, and the device wrote {}",
                format_bytes(*wal_bytes),
                format_bytes(*device_bytes)
            ),
            other => other.words(),
        }
    }

    /// The code in words, to stand in a list: the same for all runs alike, without figures.
    pub fn words(&self) -> String {
        wording::say("durability", || self.in_full())
    }

    fn in_full(&self) -> String {
        match self {
            Self::FsyncOff => "fsync off".into(),
            Self::SynchronousCommitOff => "synchronous_commit off".into(),
            Self::FullPageWritesOff => "full_page_writes off".into(),
            Self::UnloggedTables => "unlogged tables".into(),
            Self::InMemory { what } => format!("{what} is in memory"),
            Self::BarriersOff => "barriers off".into(),
            Self::FlushesOff { device, .. } => {
                format!("flushes of {device} are switched off by queue/write_cache")
            }
            Self::JfsDoesNotFlush => "jfs does not flush the device's cache".into(),
            Self::SyncDoesNothing { filesystem, option } => {
                format!("a sync does nothing on {filesystem} with {option}")
            }
            Self::ZfsDoesNotFlush => "zfs does not flush its devices".into(),
            Self::UnknownFilesystem { filesystem } => {
                format!("pgfsbench does not know when {filesystem} writes to a disk")
            }
            Self::UnknownDevices { filesystem } => {
                format!("the devices below {filesystem} cannot be seen")
            }
            Self::UnknownZfsSync => "the property sync of zfs cannot be read".into(),
            Self::UnknownLayer { layer } => format!("{layer} cannot be seen"),
            Self::RemoteDisk { disk } => format!("the disk {disk} is on another machine"),
            Self::PersistentMemory { disk } => {
                format!("whether {disk} keeps its contents cannot be seen")
            }
            Self::FlushTooFast { device, .. } => {
                format!("a flush is too short for {}", device.as_str())
            }
            Self::SyncTooFast { device, .. } => {
                format!("a sync of WAL is too short for {}", device.as_str())
            }
            Self::SyncBelowProbe { .. } => "a sync of WAL is shorter than a flush".into(),
            Self::NoFlushes { .. } => "WAL was synced, and the device was not flushed".into(),
            Self::NoWrites { .. } => "WAL was synced, and the device did not write it".into(),
            Self::WriteHole { level } => format!("{level} has a write hole"),
            Self::DegradedWriteHole { level } => {
                format!("{level} lacks disks and has a write hole")
            }
            Self::Other => "another version of pgfsbench knows the reason".into(),
            Self::FailedPowerCuts { failed, cuts } => {
                format!("{failed} of {cuts} power cuts lost or damaged data")
            }
            Self::PowerLossProtected | Self::WhereATestSyncs | Self::SurvivedPowerCuts { .. } => {
                String::new()
            }
        }
    }
}

/// The codes in words, as a list.
pub fn list(codes: &[&Code]) -> String {
    let words: Vec<String> = codes.iter().map(|code| code.words()).collect();
    words.join(", ")
}

/// The promise of a COMMIT. `codes` are the reasons for the class.
pub fn sentence(class: Class, codes: &[&Code]) -> String {
    wording::say("durability", || match class {
        Class::NotDurable => format!("not durable: {}", list(codes)),
        Class::NotKnown => format!("not known: {}", list(codes)),
        Class::Declared => format!(
            "durable by the declared power-loss protection: {}",
            list(codes)
        ),
        Class::BySettings => {
            let place = match codes.contains(&&Code::WhereATestSyncs) {
                true => " where a test syncs,",
                false => "",
            };
            format!("durable{place} by settings (not tried){}", holes(codes))
        }
        Class::Shown => {
            let cuts = format_count(fewest_power_cuts(codes), "power cut");
            format!("durable, shown by {cuts}{}", holes(codes))
        }
    })
}

/// The write holes among the codes, behind a sentence.
fn holes(codes: &[&Code]) -> String {
    let holes = codes
        .iter()
        .filter(|code| matches!(code, Code::WriteHole { .. }));
    holes.map(|hole| format!("; {}", hole.words())).collect()
}

/// Several runs may have had different numbers of power cuts.
fn fewest_power_cuts(codes: &[&Code]) -> u64 {
    let cuts = codes.iter().filter_map(|code| match code {
        Code::SurvivedPowerCuts { cuts } => Some(*cuts),
        _ => None,
    });
    cuts.min().unwrap_or(0)
}
