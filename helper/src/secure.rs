//! Files and directories that only root can have changed. What the helper reads, and where it makes something, is opened
//! component by component without following symbolic links; every directory on the way belongs to root and cannot be
//! written by others. Then a path stays what it was when it was checked.

use pgfsbench_core::quoting;
use pgfsbench_core::refusal::{Kind, Refusal, quoted};
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, Stat, fchmod, fstat, mkdirat, openat, statat,
};
use rustix::io::Errno;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path};

const STICKY: u32 = 0o1000;
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// Opens a directory that only root can change or replace.
pub fn open_directory(path: &Path) -> Result<OwnedFd, Refusal> {
    walk(path, Missing::Refuse)
}

/// Opens such a directory; missing directories are made, with these rights.
pub fn make_directory(path: &Path, mode: u32) -> Result<OwnedFd, Refusal> {
    walk(path, Missing::Make(mode))
}

/// Refuses what `make_directory` would refuse, and makes nothing.
pub fn check_place(path: &Path) -> Result<(), Refusal> {
    walk(path, Missing::End).map(drop)
}

/// The treatment of a directory that is missing on the way.
#[derive(Clone, Copy)]
enum Missing {
    Refuse,
    Make(u32),
    /// Return the part of the path that is there.
    End,
}

fn walk(path: &Path, missing: Missing) -> Result<OwnedFd, Refusal> {
    let names = plain_components(path)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut directory =
        openat(CWD, "/", flags, Mode::empty()).map_err(|e| failed("open", Path::new("/"), e))?;
    let mut so_far = std::path::PathBuf::from("/");
    for (i, name) in names.iter().enumerate() {
        so_far.push(name);
        let opened = match (openat(&directory, *name, flags, Mode::empty()), missing) {
            (Err(Errno::NOENT), Missing::End) => return Ok(directory),
            (Err(Errno::NOENT), Missing::Make(mode)) => {
                mkdirat(&directory, *name, Mode::from_raw_mode(mode))
                    .and_then(|()| openat(&directory, *name, flags, Mode::empty()))
                    .and_then(|made| fchmod(&made, Mode::from_raw_mode(mode)).map(|()| made))
            }
            (opened, _) => opened,
        };
        directory = opened.map_err(|e| match e {
            Errno::LOOP | Errno::NOTDIR => Refusal::new(
                Kind::NotAllowed,
                format!("{} is not a directory", shown(&so_far)),
            )
            .detail("Symbolic links are not followed.")
            .hint("Give the real path."),
            e => failed("open directory", &so_far, e),
        })?;
        let stat = fstat(&directory).map_err(|e| failed("stat", &so_far, e))?;
        // In a sticky directory, such as /tmp, other users cannot rename or remove root's files.
        let may_be_shared = i + 1 < names.len() && stat.st_mode & STICKY != 0;
        check_owner(&so_far, &stat, may_be_shared)?;
    }
    Ok(directory)
}

fn plain_components(path: &Path) -> Result<Vec<&std::ffi::OsStr>, Refusal> {
    let mut components = path.components();
    let names: Option<Vec<_>> = match components.next() {
        Some(Component::RootDir) => components
            .map(|component| match component {
                Component::Normal(name) => Some(name),
                _ => None,
            })
            .collect(),
        _ => None,
    };
    names.filter(|names| !names.is_empty()).ok_or_else(|| {
        Refusal::new(
            Kind::InvalidArgument,
            format!("invalid path {}", shown(path)),
        )
        .detail("It must be absolute, without \"..\".")
        .hint("Give the full path.")
    })
}

fn check_owner(path: &Path, stat: &Stat, may_be_shared: bool) -> Result<(), Refusal> {
    if stat.st_uid != 0 {
        return Err(
            unsafe_place(path, &format!("It belongs to user {}.", stat.st_uid)).hint(format!(
                "Run: chown root {}.",
                quoting::shell(&path.display().to_string())
            )),
        );
    }
    if stat.st_mode & WRITABLE_BY_OTHERS != 0 && !may_be_shared {
        return Err(
            unsafe_place(path, &format!("Its mode is {:o}.", stat.st_mode & 0o7777)).hint(format!(
                "Run: chmod go-w {}.",
                quoting::shell(&path.display().to_string())
            )),
        );
    }
    Ok(())
}

fn unsafe_place(path: &Path, detail: &str) -> Refusal {
    let message = format!("{} can be changed by others than root", shown(path));
    Refusal::new(Kind::NotAllowed, message).detail(detail)
}

/// Reads a file of this directory that only root can have written; None if there is none.
pub fn read_file(
    directory: impl AsFd,
    name: &str,
    shown_as: &Path,
    longest: u64,
) -> Result<Option<String>, Refusal> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let fd = match openat(directory, name, flags, Mode::empty()) {
        Ok(fd) => fd,
        Err(Errno::NOENT) => return Ok(None),
        Err(e) => return Err(failed("open", shown_as, e)),
    };
    let stat = fstat(&fd).map_err(|e| failed("stat", shown_as, e))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || stat.st_nlink > 1 {
        return Err(unsafe_place(shown_as, "It is not a plain file.").hint("Remove it."));
    }
    check_owner(shown_as, &stat, false)?;
    let mut text = String::new();
    File::from(fd)
        .take(longest + 1)
        .read_to_string(&mut text)
        .map_err(|e| {
            Refusal::new(Kind::System, format!("could not read {}", shown(shown_as)))
                .detail(format!("{e}."))
        })?;
    if text.len() as u64 > longest {
        let message = format!("{} is too long", shown(shown_as));
        return Err(Refusal::new(Kind::NotAllowed, message));
    }
    Ok(Some(text))
}

/// Refuses a file that others than root can change, or exchange by changing a directory on the way to it.
pub fn check_file(path: &Path) -> Result<(), Refusal> {
    let (parent, name) = path
        .parent()
        .zip(path.file_name().and_then(|name| name.to_str()))
        .ok_or_else(|| Refusal::argument(format!("invalid path {}", shown(path))))?;
    let directory = open_directory(parent)?;
    let stat = stat_entry(&directory, name)
        .and_then(|stat| stat.ok_or(Errno::NOENT))
        .map_err(|e| failed("stat", path, e))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(unsafe_place(path, "It is not a plain file.").hint("Give the real path."));
    }
    check_owner(path, &stat, false)
}

/// The status of a name in a directory; a symbolic link is not followed. None if there is nothing.
pub fn stat_entry(directory: impl AsFd, name: &str) -> Result<Option<Stat>, Errno> {
    match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(e) => Err(e),
    }
}

/// The operating system's refusal.
pub fn failed(what: &str, path: &Path, error: Errno) -> Refusal {
    let error = std::io::Error::from(error);
    Refusal::new(Kind::System, format!("could not {what} {}", shown(path)))
        .detail(format!("{error}."))
}

/// A path in quotes.
pub fn shown(path: &Path) -> String {
    quoted(&path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_root_may_be_able_to_change_what_is_trusted() {
        let path = Path::new("/etc/pgfsbench/helper.toml");
        let stat = |uid, mode| {
            let mut stat = rustix::fs::stat("/proc").unwrap();
            (stat.st_uid, stat.st_mode) = (uid, mode);
            stat
        };
        for mode in [0o600, 0o644, 0o755] {
            assert_eq!(check_owner(path, &stat(0, mode), false), Ok(()));
        }
        let refused = |stat: &Stat| {
            let refusal = check_owner(path, stat, false).unwrap_err();
            assert_eq!(refusal.kind, Kind::NotAllowed);
            assert!(
                refusal
                    .message
                    .ends_with("can be changed by others than root")
            );
            refusal.hint.unwrap()
        };
        for mode in [0o620, 0o602, 0o666, 0o777, 0o1777] {
            let hint = refused(&stat(0, mode));
            assert!(hint.starts_with("Run: chmod go-w "), "{mode:o}: {hint}");
        }
        assert!(refused(&stat(26, 0o600)).starts_with("Run: chown root "));
        // In a directory like /tmp others rename nothing of root's.
        assert_eq!(check_owner(path, &stat(0, 0o1777), true), Ok(()));
    }

    /// Each way to a file asks for owner and mode: of the file, and of each directory on the way.
    #[test]
    fn a_file_that_others_can_change_is_not_trusted() {
        if !rustix::process::geteuid().is_root() {
            // Past the harness, for tools/check, which counts such lines.
            let line = "\nskipped: a_file_that_others_can_change_is_not_trusted: needs root\n";
            let _ = std::io::Write::write_all(&mut std::io::stdout().lock(), line.as_bytes());
            return;
        }
        let place = tempfile::tempdir().unwrap();
        let outer = place.path().join("outer");
        let directory = outer.join("inner");
        std::fs::create_dir_all(&directory).unwrap();
        let file = directory.join("file");
        std::fs::write(&file, "text").unwrap();
        let set = |path: &Path, mode, uid| {
            std::os::unix::fs::chown(path, Some(uid), None).unwrap();
            std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))
                .unwrap();
        };
        let read = || read_file(open_directory(&directory)?, "file", &file, 100);
        let refused = || {
            let refusals = [check_file(&file).err(), read().err()];
            refusals.map(|refusal| {
                refusal.is_some_and(|r| r.message.ends_with("can be changed by others than root"))
            })
        };
        for path in [&outer, &directory, &file] {
            set(path, 0o755, 0);
        }
        assert_eq!(
            (check_file(&file), read()),
            (Ok(()), Ok(Some("text".into())))
        );
        for path in [&outer, &directory, &file] {
            for (mode, uid) in [(0o777, 0), (0o775, 0), (0o755, 26)] {
                set(path, mode, uid);
                assert_eq!(refused(), [true, true], "{} {mode:o} {uid}", path.display());
            }
            set(path, 0o755, 0);
        }
        assert_eq!(refused(), [false, false]);
    }

    #[test]
    fn links_are_not_followed() {
        // The kernel's own directory, which has a link and a file.
        for (path, message) in [
            ("/proc/self/task", "\"/proc/self\" is not a directory"),
            ("/proc/version/x", "\"/proc/version\" is not a directory"),
            ("proc", "invalid path \"proc\""),
            ("/proc/../etc", "invalid path \"/proc/../etc\""),
        ] {
            let refusal = open_directory(Path::new(path)).unwrap_err();
            assert_eq!(refusal.message, message);
        }
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        std::fs::write(at("real"), "text").unwrap();
        std::fs::hard_link(at("real"), at("hard")).unwrap();
        std::os::unix::fs::symlink(at("real"), at("soft")).unwrap();
        let directory = File::open(place.path()).unwrap();
        let read = |name: &str| read_file(&directory, name, &at(name), 10);
        assert_eq!(read("none"), Ok(None));
        let refusal = read("soft").unwrap_err();
        assert!(refusal.message.starts_with("could not open "), "{refusal}");
        let refusal = read("hard").unwrap_err();
        assert_eq!(refusal.detail.unwrap(), "It is not a plain file.");
    }
}
