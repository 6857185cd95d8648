//! Gathers facts of the helper for the report.

use std::{os::unix::fs::MetadataExt, path::Path};

use pgfsbench_core::doctor::{
    helper::{Description, Facts, Place, Start, check as judge},
    report::Line,
};

use super::super::guard;
use crate::{
    errors::{Fault, read_json},
    pg::sql,
    target::helper_job,
};

/// The file that setup writes.
const CONFIGURATION: &str = "/etc/pgfsbench/helper.toml";

const PLACE: &str = "SELECT jsonb_build_array(current_database(), current_setting('port'), \
     trim(split_part(current_setting('unix_socket_directories'), ',', 1)))";

/// The helper's latest description, and its time.
pub fn description() -> Result<Option<(Description, String)>, Fault> {
    let read = |column: &str| {
        sql::read(
            &format!("SELECT {column} FROM fsbench.helper_description"),
            &[],
        )
    };
    let (Some(text), Some(seen)) = (read("description")?, read("seen_at::timestamptz(0)")?) else {
        return Ok(None);
    };
    // A helper of another version may report in another form.
    Ok(serde_json::from_str(&text)
        .ok()
        .map(|description| (description, seen)))
}

/// Name of this database, and where the server listens.
pub fn place() -> Result<Place, Fault> {
    read_json("place", &sql::read(PLACE, &[])?.unwrap_or_default())
}

fn start() -> Result<Start, Fault> {
    let place = place()?;
    Ok(Start {
        has_served: helper_job::has_served()?,
        is_configured: Path::new(CONFIGURATION).exists(),
        is_open_to_all: is_open_to_all(&place.2),
        place,
    })
}

fn is_open_to_all(directory: &str) -> bool {
    let found = Path::new(directory).metadata();
    found.is_ok_and(|found| found.mode() & 0o002 != 0)
}

/// The lines about the helper.
pub fn check(description: Option<(Description, String)>) -> Result<Vec<Line>, Fault> {
    Ok(judge(&Facts {
        version: helper_job::helper_version()?,
        library: guard::VERSION,
        start: start()?,
        description,
    }))
}
