//! What a run needs to know of a target, and the checks of it: when it is created, and again whenever it is used, since the
//! world may have changed, and a row may have come from a dump.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use pgfsbench_core::refusal::quoted;
use rustix::{
    fs::{Access, access},
    process::geteuid,
};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    environment::Location,
    errors::{Fault, sqlstate},
    pg::{session, sql},
};

/// Parts of the names of settings that name programs, libraries or other servers, or that pgfsbench sets itself.
const REFUSED_PARTS: [&str; 12] = [
    "_command",
    "_directories",
    "_libraries",
    "archive_",
    "control_path",
    "jit_provider",
    "library_path",
    "log_destination",
    "logging_collector",
    "primary_",
    "synchronous_standby_names",
    "unix_socket_",
];
/// Ends of names of settings that name files.
const REFUSED_ENDS: [&str; 4] = ["_directory", "_dir", "_file", "keyfile"];
/// The same, as whole names.
const REFUSED: [&str; 7] = [
    "cluster_name",
    "listen_addresses",
    "max_worker_processes",
    "port",
    "restore_command",
    "ssl",
    "shared_preload_libraries",
];

/// A target in a directory, checked.
pub struct Target {
    /// Where its servers are put; links resolved.
    pub directory: PathBuf,
    /// Settings of its servers.
    pub settings: BTreeMap<String, String>,
    /// The programs of its servers; None: those of this one.
    pub bindir: Option<PathBuf>,
}

/// A row of `fsbench.target`.
#[derive(Deserialize)]
struct Row {
    directory: Option<String>,
    mount_point: Option<String>,
    settings: Option<Value>,
    bindir: Option<String>,
}

fn invalid(message: impl Into<String>) -> Fault {
    Fault::new(sqlstate::INVALID_PARAMETER, message)
}

/// Looks a target up and checks all of it. In a transaction, with the owner's rights.
pub fn find(name: &str) -> Result<Target, Fault> {
    let text = sql::read(
        "SELECT to_jsonb(t) FROM fsbench.target t WHERE target = $1",
        &[Some(name)],
    )?;
    let Some(text) = text else {
        return Err(Fault::new(
            sqlstate::NOT_IN_THIS_STATE,
            format!("target \"{name}\" was dropped"),
        ));
    };
    let row: Row = serde_json::from_str(&text)
        .map_err(|e| Fault::new(sqlstate::INTERNAL, format!("unreadable target: {e}")))?;
    let directory = PathBuf::from(check_directory(row.directory)?);
    let mount_point = mount_point(&directory);
    if mount_point != row.mount_point {
        return Err(Fault::new(
            sqlstate::NOT_IN_THIS_STATE,
            format!("the filesystem of target \"{name}\" is not mounted as it was"),
        )
        .detail(format!(
            "Directory \"{}\" was on what is mounted at \"{}\", and is now on \"{}\".",
            directory.display(),
            row.mount_point.unwrap_or_default(),
            mount_point.unwrap_or_default()
        ))
        .hint(
            "Mount it, or call fsbench.alter_target() with the directory if the change is wanted.",
        ));
    }
    Ok(Target {
        directory,
        settings: row
            .settings
            .map(|settings| check_settings(&settings, row.bindir.is_none()))
            .transpose()?
            .unwrap_or_default(),
        bindir: row
            .bindir
            .map(|bindir| check_bindir(bindir).map(PathBuf::from))
            .transpose()?,
    })
}

/// Where the filesystem of a directory is mounted; None when that is not known.
pub fn mount_point(directory: &Path) -> Option<String> {
    Some(Location::of(directory)?.place()?.mount_point)
}

/// An existing directory that the server may write to and that is none of its own; links resolved.
pub fn check_directory(directory: Option<String>) -> Result<String, Fault> {
    let Some(given) = directory else {
        return Err(invalid("a target needs a directory")
            .detail("This version measures directories of filesystems that are mounted already.")
            .hint("Give the argument \"directory\"."));
    };
    let wrong = |what: &str, detail: String| {
        Err(invalid(format!("directory {} {what}", quoted(&given)))
            .detail(detail)
            .hint("Give an absolute path of an existing directory that the server's operating system user may write to."))
    };
    let path = Path::new(&given);
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
    if let Err(detail) = trustworthy(&path) {
        return wrong("cannot be trusted", detail);
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
fn trustworthy(path: &Path) -> Result<(), String> {
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
    if let Err(detail) = trustworthy(path) {
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

/// Settings of the server, as text.
pub fn check_settings(
    settings: &Value,
    known_here: bool,
) -> Result<BTreeMap<String, String>, Fault> {
    let wrong = |message: String, detail: &str| {
        Err(invalid(message)
            .detail(detail)
            .hint("Give an object of names and values, like {\"shared_buffers\": \"1GB\"}."))
    };
    let Some(object) = settings.as_object() else {
        return wrong(
            "settings is no JSON object".into(),
            "It holds the settings of the target server.",
        );
    };
    let mut checked = BTreeMap::new();
    for (name, value) in object {
        let lower = name.to_ascii_lowercase();
        let refused = REFUSED.contains(&lower.as_str())
            || REFUSED_PARTS.iter().any(|part| lower.contains(part))
            || REFUSED_ENDS.iter().any(|end| lower.ends_with(end));
        if refused {
            return wrong(
                format!("setting {} cannot be set for a target", quoted(name)),
                "It names files, programs or other servers, or is set by pgfsbench.",
            );
        }
        if !lower
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_.".contains(c))
        {
            return wrong(
                format!("{} is no name of a setting", quoted(name)),
                "Names of settings have letters, digits, underscores and dots.",
            );
        }
        let known = sql::read(
            "SELECT 1 FROM pg_catalog.pg_settings WHERE lower(name) = $1 AND context <> 'internal'",
            &[Some(&lower)],
        )?;
        if known_here && known.is_none() {
            return wrong(
                format!(
                    "unrecognized configuration parameter {} in settings",
                    quoted(name)
                ),
                "A target takes settings of the server.",
            );
        }
        let text = match value {
            serde_json::Value::String(text) => text.clone(),
            serde_json::Value::Number(_) | serde_json::Value::Bool(_) => value.to_string(),
            _ => {
                return wrong(
                    format!(
                        "the value of setting {} is no text, number or boolean",
                        quoted(name)
                    ),
                    "A setting has one value.",
                );
            }
        };
        if text.chars().any(char::is_control) {
            return wrong(
                format!(
                    "the value of setting {} contains a control character",
                    quoted(name)
                ),
                "It would break the configuration file.",
            );
        }
        checked.insert(lower, text);
    }
    Ok(checked)
}
