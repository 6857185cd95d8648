//! How far limits were felt in a window.

use serde::{Deserialize, Serialize};

/// How far the limits of the server's cgroups were felt in the measured window. None: no such limit, or not known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Felt {
    /// Memory, of the level that was reached most often.
    pub memory: Option<MemoryFelt>,
    /// Processor time, of the level that stopped its processes most often.
    pub quota: Option<QuotaFelt>,
    /// The processors on which the server may run.
    pub allowed: Option<AllowedFelt>,
    /// Limits of I/O that were reached in some second.
    pub io: Option<Vec<IoFelt>>,
}

/// A limit of memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryFelt {
    /// The limit.
    pub bytes: u64,
    /// How often memory had to be taken back before more could be given out.
    pub reached: Option<u64>,
    /// Processes that the kernel killed for it.
    pub killed: Option<u64>,
    /// Share of the time in which some process of the cgroup waited for memory, 0 to 1.
    pub waiting: Option<f64>,
}

/// A limit of processor time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct QuotaFelt {
    /// The limit as a number of processors.
    pub processors: f64,
    /// Periods in which the cgroup had something to do.
    pub periods: Option<u64>,
    /// Periods in which its processes were stopped.
    pub stopped: Option<u64>,
    /// For how long they were stopped, added up over the processors.
    pub stopped_ms: Option<f64>,
}

/// Processors on which the server may run, fewer than the machine has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AllowedFelt {
    pub processors: u32,
    /// Processors of the machine.
    pub of: u32,
    /// Share of the time in which they were idle or waited for storage, 0 to 1.
    pub idle: f64,
}

/// Something that a cgroup can limit on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IoKind {
    ReadBytes,
    WriteBytes,
    Reads,
    Writes,
}

/// A limit of I/O on one device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoFelt {
    /// The number of the device, major:minor.
    pub device: String,
    /// The kernel's name of the device.
    pub name: Option<String>,
    pub kind: IoKind,
    /// Bytes or requests a second.
    pub limit: u64,
    /// Seconds that were seen.
    pub seconds: u32,
    /// Seconds in which it was reached.
    pub reached: u32,
}
