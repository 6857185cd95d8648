//! Things that an experiment did not test: a topic in a few words, and the rest of the sentence.

use crate::units::format_count;

/// A topic, and the rest of the sentence.
#[derive(Clone, Debug)]
pub struct Untested {
    pub topic: String,
    pub rest: String,
}

fn untested(topic: impl Into<String>, rest: impl Into<String>) -> Untested {
    let (topic, rest) = (topic.into(), rest.into());
    Untested { topic, rest }
}

pub fn power_cut() -> Untested {
    untested(
        "what is promised of durability was not tried by cutting power",
        "; it is what mount options, caches and settings say. On images options => '{\"power_cut\": 300}' tries it",
    )
}

/// `has_option`: whether the workload takes the option `crash`.
pub fn recovery(has_option: bool) -> Untested {
    let rest = match has_option {
        true => ": options => '{\"crash\": true}' measures it",
        false => ": the workload has no option \"crash\"",
    };
    untested("recovery after a crash", rest)
}

/// Loads other than that of the runs; None where nothing of that is known.
pub fn other_loads(workload: Option<&str>, clients: Option<u64>) -> Option<Untested> {
    let workload = workload.map(|workload| format!("workload {workload}"));
    let clients = clients.map(|clients| format_count(clients, "client"));
    let loads: Vec<String> = workload.into_iter().chain(clients).collect();
    let loads = loads.join(" and ");
    (!loads.is_empty()).then(|| {
        untested(
            format!("other loads and sizes than {loads} on this machine"),
            "",
        )
    })
}

/// Options of mkfs and mount of this filesystem. An experiment on the target compares this mount option.
pub fn options(filesystem: &str, target: &str, option: &str) -> Untested {
    untested(
        format!("options of mkfs and mount of {filesystem}, which are as they come"),
        format!(
            "; targets => '{{{target}}}', factors => '{{\"mount_options\": [\"\", \"{option}\"]}}' compares one"
        ),
    )
}

/// `is_made`: whether each run had a filesystem of its own.
pub fn ageing(is_made: bool) -> Untested {
    let rest = match is_made {
        true => ": each run is on a filesystem that was just made",
        false => ": each run has data files that were just made",
    };
    untested("ageing", rest)
}

pub fn latency_at_a_rate() -> Untested {
    untested(
        "latency at a fixed rate, which full speed does not show",
        ": give a rate for that",
    )
}

pub fn declared_protection() -> Untested {
    untested(
        "that the device keeps its cache when power is lost",
        ": equally durable as you declared",
    )
}

pub fn set_aside(target: &str) -> Untested {
    untested(
        format!("{target}, which was set aside since its runs failed"),
        "",
    )
}

/// An experiment that was imported from another host.
pub fn this_machine(host: &str) -> Untested {
    untested(
        "this machine",
        format!(
            ": it was measured on {host}, and imported from a file, of which no line is shown that could be pasted"
        ),
    )
}

/// A stored value that pgfsbench would not have stored so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    Mkfs,
    Filesystem,
    MountOptions,
    Device,
    LayoutOptions,
    Kernel,
    DeviceSetting,
    KernelSetting,
    ServerSetting,
}

pub fn lines(forged: Stored) -> Untested {
    let what = match forged {
        Stored::Mkfs => "the command of mkfs",
        Stored::Filesystem => "the type of the filesystem",
        Stored::MountOptions => "the mount options",
        Stored::Device => "the device",
        Stored::LayoutOptions => "a value of layout_options",
        Stored::Kernel => "the version of the kernel",
        Stored::DeviceSetting => "a setting of the device",
        Stored::KernelSetting => "a setting of the kernel",
        Stored::ServerSetting => "a setting of the server",
    };
    untested(
        format!("{what} is not stored as pgfsbench stores it"),
        ": no lines are shown to be pasted",
    )
}
