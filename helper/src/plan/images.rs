//! Images: in which directory there is room for one.

use super::{Facts, ImagesFacts, On, Part, Step};
use crate::config::{Config, Images};
use pgfsbench_core::refusal::{Kind, Refusal};
use pgfsbench_core::units::format_bytes;
use std::path::{Path, PathBuf};

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
    planned: Option<&On>,
) -> Result<(On, Vec<Step>), Refusal> {
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
    Ok((On::Image { path, bytes }, steps))
}

/// The path of a file of this name and size, in the first directory that has room for it. What has been planned already counts as being there.
pub fn room(
    config: &Config,
    name: &str,
    bytes: u64,
    facts: &Facts,
    planned: Option<&On>,
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
    fn with(&self, planned: Option<&On>, directory: &Path) -> Self {
        let more = match planned {
            Some(On::Image { path, bytes }) if path.parent() == Some(directory) => *bytes,
            _ => 0,
        };
        Self {
            used_bytes: self.used_bytes + more,
            images: self.images + u32::from(more > 0),
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
