//! Writes the configuration, or adds to it, and the systemd unit: once everything that it takes is known to be there.

mod merge;
mod unit;
pub mod visit;

use crate::config::{self, Config};
use crate::output::say;
use crate::probe;
use crate::secure::{self, failed};
use pgfsbench_core::refusal::{Kind, Refusal, quoted};
use rustix::fs::{Mode, OFlags, openat, renameat};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use visit::VisitResult;

#[derive(clap::Args)]
pub struct Arguments {
    /// Database that has the extension; may be repeated
    #[arg(long = "database", value_name = "NAME")]
    databases: Vec<String>,
    /// Directory of the server's socket [default: /run/postgresql]
    #[arg(long, value_name = "DIRECTORY")]
    socket: Option<PathBuf>,
    /// Port of the server, which is part of the socket's name [default: 5432]
    #[arg(long)]
    port: Option<u16>,
    /// Role to connect as: a superuser, or one with the rights of the extension's owner [default: postgres]
    #[arg(long, value_name = "NAME")]
    role: Option<String>,
    /// User that servers run as [default: postgres]
    #[arg(long, value_name = "USER")]
    server_user: Option<String>,
    /// Directory in which images may be made; made itself if it is missing
    #[arg(long, value_name = "DIRECTORY")]
    allow_images: Vec<PathBuf>,
    /// Size that all images in such a directory may take together [default: 16GB]
    #[arg(long, value_name = "SIZE")]
    max: Option<String>,
    /// Device that may be erased if it is empty or was written by pgfsbench, by its path in /dev/disk/by-id
    #[arg(long, value_name = "PATH")]
    allow_device: Vec<String>,
    /// Let the devices that --allow-device names be erased even if they hold what pgfsbench did not write (a partition table never is)
    #[arg(long, requires = "allow_device")]
    wipe: bool,
    /// Let targets change the kernel's vm.dirty_* settings, which are the whole machine's, while they are prepared
    #[arg(long)]
    allow_kernel_settings: bool,
    /// Let runs drop the caches of the whole machine, so that they begin cold
    #[arg(long)]
    allow_drop_caches: bool,
    /// Let runs cut the power of images: root mounts filesystems whose contents the server's user influences
    #[arg(long)]
    allow_power_cuts: bool,
    /// Directory with base backups that fsbench.prepare_data() may copy; may be repeated
    #[arg(long, value_name = "DIRECTORY")]
    allow_backup: Vec<PathBuf>,
    /// Replace the configuration that is there, instead of adding to it
    #[arg(long)]
    force: bool,
    /// Do not write the systemd unit
    #[arg(long)]
    no_unit: bool,
    /// Do not look whether the server is there, and has the extension
    #[arg(long)]
    no_check: bool,
    /// Write below this directory instead of /, and ask no server
    #[arg(long, default_value = "/", value_name = "DIRECTORY")]
    prefix: PathBuf,
}

impl Arguments {
    fn socket(&self) -> &Path {
        self.socket
            .as_deref()
            .unwrap_or(Path::new("/run/postgresql"))
    }

    fn role(&self) -> &str {
        self.role.as_deref().unwrap_or("postgres")
    }

    /// True if setup is for this machine, and not for a package (`--prefix`).
    fn is_for_here(&self) -> bool {
        self.prefix == Path::new("/")
    }

    fn below(&self, path: &str) -> PathBuf {
        self.prefix.join(path.trim_start_matches('/'))
    }
}

/// Writes the configuration to that path, and the unit.
pub fn run(arguments: &Arguments, path: &Path) -> Result<(), Refusal> {
    if arguments.is_for_here() && !rustix::process::geteuid().is_root() {
        return Err(Refusal::new(Kind::NotAllowed, "setup takes root")
            .detail("It writes the configuration that only root may change, and becomes the server's user.")
            .hint("Call it with sudo."));
    }
    // The files of a package will be in their usual place.
    let path = match arguments.is_for_here() {
        true => path.to_owned(),
        false => arguments.below(config::PATH),
    };
    let old = match path.exists() && !arguments.force {
        true => Some(Config::load_with_text(&path).map_err(add_to_it)?),
        false => None,
    };
    let mut config = merge::merged(old.as_ref().map(|(config, _)| config), arguments)?;
    let program = match arguments.no_unit {
        true => None,
        false => Some(unit::own_program()?),
    };
    for images in &config.images {
        secure::check_place(&images.directory)?;
    }
    if arguments.is_for_here() {
        see_to_databases(arguments, &config)?;
    }
    // From here on something is written.
    for images in &mut config.images {
        let was_there = images.directory.exists();
        secure::make_directory(&images.directory, 0o700)?;
        if !was_there {
            say!("made directory {}", images.directory.display());
        }
        if images.mount_point.is_none() {
            images.mount_point = mount_point_of(&images.directory)?;
        }
    }
    let has_changed = write(&path, old.as_ref(), &config)?;
    let anew = has_changed && old.is_some();
    let Some(program) = program else {
        unit::say_how_to_serve(&path, anew);
        return Ok(());
    };
    start(arguments, &program, &path, anew)
}

fn add_to_it(refusal: Refusal) -> Refusal {
    refusal.hint("Put it right, or replace it with --force.")
}

/// Writes the configuration. True if it differs from the old one.
fn write(path: &Path, old: Option<&(Config, String)>, new: &Config) -> Result<bool, Refusal> {
    let before = old.map(|(config, text)| (config, text.as_str()));
    let text = merge::text(before, new)?;
    if before.is_some_and(|(_, before)| before == text) {
        say!("{} says so already", path.display());
        return Ok(false);
    }
    if let Some((_, before)) = before.filter(|(_, before)| !text.contains(before)) {
        let kept = path.with_extension("toml.old");
        write_file(&kept, before, 0o600)?;
        say!("kept what it was in {}", kept.display());
    }
    write_file(path, &text, 0o600)?;
    say!("wrote {}", path.display());
    Ok(true)
}

fn start(arguments: &Arguments, program: &Path, path: &Path, anew: bool) -> Result<(), Refusal> {
    if !arguments.is_for_here() {
        unit::write(program, Path::new(config::PATH), &arguments.prefix)?;
        say!("enable it with: systemctl enable --now pgfsbench-helper");
        return Ok(());
    }
    if !unit::is_used() {
        say!("no systemd runs here");
        unit::say_how_to_serve(path, anew);
        return Ok(());
    }
    unit::write(program, path, &arguments.prefix)?;
    unit::enable(anew)
}

fn ids_of_server_user(user: &str) -> Result<(u32, u32), Refusal> {
    crate::probe::user::ids(user).map_err(|refusal| {
        Refusal::argument(format!("there is no user {}", quoted(user)))
            .detail(refusal.detail.unwrap_or_default())
            .hint("Name the user that the servers run as: --server-user.")
    })
}

/// Looks at each database that is named, and gives the role that connects the rights of the extension's owner where it lacks
/// them: all are there before the first is changed.
fn see_to_databases(arguments: &Arguments, config: &Config) -> Result<(), Refusal> {
    let ids = ids_of_server_user(&config.server_user)?;
    warn_of_open_directory(arguments);
    if arguments.no_check {
        return Ok(());
    }
    let mut lacking = Vec::new();
    for name in &arguments.databases {
        let connection = &config.database(Some(name))?.connection;
        let found = visit::inspect(ids, connection, None).map_err(|refusal| of(name, refusal))?;
        check(name, &found)?;
        match found.has_rights {
            true => say!(
                "database {name}: its role has the rights of the extension's owner {}",
                quoted(&found.owner)
            ),
            false => lacking.push((name, found.owner)),
        }
    }
    for (name, owner) in lacking {
        let (own, role) = (
            connection(arguments, name, &config.server_user)?,
            arguments.role(),
        );
        visit::inspect(ids, &own, Some(role)).map_err(|refusal| of(name, refusal))?;
        say!(
            "database {name}: granted {}, the owner of the extension, to role {}",
            quoted(&owner),
            quoted(role)
        );
    }
    Ok(())
}

fn of(database: &str, refusal: Refusal) -> Refusal {
    Refusal {
        message: format!("database {}: {}", quoted(database), refusal.message),
        ..refusal
    }
}

fn check(database: &str, found: &VisitResult) -> Result<(), Refusal> {
    let own = env!("CARGO_PKG_VERSION");
    match found.version.as_deref() {
        Some(version) if version == own => Ok(()),
        Some(version) => Err(Refusal::new(
            Kind::NotInThisState,
            format!(
                "database {}: the extension has another version than the helper",
                quoted(database)
            ),
        )
        .detail(format!("It has {}, and the helper {own}.", quoted(version)))
        .hint("Install the same version of both, and run ALTER EXTENSION pgfsbench UPDATE.")),
        None => Err(Refusal::new(
            Kind::NotInThisState,
            format!("database {} does not have the extension", quoted(database)),
        )
        .hint("Run in that database, as a superuser: CREATE EXTENSION pgfsbench; then run setup again.")),
    }
}

fn warn_of_open_directory(arguments: &Arguments) {
    let directory = arguments.socket();
    if !arguments.databases.is_empty() && merge::is_open_to_all(directory) {
        say!(
            "note: every user of this machine may write to {}. While the server is down, another program can listen there: the \
             helper says nothing to it, but serves nobody until it is gone. Better is a directory of the server's user alone \
             (unix_socket_directories).",
            directory.display()
        );
    }
}

/// The connection parameters of a database as this role.
fn connection(arguments: &Arguments, database: &str, role: &str) -> Result<String, Refusal> {
    let plain = |text: &str| {
        !text.is_empty()
            && !text
                .chars()
                .any(|c| c.is_whitespace() || "'\\=".contains(c))
    };
    let socket = arguments.socket().display().to_string();
    if !plain(&socket) || !plain(role) {
        return Err(Refusal::argument(
            "a socket directory or role with blanks, quotes or \"=\" is not supported here",
        )
        .hint("Write the configuration by hand."));
    }
    Ok(match arguments.port {
        None | Some(5432) => format!("host={socket} dbname={database} user={role}"),
        Some(port) => format!("host={socket} port={port} dbname={database} user={role}"),
    })
}

/// The mount point of a directory's filesystem; None if that is `/`, which is never missing.
fn mount_point_of(directory: &Path) -> Result<Option<PathBuf>, Refusal> {
    let mount = probe::mount_of_directory(directory)?;
    let mount_point = mount.map(|mount| PathBuf::from(mount.mount_point));
    Ok(mount_point.filter(|path| path != Path::new("/")))
}

/// Writes a file as a whole, in a directory that is root's.
fn write_file(path: &Path, text: &str, mode: u32) -> Result<(), Refusal> {
    let parent = path.parent().unwrap_or(Path::new("/"));
    let name = path
        .file_name()
        .and_then(|n| n.to_str())
        .unwrap_or_default();
    let directory = secure::make_directory(parent, 0o755)?;
    let temporary = format!(".{name}.new");
    let flags =
        OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(&directory, &temporary, flags, Mode::from_raw_mode(mode))
        .map_err(|e| failed("create", path, e))?;
    let mut file = File::from(file);
    file.write_all(text.as_bytes())
        .and_then(|()| file.sync_all())
        .map_err(|e| {
            Refusal::new(
                Kind::System,
                format!("could not write {}", secure::shown(path)),
            )
            .detail(format!("{e}."))
        })?;
    renameat(&directory, &temporary, &directory, name).map_err(|e| failed("rename", path, e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_whom_the_machine_does_not_know_is_refused() {
        let refusal = ids_of_server_user("nobody-of-that-name").unwrap_err();
        assert_eq!(refusal.message, "there is no user \"nobody-of-that-name\"");
        assert!(refusal.hint.unwrap().contains("--server-user"));
        assert_eq!(ids_of_server_user("root"), Ok((0, 0)));
    }
}
