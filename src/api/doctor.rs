//! `doctor()`: requirements of benchmarks, and whether they are met here; and findings that can be foreseen. It never fails
//! because something is missing: it reports that.

mod filesystems;
mod helper;
mod machine;
mod server;

use pgrx::{iter::TableIterator, name, pg_extern, pg_sys::panic::ErrorReport};

use pgfsbench_core::doctor::report::Line;

use crate::{
    errors::Fault,
    pg::{session, text::Said},
};

use super::guard;

/// What of each filesystem is here. In a transaction, with the rights of the extension's owner.
pub fn filesystems() -> Result<Vec<Line>, Fault> {
    let description = helper::description()?;
    let seen = description.as_ref().map(|(seen, _)| &seen.filesystems);
    Ok(filesystems::look(seen.map_or(&[], Vec::as_slice)))
}

/// What the helper refuses until its configuration allows it: names of lines. As it last said; nothing where it has not served.
pub fn not_allowed() -> Result<Vec<String>, Fault> {
    let Some((seen, _)) = helper::description()? else {
        return Ok(Vec::new());
    };
    let lines = [
        ("kernel_settings", seen.kernel_settings),
        ("drop_caches", seen.drop_caches),
    ];
    let refused = lines.into_iter().filter(|(_, is)| *is == Some(false));
    Ok(refused.map(|(line, _)| line.to_owned()).collect())
}

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
            name!(subject, Said),
            name!(item, Said),
            name!(state, Said),
            name!(detail, Option<Said>),
            name!(hint, Option<Said>),
        ),
    >,
    ErrorReport,
> {
    let rows = look()?.into_iter();
    Ok(TableIterator::new(rows.map(|r| {
        (
            r.subject.into(),
            r.item.into(),
            r.state.into(),
            r.detail.map(Said),
            r.hint.map(Said),
        )
    })))
}
