//! Facts about the machine during a run.

use serde::{Deserialize, Serialize};

use crate::sys::cgroup::Felt;

/// The machine. Shares are of the time of all processors in the measured window, 0 to 1. None: not known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineFacts {
    /// Kind of virtual machine, or none.
    pub virtualization: Option<String>,
    /// By what the kernel tells the time.
    pub clock_source: Option<String>,
    /// The governor of the processors' clock.
    pub governor: Option<String>,
    /// Clock of the fastest processor before the run.
    pub mhz: Option<f64>,
    /// And after it.
    pub mhz_at_end: Option<f64>,
    /// Times that processors were slowed down by heat.
    pub throttled: Option<u64>,
    /// Idle, without waiting for storage.
    pub cpu_idle: Option<f64>,
    /// Idle, and waiting for storage.
    pub cpu_iowait: Option<f64>,
    /// Taken away by the host.
    pub cpu_steal: Option<f64>,
    /// Used by the clients.
    pub cpu_clients: Option<f64>,
    /// Used by the sampler, which measures all this.
    pub cpu_sampler: Option<f64>,
    /// Used by processes that are none of the server.
    pub cpu_others: Option<f64>,
    /// The least that such processes used, where `cpu_others` is not known.
    pub cpu_others_at_least: Option<f64>,
    /// Share of the time in which others kept the disk busy that the filesystem is on a part of.
    pub device_others: Option<f64>,
    /// Share of the time in which something waited for memory.
    pub memory_pressure: Option<f64>,
    /// Bytes that were dirty or being written when they came closest to the limit at which the kernel makes writers wait.
    pub dirty_peak_bytes: Option<u64>,
    /// From where on it did then.
    pub dirty_peak_limit_bytes: Option<u64>,
    /// The setting vm.dirty_bytes, 0 when the ratio counts.
    pub dirty_bytes_limit: Option<u64>,
    /// The most that was dirty or being written in all.
    pub dirty_bytes_max: Option<u64>,
    /// How far limits of the server's cgroups were felt.
    pub limits: Felt,
}
