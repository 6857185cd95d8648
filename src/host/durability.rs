//! Properties of the storage that make a COMMIT less than it promises: a filesystem in memory, one that does not flush the device,
//! and for a file that serves as a disk, the storage below it. A property that is not known is no reason.

use std::{fs, path::Path};

use pgfsbench_core::proc::has_barriers_off;

use crate::host::location::Location;

/// Files that serve as disks may lie on such disks.
const DEEPEST: usize = 4;

/// Why commits in a directory are not durable, however the server is set; empty when nothing is known against them.
pub fn reasons(location: &Location) -> Vec<String> {
    let mut reasons = Vec::new();
    look(location, DEEPEST, &mut reasons);
    reasons
}

fn look(location: &Location, deepest: usize, reasons: &mut Vec<String>) {
    let Some(mount) = location.mount() else {
        return;
    };
    if ["tmpfs", "ramfs"].contains(&mount.fs_type.as_str()) {
        reasons.push(format!("{} is in memory", mount.fs_type));
        return;
    }
    let device = device_of(location);
    let is_volatile = device.as_deref().and_then(write_cache).as_deref() == Some("write back");
    if has_barriers_off(&mount.options) {
        reasons.push("barriers off".into());
    } else if mount.fs_type == "jfs" && is_volatile {
        // Observations with a replayed write log: it lost everything (LAB.md).
        reasons.push("jfs does not flush the device's cache".into());
    }
    let backing = device.and_then(|device| {
        let file = fs::read_to_string(format!("{device}/loop/backing_file")).ok()?;
        Location::of(Path::new(file.trim_end()).parent()?)
    });
    if let Some(below) = backing
        && deepest > 0
    {
        look(&below, deepest - 1, reasons);
    }
}

/// The directory of the block device in sysfs.
fn device_of(location: &Location) -> Option<String> {
    let (major, minor) = location.block_device()?;
    Some(format!("/sys/dev/block/{major}:{minor}"))
}

/// `write back` or `write through`; for a partition, of its disk.
fn write_cache(device: &str) -> Option<String> {
    let read = |path: String| fs::read_to_string(path).ok();
    let text = read(format!("{device}/queue/write_cache"))
        .or_else(|| read(format!("{device}/../queue/write_cache")))?;
    Some(text.trim().to_owned())
}

/// The write cache of the device that a directory is on, as the kernel sees it.
pub fn write_cache_of(location: &Location) -> Option<String> {
    write_cache(&device_of(location)?)
}
