//! The machine: whether it is quiet and tells what runs store of it, and what its device and filesystem are like.

use super::report::{INFO, Line, OK, Report};
use crate::{
    environment::{Device, Machine},
    finding::{self, MachineFacts, RunFacts},
    run::surroundings::Load,
    sys::{LayerKind, cgroup::Limits},
    units::format_share,
};

/// All that is found out of the machine.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Its load during one second.
    pub load: Option<Load>,
    /// Whether the kernel tells of pressure.
    pub tells_of_pressure: bool,
    /// The facts of it that are stored with a run.
    pub machine: Machine,
    /// The facts of the device of the data that are stored with a run.
    pub device: Device,
    /// Filesystem of the data, what is mounted, and its options.
    pub mount: Option<(String, String, String)>,
    /// Facts of the storage by which a run on the target default would be judged.
    pub of_storage: RunFacts,
    /// How often processors were slowed down because of heat.
    pub throttled: Option<u64>,
}

/// The lines about the machine.
pub fn look(facts: &Facts) -> Vec<Line> {
    let mut report = Report::new("machine");
    load(&mut report, facts);
    kernel(&mut report, &facts.machine);
    device(&mut report, facts);
    report.lines
}

fn load(report: &mut Report, facts: &Facts) {
    match &facts.load {
        None => report.say(
            "load",
            INFO,
            "could not be found out",
            Some("Let the server read /proc/stat.".into()),
        ),
        Some(load) => {
            let facts = RunFacts {
                machine: MachineFacts {
                    cpu_others: load.others,
                    cpu_others_at_least: load.others_at_least,
                    cpu_steal: load.steal,
                    ..MachineFacts::default()
                },
                ..RunFacts::default()
            };
            load_of_others(report, load, &facts);
            report.foretell(
                "steal",
                &facts,
                "steal",
                "the host leaves the processors to it",
            );
        }
    }
    let tells = facts.tells_of_pressure;
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

/// The line about what others do. A load whose owner is not known is nobody's.
fn load_of_others(report: &mut Report, load: &Load, facts: &RunFacts) {
    let busy = format!(
        "the processors were busy in {} of the time",
        format_share(load.busy)
    );
    if load.others.is_some() || finding::foretell(facts, "noisy_neighbour").is_some() {
        report.foretell("load", facts, "noisy_neighbour", busy);
        return;
    }
    let by_others = match load.others_at_least {
        Some(least) => format!(
            "by programs that are none of the server in {} of the time at least",
            format_share(least)
        ),
        None => "by which programs is not known".into(),
    };
    let hint = "The kernel's threads cannot be seen here, as in most containers: what others do in a run is not known, or only the least of it. \
        See the load of the machine from outside.";
    report.say(
        "load",
        INFO,
        format!("{busy}, {by_others}"),
        Some(hint.into()),
    );
}

fn kernel(report: &mut Report, machine: &Machine) {
    let unknown = || "not known".to_owned();
    let facts = RunFacts {
        machine: MachineFacts {
            clock_source: machine.clock_source.clone(),
            governor: machine.cpu_governor.clone(),
            ..MachineFacts::default()
        },
        ..RunFacts::default()
    };
    let clock = machine.clock_source.clone().unwrap_or_else(unknown);
    report.foretell("clock source", &facts, "slow_clock", clock);
    if let Some(governor) = &machine.cpu_governor {
        report.foretell("governor", &facts, "governor", governor);
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
    if let Some(limits) = machine.limits.as_ref().and_then(Limits::in_words) {
        report.say(
            "limits",
            INFO,
            format!("the server's cgroup may have no more than {limits}"),
            Some("Runs are measured under these limits, and have a finding for each that they reach.".into()),
        );
    }
}

/// Reports the device on which the target default would be measured.
fn device(report: &mut Report, facts: &Facts) {
    let (device, virtualization) = (&facts.device, facts.machine.virtualization.as_deref());
    if let Some((fs_type, source, options)) = &facts.mount {
        report.add(
            "filesystem of data",
            OK,
            format!("{fs_type} on {source}, {options}"),
        );
    }
    // Findings that each run on the target default would have.
    for finding in finding::judge(&facts.of_storage) {
        report.find(finding.code.clone(), finding);
    }
    let layers = device.layers.as_deref().unwrap_or_default();
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
                .as_ref()
                .map_or(String::new(), |model| format!("; {model}")),
            if is_virtual {
                "; a virtual disk, of which only the host knows what it is"
            } else {
                ""
            },
        ),
    );
    if facts.throttled.is_some_and(|n| n > 0) {
        let what = "processors were slowed down because of heat since the machine was started";
        report.say(
            "heat",
            INFO,
            what,
            Some("Cool them: runs in which that happens carry a finding.".into()),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::report::WARNING;

    fn states(facts: &Facts) -> Vec<(String, &'static str)> {
        look(facts)
            .into_iter()
            .map(|line| (line.item, line.state))
            .collect()
    }

    #[test]
    fn a_quiet_machine_is_well() {
        let facts = Facts {
            load: Some(Load {
                all: 100,
                busy: 0.5,
                others: Some(0.01),
                others_at_least: None,
                steal: Some(0.0),
            }),
            tells_of_pressure: true,
            machine: Machine {
                clock_source: Some("tsc".into()),
                cpu_governor: Some("performance".into()),
                transparent_hugepage: Some("madvise".into()),
                ..Machine::default()
            },
            ..Facts::default()
        };
        for (item, state) in states(&facts) {
            assert_eq!(state == OK, item != "device of data", "{item} {state}");
        }
    }

    #[test]
    fn a_load_whose_owner_is_not_known_is_not_laid_at_others_door() {
        for (others_at_least, says) in [
            (
                Some(0.04),
                "the processors were busy in 98.5 % of the time, by programs that are none of the server in 4.0 % of the time at least",
            ),
            (
                None,
                "the processors were busy in 98.5 % of the time, by which programs is not known",
            ),
        ] {
            let facts = Facts {
                load: Some(Load {
                    all: 100,
                    busy: 0.985,
                    others: None,
                    others_at_least,
                    steal: None,
                }),
                ..Facts::default()
            };
            let line = look(&facts).remove(0);
            assert_eq!((line.item.as_str(), line.state), ("load", INFO));
            assert_eq!(line.detail.as_deref(), Some(says));
        }
    }

    #[test]
    fn what_a_finding_would_say_is_said_beforehand() {
        let facts = Facts {
            load: Some(Load {
                all: 100,
                busy: 0.5,
                others: None,
                others_at_least: Some(0.4),
                steal: Some(0.3),
            }),
            machine: Machine {
                clock_source: Some("hpet".into()),
                cpu_governor: Some("powersave".into()),
                limits: Some(Limits {
                    memory_bytes: Some(1 << 31),
                    ..Limits::default()
                }),
                ..Machine::default()
            },
            throttled: Some(1),
            ..Facts::default()
        };
        let states = states(&facts);
        for (item, state) in [
            ("load", WARNING),
            ("steal", WARNING),
            ("clock source", WARNING),
            ("governor", INFO),
            ("pressure", INFO),
            ("limits", INFO),
        ] {
            assert!(
                states.contains(&(item.to_owned(), state)),
                "{item}: {states:?}"
            );
        }
        let of_clock = RunFacts {
            machine: MachineFacts {
                clock_source: Some("hpet".into()),
                ..MachineFacts::default()
            },
            ..RunFacts::default()
        };
        let found = finding::foretell(&of_clock, "slow_clock").unwrap();
        let line = look(&facts)
            .into_iter()
            .find(|line| line.item == "clock source")
            .unwrap();
        assert_eq!(
            (line.detail, line.hint),
            (Some(found.message), Some(found.hint))
        );
    }
}
