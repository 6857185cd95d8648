//! `doctor()`: what benchmarks need, and what of it is here; and what can be seen beforehand of what findings would tell. It
//! never fails because something is missing: that is what it says.

mod filesystems;
mod helper;
mod machine;
mod report;
mod server;

use crate::{errors::Fault, pg::session};

use super::guard;
pub use report::Line;

/// The whole report. In a transaction; reads with the rights of the extension's owner.
pub fn look() -> Result<Vec<Line>, Fault> {
    let extension = guard::extension()?;
    session::with_rights_of(extension.owner, || {
        let description = helper::description()?;
        let mut lines = server::look(&extension.version)?;
        lines.extend(machine::look());
        lines.extend(helper::look(description.as_ref())?);
        lines.extend(filesystems::look(description.map(|(d, _)| d.filesystems)));
        Ok(lines)
    })
}
