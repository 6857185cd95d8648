//! Loop devices: which of them have our image.

use super::identity::{disk_of, sysfs};
use std::path::{Path, PathBuf};

/// Where loop devices come from.
pub const CONTROL: &str = "/dev/loop-control";

/// What the kernel adds to the name of a file that was removed.
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
    let Ok(entries) = std::fs::read_dir("/sys/block") else {
        return Vec::new();
    };
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| {
            let file = super::line(&entry.path().join("loop/backing_file"));
            file.is_some_and(|file| Path::new(&file) == image)
        })
        .map(|entry| Path::new("/dev").join(entry.file_name()))
        .collect();
    found.sort();
    found
}

/// Whether it goes around the page cache of the filesystem below.
pub fn has_direct_io(device: &Path) -> bool {
    let Some(number) = super::device_number(device) else {
        return false;
    };
    let disk = disk_of(&sysfs(number).canonicalize().unwrap_or_default());
    super::line(&disk.join("loop/dio")).as_deref() == Some("1")
}
