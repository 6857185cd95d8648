//! Facts about this machine, read and not changed.

pub mod arrays;
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
pub mod volumes;

use crate::secure::failed;
use pgfsbench_core::proc::{MOUNTINFO, Mount, OddMount, mount_of, parse_mountinfo};
use pgfsbench_core::refusal::{Kind, Refusal};
use rustix::fs::{major, minor};
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The mounts where this process looks. A line that cannot be read is an error if it may matter: a mount that is overlooked would
/// have a device written to that is in use.
fn mounts(may_matter: impl Fn(&OddMount) -> bool) -> Result<Vec<Mount>, Refusal> {
    let table = parse_mountinfo(&read(Path::new(MOUNTINFO))?);
    Ok(table.unless_odd(may_matter)?)
}

/// The mounts on exactly this path. They hide each other: the last one counts.
pub fn mounts_on(path: &Path) -> Result<Vec<Mount>, Refusal> {
    let is_it = |mount_point: &str| Path::new(mount_point) == path;
    let mut mounts = mounts(|odd| odd.may_be_on(is_it))?;
    mounts.retain(|mount| is_it(&mount.mount_point));
    Ok(mounts)
}

/// The mount that a directory is on; the directory has no symbolic links.
pub fn mount_of_directory(directory: &Path) -> Result<Option<Mount>, Refusal> {
    let mounts = mounts(|odd| odd.may_be_on(|mount_point| directory.starts_with(mount_point)))?;
    Ok(mount_of(&mounts, &directory.display().to_string(), None).cloned())
}

/// A mount of the device with this number.
pub fn mount_of_device(number: (u32, u32)) -> Result<Option<Mount>, Refusal> {
    let mounts = mounts(|odd| odd.may_be_of(number))?;
    Ok(mounts.into_iter().find(|mount| is_of_device(mount, number)))
}

/// The text of a file of /proc or /sys; names that are not UTF-8, which any user may have chosen, do not hide the rest.
pub fn read(path: &Path) -> Result<String, Refusal> {
    let text = std::fs::read(path).map_err(|e| {
        Refusal::new(Kind::System, format!("could not read {}", path.display()))
            .detail(format!("{e}."))
    })?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// The entries of a directory of /proc or /sys; none if there is no such directory. An error if they cannot be read: an entry that
/// is overlooked would have a device taken for free.
pub fn entries(directory: &Path) -> Result<Vec<PathBuf>, Refusal> {
    let not_read = |e: std::io::Error| {
        Refusal::new(
            Kind::System,
            format!("could not read {}", directory.display()),
        )
        .detail(format!("{e}."))
    };
    let entries = match std::fs::read_dir(directory) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(not_read)?,
    };
    entries
        .map(|entry| Ok(entry.map_err(not_read)?.path()))
        .collect()
}

/// The text of a file of /proc or /sys; None if there is no such file.
pub fn read_if_there(path: &Path) -> Result<Option<String>, Refusal> {
    match std::fs::symlink_metadata(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        _ => read(path).map(Some),
    }
}

/// The first line of a file, if it has one.
pub fn line(path: &Path) -> Option<String> {
    let text = std::fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().next()?.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

/// The number of the device whose directory in sysfs this is.
pub fn number_of(directory: &Path) -> Option<(u32, u32)> {
    let text = line(&directory.join("dev"))?;
    let (major, minor) = text.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
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

/// A fresh UUID.
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
