//! The environment of a run, as it is stored: server, machine, filesystems, devices. A fact that is not known is None.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    rows::Row,
    sys::{Layer, cgroup::Limits},
};

/// One row of `fsbench.environment`; names as there.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Environment {
    pub pgfsbench_version: String,
    pub server_version: Option<String>,
    pub server_version_num: Option<i32>,
    pub kernel: Option<String>,
    pub hostname: Option<String>,
    pub machine: Option<String>,
    pub host_fingerprint: Option<String>,
    #[serde(flatten)]
    pub of_machine: Machine,
    pub shared_buffers_bytes: Option<u64>,
    pub data_checksums: Option<bool>,
    pub scope: Option<String>,
    pub data_directory: Option<String>,
    pub filesystem: Option<String>,
    pub device: Option<String>,
    pub mount_point: Option<String>,
    pub mount_options: Option<String>,
    pub st_dev: Option<String>,
    pub filesystem_size_bytes: Option<u64>,
    pub filesystem_free_bytes: Option<u64>,
    pub write_cache: Option<String>,
    pub wal_directory: Option<String>,
    pub wal_filesystem: Option<String>,
    pub wal_device: Option<String>,
    pub wal_mount_point: Option<String>,
    pub wal_mount_options: Option<String>,
    pub wal_st_dev: Option<String>,
    /// Attributes of the data directory: see [`crate::file_attributes`].
    pub data_attributes: Option<String>,
    /// Attributes of the largest file of the run's tables, when they were loaded.
    pub data_file_attributes: Option<String>,
    /// Attributes of pg_wal.
    pub pg_wal_attributes: Option<String>,
    /// Attributes of the segment of WAL that was written before the clients began.
    pub pg_wal_file_attributes: Option<String>,
    /// Whether the filesystem of the data has fallocate, as it was tried.
    pub fallocate: Option<bool>,
    pub settings: Option<serde_json::Value>,
    #[serde(flatten)]
    pub of_device: Device,
}

impl Row for Environment {
    const TABLE: &'static str = "environment";
}

/// Columns of `fsbench.environment` about the machine; names as there.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Machine {
    pub virtualization: Option<String>,
    pub container: Option<String>,
    pub processors: Option<u32>,
    pub processor_model: Option<String>,
    pub memory_bytes: Option<u64>,
    pub limits: Option<Limits>,
    pub kernel_command_line: Option<String>,
    pub vm: Option<BTreeMap<String, i64>>,
    pub transparent_hugepage: Option<String>,
    pub cpu_governor: Option<String>,
    pub cpu_mhz_min: Option<f64>,
    pub cpu_mhz_max: Option<f64>,
    pub numa_nodes: Option<u32>,
    pub clock_source: Option<String>,
}

/// Columns of `fsbench.environment` about the device of the data; names as there.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Device {
    pub block_size_bytes: Option<u64>,
    pub journal_mode: Option<String>,
    pub device_model: Option<String>,
    pub rotational: Option<bool>,
    pub fua: Option<bool>,
    pub discard_granularity_bytes: Option<u64>,
    pub discard_max_bytes: Option<u64>,
    pub logical_sector_bytes: Option<u64>,
    pub physical_sector_bytes: Option<u64>,
    pub io_scheduler: Option<String>,
    pub nr_requests: Option<u64>,
    pub queue_depth: Option<u64>,
    pub read_ahead_kb: Option<u64>,
    pub layers: Option<Vec<Layer>>,
    pub wal_layers: Option<Vec<Layer>>,
}
