//! What is known of the server while a run was on.

use serde::{Deserialize, Serialize};

/// The server. None is: not known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerFacts {
    /// The setting autovacuum.
    pub autovacuum: Option<bool>,
    /// How often tables of the run were vacuumed while it was measured.
    pub vacuums: Option<u64>,
    /// Seconds in which one of them was being vacuumed.
    pub vacuum_seconds: Option<u64>,
    /// Dead rows in them when the clients started.
    pub dead_rows_at_start: Option<u64>,
    /// Whether its statistics were reset meanwhile.
    pub statistics_reset: Option<bool>,
    /// Whether it was restarted meanwhile.
    pub restarted: Option<bool>,
    /// Whether WAL is archived.
    pub archiving: Option<bool>,
    /// How many WAL senders there are.
    pub walsenders: Option<u64>,
    /// How many replication slots there are.
    pub slots: Option<u64>,
    /// Whether commits wait for standbys.
    pub synchronous_standbys: Option<bool>,
}

/// Checkpoints that began in the window. None is: not known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CheckpointFacts {
    /// Those that began because of checkpoint_timeout.
    pub timed: Option<u32>,
    /// Those that began for other reasons: max_wal_size, CHECKPOINT, a backup.
    pub requested: Option<u32>,
    /// Mean of the WAL between two of them.
    pub distance_bytes: Option<f64>,
}

/// What the clients waited for, as shares of their time, 0 to 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WaitFacts {
    /// Heavyweight locks: rows of others.
    pub lock_share: Option<f64>,
}
