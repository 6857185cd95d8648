//! A file that a run has next to this server's WAL. It is in the journal before it is there, and its name is not that of any segment: the server
//! leaves unknown files in pg_wal alone, and so do base backups and archiving.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    errors::{Fault, of_file},
    pg::session,
    random,
};

/// The file of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WalFile {
    /// Purpose, in a word.
    kind: String,
    mark: String,
}

impl WalFile {
    /// The file to be; nothing is made.
    pub fn new(kind: &str) -> Self {
        Self::of_mark(kind, random::mark())
    }

    /// The file of this mark.
    pub fn of_mark(kind: &str, mark: String) -> Self {
        let kind = kind.to_owned();
        Self { kind, mark }
    }

    /// The mark that tells it from others.
    pub fn mark(&self) -> &str {
        &self.mark
    }

    /// Path of the file in this server's pg_wal, with symbolic links followed.
    pub fn path(&self) -> PathBuf {
        let name = format!("pgfsbench_{}_{}", self.kind, self.mark);
        session::data_directory().join("pg_wal").join(name)
    }

    /// Removes it, if it is there.
    pub fn remove(&self) -> Result<(), Fault> {
        // The journal could be damaged; only what can be such a file is removed.
        let is_kind = self.kind.bytes().all(|b| b.is_ascii_lowercase());
        let is_mark = !self.mark.is_empty() && self.mark.bytes().all(|b| b.is_ascii_hexdigit());
        let path = self.path();
        if !is_kind || !is_mark || !fs::symlink_metadata(&path).is_ok_and(|file| file.is_file()) {
            return Ok(());
        }
        match fs::remove_file(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(e) => Err(failed("remove", &path, &e)),
            // For good, before the journal forgets it.
            Ok(()) => sync_directory(&path),
        }
    }
}

/// Has the name of a file on disk, or that it has none any more.
pub fn sync_directory(path: &Path) -> Result<(), Fault> {
    let directory = path.parent().unwrap_or(path);
    let synced = File::open(directory).and_then(|directory| directory.sync_all());
    synced.map_err(|e| failed("sync", directory, &e))
}

/// An error of such a file.
pub fn failed(what: &str, path: &Path, error: &io::Error) -> Fault {
    use io::ErrorKind::{QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    let fault = of_file(&format!("{what} file"), path, error);
    match error.kind() {
        StorageFull | QuotaExceeded => {
            fault.hint("Make room on the filesystem of the WAL: a server whose WAL is full stops.")
        }
        ReadOnlyFilesystem => {
            fault.hint("Look at the kernel's messages: a filesystem with errors becomes read-only.")
        }
        _ => fault,
    }
}
