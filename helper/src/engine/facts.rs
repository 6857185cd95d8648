//! Gathers what a plan needs to know.

use crate::config::{Config, Device, Images};
use crate::exec;
use crate::journal::{Journal, JournalLeaf};
use crate::layer::{
    self, ArrayFacts, Facts, Holder, ImagesFacts, KnownDevice, Part, Role, check_images,
};
use crate::place::Place;
use crate::probe::device::{Access, DeviceFacts, Identity};
use crate::probe::kernel::Support;
use crate::probe::queue::{self, Limits, Queue};
use crate::probe::{self, device, kernel, pools};
use crate::recorder;
use crate::settings::SettingOwner;
use pgfsbench_core::helper::layout::Maker;
use pgfsbench_core::helper::{DeviceRequest, Filesystem, Layout, Log, Prepare};
use pgfsbench_core::refusal::{Kind, Refusal};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

pub fn gather(
    config: &Config,
    journal: &Journal,
    place: &Place,
    request: &Prepare,
    access: Access,
) -> Result<Facts, Refusal> {
    let fs = request.filesystem;
    let needs_images = request.storage.images().is_some()
        || matches!(request.log, Some(Log::Image { .. }))
        || request.record.is_some();
    let images = match needs_images {
        true => images(config, journal)?,
        false => Vec::new(),
    };
    let inspect = |requested: &DeviceRequest| inspect(config, journal, requested, access);
    let devices = request.storage.devices().iter();
    let devices: Vec<Option<KnownDevice>> = devices.map(inspect).collect::<Result<_, _>>()?;
    let of_log = request.log.iter().flat_map(Log::devices);
    let log_devices: Vec<_> = of_log.map(inspect).collect::<Result<_, _>>()?;
    let support = kernel::support(fs)?;
    let pool_is_there = match (fs, support) {
        (Filesystem::Zfs, Support::Present | Support::Module) => {
            exec::find("zpool").is_some() && pools::inspect(&place.pool())?.is_some()
        }
        _ => false,
    };
    let queue = |device: &Option<KnownDevice>| Queue::of_device(&device.as_ref()?.facts.node);
    let queues: Vec<Option<Queue>> = devices.iter().map(queue).collect();
    let limits = limits(&queues);
    let user = |of: SettingOwner| super::settings::user(config, journal, place, &of);
    let mut queue_user = None;
    if request.block_settings.is_some() {
        for queue in queues.into_iter().flatten() {
            queue_user = queue_user.or(user(SettingOwner::Queue(queue))?);
        }
    }
    let kernel_user = match &request.kernel_settings {
        Some(_) => user(SettingOwner::Kernel)?,
        None => None,
    };
    Ok(Facts {
        support,
        array: facts_of_array(request, Role::Filesystem)?,
        log_array: facts_of_array(request, Role::Log)?,
        has_udev: layer::has_udev(),
        kernel: kernel::release(),
        mkfs: exec::require(fs.mkfs_program(), fs.package()),
        losetup: exec::require("losetup", "mount"),
        mount: exec::require("mount", "mount"),
        wipefs: exec::require("wipefs", "util-linux"),
        zfs: exec::require("zfs", "zfsutils-linux"),
        addpart: exec::require("addpart", "util-linux"),
        modprobe: exec::require("modprobe", "kmod"),
        mdadm: exec::require("mdadm", "mdadm"),
        lvm: exec::require("lvm", "lvm2"),
        dmsetup: exec::require("dmsetup", "dmsetup"),
        pool_is_there,
        dumpe2fs: exec::find("dumpe2fs"),
        blkdiscard: exec::require("blkdiscard", "util-linux"),
        uuid: probe::new_uuid()?,
        log_uuid: probe::new_uuid()?,
        images,
        no_recorder: recorder::why_not(),
        devices,
        log_devices,
        limits,
        queue_user,
        kernel_user,
    })
}

/// The limits of each queue; without devices, those of some loop device.
fn limits(queues: &[Option<Queue>]) -> Vec<Option<Limits>> {
    match queues.is_empty() {
        false => queues.iter().map(|q| q.as_ref()?.limits()).collect(),
        true => vec![queue::limits_of_loops()],
    }
}

/// Whether the kernel has the driver of the layout, and its level; and a UUID for the array. For dm-log-writes, the driver is
/// the device mapper, and the level is its target.
fn facts_of_array(request: &Prepare, role: Role) -> Result<ArrayFacts, Refusal> {
    let layout = layer::arrays(request).find(|(over, _)| *over == role);
    let layout = layout.map(|(_, layout)| layout);
    let (driver, level) = match (layout.map(Layout::maker), layout) {
        (_, None) if request.is_logged() => {
            (kernel::support_of_dm()?, kernel::support_of_log_writes()?)
        }
        (Some(Maker::Lvm), Some(layout)) => {
            let driver = kernel::support_of_dm()?;
            // Volumes without copies and parity need the device mapper alone.
            let level = match layout.has_sync() {
                true => kernel::support_of_dm_raid()?,
                false => driver,
            };
            (driver, level)
        }
        (_, Some(layout)) => (
            kernel::support_of_md()?,
            kernel::support_of_level(layout.word())?,
        ),
        (_, None) => (Support::Missing, Support::Missing),
    };
    Ok(ArrayFacts {
        driver,
        level,
        uuid: probe::new_uuid()?,
    })
}

/// The facts of a device. None for one that the configuration does not allow: it is not even opened.
fn inspect(
    config: &Config,
    journal: &Journal,
    requested: &DeviceRequest,
    access: Access,
) -> Result<Option<KnownDevice>, Refusal> {
    if config.device(&requested.path).is_none() {
        return Ok(None);
    }
    let facts = device::inspect(&requested.path, access)?;
    let number = (facts.identity.major, facts.identity.minor);
    check_alone(config, &requested.path, number)?;
    found(config, journal, facts).map(Some)
}

/// The facts of a device, with what the journal says of it.
pub fn found(
    config: &Config,
    journal: &Journal,
    facts: DeviceFacts,
) -> Result<KnownDevice, Refusal> {
    let is_ours = journal.is_ours(&facts.contents, &facts.identity)?;
    let boot = probe::boot_id()?;
    let number = |identity: &Identity| (identity.major, identity.minor);
    let is_it = |kept: &JournalLeaf| match kept {
        JournalLeaf::Device { identity, .. } => number(identity) == number(&facts.identity),
        JournalLeaf::Image { .. } => false,
    };
    let (entries, _) = journal.entries(config)?;
    let mut entries = entries.into_iter();
    // One that was unmounted by hand may be in use by others.
    let is_mounted = |path: &Path| probe::mounts_on(path).is_ok_and(|mounts| !mounts.is_empty());
    let holder = entries.find(|(_, entry)| {
        let is_on_it = entry.leaves().any(|(_, kept)| is_it(kept));
        is_on_it && entry.boot == boot && is_mounted(&entry.mount_point)
    });
    Ok(KnownDevice {
        facts,
        is_ours,
        holder: holder.map(|(place, entry)| Holder {
            place,
            run: entry.run,
        }),
    })
}

/// Two lines of the configuration that are the same device contradict each other, or will.
pub fn check_alone(config: &Config, path: &str, number: (u32, u32)) -> Result<(), Refusal> {
    let is_other = |other: &&Device| {
        other.path != path && probe::device_number(Path::new(&other.path)) == Some(number)
    };
    match config.device.iter().find(is_other) {
        None => Ok(()),
        Some(other) => Err(Refusal::new(
            Kind::NotAllowed,
            format!("the helper's configuration names device {path} twice"),
        )
        .detail(format!("{path} and {} are the same device.", other.path))
        .hint("Let the administrator remove one of the two, and restart pgfsbench-helper.")),
    }
}

/// The facts of each directory of images, or why it cannot be used. One that cannot be used does not affect the others.
pub fn images(
    config: &Config,
    journal: &Journal,
) -> Result<Vec<Result<ImagesFacts, Refusal>>, Refusal> {
    let (entries, unbelieved) = journal.entries(config)?;
    let mut kept: Vec<(PathBuf, u64)> = Vec::new();
    for (_, entry) in entries {
        kept.extend(entry.images().map(|(path, bytes)| (path.to_owned(), bytes)));
    }
    // An image takes room even if its entry in the journal is not believed.
    for (place, _) in unbelieved {
        for images in &config.images {
            let leaves = Part::all().map(|part| part.image_name(&place));
            for name in leaves.chain([place.record_name()]) {
                let path = images.directory.join(name);
                if let Ok(metadata) = std::fs::symlink_metadata(&path) {
                    kept.push((path, metadata.len()));
                }
            }
        }
    }
    let all = config.images.iter();
    Ok(all.map(|images| images_in(images, &kept)).collect())
}

fn images_in(images: &Images, kept: &[(PathBuf, u64)]) -> Result<ImagesFacts, Refusal> {
    check_images(images)?;
    let here = || {
        kept.iter()
            .filter(|(path, _)| path.parent() == Some(images.directory.as_path()))
    };
    // Room that sparse images may still take is not free.
    let promised: u64 = here()
        .map(|(path, bytes)| bytes.saturating_sub(allocated_bytes(path)))
        .sum();
    Ok(ImagesFacts {
        used_bytes: here().map(|(_, bytes)| bytes).sum(),
        images: here().count() as u32,
        free_bytes: probe::free_bytes(&images.directory)?.saturating_sub(promised),
    })
}

fn allocated_bytes(image: &Path) -> u64 {
    std::fs::symlink_metadata(image).map_or(0, |metadata| metadata.blocks() * 512)
}
