//! The machine: whether it is quiet and tells what runs store of it, and what its device and filesystem are like.

use super::report::{INFO, Line, OK, Report};
use crate::{
    environment::{Device, Machine},
    finding::{self, Class, Durability, MachineFacts, RunFacts},
    run::surroundings::Load,
    sys::LayerKind,
    texts::doctor::{machine as texts, value},
};

/// All that is found out of the machine.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Load during one second.
    pub load: Option<Load>,
    /// Whether the kernel tells of pressure.
    pub tells_of_pressure: bool,
    /// The facts of it that are stored with a run.
    pub machine: Machine,
    /// The facts of the device of the data that are stored with a run.
    pub device: Device,
    /// True if the kernel names a cgroup of the server, which may not be visible.
    pub is_in_cgroup: bool,
    /// Filesystem of the data, what is mounted, and its options.
    pub mount: Option<(String, String, String)>,
    /// Facts of the storage by which a run on the target default would be judged.
    pub of_storage: RunFacts,
    /// How often processors were slowed down because of heat.
    pub throttled: Option<u64>,
    /// The program fio.
    pub fio: Fio,
}

/// The program fio, as far as it is known.
#[derive(Clone, Debug, Default)]
pub enum Fio {
    /// It was not looked for.
    #[default]
    Unknown,
    /// Path of the program.
    Found(String),
    /// Why it cannot be run, and what to do.
    Refused(String, Option<String>),
}

/// The lines about the machine.
pub fn check(facts: &Facts) -> Vec<Line> {
    let mut report = Report::new("machine");
    load(&mut report, facts);
    kernel(&mut report, facts);
    device(&mut report, facts);
    fio(&mut report, &facts.fio);
    report.lines
}

/// Only the workload `io` needs it.
fn fio(report: &mut Report, fio: &Fio) {
    match fio {
        Fio::Unknown => {}
        Fio::Found(path) => report.say("fio", OK, texts::fio(path)),
        Fio::Refused(why, hint) => {
            report.say("fio", INFO, texts::fio_refused(why, hint.as_deref()));
        }
    }
}

fn load(report: &mut Report, facts: &Facts) {
    match &facts.load {
        None => report.say("load", INFO, texts::load_not_known()),
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
            report.foretell("steal", &facts, "steal", texts::no_steal());
        }
    }
    let is_told = facts.tells_of_pressure;
    let state = if is_told { OK } else { INFO };
    report.say("pressure", state, texts::pressure(is_told));
}

/// The line about the load of other programs. A load with an unknown owner is attributed to no program.
fn load_of_others(report: &mut Report, load: &Load, facts: &RunFacts) {
    if load.others.is_some() || finding::foretell(facts, "noisy_neighbour").is_some() {
        report.foretell("load", facts, "noisy_neighbour", texts::load(load.busy));
        return;
    }
    let text = texts::load_of_unknown_owner(load.busy, load.others_at_least);
    report.say("load", INFO, text);
}

fn kernel(report: &mut Report, all: &Facts) {
    let machine = &all.machine;
    let facts = RunFacts {
        machine: MachineFacts {
            clock_source: machine.clock_source.clone(),
            governor: machine.cpu_governor.clone(),
            ..MachineFacts::default()
        },
        ..RunFacts::default()
    };
    let clock = texts::clock_source(machine.clock_source.as_deref());
    report.foretell("clock source", &facts, "slow_clock", clock);
    if let Some(governor) = &machine.cpu_governor {
        report.foretell("governor", &facts, "governor", value(governor));
    }
    if let Some(pages) = &machine.transparent_hugepage {
        let state = if pages == "always" { INFO } else { OK };
        report.say("huge pages", state, texts::huge_pages(pages));
    }
    let (virtualization, container) = (&machine.virtualization, &machine.container);
    let kind = texts::kind(virtualization.as_deref(), container.as_deref());
    report.say("kind", OK, kind);
    limits(report, all);
}

fn limits(report: &mut Report, facts: &Facts) {
    let text = match &facts.machine.limits {
        Some(limits) => match limits.in_words() {
            Some(limits) => texts::limits(&limits),
            None => return,
        },
        None if facts.is_in_cgroup => texts::limits_not_known(),
        None => return,
    };
    report.say("limits", INFO, text);
}

/// Reports the device on which the target default would be measured.
fn device(report: &mut Report, facts: &Facts) {
    let (device, virtualization) = (&facts.device, facts.machine.virtualization.as_deref());
    if let Some((fs_type, source, options)) = &facts.mount {
        let text = texts::filesystem(fs_type, source, options);
        report.say("filesystem of data", OK, text);
    }
    // Findings that each run on the target default would have.
    for finding in finding::judge(&facts.of_storage) {
        report.find(finding.code.clone(), finding);
    }
    let layers = device.layers.as_deref().unwrap_or_default();
    if layers.is_empty() {
        report.say("device of data", INFO, texts::no_device());
        return;
    }
    let names: Vec<&str> = layers
        .iter()
        .map(|layer| layer.name.as_deref().unwrap_or("?"))
        .collect();
    let is_virtual = virtualization.is_some_and(|kind| kind != "none")
        && layers.iter().any(|layer| layer.kind == LayerKind::Disk);
    let durability = Durability::of_layers(&facts.of_storage);
    let is_well = durability.class() >= Class::Declared;
    let model = device.device_model.as_deref();
    report.say(
        "device of data",
        if is_well { OK } else { INFO },
        texts::device(&names, model, is_virtual, &durability.sentence()),
    );
    if facts.throttled.is_some_and(|n| n > 0) {
        report.say("heat", INFO, texts::heat());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::report::{WARNING, assert_decides_by_codes};
    use crate::finding::StorageFacts;
    use crate::sys::{Layer, cgroup::Limits};

    fn states(facts: &Facts) -> Vec<(String, &'static str)> {
        assert_decides_by_codes(|| check(facts));
        check(facts)
            .into_iter()
            .map(|line| (line.item, line.state))
            .collect()
    }

    #[test]
    fn fio_has_a_line_once_it_was_looked_for() {
        let line = |fio: Fio| {
            let facts = Facts {
                fio,
                ..Facts::default()
            };
            check(&facts).into_iter().find(|line| line.item == "fio")
        };
        assert!(line(Fio::Unknown).is_none());
        let found = line(Fio::Found("/usr/bin/fio".into())).unwrap();
        assert_eq!(
            (found.state, found.detail.as_deref()),
            (OK, Some("is /usr/bin/fio"))
        );
        let hint = Some("Install it.".to_owned());
        let refused = line(Fio::Refused("fio is not installed".into(), hint.clone())).unwrap();
        assert_eq!(
            (refused.state, refused.detail.as_deref()),
            (
                INFO,
                Some("fio is not installed: the workload io cannot be run")
            )
        );
        assert_eq!(refused.hint, hint);
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
            assert_decides_by_codes(|| check(&facts));
            let line = check(&facts).remove(0);
            assert_eq!((line.item.as_str(), line.state), ("load", INFO));
            assert_eq!(line.detail.as_deref(), Some(says));
        }
    }

    #[test]
    fn limits_of_a_cgroup_that_cannot_be_seen_are_not_known() {
        let said = |is_in_cgroup, limits| {
            let facts = Facts {
                is_in_cgroup,
                machine: Machine {
                    limits,
                    ..Machine::default()
                },
                ..Facts::default()
            };
            let lines = check(&facts).into_iter();
            let mut of_limits = lines.filter(|line| line.item == "limits");
            of_limits.next().and_then(|line| line.detail)
        };
        assert_eq!(
            said(true, None).as_deref(),
            Some("not known: the server is in a cgroup that cannot be seen here")
        );
        assert_eq!(said(true, Some(Limits::default())), None);
        assert_eq!(said(false, None), None);
    }

    #[test]
    fn a_layer_that_cannot_be_seen_is_not_well() {
        let layer = |kind: &str, name: &str| -> Layer {
            let layer = serde_json::json!({"depth": 0, "kind": kind, "name": name});
            serde_json::from_value(layer).unwrap()
        };
        let of = |filesystem: &str, layers: Vec<Layer>| {
            let storage = StorageFacts {
                filesystem: Some(filesystem.into()),
                layers: Some(layers.clone()),
                ..StorageFacts::default()
            };
            let facts = Facts {
                device: Device {
                    layers: Some(layers),
                    ..Device::default()
                },
                of_storage: RunFacts {
                    storage,
                    ..RunFacts::default()
                },
                ..Facts::default()
            };
            assert_decides_by_codes(|| check(&facts));
            let mut lines = check(&facts).into_iter();
            let line = lines.find(|line| line.item == "device of data").unwrap();
            (line.state, line.hint)
        };
        let unseen = of(
            "overlay",
            vec![layer("unknown", "the upper layer of overlay")],
        );
        let hint = "The durability of runs here will be not known: the upper layer of overlay cannot be seen.";
        assert_eq!(unseen, (INFO, Some(hint.to_owned())));
        assert_eq!(of("ext4", vec![layer("disk", "sda")]), (OK, None));
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
        let line = check(&facts)
            .into_iter()
            .find(|line| line.item == "clock source")
            .unwrap();
        assert_eq!(
            (line.detail, line.hint),
            (Some(found.message), Some(found.hint))
        );
    }
}
