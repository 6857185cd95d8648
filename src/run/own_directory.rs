//! A directory of a run among the temporary files of this server. It is in the journal before it is made. Base backups leave it out, and
//! the server itself removes it when it starts.

use std::{
    fs, io,
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::wal_file::{failed, sync_directory};
use crate::{
    errors::{Fault, of_file, sqlstate},
    pg::session,
    random,
};

/// PostgreSQL's name of directories of temporary files (`PG_TEMP_FILES_DIR`), and the beginning of the names in it
/// (`PG_TEMP_FILE_PREFIX`).
const TEMPORARY: &str = "pgsql_tmp";
/// Permission of the group and of others to write.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// The directory of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OwnDirectory {
    mark: String,
}

impl OwnDirectory {
    /// The directory to be; nothing is made.
    pub fn new() -> Self {
        Self {
            mark: random::mark(),
        }
    }

    /// Path of the directory: in the default tablespace of this server.
    pub fn path(&self) -> PathBuf {
        let name = format!("{TEMPORARY}_pgfsbench_{}", self.mark);
        parent().join(name)
    }

    /// Makes it, for this user only.
    pub fn make(&self) -> Result<(), Fault> {
        let (parent, path) = (parent(), self.path());
        let mut builder = fs::DirBuilder::new();
        builder.mode(0o700);
        let make = |path: &Path| builder.create(path);
        match make(&parent) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            made => made.map_err(|e| failed("create", &parent, &e))?,
        }
        check_parent(&parent)?;
        make(&path).map_err(|e| failed("create", &path, &e))?;
        sync_directory(&path)
    }

    /// Removes it with its files, if it is there.
    pub fn remove(&self) -> Result<(), Fault> {
        // The journal could be damaged; only what can be such a directory is removed.
        let is_mark = !self.mark.is_empty() && self.mark.bytes().all(|b| b.is_ascii_hexdigit());
        let path = self.path();
        if !is_mark || !fs::symlink_metadata(&path).is_ok_and(|file| file.is_dir()) {
            return Ok(());
        }
        match fs::remove_dir_all(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(e) => Err(failed("remove", &path, &e)),
            // For good, before the journal forgets it.
            Ok(()) => sync_directory(&path),
        }
    }
}

/// Refuses a directory that leads elsewhere, or in which another user could replace files.
fn check_parent(parent: &Path) -> Result<(), Fault> {
    let read = |path: &Path| fs::symlink_metadata(path).map_err(|e| of_file("examine", path, &e));
    let facts = read(parent)?;
    let problem = if !facts.is_dir() {
        "It is no directory."
    } else if facts.uid() != rustix::process::geteuid().as_raw() {
        "It belongs to another user."
    } else if facts.mode() & WRITABLE_BY_OTHERS != 0 {
        "Other users may write in it."
    } else if facts.dev() != read(&session::data_directory().join("base"))?.dev() {
        "It is on another filesystem than the default tablespace."
    } else {
        return Ok(());
    };
    Err(Fault::new(
        sqlstate::NOT_IN_THIS_STATE,
        format!("directory \"{}\" cannot be used", parent.display()),
    )
    .detail(problem)
    .hint("Remove it while the server is stopped: the server makes it anew."))
}

fn parent() -> PathBuf {
    session::data_directory().join("base").join(TEMPORARY)
}
