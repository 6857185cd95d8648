//! The environment of a run, as it is stored: server, machine, filesystems, devices. A fact that is not known is None.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    pub settings: Option<Value>,
    #[serde(flatten)]
    pub of_device: Device,
}

/// The text of a worker's report, within the bytes that its place has: without `settings` if it would be longer. These alone have no limit. Also whether
/// they were left out.
pub fn report_within(mut report: Value, capacity: usize) -> (String, bool) {
    let text = report.to_string();
    if text.len() <= capacity {
        return (text, false);
    }
    let members = report.as_object_mut();
    let is_left_out = members.is_some_and(|members| members.remove("settings").is_some());
    (report.to_string(), is_left_out)
}

/// Takes over what the work database says of some settings: clients have its values, and not those of the home database. A setting that is null has
/// its default there. If the report has no settings at all, those of the clients are not known.
pub fn settings_of_clients(settings: &mut Option<Value>, report: &Value) {
    let Some(there) = report.get("settings") else {
        *settings = None;
        return;
    };
    let settings = settings.as_mut().and_then(Value::as_object_mut);
    let (Some(settings), Some(there)) = (settings, there.as_object()) else {
        return;
    };
    for (name, value) in there {
        match value {
            Value::Null => settings.remove(name),
            value => settings.insert(name.clone(), value.clone()),
        };
    }
}

/// The settings that hold in every database: those that a database sets are left out.
pub fn settings_of_all_databases(settings: &mut Value) {
    let is_of_one = |setting: &Value| {
        let source = setting["source"].as_str();
        source.is_some_and(|source| source.starts_with("database"))
    };
    if let Some(settings) = settings.as_object_mut() {
        settings.retain(|_, setting| !is_of_one(setting));
    }
}

/// Devices of a filesystem that pgfsbench-helper has made and that its server cannot see: those of zfs, and those of an external log. Each list
/// has the name under which their layers are noted.
pub fn unseen_devices(made: &Value) -> [(&'static str, Vec<&str>); 2] {
    let is_zfs = made["filesystem"] == "zfs";
    let of_data = match is_zfs {
        true => paths_of(made, is_zfs),
        false => Vec::new(),
    };
    [
        ("layers", of_data),
        ("log_layers", paths_of(&made["log"], is_zfs)),
    ]
}

/// A pool joins its devices itself. Others are on one device, which may be an array.
fn paths_of(made: &Value, is_zfs: bool) -> Vec<&str> {
    let members = made["members"].as_array().filter(|_| is_zfs);
    let devices = members.map_or(std::slice::from_ref(made), Vec::as_slice);
    let paths = devices.iter().filter_map(|of| of["device"].as_str());
    paths.collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn settings_are_those_of_the_database_in_which_the_clients_work() {
        let at_home = json!({
            "jit": {"setting": "off", "source": "database"},
            "random_page_cost": {"setting": "7", "source": "database user"},
            "work_mem": {"setting": "8MB", "source": "configuration file"},
        });
        let mut settings = Some(at_home.clone());
        let of_file = json!({"setting": "2", "source": "configuration file"});
        let there = json!({"jit": null, "random_page_cost": of_file, "seq_page_cost": {"setting": "3", "source": "database"}});
        settings_of_clients(&mut settings, &json!({"settings": there}));
        assert_eq!(
            settings,
            Some(json!({
                "random_page_cost": of_file,
                "seq_page_cost": {"setting": "3", "source": "database"},
                "work_mem": {"setting": "8MB", "source": "configuration file"},
            }))
        );
        // Neither database sets any.
        let mut settings = Some(at_home.clone());
        settings_of_clients(&mut settings, &json!({"settings": null}));
        assert_eq!(settings, Some(at_home.clone()));
        // A worker that has left them out.
        settings_of_clients(&mut settings, &json!({"file": null}));
        assert_eq!(settings, None);
        let mut settings = at_home.clone();
        settings_of_all_databases(&mut settings);
        assert_eq!(settings, json!({"work_mem": at_home["work_mem"]}));
    }

    #[test]
    fn devices_are_noted_that_a_server_cannot_see() {
        let device = |path: &str| json!({"device": path});
        let of_two = |path: &str| {
            let members = [device("/dev/sda1"), device("/dev/sdb1")];
            json!({"device": path, "members": members})
        };
        let made = |filesystem: &str, data: Value, log: Value| {
            let mut made = data;
            made["filesystem"] = json!(filesystem);
            made["log"] = log;
            unseen_devices(&made).map(|(name, paths)| format!("{name} {}", paths.join(" ")))
        };
        for (found, noted) in [
            (
                made("zfs", device("/dev/sdc1"), Value::Null),
                ["layers /dev/sdc1", "log_layers "],
            ),
            (
                made("zfs", of_two("/dev/sda1"), device("/dev/sdd1")),
                ["layers /dev/sda1 /dev/sdb1", "log_layers /dev/sdd1"],
            ),
            (
                made("zfs", device("/dev/sdc1"), of_two("")),
                ["layers /dev/sdc1", "log_layers /dev/sda1 /dev/sdb1"],
            ),
            // A server sees the array below the filesystem. It sees the log of some filesystems only.
            (
                made("xfs", of_two("/dev/md0"), of_two("/dev/md1")),
                ["layers ", "log_layers /dev/md1"],
            ),
        ] {
            assert_eq!(found, noted);
        }
    }

    #[test]
    fn settings_of_any_length_cost_no_other_part_of_a_report() {
        let report = |length| json!({"promises": {"fsync": "on"}, "settings": {"search_path": "x".repeat(length)}});
        let short = report(10);
        let whole = short.to_string();
        assert_eq!(
            report_within(short.clone(), whole.len()),
            (whole.clone(), false)
        );
        let rest = json!({"promises": {"fsync": "on"}}).to_string();
        assert_eq!(report_within(short, whole.len() - 1), (rest.clone(), true));
        assert_eq!(report_within(report(20_000), 16384), (rest, true));
    }
}
