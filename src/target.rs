//! Facts of a target for a run, and its checks: when it is created, and again whenever it is used, since the
//! world may have changed, and a row may have come from a dump.

pub mod backup_directory;
pub mod base_backup;
mod connection;
pub mod devices;
pub mod helper_job;
pub mod orphaned_data;
mod place;
pub mod prepared_data;
pub mod remote_run;
mod row;
pub mod server;
mod settings;

use std::{collections::BTreeMap, path::PathBuf};

use pgfsbench_core::{
    helper::{Prepare, Request},
    target::cluster::Cluster,
};
use serde_json::json;

use crate::{
    errors::{Fault, sqlstate},
    pg::config,
};

pub use connection::check as check_connection;
pub use place::{check_directory, is_trustworthy, mount_point};
pub use row::{Kind, Row, checked, read, read_latest, size};
pub use settings::check as check_settings;

/// A target, checked.
pub struct Target {
    pub name: String,
    /// The place of its servers.
    pub on: ServerPlace,
    /// Settings of its servers.
    pub settings: BTreeMap<String, String>,
    /// The programs of its servers; None: those of this one.
    pub bindir: Option<PathBuf>,
    /// The clusters of its servers.
    pub cluster: Cluster,
    /// Whether the user has declared that the device keeps its cache when power is lost.
    pub power_loss_protected: bool,
    /// Whether the page cache is emptied before its servers start.
    pub drop_caches: bool,
}

/// The place of the servers of a target.
pub enum ServerPlace {
    /// In this directory of a filesystem that is mounted; links resolved.
    Directory(PathBuf),
    /// There is a server, reached by these keywords and values of libpq.
    Connection(String),
    /// On a filesystem that the helper makes.
    Made {
        /// The request of a job of `prepare`, checked.
        prepare: Box<Prepare>,
    },
}

fn invalid(message: impl Into<String>) -> Fault {
    Fault::new(sqlstate::INVALID_PARAMETER, message)
}

/// The kind of a target; None if there is none of that name. In a transaction, with the owner's rights.
pub fn kind_of(name: &str) -> Result<Option<Kind>, Fault> {
    Ok(read(name)?.map(|row| row.kind()).transpose()?)
}

/// Looks a target up and checks all of it. In a transaction, with the owner's rights.
pub fn find(name: &str) -> Result<Target, Fault> {
    let row = read(name)?.ok_or_else(|| {
        Fault::new(
            sqlstate::NOT_IN_THIS_STATE,
            format!("target \"{name}\" was dropped"),
        )
    })?;
    let kind = row.kind()?;
    let row = checked(row)?;
    let on = match kind {
        Kind::Directory => ServerPlace::Directory(still_mounted(&row)?),
        Kind::Connection => ServerPlace::Connection(row.connection.clone().unwrap_or_default()),
        Kind::Image | Kind::Device => ServerPlace::Made {
            prepare: prepare(&row)?,
        },
    };
    Ok(Target {
        name: name.to_owned(),
        on,
        settings: row
            .settings
            .as_ref()
            .map(|settings| settings::check(settings, row.bindir.is_none()))
            .transpose()?
            .unwrap_or_default(),
        bindir: row.bindir.map(PathBuf::from),
        cluster: Cluster {
            data_checksums: row.data_checksums.unwrap_or(true),
            wal_segment_bytes: config::wal_segment_bytes(),
        },
        power_loss_protected: row.power_loss_protected.unwrap_or(false),
        drop_caches: row.drop_caches.unwrap_or(false),
    })
}

/// The directory of a target, if its filesystem is mounted as it was.
fn still_mounted(row: &Row) -> Result<PathBuf, Fault> {
    let directory = PathBuf::from(row.directory.clone().unwrap_or_default());
    let now = mount_point(&directory);
    if now == row.mount_point {
        return Ok(directory);
    }
    Err(Fault::new(
        sqlstate::NOT_IN_THIS_STATE,
        format!(
            "the filesystem of target \"{}\" is not mounted as it was",
            row.target
        ),
    )
    .detail(format!(
        "Directory \"{}\" was on what is mounted at \"{}\", and is now on \"{}\".",
        directory.display(),
        row.mount_point.as_deref().unwrap_or_default(),
        now.unwrap_or_default()
    ))
    .hint("Mount it, or call fsbench.alter_target() with the directory if the change is wanted."))
}

/// The request of a job of `prepare`, by the same check that the helper makes.
fn prepare(row: &Row) -> Result<Box<Prepare>, Fault> {
    let request = json!(row.request()?).to_string();
    match Request::of_job("prepare", &row.target, &request)? {
        Request::Prepare { prepare, .. } => Ok(prepare),
        _ => Err(Fault::new(sqlstate::INTERNAL, "not a request to prepare")),
    }
}
