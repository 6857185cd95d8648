//! `doctor()`: requirements of benchmarks, and whether they are met here; and findings that can be foreseen. It never fails
//! because something is missing: it reports that.

mod filesystems;
mod helper;
mod machine;
mod server;

use pgrx::{iter::TableIterator, name, pg_extern, pg_sys::panic::ErrorReport};

use pgfsbench_core::doctor::{helper::Description, report::Line};

use crate::{
    errors::Fault,
    pg::{session, text::ReturnedText},
};

use super::guard;

pub use helper::{description, place};

/// The state of each filesystem here, with the helper's report on it.
pub fn filesystems(description: Option<&Description>) -> Vec<Line> {
    let seen = description.map(|seen| seen.filesystems.as_slice());
    filesystems::check(seen.unwrap_or_default())
}

/// The whole report. In a transaction; reads with the rights of the extension's owner.
fn check() -> Result<Vec<Line>, Fault> {
    let extension = guard::extension()?;
    session::with_rights_of(extension.owner, || {
        let description = helper::description()?;
        let mut lines = server::check(&extension.version)?;
        lines.extend(machine::check());
        let filesystems = filesystems(description.as_ref().map(|(seen, _)| seen));
        lines.extend(helper::check(description)?);
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
            name!(subject, ReturnedText),
            name!(item, ReturnedText),
            name!(state, ReturnedText),
            name!(detail, Option<ReturnedText>),
            name!(hint, Option<ReturnedText>),
        ),
    >,
    ErrorReport,
> {
    let rows = check()?.into_iter();
    Ok(TableIterator::new(rows.map(|r| {
        (
            r.subject.into(),
            r.item.into(),
            r.state.into(),
            r.detail.map(ReturnedText),
            r.hint.map(ReturnedText),
        )
    })))
}
