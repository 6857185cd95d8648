//! Where a run happens: server, machine, filesystems. What cannot be found out is None, never an error.

use std::{fs, path::Path};

use pgfsbench_core::{
    finding::Place,
    proc::{self, Mount},
};
use rustix::fs::{Dev, major, minor, stat, statvfs};
use serde::{Deserialize, Serialize};

use crate::{
    durability,
    errors::{Fault, sqlstate},
    pg::{session, sql},
};

/// One row of `fsbench.environment`; names as there.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Environment {
    pub pgfsbench_version: String,
    pub server_version: Option<String>,
    pub server_version_num: Option<i32>,
    pub kernel: Option<String>,
    pub hostname: Option<String>,
    pub machine: Option<String>,
    pub virtualization: Option<String>,
    pub processors: Option<u32>,
    pub processor_model: Option<String>,
    pub memory_bytes: Option<u64>,
    pub shared_buffers_bytes: Option<u64>,
    pub scope: Option<String>,
    pub durability: Option<String>,
    pub data_directory: Option<String>,
    pub filesystem: Option<String>,
    pub device: Option<String>,
    pub mount_point: Option<String>,
    pub mount_options: Option<String>,
    pub st_dev: Option<String>,
    pub data_size_bytes: Option<u64>,
    pub data_free_bytes: Option<u64>,
    pub write_cache: Option<String>,
    pub wal_directory: Option<String>,
    pub wal_filesystem: Option<String>,
    pub wal_device: Option<String>,
    pub wal_mount_options: Option<String>,
    pub wal_st_dev: Option<String>,
    pub settings: Option<serde_json::Value>,
}

/// A directory and the filesystem that it is on.
pub struct Location {
    /// Links resolved.
    pub directory: String,
    /// Its st_dev.
    pub device: Dev,
    mount: Option<Mount>,
}

impl Location {
    /// Finds out about a directory; None when it cannot be reached.
    pub fn of(path: &Path) -> Option<Self> {
        let directory = fs::canonicalize(path).ok()?.to_string_lossy().into_owned();
        let device = stat(directory.as_str()).ok()?.st_dev;
        let mounts = fs::read_to_string(proc::MOUNTINFO)
            .ok()
            .and_then(|text| proc::parse_mountinfo(&text).ok())
            .unwrap_or_default();
        let mount =
            proc::mount_of(&mounts, &directory, Some((major(device), minor(device)))).cloned();
        Some(Self {
            directory,
            device,
            mount,
        })
    }

    /// Major and minor number of its device.
    pub fn number(&self) -> (u32, u32) {
        (major(self.device), minor(self.device))
    }

    /// Device number, major:minor.
    pub fn st_dev(&self) -> String {
        format!("{}:{}", major(self.device), minor(self.device))
    }

    /// What is mounted there; None when that is not known.
    pub fn mount(&self) -> Option<&Mount> {
        self.mount.as_ref()
    }

    /// For the findings; None when the mount is not known.
    pub fn place(&self) -> Option<Place> {
        let mount = self.mount.as_ref()?;
        Some(Place {
            major: major(self.device),
            minor: minor(self.device),
            source: mount.source.clone(),
            fs_type: mount.fs_type.clone(),
            mount_point: mount.mount_point.clone(),
        })
    }

    /// Free bytes for the server, and the size of the filesystem.
    pub fn space(&self) -> Option<(u64, u64)> {
        space(Path::new(&self.directory))
    }
}

/// Free bytes for an ordinary user on the filesystem of a path, and its size.
pub fn space(path: &Path) -> Option<(u64, u64)> {
    let fs = statvfs(path).ok()?;
    Some((fs.f_bavail * fs.f_frsize, fs.f_blocks * fs.f_frsize))
}

/// The directory of the data.
pub fn data_location() -> Option<Location> {
    Location::of(&session::data_directory())
}

/// The directory of the WAL.
pub fn wal_location() -> Option<Location> {
    Location::of(&session::data_directory().join("pg_wal"))
}

/// Processors and RAM of the machine.
pub fn machine() -> (Option<proc::Cpu>, Option<u64>) {
    let cpu = fs::read_to_string(proc::CPUINFO)
        .ok()
        .and_then(|text| proc::parse_cpuinfo(&text).ok());
    let memory = fs::read_to_string(proc::MEMINFO)
        .ok()
        .and_then(|text| proc::parse_memory_bytes(&text).ok());
    (cpu, memory)
}

/// Whether the machine is a virtual one, and which kind; None where that cannot be known.
fn virtualization() -> Option<&'static str> {
    let read = |path: &str| fs::read_to_string(path).ok();
    proc::virtualization(&proc::Clues {
        cpuinfo: read(proc::CPUINFO),
        dmi: proc::DMI.iter().filter_map(|path| read(path)).collect(),
        hypervisor: read(proc::HYPERVISOR),
        device_tree: read(proc::DEVICE_TREE),
        clocks: read(proc::CLOCKS),
    })
}

/// What the server says of itself.
#[derive(Deserialize)]
struct Server {
    version: String,
    version_num: i32,
    shared_buffers_bytes: u64,
    settings: serde_json::Value,
}

/// Finds out everything. In a transaction, with the owner's rights. Settings that can hold a secret (a password in
/// primary_conninfo, an application's own settings) are named without their values: the tables have more readers.
pub fn collect() -> Result<Environment, Fault> {
    let text = sql::read(
        "SELECT jsonb_build_object( \
           'version', version(), \
           'version_num', current_setting('server_version_num')::int, \
           'shared_buffers_bytes', pg_size_bytes(current_setting('shared_buffers')), \
           'settings', (SELECT coalesce(jsonb_object_agg(name, jsonb_build_object( \
                'setting', CASE WHEN name IN ('primary_conninfo', 'ssl_passphrase_command') \
                  OR (category = 'Customized Options' AND vartype = 'string') \
                  THEN '(not stored)' ELSE current_setting(name, true) END, 'source', source)), '{}') \
              FROM pg_settings WHERE setting IS DISTINCT FROM boot_val AND source <> 'override' \
                OR source NOT IN ('default', 'override')))",
        &[],
    )?;
    let server: Server = serde_json::from_str(&text.unwrap_or_default())
        .map_err(|e| Fault::new(sqlstate::INTERNAL, format!("unreadable settings: {e}")))?;
    let uname = rustix::system::uname();
    let (cpu, memory) = machine();
    let (data, wal) = (data_location(), wal_location());
    let space = data.as_ref().and_then(Location::space);
    let lossy = |text: &std::ffi::CStr| Some(text.to_string_lossy().into_owned());
    let scope = match (&data, &wal) {
        (Some(data), Some(wal)) => Some(
            if same_filesystem(data, wal) {
                "data and WAL"
            } else {
                "data only"
            }
            .to_owned(),
        ),
        _ => None,
    };
    let mount = |location: &Option<Location>| location.as_ref().and_then(|l| l.mount.clone());
    let (data_mount, wal_mount) = (mount(&data), mount(&wal));
    Ok(Environment {
        pgfsbench_version: env!("CARGO_PKG_VERSION").into(),
        server_version: Some(server.version),
        server_version_num: Some(server.version_num),
        kernel: Some(format!(
            "{} {} {}",
            uname.sysname().to_string_lossy(),
            uname.release().to_string_lossy(),
            uname.version().to_string_lossy()
        )),
        hostname: lossy(uname.nodename()),
        machine: lossy(uname.machine()),
        virtualization: virtualization().map(str::to_owned),
        processors: cpu.as_ref().map(|cpu| cpu.processors),
        processor_model: cpu.and_then(|cpu| cpu.model),
        memory_bytes: memory,
        shared_buffers_bytes: Some(server.shared_buffers_bytes),
        scope,
        durability: None,
        data_directory: data.as_ref().map(|l| l.directory.clone()),
        filesystem: data_mount.as_ref().map(|m| m.fs_type.clone()),
        device: data_mount.as_ref().map(|m| m.source.clone()),
        mount_point: data_mount.as_ref().map(|m| m.mount_point.clone()),
        mount_options: data_mount.map(|m| m.options),
        st_dev: data.as_ref().map(Location::st_dev),
        data_size_bytes: space.map(|(_, size)| size),
        data_free_bytes: space.map(|(free, _)| free),
        write_cache: data.as_ref().and_then(durability::write_cache_of),
        wal_directory: wal.as_ref().map(|l| l.directory.clone()),
        wal_filesystem: wal_mount.as_ref().map(|m| m.fs_type.clone()),
        wal_device: wal_mount.as_ref().map(|m| m.source.clone()),
        wal_mount_options: wal_mount.map(|m| m.options),
        wal_st_dev: wal.as_ref().map(Location::st_dev),
        settings: Some(server.settings),
    })
}

fn same_filesystem(a: &Location, b: &Location) -> bool {
    match (a.place(), b.place()) {
        (Some(a), Some(b)) => a.is_same_filesystem(&b),
        _ => a.device == b.device,
    }
}
