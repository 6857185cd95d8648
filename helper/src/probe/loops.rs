//! Loop devices: which of them have our image.

use super::device_number;
use super::identity::{disk_of, sysfs};
use pgfsbench_core::refusal::Refusal;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
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

/// The loop devices whose file this is. Without sysfs none can be found, and none was made.
pub fn of_file(image: &Path) -> Vec<PathBuf> {
    let mut found = all().unwrap_or_default();
    found.retain(|(_, file)| file == image);
    found.sort();
    found.into_iter().map(|(device, _)| device).collect()
}

/// All that have a file, with it.
pub fn all() -> Result<Vec<(PathBuf, PathBuf)>, Refusal> {
    let entries = super::entries(Path::new("/sys/block"))?;
    let with_file = entries.into_iter().filter_map(|entry| {
        let device = Path::new("/dev").join(entry.file_name()?);
        Some((device, file_of(&entry)?))
    });
    Ok(with_file.collect())
}

/// The block device that a loop device has as its file, also if the name of it in /dev was made anew meanwhile.
pub fn backing_device(file: &Path) -> Option<(u32, u32)> {
    let text = file.to_str()?;
    let current = text.strip_suffix(DELETED).map(Path::new);
    device_number(file).or_else(|| device_number(current?))
}

/// The file of the loop device with this number, if it is one.
pub fn backing_file(number: (u32, u32)) -> Option<PathBuf> {
    file_of(&sysfs(number))
}

/// The kernel ends the name with a newline; a name may have blanks and newlines of its own.
fn file_of(directory: &Path) -> Option<PathBuf> {
    let mut name = std::fs::read(directory.join("loop/backing_file")).ok()?;
    name.pop_if(|byte| *byte == b'\n');
    (!name.is_empty()).then(|| OsString::from_vec(name).into())
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
    let Some(number) = device_number(device) else {
        return false;
    };
    let disk = disk_of(&sysfs(number).canonicalize().unwrap_or_default());
    super::line(&disk.join("loop/dio")).as_deref() == Some("1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_taken_as_they_are() {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join("loop");
        std::fs::create_dir(&directory).unwrap();
        assert_eq!(file_of(root.path()), None);
        for (text, name) in [
            ("/x/image\n", Some("/x/image")),
            ("/x/ a \nb \n", Some("/x/ a \nb ")),
            ("/dev/sdb (deleted)\n", Some("/dev/sdb (deleted)")),
            ("\n", None),
            ("", None),
        ] {
            std::fs::write(directory.join("backing_file"), text).unwrap();
            assert_eq!(file_of(root.path()), name.map(PathBuf::from), "{text:?}");
        }
    }
}
