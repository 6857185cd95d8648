//! A row of `fsbench.target`: which columns go together, and what the helper is asked for a target.

pub mod backup;
pub mod carried_over;
pub mod cluster;
pub mod commands;
pub mod defining;
pub mod device;
pub mod inherited;
pub mod original;
pub mod parameter;
pub mod prepared_data;
pub mod redefined;
pub mod server_log;
pub mod settings;
pub mod trust;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use self::parameter::{AppliesTo, PARAMETERS, Parameter};
use crate::{
    helper::{
        DeviceRequest, Filesystem, InitialSync, Layout, LayoutOptions, Log, Prepare, SsdState,
        Storage, layout, options::check_kernel,
    },
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
    pub devices: Option<Vec<String>>,
    pub image_count: Option<i64>,
    pub layout: Option<String>,
    pub layout_options: Option<Value>,
    pub initial_sync: Option<String>,
    pub log_devices: Option<Vec<String>>,
}

impl rows::Row for Row {
    const TABLE: &'static str = "target";
}

impl Row {
    /// Kind of the target. Exactly one of the arguments that define a target must be given.
    pub fn kind(&self) -> Result<Kind, Refusal> {
        let given: Vec<(&str, Kind)> = self
            .given()
            .filter_map(|parameter| match parameter.applies_to {
                AppliesTo::Defining(kind) => Some((parameter.name, kind)),
                _ => None,
            })
            .collect();
        match given[..] {
            [(_, kind)] => Ok(kind),
            [] => Err(Refusal::argument(
                "a target needs a device, an image_size, a directory or a connection",
            )
            .detail("What defines it is what its runs are put on.")
            .hint(
                "Give filesystem with device or with image_size, or directory or connection alone.",
            )),
            [(first, _), (second, _), ..] => Err(Refusal::argument(format!(
                "{first} and {second} exclude each other"
            ))
            .detail("A target is defined by one of device, devices, image_size, directory and connection.")
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

    /// The parameters that have a value.
    fn given(&self) -> impl Iterator<Item = &'static Parameter> + use<> {
        let columns = match serde_json::to_value(self) {
            Ok(Value::Object(columns)) => columns,
            _ => serde_json::Map::new(),
        };
        let is_given = move |parameter: &&Parameter| {
            columns.get(parameter.column).is_some_and(|v| !v.is_null())
        };
        PARAMETERS.iter().filter(is_given)
    }

    /// Refuses columns that mean nothing for this kind.
    fn check_columns(&self, kind: Kind) -> Result<(), Refusal> {
        let misplaced = self.given().find(|parameter| match parameter.applies_to {
            AppliesTo::Defining(_) | AppliesTo::All => false,
            AppliesTo::Made => !kind.is_made(),
            AppliesTo::Images => kind != Kind::Image,
            AppliesTo::OwnServer => kind == Kind::Connection,
        });
        if let Some(parameter) = misplaced {
            return Err(cannot_be_given(parameter.name, kind));
        }
        if !kind.is_made() {
            return Ok(());
        }
        match &self.filesystem {
            Some(name) => Filesystem::of_name(name)?,
            None => {
                return Err(Refusal::argument("a filesystem is needed")
                    .detail("It is made anew for each run.")
                    .hint("Give the argument \"filesystem\", such as 'xfs' or 'ext4'."));
            }
        };
        self.state_before()?;
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
        self.check_log()?;
        self.check_layout()
    }

    fn check_log(&self) -> Result<(), Refusal> {
        let given = [
            ("log_device", self.log_device.is_some()),
            ("log_devices", self.log_devices.is_some()),
            ("log_size", self.log_size_bytes.is_some()),
        ];
        let mut given = given.into_iter().filter(|(_, is_given)| *is_given);
        match (given.next(), given.next()) {
            (Some((first, _)), Some((second, _))) => Err(Refusal::argument(format!(
                "{first} and {second} exclude each other"
            ))
            .detail("The external log is on a device, on several, or on a file that serves as one.")
            .hint("Give one of them.")),
            _ => Ok(()),
        }
    }

    /// Refuses several devices without a layout, and a layout that does not fit them.
    fn check_layout(&self) -> Result<(), Refusal> {
        if let Some(count) = self.image_count
            && !(1..=layout::MOST_MEMBERS as i64).contains(&count)
        {
            return Err(
                Refusal::argument(format!("image_count {count} is out of range"))
                    .detail(format!(
                        "A target has 1 to {} images.",
                        layout::MOST_MEMBERS
                    ))
                    .hint("Give a number in that range."),
            );
        }
        let initial_sync = self.first_sync()?;
        let options = self.array_options()?;
        layout::LayoutRequest {
            layout: self.layout.as_deref().map(Layout::of_name).transpose()?,
            options: options.as_ref(),
            initial_sync,
            filesystem: Filesystem::of_name(self.filesystem.as_deref().unwrap_or(""))?,
            members: self.members(),
            are_zeroed: self.image_size_bytes.is_some(),
        }
        .check()
    }

    /// The number of devices or images that its filesystem is made on.
    pub fn members(&self) -> usize {
        match (&self.devices, self.image_count) {
            (Some(devices), _) => devices.len(),
            (None, count) => usize::try_from(count.unwrap_or(1)).unwrap_or(0),
        }
    }

    /// The request to the helper, as in `fsbench.helper_job`; only arguments that were given. Its options are unchecked.
    pub fn request(&self) -> Result<Prepare, Refusal> {
        let filesystem = Filesystem::of_name(self.filesystem.as_deref().unwrap_or(""))?;
        Ok(Prepare {
            mkfs_options: self.mkfs_options.clone(),
            mount_options: self.mount_options.clone(),
            layout: self.layout.as_deref().map(Layout::of_name).transpose()?,
            layout_options: self.array_options()?,
            initial_sync: self.first_sync()?,
            log: self.log()?,
            ssd_state: self.state_before()?,
            block_settings: typed("block_settings", self.block_settings.as_ref())?,
            kernel_settings: typed("kernel_settings", self.kernel_settings.as_ref())?,
            pool_properties: self.pool_properties.clone(),
            dataset_properties: self.dataset_properties.clone(),
            ..Prepare::new(self.storage()?, filesystem)
        })
    }

    fn storage(&self) -> Result<Storage, Refusal> {
        let identities = self.device_identity.as_ref();
        if let Some(path) = &self.device {
            return Ok(Storage::Device(device(path, identities)?));
        }
        if let Some(paths) = &self.devices {
            return Ok(Storage::Devices(devices(paths, identities)?));
        }
        let bytes = self.image_size_bytes.unwrap_or(0);
        let sparse = self.image_sparse.unwrap_or(true);
        Ok(match self.image_count {
            None | Some(1) => Storage::Image { bytes, sparse },
            Some(count) => Storage::Images {
                count: u32::try_from(count).unwrap_or(0),
                bytes,
                sparse,
            },
        })
    }

    fn log(&self) -> Result<Option<Log>, Refusal> {
        let identity = self.log_device_identity.as_ref();
        Ok(
            match (&self.log_device, &self.log_devices, self.log_size_bytes) {
                (Some(path), ..) => Some(Log::Device(device(path, identity)?)),
                (None, Some(paths), _) => Some(Log::Devices(devices(paths, identity)?)),
                (None, None, Some(bytes)) => Some(Log::Image { bytes }),
                (None, None, None) => None,
            },
        )
    }

    fn array_options(&self) -> Result<Option<LayoutOptions>, Refusal> {
        typed("layout_options", self.layout_options.as_ref()).map_err(|refusal| {
            refusal.hint("Give an object with chunk, bitmap, consistency_policy and copies, such as {\"chunk\": \"256k\"}.")
        })
    }

    fn first_sync(&self) -> Result<Option<InitialSync>, Refusal> {
        Ok(Some(match self.initial_sync.as_deref() {
            None => return Ok(None),
            Some("wait") => InitialSync::Wait,
            Some("check") => InitialSync::Check,
            Some("skip") => InitialSync::Skip,
            Some(other) => {
                let message = format!("invalid initial_sync {}", quoted(other));
                return Err(Refusal::argument(message)
                    .detail("The helper brings an array in sync before anything is measured.")
                    .hint("Give 'wait', 'check' or 'skip', or leave it out."));
            }
        }))
    }

    fn state_before(&self) -> Result<Option<SsdState>, Refusal> {
        Ok(Some(match self.ssd_state.as_deref() {
            None => return Ok(None),
            Some("trimmed") => SsdState::Trimmed,
            Some("as_is") => SsdState::AsIs,
            Some(other) => {
                return Err(Refusal::argument(format!("invalid ssd_state {}", quoted(other)))
                    .detail("With trimmed the whole device is discarded before mkfs, with as_is nothing is.")
                    .hint("Give 'trimmed' or 'as_is', or leave it out for what mkfs does by itself."));
            }
        }))
    }
}

/// A column of JSON in the type of the helper's request.
fn typed<T: DeserializeOwned>(name: &str, value: Option<&Value>) -> Result<Option<T>, Refusal> {
    let typed = value.map(|given| serde_json::from_value(given.clone()));
    typed.transpose().map_err(|error| {
        Refusal::argument(format!("{name} cannot be read"))
            .detail(format!(
                "It does not parse: {}.",
                quoted(&error.to_string())
            ))
            .hint("Alter the target, or create it anew.")
    })
}

/// A device with the identity that was stored of it.
fn device(path: &str, identity: Option<&Value>) -> Result<DeviceRequest, Refusal> {
    let mut known = match identity {
        Some(Value::Object(identity)) => identity.clone(),
        _ => Map::new(),
    };
    known.insert("path".into(), path.into());
    let known = typed("device_identity", Some(&Value::Object(known)))?;
    Ok(known.unwrap_or_else(|| DeviceRequest::of_path(path)))
}

/// Devices with the identities that were stored of them, in the same order.
fn devices(paths: &[String], identities: Option<&Value>) -> Result<Vec<DeviceRequest>, Refusal> {
    let paths = paths.iter().enumerate();
    paths
        .map(|(n, path)| device(path, identities.and_then(|all| all.get(n))))
        .collect()
}

/// A parameter that means nothing for targets of this kind.
fn cannot_be_given(name: &str, kind: Kind) -> Refusal {
    let message = format!("{name} cannot be given with a {}", kind.as_str());
    let (detail, hint) = match kind {
        Kind::Connection => (
            "The server is there already, with its filesystem and its settings; nothing is made or set.",
            "Leave it out. Settings of the clients' sessions are an argument of fsbench.run().",
        ),
        Kind::Directory => (
            "The filesystem of a directory is there already; nothing is made, mounted or set.",
            "Give device or image_size instead of directory to have a filesystem made.",
        ),
        Kind::Device | Kind::Image => (
            "It says how a file that serves as a disk is made.",
            "Leave it out.",
        ),
    };
    Refusal::argument(message).detail(detail).hint(hint)
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
