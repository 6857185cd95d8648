//! Writes the configuration and the systemd unit.

use crate::config::{self, Config, Database, Device, Images};
use crate::exec;
use crate::probe;
use crate::probe::device::{self, Access};
use crate::secure::{self, failed};
use crate::voice::say;
use pgfsbench_core::helper::request::check_device_path;
use pgfsbench_core::helper::{Marks, Name};
use pgfsbench_core::proc::mount_of;
use pgfsbench_core::refusal::{Kind, Refusal, quoted};
use pgfsbench_core::units::parse_size;
use rustix::fs::{Mode, OFlags, openat, renameat};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Arguments {
    /// Database that has the extension; may be repeated
    #[arg(long = "database", value_name = "NAME", required = true)]
    databases: Vec<String>,
    /// Directory of the server's socket
    #[arg(long, default_value = "/run/postgresql")]
    socket: PathBuf,
    /// Port of the server, which is part of the socket's name
    #[arg(long, default_value_t = 5432)]
    port: u16,
    /// Role to connect as: a superuser, or one with the rights of the extension's owner
    #[arg(long, default_value = "postgres")]
    role: String,
    /// User that servers run as
    #[arg(long, default_value = "postgres")]
    server_user: String,
    /// Directory in which images may be made; made itself if it is missing
    #[arg(long, value_name = "DIRECTORY")]
    allow_images: Vec<PathBuf>,
    /// What all images in such a directory may take together
    #[arg(long, value_name = "SIZE", default_value = "16GB")]
    max: String,
    /// Device that may be erased if it is empty or was written by pgfsbench, by its path in /dev/disk/by-id
    #[arg(long, value_name = "PATH")]
    allow_device: Vec<String>,
    /// Let targets change the kernel's vm.dirty_* settings, which are the whole machine's, while they are prepared
    #[arg(long)]
    allow_kernel_settings: bool,
    /// Let runs drop the caches of the whole machine, so that they begin cold
    #[arg(long)]
    allow_drop_caches: bool,
    /// Replace a configuration that is there
    #[arg(long)]
    force: bool,
    /// Do not write the systemd unit
    #[arg(long)]
    no_unit: bool,
    /// Write below this directory instead of /
    #[arg(long, default_value = "/", value_name = "DIRECTORY")]
    prefix: PathBuf,
}

const HEAD: &str = "\
# What pgfsbench-helper, which is root, does for whoever asks it in these databases. Nobody but root may be able to
# write this file. A device with wipe = true is erased whatever it holds. Restart pgfsbench-helper after a change.

";

/// Writes the configuration to that path, and the unit.
pub fn run(arguments: &Arguments, path: &Path) -> Result<(), Refusal> {
    let mut config = configuration(arguments)?;
    let below = |path: &str| arguments.prefix.join(path.trim_start_matches('/'));
    config.check()?;
    // A packager's machine has other users.
    if arguments.prefix == Path::new("/") {
        crate::probe::user::ids(&config.server_user).map_err(|refusal| {
            Refusal::argument(format!("there is no user {}", quoted(&config.server_user)))
                .detail(refusal.detail.unwrap_or_default())
                .hint("Name the user that the servers run as: --server-user.")
        })?;
    }
    // What is written below a directory is found there by nobody but a packager, who has it in its usual place.
    let path = match arguments.prefix == Path::new("/") {
        true => path.to_owned(),
        false => below(config::PATH),
    };
    if path.exists() && !arguments.force {
        return Err(Refusal::new(
            Kind::NotInThisState,
            format!("{} exists", secure::shown(&path)),
        )
        .hint("Edit it, or replace it with --force."));
    }
    let program = match arguments.no_unit {
        true => None,
        false => Some(own_program()?),
    };
    for images in &mut config.images {
        secure::make_directory(&images.directory, 0o700)?;
        images.mount_point = mount_point_of(&images.directory)?;
    }
    let text = toml::to_string(&config).map_err(|e| {
        Refusal::new(Kind::Internal, "could not write the configuration").detail(e.to_string())
    })?;
    // What cannot be read back is not written.
    Config::parse(&text)?;
    put(&path, &format!("{HEAD}{text}"), 0o600)?;
    say!("wrote {}", path.display());
    if arguments.prefix == Path::new("/") {
        for name in &arguments.databases {
            match grant(arguments, name) {
                Ok(said) => say!("{said}"),
                // The server may not be there yet; what is missing then is said by the helper, too.
                Err(refusal) => say!(
                    "database {name}: could not see to the rights of role {}: {refusal}{}",
                    arguments.role,
                    refusal
                        .detail
                        .as_ref()
                        .map_or(String::new(), |detail| format!("\n  {detail}"))
                ),
            }
        }
    }
    let Some(program) = program else {
        return Ok(());
    };
    let text = match arguments.prefix == Path::new("/") {
        true => unit_text(&program, &path),
        false => unit_text(&program, Path::new(config::PATH)),
    };
    let installed = UNIT_DIRECTORIES
        .map(|directory| below(directory).join(UNIT_NAME))
        .into_iter()
        .find(|path| {
            std::fs::read_to_string(path).is_ok_and(|unit| start_of(&unit) == start_of(&text))
        });
    match installed {
        Some(unit) => say!("found {}", unit.display()),
        None => {
            let unit = below("/etc/systemd/system").join(UNIT_NAME);
            say!("{}", text.trim_end());
            put(&unit, &text, 0o644)?;
            say!("wrote {}", unit.display());
        }
    }
    if arguments.prefix == Path::new("/") && Path::new("/run/systemd/system").exists() {
        enable()?;
    } else {
        say!("enable it with: systemctl enable --now pgfsbench-helper");
    }
    Ok(())
}

/// Gives the role that connects the rights of the extension's owner, if it has not got them, and says what was done. As the
/// user that servers run as, by psql.
fn grant(arguments: &Arguments, database: &str) -> Result<String, Refusal> {
    const GRANT: &str = "\
        DO $$ DECLARE owner name := (SELECT pg_get_userbyid(extowner) FROM pg_catalog.pg_extension WHERE extname = 'pgfsbench'); \
          helper name := pg_catalog.current_setting('pgfsbench_setup.role'); \
        BEGIN \
          IF owner IS NULL THEN RAISE EXCEPTION 'extension \"pgfsbench\" is not installed; run CREATE EXTENSION pgfsbench'; END IF; \
          IF pg_catalog.pg_has_role(helper, owner, 'USAGE') THEN \
            RAISE NOTICE 'role \"%\" has the rights of the extension''s owner \"%\"', helper, owner; \
          ELSE \
            EXECUTE pg_catalog.format('GRANT %I TO %I', owner, helper); \
            RAISE NOTICE 'granted \"%\", the owner of the extension, to role \"%\"', owner, helper; \
          END IF; \
        END $$";
    let text = |program: PathBuf| program.display().to_string();
    let argv = vec![
        text(exec::require("runuser", "util-linux")?),
        "-u".into(),
        arguments.server_user.clone(),
        "--".into(),
        text(exec::require("env", "coreutils")?),
        format!("PGOPTIONS=-c pgfsbench_setup.role={}", arguments.role),
        text(exec::require("psql", "postgresql-client-15")?),
        "-X".into(),
        "-q".into(),
        "-w".into(),
        "-v".into(),
        "ON_ERROR_STOP=1".into(),
        format!(
            "--dbname=host={} port={} dbname={database} connect_timeout=10",
            arguments.socket.display(),
            arguments.port
        ),
        "-c".into(),
        GRANT.into(),
    ];
    let outcome = exec::run(&argv, exec::SHORT)?;
    match outcome.succeeded() {
        true => Ok(format!("database {database}: {}", outcome.output.trim())),
        false => Err(Refusal::new(Kind::System, "psql failed").detail(outcome.output.trim())),
    }
}

fn configuration(arguments: &Arguments) -> Result<Config, Refusal> {
    let max_bytes = parse_size(&arguments.max, 0)?;
    let plain = |text: &str| {
        !text.is_empty()
            && !text
                .chars()
                .any(|c| c.is_whitespace() || "'\\=".contains(c))
    };
    let socket = arguments.socket.display().to_string();
    if !plain(&socket) || !plain(&arguments.role) {
        return Err(Refusal::argument(
            "a socket directory or role with blanks, quotes or \"=\" is not supported here",
        )
        .hint("Write the configuration by hand."));
    }
    for path in &arguments.allow_device {
        check_device_path(path)?;
    }
    let database = |name: &String| {
        Ok(Database {
            name: Name::new(name.as_str())?,
            connection: match arguments.port {
                5432 => format!("host={socket} dbname={name} user={}", arguments.role),
                port => format!(
                    "host={socket} port={port} dbname={name} user={}",
                    arguments.role
                ),
            },
        })
    };
    Ok(Config {
        server_user: arguments.server_user.clone(),
        mount_root: config::default_mount_root(),
        state: config::default_state(),
        filesystems: config::all_filesystems(),
        kernel_settings: arguments.allow_kernel_settings,
        drop_caches: arguments.allow_drop_caches,
        database: arguments
            .databases
            .iter()
            .map(database)
            .collect::<Result<_, Refusal>>()?,
        images: arguments
            .allow_images
            .iter()
            .map(|directory| Images {
                directory: directory.clone(),
                max_bytes,
                max_images: config::default_max_images(),
                mount_point: None,
            })
            .collect(),
        device: arguments
            .allow_device
            .iter()
            .map(|path| allowed_device(path))
            .collect::<Result<_, Refusal>>()?,
    })
}

/// Where the filesystem of this directory is mounted, if that is not the root: it may be missing some day.
fn mount_point_of(directory: &Path) -> Result<Option<PathBuf>, Refusal> {
    let mounts = probe::mounts()?;
    let mount = mount_of(&mounts, &directory.display().to_string(), None);
    let mount_point = mount.map(|mount| PathBuf::from(&mount.mount_point));
    Ok(mount_point.filter(|path| path != Path::new("/")))
}

/// This program, which root is going to run at each start of the machine: so nobody else may be able to change it.
fn own_program() -> Result<PathBuf, Refusal> {
    let program = std::env::current_exe().map_err(|e| {
        Refusal::new(Kind::System, "where is this program?").detail(format!("{e}."))
    })?;
    secure::check_file(&program)?;
    Ok(program)
}

/// The device that is there now, and no other that the path may lead to some day.
fn allowed_device(path: &str) -> Result<Device, Refusal> {
    let found = device::open(path, Access::Glance)?.identity()?;
    let marks = Marks {
        bytes: None,
        ..found.marks()
    };
    if marks.is_anonymous() {
        say!(
            "device {path}: it has no serial number, WWN or partition UUID, and is known by its path alone"
        );
    }
    Ok(Device {
        path: path.to_owned(),
        wipe: false,
        serial: marks.serial,
        wwn: marks.wwn,
        partition_uuid: marks.partition_uuid,
    })
}

/// The unit as packages install it.
const UNIT: &str = include_str!("../pgfsbench-helper.service");
const UNIT_NAME: &str = "pgfsbench-helper.service";
/// Where packages and `make install` put units.
const UNIT_DIRECTORIES: [&str; 2] = ["/usr/lib/systemd/system", "/lib/systemd/system"];

/// The unit for the program where it is.
fn unit_text(program: &Path, configuration: &Path) -> String {
    let mut command = program.display().to_string();
    if configuration != Path::new(config::PATH) {
        command += &format!(" --config {}", configuration.display());
    }
    UNIT.replace(config::PATH, &configuration.display().to_string())
        .replace("/usr/sbin/pgfsbench-helper", &command)
}

/// The line of a unit that starts the program.
fn start_of(unit: &str) -> Option<&str> {
    unit.lines().find(|line| line.starts_with("ExecStart="))
}

fn enable() -> Result<(), Refusal> {
    let systemctl = exec::require("systemctl", "systemd")?.display().to_string();
    for words in [
        &["daemon-reload"][..],
        &["enable", "--now", "pgfsbench-helper"],
    ] {
        let mut argv = vec![systemctl.clone()];
        argv.extend(words.iter().map(|&w| w.to_owned()));
        let outcome = exec::run(&argv, exec::SHORT)?;
        if !outcome.succeeded() {
            return Err(outcome.refusal().hint(
                "The configuration and the unit are written. See what systemd says, and then run: systemctl daemon-reload, and systemctl enable --now pgfsbench-helper.",
            ));
        }
        say!("{}", argv.join(" "));
    }
    Ok(())
}

/// Writes a file as a whole, in a directory that is root's.
fn put(path: &Path, text: &str, mode: u32) -> Result<(), Refusal> {
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
