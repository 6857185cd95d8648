//! Makes the steps, or a refusal, from a request, the configuration and the facts. Nothing here looks at the machine or changes it.

mod discard;
mod extended;
mod identity;
mod images;
mod log;
mod record;
mod remount_options;
mod settings;
mod steps;
mod zfs;

pub use discard::check_discards;
pub use identity::check_identity;
pub use remount_options::mount_options_again;
pub use settings::changed_by;
pub use steps::{Devices, Part, Step};
pub use zfs::ZfsFacts;

use crate::config::Config;
use crate::place::Place;
use crate::probe::contents::Contents;
use crate::probe::device::DeviceFacts;
use crate::probe::kernel::Support;
use crate::probe::queue::Limits;
use crate::recorder::Recorder;
use pgfsbench_core::helper::options::check_kernel as check_options_of_kernel;
use pgfsbench_core::helper::options::{mkfs_arguments, mount_options};
use pgfsbench_core::helper::{DeviceRequest, Filesystem, Marks, Prepare, Storage};
use pgfsbench_core::quoting;
use pgfsbench_core::refusal::{Kind, Refusal};
use std::path::{Path, PathBuf};

/// The facts from which a plan is made.
pub struct Facts {
    pub support: Support,
    pub kernel: String,
    pub mkfs: Result<PathBuf, Refusal>,
    pub losetup: Result<PathBuf, Refusal>,
    pub mount: Result<PathBuf, Refusal>,
    pub wipefs: Result<PathBuf, Refusal>,
    pub blkdiscard: Result<PathBuf, Refusal>,
    pub dumpe2fs: Option<PathBuf>,
    pub zfs: Result<PathBuf, Refusal>,
    pub addpart: Result<PathBuf, Refusal>,
    pub modprobe: Result<PathBuf, Refusal>,
    pub zfs_facts: ZfsFacts,
    /// The UUID of the new filesystem.
    pub uuid: String,
    /// The UUID of its external log, where that has one of its own.
    pub log_uuid: String,
    /// One for each directory of images in the configuration, in the same order.
    pub images: Vec<Result<ImagesFacts, Refusal>>,
    /// Why this machine cannot record what is written; None if it can.
    pub no_recorder: Option<&'static str>,
    /// The device, if one is asked for and allowed.
    pub device: Option<Found>,
    /// The log device, if one is asked for and allowed.
    pub log_device: Option<Found>,
    /// Limits of the disk's queue; for an image, those of some loop device.
    pub limits: Option<Limits>,
    /// The other target that has changed this queue's settings.
    pub queue_user: Option<Place>,
    /// The other target that has changed the kernel's settings.
    pub kernel_user: Option<Place>,
}

/// A device, and what the helper's journal says of it.
pub struct Found {
    pub facts: DeviceFacts,
    /// Whether the helper has made its contents.
    pub is_ours: bool,
    /// The target that the helper has prepared on it now.
    pub holder: Option<Holder>,
}

/// A target that is prepared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    pub place: Place,
    /// The run that it was prepared for.
    pub run: Option<i64>,
}

impl Holder {
    /// The refusal of a device that the helper itself has mounted: no user has to unmount it.
    fn refusal(&self, path: &str) -> Refusal {
        let Place { database, target } = &self.place;
        let (whose, hint) = match self.run {
            Some(run) => (
                format!(" for run {run}"),
                "Wait for the end of the run, or of the experiment: the helper unmounts it by itself.".to_owned(),
            ),
            None => (
                String::new(),
                format!("Call fsbench.release_target({}) in that database first.", quoting::sql_literal(target.as_str())),
            ),
        };
        Refusal::new(Kind::NotInThisState, format!("device {path} is in use"))
            .detail(format!(
                "pgfsbench-helper has prepared target \"{target}\" of database \"{database}\" on it{whose}."
            ))
            .hint(hint)
    }
}

pub struct ImagesFacts {
    /// Bytes of the images that are there.
    pub used_bytes: u64,
    pub images: u32,
    pub free_bytes: u64,
}

/// The steps that prepare a target, and what they are made from.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub filesystem: Filesystem,
    pub uuid: String,
    pub on: On,
    /// The device of its log; None if the filesystem holds it.
    pub log: Option<On>,
    /// The recorder below the filesystem; None if nothing is recorded.
    pub recorder: Option<Recorder>,
    /// The UUID by which the log is known: its own, or that of the filesystem.
    pub log_uuid: String,
    /// The dataset by which zfs is mounted; None for other filesystems.
    pub dataset: Option<String>,
    pub mount_point: PathBuf,
    pub mount_options: Vec<String>,
    /// The options of mkfs without those that were asked for; None if none were.
    pub plain_mkfs: Option<Vec<String>>,
    pub steps: Vec<Step>,
}

impl Plan {
    /// The devices, as far as they are known: the free loop device is known only when it is taken.
    pub fn devices(&self) -> Devices {
        let node = |on: &On, free: &str| match on {
            On::Image { .. } => free.into(),
            On::Device { facts, .. } => facts.node.clone(),
        };
        Devices {
            filesystem: node(&self.on, "/dev/loopN"),
            log: self
                .log
                .as_ref()
                .map_or(PathBuf::new(), |log| node(log, "/dev/loopM")),
            ..Devices::default()
        }
    }
}

/// The storage of a filesystem or of its log.
#[derive(Clone, Debug, PartialEq)]
pub enum On {
    Image {
        path: PathBuf,
        bytes: u64,
    },
    Device {
        path: String,
        /// Serial number and the like when the target was created.
        requested: Marks,
        facts: Box<DeviceFacts>,
    },
}

/// The plan for a request.
pub fn prepare(
    config: &Config,
    place: &Place,
    request: &Prepare,
    facts: &Facts,
) -> Result<Plan, Refusal> {
    request.check()?;
    let fs = request.filesystem;
    check_allowed(config, fs)?;
    let mut mkfs_options = options_of_mkfs(request, &facts.uuid)?;
    let mut plain_mkfs = plain_options_of_mkfs(request, &facts.uuid)?;
    let asked_to_mount = request.mount_options.as_deref().unwrap_or("");
    let mount_options = mount_options(fs, asked_to_mount)?;
    check_kernel(fs, facts)?;
    check_options_of_kernel(fs, asked_to_mount, &facts.kernel)?;
    let mkfs = facts.mkfs.clone()?;
    let mount = facts.mount.clone()?;

    let mount_point = place.mount_point(config);
    let (on, mut steps) = storage(config, place, request, facts)?;
    let recorder = record::record(config, place, request, facts, &on, &mut steps)?;
    if fs == Filesystem::Zfs {
        steps.extend(zfs::partition(request, &on, facts)?);
    }
    let log = log::log(config, place, request, facts, &on)?;
    let (log, log_uuid) = match log {
        None => (None, String::new()),
        Some(log) => {
            steps.extend(log.steps);
            if let Some(plain) = &mut plain_mkfs {
                plain.extend(log.mkfs_options.clone());
            }
            mkfs_options.extend(log.mkfs_options);
            (Some(log.on), log.uuid)
        }
    };
    let mut steps = before_mkfs(config, request, facts, steps)?;
    match fs {
        Filesystem::Zfs => steps.extend(zfs::steps(place, request, facts)?),
        _ => steps.push(Step::Mkfs {
            program: mkfs,
            options: mkfs_options,
        }),
    }
    let mount = Step::Mount {
        program: mount,
        filesystem: fs,
        options: [&mount_options[..], &log::mount_options(fs, log.is_some())].concat(),
        mount_point: mount_point.clone(),
        dataset: (fs == Filesystem::Zfs).then(|| place.dataset()),
    };
    steps.extend(geometry(fs, facts));
    steps.extend(mounting(config, &mount_point, mount));
    steps.extend(settings::step_to_keep(&steps));
    Ok(Plan {
        filesystem: fs,
        uuid: facts.uuid.clone(),
        on,
        log,
        recorder,
        log_uuid,
        dataset: (fs == Filesystem::Zfs).then(|| place.dataset()),
        mount_point,
        mount_options,
        plain_mkfs,
        steps,
    })
}

/// The options of mkfs without those that the request gives; None if it gives none.
fn plain_options_of_mkfs(request: &Prepare, uuid: &str) -> Result<Option<Vec<String>>, Refusal> {
    let requested = request.mkfs_options.as_deref().unwrap_or_default();
    if requested.trim().is_empty() {
        return Ok(None);
    }
    let plain = Prepare {
        mkfs_options: None,
        ..request.clone()
    };
    options_of_mkfs(&plain, uuid).map(Some)
}

/// The image that the filesystem is made on, or the device, with the steps that lead there.
fn storage(
    config: &Config,
    place: &Place,
    request: &Prepare,
    facts: &Facts,
) -> Result<(On, Vec<Step>), Refusal> {
    match &request.storage {
        Storage::Image { bytes, sparse } => {
            let new_image = images::NewImage {
                part: Part::Filesystem,
                name: place.image_name(),
                bytes: *bytes,
                sparse: *sparse,
                partitions: request.filesystem == Filesystem::Zfs,
            };
            images::image(config, &new_image, facts, None)
        }
        Storage::Device(requested) => device(config, requested, facts, Part::Filesystem),
    }
}

fn check_allowed(config: &Config, fs: Filesystem) -> Result<(), Refusal> {
    if config.filesystems.contains(&fs) {
        return Ok(());
    }
    Err(Refusal::new(
        Kind::NotAllowed,
        format!("{fs} is not allowed by the helper's configuration"),
    )
    .detail("Its line \"filesystems\" does not name it.")
    .hint("Let the administrator add it, and restart pgfsbench-helper."))
}

/// mkfs.xfs and mkfs.btrfs print the geometry themselves; for the ext family another program does.
fn geometry(fs: Filesystem, facts: &Facts) -> Option<Step> {
    let is_ext = matches!(fs, Filesystem::Ext2 | Filesystem::Ext3 | Filesystem::Ext4);
    let program = facts.dumpe2fs.clone().filter(|_| is_ext)?;
    Some(Step::Geometry { program })
}

/// The steps around the mount, in order.
fn mounting(config: &Config, mount_point: &Path, mount: Step) -> [Step; 4] {
    let path = mount_point.to_owned();
    [
        Step::MakeMountPoint { path: path.clone() },
        mount,
        Step::Verify { mount_point: path },
        Step::MakeDirectory {
            path: mount_point.join(crate::place::DIRECTORY),
            owner: config.server_user.clone(),
        },
    ]
}

/// Those that are asked for, and what of our own they leave.
fn options_of_mkfs(request: &Prepare, uuid: &str) -> Result<Vec<String>, Refusal> {
    let fs = request.filesystem;
    let requested = request.mkfs_options.as_deref().unwrap_or("");
    let mut options = fs.own_arguments(uuid);
    options.extend(mkfs_arguments(fs, requested)?);
    discard::spare(request, &mut options)?;
    extended::write_at_once(fs, &mut options);
    Ok(options)
}

/// The steps before mkfs, in order. Those that look and set come first, then those that erase: what can fail comes before the first
/// byte is gone.
fn before_mkfs(
    config: &Config,
    request: &Prepare,
    facts: &Facts,
    steps: Vec<Step>,
) -> Result<Vec<Step>, Refusal> {
    let erases = |step: &Step| matches!(step, Step::Wipe { .. } | Step::MakeJournal { .. });
    let (erasing, mut steps): (Vec<Step>, Vec<Step>) = steps.into_iter().partition(erases);
    steps.extend(settings::steps(config, request, facts)?);
    let (wiping, making): (Vec<Step>, Vec<Step>) = erasing
        .into_iter()
        .partition(|step| matches!(step, Step::Wipe { .. }));
    steps.extend(zfs::module(request.filesystem, facts)?);
    steps.extend(wiping);
    steps.extend(discard::steps(request, facts)?);
    steps.extend(making);
    Ok(steps)
}

fn check_kernel(fs: Filesystem, facts: &Facts) -> Result<(), Refusal> {
    if facts.support != Support::Missing {
        return Ok(());
    }
    Err(Refusal::new(Kind::NotInThisState, format!("this kernel has no {fs}"))
        .detail(format!(
            "/proc/filesystems of kernel {} does not list it, and modprobe finds no module for it.",
            facts.kernel
        ))
        .hint(format!(
            "On Debian the module is in the package {}.",
            fs.kernel_package()
        )))
}

fn device(
    config: &Config,
    requested: &DeviceRequest,
    facts: &Facts,
    part: Part,
) -> Result<(On, Vec<Step>), Refusal> {
    let path = requested.path.as_str();
    let found = match part {
        Part::Filesystem => &facts.device,
        Part::Log => &facts.log_device,
    };
    let (Some(allowed), Some(found)) = (config.device(path), found) else {
        return Err(Refusal::new(Kind::NotAllowed, format!("device {path} is not allowed by the helper's configuration"))
            .detail("Only devices that it names, with the same path, are erased.")
            .hint(format!("Add to it: [[device]] and, on the next line, path = \"{path}\"; then restart pgfsbench-helper.")));
    };
    let requested = requested.marks();
    let device = &found.facts;
    check_identity(allowed, &requested, &device.identity.marks())?;
    check_free(path, found)?;
    check_device(path, allowed.wipe, found.is_ours, device)?;
    let steps = vec![
        Step::CheckDevice {
            path: path.to_owned(),
            part,
        },
        // mkfs does not overwrite everything, and what a killed mkfs left must go, too.
        Step::Wipe {
            program: facts.wipefs.clone()?,
            part,
        },
    ];
    let on = On::Device {
        path: path.to_owned(),
        requested,
        facts: Box::new(device.clone()),
    };
    Ok((on, steps))
}

/// Refuses a device on which the helper has prepared a target.
pub fn check_free(path: &str, found: &Found) -> Result<(), Refusal> {
    match (&found.holder, &found.facts.in_use) {
        (Some(holder), Some(_)) => Err(holder.refusal(path)),
        _ => Ok(()),
    }
}

/// Refuses a device that may not be erased as it is now.
pub fn check_device(
    path: &str,
    wipe: bool,
    is_ours: bool,
    device: &DeviceFacts,
) -> Result<(), Refusal> {
    let no = |message: String| Refusal::new(Kind::NotAllowed, message);
    if let Some(user) = &device.in_use {
        return Err(no(format!("device {path} is in use"))
            .detail(user.clone())
            .hint(
                "Unmount or free it first; the helper never does that for what it did not make.",
            ));
    }
    match &device.contents {
        Contents::Empty => Ok(()),
        Contents::Table(_) => Err(no(format!("device {path} holds {}", device.contents))
            .detail("A disk with a partition table is never erased.")
            .hint("Name one of its partitions in the helper's configuration, or remove the table by hand.")),
        Contents::Partitions => Err(no(format!("device {path} holds {}", device.contents))
            .detail("A disk with partitions is never erased.")
            .hint(format!(
                "Name one of them in the helper's configuration; or, if they are left from an earlier use of the device, have the kernel forget them: partx --delete {}",
                quoting::shell(path)
            ))),
        _ if is_ours || wipe => Ok(()),
        contents => Err(no(format!("device {path} holds {contents}"))
            .detail("pgfsbench did not write that.")
            .hint(format!(
                "If it may be erased, put wipe = true below path = \"{path}\" in the helper's configuration (pgfsbench-helper setup --allow-device={} --wipe does that), and restart pgfsbench-helper.",
                quoting::shell(path)
            ))),
    }
}

#[cfg(test)]
mod tests;
