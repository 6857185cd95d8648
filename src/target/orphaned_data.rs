//! Prepared data of this server that are no longer wanted: they are removed at a start of the server if no database has had the extension for
//! a day. The time of an empty file in the data directory tells since when.

use std::{
    fs::{self, File},
    io,
    path::PathBuf,
    time::{SystemTime, UNIX_EPOCH},
};

use pgfsbench_core::{
    orphaned_data::{Step, step},
    units::format_bytes,
};

use super::prepared_data::{self, Place};
use crate::{
    errors::{Fault, of_file},
    pg::{report, session},
};

/// Beside the journal, whose entries have other names.
const SINCE: &str = "pgfsbench/without_extension";

fn since_file() -> PathBuf {
    session::data_directory().join(SINCE)
}

/// At the start of the server: notes that no database has the extension, or removes the data when it was noted a day ago.
pub fn check(somebody_has_it: bool) -> Result<(), Fault> {
    if somebody_has_it || !prepared_data::has_own()? {
        return forget();
    }
    match step(false, since(), seconds(SystemTime::now())) {
        Step::Forget | Step::Wait => Ok(()),
        Step::Note => note(),
        Step::Remove => remove(),
    }
}

/// A database has the extension again.
pub fn forget() -> Result<(), Fault> {
    let file = since_file();
    match fs::remove_file(&file) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(of_file("remove", &file, &e)),
        _ => Ok(()),
    }
}

fn since() -> Option<u64> {
    let modified = fs::symlink_metadata(since_file()).ok()?.modified().ok()?;
    Some(seconds(modified))
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

/// Made anew, so that its time is now.
fn note() -> Result<(), Fault> {
    forget()?;
    let file = since_file();
    let make = || {
        if let Some(directory) = file.parent() {
            fs::create_dir_all(directory)?;
        }
        File::create_new(&file)
    };
    make().map(drop).map_err(|e| of_file("create", &file, &e))
}

fn remove() -> Result<(), Fault> {
    let mut in_use = || Err(prepared_data::in_use());
    let places = Place::open_all(&mut in_use)?;
    let mut data = Vec::new();
    for place in &places {
        data.extend(place.own()?);
    }
    let bytes = prepared_data::remove_all(data)?;
    prepared_data::forget_empty(&places)?;
    report::log(format!(
        "prepared data of {} are removed: no database has had the extension pgfsbench for a day",
        format_bytes(bytes)
    ));
    forget()
}
