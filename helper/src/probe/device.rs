//! A block device: what it is, who uses it, and what it holds.

use super::contents::{self, Contents};
use super::{device_number, is_of_device, line, mounts};
use crate::secure::failed;
use pgfsbench_core::refusal::{Kind, Refusal};
use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, major, minor, openat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What tells a device from another that has come in its place. The sequence number is the kernel's, and changes whenever a
/// medium does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    pub major: u32,
    pub minor: u32,
    pub bytes: u64,
    pub sequence: Option<String>,
    pub serial: Option<String>,
    pub wwn: Option<String>,
    pub partition_uuid: Option<String>,
}

impl Identity {
    /// Whether this is the same medium, perhaps after a reboot.
    pub fn is_medium(&self, other: &Identity) -> bool {
        let key = |i: &Identity| {
            (
                i.bytes,
                i.serial.clone(),
                i.wwn.clone(),
                i.partition_uuid.clone(),
            )
        };
        key(self) == key(other)
    }
}

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

/// Everything about the device that a path of the configuration leads to now.
pub fn look(path: &str) -> Result<DeviceFacts, Refusal> {
    let node = std::fs::canonicalize(path).map_err(|e| {
        Refusal::new(Kind::NotInThisState, format!("there is no device {path}"))
            .detail(format!("{e}."))
    })?;
    if !node.starts_with("/dev") {
        let message = format!(
            "{path} leads to {}, which is not below /dev",
            node.display()
        );
        return Err(Refusal::new(Kind::NotAllowed, message));
    }
    let (number, in_use) = number_and_use(&node)?;
    let in_use = match in_use {
        Some(user) => Some(user),
        None => user_by_tables(number)?,
    };
    let contents = contents::look(&node)?;
    let contents = match (has_partitions(number), contents) {
        (true, contents) if !matches!(contents, Contents::Table(_)) => {
            Contents::Table("the kernel shows partitions".into())
        }
        (_, contents) => contents,
    };
    let identity = identity(&node, number)?;
    let device = sysfs(number).canonicalize().unwrap_or_default();
    let disk = disk_of(&device);
    Ok(DeviceFacts {
        node,
        identity,
        model: line(&disk.join("device/model")),
        in_use,
        contents,
    })
}

/// The number of the device, from one open descriptor: exclusively, so that it is refused by the kernel while somebody has
/// mounted or claimed it.
fn number_and_use(node: &Path) -> Result<((u32, u32), Option<String>), Refusal> {
    let open = |flags: OFlags| {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        openat(CWD, node, flags, Mode::empty())
    };
    let (fd, in_use) = match open(OFlags::RDWR | OFlags::EXCL) {
        Ok(fd) => (fd, None),
        Err(Errno::BUSY) => {
            let user = "The kernel says that it is in use.".to_owned();
            let fd = open(OFlags::RDONLY).map_err(|e| failed("open", node, e))?;
            (fd, Some(user))
        }
        Err(e) => return Err(failed("open", node, e)),
    };
    let stat = fstat(&fd).map_err(|e| failed("stat", node, e))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::BlockDevice {
        let message = format!("{} is not a block device", node.display());
        return Err(Refusal::new(Kind::NotAllowed, message));
    }
    let number = (major(stat.st_rdev), minor(stat.st_rdev));
    Ok((number, user_by_tables(number)?.or(in_use)))
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

fn identity(node: &Path, number: (u32, u32)) -> Result<Identity, Refusal> {
    let device = sysfs(number).canonicalize().map_err(|e| {
        Refusal::new(Kind::System, format!("{} is not in /sys", node.display()))
            .detail(format!("{e}."))
    })?;
    let disk = disk_of(&device);
    let first = |names: [&str; 3]| names.iter().find_map(|name| line(&disk.join(name)));
    let sectors = line(&device.join("size")).and_then(|size| size.parse::<u64>().ok());
    let partition_uuid = match device.join("partition").exists() {
        true => contents::blkid(node)?.1.remove("PART_ENTRY_UUID"),
        false => None,
    };
    Ok(Identity {
        major: number.0,
        minor: number.1,
        bytes: sectors.unwrap_or(0) * 512,
        sequence: line(&disk.join("diskseq")),
        serial: first(["serial", "device/serial", "device/vpd_pg80"]),
        wwn: first(["wwid", "device/wwid", "device/wwn"]),
        partition_uuid,
    })
}

fn sysfs((major, minor): (u32, u32)) -> PathBuf {
    format!("/sys/dev/block/{major}:{minor}").into()
}

/// The disk that a partition is on, or the device itself.
fn disk_of(device: &Path) -> PathBuf {
    match (device.join("partition").exists(), device.parent()) {
        (true, Some(disk)) => disk.to_owned(),
        _ => device.to_owned(),
    }
}

fn has_partitions(number: (u32, u32)) -> bool {
    std::fs::read_dir(sysfs(number)).is_ok_and(|mut entries| {
        entries.any(|e| e.is_ok_and(|e| e.path().join("partition").exists()))
    })
}
