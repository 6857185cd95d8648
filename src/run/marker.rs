//! The marks of experiments that this server goes on with by itself: a file beside the journal for each, which no dump has. It names the
//! database, the extension, the role and the data directory besides, so that neither a base backup nor a copy of the database goes on, nor
//! one whose role was dropped with the rights of another one of that name. Such numbers mean nothing in another server: they are in no table.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::journal;
use crate::{
    errors::{Fault, of_file},
    pg::session,
    store::experiment::Steered,
    target::server::Owner,
};

/// The contents of the file.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Marker {
    experiment_id: i64,
    mark: String,
    database: u32,
    extension: u32,
    /// OID of the role that asked; 0 in those of 0.2.0.
    #[serde(default)]
    role: u32,
    owner: Owner,
}

/// Whose an experiment is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Whose {
    /// This server's, and its role is the one that asked.
    Ours,
    /// This server's, and its role was dropped; there is another one of that name.
    OfAnotherRole,
    /// Its rows were copied.
    Copied,
}

fn path(experiment_id: i64) -> PathBuf {
    let database = session::database();
    journal::directory().join(format!("experiment-{database}-{experiment_id}.json"))
}

fn of(experiment_id: i64, mark: &str, extension: u32, role: u32) -> Result<Marker, Fault> {
    let own = session::data_directory();
    Ok(Marker {
        experiment_id,
        mark: mark.to_owned(),
        database: session::database(),
        extension,
        role,
        owner: Owner::of(&own).map_err(|e| of_file("look at", &own, &e))?,
    })
}

/// Says that this server goes on with an experiment. Where the transaction that records it rolls back, the mark is of no row.
pub fn write(experiment_id: i64, mark: &str, extension: u32, role: u32) -> Result<(), Fault> {
    let marker = of(experiment_id, mark, extension, role)?;
    let path = path(experiment_id);
    journal::write_file(&path, &marker).map_err(|e| of_file("write", &path, &e))
}

/// Whether this server goes on with an experiment by itself.
pub fn whose(experiment_id: i64, mark: &str, extension: u32, role: u32) -> Result<Whose, Fault> {
    let wanted = of(experiment_id, mark, extension, role)?;
    let read = |path: &Path| -> Option<Marker> {
        serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
    };
    let found = read(&path(experiment_id)).map(|found| (found.role, Marker { role, ..found }));
    Ok(match found {
        Some((asked, found)) if found == wanted => match asked {
            0 => Whose::Ours,
            asked if asked == role => Whose::Ours,
            _ => Whose::OfAnotherRole,
        },
        _ => Whose::Copied,
    })
}

/// The role that asked for an experiment; None when it was dropped, also where another one has its name now.
pub fn role_that_asked(found: &Steered, extension: u32) -> Result<Option<u32>, Fault> {
    let Some(role) = found.role else {
        return Ok(None);
    };
    let whose = whose(found.experiment_id, &found.mark, extension, role)?;
    Ok((whose != Whose::OfAnotherRole).then_some(role))
}

/// Takes it back.
pub fn remove(experiment_id: i64) -> Result<(), Fault> {
    let path = path(experiment_id);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(of_file("remove", &path, &error))
        }
        _ => Ok(()),
    }
}
