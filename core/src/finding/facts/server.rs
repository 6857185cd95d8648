//! Facts about the server during a run.

use serde::{Deserialize, Serialize};

/// The server. None: not known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerFacts {
    /// The setting autovacuum.
    pub autovacuum: Option<bool>,
    /// Vacuums of the run's tables in the measured window.
    pub vacuums: Option<u64>,
    /// Seconds in which one of them was being vacuumed.
    pub vacuum_seconds: Option<u64>,
    /// Dead rows in them when the clients started.
    pub dead_rows_at_start: Option<u64>,
    /// True if its statistics were reset meanwhile.
    pub statistics_reset: Option<bool>,
    /// True if it extends files by posix_fallocate(): see the setting file_extend_method.
    pub extends_by_fallocate: Option<bool>,
    /// True if it was restarted meanwhile.
    pub restarted: Option<bool>,
    /// True if WAL is archived.
    pub archiving: Option<bool>,
    pub walsenders: Option<u64>,
    /// Replication slots.
    pub slots: Option<u64>,
    /// True if commits wait for standbys.
    pub synchronous_standbys: Option<bool>,
}

/// Checkpoints that began in the window. None: not known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CheckpointFacts {
    /// Checkpoints that began because of checkpoint_timeout.
    pub timed: Option<u32>,
    /// Checkpoints that began for other reasons: max_wal_size, CHECKPOINT, a backup.
    pub requested: Option<u32>,
    /// Mean of the WAL between two of them.
    pub distance_bytes: Option<f64>,
    /// How many checkpoint_timeouts the window is long.
    pub cycles: Option<f64>,
}

/// Segments of WAL in the window. None: not known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WalFacts {
    /// Files that were ready when it began: of segments that were to come.
    pub ready: Option<u64>,
    /// Files that were ready when it ended.
    pub left: Option<u64>,
    /// Segments that were begun in it.
    pub begun: Option<u64>,
    /// Files that were created in it, where there was none that could be used again. Not known where checkpoints are not logged.
    pub created: Option<u64>,
    /// The setting wal_segment_size, in bytes.
    pub segment_bytes: Option<u64>,
    /// The setting max_wal_size, in bytes.
    pub max_bytes: Option<u64>,
    /// The setting checkpoint_completion_target.
    pub completion: Option<f64>,
    /// The setting wal_recycle.
    pub recycles: Option<bool>,
}

/// Waits of the clients, as shares of their time, 0 to 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WaitFacts {
    /// Heavyweight locks: rows of others.
    pub lock_share: Option<f64>,
}

/// Syncs of WAL in the window, and what the device below WAL did meanwhile. None: not known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WalSyncFacts {
    /// Servers of the run, whose figures are added up here; None: one.
    pub servers: Option<u64>,
    /// How often the clients synced WAL.
    pub syncs: Option<u64>,
    /// Time of these syncs; None while track_wal_io_timing is off.
    pub sync_ms: Option<f64>,
    /// Length of the window.
    pub window_ms: Option<f64>,
    /// Bytes of WAL in it, of all processes.
    pub wal_bytes: Option<u64>,
    /// The setting wal_sync_method.
    pub method: Option<String>,
    /// Requests to flush that the device below WAL completed.
    pub device_flushes: Option<u64>,
    /// Bytes that this device wrote.
    pub device_write_bytes: Option<u64>,
}
