//! Which lines of `/proc/diskstats` are those of data and WAL.

use std::{
    fs,
    path::{Path, PathBuf},
};

use pgfsbench_core::proc::{self, DiskCounters};

use crate::host::{
    location::{self, Location},
    tree,
};

/// A block device by its number.
type Number = (u32, u32);

/// A device whose counters can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    number: Number,
    /// The device that counts its flushes: the whole disk; None if the kernel does not count them.
    flushes: Option<Number>,
    /// True for a disk that NVMe reaches over several paths, which count.
    has_paths: bool,
}

/// Device of the WAL relative to that of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalDevice {
    /// On the same device.
    Same,
    /// On another one.
    Other(Device),
    /// Elsewhere, and nothing counts what goes there; or not known at all.
    Unknown,
}

/// The devices below data and WAL.
#[derive(Clone, Copy, Debug)]
pub struct Devices {
    /// None for a filesystem without a device of this machine (tmpfs, NFS, overlay), with several (btrfs), or without counters.
    pub data: Option<Device>,
    /// The device of the WAL.
    pub wal: WalDevice,
}

impl Devices {
    /// Finds out; costs some system calls.
    pub fn find() -> Self {
        let (data, wal) = (location::data_location(), location::wal_location());
        let under = |location: &Option<Location>| location.as_ref().and_then(number_under);
        let (data_number, wal_number) = (under(&data), under(&wal));
        let text = tree::text(proc::DISKSTATS).unwrap_or_default();
        let known = |number: Option<Number>| number.and_then(|number| Device::of(number, &text));
        let wal = match known(wal_number) {
            Some(_) if wal_number == data_number => WalDevice::Same,
            Some(device) => WalDevice::Other(device),
            None => WalDevice::Unknown,
        };
        Self {
            data: known(data_number),
            wal,
        }
    }
}

impl Device {
    fn of(number: Number, diskstats: &str) -> Option<Self> {
        let of_paths = proc::parse_paths(diskstats, number);
        let counters = of_paths.or_else(|| proc::parse_diskstats(diskstats, number))?;
        let disk = disk_of(number);
        let (directory, disk_number) = match &disk {
            Some((directory, disk_number)) => (Some(directory), *disk_number),
            None => (None, number),
        };
        let line = |file: &str| fs::read_to_string(directory?.join(file)).ok();
        if of_paths.is_none() && line("queue/iostats").is_some_and(|text| text.trim() == "0") {
            return None;
        }
        // Only devices with queues of their own have their flushes counted: those of md and device mapper stay 0.
        let counted = directory.is_some_and(|directory| directory.join("mq").exists())
            || counters.has_flushed();
        Some(Self {
            number,
            flushes: counted.then_some(disk_number),
            has_paths: of_paths.is_some(),
        })
    }

    /// Counters of the device in a text of `/proc/diskstats`; None when the text lacks the device.
    pub fn counters(&self, diskstats: &str) -> Option<DiskCounters> {
        if self.has_paths {
            return proc::parse_paths(diskstats, self.number);
        }
        let counters = proc::parse_diskstats(diskstats, self.number)?;
        if self.flushes == Some(self.number) {
            return Some(counters);
        }
        let disk = self
            .flushes
            .and_then(|disk| proc::parse_diskstats(diskstats, disk));
        Some(counters.with_flushes_of(disk))
    }
}

/// Bytes that the device below a directory has read since it was attached; None without a single known device, or without counters.
pub fn bytes_read(location: &Location) -> Option<u64> {
    let text = tree::text(proc::DISKSTATS)?;
    let device = Device::of(number_under(location)?, &text)?;
    Some(device.counters(&text)?.read_bytes())
}

/// The device that a directory's filesystem is on, unless it is one of several.
fn number_under(location: &Location) -> Option<Number> {
    let number = location.block_device()?;
    if number == location.number() {
        return Some(number);
    }
    let source = &location.mount()?.source;
    let name = fs::canonicalize(source).ok()?.file_name()?.to_owned();
    (!is_one_of_several(Path::new("/sys/fs/btrfs"), Path::new(&name))).then_some(number)
}

fn is_one_of_several(filesystems: &Path, name: &Path) -> bool {
    let entries = |path: PathBuf| fs::read_dir(path).into_iter().flatten().flatten();
    entries(filesystems.to_owned()).any(|filesystem| {
        let devices = filesystem.path().join("devices");
        devices.join(name).exists() && entries(devices).count() > 1
    })
}

/// The directory in /sys of the disk that a device is, or is a part of, and the disk's number.
fn disk_of((major, minor): Number) -> Option<(PathBuf, Number)> {
    let device = fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")).ok()?;
    if !device.join("partition").exists() {
        return Some((device, (major, minor)));
    }
    let disk = device.parent()?.to_owned();
    let text = fs::read_to_string(disk.join("dev")).ok()?;
    let (major, minor) = text.trim().split_once(':')?;
    Some((disk, (major.parse().ok()?, minor.parse().ok()?)))
}
