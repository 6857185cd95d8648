//! Copies of the user's server that go with the extension that has made them. A file next to the journal names them, and the transaction of DROP
//! EXTENSION: when that has committed, the janitor removes them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use pgfsbench_core::units::format_bytes;
use serde::{Deserialize, Serialize};

use super::{journal, marker};
use crate::{
    errors::{Fault, of_file, sqlstate},
    pg::{
        report, session,
        xact::{self, State},
    },
    target::prepared_data::{self, Note, Place},
};

/// Begin of the names of the files.
const DROPPED: &str = "dropped-";

/// The contents of the file.
#[derive(Serialize, Deserialize)]
struct Dropped {
    /// The transaction, or the part of one since a savepoint.
    transaction: u64,
    database: u32,
    directories: Vec<PathBuf>,
}

/// The copies that this database has made and that no experiment of another one uses, by their directories. In a transaction.
pub fn of_this_database() -> Result<Vec<(PathBuf, Note)>, Fault> {
    let this = session::database();
    let mut unused = Vec::new();
    for (path, note) in prepared_data::list()? {
        if goes_with(this, &note)? {
            unused.push((path, note));
        }
    }
    Ok(unused)
}

/// Whether data are a copy that a database has made and that no experiment of another one uses. In a transaction.
fn goes_with(database: u32, note: &Note) -> Result<bool, Fault> {
    let Some(name) = note.name() else {
        return Ok(false);
    };
    let is_of_another =
        |mark: &PathBuf| marker::of_path(mark).is_none_or(|(other, _)| other != database);
    if note.made_in != Some(prepared_data::made_in(database)?)
        || note.needed_by().any(is_of_another)
    {
        return Ok(false);
    }
    let users = marker::databases_using(name, database)?;
    Ok(users.iter().all(|user| *user == database))
}

/// Has the janitor remove copies of this database if the transaction that is on commits. After DROP EXTENSION.
pub fn remove_on_commit(directories: Vec<PathBuf>) -> Result<(), Fault> {
    let transaction = xact::current_id();
    // The file is not to outlive the id.
    xact::flush_wal();
    let dropped = Dropped {
        transaction,
        database: session::database(),
        directories,
    };
    let path = journal::directory().join(format!("{DROPPED}{transaction}.json"));
    journal::write_file(&path, &dropped).map_err(|e| of_file("write", &path, &e))
}

/// Removes the copies whose transaction has committed, if nothing has begun to use them. What cannot be removed stays, and is logged once. While no run is
/// on or queued.
pub fn remove_those_committed() -> Result<(), Fault> {
    for path in journal::files()?.into_iter().filter(|path| is_one(path)) {
        let Some(dropped) = read(&path) else { continue };
        let state = xact::transaction(|| Ok(xact::state_of(dropped.transaction)));
        let removed = state.and_then(|state| match state {
            State::InProgress => Ok(false),
            State::RolledBack | State::Unknown => Ok(true),
            State::Committed => remove(&dropped),
        });
        // The next look tries again.
        if let Ok(false) = removed {
            continue;
        }
        fs::remove_file(&path).map_err(|e| of_file("remove", &path, &e))?;
        removed?;
    }
    Ok(())
}

/// False if others use a place just now. Outside of a transaction: a large copy takes a while.
fn remove(dropped: &Dropped) -> Result<bool, Fault> {
    let mut in_use = || Err(prepared_data::in_use());
    let places = match Place::open_all(&mut in_use) {
        Err(fault) if fault.sqlstate == sqlstate::IN_USE => return Ok(false),
        places => places?,
    };
    let mut found = Vec::new();
    for place in &places {
        for (path, note) in place.all()? {
            let goes = || xact::transaction(|| goes_with(dropped.database, &note));
            if dropped.directories.contains(&path) && goes()? {
                found.push((path, note));
            }
        }
    }
    if found.is_empty() {
        return Ok(true);
    }
    let bytes = prepared_data::remove_all(found)?;
    prepared_data::forget_empty(&places)?;
    report::log(format!(
        "copies of this server of {} are removed: the extension pgfsbench was dropped that has made them",
        format_bytes(bytes)
    ));
    Ok(true)
}

fn is_one(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with(DROPPED) && name.ends_with(".json"))
}

fn read(path: &Path) -> Option<Dropped> {
    serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
}
