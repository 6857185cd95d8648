//! A block device: what it is, who uses it, and what it holds.

use super::contents::{self, Contents};
use super::identity::{disk_of, identity, sysfs};
use super::{device_number, is_of_device, line, mounts};
use crate::secure::failed;
use pgfsbench_core::refusal::{Kind, Refusal};
use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, fsync, major, minor, openat};
use rustix::io::Errno;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

pub use super::identity::Identity;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceFacts {
    /// The kernel's name of it, below /dev.
    pub node: PathBuf,
    pub identity: Identity,
    pub model: Option<String>,
    /// Who uses it.
    pub in_use: Option<String>,
    pub contents: Contents,
}

/// How a device is opened to be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Exclusively, so that the kernel says whether somebody has mounted or claimed it; nobody else can meanwhile.
    Claim,
    /// In nobody's way: while another job is at work, its mkfs must not find the device claimed.
    Glance,
}

/// A device that is held open: as long as it is, its number becomes no other device's.
pub struct Opened {
    /// The kernel's name of it, below /dev.
    pub node: PathBuf,
    pub number: (u32, u32),
    fd: OwnedFd,
    is_busy: bool,
}

/// Everything about the device that a path of the configuration leads to now.
pub fn look(path: &str, access: Access) -> Result<DeviceFacts, Refusal> {
    open(path, access)?.facts()
}

/// Opens the device that a path of the configuration leads to now.
pub fn open(path: &str, access: Access) -> Result<Opened, Refusal> {
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
        Access::Claim => match open(OFlags::RDWR | OFlags::EXCL) {
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
    })
}

impl Opened {
    /// A path to exactly this device for programs that are run meanwhile, wherever its names lead by then.
    fn path(&self) -> PathBuf {
        let pid = std::process::id();
        format!("/proc/{pid}/fd/{}", self.fd.as_raw_fd()).into()
    }

    /// What it is, who uses it and what it holds, once all that was written to it has arrived there.
    pub fn facts(&self) -> Result<DeviceFacts, Refusal> {
        let in_use = user_by_tables(self.number)?.or_else(|| {
            self.is_busy
                .then(|| "The kernel says that it is in use.".to_owned())
        });
        fsync(&self.fd).map_err(|e| failed("sync", &self.node, e))?;
        let contents = contents::look(&self.path(), &self.fd, &self.node)?;
        let contents = match (has_partitions(self.number), contents) {
            (true, contents) if !matches!(contents, Contents::Table(_)) => {
                Contents::Table("the kernel shows partitions".into())
            }
            (_, contents) => contents,
        };
        let device = sysfs(self.number).canonicalize().unwrap_or_default();
        Ok(DeviceFacts {
            node: self.node.clone(),
            identity: self.identity()?,
            model: line(&disk_of(&device).join("device/model")),
            in_use,
            contents,
        })
    }

    pub fn identity(&self) -> Result<Identity, Refusal> {
        identity(&self.path(), self.number)
    }

    /// The same device, held open without a claim, so that mkfs and mount can claim it.
    pub fn without_claim(self) -> Result<Self, Refusal> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let fd = openat(CWD, self.path(), flags, Mode::empty())
            .map_err(|e| failed("open", &self.node, e))?;
        Ok(Self { fd, ..self })
    }

    /// Whether its name still leads to it, and its medium is still this one.
    pub fn is_still(&self, identity: &Identity) -> Result<bool, Refusal> {
        let is_named = device_number(&self.node) == Some(self.number)
            && std::fs::symlink_metadata(&self.node).is_ok_and(|m| !m.is_symlink());
        Ok(is_named && self.identity()? == *identity)
    }
}

/// Mounts, swap space and what stands on it (md, dm), by number.
fn user_by_tables(number: (u32, u32)) -> Result<Option<String>, Refusal> {
    if let Some(mount) = mounts()?.iter().find(|m| is_of_device(m, number)) {
        return Ok(Some(format!("It is mounted on {}.", mount.mount_point)));
    }
    let swaps = super::read(Path::new("/proc/swaps")).unwrap_or_default();
    let mut swaps = swaps
        .lines()
        .skip(1)
        .filter_map(|l| l.split_whitespace().next());
    if swaps.any(|swap| device_number(Path::new(swap)) == Some(number)) {
        return Ok(Some("It is swap space.".into()));
    }
    let holders = std::fs::read_dir(sysfs(number).join("holders"));
    let holder = holders.ok().and_then(|mut h| h.find_map(Result::ok));
    Ok(holder.map(|h| format!("{} holds it.", h.file_name().to_string_lossy())))
}

fn has_partitions(number: (u32, u32)) -> bool {
    std::fs::read_dir(sysfs(number)).is_ok_and(|mut entries| {
        entries.any(|e| e.is_ok_and(|e| e.path().join("partition").exists()))
    })
}
