//! The environment of a run: server, machine, filesystems. A fact that is not known is None, never an error.

use std::path::Path;

use pgfsbench_core::{
    difference,
    environment::{Environment, settings_of_all_databases},
};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    errors::{Fault, read_json, to_json_text},
    host::{
        files,
        location::{self, Location},
        machine, storage,
    },
    pg::{session, sql},
};

/// Settings that decide how the server reads and writes, and whose defaults are not the same in all versions, or on all machines:
/// stored also where they have their defaults.
const ALWAYS_STORED: [&str; 12] = [
    "effective_io_concurrency",
    "file_copy_method",
    "file_extend_method",
    "huge_pages",
    "huge_pages_status",
    "io_combine_limit",
    "io_max_combine_limit",
    "io_max_concurrency",
    "io_max_workers",
    "io_method",
    "io_min_workers",
    "io_workers",
];

/// The server's own report.
#[derive(Deserialize)]
struct Server {
    version: String,
    version_num: i32,
    shared_buffers_bytes: u64,
    data_checksums: bool,
    settings: Value,
}

fn server() -> Result<Server, Fault> {
    let always = ALWAYS_STORED.join(",");
    let text = sql::read(include_str!("queries/settings.sql"), &[Some(&always)])?;
    read_json("settings", &text.unwrap_or_default())
}

/// The settings of this database that this database or that one sets, JSON: null for one that has its default here. In a transaction.
pub fn settings_unlike(extension_database: u32) -> Result<Value, Fault> {
    let names = sql::read(
        "SELECT coalesce(jsonb_agg(DISTINCT split_part(setting, '=', 1)), '[]') FROM pg_db_role_setting, unnest(setconfig) setting \
         WHERE setdatabase IN ($1::oid, (SELECT oid FROM pg_database WHERE datname = current_database()))",
        &[Some(&extension_database.to_string())],
    )?;
    let names: Vec<String> = read_json("settings", &names.unwrap_or_default())?;
    if names.is_empty() {
        return Ok(Value::Null);
    }
    let settings = server()?.settings;
    let here = names.into_iter().map(|name| {
        let setting = settings[&name].clone();
        (name, setting)
    });
    Ok(Value::Object(here.collect()))
}

/// A short mark of those settings of the server that may change figures. In a transaction.
pub fn settings_mark() -> Result<String, Fault> {
    let mut settings = server()?.settings;
    settings_of_all_databases(&mut settings);
    let settings = difference::settings_that_matter(&settings);
    let text = to_json_text(&settings)?;
    Ok(fingerprint(&text)?.unwrap_or_default())
}

/// The part of the server that is on the filesystem of the tables.
fn scope_of((data, wal): (&Location, &Location)) -> String {
    let scope = match location::same_filesystem(data, wal) {
        true => "data and WAL",
        false => "data only",
    };
    scope.to_owned()
}

/// Finds out everything. In a transaction, with the owner's rights. Settings that can hold a secret (a password in
/// primary_conninfo, a key in archive_command, an application's own settings) are named without their values: the tables have more readers.
pub fn collect() -> Result<Environment, Fault> {
    let server = server()?;
    let uname = rustix::system::uname();
    let (data, wal) = (location::data_location(), location::wal_location());
    let space = data.as_ref().and_then(Location::space);
    let lossy = |text: &std::ffi::CStr| Some(text.to_string_lossy().into_owned());
    let hostname = lossy(uname.nodename());
    let of_machine = machine::read();
    let identity = machine::identity(&of_machine);
    let scope = data.as_ref().zip(wal.as_ref()).map(scope_of);
    let mount = |location: &Option<Location>| location.as_ref().and_then(|l| l.mount().cloned());
    let (data_mount, wal_mount) = (mount(&data), mount(&wal));
    let directory = |location: &Option<Location>| location.as_ref().map(|l| l.directory.clone());
    let attributes = |directory: &Option<String>| files::attributes(Path::new(directory.as_ref()?));
    let data_directory = Location::of(&session::data_directory()).map(|l| l.directory);
    let table_directory = directory(&data);
    let wal_directory = directory(&wal);
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
        host_fingerprint: identity
            .map(|text| fingerprint(&text))
            .transpose()?
            .flatten(),
        of_machine,
        shared_buffers_bytes: Some(server.shared_buffers_bytes),
        data_checksums: Some(server.data_checksums),
        scope,
        data_attributes: attributes(&table_directory),
        data_file_attributes: None,
        pg_wal_attributes: attributes(&wal_directory),
        pg_wal_file_attributes: None,
        fallocate: table_directory
            .as_ref()
            .and_then(|directory| files::has_fallocate(Path::new(directory))),
        data_directory,
        filesystem: data_mount.as_ref().map(|m| m.fs_type.clone()),
        device: data_mount.as_ref().map(|m| m.source.clone()),
        mount_point: data_mount.as_ref().map(|m| m.mount_point.clone()),
        mount_options: data_mount.map(|m| m.options),
        st_dev: data.as_ref().map(Location::st_dev),
        filesystem_size_bytes: space.map(|(_, size)| size),
        filesystem_free_bytes: space.map(|(free, _)| free),
        write_cache: data.as_ref().and_then(storage::write_cache_of),
        wal_directory,
        wal_filesystem: wal_mount.as_ref().map(|m| m.fs_type.clone()),
        wal_device: wal_mount.as_ref().map(|m| m.source.clone()),
        wal_mount_point: wal_mount.as_ref().map(|m| m.mount_point.clone()),
        wal_mount_options: wal_mount.map(|m| m.options),
        wal_st_dev: wal.as_ref().map(Location::st_dev),
        settings: Some(server.settings),
        of_device: storage::read(data.as_ref(), wal.as_ref()),
    })
}

/// A short hash of a text that is not to be stored itself.
fn fingerprint(text: &str) -> Result<Option<String>, Fault> {
    sql::read(
        "SELECT left(encode(sha256(convert_to($1, 'UTF8')), 'hex'), 16)",
        &[Some(text)],
    )
}
