//! A target as the command line describes it.

mod cut;

pub use cut::CutAction;

use crate::engine::Engine;
use crate::place::Place;
use clap::Args;
use pgfsbench_core::helper::record::Record;
use pgfsbench_core::helper::{
    DeviceRequest, Filesystem, InitialSync, Layout, Log, Name, Prepare, SsdState, Storage,
};
use pgfsbench_core::refusal::{Refusal, quoted};
use pgfsbench_core::units::parse_size;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

#[derive(Args)]
pub struct TargetName {
    /// Name of the target
    #[arg(long)]
    target: String,
    /// Database that it belongs to, by its name in the configuration; else the first there
    #[arg(long)]
    database: Option<String>,
}

#[derive(Args)]
pub struct CliTarget {
    #[command(flatten)]
    pub target_name: TargetName,
    #[arg(long)]
    filesystem: String,
    /// Size of an image, such as 8GB
    #[arg(
        long,
        value_name = "SIZE",
        conflicts_with = "device",
        required_unless_present = "device"
    )]
    image: Option<String>,
    /// Allocate the image's blocks beforehand
    #[arg(long, requires = "image")]
    allocated: bool,
    /// Number of such images, for a layout
    #[arg(long, requires = "image", value_name = "NUMBER")]
    image_count: Option<u32>,
    /// Device, as the configuration names it; several for a layout
    #[arg(long, value_name = "PATH")]
    device: Vec<String>,
    /// How several devices or images become one place: raid10, btrfs-raid1, zfs-mirror, ...
    #[arg(long)]
    layout: Option<String>,
    /// chunk, bitmap, consistency_policy or copies of an array of md; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    layout_option: Vec<String>,
    /// Take a new array for being in sync
    #[arg(long)]
    skip_initial_sync: bool,
    #[arg(long, allow_hyphen_values = true, value_name = "OPTIONS")]
    mkfs_options: Option<String>,
    #[arg(long, allow_hyphen_values = true, value_name = "OPTIONS")]
    mount_options: Option<String>,
    /// Properties of a zfs pool, such as ashift=12
    #[arg(long, value_name = "PROPERTIES")]
    pool_properties: Option<String>,
    /// Properties of the dataset in it, such as recordsize=8K,compression=lz4
    #[arg(long, value_name = "PROPERTIES")]
    dataset_properties: Option<String>,
    /// Size of an image for the log of xfs or zfs, or the journal of ext4
    #[arg(long, value_name = "SIZE", conflicts_with = "log_device")]
    log_image: Option<String>,
    /// Device for it, as the configuration names it; each of several holds the whole log
    #[arg(long, value_name = "PATH")]
    log_device: Vec<String>,
    /// Record all that is written, up to this size, so that power cuts can be made of it
    #[arg(long, value_name = "SIZE")]
    record: Option<String>,
    /// Discard the whole device beforehand (trimmed), or nothing of it (as_is)
    #[arg(long, value_name = "STATE")]
    ssd_state: Option<String>,
    /// scheduler, read_ahead_kb or nr_requests of the disk's queue while it is prepared; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    block_setting: Vec<String>,
    /// dirty_bytes, dirty_background_bytes, ... in /proc/sys/vm while it is prepared; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    kernel_setting: Vec<String>,
}

impl TargetName {
    pub fn place(&self, engine: &Engine) -> Result<Place, Refusal> {
        Ok(Place {
            database: engine
                .config()
                .database(self.database.as_deref())?
                .name
                .clone(),
            target: Name::new(self.target.as_str())?,
        })
    }
}

impl CliTarget {
    pub fn request(&self) -> Result<Prepare, Refusal> {
        let storage = match (&self.image, self.image_count, &self.device[..]) {
            (Some(size), None, _) => Storage::Image {
                bytes: parse_size(size, 0)?,
                sparse: !self.allocated,
            },
            (Some(size), Some(count), _) => Storage::Images {
                count,
                bytes: parse_size(size, 0)?,
                sparse: !self.allocated,
            },
            (None, _, [path]) => Storage::Device(DeviceRequest::of_path(path.as_str())),
            (None, _, []) => {
                return Err(Refusal::argument("neither an image nor a device is given"));
            }
            (None, _, paths) => Storage::Devices(
                paths
                    .iter()
                    .map(|path| DeviceRequest::of_path(path.as_str()))
                    .collect(),
            ),
        };
        let device = |path: &String| DeviceRequest::of_path(path.as_str());
        let log = match (&self.log_image, &self.log_device[..]) {
            (Some(size), _) => Some(Log::Image {
                bytes: parse_size(size, 0)?,
            }),
            (None, []) => None,
            (None, [path]) => Some(Log::Device(device(path))),
            (None, paths) => Some(Log::Devices(paths.iter().map(device).collect())),
        };
        let ssd_state = match self.ssd_state.as_deref() {
            None => None,
            Some("trimmed") => Some(SsdState::Trimmed),
            Some("as_is") => Some(SsdState::AsIs),
            Some(other) => {
                return Err(
                    Refusal::argument(format!("unknown ssd_state {}", quoted(other)))
                        .hint("Known are trimmed and as_is."),
                );
            }
        };
        let layout = self.layout.as_deref().map(Layout::of_name).transpose()?;
        let record = self.record.as_deref().map(|size| {
            let log_bytes = parse_size(size, 0)?;
            Ok::<_, Refusal>(Record { log_bytes })
        });
        Ok(Prepare {
            layout,
            layout_options: settings("layout", &self.layout_option)?,
            initial_sync: self.skip_initial_sync.then_some(InitialSync::Skip),
            log,
            record: record.transpose()?,
            ssd_state,
            block_settings: settings("block", &self.block_setting)?,
            kernel_settings: settings("kernel", &self.kernel_setting)?,
            pool_properties: self.pool_properties.clone(),
            dataset_properties: self.dataset_properties.clone(),
            mkfs_options: self.mkfs_options.clone(),
            mount_options: self.mount_options.clone(),
            ..Prepare::new(storage, Filesystem::of_name(&self.filesystem)?)
        })
    }
}

/// A word as a request has it.
fn word<T: DeserializeOwned>(argument: &str, given: &str) -> Result<T, Refusal> {
    serde_json::from_value(Value::from(given))
        .map_err(|e| Refusal::argument(format!("invalid {argument}")).detail(format!("{e}.")))
}

/// `NAME=VALUE` several times, as a request has them.
fn settings<T: DeserializeOwned>(kind: &str, given: &[String]) -> Result<Option<T>, Refusal> {
    if given.is_empty() {
        return Ok(None);
    }
    let mut all = Map::new();
    for pair in given {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = match value.parse::<u64>() {
            Ok(number) => Value::from(number),
            Err(_) => Value::from(value),
        };
        all.insert(name.to_owned(), value);
    }
    serde_json::from_value(Value::Object(all))
        .map(Some)
        .map_err(|e| Refusal::argument(format!("invalid {kind} settings")).detail(format!("{e}.")))
}
