//! Circumstances of an experiment. Sizes are bytes, times seconds.

use crate::{
    texts::answer::figures::forced_of_all,
    units::{format_bytes, format_seconds, format_tenths},
};

/// Data that fit into memory. Bytes that the device and the server read in a window, where the device read a good part.
pub fn data_in_memory(reads: Option<(f64, f64)>) -> String {
    match reads {
        Some((device, server)) => format!(
            "the data fit into memory, but the device read {} in a window; the server's processes read {}{}",
            format_bytes(device as u64),
            format_bytes(server as u64),
            match device > 2.0 * server {
                true => ", so that other programs or read-ahead read the rest",
                false => "",
            }
        ),
        None => "the data fit into memory, so that reads hardly reach the filesystem".to_owned(),
    }
}

pub fn data_beyond_memory(times: f64) -> String {
    let times = format_tenths(times);
    format!("the data are {times} times as large as memory")
}

/// `figures_tell`: whether the figures say how often each target flushes.
pub fn nothing_durable(reasons: &str, figures_tell: bool) -> String {
    let figures = match figures_tell {
        true => "; how often each flushes is among the figures",
        false => "",
    };
    format!(
        "no commit of any of them was durable ({reasons}): where commits are, they take longer, and may tell them apart differently{figures}"
    )
}

pub fn on_images() -> String {
    "on images, that is, on top of another filesystem: a real device may tell them apart differently".into()
}

pub fn on_loop_devices(targets: &[&str]) -> String {
    format!(
        "{} on a loop device, which is a file of another filesystem: a real device may tell them apart differently",
        targets.join(", ")
    )
}

pub fn in_virtual_machine(kind: &str) -> String {
    format!("in a virtual machine ({kind}), whose disk is what its host makes of it")
}

/// The container, and the limits of its cgroup; None where the server has neither.
pub fn in_container(kind: Option<&str>, limits: Option<&str>) -> Option<String> {
    let kind = kind.map(|kind| format!("in a container ({kind})"));
    let limits = limits.map(|limits| {
        format!("with no more than {limits} (limits of the server's cgroup): without them another ratio is possible")
    });
    let parts: Vec<String> = kind.into_iter().chain(limits).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// A cycle that is shorter than PostgreSQL's default.
pub fn short_cycles(seconds: f64, default_seconds: f64, is_provisional: bool) -> String {
    let provisional = match is_provisional {
        true => "; so the answer is provisional, and a night without cycle gives a lasting one",
        false => "",
    };
    format!(
        "a checkpoint every {}: after each one pages are written whole into WAL, so that more is written than with PostgreSQL's {}{provisional}",
        format_seconds(seconds),
        format_seconds(default_seconds)
    )
}

/// Each target with its forced checkpoints, and all.
pub fn forced_checkpoints(each: &[(&str, f64, f64)]) -> String {
    let each = each.iter();
    let each = each.map(|(name, forced, all)| format!("{name} {}", forced_of_all(*forced, *all)));
    format!(
        "WAL forced checkpoints before their time ({}): who commits more has more of them; with a larger max_wal_size, and room for that much WAL, all come by the clock",
        each.collect::<Vec<_>>().join(", ")
    )
}

/// The targets with small buffers, where they are not all of them.
pub fn small_buffers(targets: Option<&[&str]>, buffers: f64, data: f64) -> String {
    let of = targets.map_or(String::new(), |names| format!(" of {}", names.join(", ")));
    format!(
        "shared_buffers{of} ({}) are smaller than the data ({}): the server reads and writes its pages through the kernel's cache all the time, which with larger ones happens at checkpoints, and may give another ratio",
        format_bytes(buffers as u64),
        format_bytes(data as u64)
    )
}

/// Targets, each with the runs that have a finding.
pub type In<'a> = [(&'a str, String)];

fn each(targets: &In<'_>) -> String {
    let each = targets
        .iter()
        .map(|(name, runs)| format!("{name} in {runs}"));
    each.collect::<Vec<_>>().join(", ")
}

pub fn unsteady(targets: &In<'_>) -> String {
    format!(
        "tps rose or fell within the windows ({}), so that a longer warm-up or longer windows may give another ratio; the findings have the direction",
        each(targets)
    )
}

pub fn robbed_by_host(targets: &In<'_>) -> String {
    format!(
        "the host took processors' time away ({}): for that alone no run is made again, since on such a host all may have it; the findings have how much",
        each(targets)
    )
}

/// The measured servers had data checksums and this one has none, or the other way round.
pub fn checksums(measured: bool) -> String {
    match measured {
        true => "the servers that were measured had data checksums, which this server has not: what they cost is in all figures; factors => '{\"data_checksums\": [true, false]}' beside one filesystem tells how much",
        false => "the servers that were measured had no data checksums, which this server has: what they cost is in no figure",
    }
    .to_owned()
}

/// The circumstances that stand behind a choice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Circumstances {
    pub data_in_memory: Option<bool>,
    pub has_small_buffers: bool,
    /// A checkpoint cycle so short that the answer is provisional.
    pub provisional_cycle: Option<f64>,
    /// The reasons for which nothing is durable.
    pub nothing_durable: Option<String>,
    pub has_forced_checkpoints: bool,
    pub is_unsteady: bool,
    pub on_images: bool,
    pub on_loop_device: bool,
    pub virtual_machine: Option<String>,
    pub is_disturbed: bool,
}

impl Circumstances {
    /// In brackets; empty where there are none.
    pub fn words(&self) -> String {
        let only_if = |is_so: bool, words: &str| is_so.then(|| words.to_owned());
        let data = self.data_in_memory.map(|fits| match fits {
            true => "with data in memory".to_owned(),
            false => "with data larger than memory".to_owned(),
        });
        let cycle = self.provisional_cycle;
        let durable = self.nothing_durable.as_deref();
        let machine = self.virtual_machine.as_deref();
        let on_loop_device = self.on_loop_device && !self.on_images;
        let parts = [
            data,
            only_if(
                self.has_small_buffers,
                "with shared_buffers smaller than the data",
            ),
            cycle.map(|seconds| format!("with a checkpoint every {}", format_seconds(seconds))),
            durable.map(|reasons| format!("with nothing durable: {reasons}")),
            only_if(
                self.has_forced_checkpoints,
                "with checkpoints forced by WAL",
            ),
            only_if(self.is_unsteady, "with tps that were not steady"),
            only_if(self.on_images, "on images"),
            only_if(on_loop_device, "on a loop device"),
            machine.map(|kind| format!("in a virtual machine ({kind})")),
            only_if(self.is_disturbed, "beside others on the machine"),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let provisional = cycle.map_or("", |_| "provisional, ");
        match parts.is_empty() {
            true => String::new(),
            false => format!(" ({provisional}measured {})", parts.join(", ")),
        }
    }
}
