//! A block device: its identity, its users, and its contents.

use super::blank;
use super::contents::{self, Contents};
use super::identity::{disk_of, identity, sysfs};
use super::{device_number, entries, in_use, line};
use crate::secure::failed;
use pgfsbench_core::refusal::{Kind, Refusal};
use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, fsync, major, minor, openat};
use rustix::io::Errno;
use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

pub use super::identity::Identity;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceFacts {
    /// The kernel's name of it, below /dev.
    pub node: PathBuf,
    pub identity: Identity,
    pub model: Option<String>,
    pub is_partition: bool,
    /// User of the device, in a sentence; None for an unused device.
    pub in_use: Option<String>,
    pub contents: Contents,
}

/// The ways to open a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Exclusively, so that the kernel says whether it is mounted or claimed; no other process can claim it meanwhile.
    Claim,
    /// Exclusively, but only for a report, which waits for other processes only briefly.
    Survey,
    /// Without a claim: while another job is at work, its mkfs must not find the device claimed.
    Glance,
}

impl Access {
    /// The time to wait for processes that have only opened the device, as udev does after each write to it.
    fn patience(self) -> Duration {
        match self {
            Access::Claim => Duration::from_secs(5),
            Access::Survey => Duration::from_secs(1),
            Access::Glance => Duration::ZERO,
        }
    }
}

/// A device that is held open: as long as it is, its number becomes no other device's.
pub struct Opened {
    /// The kernel's name of it, below /dev.
    pub node: PathBuf,
    pub number: (u32, u32),
    fd: OwnedFd,
    is_busy: bool,
    access: Access,
}

/// Everything about the device that a path of the configuration leads to now.
pub fn inspect(path: &str, access: Access) -> Result<DeviceFacts, Refusal> {
    open(path, access)?.facts()
}

/// Opens the device that a path of the configuration leads to now. The call waits for another user of the device that
/// may be about to end.
pub fn open(path: &str, access: Access) -> Result<Opened, Refusal> {
    let began = Instant::now();
    loop {
        let opened = open_now(path, access)?;
        let may_wait = opened.is_busy && began.elapsed() < access.patience();
        if !may_wait || !in_use::is_open(opened.number)? {
            return Ok(opened);
        }
        drop(opened);
        std::thread::sleep(in_use::PAUSE);
    }
}

fn open_now(path: &str, access: Access) -> Result<Opened, Refusal> {
    let node = std::fs::canonicalize(path).map_err(|e| {
        Refusal::new(Kind::NotInThisState, format!("there is no device {path}"))
            .detail(format!("{e}."))
            .hint("Plug it in, or put its path right in the helper's configuration.")
    })?;
    if !node.starts_with("/dev") {
        let message = format!(
            "{path} leads to {}, which is not below /dev",
            node.display()
        );
        return Err(Refusal::new(Kind::NotAllowed, message));
    }
    let open = |flags: OFlags| {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        openat(CWD, &node, flags, Mode::empty())
    };
    let glance = || open(OFlags::RDONLY).map_err(|e| failed("open", &node, e));
    let (fd, is_busy) = match access {
        Access::Glance => (glance()?, false),
        Access::Claim | Access::Survey => match open(OFlags::RDWR | OFlags::EXCL) {
            Ok(fd) => (fd, false),
            Err(Errno::BUSY) => (glance()?, true),
            Err(e) => return Err(failed("open", &node, e)),
        },
    };
    let stat = fstat(&fd).map_err(|e| failed("stat", &node, e))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::BlockDevice {
        let message = format!("{} is not a block device", node.display());
        return Err(Refusal::new(Kind::NotAllowed, message));
    }
    Ok(Opened {
        number: (major(stat.st_rdev), minor(stat.st_rdev)),
        node,
        fd,
        is_busy,
        access,
    })
}

impl Opened {
    /// A path to exactly this device for programs that are run meanwhile, wherever its names lead by then.
    fn path(&self) -> PathBuf {
        let pid = std::process::id();
        format!("/proc/{pid}/fd/{}", self.fd.as_raw_fd()).into()
    }

    /// Identity, user and contents of the device, after all writes to it have arrived.
    pub fn facts(&self) -> Result<DeviceFacts, Refusal> {
        let in_use = self.user()?;
        fsync(&self.fd).map_err(|e| failed("sync", &self.node, e))?;
        let contents = contents::read(&self.path(), &self.fd, &self.node)?;
        let contents = match (has_partitions(self.number)?, contents) {
            (true, contents) if !matches!(contents, Contents::Table(_)) => Contents::Partitions,
            (_, contents) => contents,
        };
        let device = sysfs(self.number).canonicalize().unwrap_or_default();
        Ok(DeviceFacts {
            node: self.node.clone(),
            identity: self.identity()?,
            model: line(&disk_of(&device).join("device/model")),
            is_partition: device.join("partition").exists(),
            in_use,
            contents,
        })
    }

    /// Who uses it.
    fn user(&self) -> Result<Option<String>, Refusal> {
        let patience = match self.is_busy {
            // There was enough of it.
            true => Duration::ZERO,
            false => self.access.patience(),
        };
        let user = match self.access {
            Access::Glance => in_use::by_tables(self.number)?,
            Access::Claim | Access::Survey => in_use::of(self.number, patience)?,
        };
        let by_kernel = || "The kernel says that it is in use.".to_owned();
        Ok(user.or_else(|| self.is_busy.then(by_kernel)))
    }

    pub fn identity(&self) -> Result<Identity, Refusal> {
        identity(&self.path(), self.number)
    }

    /// Makes the contents `Empty`, except the bytes of `kept`. For a device that is claimed.
    pub fn make_blank(&self, kept: &Range<u64>) -> Result<(), Errno> {
        blank::make_blank(&self.fd, kept)
    }

    /// Keeps the device open without a claim, so that mkfs and mount can claim it.
    pub fn without_claim(self) -> Result<Self, Refusal> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let fd = openat(CWD, self.path(), flags, Mode::empty())
            .map_err(|e| failed("open", &self.node, e))?;
        Ok(Self { fd, ..self })
    }

    /// True if its name still leads to it, and its medium is the same.
    pub fn is_still(&self, identity: &Identity) -> Result<bool, Refusal> {
        let is_named = device_number(&self.node) == Some(self.number)
            && std::fs::symlink_metadata(&self.node).is_ok_and(|m| !m.is_symlink());
        Ok(is_named && self.identity()? == *identity)
    }
}

fn has_partitions(number: (u32, u32)) -> Result<bool, Refusal> {
    let mut entries = entries(&sysfs(number))?.into_iter();
    Ok(entries.any(|entry| entry.join("partition").exists()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_to_something_else_is_refused() {
        // A name that leads out of /dev, and a device that is no block device.
        for (path, words) in [
            (
                "/proc/version",
                "leads to /proc/version, which is not below /dev",
            ),
            ("/dev/null", "/dev/null is not a block device"),
            (
                "/dev/no-such-device",
                "there is no device /dev/no-such-device",
            ),
        ] {
            let refusal = open(path, Access::Glance).map(|_| ()).unwrap_err();
            assert!(refusal.message.ends_with(words), "{refusal}");
        }
    }
}
