//! The machine, its device and its filesystem.

use super::Text;
use crate::units::format_share;

pub fn fio(path: &str) -> Text {
    Text::new("fio", format!("is {path}"))
}

pub fn fio_refused(why: &str, hint: Option<&str>) -> Text {
    let says = format!("{why}: the workload io cannot be run");
    let text = Text::new("fio_refused", says);
    match hint {
        Some(hint) => text.advise("fio_refused", hint),
        None => text,
    }
}

pub fn load_not_known() -> Text {
    let hint = "Let the server read /proc/stat.";
    Text::new("load_not_known", "could not be found out").advise("load_not_known", hint)
}

/// A share of the time.
pub fn load(busy: f64) -> Text {
    Text::new("load", busy_processors(busy))
}

fn busy_processors(busy: f64) -> String {
    let busy = format_share(busy);
    format!("the processors were busy in {busy} of the time")
}

/// Shares of the time; what others took is known at least, or not at all.
pub fn load_of_unknown_owner(busy: f64, others_at_least: Option<f64>) -> Text {
    let by_others = match others_at_least {
        Some(least) => format!(
            "by programs that are none of the server in {} of the time at least",
            format_share(least)
        ),
        None => "by which programs is not known".into(),
    };
    let hint = "The kernel's threads cannot be seen here, as in most containers: what others do in a run is not known, or only the least of it. \
        See the load of the machine from outside.";
    let says = format!("{}, {by_others}", busy_processors(busy));
    Text::new("load_of_unknown_owner", says).advise("load_of_unknown_owner", hint)
}

pub fn no_steal() -> Text {
    Text::new("no_steal", "the host leaves the processors to it")
}

pub fn pressure(is_told: bool) -> Text {
    let says = match is_told {
        true => "the kernel tells of pressure (PSI)",
        false => "the kernel does not tell of pressure (PSI)",
    };
    let hint = "Boot with psi=1, with a kernel from 4.20 on; containers may hide it.";
    Text::new("pressure", says).advise("pressure", hint)
}

pub fn clock_source(source: Option<&str>) -> Text {
    Text::new("clock_source", source.unwrap_or("not known"))
}

pub fn huge_pages(pages: &str) -> Text {
    let hint = "They can stall a server: many set madvise or never.";
    let says = format!("transparent huge pages: {pages}");
    Text::new("huge_pages", says).advise("huge_pages", hint)
}

pub fn kind(virtualization: Option<&str>, container: Option<&str>) -> Text {
    let known = |text: Option<&str>| text.unwrap_or("not known").to_owned();
    let (machine, container) = (known(virtualization), known(container));
    let says = format!("virtual machine: {machine}; container: {container}");
    Text::new("kind", says)
}

/// The limits of the server's cgroup, in words.
pub fn limits(limits: &str) -> Text {
    let says = format!("the server's cgroup may have no more than {limits}");
    let hint = "Runs are measured under these limits, and have a finding for each that they reach.";
    Text::new("limits", says).advise("limits", hint)
}

pub fn limits_not_known() -> Text {
    let says = "not known: the server is in a cgroup that cannot be seen here";
    let hint = "The machine's memory and processors are taken for the server's. Mount the cgroups of the server at /sys/fs/cgroup.";
    Text::new("limits_not_known", says).advise("limits_not_known", hint)
}

pub fn filesystem(name: &str, source: &str, options: &str) -> Text {
    Text::new("filesystem", format!("{name} on {source}, {options}"))
}

pub fn no_device() -> Text {
    let says = "the data are on no block device of their own: what a device does is not known";
    let hint = "Use a target on a device, where it is the device that matters.";
    Text::new("no_device", says).advise("no_device", hint)
}

/// `layers` are their names; `durability` is the sentence of runs there.
pub fn device(layers: &[&str], model: Option<&str>, is_virtual: bool, durability: &str) -> Text {
    let model = model.map_or(String::new(), |model| format!("; {model}"));
    let host = match is_virtual {
        true => "; a virtual disk, of which only the host knows what it is",
        false => "",
    };
    let says = format!("{}{model}{host}", layers.join(", "));
    let hint = format!("The durability of runs here will be {durability}.");
    Text::new("device", says).advise("device", hint)
}

pub fn heat() -> Text {
    let says = "processors were slowed down because of heat since the machine was started";
    let hint = "Cool them: runs in which that happens carry a finding.";
    Text::new("heat", says).advise("heat", hint)
}
