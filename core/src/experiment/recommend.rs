//! Advice: rows in reading order. The arithmetic stands in [`answer`](super::answer); this module turns it into advice, and says what it does not cover.

use serde::Deserialize;
use serde_json::Value;

mod choice;
mod lines;
mod regime;
mod stored;
mod survival;

use std::collections::BTreeMap;

use super::{
    answer::{self, Row, open, warning},
    neighbours,
    state::State,
    steps,
};
use crate::{
    finding::{Durability, PowerCutFacts, memory_for_data},
    helper::{
        Filesystem, Layout, LayoutOptions,
        layout::{self, MOST_MEMBERS, Maker},
    },
    spec::Workload,
    sys::cgroup::Limits,
    texts::{
        self,
        recommend::{
            self as text,
            untested::{self, Untested},
        },
    },
    wording,
    workload::loss_below,
};

/// Filesystems that lose committed data when power is lost, or that are not maintained for this use; and nilfs2, whose cleaner runs where it is
/// used, and not here.
const FOR_COMPARISON_ONLY: &[&str] = &["ext2", "vfat", "exfat", "tmpfs", "jfs", "minix", "nilfs2"];

/// The part of a statement that goes on with an experiment.
const NEXT: &str = "next";

/// The stored environment of a target's runs: that of the first run that counts.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Facts {
    pub number: usize,
    pub kind: Option<String>,
    pub filesystem: Option<String>,
    pub mkfs_command: Option<String>,
    /// Whether the target has options for mkfs.
    pub has_mkfs_options: bool,
    /// Path of its device, as the target names it.
    pub device: Option<String>,
    /// Layout of its devices or images, and their number; None where it has one.
    pub layout: Option<String>,
    pub members: Option<u64>,
    /// Options of the layout, as the target has them.
    pub layout_options: Option<Value>,
    /// The number of devices that each hold its log; None where the log is elsewhere.
    pub log_devices: Option<u64>,
    /// Whether a device or file of its own holds its log.
    pub has_log_device: bool,
    /// The layers below its filesystem, as they are stored; None where it has no layout.
    pub layers: Option<Value>,
    /// Release of the kernel.
    pub kernel: Option<String>,
    /// The options as they were given to the target.
    pub mount_options: Option<String>,
    #[serde(rename = "durability_codes")]
    pub durability: Option<Durability>,
    pub virtualization: Option<String>,
    /// Kind of container, or none.
    pub container: Option<String>,
    /// Limits of the server's cgroup.
    pub limits: Option<Limits>,
    pub data_bytes: Option<f64>,
    pub memory_bytes: Option<f64>,
    /// Shared buffers of the server that asked for the runs on another one.
    pub asking_server_shared_buffers_bytes: Option<f64>,
    pub shared_buffers_bytes: Option<f64>,
    /// The median over its runs.
    pub stall_seconds: Option<f64>,
    pub crash: Option<bool>,
    pub power_loss_protected: Option<bool>,
    /// Settings of the server that the target, or a factor, has of its own.
    pub settings: Option<Value>,
    pub block_settings: Option<Value>,
    pub kernel_settings: Option<Value>,
    pub workload: Option<String>,
    pub clients: Option<i64>,
    /// Bytes written to the device, and its flushes, per transaction, and what one flush took before the window (us): medians over its runs.
    pub device_bytes_per_transaction: Option<f64>,
    pub flushes_per_transaction: Option<f64>,
    pub flush_us: Option<f64>,
    /// Checkpoints that WAL has forced, and all that began in a window: means over its runs.
    pub forced_checkpoints: Option<f64>,
    pub checkpoints: Option<f64>,
    /// Whether its server had data checksums.
    pub data_checksums: Option<bool>,
    /// Bytes that the device and the server read in a window: medians over its runs.
    pub device_read_bytes: Option<f64>,
    pub server_read_bytes: Option<f64>,
    /// Whether a loop device, which is a file, is below its filesystem.
    pub is_on_loop: Option<bool>,
    /// Power cuts of the experiment on this target, if a control did not make them void.
    pub power_cuts: PowerCutFacts,
}

impl Facts {
    fn has_forced(&self) -> bool {
        self.forced_checkpoints.is_some_and(|forced| forced > 0.0)
    }

    /// Bytes of the data, and of the memory that can hold them.
    fn data_and_memory(&self) -> Option<(f64, f64)> {
        let taken = self.asking_server_shared_buffers_bytes;
        Some((self.data_bytes?, memory_for_data(self.memory_bytes?, taken)))
    }

    /// Power cuts of the experiment on this target, and those that failed; None without any.
    fn cuts_and_failed(&self) -> Option<(u64, u64)> {
        Some((self.power_cuts.cuts?, self.power_cuts.failed?))
    }

    fn has_failed_power_cuts(&self) -> bool {
        let durability = self.durability.as_ref();
        self.cuts_and_failed().is_some_and(|(_, failed)| failed > 0)
            || durability.is_some_and(Durability::has_failed_power_cuts)
    }

    fn why_not_durable(&self) -> Option<String> {
        self.durability.as_ref()?.why_not()
    }
}

/// The machine and the server that lines are to be pasted on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThisServer {
    /// Release of the kernel.
    pub kernel: String,
    /// Whether systemd mounts what fstab says.
    pub has_systemd: bool,
    /// Settings that the server has, and when each can be changed, as in pg_settings.
    pub contexts: BTreeMap<String, String>,
    /// Whether the server has data checksums.
    pub data_checksums: bool,
}

/// A piece of advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// Subject: choice, open, next, why, figures, cost, not tested, finding, regime, mkfs, fstab, udev, sysctl or postgresql.conf.
    pub part: &'static str,
    /// In words, or a line to be pasted.
    pub says: String,
    /// Whether it is, or has, something to be pasted.
    pub is_pasted: bool,
    /// A few words for a thing that was not tested.
    pub topic: Option<String>,
    /// The server's setting that the line is about, and its value.
    pub setting: Option<(String, String)>,
}

/// Advice in words.
fn advice(part: &'static str, says: impl Into<String>) -> Advice {
    Advice {
        part,
        says: wording::say(part, || says.into()),
        is_pasted: false,
        topic: None,
        setting: None,
    }
}

/// Advice on something that was not tested.
fn untested(untested: Untested) -> Advice {
    let Untested { topic, rest } = untested;
    let says = format!("{topic}{rest}");
    Advice {
        topic: Some(topic),
        ..advice("not tested", says)
    }
}

/// A line to be pasted, or words with such a line.
fn to_paste(part: &'static str, says: impl Into<String>) -> Advice {
    Advice {
        part,
        says: says.into(),
        is_pasted: true,
        topic: None,
        setting: None,
    }
}

/// The advice of an experiment.
pub fn rows(state: &State, answers: &[Row], facts: &[Facts], here: &ThisServer) -> Vec<Advice> {
    let metric = steps::declared(state);
    let choice = choice::choice(state, answers, facts, metric);
    let mut rows = choice.advice;
    if let (Some(busy), Some(first)) = (neighbours::busy(state), rows.first_mut()) {
        first.says = text::busy_before(&busy.says(), &first.says);
    }
    let open = open::of(state, answers);
    rows.extend(open.others().map(|why| advice("open", why.says())));
    let line = open.advice(&state.experiment.experiment);
    rows.extend(line.map(|line| to_paste(NEXT, line)));
    rows.extend(
        answers
            .iter()
            .map(|row| advice("why", text::of(&row.target, &row.says))),
    );
    rows.extend(answer::levels(state, metric).map(|says| advice("figures", says)));
    rows.extend(facts.iter().filter_map(|f| of_power_cuts(state, f)));
    rows.extend(facts.iter().filter_map(|f| at_what_cost(state, f)));
    rows.extend(facts.iter().filter_map(|f| what_survives(state, f)));
    rows.extend(unlike_in_durability(state, facts));
    rows.extend(only_for_comparison(state, facts));
    rows.extend(
        regime::regime(state, answers, facts, here)
            .into_iter()
            .map(|says| advice("regime", says)),
    );
    rows.extend(not_tested(state, facts));
    rows.extend(set_aside(answers));
    rows.extend(findings(state, answers));
    if let Some(chosen) = choice.chosen {
        let of = facts.iter().find(|f| f.number == chosen);
        rows.extend(
            of.map(|facts| lines::lines(state, facts, here))
                .unwrap_or_default(),
        );
    }
    rows
}

/// Advice on an experiment that was imported from another host: none of its lines is to be pasted here.
pub fn of_other_host(rows: Vec<Advice>, host: &str) -> Vec<Advice> {
    let mut rows = rows;
    rows.retain(|row| !row.is_pasted);
    // Nor what would look like one.
    for row in &mut rows {
        for text in [&mut row.says].into_iter().chain(&mut row.topic) {
            *text = text.replace(char::is_control, " ");
        }
    }
    rows.push(untested(untested::this_machine(host)));
    rows
}

/// Bytes that each transaction of a target had written, and its flushes: a cost that may be low on this device and high on another.
fn at_what_cost(state: &State, f: &Facts) -> Option<Advice> {
    let cost = text::Cost {
        written: f.device_bytes_per_transaction,
        // A filesystem that was not made for the runs has a device that others may write to.
        by_all: !stored::is_made(f),
        flushes: f.flushes_per_transaction,
        flush_us: f.flush_us,
    };
    let name = state.targets.get(f.number)?.name.as_str();
    text::cost(name, cost).map(|says| advice("figures", says))
}

/// Members of a target's layout that may fail.
fn what_survives(state: &State, f: &Facts) -> Option<Advice> {
    let (layout, members) = layout_of(f)?;
    let name = state.targets.get(f.number)?.name.as_str();
    let survival = survival::of(f, layout, members);
    Some(advice("cost", text::survives::survives(name, &survival)))
}

/// The layout of a target, and the number of its members. A row that was forged may hold anything.
fn layout_of(f: &Facts) -> Option<(Layout, usize)> {
    let layout = Layout::of_name(f.layout.as_deref()?).ok()?;
    let members = usize::try_from(f.members?).ok()?;
    let range = layout.fewest_members()..=MOST_MEMBERS;
    range.contains(&members).then_some((layout, members))
}

/// The options of a target's layout. None where no target can have them.
fn layout_options_of(f: &Facts, layout: Layout) -> Option<LayoutOptions> {
    let Some(given) = &f.layout_options else {
        return Some(LayoutOptions::default());
    };
    let options = LayoutOptions::deserialize(given).ok()?;
    options.check(layout).is_ok().then_some(options)
}

/// The layout of an external log that is an array of its own, and the number of its devices.
fn log_layout_of(f: &Facts) -> Option<(Layout, usize)> {
    let filesystem = Filesystem::of_name(f.filesystem.as_deref()?).ok()?;
    let devices = usize::try_from(f.log_devices?).ok()?;
    let layout = layout::of_log(filesystem, devices)?;
    let is_array = layout.maker() == Maker::Md && devices <= layout::MOST_LOGS;
    is_array.then_some((layout, devices))
}

/// The result of the experiment's power cuts on a target.
fn of_power_cuts(state: &State, f: &Facts) -> Option<Advice> {
    let (cuts, failed) = f.cuts_and_failed()?;
    let name = state.targets.get(f.number)?.name.as_str();
    let says = texts::power_cut::in_short(cuts, failed, loss_below(cuts));
    Some(advice("figures", text::of(name, &says)))
}

fn unlike_in_durability(state: &State, facts: &[Facts]) -> Vec<Advice> {
    let less = facts.iter().filter_map(|f| {
        let name = state.targets.get(f.number).map_or("", |t| t.name.as_str());
        let why = less_durable(facts, f.number)?;
        Some(advice("cost", text::less_durable(name, &why)))
    });
    less.collect()
}

/// Why commits on a target may be lost, if those on another one that was compared with it are durable.
fn less_durable(facts: &[Facts], number: usize) -> Option<String> {
    let is_durable = |f: &Facts| f.durability.as_ref().is_some_and(Durability::is_durable);
    let own = facts.iter().find(|f| f.number == number)?;
    own.why_not_durable()
        .filter(|_| facts.iter().any(is_durable))
}

/// Why commits on all of them may be lost, as the first one says it.
fn nothing_durable(facts: &[Facts]) -> Option<String> {
    let all = facts.iter().all(|f| f.why_not_durable().is_some());
    facts.first().filter(|_| all)?.why_not_durable()
}

/// Whether the filesystem of that target is unfit for a database.
fn is_for_comparison_only(facts: &[Facts], number: usize) -> bool {
    let filesystem = facts.iter().find(|f| f.number == number);
    let filesystem = filesystem.and_then(|f| f.filesystem.as_deref());
    filesystem.is_some_and(|fs| FOR_COMPARISON_ONLY.contains(&fs))
}

fn only_for_comparison(state: &State, facts: &[Facts]) -> Vec<Advice> {
    (facts
        .iter()
        .filter(|f| is_for_comparison_only(facts, f.number)))
    .map(|f| {
        let name = state.targets.get(f.number).map_or("", |t| t.name.as_str());
        let says = text::for_comparison_only(name, f.filesystem.as_deref());
        advice("cost", says)
    })
    .collect()
}

/// Whether power cuts have tried the durability of a target.
fn is_tried(facts: &Facts) -> bool {
    let durability = facts.durability.as_ref();
    durability.is_some_and(Durability::is_shown)
        || facts.has_failed_power_cuts()
        || facts.cuts_and_failed().is_some()
}

fn not_tested(state: &State, facts: &[Facts]) -> Vec<Advice> {
    let has_crashed = facts.iter().any(|f| f.crash == Some(true));
    let recovery = (!has_crashed).then(|| untested::recovery(facts.iter().all(can_crash)));
    let first = facts.first();
    let workload = first.and_then(|f| f.workload.as_deref());
    let clients = first.and_then(|f| f.clients);
    let loads = untested::other_loads(workload, clients.map(|clients| clients.max(0) as u64));
    let power_cut = (!facts.iter().all(is_tried)).then(untested::power_cut);
    let before = [power_cut, recovery, loads];
    let is_protected = facts.iter().any(|f| f.power_loss_protected == Some(true));
    // Files of a database that has lived long are scattered, on a filesystem that was full before.
    let ageing = untested::ageing(facts.iter().all(stored::is_made));
    let after = [
        Some(ageing),
        (state.experiment.metric == "tps").then(untested::latency_at_a_rate),
        is_protected.then(untested::declared_protection),
    ];
    let mut rows: Vec<Advice> = before.into_iter().flatten().map(untested).collect();
    rows.extend(options_not_tested(state, facts));
    rows.extend(after.into_iter().flatten().map(untested));
    rows
}

/// Whether its workload takes the option `crash`.
fn can_crash(f: &Facts) -> bool {
    let workload = f.workload.as_deref().and_then(Workload::parse);
    workload.is_none_or(|workload| workload.takes_option("crash"))
}

/// An option of mount that is worth a try, where mkfs and mount were left alone on all of them: one of each filesystem.
fn options_not_tested(state: &State, facts: &[Facts]) -> Vec<Advice> {
    let has_options = |f: &Facts| {
        let of_mount = f.mount_options.as_deref().unwrap_or_default();
        f.has_mkfs_options || !of_mount.is_empty()
    };
    if facts.iter().any(has_options) {
        return Vec::new();
    }
    // A dataset of zfs has properties, and is mounted without options.
    let is_tried = |f: &&Facts| f.mkfs_command.is_some() && f.filesystem.as_deref() != Some("zfs");
    let made = facts.iter().filter(is_tried);
    let mut named: Vec<&str> = Vec::new();
    let mut rows = Vec::new();
    for f in made {
        let Some(filesystem) = f.filesystem.as_deref().filter(|fs| !named.contains(fs)) else {
            continue;
        };
        named.push(filesystem);
        let option = match filesystem {
            "btrfs" => "nodatacow",
            _ => "noatime",
        };
        let name = state.targets.get(f.number);
        let name = name.map_or("", |t| t.target.as_str());
        let Untested { topic, rest } = untested::options(filesystem, name, option);
        let says = format!("{topic}{rest}");
        rows.push(Advice {
            topic: Some(topic),
            ..to_paste("not tested", says)
        });
    }
    rows
}

fn set_aside(answers: &[Row]) -> Vec<Advice> {
    let excluded = answers.iter().filter(|row| row.is_set_aside());
    excluded
        .map(|row| untested(untested::set_aside(&row.target)))
        .collect()
}

/// The codes of each target, and how to read what they mean.
fn findings(state: &State, answers: &[Row]) -> Vec<Advice> {
    let with = answers
        .iter()
        .filter_map(|row| Some((row, warning::in_words(&row.warnings)?)));
    let codes = with.map(|(row, warnings)| advice("finding", text::of(&row.target, &warnings)));
    let mut rows: Vec<Advice> = codes.collect();
    if !rows.is_empty() {
        let id = state.experiment.experiment_id;
        rows.push(advice("finding", text::query_of_findings(id)));
    }
    rows
}

#[cfg(test)]
mod tests;
