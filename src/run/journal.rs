//! The journal: one small file per run in the data directory, on disk before anything is made, so that whatever happens to the
//! server, the next janitor knows what to remove.
//!
//! `PGDATA/pgfsbench/<extension_database database>-<run id>.json`. A base backup takes it along with what it speaks of.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use pgfsbench_core::run::plan::Created;
use serde::{Deserialize, Serialize};

use super::{own_directory::OwnDirectory, wal_file::WalFile};
use crate::{
    errors::{Fault, sqlstate_of},
    pg::session,
    target::{remote_run::RemoteRun, server::TargetServer},
};

/// Everything that a run makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// OID of the database whose tables have the run's row.
    #[serde(rename = "home")]
    pub extension_database: u32,
    pub run_id: i64,
    /// Name of the work database.
    pub work_database: String,
    /// OID that it is made with.
    pub work_database_oid: u32,
    /// Comment of the work database. A database without it is never dropped.
    pub comment: String,
    /// Whether the directory of the database existed before; then it is not ours to remove.
    pub directory_existed: bool,
    /// The server on the target, for a run on another target than this server's own data directory; there is no work
    /// database in this server then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<TargetServer>,
    /// Further servers on that target, for a run with several instances.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_servers: Vec<TargetServer>,
    /// The target whose filesystem the helper has made for the run, or was just asked to make.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepared: Option<String>,
    /// The run on a server that is reached by a connection, from before it is started there until it is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote_run: Option<RemoteRun>,
    /// The file next to this server's WAL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wal_file: Option<WalFile>,
    /// The directory among this server's temporary files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<OwnDirectory>,
}

impl Entry {
    /// The entry of a run on a target, for which nothing is made yet.
    pub fn on_target(extension_database: u32, run_id: i64) -> Self {
        Self {
            extension_database,
            run_id,
            work_database: String::new(),
            work_database_oid: 0,
            comment: String::new(),
            directory_existed: true,
            server: None,
            other_servers: Vec::new(),
            prepared: None,
            remote_run: None,
            wal_file: None,
            directory: None,
        }
    }

    /// All servers on the target.
    pub fn servers(&self) -> impl Iterator<Item = &TargetServer> {
        self.server.iter().chain(&self.other_servers)
    }

    /// The things that the entry records as made. A run on another server is not among them.
    pub fn made(&self) -> Created {
        Created {
            file: self.wal_file.is_some() || self.directory.is_some(),
            server: self.server.is_some(),
            filesystem: self.prepared.is_some(),
            database: self.work_database_oid != 0,
        }
    }
}

/// The directory of the journal and of other files of this server.
pub fn directory() -> PathBuf {
    session::data_directory().join("pgfsbench")
}

fn path(extension_database: u32, run_id: i64) -> PathBuf {
    directory().join(format!("{extension_database}-{run_id}.json"))
}

fn fault(what: &str, error: &io::Error) -> Fault {
    Fault::new(
        sqlstate_of(error),
        format!("could not {what} the journal: {error}"),
    )
    .detail(format!(
        "The journal is in the directory \"{}\".",
        directory().display()
    ))
}

fn sync_directory() -> io::Result<()> {
    File::open(directory())?.sync_all()
}

/// Writes an entry; when this returns it is on disk.
pub fn write(entry: &Entry) -> Result<(), Fault> {
    write_file(&path(entry.extension_database, entry.run_id), entry)
        .map_err(|error| fault("write", &error))
}

/// Writes a file of the journal's directory; when this returns it is on disk.
pub fn write_file(path: &Path, contents: &impl Serialize) -> io::Result<()> {
    match fs::create_dir(directory()) {
        Ok(()) => File::open(session::data_directory())?.sync_all()?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    let temporary = path.with_extension("tmp");
    let mut file = File::create(&temporary)?;
    file.write_all(serde_json::to_string(contents)?.as_bytes())?;
    file.sync_all()?;
    fs::rename(&temporary, path)?;
    sync_directory()
}

/// Removes an entry; nothing is wrong when there is none.
pub fn remove(extension_database: u32, run_id: i64) -> Result<(), Fault> {
    let remove = || -> io::Result<()> {
        match fs::remove_file(path(extension_database, run_id)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
            Ok(()) => sync_directory(),
        }
    };
    remove().map_err(|error| fault("remove an entry of", &error))
}

/// All entries. What cannot be read as one is left alone: it is not ours, or a half-written temporary file, which speaks of
/// nothing that was made.
pub fn entries() -> Result<Vec<Entry>, Fault> {
    let mut entries = Vec::new();
    for path in files()? {
        if path.extension().is_some_and(|e| e == "tmp") {
            // Never renamed, so nothing was made after it.
            let _ = fs::remove_file(&path);
        } else if let Ok(text) = fs::read_to_string(&path)
            && let Ok(entry) = serde_json::from_str(&text)
        {
            entries.push(entry);
        }
    }
    Ok(entries)
}

/// All files of the journal's directory: entries, and what others have put there.
pub fn files() -> Result<Vec<PathBuf>, Fault> {
    let entries = match fs::read_dir(directory()) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(fault("read", &error)),
    };
    let paths = entries.map(|entry| Ok(entry.map_err(|error| fault("read", &error))?.path()));
    paths.collect()
}
