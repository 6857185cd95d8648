//! A row of `fsbench.target`: which columns go together, and what the helper is asked for a target.

pub mod carried_over;
pub mod cluster;
pub mod commands;
pub mod defining;
pub mod device;
pub mod inherited;
pub mod prepared_data;
pub mod redefined;
pub mod server_log;
pub mod settings;
pub mod trust;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    helper::{Filesystem, options::check_kernel},
    refusal::{Refusal, quoted},
    rows,
};

/// The kind of a target: the argument that defines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A block device, on which the helper makes a filesystem.
    Device,
    /// A file that serves as one.
    Image,
    /// A directory of a filesystem that is mounted already.
    Directory,
    /// Another server, which is reached by a connection.
    Connection,
}

impl Kind {
    /// Name in the column `kind`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Image => "image",
            Self::Directory => "directory",
            Self::Connection => "connection",
        }
    }

    /// Whether the helper makes its filesystem.
    pub fn is_made(self) -> bool {
        matches!(self, Self::Device | Self::Image)
    }
}

/// A row of `fsbench.target`; names as there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Row {
    pub target: String,
    pub filesystem: Option<String>,
    pub device: Option<String>,
    pub device_identity: Option<Value>,
    pub image_size_bytes: Option<u64>,
    pub image_sparse: Option<bool>,
    pub log_device: Option<String>,
    pub log_size_bytes: Option<u64>,
    pub directory: Option<String>,
    pub mount_point: Option<String>,
    pub connection: Option<String>,
    pub mkfs_options: Option<String>,
    pub mount_options: Option<String>,
    pub pool_properties: Option<String>,
    pub dataset_properties: Option<String>,
    pub ssd_state: Option<String>,
    pub block_settings: Option<Value>,
    pub kernel_settings: Option<Value>,
    pub drop_caches: Option<bool>,
    pub settings: Option<Value>,
    pub bindir: Option<String>,
    pub data_checksums: Option<bool>,
    pub power_loss_protected: Option<bool>,
    pub log_device_identity: Option<Value>,
}

impl rows::Row for Row {
    const TABLE: &'static str = "target";
}

impl Row {
    /// Kind of the target. Exactly one of the arguments that define a target must be given.
    pub fn kind(&self) -> Result<Kind, Refusal> {
        let defining = [
            ("device", self.device.is_some(), Kind::Device),
            ("image_size", self.image_size_bytes.is_some(), Kind::Image),
            ("directory", self.directory.is_some(), Kind::Directory),
            ("connection", self.connection.is_some(), Kind::Connection),
        ];
        let given: Vec<_> = defining.iter().filter(|(_, given, _)| *given).collect();
        match given[..] {
            [(_, _, kind)] => Ok(*kind),
            [] => Err(Refusal::argument(
                "a target needs a device, an image_size, a directory or a connection",
            )
            .detail("What defines it is what its runs are put on.")
            .hint(
                "Give filesystem with device or with image_size, or directory or connection alone.",
            )),
            [(first, ..), (second, ..), ..] => Err(Refusal::argument(format!(
                "{first} and {second} exclude each other"
            ))
            .detail("A target is defined by one of device, image_size, directory and connection.")
            .hint("Make two targets of it.")),
        }
    }

    /// Refuses columns that do not go together, and what a kernel of this release has no more: it is the one on which the helper makes
    /// and mounts.
    pub fn check(&self, kernel: &str) -> Result<Kind, Refusal> {
        let kind = self.kind()?;
        self.check_columns(kind)?;
        if kind.is_made() {
            let filesystem = Filesystem::of_name(self.filesystem.as_deref().unwrap_or(""))?;
            let options = self.mount_options.as_deref().unwrap_or("");
            check_kernel(filesystem, options, kernel)?;
        }
        Ok(kind)
    }

    /// Refuses columns that mean nothing for this kind.
    fn check_columns(&self, kind: Kind) -> Result<(), Refusal> {
        let of_made = [
            ("filesystem", self.filesystem.is_some()),
            ("mkfs_options", self.mkfs_options.is_some()),
            ("mount_options", self.mount_options.is_some()),
            ("log_device", self.log_device.is_some()),
            ("log_size", self.log_size_bytes.is_some()),
            ("pool_properties", self.pool_properties.is_some()),
            ("dataset_properties", self.dataset_properties.is_some()),
            ("ssd_state", self.ssd_state.is_some()),
            ("block_settings", self.block_settings.is_some()),
            ("kernel_settings", self.kernel_settings.is_some()),
            ("drop_caches", self.drop_caches.is_some()),
            ("image_sparse", self.image_sparse.is_some()),
        ];
        if kind == Kind::Connection {
            return self.check_columns_of_connection(&of_made);
        }
        if kind == Kind::Directory {
            return match of_made.iter().find(|(_, given)| *given) {
                None => Ok(()),
                Some((name, _)) => Err(Refusal::argument(format!("{name} cannot be given with a directory"))
                    .detail("The filesystem of a directory is there already; nothing is made, mounted or set.")
                    .hint("Give device or image_size instead of directory to have a filesystem made.")),
            };
        }
        match &self.filesystem {
            Some(name) => Filesystem::of_name(name)?,
            None => {
                return Err(Refusal::argument("a filesystem is needed")
                    .detail("It is made anew for each run.")
                    .hint("Give the argument \"filesystem\", such as 'xfs' or 'ext4'."));
            }
        };
        if let Some(state) = &self.ssd_state
            && !["trimmed", "as_is"].contains(&state.as_str())
        {
            return Err(Refusal::argument(format!("invalid ssd_state {}", quoted(state)))
                .detail("With trimmed the whole device is discarded before mkfs, with as_is nothing is.")
                .hint("Give 'trimmed' or 'as_is', or leave it out for what mkfs does by itself."));
        }
        if kind == Kind::Device && self.image_sparse.is_some() {
            return Err(
                Refusal::argument("image_sparse cannot be given with a device")
                    .detail("It says how a file that serves as a disk is made.")
                    .hint("Leave it out."),
            );
        }
        check_names(
            "block_settings",
            self.block_settings.as_ref(),
            &BLOCK_SETTINGS,
        )?;
        check_names(
            "kernel_settings",
            self.kernel_settings.as_ref(),
            &KERNEL_SETTINGS,
        )?;
        if self.log_device.is_some() && self.log_size_bytes.is_some() {
            return Err(
                Refusal::argument("log_device and log_size exclude each other")
                    .detail("The external log is on a device, or on a file that serves as one.")
                    .hint("Give one of them."),
            );
        }
        Ok(())
    }

    /// A connection's server exists already, so these columns are refused.
    fn check_columns_of_connection(&self, of_made: &[(&str, bool)]) -> Result<(), Refusal> {
        let of_server = [
            ("settings", self.settings.is_some()),
            ("bindir", self.bindir.is_some()),
            ("data_checksums", self.data_checksums.is_some()),
        ];
        match of_made.iter().chain(&of_server).find(|(_, given)| *given) {
            None => Ok(()),
            Some((name, _)) => Err(Refusal::argument(format!("{name} cannot be given with a connection"))
                .detail("The server is there already, with its filesystem and its settings; nothing is made or set.")
                .hint("Leave it out. Settings of the clients' sessions are an argument of fsbench.run().")),
        }
    }

    /// The request to the helper, as in `fsbench.helper_job`; only arguments that were given.
    pub fn request(&self) -> Value {
        let device = |path: &str, identity: Option<&Value>| {
            let mut device = json!({ "path": path });
            if let (Some(all), Some(Value::Object(identity))) = (device.as_object_mut(), identity) {
                all.extend(identity.clone());
            }
            json!({ "device": device })
        };
        let storage = match (&self.device, self.image_size_bytes) {
            (Some(path), _) => device(path, self.device_identity.as_ref()),
            (None, bytes) => {
                json!({"image": {"bytes": bytes, "sparse": self.image_sparse.unwrap_or(true)}})
            }
        };
        let log = match (&self.log_device, self.log_size_bytes) {
            (Some(path), _) => Some(device(path, self.log_device_identity.as_ref())),
            (None, Some(bytes)) => Some(json!({"image": {"bytes": bytes}})),
            (None, None) => None,
        };
        let mut request = json!({
            "storage": storage,
            "filesystem": self.filesystem,
            "mkfs_options": self.mkfs_options,
            "mount_options": self.mount_options,
            "log": log,
            "ssd_state": self.ssd_state,
            "block_settings": self.block_settings,
            "kernel_settings": self.kernel_settings,
            "pool_properties": self.pool_properties,
            "dataset_properties": self.dataset_properties,
        });
        if let Some(all) = request.as_object_mut() {
            all.retain(|_, value| !value.is_null());
        }
        request
    }
}

/// Names in `block_settings`, and in `kernel_settings`, as the helper knows them.
const BLOCK_SETTINGS: [&str; 3] = ["scheduler", "read_ahead_kb", "nr_requests"];
const KERNEL_SETTINGS: [&str; 6] = [
    "dirty_bytes",
    "dirty_background_bytes",
    "dirty_ratio",
    "dirty_background_ratio",
    "dirty_expire_centisecs",
    "dirty_writeback_centisecs",
];

/// Refuses what is no object of these names, with whole numbers and, for the scheduler, a text. Whether the numbers are
/// sensible is checked with the request.
fn check_names(argument: &str, given: Option<&Value>, known: &[&str]) -> Result<(), Refusal> {
    let Some(given) = given else { return Ok(()) };
    let wrong = |message: String, detail: &str| {
        Err(Refusal::argument(message).detail(detail).hint(format!(
            "Known names are {}; numbers have no quotes.",
            known.join(", ")
        )))
    };
    let Some(object) = given.as_object() else {
        return wrong(
            format!("{argument} is no JSON object"),
            "It holds names and values.",
        );
    };
    for (name, value) in object {
        if !known.contains(&name.as_str()) {
            return wrong(
                format!("{} is no name in {argument}", quoted(name)),
                "Only settings that are put back after each run can be set.",
            );
        }
        let fits = match name.as_str() {
            "scheduler" => value.is_string(),
            _ => value.is_u64(),
        };
        if !fits {
            return wrong(
                format!("invalid value of \"{name}\" in {argument}"),
                "The scheduler is a text, and everything else a whole number above zero.",
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
