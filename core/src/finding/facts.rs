//! The facts of a run by which it is judged. None: not known.

mod crash;
mod machine;
mod power_cuts;
mod server;
mod storage;

use serde::{Deserialize, Serialize};

pub use crash::CrashFacts;
pub use machine::MachineFacts;
pub use power_cuts::PowerCutFacts;
pub use server::{CheckpointFacts, ServerFacts, WaitFacts, WalFacts, WalSyncFacts};
pub use storage::{FlushFacts, StorageFacts};

pub use crate::statement::Statements;

use crate::spec::{Cache, Spec, Workload};

/// Everything that the rules look at. None: not known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunFacts {
    /// True for the quick look, which needs neither checkpoints nor data beyond RAM.
    pub quick: bool,
    pub workload: Option<Workload>,
    pub clients: Option<u32>,
    /// pgbench's scale.
    pub scale: Option<u32>,
    /// The cache that was asked for.
    pub cache: Option<Cache>,
    /// Transactions a second that were scheduled; None without a rate.
    pub rate: Option<f64>,
    /// Bytes of tables and keys.
    pub data_bytes: Option<u64>,
    /// The setting `shared_buffers`, in bytes.
    pub shared_buffers_bytes: Option<u64>,
    /// RAM in bytes.
    pub memory_bytes: Option<u64>,
    /// Checkpoints that began and ended within the measured window.
    pub checkpoints: Option<u32>,
    /// True if the server logged all of them, so that each has a row.
    pub checkpoints_logged: Option<bool>,
    /// The setting `log_checkpoints`.
    pub log_checkpoints: Option<bool>,
    /// Statistics views that were reset in the measured window.
    pub reset_views: Option<Vec<String>>,
    /// Are the statements of the workload known?
    pub statements: Option<Statements>,
    /// The setting `fsync`.
    pub fsync: Option<bool>,
    /// The setting `full_page_writes`.
    pub full_page_writes: Option<bool>,
    /// True if the tables were unlogged.
    pub unlogged: Option<bool>,
    /// The setting `synchronous_commit` as the clients had it.
    pub synchronous_commit: Option<String>,
    /// Holders of an old xmin that held back vacuum while the run was measured, without the run itself.
    pub xmin_holders: Option<Vec<XminHolder>>,
    /// The filesystem of the data that was measured.
    pub data_place: Option<Place>,
    /// The filesystem of WAL.
    pub wal_place: Option<Place>,
    /// Transactions committed in the measured window.
    pub measured: Option<u64>,
    /// Transactions that failed in it.
    pub failed: Option<u64>,
    /// Transactions that were skipped in it, being later than the latency limit.
    pub skipped: Option<u64>,
    /// Transactions a second of each whole second of the window, in order. A shorter last one is left out.
    pub seconds_tps: Option<Vec<f64>>,
    /// True if parts of the window did unlike work, one after the other: their seconds are not compared.
    pub has_unlike_parts: Option<bool>,
    /// Mean latency in milliseconds; under a rate from the time when each transaction was due.
    pub latency_ms: Option<f64>,
    /// Mean duration from the real start, under a rate only.
    pub service_ms: Option<f64>,
    /// shared_buffers of the server that asked for the run, when that is another one on the same machine.
    pub asking_server_shared_buffers_bytes: Option<u64>,
    /// The storage of the data.
    pub storage: StorageFacts,
    /// The storage of WAL, when that is on another filesystem.
    pub wal_storage: Option<StorageFacts>,
    /// Further filesystems that commits and checkpoints depend on: those of pg_control, pg_xact and the like.
    pub other_storage: Vec<StorageFacts>,
    /// The data after the crash, in a run with the option `crash`.
    pub crash: CrashFacts,
    /// Power cuts on the same target.
    pub power_cuts: PowerCutFacts,
    pub flush: FlushFacts,
    pub machine: MachineFacts,
    pub server: ServerFacts,
    /// Checkpoints by their causes.
    pub checkpoints_seen: CheckpointFacts,
    pub waits: WaitFacts,
    pub wal: WalFacts,
    pub wal_sync: WalSyncFacts,
    /// The servers of a run that had several.
    pub instances: Option<InstanceFacts>,
}

/// Servers of a run that were measured together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct InstanceFacts {
    /// From the start of the first window to that of the last one, in milliseconds.
    pub skew_ms: f64,
    /// Length of a window in milliseconds.
    pub window_ms: f64,
    /// Codes of warnings that the first server has not, and another one has.
    pub findings: Vec<String>,
}

impl RunFacts {
    /// The storage that commits wait for, and whether it is that of WAL alone.
    pub fn commit_storage(&self) -> (&StorageFacts, bool) {
        let places = self.data_place.as_ref().zip(self.wal_place.as_ref());
        // Each subvolume of btrfs has a number of its own.
        let is_same = places.is_some_and(|(data, wal)| data.is_same_filesystem(wal));
        match &self.wal_storage {
            Some(wal) if !is_same => (wal, true),
            _ => (&self.storage, false),
        }
    }

    /// The transactions of each second, if all seconds had the same work.
    pub fn alike_seconds(&self) -> Option<&[f64]> {
        let is_alike = self.has_unlike_parts != Some(true);
        self.seconds_tps.as_deref().filter(|_| is_alike)
    }

    /// The facts that follow from the specification; the others unknown.
    pub fn of_spec(spec: &Spec) -> Self {
        Self {
            quick: spec.is_quick(),
            workload: Some(spec.workload),
            clients: Some(spec.clients),
            scale: Some(spec.scale),
            rate: spec.rate,
            unlogged: Some(spec.options.unlogged),
            data_bytes: Some(spec.data_bytes()),
            has_unlike_parts: Some(spec.workload.has_unlike_parts(spec)),
            ..Self::default()
        }
    }
}

/// The place of files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Major number of st_dev.
    pub major: u32,
    /// Minor number of it.
    pub minor: u32,
    /// The source of the mount: mostly a device.
    pub source: String,
    /// The filesystem's type.
    pub fs_type: String,
    pub mount_point: String,
}

impl Place {
    /// True if both are on the same filesystem. The same st_dev says so. Each subvolume of btrfs has its own, so the same device and type
    /// say so, too. Files of an overlay have those of the layers below, so the same type and mount point say so.
    pub fn is_same_filesystem(&self, other: &Place) -> bool {
        let same_number = (self.major, self.minor) == (other.major, other.minor);
        let same_source = self.source.starts_with('/')
            && self.source == other.source
            && self.fs_type == other.fs_type;
        let same_overlay = self.fs_type == "overlay"
            && self.fs_type == other.fs_type
            && self.mount_point == other.mount_point;
        same_number || same_source || same_overlay
    }
}

/// The kinds of things that hold back vacuum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum XminHolderKind {
    Session,
    /// A replication slot.
    Slot,
    PreparedTransaction,
    /// A standby with hot_standby_feedback.
    Walsender,
}

impl XminHolderKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Slot => "replication slot",
            Self::PreparedTransaction => "prepared transaction",
            Self::Walsender => "standby",
        }
    }
}

/// One that holds back vacuum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct XminHolder {
    pub kind: XminHolderKind,
    /// Which one: process id, name of the slot, gid.
    pub name: String,
    /// Transaction ids that it holds back.
    pub age: Option<u64>,
}
