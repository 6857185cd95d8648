//! The configuration: what the administrator allows. Read once, at the start.

use crate::secure;
use pgfsbench_core::helper::{Filesystem, Marks, Name};
use pgfsbench_core::refusal::{Kind, Refusal, quoted};
use pgfsbench_core::units::parse_size;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

pub const PATH: &str = "/etc/pgfsbench/helper.toml";

const LONGEST: u64 = 1 << 20;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The user that servers run as, and that the process becomes that speaks with the databases.
    #[serde(default = "default_user")]
    pub server_user: String,
    /// Filesystems are mounted below this directory.
    #[serde(default = "default_mount_root")]
    pub mount_root: PathBuf,
    /// The journal is below this directory.
    #[serde(default = "default_state")]
    pub state: PathBuf,
    /// Which filesystems may be made.
    #[serde(default = "all_filesystems")]
    pub filesystems: Vec<Filesystem>,
    /// May a target change the machine's write-back settings (`vm.dirty_*`) while it is prepared?
    #[serde(default)]
    pub kernel_settings: bool,
    /// May the machine's page cache be dropped before a run?
    #[serde(default)]
    pub drop_caches: bool,
    /// May writes to images be recorded, and their filesystems be mounted as power cuts leave them?
    #[serde(default)]
    pub power_cuts: bool,
    /// Directories with backups that a server may copy. The helper itself reads none of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub backups: Vec<PathBuf>,
    /// The databases whose jobs are done.
    #[serde(default)]
    pub database: Vec<Database>,
    /// Directories in which images may be made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Images>,
    /// Devices that may be erased.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub device: Vec<Device>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Database {
    /// A name of its own; it is part of the names of images and mount points.
    pub name: Name,
    /// Parameters as for psql, key=value, without a password; see [`crate::connection`].
    pub connection: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Images {
    pub directory: PathBuf,
    /// The sum of all images' sizes.
    #[serde(deserialize_with = "bytes")]
    pub max_bytes: u64,
    #[serde(default = "default_max_images")]
    pub max_images: u32,
    /// The mount point of its filesystem. If nothing is mounted there, the directory is not used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mount_point: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// The path by which requests name the device.
    pub path: String,
    /// May it be erased whatever it holds?
    #[serde(default)]
    pub wipe: bool,
    /// Which device it has to be, whatever the path leads to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wwn: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition_uuid: Option<String>,
}

impl Device {
    pub fn marks(&self) -> Marks {
        Marks {
            serial: self.serial.clone(),
            wwn: self.wwn.clone(),
            partition_uuid: self.partition_uuid.clone(),
            bytes: None,
        }
    }
}

pub fn default_user() -> String {
    "postgres".into()
}
pub fn default_mount_root() -> PathBuf {
    "/run/pgfsbench/mnt".into()
}
pub fn default_state() -> PathBuf {
    "/var/lib/pgfsbench".into()
}
pub fn all_filesystems() -> Vec<Filesystem> {
    Filesystem::ALL.to_vec()
}
pub fn default_max_images() -> u32 {
    16
}

/// A number of bytes, or a text such as "16GB".
fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Size {
        Bytes(u64),
        Text(String),
    }
    match Size::deserialize(deserializer)? {
        Size::Bytes(bytes) => Ok(bytes),
        Size::Text(text) => parse_size(&text, 0).map_err(serde::de::Error::custom),
    }
}

impl Config {
    /// Reads the configuration, if only root can have written it.
    pub fn load(path: &Path) -> Result<Self, Refusal> {
        Self::load_with_text(path).map(|(config, _)| config)
    }

    /// Reads the configuration, if only root can have written it, and its text.
    pub fn load_with_text(path: &Path) -> Result<(Self, String), Refusal> {
        let (parent, name) = path
            .parent()
            .zip(path.file_name().and_then(|n| n.to_str()))
            .ok_or_else(|| Refusal::argument(format!("invalid path {}", secure::shown(path))))?;
        let missing = || {
            let message = format!("there is no configuration {}", secure::shown(path));
            Refusal::new(Kind::NotInThisState, message)
                .hint("Run: pgfsbench-helper setup --database NAME --allow-images DIRECTORY.")
        };
        if !path.exists() {
            return Err(missing());
        }
        let directory = secure::open_directory(parent)?;
        let text = secure::read_file(&directory, name, path, LONGEST)?.ok_or_else(missing)?;
        let config = Self::parse(&text).map_err(|refusal| Refusal {
            message: format!("{}: {}", path.display(), refusal.message),
            ..refusal
        })?;
        Ok((config, text))
    }

    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let config: Self = toml::from_str(text)
            .map_err(|e| Refusal::argument("invalid configuration").detail(e.to_string()))?;
        config.check()?;
        Ok(config)
    }

    pub fn check(&self) -> Result<(), Refusal> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        if self.server_user.is_empty()
            || self.server_user.starts_with('-')
            || !self.server_user.chars().all(plain)
            || self.server_user == "root"
        {
            return Err(Refusal::argument("invalid server_user"));
        }
        for path in [&self.mount_root, &self.state]
            .into_iter()
            .chain(self.images.iter().map(|images| &images.directory))
            .chain(self.images.iter().filter_map(|i| i.mount_point.as_ref()))
            .chain(&self.backups)
        {
            if !is_plain(path) {
                let message = format!("invalid directory {}", secure::shown(path));
                return Err(Refusal::argument(message)
                    .detail("It must be absolute, without \"..\", commas or control characters."));
            }
        }
        let mut paths = HashSet::new();
        for device in &self.device {
            if !paths.insert(&device.path) {
                let message = format!("two lines name device {}", quoted(&device.path));
                return Err(Refusal::argument(message).hint("Remove one of them."));
            }
            device.marks().check()?;
        }
        let mut names = HashSet::new();
        for database in &self.database {
            if !names.insert(&database.name) {
                let message = format!("two databases are called \"{}\"", database.name);
                return Err(Refusal::argument(message).hint("Give each a name of its own."));
            }
            crate::connection::check(&database.connection)?;
        }
        Ok(())
    }

    /// The entry of the device with this path.
    pub fn device(&self, path: &str) -> Option<&Device> {
        self.device.iter().find(|device| device.path == path)
    }

    /// The database of this name; without one, the first.
    pub fn database(&self, name: Option<&str>) -> Result<&Database, Refusal> {
        let mut all = self.database.iter();
        match name {
            Some(name) => all.find(|d| d.name.as_str() == name),
            None => all.next(),
        }
        .ok_or_else(|| Refusal::argument("there is no such database in the configuration"))
    }
}

/// Fit to be an argument of mount, and to be found again in /proc/self/mountinfo.
fn is_plain(path: &Path) -> bool {
    let text = path.to_str().unwrap_or("");
    text.starts_with('/')
        && !text.chars().any(|c| c.is_control() || c == ',')
        && !text.split('/').any(|part| part == "..")
        && path.components().count() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = r#"
        [[database]]
        name = "bench"
        connection = "host=/run/postgresql dbname=bench user=postgres"
        [[images]]
        directory = "/srv/images"
        max_bytes = "16GB"
        [[device]]
        path = "/dev/disk/by-id/x"
    "#;

    #[test]
    fn an_example_and_its_defaults() {
        let config = Config::parse(EXAMPLE).unwrap();
        assert_eq!(config.server_user, "postgres");
        assert_eq!(config.images[0].max_bytes, 16 << 30);
        assert!(
            !config.device[0].wipe
                && !config.kernel_settings
                && !config.drop_caches
                && !config.power_cuts
        );
        assert_eq!(config.filesystems, Filesystem::ALL);
        let written = toml::to_string(&config).unwrap();
        assert_eq!(Config::parse(&written).unwrap(), config);
    }

    #[test]
    fn what_is_refused() {
        for (old, new) in [
            ("max_bytes", "max_byte"),
            ("\"bench\"", "\"../bench\""),
            ("user=postgres", "user=postgres password=x"),
            ("\"16GB\"", "\"16\""),
            ("\"/srv/images\"", "\"srv/images\""),
            ("\"/srv/images\"", "\"/srv/../etc\""),
            ("\"/srv/images\"", "\"/\""),
            ("[[device]]", "server_user = \"root\"\n[[device]]"),
            ("[[device]]", "[[device]]\nserial = \"\""),
            (
                "[[device]]",
                "[[device]]\npath = \"/dev/disk/by-id/x\"\n[[device]]",
            ),
            (
                "[[images]]",
                "[[database]]\nname = \"bench\"\nconnection = \"dbname=x\"\n[[images]]",
            ),
        ] {
            assert!(EXAMPLE.contains(old));
            assert!(Config::parse(&EXAMPLE.replace(old, new)).is_err(), "{new}");
        }
        let root = format!("server_user = \"root\"\n{EXAMPLE}");
        assert!(Config::parse(&root).is_err());
    }

    #[test]
    fn a_configuration_that_is_missing_or_has_unknown_words_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let refusal = Config::load(&place.path().join("helper.toml")).unwrap_err();
        assert!(refusal.message.starts_with("there is no configuration "));
        assert!(
            refusal
                .hint
                .unwrap()
                .starts_with("Run: pgfsbench-helper setup ")
        );
        let refusal = Config::parse(&format!("surprise = 1\n{EXAMPLE}")).unwrap_err();
        assert_eq!(refusal.message, "invalid configuration");
        assert!(refusal.detail.unwrap().contains("surprise"));
    }
}
