//! Merges what setup was asked for into the configuration that is there.

use super::Arguments;
use crate::config::{self, Config, Database, Device, Images};
use crate::output::say;
use crate::probe::contents::Contents;
use crate::probe::device::{self, Access, DeviceFacts};
use pgfsbench_core::helper::request::check_device_path;
use pgfsbench_core::helper::{Marks, Name};
use pgfsbench_core::refusal::{Kind, Refusal};
use pgfsbench_core::units::{format_bytes, parse_size};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A configuration that allows nothing.
fn empty() -> Config {
    Config {
        server_user: config::default_user(),
        mount_root: config::default_mount_root(),
        state: config::default_state(),
        filesystems: config::all_filesystems(),
        kernel_settings: false,
        drop_caches: false,
        power_cuts: false,
        backups: Vec::new(),
        database: Vec::new(),
        images: Vec::new(),
        device: Vec::new(),
    }
}

/// The old configuration with what is asked for.
pub fn merged(old: Option<&Config>, arguments: &Arguments) -> Result<Config, Refusal> {
    let mut config = old.cloned().unwrap_or_else(empty);
    if let Some(user) = &arguments.server_user {
        config.server_user = user.clone();
    }
    config.kernel_settings |= arguments.allow_kernel_settings;
    config.drop_caches |= arguments.allow_drop_caches;
    config.power_cuts |= arguments.allow_power_cuts;
    for directory in &arguments.allow_backup {
        if !config.backups.contains(directory) {
            config.backups.push(directory.clone());
        }
    }
    add_databases(&mut config, arguments)?;
    add_images(&mut config, arguments)?;
    for path in &arguments.allow_device {
        check_device_path(path)?;
        let known = config.device.iter_mut().find(|device| device.path == *path);
        match known {
            // It may hold something else by now.
            Some(old) if arguments.wipe => {
                check_now(path, true, &inspect(path)?)?;
                old.wipe = true;
            }
            Some(_) => {
                say!("device {path} is in the configuration already, and stays as it is there")
            }
            None => config.device.push(allowed_device(path, arguments.wipe)?),
        }
    }
    config.check()?;
    if config.database.is_empty() {
        return Err(Refusal::argument("no database is named")
            .hint("Give one that has the extension: --database NAME."));
    }
    Ok(config)
}

fn add_databases(config: &mut Config, arguments: &Arguments) -> Result<(), Refusal> {
    let says_how =
        arguments.socket.is_some() || arguments.port.is_some() || arguments.role.is_some();
    for name in &arguments.databases {
        let new = Database {
            name: Name::new(name.as_str())?,
            connection: super::connection(arguments, name, arguments.role())?,
        };
        match config.database.iter_mut().find(|old| old.name == new.name) {
            None => config.database.push(new),
            Some(old) if says_how && *old != new => {
                say!("database {name}: connection was {}", old.connection);
                *old = new;
            }
            Some(_) => {}
        }
    }
    Ok(())
}

fn add_images(config: &mut Config, arguments: &Arguments) -> Result<(), Refusal> {
    const MAX: &str = "16GB";
    let given = arguments.max.as_deref();
    let max_bytes = parse_size(given.unwrap_or(MAX), 0)?;
    for directory in &arguments.allow_images {
        match config.images.iter_mut().find(|i| i.directory == *directory) {
            Some(old) if given.is_some() => old.max_bytes = max_bytes,
            Some(_) => {}
            None => config.images.push(Images {
                directory: directory.clone(),
                max_bytes,
                max_images: config::default_max_images(),
                mount_point: None,
            }),
        }
    }
    for images in &config.images {
        say!(
            "images in {}: at most {} together (--max)",
            images.directory.display(),
            format_bytes(images.max_bytes)
        );
    }
    Ok(())
}

/// Facts about the device that the path leads to now.
fn inspect(path: &str) -> Result<DeviceFacts, Refusal> {
    device::open(path, Access::Glance)
        .map_err(|refusal| {
            refusal.hint("Name a disk or a partition that is there, and that root may open here (in a container it may not): ls -l /dev/disk/by-id.")
        })?
        .facts()
}

/// The device that is there now, and no other that the path may lead to some day.
fn allowed_device(path: &str, wipe: bool) -> Result<Device, Refusal> {
    let facts = inspect(path)?;
    check_now(path, wipe, &facts)?;
    let found = facts.identity;
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
        wipe,
        serial: marks.serial,
        wwn: marks.wwn,
        partition_uuid: marks.partition_uuid,
    })
}

/// Says what a device holds, and why runs would be refused. A device that may be wiped must not be in use.
fn check_now(path: &str, wipe: bool, facts: &DeviceFacts) -> Result<(), Refusal> {
    match (&facts.in_use, &facts.contents) {
        (Some(user), contents) if wipe => {
            return Err(Refusal::new(
                Kind::NotInThisState,
                format!("device {path} is in use, and holds {contents}"),
            )
            .detail(user.clone())
            .hint("Name a device that nothing uses. If it is this one, unmount or free it first, and look at what it holds."));
        }
        (Some(user), contents) => {
            say!(
                "note: device {path} is in use, and holds {contents}: {user} The helper refuses it until that has ended"
            );
        }
        (None, Contents::Empty) if wipe => {
            say!("device {path} is not in use, and holds nothing")
        }
        (None, Contents::Empty) => {}
        (None, contents @ Contents::Table(_)) => {
            say!(
                "note: device {path} holds {contents}: the helper never erases that; name one of its partitions, or remove the table by hand"
            );
        }
        (None, Contents::Partitions) => {
            say!(
                "note: device {path} holds {}: the helper never erases those; name one of them, or have the kernel forget them (partx --delete)",
                facts.contents
            );
        }
        (None, contents) if !wipe => {
            say!(
                "note: device {path} holds {contents}: unless pgfsbench has written that, the helper refuses it; if it may be erased, run setup again with --wipe"
            );
        }
        (None, contents) => {
            say!(
                "note: device {path} is not in use, and holds {contents}, which the first run erases"
            )
        }
    }
    Ok(())
}

const HEAD: &str = "\
# pgfsbench-helper, which is root, serves these databases within these limits. Only root may be able to write this
# file. A device with wipe = true is erased whatever it holds. Restart pgfsbench-helper after a change.

";

/// The configuration as text: the old text with its comments, and the new entries behind it, if that parses to the same.
pub fn text(old: Option<(&Config, &str)>, new: &Config) -> Result<String, Refusal> {
    if let Some((old, text)) = old {
        let added = added(old, text, new)?;
        if Config::parse(&added).is_ok_and(|config| config == *new) {
            return Ok(added);
        }
    }
    let text = format!("{HEAD}{}", written(new)?);
    // Do not write a text that cannot be read back.
    Config::parse(&text)?;
    Ok(text)
}

fn added(old: &Config, text: &str, new: &Config) -> Result<String, Refusal> {
    #[derive(Serialize)]
    struct Added {
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        database: Vec<Database>,
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        images: Vec<Images>,
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        device: Vec<Device>,
    }
    fn after<T: Clone>(old: &[T], new: &[T]) -> Vec<T> {
        new.get(old.len()..).unwrap_or_default().to_vec()
    }
    let mut before = String::new();
    for (name, was, is) in [
        ("kernel_settings", old.kernel_settings, new.kernel_settings),
        ("drop_caches", old.drop_caches, new.drop_caches),
        ("power_cuts", old.power_cuts, new.power_cuts),
    ] {
        if is && !was {
            before += &format!("{name} = true\n");
        }
    }
    if old.backups.is_empty() && !new.backups.is_empty() {
        #[derive(Serialize)]
        struct Backups<'a> {
            backups: &'a [PathBuf],
        }
        before += &written(&Backups {
            backups: &new.backups,
        })?;
    }
    let end = written(&Added {
        database: after(&old.database, &new.database),
        images: after(&old.images, &new.images),
        device: after(&old.device, &new.device),
    })?;
    let end = match end.is_empty() {
        true => end,
        false => format!("\n{end}"),
    };
    Ok(format!("{before}{text}{end}"))
}

fn written(what: &impl Serialize) -> Result<String, Refusal> {
    toml::to_string(what).map_err(|e| {
        Refusal::new(Kind::Internal, "could not write the configuration").detail(e.to_string())
    })
}

/// True if others than the servers' user may listen in a directory of sockets.
pub fn is_open_to_all(directory: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(directory).is_ok_and(|found| found.mode() & 0o002 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "# mine\nserver_user = \"postgres\" # too\n\n[[database]]\nname = \"a\"\n\
        connection = \"host=/x dbname=a user=u\"\n# the end\n";

    fn config(text: &str) -> Config {
        Config::parse(text).unwrap()
    }

    fn database(name: &str) -> Database {
        Database {
            name: Name::new(name).unwrap(),
            connection: format!("host=/x dbname={name} user=u"),
        }
    }

    #[test]
    fn what_is_there_stays_with_its_comments() {
        let old = config(OLD);
        let mut new = old.clone();
        assert_eq!(text(Some((&old, OLD)), &new).unwrap(), OLD);
        new.database.push(database("b"));
        new.drop_caches = true;
        new.backups.push("/backups".into());
        let written = text(Some((&old, OLD)), &new).unwrap();
        assert!(
            written.starts_with("drop_caches = true\nbackups = [\"/backups\"]\n# mine\n"),
            "{written}"
        );
        assert!(
            written.contains("# the end\n\n[[database]]\nname = \"b\""),
            "{written}"
        );
        assert_eq!(config(&written), new);
    }

    #[test]
    fn what_cannot_be_added_is_written_anew() {
        let said = format!("drop_caches = false\n{OLD}");
        let old = config(&said);
        let mut new = old.clone();
        new.drop_caches = true;
        new.database[0] = Database {
            connection: "host=/y".into(),
            ..database("a")
        };
        let written = text(Some((&old, &said)), &new).unwrap();
        assert!(
            written.starts_with(HEAD) && !written.contains("mine"),
            "{written}"
        );
        assert_eq!(config(&written), new);
    }
}
