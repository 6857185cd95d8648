//! Copies of the user's server that go with the extension that has made them. A file next to the journal names them, and the transaction of DROP
//! EXTENSION: when that has committed, the janitor removes them.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{journal, marker};
use crate::{
    errors::{Fault, of_file},
    pg::{
        session,
        xact::{self, State},
    },
    target::prepared_data::{self, Note},
};

/// Begin of the names of the files.
const DROPPED: &str = "dropped-";

/// The contents of the file.
#[derive(Serialize, Deserialize)]
struct Dropped {
    /// The transaction, or the part of one since a savepoint.
    transaction: u64,
    /// As it stands in the notes of the copies.
    made_in: String,
    directories: Vec<PathBuf>,
}

/// The copies that this database has made and that no experiment of another one uses, by their directories.
pub fn of_this_database() -> Result<Vec<(PathBuf, Note)>, Fault> {
    let this = session::database();
    let made_in = prepared_data::made_in(this)?;
    let mut found = prepared_data::list()?;
    found.retain(|(_, note)| {
        let is_of_another =
            |mark: &PathBuf| marker::of_path(mark).is_none_or(|(database, _)| database != this);
        note.made_in.as_ref() == Some(&made_in) && !note.needed_by().any(is_of_another)
    });
    let mut unused = Vec::new();
    for (path, note) in found {
        let users = marker::databases_using(note.name().unwrap_or_default())?;
        if users.iter().all(|database| *database == this) {
            unused.push((path, note));
        }
    }
    Ok(unused)
}

/// Has the janitor remove copies of this database if the transaction that is on commits. After DROP EXTENSION.
pub fn remove_on_commit(directories: Vec<PathBuf>) -> Result<(), Fault> {
    let transaction = xact::current_id();
    let dropped = Dropped {
        transaction,
        made_in: prepared_data::made_in(session::database())?,
        directories,
    };
    let path = journal::directory().join(format!("{DROPPED}{transaction}.json"));
    journal::write_file(&path, &dropped).map_err(|e| of_file("write", &path, &e))
}

/// Removes the copies whose transaction has committed. What cannot be removed stays, and is logged once.
pub fn remove_those_committed() -> Result<(), Fault> {
    for path in files()? {
        let Some(dropped) = read(&path) else { continue };
        let is_done = match xact::state_of(dropped.transaction) {
            State::InProgress => false,
            State::RolledBack => true,
            // Otherwise the next look tries again.
            State::Committed => {
                prepared_data::remove_copies(&dropped.directories, &dropped.made_in)
                    .inspect_err(|_| drop(fs::remove_file(&path)))?
            }
        };
        if is_done {
            fs::remove_file(&path).map_err(|e| of_file("remove", &path, &e))?;
        }
    }
    Ok(())
}

fn files() -> Result<Vec<PathBuf>, Fault> {
    let directory = journal::directory();
    let unreadable = |e: io::Error| of_file("read directory", &directory, &e);
    let entries = match fs::read_dir(&directory) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(unreadable)?,
    };
    let is_one = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with(DROPPED) && name.ends_with(".json"))
    };
    let mut found = Vec::new();
    for entry in entries {
        found.push(entry.map_err(unreadable)?.path());
    }
    found.retain(is_one);
    Ok(found)
}

fn read(path: &Path) -> Option<Dropped> {
    serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
}
