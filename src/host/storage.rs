//! Storage of the data and the WAL: devices, their queues, and the layers below them.

use pgfsbench_core::{
    environment::Device,
    finding::StorageFacts,
    sys::{self, Layer, LayerKind},
};
use rustix::fs::statvfs;
use std::{fs, path::Path};

use super::{
    location::{self, Location},
    tree::ThisMachine,
};

/// The device of the data, and what is below the WAL.
pub fn read(data: Option<&Location>, wal: Option<&Location>) -> Device {
    let layers = |location: Option<&Location>| {
        let below = location?.below();
        Some(sys::layers_below(&ThisMachine, &below)).filter(|layers| !layers.is_empty())
    };
    let (of_data, wal_layers) = (layers(data), layers(wal));
    // The requests of the filesystem go to the uppermost queue: of a partition it is that of its disk.
    let queue = of_data.as_deref().and_then(sys::queue);
    let queue = queue.cloned().unwrap_or_default();
    let disks = || {
        let all = of_data.iter().flatten();
        all.filter(|layer| layer.kind == LayerKind::Disk)
    };
    let mut models: Vec<&str> = disks().filter_map(|disk| disk.model.as_deref()).collect();
    models.sort_unstable();
    models.dedup();
    let rotational = of_data.as_deref().and_then(sys::rotates);
    let filesystem = data.and_then(|location| statvfs(location.directory.as_str()).ok());
    Device {
        journal_mode: data
            .and_then(Location::device_number)
            .and_then(|number| sys::journal_mode(&ThisMachine, &number)),
        block_size_bytes: filesystem.map(|fs| fs.f_frsize),
        device_model: (!models.is_empty()).then(|| models.join(", ")),
        rotational,
        fua: queue.fua,
        discard_granularity_bytes: queue.discard_granularity,
        discard_max_bytes: queue.discard_max_bytes,
        logical_sector_bytes: queue.logical_block_size,
        physical_sector_bytes: queue.physical_block_size,
        io_scheduler: queue.scheduler,
        nr_requests: queue.nr_requests,
        queue_depth: queue.queue_depth,
        read_ahead_kb: queue.read_ahead_kb,
        layers: of_data,
        wal_layers,
    }
}

/// The filesystems that commits and checkpoints depend on besides those of tables and WAL.
pub fn others(data: Option<&Location>, wal: Option<&Location>) -> Vec<StorageFacts> {
    let facts = |location: Option<Location>| {
        let Some((location, mount)) = location.as_ref().and_then(|l| Some((l, l.mount()?))) else {
            return StorageFacts::default();
        };
        let mut facts = StorageFacts {
            filesystem: Some(mount.fs_type.clone()),
            mount_options: Some(mount.options.clone()),
            layers: Some(sys::layers_below(&ThisMachine, &location.below())),
            zfs_flushes: zfs_flushes(),
            ..StorageFacts::default()
        };
        facts.complete();
        facts
    };
    let locations = location::other_locations(data, wal);
    locations.into_iter().map(facts).collect()
}

/// The layers of block devices, themselves included.
pub fn layers_of_devices(paths: &[&str]) -> Vec<Layer> {
    sys::layers_of_devices(&ThisMachine, paths)
}

/// The write cache of the device that a directory is on, as the kernel sees it.
pub fn write_cache_of(location: &Location) -> Option<String> {
    let layers = sys::layers_below(&ThisMachine, &location.below());
    sys::queue(&layers)?.write_cache.clone()
}

/// Whether the module zfs flushes its devices; None where it is not loaded.
pub fn zfs_flushes() -> Option<bool> {
    let is_set = |name: &str| {
        let text = fs::read_to_string(format!("/sys/module/zfs/parameters/{name}")).ok()?;
        Some(text.trim() != "0")
    };
    Some(!is_set("zfs_nocacheflush")? && !is_set("zil_nocacheflush").unwrap_or(false))
}

/// Whether a block device can discard; false where that cannot be found out.
pub fn can_discard(path: &str) -> bool {
    let name = fs::canonicalize(path).ok();
    let name = name.as_deref().and_then(Path::file_name);
    let Some(directory) =
        name.and_then(|name| fs::canonicalize(Path::new("/sys/class/block").join(name)).ok())
    else {
        return false;
    };
    // A partition has the queue of its disk.
    let most = [Some(directory.as_path()), directory.parent()]
        .into_iter()
        .flatten()
        .find_map(|place| fs::read_to_string(place.join("queue/discard_max_bytes")).ok());
    most.and_then(|text| text.trim().parse::<u64>().ok())
        .is_some_and(|bytes| bytes > 0)
}
