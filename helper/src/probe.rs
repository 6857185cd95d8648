//! Facts about this machine, read and not changed.

pub mod blank;
pub mod contents;
pub mod device;
pub mod identity;
pub mod in_use;
pub mod kernel;
pub mod loops;
pub mod pools;
pub mod programs;
pub mod queue;
pub mod user;

use crate::secure::failed;
use pgfsbench_core::proc::{MOUNTINFO, Mount, parse_mountinfo};
use pgfsbench_core::refusal::{Kind, Refusal};
use rustix::fs::{major, minor};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

/// Everything that is mounted where this process looks.
pub fn mounts() -> Result<Vec<Mount>, Refusal> {
    Ok(parse_mountinfo(&read(Path::new(MOUNTINFO))?)?)
}

/// The mounts on exactly this path. They hide each other: the last one counts.
pub fn mounts_on(path: &Path) -> Result<Vec<Mount>, Refusal> {
    let mut mounts = mounts()?;
    mounts.retain(|mount| Path::new(&mount.mount_point) == path);
    Ok(mounts)
}

/// The text of a file of /proc or /sys; names in it that are not UTF-8, which any user may have chosen, keep nobody from the rest.
pub fn read(path: &Path) -> Result<String, Refusal> {
    let text = std::fs::read(path).map_err(|e| {
        Refusal::new(Kind::System, format!("could not read {}", path.display()))
            .detail(format!("{e}."))
    })?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// The first line of a file, if it has one.
pub fn line(path: &Path) -> Option<String> {
    let text = std::fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().next()?.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

/// The number of the block device that a path leads to.
pub fn device_number(path: &Path) -> Option<(u32, u32)> {
    let metadata = std::fs::metadata(path).ok()?;
    let number = metadata.rdev();
    metadata
        .file_type()
        .is_block_device()
        .then(|| (major(number), minor(number)))
}

/// True if this is a mount of the device with this number.
pub fn is_of_device(mount: &Mount, number: (u32, u32)) -> bool {
    let is_named = |name| device_number(Path::new(name)) == Some(number);
    (mount.major, mount.minor) == number || mount.device_by_name().is_some_and(is_named)
}

/// A UUID that nobody has had.
pub fn new_uuid() -> Result<String, Refusal> {
    Ok(read(Path::new("/proc/sys/kernel/random/uuid"))?
        .trim()
        .to_owned())
}

/// Changes with each boot.
pub fn boot_id() -> Result<String, Refusal> {
    Ok(read(Path::new("/proc/sys/kernel/random/boot_id"))?
        .trim()
        .to_owned())
}

/// The bytes that root may use on the filesystem of a directory.
pub fn free_bytes(directory: &Path) -> Result<u64, Refusal> {
    let space = rustix::fs::statvfs(directory).map_err(|e| failed("stat", directory, e))?;
    Ok(space.f_bavail.saturating_mul(space.f_frsize))
}
