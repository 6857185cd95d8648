//! What goes into a specification: the caller's arguments, and what is known of the server.

use serde::{Deserialize, Serialize};

use super::Stage;

/// The arguments of `run` and `start` as the caller gave them; None is NULL or not given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Asked {
    /// Name of the target; default `default`.
    pub target: Option<String>,
    /// Name of the workload; default `tpcb`.
    pub workload: Option<String>,
    /// pgbench's scale.
    pub scale: Option<i32>,
    /// Size of the data instead of a scale; see [`crate::units::parse_size`].
    pub size: Option<String>,
    /// Number of clients.
    pub clients: Option<i32>,
    /// Length of the measured window in microseconds.
    pub duration_us: Option<i64>,
    /// Transactions per client, instead of a duration.
    pub transactions: Option<i64>,
    /// Length of the warm-up in microseconds.
    pub warmup_us: Option<i64>,
    /// Transactions a second of all clients together.
    pub rate: Option<f64>,
    /// Latency limit in milliseconds.
    pub latency_limit_ms: Option<f64>,
    /// Seed of the random numbers.
    pub seed: Option<i64>,
    /// Settings of the clients' sessions: a JSON object.
    pub settings: Option<serde_json::Value>,
    /// Options of the workload: a JSON object; see [`super::Options`].
    pub options: Option<serde_json::Value>,
    /// Which part of the run this server does; only pgfsbench itself asks for less than the whole.
    #[serde(skip_serializing_if = "is_whole")]
    pub stage: Stage,
    /// A text of the caller's.
    pub label: Option<String>,
    /// Whether the work database is kept.
    pub keep: bool,
    /// Whether the run is done although it may harm others on this server.
    pub force: bool,
}

fn is_whole(stage: &Stage) -> bool {
    *stage == Stage::Whole
}

/// What is known of the server when a run is specified.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Processors of the machine.
    pub processors: u32,
    /// RAM in bytes: what `ram` in a size means.
    pub memory_bytes: u64,
    /// `shared_buffers` in bytes. Not used to choose anything yet.
    pub shared_buffers_bytes: u64,
    /// Background worker slots that are free in the server right now.
    pub free_worker_slots: u32,
    /// The setting `max_worker_processes`.
    pub max_worker_processes: u32,
    /// The setting `max_parallel_workers`.
    pub max_parallel_workers: u32,
    /// Whether the run is made by another server than the one that is asked.
    pub server_is_another: bool,
    /// The setting `pgfsbench.max_clients`: the slots in shared memory.
    pub max_clients: u32,
    /// Free bytes on the data directory's filesystem. Whether they suffice is checked elsewhere.
    pub data_free_bytes: u64,
    /// Names of the targets beside `default`.
    pub targets: Vec<String>,
    /// The seed of a run that was given none.
    pub random_seed: i64,
    /// Whether the target is a server that is reached by a connection: another machine, with facts of its own.
    pub far: bool,
}
