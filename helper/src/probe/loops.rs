//! Loop devices: which of them have our image.

use super::identity::{disk_of, sysfs};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The device that hands out loop devices.
pub const CONTROL: &str = "/dev/loop-control";

/// The kernel adds this to the name of a file that was removed.
const DELETED: &str = " (deleted)";

/// The loop devices whose file this is or was, in use or about to go.
pub fn of_image(image: &Path) -> Vec<PathBuf> {
    let mut removed = image.as_os_str().to_owned();
    removed.push(DELETED);
    let mut found = of_file(image);
    found.extend(of_file(Path::new(&removed)));
    found
}

/// The loop devices whose file this is.
pub fn of_file(image: &Path) -> Vec<PathBuf> {
    let mut found = all();
    found.retain(|(_, file)| file == image);
    found.sort();
    found.into_iter().map(|(device, _)| device).collect()
}

/// All that have a file, with it.
pub fn all() -> Vec<(PathBuf, PathBuf)> {
    let entries = std::fs::read_dir("/sys/block")
        .into_iter()
        .flatten()
        .flatten();
    let with_file = entries.filter_map(|entry| {
        let device = Path::new("/dev").join(entry.file_name());
        Some((device, file_of(&entry.path())?))
    });
    with_file.collect()
}

/// The file of the loop device with this number, if it is one.
pub fn backing_file(number: (u32, u32)) -> Option<PathBuf> {
    file_of(&sysfs(number))
}

fn file_of(directory: &Path) -> Option<PathBuf> {
    super::line(&directory.join("loop/backing_file")).map(PathBuf::from)
}

/// True if two names lead to one file.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    let inode = |path: &Path| {
        let metadata = std::fs::metadata(path).ok()?;
        Some((metadata.dev(), metadata.ino()))
    };
    one == other || (inode(one).is_some() && inode(one) == inode(other))
}

/// True if it bypasses the page cache of the filesystem below.
pub fn has_direct_io(device: &Path) -> bool {
    let Some(number) = super::device_number(device) else {
        return false;
    };
    let disk = disk_of(&sysfs(number).canonicalize().unwrap_or_default());
    super::line(&disk.join("loop/dio")).as_deref() == Some("1")
}
