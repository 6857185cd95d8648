//! Gathers what a plan needs to know.

use crate::config::Config;
use crate::exec;
use crate::journal::{Journal, Kept};
use crate::plan::{Facts, ImagesFacts};
use crate::probe::contents::Contents;
use crate::probe::{self, device, kernel};
use crate::secure;
use pgfsbench_core::helper::{Prepare, Storage};
use pgfsbench_core::refusal::Refusal;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

pub fn gather(config: &Config, journal: &Journal, request: &Prepare) -> Result<Facts, Refusal> {
    let fs = request.filesystem;
    let (images, device) = match &request.storage {
        Storage::Image { .. } => (images(config, journal)?, None),
        // A device that is not allowed is not even looked at.
        Storage::Device { path } if config.device.iter().any(|d| d.path == *path) => {
            (Vec::new(), Some(device::look(path)?))
        }
        Storage::Device { .. } => (Vec::new(), None),
    };
    let device_is_ours = match &device {
        Some(device) => is_ours(journal, device)?,
        None => false,
    };
    Ok(Facts {
        support: kernel::support(fs)?,
        kernel: kernel::release(),
        mkfs: exec::require(fs.mkfs_program(), fs.package()),
        losetup: exec::require("losetup", "mount"),
        mount: exec::require("mount", "mount"),
        uuid: probe::new_uuid()?,
        images,
        device,
        device_is_ours,
    })
}

/// Whether the helper has written what the device holds.
pub fn is_ours(journal: &Journal, device: &device::DeviceFacts) -> Result<bool, Refusal> {
    match &device.contents {
        Contents::Signature {
            uuid: Some(uuid), ..
        } => journal.is_claimed(uuid, &device.identity),
        _ => Ok(false),
    }
}

/// What there is in each directory of images.
pub fn images(config: &Config, journal: &Journal) -> Result<Vec<ImagesFacts>, Refusal> {
    let (places, _) = journal.places()?;
    let mut kept = Vec::new();
    for place in places {
        if let Some(entry) = journal.read(&place, config)?
            && let Kept::Image { path, bytes } = entry.on
        {
            kept.push((path, bytes));
        }
    }
    config
        .images
        .iter()
        .map(|images| {
            secure::open_directory(&images.directory)?;
            let here = || {
                kept.iter()
                    .filter(|(path, _)| path.parent() == Some(images.directory.as_path()))
            };
            // What sparse images may still take is not free.
            let promised: u64 = here()
                .map(|(path, bytes)| bytes.saturating_sub(allocated_bytes(path)))
                .sum();
            Ok(ImagesFacts {
                used_bytes: here().map(|(_, bytes)| bytes).sum(),
                images: here().count() as u32,
                free_bytes: probe::free_bytes(&images.directory)?.saturating_sub(promised),
            })
        })
        .collect()
}

fn allocated_bytes(image: &Path) -> u64 {
    std::fs::symlink_metadata(image).map_or(0, |metadata| metadata.blocks() * 512)
}
