//! Durability: what a COMMIT of a run promises, decided from the settings, from every layer of the storage below, and from what the
//! run has measured.
//!
//! [`Durability::of`] is a pure function of [`RunFacts`]. Its result is a list of [`Code`]s. [`Durability::sentence`] is the only place
//! that makes words of them, and nothing reads these words again.

mod contradiction;
mod layers;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(super) use layers::of_storage;

use super::{RunFacts, facts::PowerCutFacts};
use crate::{
    texts,
    units::{format_bytes, format_microseconds},
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

impl Code {
    fn class(&self) -> Class {
        match self {
            Self::FsyncOff
            | Self::SynchronousCommitOff
            | Self::FullPageWritesOff
            | Self::UnloggedTables
            | Self::InMemory { .. }
            | Self::BarriersOff
            | Self::FlushesOff { .. }
            | Self::JfsDoesNotFlush
            | Self::SyncDoesNothing { .. }
            | Self::ZfsDoesNotFlush
            | Self::FailedPowerCuts { .. } => Class::NotDurable,
            Self::UnknownFilesystem { .. }
            | Self::UnknownDevices { .. }
            | Self::UnknownZfsSync
            | Self::UnknownLayer { .. }
            | Self::RemoteDisk { .. }
            | Self::PersistentMemory { .. }
            | Self::FlushTooFast { .. }
            | Self::SyncTooFast { .. }
            | Self::SyncBelowProbe { .. }
            | Self::NoFlushes { .. }
            | Self::NoWrites { .. }
            | Self::Other => Class::NotKnown,
            Self::PowerLossProtected => Class::Declared,
            Self::WhereATestSyncs => Class::BySettings,
            Self::SurvivedPowerCuts { .. } => Class::Shown,
        }
    }

    /// The code that runs with other measurements have, too.
    fn without_figures(&self) -> Self {
        match self {
            Self::FlushTooFast { device, .. } => Self::FlushTooFast {
                us: 0.0,
                device: *device,
            },
            Self::SyncTooFast { device, .. } => Self::SyncTooFast {
                us: 0.0,
                device: *device,
            },
            Self::SyncBelowProbe { .. } => Self::SyncBelowProbe {
                us: 0.0,
                probe_us: 0.0,
            },
            Self::NoFlushes { .. } => Self::NoFlushes {
                syncs: 0,
                flushes: 0,
            },
            Self::NoWrites { .. } => Self::NoWrites {
                wal_bytes: 0,
                device_bytes: 0,
            },
            Self::FailedPowerCuts { .. } => Self::FailedPowerCuts { failed: 0, cuts: 0 },
            other => other.clone(),
        }
    }

    /// True if a device that keeps its cache makes up for it.
    fn is_covered_by_protection(&self) -> bool {
        matches!(
            self,
            Self::BarriersOff
                | Self::FlushesOff {
                    in_memory: false,
                    ..
                }
                | Self::JfsDoesNotFlush
                | Self::ZfsDoesNotFlush
        )
    }

    /// A contradiction with its figures; other codes have none.
    pub(super) fn with_figures(&self) -> String {
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
    pub(super) fn words(&self) -> String {
        texts::say("durability", || self.in_full())
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

/// Promises of a COMMIT, as codes. No code: durable by settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Durability(Vec<Code>);

impl<'de> Deserialize<'de> for Durability {
    /// Reads what any version, or a forged file, has stored: a code that cannot be read is [`Code::Other`].
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let codes = match Value::deserialize(deserializer)? {
            Value::Array(codes) => codes,
            other => vec![other],
        };
        let read = |code| Code::deserialize(code).unwrap_or(Code::Other);
        Ok(Self::of_codes(codes.into_iter().map(read)))
    }
}

impl Durability {
    /// These codes, each once.
    pub fn of_codes(codes: impl IntoIterator<Item = Code>) -> Self {
        let mut all: Vec<Code> = Vec::new();
        for code in codes {
            if !all.contains(&code) {
                all.push(code);
            }
        }
        Self(all)
    }

    /// The promises of a COMMIT of a run; None where the server's settings are not known.
    pub fn of(facts: &RunFacts) -> Option<Self> {
        let mut codes = of_settings(facts)?;
        let below = below(facts);
        let is_covered = below.iter().any(Code::is_covered_by_protection);
        let is_protected = facts.storage.power_loss_protected == Some(true);
        codes.extend(below);
        codes.extend((is_covered && is_protected).then_some(Code::PowerLossProtected));
        codes.extend(contradictions(facts));
        let syncs_itself = facts
            .workload
            .is_some_and(|workload| workload.syncs_itself());
        codes.extend(syncs_itself.then_some(Code::WhereATestSyncs));
        codes.extend(of_power_cuts(&facts.power_cuts));
        Some(Self::of_codes(codes))
    }

    /// The promise that the layers below data, WAL and the server's other files allow a COMMIT, whatever the settings are.
    pub fn of_layers(facts: &RunFacts) -> Self {
        Self::of_codes(below(facts))
    }

    /// The codes of several runs together.
    pub fn together(all: &[Self]) -> Option<Self> {
        let codes = all
            .iter()
            .flat_map(|durability| durability.0.iter().cloned());
        (!all.is_empty()).then(|| Self::of_codes(codes))
    }

    /// The codes.
    pub fn codes(&self) -> &[Code] {
        &self.0
    }

    /// The class: that of its weakest code.
    pub fn class(&self) -> Class {
        let is_declared = self.0.contains(&Code::PowerLossProtected);
        let counts = |code: &&Code| !(is_declared && code.is_covered_by_protection());
        let codes = self.0.iter().filter(counts).map(Code::class);
        codes.min().unwrap_or(Class::BySettings)
    }

    /// Why commits may be lost; None unless the class is [`Class::NotDurable`].
    pub fn why_not(&self) -> Option<String> {
        (self.class() == Class::NotDurable).then(|| self.reasons(Class::NotDurable))
    }

    /// Whether it promises the same as another one: the figures of measurements do not count.
    pub fn is_as(&self, other: &Self) -> bool {
        let (own, theirs) = (self.telling(), other.telling());
        let all_in = |a: &[Code], b: &[Code]| a.iter().all(|code| b.contains(code));
        // Power cuts show a promise, and change none.
        let promise = |durability: &Self| durability.class().min(Class::BySettings);
        promise(self) == promise(other) && all_in(&own, &theirs) && all_in(&theirs, &own)
    }

    /// The codes that the sentence names, without figures.
    fn telling(&self) -> Vec<Code> {
        let class = self.class();
        let tells = |code: &&Code| match class {
            Class::NotDurable | Class::Declared => code.class() == Class::NotDurable,
            Class::NotKnown => code.class() == Class::NotKnown,
            Class::BySettings | Class::Shown => **code == Code::WhereATestSyncs,
        };
        self.0
            .iter()
            .filter(tells)
            .map(Code::without_figures)
            .collect()
    }

    /// True if commits are durable, as far as settings and declarations tell.
    pub fn is_durable(&self) -> bool {
        self.class() >= Class::Declared
    }

    /// True if no power cut has lost a commit, and nothing else speaks against it.
    pub fn is_shown(&self) -> bool {
        self.class() == Class::Shown
    }

    /// True if power cuts have lost or damaged data.
    pub fn has_failed_power_cuts(&self) -> bool {
        let is_failure = |code: &Code| matches!(code, Code::FailedPowerCuts { .. });
        self.0.iter().any(is_failure)
    }

    /// The promise of a COMMIT, in words.
    pub fn sentence(&self) -> String {
        texts::say("durability", || self.in_words())
    }

    fn in_words(&self) -> String {
        match self.class() {
            Class::NotDurable => format!("not durable: {}", self.reasons(Class::NotDurable)),
            Class::NotKnown => format!("not known: {}", self.reasons(Class::NotKnown)),
            Class::Declared => format!(
                "durable by the declared power-loss protection: {}",
                self.reasons(Class::NotDurable)
            ),
            Class::BySettings if self.0.contains(&Code::WhereATestSyncs) => {
                "durable where a test syncs, by settings (not tried)".into()
            }
            Class::BySettings => "durable by settings (not tried)".into(),
            Class::Shown => format!(
                "durable, shown by {} power cuts",
                self.survived_power_cuts()
            ),
        }
    }

    /// The fewest power cuts of its codes: those of several runs may differ.
    fn survived_power_cuts(&self) -> u64 {
        let cuts = self.0.iter().filter_map(|code| match code {
            Code::SurvivedPowerCuts { cuts } => Some(*cuts),
            _ => None,
        });
        cuts.min().unwrap_or(0)
    }

    fn reasons(&self, class: Class) -> String {
        let codes = self.0.iter().filter(|code| code.class() == class);
        codes.map(Code::words).collect::<Vec<_>>().join(", ")
    }
}

/// The codes of all layers below data, WAL and the server's other files, in the order of their words.
fn below(facts: &RunFacts) -> Vec<Code> {
    let places = [Some(&facts.storage), facts.wal_storage.as_ref()];
    let places = places.into_iter().flatten().chain(&facts.other_storage);
    let codes = places.flat_map(of_storage);
    let mut codes = Durability::of_codes(codes).0;
    codes.sort_by_key(Code::words);
    codes
}

/// Measurements of a run that its settings and layers do not allow; none where a layer explains them.
pub fn contradictions(facts: &RunFacts) -> Vec<Code> {
    let explains = |code: &Code| code.class() == Class::NotDurable;
    match below(facts).iter().any(explains) {
        true => Vec::new(),
        false => contradiction::of(facts),
    }
}

fn of_power_cuts(facts: &PowerCutFacts) -> Option<Code> {
    let cuts = facts.cuts.filter(|cuts| *cuts > 0)?;
    Some(match facts.failed? {
        0 => Code::SurvivedPowerCuts { cuts },
        failed => Code::FailedPowerCuts { failed, cuts },
    })
}

fn of_settings(facts: &RunFacts) -> Option<Vec<Code>> {
    let synchronous_commit = facts.synchronous_commit.as_deref()?;
    let off = [
        (!facts.fsync?).then_some(Code::FsyncOff),
        (synchronous_commit == "off").then_some(Code::SynchronousCommitOff),
        (!facts.full_page_writes?).then_some(Code::FullPageWritesOff),
        (facts.unlogged == Some(true)).then_some(Code::UnloggedTables),
    ];
    Some(off.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests;
