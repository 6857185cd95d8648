//! The marks of experiments that this server goes on with by itself: a file for each next to the journal, which no dump has. It names the database,
//! the extension, the role and the data directory. So neither a base backup nor a copy of the database goes on, nor an experiment whose role was
//! dropped, with the rights of another role of that name. Such numbers mean nothing in another server: they are in no table.
//!
//! A mark is written before the transaction commits that needs it, and removed by the conductor when what it is of is over: it is of no row when
//! the transaction has rolled back, and no rollback can bring back what was removed.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::journal;
use crate::{
    errors::{Fault, of_file},
    pg::{
        session, sql,
        xact::{self, State},
    },
    store::experiment::{ExperimentControl, is_no_more},
    target::server::Owner,
};

/// The contents of the file.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Marker {
    experiment_id: i64,
    mark: String,
    database: u32,
    extension: u32,
    /// OID of the role that asked.
    role: u32,
    /// The transaction that has written it.
    transaction: u64,
    owner: Owner,
    /// Name of the copy of a server that its runs copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    data: Option<String>,
}

/// Whose an experiment is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ownership {
    /// This server's, and its role is the one that asked.
    Ours,
    /// This server's, and its role was dropped; there is another one of that name.
    OfAnotherRole,
    /// The rows of the experiment were copied.
    Copied,
}

/// Path of the marker.
pub fn path(experiment_id: i64) -> PathBuf {
    let database = session::database();
    journal::directory().join(format!("experiment-{database}-{experiment_id}.json"))
}

/// The database and the number of the experiment that a mark of this server is of, by its place.
pub fn of_path(path: &Path) -> Option<(u32, i64)> {
    if path.parent() != Some(journal::directory().as_path()) {
        return None;
    }
    let name = path.file_name()?.to_str()?;
    let name = name.strip_prefix("experiment-")?.strip_suffix(".json")?;
    let (database, experiment_id) = name.split_once('-')?;
    Some((database.parse().ok()?, experiment_id.parse().ok()?))
}

/// All marks of this server: place, database and experiment.
fn all() -> Result<Vec<(PathBuf, u32, i64)>, Fault> {
    let marks = journal::files()?.into_iter().filter_map(|path| {
        let (database, experiment_id) = of_path(&path)?;
        Some((path, database, experiment_id))
    });
    Ok(marks.collect())
}

fn read(path: &Path) -> Option<Marker> {
    serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
}

fn of(experiment_id: i64, mark: &str, extension: u32, role: u32) -> Result<Marker, Fault> {
    let own = session::data_directory();
    Ok(Marker {
        experiment_id,
        mark: mark.to_owned(),
        database: session::database(),
        extension,
        role,
        transaction: 0,
        owner: Owner::of(&own).map_err(|e| of_file("look at", &own, &e))?,
        data: None,
    })
}

/// Says that this server goes on with an experiment. Where the transaction that records it rolls back, the mark is of no row.
pub fn write(
    experiment_id: i64,
    mark: &str,
    extension: u32,
    role: u32,
    data: Option<String>,
) -> Result<(), Fault> {
    let transaction = sql::write("SELECT pg_current_xact_id()", &[])?;
    let marker = Marker {
        transaction: transaction.and_then(|id| id.parse().ok()).unwrap_or(0),
        data,
        ..of(experiment_id, mark, extension, role)?
    };
    let path = path(experiment_id);
    journal::write_file(&path, &marker).map_err(|e| of_file("write", &path, &e))
}

/// Whether this server goes on with an experiment by itself.
pub fn ownership(
    experiment_id: i64,
    mark: &str,
    extension: u32,
    role: u32,
) -> Result<Ownership, Fault> {
    let expected = of(experiment_id, mark, extension, role)?;
    let found = read(&path(experiment_id)).map(|found| {
        let recorded_role = found.role;
        let alike = Marker {
            role,
            transaction: 0,
            data: None,
            ..found
        };
        (recorded_role, alike)
    });
    Ok(match found {
        Some((recorded_role, found)) if found == expected => match recorded_role {
            0 => Ownership::Ours,
            recorded_role if recorded_role == role => Ownership::Ours,
            _ => Ownership::OfAnotherRole,
        },
        _ => Ownership::Copied,
    })
}

/// The role that asked for an experiment; None when it was dropped, also where another one has its name now.
pub fn role_that_asked(found: &ExperimentControl, extension: u32) -> Result<Option<u32>, Fault> {
    let Some(role) = found.role else {
        return Ok(None);
    };
    let ownership = ownership(found.experiment_id, &found.mark, extension, role)?;
    Ok((ownership != Ownership::OfAnotherRole).then_some(role))
}

/// The databases that have an experiment with runs that copy the data of this name. The one with the oid `here` counts only for experiments that no
/// other session sees yet: the others have rows. In a transaction; needs no database.
pub fn databases_using(data: &str, here: u32) -> Result<Vec<u32>, Fault> {
    let mut databases = Vec::new();
    for (path, database, _) in all()? {
        let marker = read(&path).filter(|marker| marker.data.as_deref() == Some(data));
        let Some(marker) = marker else { continue };
        let counts = match xact::state_of(marker.transaction) {
            State::InProgress => true,
            State::Committed | State::Unknown => database != here,
            State::RolledBack => false,
        };
        if counts {
            databases.push(database);
        }
    }
    Ok(databases)
}

/// Removes the marks of this database whose experiments are over, or were dropped. With the rights of the extension's owner.
pub fn remove_of_those_over() -> Result<(), Fault> {
    let here = session::database();
    for (path, _, experiment_id) in all()?.into_iter().filter(|mark| mark.1 == here) {
        let written_by = read(&path).map_or(0, |marker| marker.transaction);
        xact::transaction(|| match is_no_more(experiment_id, written_by)? {
            true => remove(&path),
            false => Ok(()),
        })?;
    }
    Ok(())
}

/// Removes those of databases that have no experiments: they are gone, or have no extension.
pub fn remove_of(is_gone: impl Fn(u32) -> bool) -> Result<(), Fault> {
    let all = all()?;
    (all.iter().filter(|mark| is_gone(mark.1))).try_for_each(|(path, ..)| remove(path))
}

fn remove(path: &Path) -> Result<(), Fault> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(of_file("remove", path, &error))
        }
        _ => Ok(()),
    }
}
