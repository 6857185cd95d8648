//! Storage of the data and the WAL: devices, their queues, and the layers below them.

use pgfsbench_core::{
    environment::Device,
    sys::{self, LayerKind},
};
use rustix::fs::statvfs;

use super::{
    location::Location,
    tree::{ThisMachine, device_of},
};

/// The device of the data, and what is below the WAL.
pub fn look(data: Option<&Location>, wal: Option<&Location>) -> Device {
    let layers = |location: Option<&Location>| {
        let number = device_of(location?)?;
        Some(sys::layers(&ThisMachine, &number)).filter(|layers| !layers.is_empty())
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
            .and_then(device_of)
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
