//! Rows of `fsbench.target`: read, and checked against this machine and this server.

pub use pgfsbench_core::target::{Kind, Row};
use pgfsbench_core::units::parse_size;
use serde_json::json;

use super::{connection, place, prepare, server::programs::operating_system_user, settings};
use crate::{
    errors::{Fault, read_stored},
    host::machine,
    pg::sql,
};

/// The row of a target; None when there is none. In a transaction, with the owner's rights.
pub fn read(name: &str) -> Result<Option<Row>, Fault> {
    from_json(sql::read(ROW, &[Some(name)])?)
}

/// The latest row of a target that the caller has locked.
pub fn read_latest(name: &str) -> Result<Option<Row>, Fault> {
    from_json(sql::read_latest(ROW, &[Some(name)])?)
}

const ROW: &str =
    "SELECT to_jsonb(t) FROM fsbench.target t WHERE target = $1 AND kind <> 'default'";

fn from_json(text: Option<String>) -> Result<Option<Row>, Fault> {
    text.map(|text| read_stored("target", &text)).transpose()
}

/// The row with all its columns checked and brought into their form.
pub fn checked(mut row: Row) -> Result<Row, Fault> {
    let release = rustix::system::uname()
        .release()
        .to_string_lossy()
        .into_owned();
    let kind = row.check(&release)?;
    row.settings = match &row.settings {
        None => None,
        Some(given) => Some(json!(settings::check(given, row.bindir.is_none())?)),
    };
    row.bindir = row.bindir.map(place::check_bindir).transpose()?;
    if let Some(directory) = &row.directory {
        row.directory = Some(place::check_directory(directory)?);
    }
    if let Some(text) = &row.connection {
        connection::check(text)?;
    }
    if kind != Kind::Connection {
        // A server of its own runs there, whose programs refuse a user without a name.
        operating_system_user()?;
    }
    if kind.is_made() {
        prepare(&row)?;
    }
    Ok(row)
}

/// A size as a text of the caller's, in bytes.
pub fn size(argument: &str, text: Option<String>) -> Result<Option<u64>, Fault> {
    text.map(|text| {
        let memory = machine::usable().memory_bytes.unwrap_or(0);
        parse_size(&text, memory).map_err(|refusal| Fault::from(refusal).context(argument))
    })
    .transpose()
}
