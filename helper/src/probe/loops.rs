//! Loop devices: which of them have our image.

use super::identity::{disk_of, sysfs};
use super::{device_number, number_of};
use crate::secure::failed;
use pgfsbench_core::refusal::Refusal;
use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, major, minor, openat, stat};
use rustix::io::Errno;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// The device that hands out loop devices.
pub const CONTROL: &str = "/dev/loop-control";

/// The kernel adds this to the name of a file that was removed.
const DELETED: &str = " (deleted)";

/// The file of a loop device. A path may lead to another file than the kernel's name of the same file: through a link, a bind
/// mount or another mount namespace. So the kernel's own numbers decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backing {
    /// The kernel's name of the file.
    pub name: PathBuf,
    /// None if /dev lacks the loop device, and the name leads nowhere.
    numbers: Option<Numbers>,
}

/// The numbers of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Numbers {
    device: u64,
    inode: u64,
    /// The number of the block device that the file is; 0 for other files.
    block_device: u64,
}

impl Backing {
    /// The number of the block device that is the file.
    pub fn device(&self) -> Option<(u32, u32)> {
        let number = self.numbers?.block_device;
        (number != 0).then(|| (major(number), minor(number)))
    }

    /// True if two loop devices have the same file. A block device may have several nodes.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self.numbers, other.numbers) {
            (Some(one), Some(other)) if one.block_device != 0 => {
                one.block_device == other.block_device
            }
            (Some(one), Some(other)) => one == other,
            _ => self.name == other.name,
        }
    }

    /// True if the image at this path, which may be gone, is or was the file.
    fn is_or_was(&self, image: &Path, numbers: Option<Numbers>) -> bool {
        self.has(image, numbers) || current_name(&self.name) == Some(image)
    }

    fn has(&self, image: &Path, numbers: Option<Numbers>) -> bool {
        match (self.numbers, numbers) {
            (Some(one), Some(other)) => one == other,
            // A file that is gone has the mark of a removed one; a loop device without a node has no other sign than the name.
            (Some(_), None) => false,
            (None, _) => self.name == image,
        }
    }
}

/// The name that a file had before it was removed.
fn current_name(name: &Path) -> Option<&Path> {
    name.to_str()?.strip_suffix(DELETED).map(Path::new)
}

/// The loop devices whose file this is or was, in use or about to go.
pub fn of_image(image: &Path) -> Result<Vec<PathBuf>, Refusal> {
    those_with(image, Backing::is_or_was)
}

/// The loop devices whose file this is.
pub fn of_file(image: &Path) -> Result<Vec<PathBuf>, Refusal> {
    those_with(image, Backing::has)
}

fn those_with(
    image: &Path,
    is_it: impl Fn(&Backing, &Path, Option<Numbers>) -> bool,
) -> Result<Vec<PathBuf>, Refusal> {
    // The process that serves a file of FUSE has ended: the kernel still has its name and numbers, and the path leads nowhere.
    let is_unserved = matches!(stat(image), Err(Errno::NOTCONN));
    let numbers = match is_unserved {
        true => None,
        false => numbers_at(image)?,
    };
    let entries = super::entries(Path::new("/sys/block"))?;
    let mut found = Vec::new();
    for entry in entries {
        found.extend(node_of(&entry).zip(named_in(&entry)?));
    }
    found.retain(|(_, backing)| match is_unserved {
        true => backing.name == image,
        false => is_it(backing, image, numbers),
    });
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(found.into_iter().map(|(device, _)| device).collect())
}

/// The file of the loop device with this directory in sysfs: by its name alone if the device cannot be asked, as where another program's file lies on a
/// filesystem that fails.
fn named_in(directory: &Path) -> Result<Option<Backing>, Refusal> {
    match backing_in(directory) {
        Err(_) => Ok(name_in(directory)?.map(|name| Backing {
            name,
            numbers: None,
        })),
        found => found,
    }
}

/// Has the kernel pass flushes of a loop device on: a "write through" that was written to its queue/write_cache stays when it gets another file.
pub fn have_flushed(device: &Path) -> Result<(), Refusal> {
    match device_number(device) {
        Some(number) => flushes_in(&sysfs(number).join("queue/write_cache")),
        None => Ok(()),
    }
}

/// Only a word of an administrator is taken back. Without a cache that can be flushed the kernel goes on saying "write through".
fn flushes_in(file: &Path) -> Result<(), Refusal> {
    let says = super::line(file);
    match says.as_deref() {
        Some("write through") => std::fs::write(file, "write back").map_err(|e| {
            failed("write", file, Errno::from_io_error(&e).unwrap_or(Errno::IO))
                .hint("The kernel drops the flushes of this loop device.")
        }),
        _ => Ok(()),
    }
}

/// All loop devices that have a file. Without sysfs no loop device can be found, and the helper makes none.
pub fn all() -> Result<Vec<(PathBuf, Backing)>, Refusal> {
    let entries = super::entries(Path::new("/sys/block"))?;
    let with_file = entries.into_iter().map(|entry| {
        let backing = backing_in(&entry)?;
        Ok(node_of(&entry).zip(backing))
    });
    with_file.filter_map(Result::transpose).collect()
}

/// The file of the loop device with this number, if it is one.
pub fn backing(number: (u32, u32)) -> Result<Option<Backing>, Refusal> {
    match sysfs(number).canonicalize() {
        Ok(directory) => backing_in(&directory),
        Err(_) => Ok(None),
    }
}

fn node_of(directory: &Path) -> Option<PathBuf> {
    Some(Path::new("/dev").join(directory.file_name()?))
}

/// The file of the loop device with this directory in sysfs.
fn backing_in(directory: &Path) -> Result<Option<Backing>, Refusal> {
    let (Some(name), Some(node)) = (name_in(directory)?, node_of(directory)) else {
        return Ok(None);
    };
    let numbers = match ask(&node, number_of(directory)) {
        Ok(numbers) => Some(numbers),
        // The loop device has been detached meanwhile.
        Err(Errno::NXIO) => return Ok(None),
        // /dev lacks this device: a container's own /dev does not follow the kernel.
        Err(Errno::NOENT) => numbers_at(current_name(&name).unwrap_or(&name)).unwrap_or(None),
        Err(e) => {
            return Err(failed("ask for the file of", &node, e).hint(
                "The file of each loop device must be known, since it may be a device in use.",
            ));
        }
    };
    Ok(Some(Backing { name, numbers }))
}

/// The kernel's name of the file. It ends with a newline, and may have blanks and newlines of its own.
fn name_in(directory: &Path) -> Result<Option<PathBuf>, Refusal> {
    let path = directory.join("loop/backing_file");
    let mut name = match std::fs::read(&path) {
        Ok(name) => name,
        Err(e) => match Errno::from_io_error(&e) {
            // No loop device, one without a file, or one that goes at this moment.
            Some(Errno::NOENT | Errno::NOTDIR | Errno::NODEV | Errno::NXIO) => return Ok(None),
            other => return Err(failed("read", &path, other.unwrap_or(Errno::IO))),
        },
    };
    name.pop_if(|byte| *byte == b'\n');
    Ok((!name.is_empty()).then(|| OsString::from_vec(name).into()))
}

/// The numbers of the file at this path; None if there is no such file.
fn numbers_at(path: &Path) -> Result<Option<Numbers>, Refusal> {
    match stat(path) {
        Ok(stat) => Ok(Some(Numbers {
            device: stat.st_dev,
            inode: stat.st_ino,
            block_device: match FileType::from_raw_mode(stat.st_mode) {
                FileType::BlockDevice => stat.st_rdev,
                _ => 0,
            },
        })),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(e) => Err(failed("stat", path, e)),
    }
}

/// Asks the loop device at this node for the numbers of its file. ENOENT if the node is missing, or another device's.
fn ask(node: &Path, number: Option<(u32, u32)>) -> Result<Numbers, Errno> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = openat(CWD, node, flags, Mode::empty())?;
    let stat = fstat(&file)?;
    let is_it = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice
        && number == Some((major(stat.st_rdev), minor(stat.st_rdev)));
    match is_it {
        true => status::ask(&file),
        false => Err(Errno::NOENT),
    }
}

/// The request that tells the file of a loop device.
#[allow(unsafe_code)]
mod status {
    use super::Numbers;
    use rustix::io::Errno;
    use rustix::ioctl::{Getter, Opcode, ioctl};
    use std::os::fd::OwnedFd;

    /// The kernel's struct loop_info64, whose last fields are of no interest.
    #[repr(C)]
    struct LoopInfo {
        device: u64,
        inode: u64,
        block_device: u64,
        _others: [u64; 26],
    }
    /// linux/loop.h has this number for all architectures, and does not compose it by _IO().
    const LOOP_GET_STATUS64: Opcode = 0x4C05;

    pub fn ask(device: &OwnedFd) -> Result<Numbers, Errno> {
        // SAFETY: the kernel fills a structure of exactly this size, in which each value of each field is valid.
        let info = unsafe { ioctl(device, Getter::<LOOP_GET_STATUS64, LoopInfo>::new()) }?;
        Ok(Numbers {
            device: info.device,
            inode: info.inode,
            block_device: info.block_device,
        })
    }

    /// The size of struct loop_info64 in linux/loop.h.
    const _: () = assert!(size_of::<LoopInfo>() == 232);
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
    use rustix::fs::makedev;

    #[test]
    fn names_of_files_are_taken_as_they_are() {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join("loop");
        std::fs::create_dir(&directory).unwrap();
        assert_eq!(name_in(root.path()), Ok(None));
        for (text, name) in [
            ("/x/image\n", Some("/x/image")),
            ("/x/ a \nb \n", Some("/x/ a \nb ")),
            ("/dev/sdb (deleted)\n", Some("/dev/sdb (deleted)")),
            ("\n", None),
            ("", None),
        ] {
            std::fs::write(directory.join("backing_file"), text).unwrap();
            assert_eq!(
                name_in(root.path()),
                Ok(name.map(PathBuf::from)),
                "{text:?}"
            );
        }
        // A name that cannot be read is never taken for none.
        std::fs::remove_file(directory.join("backing_file")).unwrap();
        std::fs::create_dir(directory.join("backing_file")).unwrap();
        assert!(name_in(root.path()).is_err());
    }

    #[test]
    fn numbers_decide_which_file_it_is_and_a_removed_file_has_its_name_left() {
        let numbers = |inode, block_device| Numbers {
            device: 9,
            inode,
            block_device,
        };
        let backing = |name: &str, numbers| Backing {
            name: name.into(),
            numbers,
        };
        let image = Path::new("/x/image");
        let (ours, other) = (Some(numbers(1, 0)), Some(numbers(2, 0)));
        // Each with: is it the file of the image, is it or was it, while the image is there.
        for (backing, has, is_or_was) in [
            (backing("/x/image", ours), true, true),
            (backing("/elsewhere/link", ours), true, true),
            (backing("/x/image", other), false, false),
            (backing("/x/image (deleted)", other), false, true),
            (backing("/x/image", None), true, true),
        ] {
            assert_eq!(backing.has(image, ours), has, "{backing:?}");
            assert_eq!(backing.is_or_was(image, ours), is_or_was, "{backing:?}");
        }
        let gone = backing("/x/image (deleted)", other);
        assert!(gone.is_or_was(image, None) && !gone.has(image, None));

        // One block device under two nodes.
        let disk = |inode| backing("/dev/sdb", Some(numbers(inode, makedev(8, 16))));
        assert_eq!(disk(3).device(), Some((8, 16)));
        assert!(disk(3).is_same(&disk(4)));
        assert!(!disk(3).is_same(&backing("/dev/sdb", Some(numbers(3, makedev(8, 32))))));
        let file = |inode| backing("/x/image", Some(numbers(inode, 0)));
        assert!(file(3).is_same(&file(3)) && !file(3).is_same(&file(4)));
        assert_eq!(file(3).device(), None);
    }

    #[test]
    fn flushes_that_were_switched_off_are_passed_on_again() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("write_cache");
        assert_eq!(flushes_in(&file), Ok(()));
        assert!(!file.exists());
        for (before, after) in [
            ("write through\n", "write back"),
            ("write back\n", "write back\n"),
        ] {
            std::fs::write(&file, before).unwrap();
            assert_eq!(flushes_in(&file), Ok(()));
            assert_eq!(std::fs::read_to_string(&file).unwrap(), after);
        }
    }

    /// A loop device is found by any name of its file, and not by the name of another file.
    #[test]
    fn a_link_to_the_file_is_the_file() {
        // A container may have the devices, and no right to them.
        let may_make = std::process::Command::new("losetup").args(["-f"]).output();
        let may_make = may_make.is_ok_and(|output| output.status.success());
        if !rustix::process::geteuid().is_root() || !may_make {
            // Past the harness, for tools/check, which counts such lines.
            let line = "\nskipped: a_link_to_the_file_is_the_file: needs root and loop devices\n";
            let _ = std::io::Write::write_all(&mut std::io::stdout().lock(), line.as_bytes());
            return;
        }
        let place = tempfile::TempDir::with_prefix("pgfsbench-loops.").unwrap();
        let (image, link) = (place.path().join("image"), place.path().join("link"));
        let file = std::fs::File::create(&image).unwrap();
        file.set_len(1 << 20).unwrap();
        std::fs::hard_link(&image, &link).unwrap();
        let losetup = |arguments: &[&std::ffi::OsStr]| {
            let output = std::process::Command::new("losetup")
                .args(arguments)
                .output();
            let output = output.unwrap();
            assert!(output.status.success(), "{output:?}");
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        };
        let device = losetup(&["--show".as_ref(), "-f".as_ref(), link.as_ref()]);
        let found = [of_file(&image), of_file(&link)];
        std::fs::remove_file(&link).unwrap();
        std::fs::write(&link, "another file").unwrap();
        let found_of_new = [of_file(&link), of_image(&link), of_image(&image)];
        losetup(&["-d".as_ref(), device.as_ref()]);
        let ours = Ok(vec![PathBuf::from(&device)]);
        assert_eq!(found, [ours.clone(), ours.clone()]);
        assert_eq!(found_of_new, [Ok(vec![]), ours.clone(), ours]);
    }
}
