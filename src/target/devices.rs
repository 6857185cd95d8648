//! Block devices of this machine: as the helper has seen those that its configuration names, and as far as anybody can see
//! the others.

use std::{
    fs,
    path::{Path, PathBuf},
};

use pgfsbench_core::proc;
pub use pgfsbench_core::target::device::Device;
use rustix::fs::{major, minor, stat};

use crate::{
    errors::{Fault, read_json},
    host::tree,
    pg::sql,
};

/// Names of devices that are no disks, or nothing without what is put into them.
const NO_DISKS: [&str; 6] = ["loop", "ram", "zram", "sr", "fd", "nbd"];

/// Describes the device that a path leads to; None if there is no such device. In a transaction, with the owner's
/// rights.
pub fn describe(path: &str) -> Result<Option<Device>, Fault> {
    let node = fs::canonicalize(path).ok();
    let node = node.as_ref().and_then(|node| node.to_str());
    let text = sql::read(
        "SELECT to_jsonb(d) FROM fsbench.device d WHERE path = $1 OR node = $2 ORDER BY path <> $1 LIMIT 1",
        &[Some(path), node],
    )?;
    text.map(|text| read_json("device", &text)).transpose()
}

/// The size of a block device as anybody can see it; None if that path leads to none.
pub fn bytes_of(path: &str) -> Option<u64> {
    sectors(path, "size")
}

/// The place on its disk at which a partition begins, in bytes; None if it is none.
pub fn beginning_of(path: &str) -> Option<u64> {
    sectors(path, "start")
}

fn sectors(path: &str, file: &str) -> Option<u64> {
    let found = stat(path).ok()?;
    let is_block = rustix::fs::FileType::from_raw_mode(found.st_mode).is_block_device();
    let (major, minor) = (major(found.st_rdev), minor(found.st_rdev));
    let text = fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/{file}"));
    let sectors = text.ok().filter(|_| is_block)?;
    Some(sectors.trim().parse::<u64>().ok()? * 512)
}

/// A device as the system shows it to anybody.
pub struct Block {
    /// A path that stays over reboots, where there is one.
    pub path: String,
    /// The kernel's name below /dev.
    pub node: String,
    /// Model of the disk.
    pub model: Option<String>,
    /// Serial number of the disk.
    pub serial: Option<String>,
    /// WWN of the disk.
    pub wwn: Option<String>,
    pub bytes: u64,
    /// User of the device, as far as every process can see.
    pub in_use: Option<String>,
}

/// All disks and partitions.
pub fn blocks() -> Vec<Block> {
    let names = entries(Path::new("/sys/class/block"));
    let links = links();
    let users = Users::read();
    let mut blocks: Vec<Block> = names
        .iter()
        .filter(|name| !is_no_disk(name))
        .filter_map(|name| block(name, &links, &users))
        .collect();
    blocks.sort_by(|a, b| a.node.cmp(&b.node));
    blocks
}

fn is_no_disk(name: &str) -> bool {
    NO_DISKS.iter().any(|kind| {
        name.strip_prefix(kind)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    })
}

fn block(name: &str, links: &[(PathBuf, String)], users: &Users) -> Option<Block> {
    let device = fs::canonicalize(Path::new("/sys/class/block").join(name)).ok()?;
    let sectors: u64 = line(&device.join("size"))?.parse().ok()?;
    // The kernel's name has "!" where that of the file has "/".
    let node = PathBuf::from("/dev").join(name.replace('!', "/"));
    if sectors == 0 {
        return None;
    }
    let disk = match device.join("partition").exists() {
        true => device.parent()?.to_owned(),
        false => device.clone(),
    };
    let first = |names: &[&str]| names.iter().find_map(|name| line(&disk.join(name)));
    let path = links
        .iter()
        .find(|(to, _)| *to == node)
        .map_or_else(|| node.display().to_string(), |(_, path)| path.clone());
    Some(Block {
        path,
        model: first(&["device/model"]),
        serial: first(&["serial", "device/serial"]),
        wwn: first(&["wwid", "device/wwid", "device/wwn"]),
        bytes: sectors * 512,
        in_use: users.of(name, &node, &device),
        node: node.display().to_string(),
    })
}

/// Names of devices that stay over reboots, the best first.
fn links() -> Vec<(PathBuf, String)> {
    let mut links = Vec::new();
    for kind in ["by-id", "by-partuuid", "by-path"] {
        let directory = Path::new("/dev/disk").join(kind);
        for name in entries(&directory) {
            let path = directory.join(&name);
            if let Ok(to) = fs::canonicalize(&path) {
                links.push((to, path.display().to_string()));
            }
        }
    }
    links
}

fn entries(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

fn line(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().next()?.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

/// Users of devices.
struct Users {
    mounts: Vec<proc::Mount>,
    swaps: Vec<proc::Swap>,
}

impl Users {
    fn read() -> Self {
        Self {
            mounts: proc::understood_mounts(&fs::read(proc::MOUNTINFO).unwrap_or_default()),
            swaps: proc::parse_swaps(&tree::text(proc::SWAPS).unwrap_or_default()),
        }
    }

    fn of(&self, name: &str, node: &Path, device: &Path) -> Option<String> {
        let number = line(&device.join("dev"));
        let is_its = |(major, minor)| number.as_deref() == Some(&format!("{major}:{minor}"));
        let is_of = |mount: &&proc::Mount| {
            let by_name = mount.device_by_name().and_then(|name| stat(name).ok());
            is_its((mount.major, mount.minor))
                || by_name.is_some_and(|s| is_its((major(s.st_rdev), minor(s.st_rdev))))
        };
        if let Some(mount) = self.mounts.iter().find(is_of) {
            return Some(format!("it is mounted on {}", mount.mount_point));
        }
        if self.swaps.iter().any(|swap| Path::new(&swap.path) == node) {
            return Some("it is swap space".into());
        }
        if let Some(holder) = entries(&device.join("holders")).first() {
            return Some(format!("{holder} holds it"));
        }
        let is_partition = |entry: &String| device.join(entry).join("partition").exists();
        entries(device)
            .iter()
            .any(|entry| entry.starts_with(name) && is_partition(entry))
            .then(|| "it has partitions".into())
    }
}
