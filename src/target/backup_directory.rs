//! A base backup in a directory that root has allowed becomes prepared data with a name.
//!
//! The backup is read by descriptors, and no link is followed: a directory that is renamed meanwhile does not lead the copy elsewhere. The copy
//! itself is checked before a server starts on it.

use std::{
    ffi::{CStr, OsStr, OsString},
    fs::{DirBuilder, File},
    io::{self, Read},
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::{
            ffi::{OsStrExt, OsStringExt},
            fs::{DirBuilderExt, OpenOptionsExt},
        },
    },
    path::{Component, Path, PathBuf},
};

use pgfsbench_core::{
    refusal::quoted,
    target::{
        backup::{self, Contents, Guarded},
        original::{self, Facts, Original, TABLESPACES, TEMPORARY},
    },
    units::format_bytes,
};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, fstat, openat, statat};

use super::{
    base_backup::{self, interrupts},
    prepared_data::{Place, Yields},
    server::{TargetServer, programs::Programs},
};
use crate::{
    errors::{Fault, of_file, sqlstate},
    pg::{report, session, xact},
    random,
};

/// Directories within each other; a data directory has fewer.
const DEEPEST: u32 = 16;
/// Bytes that are copied before the next check for interrupts.
const PART: u64 = 64 << 20;

/// Copies the backup in a directory, which has to be among those that are allowed. Gives the bytes of the copy. `owner` is that of the extension. When it is
/// complete, copies that `yields` names go beyond the limit.
pub fn prepare(
    owner: u32,
    name: &str,
    directory: &Path,
    allowed: &[PathBuf],
    yields: Yields,
) -> Result<u64, Fault> {
    original::check_name(name)?;
    backup::check_allowed(directory, allowed)?;
    let programs = base_backup::own_programs(owner)?;
    let backup = Backup::open(directory)?;
    backup.contents()?.check(base_backup::MAJOR)?;
    let bytes = backup.bytes()?;
    let place = Place::open(&mut interrupts)?;
    base_backup::check_free(&place, name)?;
    let needed = original::needed_bytes(bytes, 0);
    base_backup::make_room(&place, needed, yields)?;
    report::notice(
        format!("a backup of {} is copied", format_bytes(bytes)),
        Some("Copies load no libraries of the server that the backup is of.".into()),
    );
    let (server, lock) = place.receive(&random::mark(), needed)?;
    // Runs may use the place meanwhile.
    drop(place);
    let made = xact::catch(|| make(&backup, &server, &programs, owner, bytes));
    let kept = made.and_then(|made| made).and_then(|(facts, databases)| {
        let original = Original {
            name: name.to_owned(),
            libraries: Vec::new(),
            settings: facts.settings.clone(),
            system_identifier: Some(facts.system_identifier),
            databases: Some(databases),
        };
        base_backup::keep(&server, lock, &programs, &facts, original, yields)
    });
    // Only the directory of the socket is left of a copy that was kept.
    server.stop()?;
    server.remove(false)?;
    kept
}

/// Makes the copy, checks it, and has it recover. Gives the databases that a run can work in, too.
fn make(
    backup: &Backup,
    server: &TargetServer,
    programs: &Programs,
    owner: u32,
    bytes: u64,
) -> Result<(Facts, Vec<String>), Fault> {
    backup.copy_to(&server.data())?;
    let copy = Backup::at(server.data())?;
    let contents = copy.contents()?;
    contents.check(base_backup::MAJOR)?;
    let control = |data: &Path, name| server.control(&programs.bindir, data, name, &mut interrupts);
    let facts = backup::check_control(
        &control(&server.data(), "backup-control")?,
        &control(&session::data_directory(), "own-control")?,
        contents.label.is_some(),
        bytes,
    )?;
    if contents.has_manifest() {
        server.verify_backup(&programs.bindir, &mut interrupts)?;
    }
    let segment_bytes = facts.wal_segment_bytes;
    server.check_wal(
        &programs.bindir,
        &contents.wal,
        segment_bytes,
        &mut interrupts,
    )?;
    server.cut_off(&copy.not_of_postgres()?, &programs.user)?;
    // Recovery fails where it would make a link to a tablespace after all.
    server.close_tablespaces(true)?;
    let databases = base_backup::recover(server, programs, &facts, owner).map_err(not_recovered)?;
    server.close_tablespaces(false)?;
    Ok((facts, databases))
}

fn not_recovered(fault: Fault) -> Fault {
    if fault.is_cancel() {
        return fault;
    }
    let said = match fault.detail {
        Some(detail) => format!("{}: {detail}", fault.message),
        None => format!("{}.", fault.message),
    };
    Fault::new(sqlstate::NOT_IN_THIS_STATE, "the copy of the backup does not recover")
        .detail(said)
        .hint("A backup needs its WAL in pg_wal, a database postgres, and a superuser with the name of the server's operating system user.")
}

/// The directory of a backup, which stays the same whatever its path leads to meanwhile.
struct Backup {
    path: PathBuf,
    directory: OwnedFd,
    /// The operating system user of this server.
    user: u32,
}

/// A file or a directory of a backup.
enum Found {
    /// With its bytes.
    File(File, u64),
    Directory,
}

impl Backup {
    /// Opens a directory that this process has made.
    fn at(path: PathBuf) -> Result<Self, Fault> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(Self {
            directory: open_at(CWD, path.as_os_str().as_bytes(), &path, flags)?,
            user: rustix::process::geteuid().as_raw(),
            path,
        })
    }

    /// Opens a directory without following links. No other user can rename it, or a directory above it.
    fn open(path: &Path) -> Result<Self, Fault> {
        let user = rustix::process::geteuid().as_raw();
        let above = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut shown = PathBuf::from("/");
        let mut directory = open_at(CWD, c"/".to_bytes(), &shown, above)?;
        let names: Vec<&OsStr> = path
            .components()
            .filter_map(|part| match part {
                Component::Normal(name) => Some(name),
                _ => None,
            })
            .collect();
        for (number, name) in (1..).zip(&names) {
            check_guarded(&shown, &stat_of(directory.as_fd(), &shown)?, user, true)?;
            shown.push(name);
            let flags = match number == names.len() {
                true => above - OFlags::PATH,
                false => above,
            };
            directory = open_at(directory.as_fd(), name.as_bytes(), &shown, flags)?;
        }
        check_guarded(&shown, &stat_of(directory.as_fd(), &shown)?, user, false)?;
        Ok(Self {
            path: shown,
            directory,
            user,
        })
    }

    fn contents(&self) -> Result<Contents, Fault> {
        let below = |name: &str| -> Result<Vec<String>, Fault> {
            let path = self.path.join(name);
            let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            match openat(&self.directory, name, flags, Mode::empty()) {
                Ok(directory) => names(directory.as_fd(), &path),
                Err(rustix::io::Errno::NOENT) => Ok(Vec::new()),
                Err(error) => Err(not_opened(&path, error)),
            }
        };
        Ok(Contents {
            names: names(self.directory.as_fd(), &self.path)?,
            version: self.text("PG_VERSION")?,
            label: self.text("backup_label")?,
            wal: below("pg_wal")?,
            tablespaces: below(TABLESPACES)?,
        })
    }

    /// Names in the directory that a server does not need: settings, and what these may name, such as keys and logs.
    fn not_of_postgres(&self) -> Result<Vec<PathBuf>, Fault> {
        let names = raw_names(self.directory.as_fd(), &self.path)?.into_iter();
        let names = names.map(|name| PathBuf::from(OsString::from_vec(name)));
        let is_kept = |name: &Path| {
            original::is_of_postgres(name.as_os_str()) || name == Path::new("backup_label")
        };
        Ok(names.filter(|name| !is_kept(name)).collect())
    }

    /// A small file; None if it is not there.
    fn text(&self, name: &str) -> Result<Option<String>, Fault> {
        const LONGEST: u64 = 64 << 10;
        let path = self.path.join(name);
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(&self.directory, name, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(rustix::io::Errno::NOENT) => return Ok(None),
            Err(error) => return Err(not_opened(&path, error)),
        };
        let mut bytes = Vec::new();
        file.take(LONGEST)
            .read_to_end(&mut bytes)
            .map_err(|e| of_file("read", &path, &e))?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Bytes of all files. Refuses a backup with links, or with files that others can change.
    fn bytes(&self) -> Result<u64, Fault> {
        let mut bytes = 0;
        self.each(&mut |_, found| {
            if let Found::File(_, length) = found {
                bytes += length;
            }
            Ok(())
        })?;
        Ok(bytes)
    }

    /// Copies everything to a new directory.
    fn copy_to(&self, to: &Path) -> Result<(), Fault> {
        let make = |path: &Path| {
            let made = DirBuilder::new().mode(0o700).create(path);
            made.map_err(|e| of_file("create directory", path, &e))
        };
        make(to)?;
        self.each(&mut |relative, found| match found {
            Found::Directory => make(&to.join(relative)),
            Found::File(file, _) => copy_file(&file, &to.join(relative)),
        })
    }

    fn each(&self, see: &mut dyn FnMut(&Path, Found) -> Result<(), Fault>) -> Result<(), Fault> {
        self.each_below(self.directory.as_fd(), Path::new(""), 0, see)
    }

    fn each_below(
        &self,
        directory: BorrowedFd,
        relative: &Path,
        depth: u32,
        see: &mut dyn FnMut(&Path, Found) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let shown = self.path.join(relative);
        if depth > DEEPEST {
            return Err(no_backup(format!(
                "{} has more than {DEEPEST} directories within each other.",
                shown_as(&shown)
            )));
        }
        for name in raw_names(directory, &shown)? {
            interrupts()?;
            if name.starts_with(TEMPORARY) {
                continue;
            }
            let relative = relative.join(OsStr::from_bytes(&name));
            let path = self.path.join(&relative);
            let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let kind = statat(directory, name.as_slice(), AtFlags::SYMLINK_NOFOLLOW)
                .map(|stat| FileType::from_raw_mode(stat.st_mode))
                .map_err(|e| of_file("look at", &path, &e.into()))?;
            if !matches!(kind, FileType::RegularFile | FileType::Directory) {
                return Err(no_backup(match kind {
                    FileType::Symlink => format!("{} is a link.", shown_as(&path)),
                    _ => format!("{} is no file.", shown_as(&path)),
                }));
            }
            let opened = open_at(directory, &name, &path, flags)?;
            let stat = stat_of(opened.as_fd(), &path)?;
            check_guarded(&path, &stat, self.user, false)?;
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory => {
                    see(&relative, Found::Directory)?;
                    self.each_below(opened.as_fd(), &relative, depth + 1, see)?;
                }
                FileType::RegularFile => {
                    let length = u64::try_from(stat.st_size).unwrap_or(0);
                    see(&relative, Found::File(opened.into(), length))?;
                }
                _ => return Err(no_backup(format!("{} is no file.", shown_as(&path)))),
            }
        }
        Ok(())
    }
}

fn shown_as(path: &Path) -> String {
    quoted(&path.display().to_string())
}

fn no_backup(detail: String) -> Fault {
    Fault::new(
        sqlstate::NOT_IN_THIS_STATE,
        "the directory holds more than a backup",
    )
    .detail(format!("{detail} A copy follows no links, and has files and directories only."))
    .hint("Put the files themselves in place of links, or restore the backup on a test server, and copy that with from_server => true.")
}

fn not_opened(path: &Path, error: rustix::io::Errno) -> Fault {
    match error {
        // A link, which is not followed.
        rustix::io::Errno::LOOP | rustix::io::Errno::NOTDIR => {
            no_backup(format!("{} is a link, or no directory.", shown_as(path)))
        }
        error => of_file("open", path, &error.into()).hint(
            "The operating system user of this server has to be permitted to read the backup.",
        ),
    }
}

fn open_at(
    directory: BorrowedFd,
    name: &[u8],
    path: &Path,
    flags: OFlags,
) -> Result<OwnedFd, Fault> {
    openat(directory, name, flags, Mode::empty()).map_err(|error| not_opened(path, error))
}

fn stat_of(file: BorrowedFd, path: &Path) -> Result<Stat, Fault> {
    fstat(file).map_err(|e| of_file("look at", path, &e.into()))
}

fn check_guarded(path: &Path, stat: &Stat, user: u32, is_above: bool) -> Result<(), Fault> {
    let guarded = Guarded {
        owner: stat.st_uid,
        mode: stat.st_mode,
        is_above,
    };
    if guarded.is_safe_from_others(user) {
        return Ok(());
    }
    Err(Fault::new(
        sqlstate::NOT_ALLOWED,
        format!("other users can change {}", shown_as(path)),
    )
    .detail(format!(
        "It belongs to user {}, and its mode is {:o}.",
        guarded.owner,
        guarded.mode & 0o7777
    ))
    .hint("Have root or the server's operating system user own the backup and the directories above it, and take from others the right to write."))
}

/// Names in a directory, but for itself and the one above it.
fn raw_names(directory: BorrowedFd, path: &Path) -> Result<Vec<Vec<u8>>, Fault> {
    let unreadable = |e: rustix::io::Errno| of_file("read directory", path, &e.into());
    let mut names = Vec::new();
    for entry in Dir::read_from(directory).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name: &CStr = entry.file_name();
        if name != c"." && name != c".." {
            names.push(name.to_bytes().to_vec());
        }
    }
    names.sort_unstable();
    Ok(names)
}

fn names(directory: BorrowedFd, path: &Path) -> Result<Vec<String>, Fault> {
    let names = raw_names(directory, path)?.into_iter();
    Ok(names
        .map(|name| String::from_utf8_lossy(&name).into_owned())
        .collect())
}

fn copy_file(mut from: &File, to: &Path) -> Result<(), Fault> {
    let failed = |e: io::Error| of_file("write", to, &e);
    let mut file = File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(to)
        .map_err(failed)?;
    loop {
        let mut part = (&mut from).take(PART);
        if io::copy(&mut part, &mut file).map_err(failed)? == 0 {
            return Ok(());
        }
        interrupts()?;
    }
}
