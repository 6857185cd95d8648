//! The request to make a filesystem and mount it: which disks, which layout, which options.

use serde::{Deserialize, Serialize};

use crate::helper::layout::{
    self, InitialSync, Layout, LayoutOptions, LayoutRequest, MOST_LOGS, Maker,
};
use crate::helper::options::{dataset_properties, mkfs_arguments, mount_options, pool_properties};
use crate::helper::record::Record;
use crate::helper::{BlockSettings, Filesystem, KernelSettings, Marks, SsdState};
use crate::refusal::{Refusal, quoted};
use crate::units::format_bytes;

/// The storage of a filesystem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Storage {
    /// A file that serves as a disk, in one of the directories of the helper's configuration.
    Image {
        bytes: u64,
        /// True if its blocks are allocated only when they are written.
        #[serde(default = "yes")]
        sparse: bool,
    },
    /// A block device that the helper's configuration names with the same path.
    Device(DeviceRequest),
    /// Several such files, for a layout.
    Images {
        count: u32,
        /// Size of each.
        bytes: u64,
        #[serde(default = "yes")]
        sparse: bool,
    },
    /// Several such devices, for a layout.
    Devices(Vec<DeviceRequest>),
}

impl Storage {
    /// The devices; none for images.
    pub fn devices(&self) -> &[DeviceRequest] {
        match self {
            Self::Device(device) => std::slice::from_ref(device),
            Self::Devices(devices) => devices,
            Self::Image { .. } | Self::Images { .. } => &[],
        }
    }

    /// The images: bytes of each, and whether they are sparse. None for devices.
    pub fn images(&self) -> Option<(u64, bool)> {
        match *self {
            Self::Image { bytes, sparse } | Self::Images { bytes, sparse, .. } => {
                Some((bytes, sparse))
            }
            Self::Device(_) | Self::Devices(_) => None,
        }
    }

    /// The number of devices or images.
    pub fn members(&self) -> usize {
        match self {
            Self::Image { .. } | Self::Device(_) => 1,
            Self::Images { count, .. } => *count as usize,
            Self::Devices(devices) => devices.len(),
        }
    }

    /// True if the blocks of images are allocated beforehand.
    pub fn is_allocated(&self) -> bool {
        matches!(self.images(), Some((_, false)))
    }
}

/// A device, and what it was known by when the target was created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceRequest {
    pub path: String,
    /// Serial number of the disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
    /// World Wide Name of the disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wwn: Option<String>,
    /// UUID of the partition in its table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition_uuid: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

impl DeviceRequest {
    /// One that is known by its path alone.
    pub fn of_path(path: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            serial: None,
            wwn: None,
            partition_uuid: None,
            bytes: None,
        }
    }

    /// The marks that the device must have, whatever its path leads to.
    pub fn marks(&self) -> Marks {
        Marks {
            serial: self.serial.clone(),
            wwn: self.wwn.clone(),
            partition_uuid: self.partition_uuid.clone(),
            bytes: self.bytes,
        }
    }

    fn check(&self) -> Result<(), Refusal> {
        check_device_path(&self.path)?;
        self.marks().check()
    }
}

fn yes() -> bool {
    true
}

/// The place of an external log or journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Log {
    /// A file that serves as a disk, as for the filesystem.
    Image { bytes: u64 },
    /// A block device that the helper's configuration names with the same path.
    Device(DeviceRequest),
    /// Such devices, each of which holds the whole log.
    Devices(Vec<DeviceRequest>),
}

impl Log {
    /// The devices; none for an image.
    pub fn devices(&self) -> &[DeviceRequest] {
        match self {
            Self::Image { .. } => &[],
            Self::Device(device) => std::slice::from_ref(device),
            Self::Devices(devices) => devices,
        }
    }

    /// The number of devices or images.
    pub fn members(&self) -> usize {
        match self {
            Self::Image { .. } => 1,
            Self::Device(_) | Self::Devices(_) => self.devices().len(),
        }
    }

    /// The smallest image for the log of a filesystem: xfs wants no less, and zfs twice as much.
    fn smallest_bytes(filesystem: Filesystem) -> u64 {
        match filesystem {
            Filesystem::Zfs => 2 * SMALLEST_LOG,
            _ => SMALLEST_LOG,
        }
    }
}

/// To make a filesystem and mount it: the `request` of a job whose action is `prepare`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prepare {
    pub storage: Storage,
    /// Which one.
    pub filesystem: Filesystem,
    /// Options of mkfs, as on its command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mkfs_options: Option<String>,
    /// Mount options, with commas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mount_options: Option<String>,
    /// How several devices become one place; None for one device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<Layout>,
    /// Options of an array of md.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout_options: Option<LayoutOptions>,
    /// Whether an array of md is brought in sync first. None: it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_sync: Option<InitialSync>,
    /// The external log; None: the log is in the filesystem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<Log>,
    /// Discards the device first, or not. None: as mkfs does by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ssd_state: Option<SsdState>,
    /// Settings of the disk's queue, as long as the target is prepared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_settings: Option<BlockSettings>,
    /// Settings of the whole machine, as long as the target is prepared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_settings: Option<KernelSettings>,
    /// Properties of a zfs pool, in place of mkfs_options.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool_properties: Option<String>,
    /// Properties of the dataset in the pool, in place of mount_options.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataset_properties: Option<String>,
    /// Records all that is written, so that power cuts can be made of it. None: nothing is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<Record>,
}

impl Prepare {
    /// With everything else left as it is.
    pub fn new(storage: Storage, filesystem: Filesystem) -> Self {
        Self {
            storage,
            filesystem,
            mkfs_options: None,
            mount_options: None,
            layout: None,
            layout_options: None,
            initial_sync: None,
            log: None,
            ssd_state: None,
            block_settings: None,
            kernel_settings: None,
            pool_properties: None,
            dataset_properties: None,
            record: None,
        }
    }

    /// The layout of the external log; None where it is on one device, or in the filesystem.
    pub fn log_layout(&self) -> Option<Layout> {
        let devices = self.log.as_ref().map_or(0, Log::members);
        layout::of_log(self.filesystem, devices)
    }

    /// This request for sparse images, with no change to the machine. They are as large as the target's own, since some options take room; they are
    /// small for devices. A mirrored log takes the options that one image takes.
    pub fn on_trial_image(&self) -> Self {
        let bytes = match self.storage.images() {
            Some((bytes, _)) => bytes,
            None => self.filesystem.smallest_bytes().max(SMALL),
        };
        let storage = match self.storage.members() {
            1 => Storage::Image {
                bytes,
                sparse: true,
            },
            members => Storage::Images {
                count: members as u32,
                bytes,
                sparse: true,
            },
        };
        let of_log = |_: &Log| Log::Image {
            bytes: Log::smallest_bytes(self.filesystem),
        };
        Self {
            storage,
            log: self.log.as_ref().map(of_log),
            ssd_state: None,
            block_settings: None,
            kernel_settings: None,
            record: None,
            ..self.clone()
        }
    }

    /// Refuses what no configuration would allow.
    pub fn check(&self) -> Result<(), Refusal> {
        self.check_options()?;
        self.check_log()?;
        self.check_ssd_state()?;
        self.check_record()?;
        if let Some(settings) = &self.block_settings {
            settings.check()?;
        }
        if let Some(settings) = &self.kernel_settings {
            settings.check()?;
        }
        if let Some((bytes, _)) = self.storage.images() {
            let fs = self.filesystem;
            check_image_size(bytes, fs.smallest_bytes(), fs.name())?;
        }
        let devices = self.storage.devices();
        devices.iter().try_for_each(DeviceRequest::check)?;
        self.check_layout()
    }

    fn check_layout(&self) -> Result<(), Refusal> {
        check_apart(self.storage.devices())?;
        LayoutRequest {
            layout: self.layout,
            options: self.layout_options.as_ref(),
            initial_sync: self.initial_sync,
            filesystem: self.filesystem,
            members: self.storage.members(),
            are_zeroed: self.storage.images().is_some(),
        }
        .check()?;
        let given = mkfs_arguments(
            self.filesystem,
            self.mkfs_options.as_deref().unwrap_or_default(),
        )?;
        let is_given = given
            .iter()
            .any(|option| option == "-d" || option == "--data");
        match self.layout.map(Layout::maker) {
            Some(Maker::Btrfs) if is_given => Err(Refusal::argument(
                "mkfs option \"-d\" contradicts the layout",
            )
            .detail("The layout is the profile of the data.")
            .hint("Leave one of the two out.")),
            _ => Ok(()),
        }
    }

    /// Options for what mkfs and mount make, properties for zfs; never both.
    fn check_options(&self) -> Result<(), Refusal> {
        let fs = self.filesystem;
        let given = |option: &Option<String>| option.as_ref().is_some_and(|o| !o.trim().is_empty());
        let (misplaced, instead) = match fs {
            Filesystem::Zfs => (
                [
                    ("mkfs_options", &self.mkfs_options),
                    ("mount_options", &self.mount_options),
                ],
                "Give pool_properties and dataset_properties.",
            ),
            _ => (
                [
                    ("pool_properties", &self.pool_properties),
                    ("dataset_properties", &self.dataset_properties),
                ],
                "Give mkfs_options and mount_options.",
            ),
        };
        if let Some((name, _)) = misplaced.iter().find(|(_, option)| given(option)) {
            return Err(Refusal::argument(format!("{fs} takes no {name}"))
                .detail("A zfs pool has properties, every other filesystem has options of mkfs and mount.")
                .hint(instead));
        }
        let text = |option: &Option<String>| option.clone().unwrap_or_default();
        mkfs_arguments(fs, &text(&self.mkfs_options))?;
        mount_options(fs, &text(&self.mount_options))?;
        pool_properties(&text(&self.pool_properties))?;
        dataset_properties(&text(&self.dataset_properties))?;
        Ok(())
    }

    fn check_log(&self) -> Result<(), Refusal> {
        let Some(log) = &self.log else {
            return Ok(());
        };
        let fs = self.filesystem;
        if !fs.takes_log() {
            return Err(Refusal::argument(format!("{fs} takes no log elsewhere"))
                .detail("Its log or journal is in the filesystem, or it has none.")
                .hint("Leave the log out, or choose xfs, ext4, ext3 or zfs."));
        }
        if let Log::Image { bytes } = log {
            return check_image_size(*bytes, Log::smallest_bytes(fs), "a log");
        }
        if !(1..=MOST_LOGS).contains(&log.members()) {
            return Err(
                Refusal::argument(format!("a log on {} devices", log.members()))
                    .detail(format!("A log has 1 to {MOST_LOGS} devices."))
                    .hint("Give as many in log_devices."),
            );
        }
        let mut members = self.storage.devices().iter();
        let is_log = |member: &&DeviceRequest| {
            let mut devices = log.devices().iter();
            devices.any(|device| device.path == member.path)
        };
        if let Some(both) = members.find(is_log) {
            return Err(
                Refusal::argument("the log is on the device of the filesystem")
                    .detail(format!("Both are {}.", quoted(&both.path)))
                    .hint("Name another device, or leave the log out."),
            );
        }
        log.devices().iter().try_for_each(DeviceRequest::check)?;
        check_apart(log.devices())
    }

    fn check_record(&self) -> Result<(), Refusal> {
        let Some(record) = &self.record else {
            return Ok(());
        };
        self.check_can_be_recorded()?;
        if record.log_bytes > LARGEST_RECORD {
            let message = format!(
                "a record of {} is too large",
                format_bytes(record.log_bytes)
            );
            return Err(Refusal::argument(message)
                .detail(format!("{} are accepted.", format_bytes(LARGEST_RECORD)))
                .hint("Give a smaller one."));
        }
        check_image_size(record.log_bytes, SMALLEST_RECORD, "a record")
    }

    /// True if the kernel's dm-log-writes records what is written. The helper's recorder serves images only.
    pub fn is_logged(&self) -> bool {
        self.record.is_some() && matches!(self.storage, Storage::Device(_))
    }

    /// Refuses a target whose writes cannot be recorded for power cuts: a record is of one device or of all images, and the filesystem mounts after a
    /// power cut by itself or after e2fsck.
    pub fn check_can_be_recorded(&self) -> Result<(), Refusal> {
        let asked = self.mount_options.as_deref().unwrap_or_default();
        let has_no_barriers = asked
            .split(',')
            .any(|option| NO_BARRIERS.contains(&option.trim()));
        let why_not = match (&self.storage, &self.log, self.filesystem) {
            (.., Filesystem::Zfs) => "A zfs pool cannot be mounted from a cut.",
            (Storage::Devices(_), ..) => {
                "Writes to several devices cannot be recorded, only those to several images."
            }
            (_, Some(Log::Device(_) | Log::Devices(_)), _) => {
                "Writes to a device of the log would not be in the record."
            }
            (Storage::Device(_), Some(Log::Image { .. }), _) => {
                "Writes to an image of the log would not be in the record."
            }
            _ if self
                .layout
                .is_some_and(|layout| layout.maker() == Maker::Lvm) =>
            {
                "A volume of LVM cannot be made again from a cut."
            }
            (Storage::Device(_), ..) if has_no_barriers => {
                "The log of dm-log-writes has a write only when a flush follows, and without barriers none does."
            }
            // In a guest, after fsck.jfs had replayed the journal.
            (.., Filesystem::Jfs) => {
                "The kernel of Linux 6.1 stopped when jfs was unmounted after a cut."
            }
            _ => return Ok(()),
        };
        Err(Refusal::argument("this target cannot be recorded")
            .detail(why_not)
            .hint("Use images, or one device without an external log. LVM, zfs and jfs cannot be recorded."))
    }

    /// Refuses fsync_error on several devices: md does not report a failed flush, and a mirror hides a failed write.
    pub fn check_can_fail(&self) -> Result<(), Refusal> {
        match self.layout {
            Some(_) => Err(Refusal::argument("fsync_error cannot be tried on a layout")
                .detail("Layouts hide it: md does not report a failed flush, and a mirror hides a failed write.")
                .hint("Leave fsync_error out.")),
            None => Ok(()),
        }
    }

    /// Discarding gives the blocks of an image back to its filesystem.
    fn check_ssd_state(&self) -> Result<(), Refusal> {
        match self.ssd_state {
            Some(SsdState::Trimmed) if self.storage.is_allocated() => {
                Err(Refusal::argument("an allocated image cannot be trimmed")
                    .detail("To discard it would give its blocks back.")
                    .hint("Ask for a sparse image, or for ssd_state as_is."))
            }
            _ => Ok(()),
        }
    }
}

/// The size of the image on which options for a device are tried, if that is enough for the filesystem.
const SMALL: u64 = 512 << 20;

/// Mount options with which a filesystem sends no flush.
const NO_BARRIERS: [&str; 3] = ["nobarrier", "barrier=0", "barrier=none"];

/// The smallest image for a log: xfs wants no less.
const SMALLEST_LOG: u64 = 64 << 20;

/// The smallest record: mkfs alone writes some megabytes.
const SMALLEST_RECORD: u64 = 64 << 20;
/// Its entries are in the memory of the recorder.
const LARGEST_RECORD: u64 = 4 << 30;

/// Refuses a device that is named twice.
fn check_apart(devices: &[DeviceRequest]) -> Result<(), Refusal> {
    let is_given_before =
        |(i, device): &(usize, &DeviceRequest)| devices[..*i].iter().any(|d| d.path == device.path);
    match devices.iter().enumerate().find(is_given_before) {
        None => Ok(()),
        Some((_, twice)) => Err(Refusal::argument(format!(
            "device {} is given twice",
            quoted(&twice.path)
        ))
        .detail("Each device of a target is another one.")
        .hint("Leave one of the two out.")),
    }
}

fn check_image_size(bytes: u64, smallest: u64, of_what: &str) -> Result<(), Refusal> {
    if bytes < smallest {
        let message = format!("image of {} is too small", format_bytes(bytes));
        return Err(Refusal::argument(message)
            .detail(format!(
                "The smallest size for {of_what} is {}.",
                format_bytes(smallest)
            ))
            .hint("Give a larger image_size."));
    }
    // It must fit a bigint, with room to round up.
    if bytes > i64::MAX as u64 - (1 << 20) {
        return Err(Refusal::argument("image is too large")
            .detail(format!("{bytes} bytes were asked for."))
            .hint("Give a smaller image_size."));
    }
    Ok(())
}

/// Refuses what is no plain path below /dev.
pub fn check_device_path(path: &str) -> Result<(), Refusal> {
    let known = |c: char| {
        c.is_ascii_alphanumeric()
            || matches!(c, '/' | '_' | '.' | '+' | '-' | ':' | '@' | '=' | '#' | '~')
    };
    let parts_are_plain = || {
        path.split('/')
            .skip(1)
            .all(|part| !part.is_empty() && part != "." && part != "..")
    };
    if path.len() <= 255
        && path.starts_with("/dev/")
        && path.chars().all(known)
        && parts_are_plain()
    {
        return Ok(());
    }
    Err(Refusal::argument(format!("invalid device path {}", quoted(path)))
        .detail("A device is given by an absolute path below /dev, without \"..\", blanks or special characters.")
        .hint(match path.contains([',', ' ', '{', '[']) {
            // Several.
            true => "Give several in the argument devices, with a layout: devices => '{/dev/disk/by-id/a,/dev/disk/by-id/b}', layout => 'raid0'.",
            false => "Use a path of /dev/disk/by-id.",
        }))
}
