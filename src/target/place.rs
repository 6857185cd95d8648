//! Directories that a target names: of its servers, and of their programs.

use std::{fs, path::Path};

use pgfsbench_core::refusal::quoted;
use rustix::{
    fs::{Access, access},
    process::geteuid,
};

use super::invalid;
use crate::{errors::Fault, host::location::Location, pg::session};

/// Mount point of the filesystem of a directory; None if it is not known.
pub fn mount_point(directory: &Path) -> Option<String> {
    Some(Location::of(directory)?.place()?.mount_point)
}

/// An existing directory that the server may write to and that is none of its own; links resolved.
pub fn check_directory(given: &str) -> Result<String, Fault> {
    let wrong = |what: &str, detail: String| {
        Err(invalid(format!("directory {} {what}", quoted(given)))
            .detail(detail)
            .hint("Give an absolute path of an existing directory that the server's operating system user may write to."))
    };
    let path = Path::new(given);
    if !path.is_absolute() {
        return wrong(
            "is no absolute path",
            "It does not begin with a slash.".into(),
        );
    }
    let path = match fs::canonicalize(path) {
        Ok(path) => path,
        Err(e) => return wrong("cannot be used", format!("The system says: {e}.")),
    };
    if !path.is_dir() {
        return wrong("cannot be used", "It is not a directory.".into());
    }
    if let Err(e) = access(&path, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK) {
        return wrong("cannot be used", format!("The system says: {e}."));
    }
    let own = fs::canonicalize(session::data_directory()).unwrap_or_default();
    if path.starts_with(&own) {
        return wrong(
            "belongs to this server",
            format!("The data directory is \"{}\".", own.display()),
        );
    }
    if let Err(detail) = is_trustworthy(&path) {
        return Err(invalid(format!("directory {} cannot be trusted", quoted(given)))
            .detail(detail)
            .hint("Let root or the server's operating system user own that directory, and nobody else write to it (chown, chmod go-w); or use another place."));
    }
    match path.to_str() {
        Some(text) if is_plain(text) => Ok(text.to_owned()),
        _ => wrong("has a name that cannot be used", PLAIN.into()),
    }
}

/// Programs evaluate paths in ways of their own: initdb gives them to a shell.
const PLAIN: &str =
    "Control characters and \" $ ` \\ ' , are not allowed in it, nor what is not UTF-8.";

fn is_plain(path: &str) -> bool {
    !path
        .chars()
        .any(|c| c.is_control() || "\"$`\\',".contains(c))
}

/// Whether nobody but root and the server's user can exchange what lies in a directory, or in one above it.
pub fn is_trustworthy(path: &Path) -> Result<(), String> {
    let own = geteuid().as_raw();
    for directory in path.ancestors() {
        let stat = rustix::fs::stat(directory).map_err(|e| format!("The system says: {e}."))?;
        let writable = stat.st_mode & 0o022 != 0 && stat.st_mode & 0o1000 == 0;
        if writable || (stat.st_uid != 0 && stat.st_uid != own) {
            return Err(format!(
                "Others than root and the server's operating system user can exchange what is in \"{}\".",
                directory.display()
            ));
        }
    }
    Ok(())
}

/// A directory with the programs of PostgreSQL.
pub fn check_bindir(given: String) -> Result<String, Fault> {
    let path = Path::new(&given);
    for program in ["initdb", "postgres"] {
        if !path.is_absolute() || !path.join(program).is_file() {
            return Err(invalid(format!(
                "{} is no directory of PostgreSQL programs",
                quoted(&given)
            ))
            .detail(format!(
                "There is no \"{program}\" in it, or it is no absolute path."
            ))
            .hint("Give what pg_config --bindir prints."));
        }
    }
    if let Err(detail) = is_trustworthy(path) {
        return Err(
            invalid(format!("directory {} cannot be trusted", quoted(&given)))
                .detail(detail)
                .hint("Use programs that only root or the server's user can change."),
        );
    }
    if !is_plain(&given) {
        return Err(invalid(format!(
            "directory {} has a name that cannot be used",
            quoted(&given)
        ))
        .detail(PLAIN)
        .hint("Use another path."));
    }
    Ok(given)
}
