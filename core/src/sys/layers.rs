//! The layers below a filesystem, down to the disks: the filesystem that holds overlay's upper layer, partitions, md, device mapper
//! (LVM, encryption, multipath), loop devices and the filesystems that hold their files.

use serde::{Deserialize, Serialize};

use super::{
    Array, Block, Queue, Tree,
    array::{self, Btrfs},
    flag, line, number,
};

/// Layers deeper than this do not occur; a loop in the files ends here.
const DEEPEST: usize = 12;

/// The filesystem of a file or directory, and its devices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilesystemDevices {
    pub filesystem: String,
    pub mount_point: String,
    /// Mount options as the kernel shows them, separated by commas.
    pub options: String,
    /// The numbers of its devices, major:minor; none where it has none (tmpfs, NFS, overlay) or they are not known (zfs).
    pub devices: Vec<String>,
    /// Overlay only: the directory of its upper layer, where this process can see it.
    pub upper: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LayerKind {
    Disk,
    Partition,
    /// Software RAID.
    Md,
    /// btrfs over several devices.
    Btrfs,
    /// Device mapper that is none of the next three.
    Dm,
    Lvm,
    Crypt,
    Multipath,
    Loop,
    /// A filesystem that holds the file of a loop device, or the upper layer of overlay.
    Filesystem,
    /// A layer that exists and that this process cannot see.
    Unknown,
    /// A disk in memory: ram, zram, null_blk, scsi_debug, a file without a filesystem.
    Memory,
    /// Memory that is said to keep its contents: pmem.
    PersistentMemory,
    /// A disk of a User-Mode Linux guest: a file of its host.
    Uml,
    /// A disk that is reached over a network: nbd, rbd, drbd.
    Network,
    /// A cache of a disk on another disk: bcache.
    Cache,
}

/// One layer; the uppermost has depth 0, and what it lies on the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    /// 0 for the filesystem's own device; one more for each layer below.
    pub depth: usize,
    pub kind: LayerKind,
    /// Name; for devices of md and the device mapper, the name that a user gave them.
    pub name: Option<String>,
    /// major:minor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Maker and model of a disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Type of a filesystem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filesystem: Option<String>,
    /// Mount options of a filesystem, separated by commas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mount_options: Option<String>,
    /// World-wide name of a disk, or what its kind has instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wwn: Option<String>,
    /// Serial number of a disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
    /// Arrays only: raid0, raid1, raid5, ...; of btrfs the profile of the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// md only: the bytes of a stripe on one disk (the chunk size).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk_bytes: Option<u64>,
    /// Arrays only: idle, resync, recover, check, reshape, ...; of btrfs its exclusive operation, such as balance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync_action: Option<String>,
    /// Arrays only: the number of disks that are missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub degraded: Option<u64>,
    #[serde(flatten)]
    pub array: Array,
    /// Partitions only: the bytes of the disk before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_bytes: Option<u64>,
    /// Bytes from the device's begin to the next begin of a physical block of the disk; -1 where no block begins at a sector.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alignment_offset: Option<i64>,
    /// True if a device that it lies on stands below an earlier layer, and is not listed twice.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shares_devices: bool,
    /// Loop devices only: true if it bypasses the page cache of the filesystem that holds its file (direct I/O).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direct_io: Option<bool>,
    /// Loop devices only: its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backing_file: Option<String>,
    /// Queue of the device; for a partition, the queue of the disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<Queue>,
}

impl Layer {
    /// The work that an array does for itself: resync, recover, check, ... None when it rests, and for other layers.
    pub fn busy_with(&self) -> Option<&str> {
        self.sync_action.as_deref().filter(|a| array::is_work(a))
    }

    /// True if a power cut in the midst of a write leaves a stripe whose parity is wrong, and nothing closes that hole.
    pub fn has_write_hole(&self) -> bool {
        let closed = ["journal", "ppl"];
        let policy = self.array.consistency_policy.as_deref();
        let is_closed = policy.is_some_and(|policy| closed.contains(&policy));
        // Where the policy of md is not known, the hole may be closed.
        let is_known = self.kind == LayerKind::Btrfs || policy.is_some();
        self.level.as_deref().is_some_and(array::has_parity) && is_known && !is_closed
    }

    /// True if members are missing.
    pub fn is_degraded(&self) -> bool {
        self.degraded.is_some_and(|missing| missing > 0)
    }

    fn new(depth: usize, kind: LayerKind) -> Self {
        Self {
            depth,
            kind,
            name: None,
            device: None,
            bytes: None,
            model: None,
            filesystem: None,
            mount_options: None,
            wwn: None,
            serial: None,
            level: None,
            chunk_bytes: None,
            sync_action: None,
            degraded: None,
            array: Array::default(),
            start_bytes: None,
            alignment_offset: None,
            shares_devices: false,
            direct_io: None,
            backing_file: None,
            queue: None,
        }
    }
}

/// The layers below the filesystem whose device has this number (major:minor), from above to below; none when there is no
/// such device.
pub fn layers(tree: &dyn Tree, number: &str) -> Vec<Layer> {
    let mut layers = Vec::new();
    walk(tree, number, 0, &mut layers);
    layers
}

/// The layers below a filesystem, from above to below, without the filesystem itself.
pub fn layers_below(tree: &dyn Tree, filesystem: &FilesystemDevices) -> Vec<Layer> {
    let mut layers = Vec::new();
    walk_below(tree, filesystem, 0, &mut layers);
    layers
}

/// The layers below devices that a filesystem joins itself, from above to below: each device is the uppermost of its own layers. A device that
/// this process cannot see is an unknown layer.
pub fn layers_of_devices(tree: &dyn Tree, paths: &[&str]) -> Vec<Layer> {
    let mut layers = Vec::new();
    for path in paths {
        let before = layers.len();
        if let Some(number) = number_of(tree, path) {
            walk(tree, &number, 0, &mut layers);
        }
        if layers.len() == before {
            layers.push(unknown("a device of the target", 0));
        }
    }
    layers
}

/// The queue that the filesystem's requests go to, the uppermost; None where there is none.
pub fn queue(layers: &[Layer]) -> Option<&Queue> {
    layers.iter().find_map(|layer| layer.queue.as_ref())
}

/// True if one of the disks rotates, as the kernel sees it. Where no disk is seen, the uppermost queue tells.
pub fn rotates(layers: &[Layer]) -> Option<bool> {
    let turns = |layer: &Layer| layer.queue.as_ref().and_then(|queue| queue.rotational);
    let disks = layers.iter().filter(|layer| layer.kind == LayerKind::Disk);
    disks
        .map(turns)
        .reduce(|a, b| Some(a? || b?))
        .unwrap_or_else(|| queue(layers)?.rotational)
}

/// Adds the layers below a filesystem.
fn walk_below(
    tree: &dyn Tree,
    filesystem: &FilesystemDevices,
    depth: usize,
    layers: &mut Vec<Layer>,
) {
    if filesystem.filesystem == "overlay" {
        match &filesystem.upper {
            Some(upper) => walk_file(tree, upper, "the upper layer of overlay", depth, layers),
            None => layers.push(unknown("the upper layer of overlay", depth)),
        }
    }
    let before = layers.len();
    walk_devices(tree, filesystem, depth, layers);
    // If the device of the data cannot be seen, the others say nothing.
    if layers.len() == before {
        return;
    }
    for (path, what) in further_devices(filesystem) {
        match number_of(tree, path) {
            Some(number) => walk(tree, &number, depth, layers),
            None => layers.push(unknown(what, depth)),
        }
    }
    if let Some(name) = external_journal(tree, filesystem) {
        match number_of(tree, &format!("/dev/{name}")) {
            Some(number) => walk(tree, &number, depth, layers),
            None => {
                let what = format!("the journal of {}", filesystem.filesystem);
                layers.push(unknown(&what, depth));
            }
        }
    }
    if has_hidden_devices(tree, filesystem) {
        layers.push(unknown("another device of f2fs", depth));
    }
}

/// The devices that mount options of xfs name, by their paths: the log and the real-time section.
fn further_devices(filesystem: &FilesystemDevices) -> impl Iterator<Item = (&str, &'static str)> {
    let is_xfs = filesystem.filesystem == "xfs";
    let options = filesystem.options.split(',').filter(move |_| is_xfs);
    options.filter_map(|option| match option.split_once('=')? {
        ("logdev", path) => Some((path, "the log of xfs")),
        ("rtdev", path) => Some((path, "the real-time section of xfs")),
        _ => None,
    })
}

/// The kernel's name of another device that holds the journal of ext3 or ext4. No mount option tells it, but the name of the kernel's
/// thread for the journal. None also where that thread cannot be seen, as in a container.
fn external_journal(tree: &dyn Tree, filesystem: &FilesystemDevices) -> Option<String> {
    let [mounted] = &filesystem.devices[..] else {
        return None;
    };
    if !["ext3", "ext4"].contains(&filesystem.filesystem.as_str()) {
        return None;
    }
    let own = Block::of(tree, mounted)?.name(tree)?;
    let thread = line(tree, &format!("/sys/fs/ext4/{own}/journal_task"))?;
    let name = line(tree, &format!("/proc/{thread}/comm"))?;
    let name = name.strip_prefix("jbd2/")?;
    // A journal within the filesystem adds its inode: jbd2/sda1-8. Linux before 5.17 cuts the name off after 15 characters.
    let is_within = |rest: &str| rest.is_empty() || rest.starts_with('-');
    let is_own = own.starts_with(name) || name.strip_prefix(&own).is_some_and(is_within);
    (!is_own).then(|| name.to_owned())
}

/// True if the kernel tells of a f2fs that it has an aliased device. The kernel does not tell which one.
fn has_hidden_devices(tree: &dyn Tree, filesystem: &FilesystemDevices) -> bool {
    let [mounted] = &filesystem.devices[..] else {
        return false;
    };
    let is_f2fs = filesystem.filesystem == "f2fs";
    let name = is_f2fs.then(|| Block::of(tree, mounted)?.name(tree));
    name.flatten().is_some_and(|name| {
        let feature = format!("/sys/fs/f2fs/{name}/feature_list/device_alias");
        line(tree, &feature).as_deref() == Some("supported")
    })
}

/// The number of the block device at a path, by its name: this process may not see the path itself.
fn number_of(tree: &dyn Tree, path: &str) -> Option<String> {
    const DEVICES: &str = "/sys/class/block";
    let of = |name: &str| line(tree, &format!("{DEVICES}/{name}/dev"));
    if let Some(link) = tree.link(path) {
        return of(link.rsplit('/').next()?);
    }
    let name = path.strip_prefix("/dev/")?;
    if let Some(mapped) = name.strip_prefix("mapper/") {
        let is_it = |name: &String| {
            line(tree, &format!("{DEVICES}/{name}/dm/name")).as_deref() == Some(mapped)
        };
        return of(&tree.list(DEVICES).into_iter().find(is_it)?);
    }
    of(&name.replace('/', "!"))
}

/// The filesystem that holds a file, called `what`, and what that lies on.
fn walk_file(tree: &dyn Tree, path: &str, what: &str, depth: usize, layers: &mut Vec<Layer>) {
    let Some(below) = tree.below(path).filter(|_| depth < DEEPEST) else {
        layers.push(unknown(what, depth));
        return;
    };
    layers.push(Layer {
        name: Some(format!("{} on {}", below.filesystem, below.mount_point)),
        filesystem: Some(below.filesystem.clone()),
        mount_options: Some(below.options.clone()).filter(|options| !options.is_empty()),
        ..Layer::new(depth, LayerKind::Filesystem)
    });
    walk_below(tree, &below, depth + 1, layers);
}

/// Adds the devices of a filesystem. The kernel mounts a btrfs by one of its devices, and lists all.
fn walk_devices(
    tree: &dyn Tree,
    filesystem: &FilesystemDevices,
    depth: usize,
    layers: &mut Vec<Layer>,
) {
    let btrfs = match (filesystem.filesystem.as_str(), &filesystem.devices[..]) {
        ("btrfs", [mounted]) => Btrfs::of(tree, mounted),
        _ => None,
    };
    let Some(btrfs) = btrfs else {
        for number in &filesystem.devices {
            walk(tree, number, depth, layers);
        }
        return;
    };
    let degraded = btrfs.missing(tree);
    let is_array = btrfs.devices.len() > 1 || degraded > Some(0);
    if is_array {
        layers.push(Layer {
            name: Some("btrfs".into()),
            level: btrfs.profile(tree, "data"),
            sync_action: line(tree, &btrfs.action_path()),
            degraded,
            array: btrfs.array(tree),
            ..Layer::new(depth, LayerKind::Btrfs)
        });
    }
    for number in &btrfs.devices {
        walk(tree, number, depth + usize::from(is_array), layers);
    }
}

fn unknown(name: &str, depth: usize) -> Layer {
    Layer {
        name: Some(name.to_owned()),
        ..Layer::new(depth, LayerKind::Unknown)
    }
}

fn walk(tree: &dyn Tree, number: &str, depth: usize, layers: &mut Vec<Layer>) {
    let Some(block) = Block::of(tree, number).filter(|_| depth < DEEPEST) else {
        return;
    };
    let is_known = |layer: &Layer| layer.device.as_deref() == Some(number);
    if layers.iter().any(is_known) {
        let upper = layers.iter_mut().rev().find(|l| l.depth + 1 == depth);
        upper.into_iter().for_each(|l| l.shares_devices = true);
        return;
    }
    let layer = describe(tree, &block, number, depth);
    let (kind, backing_file) = (layer.kind, layer.backing_file.clone());
    layers.push(layer);
    if block.is_partition() {
        if let Some(disk) = line(tree, &format!("{}/dev", block.disk)) {
            walk(tree, &disk, depth + 1, layers);
        }
        return;
    }
    if kind == LayerKind::Loop {
        let file = backing_file.unwrap_or_default();
        walk_file(tree, &file, "the file of a loop device", depth + 1, layers);
        return;
    }
    let slaves = format!("{}/slaves", block.directory);
    let mut names = tree.list(&slaves);
    names.sort();
    for name in names {
        if let Some(number) = line(tree, &format!("{slaves}/{name}/dev")) {
            walk(tree, &number, depth + 1, layers);
        }
    }
}

fn describe(tree: &dyn Tree, block: &Block, device: &str, depth: usize) -> Layer {
    let of = |name: &str| line(tree, &format!("{}/{name}", block.directory));
    let name = block.name(tree);
    let plain = name.as_deref().unwrap_or("");
    let uuid = of("dm/uuid");
    let kind = match &uuid {
        _ if block.is_partition() => LayerKind::Partition,
        _ if of("md/level").is_some() => LayerKind::Md,
        Some(uuid) if uuid.starts_with("LVM-") => LayerKind::Lvm,
        Some(uuid) if uuid.starts_with("CRYPT-") => LayerKind::Crypt,
        Some(uuid) if uuid.starts_with("mpath-") => LayerKind::Multipath,
        _ if of("dm/name").is_some() => LayerKind::Dm,
        _ if is_in_memory(tree, block) => LayerKind::Memory,
        _ => kind_by_name(plain),
    };
    let number = |name: &str| number(tree, &format!("{}/{name}", block.directory));
    let is_md = kind == LayerKind::Md;
    let is_loop = kind == LayerKind::Loop;
    let is_disk = kind == LayerKind::Disk;
    Layer {
        name: of("dm/name").or(name),
        device: Some(device.to_owned()),
        bytes: block.bytes(tree),
        model: block.model(tree).filter(|_| !block.is_partition()),
        wwn: block.wwn(tree).filter(|_| is_disk),
        serial: block.serial(tree).filter(|_| is_disk),
        level: of("md/level"),
        chunk_bytes: number("md/chunk_size").filter(|&bytes| is_md && bytes > 0),
        sync_action: of("md/sync_action"),
        degraded: number("md/degraded"),
        array: match is_md {
            true => array::of_md(tree, &block.directory),
            false => Array::default(),
        },
        start_bytes: number("start")
            .filter(|_| block.is_partition())
            .and_then(|sectors| sectors.checked_mul(512)),
        alignment_offset: line(tree, &format!("{}/alignment_offset", block.directory))
            .and_then(|text| text.parse().ok()),
        direct_io: flag(tree, &format!("{}/loop/dio", block.directory)).filter(|_| is_loop),
        backing_file: of("loop/backing_file").filter(|_| is_loop),
        queue: (!block.is_partition()).then(|| block.queue(tree)),
        ..Layer::new(depth, kind)
    }
}

/// True for a disk that keeps its contents in memory and does not tell so by its name: a file that is in no filesystem, and the disk
/// of scsi_debug.
fn is_in_memory(tree: &dyn Tree, block: &Block) -> bool {
    let file = line(tree, &format!("{}/loop/backing_file", block.directory));
    let is_memory_file = file.is_some_and(|file| file.starts_with("/memfd:"));
    is_memory_file || block.model(tree).as_deref() == Some("Linux scsi_debug")
}

fn kind_by_name(name: &str) -> LayerKind {
    let kinds = [
        ("loop", LayerKind::Loop),
        ("zram", LayerKind::Memory),
        ("ram", LayerKind::Memory),
        ("nullb", LayerKind::Memory),
        ("pmem", LayerKind::PersistentMemory),
        ("ubd", LayerKind::Uml),
        ("nbd", LayerKind::Network),
        ("rbd", LayerKind::Network),
        ("drbd", LayerKind::Network),
        ("bcache", LayerKind::Cache),
    ];
    let found = kinds.iter().find(|(prefix, _)| {
        let rest = name.strip_prefix(prefix);
        rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
    });
    found.map_or(LayerKind::Disk, |(_, kind)| *kind)
}
