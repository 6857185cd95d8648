//! Promises of each layer of a storage.

use super::{super::StorageFacts, Code};
use crate::{
    proc::has_barriers_off,
    sys::{self, Layer, LayerKind},
    texts::durability::UNKNOWN_LOWER_LAYER,
};

/// Filesystems that have nothing below them.
const IN_MEMORY: [&str; 3] = ["tmpfs", "ramfs", "rootfs"];
/// Filesystems on devices of this machine that flush them when a file is synced, unless an option says otherwise.
const ON_DEVICES: [&str; 10] = [
    "ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "nilfs2", "reiserfs", "bcachefs", "jfs",
];

/// A filesystem at some depth, and what is known of it.
struct Filesystem<'a> {
    name: &'a str,
    options: &'a str,
    /// The layers below it.
    below: &'a [Layer],
    /// Whether layers below it stand below an earlier layer.
    shares_devices: bool,
    zfs_sync: Option<&'a str>,
}

/// Why commits on a storage may be lost, or why that is not known; nothing where neither is so.
pub fn of_storage(storage: &StorageFacts) -> Vec<Code> {
    let Some(name) = storage.filesystem.as_deref() else {
        let layer = "the filesystem".into();
        return vec![Code::UnknownLayer { layer }];
    };
    let layers = storage.layers.as_deref().unwrap_or_default();
    let uppermost = Filesystem {
        name,
        options: storage.mount_options.as_deref().unwrap_or_default(),
        below: layers,
        shares_devices: false,
        zfs_sync: storage.zfs_sync.as_deref(),
    };
    let mut codes = of_filesystem(&uppermost, storage.write_cache.as_deref());
    codes.extend(of_layers(layers));
    codes.extend(of_layers(storage.log_layers.as_deref().unwrap_or_default()));
    codes.extend(storage.parity_of_lvm().map(|level| Code::WriteHole {
        level: level.to_owned(),
    }));
    let has_zfs = name == "zfs"
        || layers
            .iter()
            .any(|l| l.filesystem.as_deref() == Some("zfs"));
    if has_zfs && storage.zfs_flushes == Some(false) {
        codes.push(Code::ZfsDoesNotFlush);
    }
    codes
}

fn of_filesystem(of: &Filesystem, write_cache: Option<&str>) -> Vec<Code> {
    let filesystem = || of.name.to_owned();
    if IN_MEMORY.contains(&of.name) {
        return vec![Code::InMemory { what: filesystem() }];
    }
    let mut codes = Vec::new();
    if let Some(option) = option_without_sync(of.name, of.options) {
        let option = option.to_owned();
        codes.push(Code::SyncDoesNothing {
            filesystem: filesystem(),
            option,
        });
    }
    match of.name {
        "overlay" => return codes,
        "zfs" => match of.zfs_sync {
            Some("disabled") => codes.push(Code::SyncDoesNothing {
                filesystem: filesystem(),
                option: "sync=disabled".into(),
            }),
            Some("standard" | "always") => {}
            _ => codes.push(Code::UnknownZfsSync),
        },
        name if ON_DEVICES.contains(&name) => {}
        _ => {
            codes.push(Code::UnknownFilesystem {
                filesystem: filesystem(),
            });
            return codes;
        }
    }
    if has_barriers_off(of.options) {
        codes.push(Code::BarriersOff);
    } else if of.name == "jfs" && write_cache == Some("write back") {
        // Observations with a replayed write log: it lost everything (LAB.md).
        codes.push(Code::JfsDoesNotFlush);
    }
    if of.below.is_empty() && !of.shares_devices {
        codes.push(Code::UnknownDevices {
            filesystem: filesystem(),
        });
    }
    codes
}

/// The mount option by which a sync does nothing.
fn option_without_sync<'a>(filesystem: &str, options: &'a str) -> Option<&'a str> {
    let is_it = |given: &&str| match filesystem {
        // Linux before 6.18 shows the first.
        "overlay" => ["volatile", "fsync=volatile"].contains(given),
        "bcachefs" => ["journal_flush_disabled", "nochanges"].contains(given),
        // After a power cut everything is as it was when f2fs was mounted.
        "f2fs" => *given == "checkpoint=disable" || given.starts_with("checkpoint=disable:"),
        _ => false,
    };
    options.split(',').find(is_it)
}

/// Codes of all layers, each judged with the layers below it.
fn of_layers(layers: &[Layer]) -> Vec<Code> {
    let each = (0..layers.len()).flat_map(|place| {
        let (layer, rest) = (&layers[place], &layers[place + 1..]);
        let deeper = rest.iter().take_while(|below| below.depth > layer.depth);
        of_layer(layer, &rest[..deeper.count()])
    });
    each.collect()
}

/// The kernel drops flushes of a device whose queue/write_cache says "write through", also those for the devices below it.
fn flushes_off(layer: &Layer, below: &[Layer]) -> Option<Code> {
    use LayerKind::{Disk, Filesystem, Loop, Memory, Network, Partition, PersistentMemory};
    if layer.queue.as_ref()?.write_cache.as_deref() != Some("write through") {
        return None;
    }
    let in_memory = match layer.kind {
        // The driver says "write back". The page cache has the file's data, or its blocks with direct I/O.
        Loop | LayerKind::Uml => true,
        Memory | PersistentMemory | Network | Partition | Filesystem | LayerKind::Unknown => {
            return None;
        }
        Disk if !is_volatile_by_itself(layer) => return None,
        Disk => false,
        _ if !below.iter().any(is_volatile) => return None,
        _ => below.iter().any(|layer| layer.kind == Loop),
    };
    let device = layer.name.clone().unwrap_or_else(|| "a device".into());
    Some(Code::FlushesOff { device, in_memory })
}

fn is_volatile_by_itself(layer: &Layer) -> bool {
    let queue = layer.queue.as_ref();
    let own = queue.and_then(|queue| queue.device_write_cache.as_deref());
    // "write back, no read (daft)" is a word of the kernel, too.
    own.is_some_and(|own| own.starts_with("write back"))
}

/// True if a device has a write cache that only a flush empties.
pub(super) fn is_volatile(layer: &Layer) -> bool {
    let queue = layer.queue.as_ref();
    let says = queue.and_then(|queue| queue.write_cache.as_deref());
    // md, dm and bcache say "write back" whatever they lie on.
    let is_disk = layer.kind == LayerKind::Disk;
    is_disk && says == Some("write back")
        || layer.kind == LayerKind::Loop
        || is_volatile_by_itself(layer)
}

fn of_layer(layer: &Layer, below: &[Layer]) -> Vec<Code> {
    let mut codes: Vec<Code> = flushes_off(layer, below).into_iter().collect();
    codes.extend(of_kind(layer, below));
    codes.extend(write_hole(layer));
    codes
}

/// A stripe that a power cut interrupts is computed anew while all members are there. Without one of them its data are lost.
fn write_hole(layer: &Layer) -> Option<Code> {
    let level = layer.level.clone().filter(|_| layer.has_write_hole())?;
    Some(match layer.is_degraded() {
        true => Code::DegradedWriteHole { level },
        false => Code::WriteHole { level },
    })
}

/// The codes that a layer has by its kind and by what it lies on.
fn of_kind(layer: &Layer, below: &[Layer]) -> Vec<Code> {
    let name = layer.name.clone().unwrap_or_else(|| "a device".into());
    let code = match layer.kind {
        LayerKind::Disk | LayerKind::Uml => return Vec::new(),
        LayerKind::Memory => Code::InMemory { what: name },
        LayerKind::PersistentMemory => Code::PersistentMemory { disk: name },
        LayerKind::Network => Code::RemoteDisk { disk: name },
        LayerKind::Unknown => Code::UnknownLayer { layer: name },
        LayerKind::Filesystem => {
            let uppermost = sys::queue(below).and_then(|queue| queue.write_cache.as_deref());
            let filesystem = Filesystem {
                name: layer.filesystem.as_deref().unwrap_or("a filesystem"),
                options: layer.mount_options.as_deref().unwrap_or_default(),
                below,
                shares_devices: layer.shares_devices,
                zfs_sync: None,
            };
            return of_filesystem(&filesystem, uppermost);
        }
        LayerKind::Partition
        | LayerKind::Md
        | LayerKind::Btrfs
        | LayerKind::Dm
        | LayerKind::Lvm
        | LayerKind::Crypt
        | LayerKind::Multipath
        | LayerKind::Cache
        | LayerKind::Loop => {
            if !below.is_empty() || layer.shares_devices {
                return Vec::new();
            }
            let layer = UNKNOWN_LOWER_LAYER.into();
            Code::UnknownLayer { layer }
        }
    };
    vec![code]
}
