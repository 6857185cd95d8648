//! From what is asked for, what is allowed and what is there, to the steps that will be taken, or a refusal. Nothing here
//! looks at the machine or changes it.

mod discard;
mod identity;
mod settings;
mod steps;

pub use discard::check_discards;
pub use identity::check_identity;
pub use settings::changed_by;
pub use steps::Step;

use crate::config::{Config, Images};
use crate::place::Place;
use crate::probe::contents::Contents;
use crate::probe::device::DeviceFacts;
use crate::probe::kernel::Support;
use crate::probe::queue::Limits;
use pgfsbench_core::helper::options::{mkfs_arguments, mount_options};
use pgfsbench_core::helper::{DeviceRequest, Filesystem, Marks, Prepare, Storage};
use pgfsbench_core::refusal::{Kind, Refusal};
use pgfsbench_core::units::format_bytes;
use std::path::PathBuf;

/// What has to be known.
pub struct Facts {
    pub support: Support,
    pub kernel: String,
    pub mkfs: Result<PathBuf, Refusal>,
    pub losetup: Result<PathBuf, Refusal>,
    pub mount: Result<PathBuf, Refusal>,
    pub wipefs: Result<PathBuf, Refusal>,
    pub blkdiscard: Result<PathBuf, Refusal>,
    /// For the new filesystem.
    pub uuid: String,
    /// Of each of the configuration's directories, in its order.
    pub images: Vec<ImagesFacts>,
    /// The device, if one is asked for and allowed.
    pub device: Option<DeviceFacts>,
    /// Whether what is on the device was made by the helper.
    pub device_is_ours: bool,
    /// Of the disk's queue; for an image, of some loop device's.
    pub limits: Option<Limits>,
    /// Which other target has changed this queue's settings.
    pub queue_user: Option<Place>,
    /// The same for the kernel's.
    pub kernel_user: Option<Place>,
}

pub struct ImagesFacts {
    /// Of the images that are there.
    pub used_bytes: u64,
    pub images: u32,
    pub free_bytes: u64,
}

/// What will be done.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub filesystem: Filesystem,
    pub uuid: String,
    pub on: On,
    pub mount_point: PathBuf,
    pub mount_options: Vec<String>,
    pub steps: Vec<Step>,
}

/// What it is made on.
#[derive(Clone, Debug, PartialEq)]
pub enum On {
    Image {
        path: PathBuf,
        bytes: u64,
    },
    Device {
        path: String,
        /// What it was known by when the target was created.
        asked: Marks,
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
    if !config.filesystems.contains(&fs) {
        return Err(Refusal::new(
            Kind::NotAllowed,
            format!("{fs} is not allowed by the helper's configuration"),
        )
        .detail("Its line \"filesystems\" does not name it.")
        .hint("Let the administrator add it, and restart pgfsbench-helper."));
    }
    if fs == Filesystem::Zfs || request.log.is_some() {
        return Err(
            Refusal::new(Kind::NotInThisState, "this helper cannot do that yet")
                .detail("It knows zfs and logs elsewhere only by name.")
                .hint("Leave them out."),
        );
    }
    let mut mkfs_options = fs.own_arguments(&facts.uuid);
    mkfs_options.extend(mkfs_arguments(
        fs,
        request.mkfs_options.as_deref().unwrap_or(""),
    )?);
    discard::spare(request, &mut mkfs_options)?;
    let mount_options = mount_options(fs, request.mount_options.as_deref().unwrap_or(""))?;
    check_kernel(fs, facts)?;
    let mkfs = facts.mkfs.clone()?;
    let mount = facts.mount.clone()?;

    let mount_point = place.mount_point(config);
    let (on, mut steps) = match &request.storage {
        Storage::Image { bytes, sparse } => image(config, place, *bytes, *sparse, facts)?,
        Storage::Device(asked) => device(config, asked, facts)?,
    };
    // What can fail comes before the first byte is erased.
    let is_wipe = |step: &Step| matches!(step, Step::Wipe { .. });
    let at = steps.iter().position(is_wipe).unwrap_or(steps.len());
    steps.splice(at..at, settings::steps(config, request, facts)?);
    steps.extend(discard::step(request, facts)?);
    steps.extend([
        Step::Mkfs {
            program: mkfs,
            options: mkfs_options,
        },
        Step::MakeMountPoint {
            path: mount_point.clone(),
        },
        Step::Mount {
            program: mount,
            filesystem: fs,
            options: mount_options.clone(),
            mount_point: mount_point.clone(),
        },
        Step::Verify {
            mount_point: mount_point.clone(),
        },
        Step::MakeDirectory {
            path: mount_point.join(crate::place::DIRECTORY),
            owner: config.server_user.clone(),
        },
    ]);
    Ok(Plan {
        filesystem: fs,
        uuid: facts.uuid.clone(),
        on,
        mount_point,
        mount_options,
        steps,
    })
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
        .hint("On Debian the module is in the package linux-image-amd64; those for clouds and small virtual machines often lack it."))
}

fn image(
    config: &Config,
    place: &Place,
    bytes: u64,
    sparse: bool,
    facts: &Facts,
) -> Result<(On, Vec<Step>), Refusal> {
    if config.images.is_empty() {
        return Err(Refusal::new(Kind::NotAllowed, "images are not allowed by the helper's configuration")
            .detail("It names no directory for them.")
            .hint("Add to it: [[images]] directory = \"/DIRECTORY\" max_bytes = \"16GB\", on three lines; then restart pgfsbench-helper."));
    }
    let losetup = facts.losetup.clone()?;
    // Whole pages, whatever was asked for.
    let bytes = bytes.next_multiple_of(4096);
    let mut why_not = None;
    for (images, there) in config.images.iter().zip(&facts.images) {
        match fits(images, there, bytes) {
            Ok(()) => {
                let path = images.directory.join(place.image_name());
                let steps = vec![
                    Step::CreateImage {
                        path: path.clone(),
                        bytes,
                        sparse,
                    },
                    Step::Attach {
                        program: losetup,
                        image: path.clone(),
                    },
                ];
                return Ok((On::Image { path, bytes }, steps));
            }
            Err(refusal) => why_not = why_not.or(Some(refusal)),
        }
    }
    Err(why_not.unwrap_or_else(|| Refusal::new(Kind::Internal, "no facts about the images")))
}

/// Sparse or not: an image that outgrows its filesystem takes down whoever else is on it.
fn fits(images: &Images, there: &ImagesFacts, bytes: u64) -> Result<(), Refusal> {
    let directory = images.directory.display();
    if there.images >= images.max_images {
        return Err(Refusal::new(
            Kind::NotAllowed,
            format!("there are too many images in {directory}"),
        )
        .detail(format!(
            "There are {}, and the helper's configuration allows {}.",
            there.images, images.max_images
        ))
        .hint("Release a target, or let the administrator raise max_images."));
    }
    let allowed = images.max_bytes.saturating_sub(there.used_bytes);
    if bytes > allowed {
        return Err(Refusal::new(Kind::NotAllowed, format!("an image of {} is not allowed in {directory}", format_bytes(bytes)))
            .detail(format!(
                "The helper's configuration allows {} for all images there, and {} are in use.",
                format_bytes(images.max_bytes),
                format_bytes(there.used_bytes)
            ))
            .hint("Give a smaller image_size, release a target, or let the administrator raise max_bytes."));
    }
    if bytes > there.free_bytes {
        return Err(Refusal::new(
            Kind::DiskFull,
            format!(
                "no room for an image of {} in {directory}",
                format_bytes(bytes)
            ),
        )
        .detail(format!(
            "Its filesystem has {} free.",
            format_bytes(there.free_bytes)
        ))
        .hint("Give a smaller image_size, or make room."));
    }
    Ok(())
}

fn device(
    config: &Config,
    asked: &DeviceRequest,
    facts: &Facts,
) -> Result<(On, Vec<Step>), Refusal> {
    let path = asked.path.as_str();
    let (Some(allowed), Some(device)) = (config.device(path), &facts.device) else {
        return Err(Refusal::new(Kind::NotAllowed, format!("device {path} is not allowed by the helper's configuration"))
            .detail("Only devices that it names, with the same path, are erased.")
            .hint(format!("Add to it: [[device]] and, on the next line, path = \"{path}\"; then restart pgfsbench-helper.")));
    };
    let asked = asked.marks();
    check_identity(allowed, &asked, &device.identity.marks())?;
    check_device(path, allowed.wipe, facts.device_is_ours, device)?;
    let steps = vec![
        Step::CheckDevice {
            path: path.to_owned(),
        },
        // Not all of what is there is under what mkfs writes; and what a killed one has left must not outlive the next.
        Step::Wipe {
            program: facts.wipefs.clone()?,
        },
    ];
    let on = On::Device {
        path: path.to_owned(),
        asked,
        facts: Box::new(device.clone()),
    };
    Ok((on, steps))
}

/// Whether this device may be erased, as it is now.
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
        _ if is_ours || wipe => Ok(()),
        contents => Err(no(format!("device {path} holds {contents}"))
            .detail("pgfsbench did not write that.")
            .hint(format!("If it may be erased, put wipe = true below path = \"{path}\" in the helper's configuration, and restart pgfsbench-helper."))),
    }
}

#[cfg(test)]
mod tests;
