//! An image: a file that serves as a disk, by a loop device. A release detaches and removes it.

use super::{Facts, ImagesFacts, Part, PlannedLeaf, Step, UndoContext};
use crate::config::{Config, Images};
use crate::exec;
use crate::probe::{self, loops};
use crate::secure::{self, failed};
use pgfsbench_core::quoting;
use pgfsbench_core::refusal::{Kind, Refusal};
use pgfsbench_core::units::format_bytes;
use rustix::fs::{AtFlags, FileType, fsync, unlinkat};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// An image that is to be made.
pub struct NewImage {
    pub part: Part,
    pub name: String,
    pub bytes: u64,
    pub sparse: bool,
    pub partitions: bool,
}

/// The steps that make and attach it.
pub fn image(
    config: &Config,
    new_image: &NewImage,
    facts: &Facts,
    planned: &[PlannedLeaf],
) -> Result<(PlannedLeaf, Vec<Step>), Refusal> {
    let (path, bytes) = room(config, &new_image.name, new_image.bytes, facts, planned)?;
    let steps = vec![
        Step::CreateImage {
            path: path.clone(),
            bytes,
            sparse: new_image.sparse,
        },
        Step::Attach {
            program: facts.losetup.clone()?,
            image: path.clone(),
            part: new_image.part,
            partitions: new_image.partitions,
        },
    ];
    Ok((PlannedLeaf::Image { path, bytes }, steps))
}

/// The path of a file of this name and size, in the first directory that has room for it. What has been planned already counts as being there.
pub fn room(
    config: &Config,
    name: &str,
    bytes: u64,
    facts: &Facts,
    planned: &[PlannedLeaf],
) -> Result<(PathBuf, u64), Refusal> {
    if config.images.is_empty() {
        return Err(Refusal::new(Kind::NotAllowed, "images are not allowed by the helper's configuration")
            .detail("It names no directory for them.")
            .hint("Add to it: [[images]] directory = \"/DIRECTORY\" max_bytes = \"16GB\", on three lines; then restart pgfsbench-helper."));
    }
    // Rounded up to whole pages.
    let bytes = bytes.next_multiple_of(4096);
    let mut why_not = None;
    for (images, there) in config.images.iter().zip(&facts.images) {
        let fits = there
            .as_ref()
            .map_err(Clone::clone)
            .and_then(|there| fits(images, &there.with(planned, &images.directory), bytes));
        match fits {
            Ok(()) => return Ok((images.directory.join(name), bytes)),
            Err(refusal) => why_not = why_not.or(Some(refusal)),
        }
    }
    Err(why_not.unwrap_or_else(|| Refusal::new(Kind::Internal, "no facts about the images")))
}

impl ImagesFacts {
    fn with(&self, planned: &[PlannedLeaf], directory: &Path) -> Self {
        let here = planned.iter().filter_map(|on| match on {
            PlannedLeaf::Image { path, bytes } if path.parent() == Some(directory) => Some(*bytes),
            _ => None,
        });
        let (more, images) = here.fold((0_u64, 0), |(bytes, images), more| {
            (bytes.saturating_add(more), images + 1)
        });
        Self {
            used_bytes: self.used_bytes.saturating_add(more),
            images: self.images + images,
            free_bytes: self.free_bytes.saturating_sub(more),
        }
    }
}

/// A sparse image needs its whole room, too: if it filled its filesystem, everybody else there would fail.
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

/// Checks the directory of this image.
pub fn check_image(config: &Config, image: &Path) -> Result<(), Refusal> {
    let mut all = config.images.iter();
    match all.find(|images| image.parent() == Some(images.directory.as_path())) {
        Some(images) => check_images(images),
        None => Ok(()),
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

impl UndoContext<'_> {
    pub fn free_image(&mut self, path: &Path) -> Result<(), Refusal> {
        self.detach(path)?;
        check_image(self.config, path)?;
        self.remove_image(path)
    }

    pub fn detach(&mut self, image: &Path) -> Result<(), Refusal> {
        for device in loops::of_image(image)? {
            let losetup = exec::require("losetup", "mount")?.display().to_string();
            if let Some(number) = probe::device_number(&device)
                && let Some(mount) = probe::mount_of_device(number)?
            {
                let message = format!(
                    "{} is mounted on {} too",
                    device.display(),
                    mount.mount_point
                );
                return Err(Refusal::new(Kind::NotInThisState, message)
                    .detail("The helper did not mount it there.")
                    .hint(format!(
                        "Run: umount {}.",
                        quoting::shell(&mount.mount_point)
                    )));
            }
            // While the device is open here, no other device gets its number.
            let held = File::open(&device);
            if held.is_err() || !loops::of_image(image)?.contains(&device) {
                continue;
            }
            let detached = self.run(
                "detach",
                &[losetup, "-d".into(), device.display().to_string()],
            );
            drop(held);
            if loops::of_image(image)?.contains(&device) {
                detached?;
            }
        }
        // An open loop device disappears only when it is closed; udev's blkid opens it for a moment.
        let began = Instant::now();
        while let Some(device) = loops::of_image(image)?.first() {
            if began.elapsed() > Duration::from_secs(60) {
                let message = format!("{} is in use", device.display());
                let user = match probe::device_number(device) {
                    Some(number) => probe::in_use::of(number, Duration::ZERO)?,
                    None => None,
                };
                return Err(Refusal::new(Kind::NotInThisState, message)
                    .detail(user.unwrap_or_else(|| "A process has it open.".into()))
                    .hint("Run pgfsbench-helper cleanup when it is closed."));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    fn remove_image(&mut self, path: &Path) -> Result<(), Refusal> {
        let Some((directory, name)) = path.parent().zip(path.file_name().and_then(|n| n.to_str()))
        else {
            return Ok(());
        };
        let directory = secure::open_directory(directory)?;
        if let Some(stat) =
            secure::stat_entry(&directory, name).map_err(|e| failed("stat", path, e))?
            && (FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || stat.st_uid != 0)
        {
            let message = format!("{} is not the image that was made", secure::shown(path));
            return Err(
                Refusal::new(Kind::NotAllowed, message).hint("Look at it, and remove it by hand.")
            );
        }
        self.own("remove_image", "remove", path, || {
            unlinkat(&directory, name, AtFlags::empty()).and_then(|()| fsync(&directory))
        })
    }
}
