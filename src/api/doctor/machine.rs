//! Gathers facts of the machine for the report.

use std::{fs, time::Duration};

use pgfsbench_core::{
    doctor::{
        machine::{Facts, Fio, check as judge},
        report::Line,
    },
    environment::Device,
    finding::{MachineFacts, RunFacts, StorageFacts},
    sys,
};

use crate::{
    host::{
        fio,
        location::{self, Location},
        machine, storage,
        tree::ThisMachine,
    },
    watch::surroundings,
};

/// Length of the look at the machine.
const LOOK: Duration = Duration::from_secs(1);
/// The kernel's file on I/O pressure.
const PRESSURE: &str = "/proc/pressure/io";

/// The lines about the machine. Takes a second.
pub fn check() -> Vec<Line> {
    let load = surroundings::load(LOOK);
    let machine = machine::read();
    let (data, wal) = (location::data_location(), location::wal_location());
    let device = storage::read(data.as_ref(), wal.as_ref());
    let mount = data.as_ref().and_then(Location::mount);
    let mount = mount.map(|m| (m.fs_type.clone(), m.source.clone(), m.options.clone()));
    let of_storage = RunFacts {
        machine: MachineFacts {
            virtualization: machine.virtualization.clone(),
            ..MachineFacts::default()
        },
        ..of_storage(data, wal, &device)
    };
    judge(&Facts {
        load,
        tells_of_pressure: fs::read_to_string(PRESSURE).is_ok(),
        machine,
        is_in_cgroup: sys::cgroup::is_named(&ThisMachine),
        device,
        mount,
        of_storage,
        throttled: sys::machine(&ThisMachine).throttled,
        fio: match fio::find() {
            Ok(path) => Fio::Found(path.display().to_string()),
            Err(fault) => Fio::Refused(fault.message, fault.hint),
        },
    })
}

/// Facts of the storage on which the target default would be measured.
fn of_storage(data: Option<Location>, wal: Option<Location>, device: &Device) -> RunFacts {
    let mounted = |location: &Option<Location>| {
        let mount = location.as_ref().and_then(Location::mount)?;
        Some((mount.fs_type.clone(), mount.options.clone()))
    };
    let (filesystem, mount_options) = mounted(&data).unzip();
    let space = data.as_ref().and_then(Location::space);
    let storage = StorageFacts {
        filesystem,
        mount_options,
        size_bytes: space.map(|(_, size)| size),
        free_bytes: space.map(|(free, _)| free),
        write_cache: data.as_ref().and_then(storage::write_cache_of),
        rotational: device.rotational,
        layers: device.layers.clone(),
        lazy_init: surroundings::has_lazy_init(),
        ..StorageFacts::default()
    };
    let (filesystem, mount_options) = mounted(&wal).unzip();
    let mut wal_storage = StorageFacts {
        filesystem,
        mount_options,
        layers: device.wal_layers.clone(),
        ..StorageFacts::default()
    };
    wal_storage.complete();
    let other_storage = storage::others(data.as_ref(), wal.as_ref());
    let place = |location: Option<Location>| location.and_then(|location| location.place());
    RunFacts {
        data_place: place(data),
        wal_place: place(wal),
        storage,
        wal_storage: Some(wal_storage),
        other_storage,
        ..RunFacts::default()
    }
}
