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
    /// True if it was restarted meanwhile.
    pub restarted: Option<bool>,
    /// True if WAL is archived.
    pub archiving: Option<bool>,
    /// WAL senders.
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
}

/// Waits of the clients, as shares of their time, 0 to 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WaitFacts {
    /// Heavyweight locks: rows of others.
    pub lock_share: Option<f64>,
}
