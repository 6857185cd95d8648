//! The machine: whether it is quiet and tells what runs store of it, and what its device and filesystem are like.

use std::{fs, time::Duration};

use pgfsbench_core::{
    finding::{self, MachineFacts, NEIGHBOURS, RunFacts, STEAL, Severity, StorageFacts},
    sys::{self, LayerKind},
    units::format_share,
};

use super::report::{INFO, Line, OK, Report, WARNING};
use crate::{
    host::{
        durability,
        location::{self, Location},
        machine::Machine,
        storage::Device,
        tree::ThisMachine,
    },
    watch::surroundings,
};

/// How long it is looked at.
const LOOK: Duration = Duration::from_secs(1);
/// Where the kernel tells of pressure.
const PRESSURE: &str = "/proc/pressure/io";

/// The lines about the machine. Takes a second.
pub fn look() -> Vec<Line> {
    let mut report = Report::new("machine");
    load(&mut report);
    let machine = Machine::look();
    kernel(&mut report, &machine);
    device(&mut report, machine.virtualization.as_deref());
    report.lines
}

fn load(report: &mut Report) {
    let load = surroundings::load(LOOK);
    match &load {
        None => report.say(
            "load",
            INFO,
            "could not be found out",
            Some("Let the server read /proc/stat.".into()),
        ),
        Some(load) => {
            let noise = load.others.unwrap_or(load.busy);
            report.say(
                "load",
                if noise > NEIGHBOURS { WARNING } else { OK },
                format!(
                    "for a second the processors were busy in {} of the time{}",
                    format_share(load.busy),
                    load.others.map_or(String::new(), |share| format!(
                        ", and in {} with what is none of this server",
                        format_share(share)
                    ))
                ),
                Some("See what else runs on the machine: it is measured along.".into()),
            );
        }
    }
    if let Some(load) = &load {
        report.say(
            "steal",
            if load.steal > STEAL { WARNING } else { OK },
            format!("the host took {} of the time away", format_share(load.steal)),
            Some("Other virtual machines, or a limit of this one, slow it down: choose another time.".into()),
        );
    }
    let tells = fs::read_to_string(PRESSURE).is_ok();
    report.say(
        "pressure",
        if tells { OK } else { INFO },
        if tells {
            "the kernel tells of pressure (PSI)"
        } else {
            "the kernel does not tell of pressure (PSI)"
        },
        Some("Boot with psi=1, with a kernel from 4.20 on; containers may hide it.".into()),
    );
}

fn kernel(report: &mut Report, machine: &Machine) {
    let unknown = || "not known".to_owned();
    let slow = ["hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies"];
    let clock = machine.clock_source.as_deref();
    report.say(
        "clock source",
        if clock.is_some_and(|clock| slow.contains(&clock)) { WARNING } else { OK },
        clock.map_or_else(unknown, str::to_owned),
        Some("Each transaction reads the time several times: use tsc, or the clock of the hypervisor.".into()),
    );
    if let Some(governor) = &machine.cpu_governor {
        report.say(
            "governor",
            if governor == "performance" { OK } else { INFO },
            governor.clone(),
            Some("Set the governor to performance while benchmarks run.".into()),
        );
    }
    if let Some(pages) = &machine.transparent_hugepage {
        report.say(
            "huge pages",
            if pages == "always" { INFO } else { OK },
            format!("transparent huge pages: {pages}"),
            Some("They can stall a server: many set madvise or never.".into()),
        );
    }
    report.add(
        "kind",
        OK,
        format!(
            "virtual machine: {}; container: {}",
            machine.virtualization.clone().unwrap_or_else(unknown),
            machine.container.clone().unwrap_or_else(unknown)
        ),
    );
}

/// What the target default would be measured on.
fn device(report: &mut Report, virtualization: Option<&str>) {
    let (data, wal) = (location::data_location(), location::wal_location());
    let device = Device::of(data.as_ref(), wal.as_ref());
    let mount = data.as_ref().and_then(|location| location.mount());
    if let Some(mount) = mount {
        let text = format!("{} on {}, {}", mount.fs_type, mount.source, mount.options);
        report.add("filesystem of data", OK, text);
    }
    let space = data.as_ref().and_then(Location::space);
    let storage = StorageFacts {
        filesystem: mount.map(|mount| mount.fs_type.clone()),
        mount_options: mount.map(|mount| mount.options.clone()),
        size_bytes: space.map(|(_, size)| size),
        free_bytes: space.map(|(free, _)| free),
        write_cache: data.as_ref().and_then(durability::write_cache_of),
        rotational: device.rotational,
        layers: device.layers.clone(),
        lazy_init: surroundings::has_lazy_init(),
        ..StorageFacts::default()
    };
    let wal_mount = wal.as_ref().and_then(Location::mount);
    let mut wal_storage = StorageFacts {
        filesystem: wal_mount.map(|mount| mount.fs_type.clone()),
        mount_options: wal_mount.map(|mount| mount.options.clone()),
        layers: device.wal_layers,
        ..StorageFacts::default()
    };
    wal_storage.complete();
    let place = |location: Option<Location>| location.and_then(|location| location.place());
    foretell(
        report,
        &RunFacts {
            data_place: place(data),
            wal_place: place(wal),
            storage,
            wal_storage: Some(wal_storage),
            machine: MachineFacts {
                virtualization: virtualization.map(str::to_owned),
                ..MachineFacts::default()
            },
            ..RunFacts::default()
        },
    );
    let layers = device.layers.unwrap_or_default();
    if layers.is_empty() {
        let what = "the data are on no block device of their own: what a device does is not known";
        let hint = "Use a target on a device, where it is the device that matters.";
        report.say("device of data", INFO, what, Some(hint.into()));
        return;
    }
    let named = layers
        .iter()
        .map(|layer| layer.name.as_deref().unwrap_or("?"));
    let outline = named.collect::<Vec<_>>().join(", ");
    let is_virtual = virtualization.is_some_and(|kind| kind != "none")
        && layers.iter().any(|layer| layer.kind == LayerKind::Disk);
    report.add(
        "device of data",
        OK,
        format!(
            "{outline}{}{}",
            device
                .device_model
                .map_or(String::new(), |model| format!("; {model}")),
            if is_virtual {
                "; a virtual disk, of which only the host knows what it is"
            } else {
                ""
            },
        ),
    );
    if sys::machine(&ThisMachine).throttled.is_some_and(|n| n > 0) {
        let what = "processors were slowed down because of heat since the machine was started";
        report.say(
            "heat",
            INFO,
            what,
            Some("Cool them: runs in which that happens carry a finding.".into()),
        );
    }
}

/// What each run on the target default would find of it.
fn foretell(report: &mut Report, facts: &RunFacts) {
    for finding in finding::judge(facts) {
        let state = match finding.severity {
            Severity::Info => INFO,
            Severity::Warning | Severity::Invalid => WARNING,
        };
        report.say(finding.code, state, finding.message, Some(finding.hint));
    }
}
