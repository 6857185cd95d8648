//! Where a run happens: server, machine, filesystems. What cannot be found out is None, never an error.

use serde::{Deserialize, Serialize};

use crate::{
    errors::{Fault, read_json},
    host::{
        durability,
        location::{self, Location},
        machine::Machine,
        storage::Device,
    },
    pg::sql,
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
    pub wal_mount_point: Option<String>,
    pub wal_mount_options: Option<String>,
    pub wal_st_dev: Option<String>,
    pub settings: Option<serde_json::Value>,
    #[serde(flatten)]
    pub of_device: Device,
}

/// Settings that decide how the server reads and writes, and whose defaults are not the same in all versions, or on all machines:
/// stored also where nobody has set them.
const ALWAYS_STORED: [&str; 9] = [
    "effective_io_concurrency",
    "file_copy_method",
    "huge_pages",
    "huge_pages_status",
    "io_combine_limit",
    "io_max_combine_limit",
    "io_max_concurrency",
    "io_method",
    "io_workers",
];

/// What the server says of itself.
#[derive(Deserialize)]
struct Server {
    version: String,
    version_num: i32,
    shared_buffers_bytes: u64,
    data_checksums: bool,
    settings: serde_json::Value,
}

/// Finds out everything. In a transaction, with the owner's rights. Settings that can hold a secret (a password in
/// primary_conninfo, a key in archive_command, an application's own settings) are named without their values: the tables have more readers.
pub fn collect() -> Result<Environment, Fault> {
    let text = sql::read(
        "SELECT jsonb_build_object( \
           'version', version(), \
           'version_num', current_setting('server_version_num')::int, \
           'shared_buffers_bytes', pg_size_bytes(current_setting('shared_buffers')), \
           'data_checksums', current_setting('data_checksums')::boolean, \
           'settings', (SELECT coalesce(jsonb_object_agg(name, jsonb_build_object( \
                'setting', CASE WHEN name ~ '(conninfo|_command)$' \
                  OR (category = 'Customized Options' AND vartype = 'string') \
                  THEN '(not stored)' ELSE current_setting(name, true) END, 'source', source)), '{}') \
              FROM pg_settings WHERE setting IS DISTINCT FROM boot_val AND source <> 'override' \
                OR source NOT IN ('default', 'override') OR name = ANY (string_to_array($1, ','))))",
        &[Some(&ALWAYS_STORED.join(","))],
    )?;
    let server: Server = read_json("settings", &text.unwrap_or_default())?;
    let uname = rustix::system::uname();
    let (data, wal) = (location::data_location(), location::wal_location());
    let space = data.as_ref().and_then(Location::space);
    let lossy = |text: &std::ffi::CStr| Some(text.to_string_lossy().into_owned());
    let hostname = lossy(uname.nodename());
    let of_machine = Machine::look();
    let host = of_machine.identity(hostname.as_deref().unwrap_or_default());
    let scope = match (&data, &wal) {
        (Some(data), Some(wal)) => Some(
            if location::same_filesystem(data, wal) {
                "data and WAL"
            } else {
                "data only"
            }
            .to_owned(),
        ),
        _ => None,
    };
    let mount = |location: &Option<Location>| location.as_ref().and_then(|l| l.mount().cloned());
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
        hostname,
        machine: lossy(uname.machine()),
        host_fingerprint: fingerprint(&host)?,
        of_machine,
        shared_buffers_bytes: Some(server.shared_buffers_bytes),
        data_checksums: Some(server.data_checksums),
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
        wal_mount_point: wal_mount.as_ref().map(|m| m.mount_point.clone()),
        wal_mount_options: wal_mount.map(|m| m.options),
        wal_st_dev: wal.as_ref().map(Location::st_dev),
        settings: Some(server.settings),
        of_device: Device::of(data.as_ref(), wal.as_ref()),
    })
}

/// A short hash of a text that is not to be stored itself.
fn fingerprint(text: &str) -> Result<Option<String>, Fault> {
    sql::read(
        "SELECT left(encode(sha256(convert_to($1, 'UTF8')), 'hex'), 16)",
        &[Some(text)],
    )
}
