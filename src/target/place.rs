//! Directories that a target names: of its servers, and of their programs.

use std::{fs, path::Path};

use pgfsbench_core::{
    refusal::quoted,
    target::trust::{self, Group},
};
use rustix::{
    fs::{Access, access, getxattr},
    process::{getegid, geteuid, getgroups},
};

use super::invalid;
use crate::{
    errors::Fault,
    host::location::Location,
    pg::{passwd, session},
};

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
    match fs::metadata(&path) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return wrong("cannot be used", "It is not a directory.".into()),
        Err(e) => return wrong("cannot be used", format!("The system says: {e}.")),
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
            .hint("Let root or the server's operating system user own that directory, and no other user write to it (chown, chmod go-w); or use another place."));
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

/// Refuses a directory that others than root and the server's user could exchange, or what lies in it, with a DETAIL.
pub fn is_trustworthy(path: &Path) -> Result<(), String> {
    let said = |e: rustix::io::Errno| format!("The system says: {e}.");
    for directory in path.ancestors() {
        let stat = rustix::fs::stat(directory).map_err(said)?;
        let group = match trust::group_writes(stat.st_mode) {
            true => Some(group_of(directory, stat.st_gid)?),
            false => None,
        };
        let seen = trust::Directory {
            owner: stat.st_uid,
            mode: stat.st_mode,
            group,
        };
        let own = geteuid().as_raw();
        trust::check(&directory.display().to_string(), &seen, own)?;
    }
    Ok(())
}

/// The attribute that holds an access control list, whose mask then stands in the place of the group's rights.
const LIST: &str = "system.posix_acl_access";

/// Where the C library reads which services know users and groups.
const NSSWITCH: &str = "/etc/nsswitch.conf";

fn group_of(directory: &Path, gid: u32) -> Result<Group, String> {
    let own = geteuid().as_raw();
    let groups = getgroups().unwrap_or_default();
    let is_own = getegid().as_raw() == gid || groups.iter().any(|group| group.as_raw() == gid);
    let said =
        |e: std::io::Error| format!("The system cannot list the members of group {gid}: {e}.");
    let name = passwd::group_name(gid).map_err(said)?;
    let others = match is_own {
        true => passwd::members_of(gid, own).map_err(said)?,
        false => Vec::new(),
    };
    let lists_all = || fs::read_to_string(NSSWITCH).is_ok_and(|text| trust::lists_all(&text));
    let has_no_more = passwd::is_private(gid, own).map_err(said)? || lists_all();
    let list = getxattr(directory, LIST, &mut [0_u8; 0]);
    Ok(Group {
        name: name.unwrap_or_else(|| gid.to_string()),
        is_own,
        others,
        has_no_more,
        has_list: list.is_ok_and(|bytes| bytes > 0),
    })
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
