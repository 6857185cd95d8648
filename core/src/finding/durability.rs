//! Durability: what a COMMIT of a run promises, decided from the settings, from every layer of the storage below, and from what the
//! run has measured.
//!
//! [`Durability::of`] is a pure function of [`RunFacts`]. Its result is a list of [`Code`]s. The room `texts` makes words of them, and
//! nothing reads these words again.

mod contradiction;
mod layers;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(super) use layers::of_storage;

use super::{RunFacts, facts::PowerCutFacts};
use crate::texts::durability as text;

pub use text::{Class, Code, Device};

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
            | Self::DegradedWriteHole { .. }
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
            Self::WhereATestSyncs | Self::WriteHole { .. } => Class::BySettings,
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

    fn is_write_hole(&self) -> bool {
        matches!(self, Self::WriteHole { .. })
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

    /// The class: that of its weakest code. Power cuts show durability in spite of a write hole, which takes a lost disk, too.
    pub fn class(&self) -> Class {
        let is_declared = self.0.contains(&Code::PowerLossProtected);
        let is_shown = self.0.iter().any(|code| code.class() == Class::Shown);
        let is_outweighed = |code: &&Code| {
            is_declared && code.is_covered_by_protection() || is_shown && code.is_write_hole()
        };
        let codes = self.0.iter().filter(|code| !is_outweighed(code));
        let codes = codes.map(Code::class);
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
        let class = self.class();
        let reasons = match class {
            Class::Declared => Class::NotDurable,
            class => class,
        };
        text::sentence(class, &self.of_class(reasons))
    }

    fn reasons(&self, class: Class) -> String {
        text::list(&self.of_class(class))
    }

    fn of_class(&self, class: Class) -> Vec<&Code> {
        let is_of =
            |code: &&Code| code.class() == class || (class == Class::Shown && code.is_write_hole());
        self.0.iter().filter(is_of).collect()
    }
}

/// The codes of all layers below data, WAL and the server's other files, in the order of the codes' names.
fn below(facts: &RunFacts) -> Vec<Code> {
    let places = [Some(&facts.storage), facts.wal_storage.as_ref()];
    let places = places.into_iter().flatten().chain(&facts.other_storage);
    let codes = places.flat_map(of_storage);
    let mut codes = Durability::of_codes(codes).0;
    codes.sort_by_key(|code| format!("{code:?}"));
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

/// Power cuts that show durability: less than 5 % fail, with a confidence of 95 %.
const FEWEST_POWER_CUTS: u64 = 59;

/// One failure decides, however many power cuts have passed.
fn of_power_cuts(facts: &PowerCutFacts) -> Option<Code> {
    let cuts = facts.cuts.filter(|cuts| *cuts > 0)?;
    match facts.failed? {
        0 => (cuts >= FEWEST_POWER_CUTS).then_some(Code::SurvivedPowerCuts { cuts }),
        failed => Some(Code::FailedPowerCuts { failed, cuts }),
    }
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
