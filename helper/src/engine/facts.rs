//! Gathers what a plan needs to know.

use super::Engine;
use crate::config::{Config, Device, Images};
use crate::exec;
use crate::journal::{Journal, Kept};
use crate::place::Place;
use crate::plan::{Facts, Found, Holder, ImagesFacts, ZfsFacts};
use crate::probe::device::{Access, DeviceFacts, Identity};
use crate::probe::kernel::Support;
use crate::probe::queue::{self, Queue};
use crate::probe::{self, device, kernel, pools};
use crate::recorder;
use crate::secure;
use crate::settings::Of;
use pgfsbench_core::helper::{DeviceRequest, Filesystem, Log, Prepare, Storage};
use pgfsbench_core::quoting;
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
    let needs_images = matches!(request.storage, Storage::Image { .. })
        || matches!(request.log, Some(Log::Image { .. }));
    let images = match needs_images {
        true => images(config, journal)?,
        false => Vec::new(),
    };
    let inspect = |requested: &DeviceRequest| inspect(config, journal, requested, access);
    let device = match &request.storage {
        Storage::Device(requested) => inspect(requested)?,
        Storage::Image { .. } => None,
    };
    let log_device = match &request.log {
        Some(Log::Device(requested)) => inspect(requested)?,
        _ => None,
    };
    let support = kernel::support(fs)?;
    let zfs_facts = match (fs, support) {
        (Filesystem::Zfs, Support::Present | Support::Module) => zfs_facts(place, device.as_ref())?,
        _ => ZfsFacts::default(),
    };
    let queue = device
        .as_ref()
        .and_then(|d| Queue::of_device(&d.facts.node));
    let limits = match &queue {
        Some(queue) => queue.limits(),
        None => queue::limits_of_loops(),
    };
    let user = |of: Of| super::settings::user(config, journal, place, &of);
    let queue_user = match (&request.block_settings, queue) {
        (Some(_), Some(queue)) => user(Of::Queue(queue))?,
        _ => None,
    };
    let kernel_user = match &request.kernel_settings {
        Some(_) => user(Of::Kernel)?,
        None => None,
    };
    Ok(Facts {
        support,
        kernel: kernel::release(),
        mkfs: exec::require(fs.mkfs_program(), fs.package()),
        losetup: exec::require("losetup", "mount"),
        mount: exec::require("mount", "mount"),
        wipefs: exec::require("wipefs", "util-linux"),
        zfs: exec::require("zfs", "zfsutils-linux"),
        addpart: exec::require("addpart", "util-linux"),
        modprobe: exec::require("modprobe", "kmod"),
        zfs_facts,
        dumpe2fs: exec::find("dumpe2fs"),
        blkdiscard: exec::require("blkdiscard", "util-linux"),
        uuid: probe::new_uuid()?,
        log_uuid: probe::new_uuid()?,
        images,
        no_recorder: recorder::why_not(),
        device,
        log_device,
        limits,
        queue_user,
        kernel_user,
    })
}

/// The facts of a device. None for one that the configuration does not allow: it is not even opened.
fn inspect(
    config: &Config,
    journal: &Journal,
    requested: &DeviceRequest,
    access: Access,
) -> Result<Option<Found>, Refusal> {
    if config.device(&requested.path).is_none() {
        return Ok(None);
    }
    let facts = device::inspect(&requested.path, access)?;
    let number = (facts.identity.major, facts.identity.minor);
    check_alone(config, &requested.path, number)?;
    found(config, journal, facts).map(Some)
}

/// The facts of a device, with what the journal says of it.
pub fn found(config: &Config, journal: &Journal, facts: DeviceFacts) -> Result<Found, Refusal> {
    let is_ours = journal.is_ours(&facts.contents, &facts.identity)?;
    let boot = probe::boot_id()?;
    let number = |identity: &Identity| (identity.major, identity.minor);
    let is_it = |kept: &Kept| match kept {
        Kept::Device { identity, .. } => number(identity) == number(&facts.identity),
        Kept::Image { .. } => false,
    };
    let (entries, _) = journal.entries(config)?;
    let mut entries = entries.into_iter();
    // One that was unmounted by hand may be in use by others.
    let is_mounted = |path: &Path| probe::mounts_on(path).is_ok_and(|mounts| !mounts.is_empty());
    let holder = entries.find(|(_, entry)| {
        let is_on_it = is_it(&entry.on) || entry.log.as_ref().is_some_and(is_it);
        is_on_it && entry.boot == boot && is_mounted(&entry.mount_point)
    });
    Ok(Found {
        facts,
        is_ours,
        holder: holder.map(|(place, entry)| Holder {
            place,
            run: entry.run,
        }),
    })
}

fn zfs_facts(place: &Place, device: Option<&Found>) -> Result<ZfsFacts, Refusal> {
    Ok(ZfsFacts {
        pool_is_there: exec::find("zpool").is_some() && pools::inspect(&place.pool())?.is_some(),
        is_partition: device.is_some_and(|d| queue::is_partition(&d.facts.node)),
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
            for name in [
                place.image_name(),
                place.log_image_name(),
                place.record_name(),
            ] {
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

impl Engine {
    /// Checks the directory of this image.
    pub(super) fn check_images(&self, image: &Path) -> Result<(), Refusal> {
        let mut all = self.config.images.iter();
        match all.find(|images| image.parent() == Some(images.directory.as_path())) {
            Some(images) => check_images(images),
            None => Ok(()),
        }
    }
}

/// A directory of images must be root's alone, and on the filesystem that the configuration means. When that is not mounted, the
/// directory is on another one.
pub fn check_images(images: &Images) -> Result<(), Refusal> {
    secure::open_directory(&images.directory)?;
    let Some(wanted) = &images.mount_point else {
        return Ok(());
    };
    let found = probe::mount_of_directory(&images.directory)?.map(|mount| mount.mount_point);
    if found
        .as_ref()
        .is_some_and(|found| Path::new(found) == wanted)
    {
        return Ok(());
    }
    Err(Refusal::new(
        Kind::NotInThisState,
        format!(
            "the filesystem of {} is not mounted",
            secure::shown(&images.directory)
        ),
    )
    .detail(format!(
        "By the helper's configuration it is mounted on {}; the directory is on that of {}.",
        wanted.display(),
        found.as_deref().unwrap_or("?")
    ))
    .hint(format!(
        "Run: mount {}; or put mount_point right in the helper's configuration, and restart pgfsbench-helper.",
        quoting::shell(&wanted.display().to_string())
    )))
}

fn allocated_bytes(image: &Path) -> u64 {
    std::fs::symlink_metadata(image).map_or(0, |metadata| metadata.blocks() * 512)
}
