//! `doctor()`: requirements of benchmarks, and whether they are met here; and findings that can be foreseen. It never fails
//! because something is missing: it reports that.

mod filesystems;
mod helper;
mod machine;
mod server;

use pgrx::{iter::TableIterator, name, pg_extern, pg_sys::panic::ErrorReport};

use pgfsbench_core::doctor::report::Line;

use crate::{errors::Fault, pg::session};

use super::guard;

/// The whole report. In a transaction; reads with the rights of the extension's owner.
fn look() -> Result<Vec<Line>, Fault> {
    let extension = guard::extension()?;
    session::with_rights_of(extension.owner, || {
        let description = helper::description()?;
        let mut lines = server::look(&extension.version)?;
        lines.extend(machine::look());
        let seen = description.as_ref().map(|(seen, _)| &seen.filesystems);
        let filesystems = filesystems::look(seen.map_or(&[], Vec::as_slice));
        lines.extend(helper::look(description)?);
        lines.extend(filesystems);
        Ok(lines)
    })
}

#[allow(clippy::type_complexity)]
#[pg_extern(sql = false)]
fn fsbench_doctor() -> Result<
    TableIterator<
        'static,
        (
            name!(subject, String),
            name!(item, String),
            name!(state, String),
            name!(detail, Option<String>),
            name!(hint, Option<String>),
        ),
    >,
    ErrorReport,
> {
    let rows = look()?.into_iter();
    Ok(TableIterator::new(rows.map(|r| {
        (
            r.subject.to_owned(),
            r.item,
            r.state.to_owned(),
            r.detail,
            r.hint,
        )
    })))
}
