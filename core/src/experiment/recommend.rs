//! Advice: rows in reading order. The arithmetic stands in [`answer`](super::answer); this module turns it into advice, and says what it does not cover.

use serde::Deserialize;
use serde_json::Value;

mod choice;
mod lines;
mod regime;
mod stored;

use std::collections::BTreeMap;

use super::{
    answer::{self, Row, open, warning},
    neighbours,
    state::State,
    steps,
};
use crate::{
    finding::Durability,
    spec::Workload,
    sys::cgroup::Limits,
    texts,
    units::{format_bytes, format_count},
};

/// Filesystems that lose committed data when power is lost, or that are not maintained for this use.
const FOR_COMPARISON_ONLY: &[&str] = &["ext2", "vfat", "exfat", "tmpfs", "jfs", "minix"];

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
}

impl Facts {
    fn has_forced(&self) -> bool {
        self.forced_checkpoints.is_some_and(|forced| forced > 0.0)
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
        says: texts::say(part, || says.into()),
        is_pasted: false,
        topic: None,
        setting: None,
    }
}

/// Advice on something that was not tested: its topic, and the rest of the sentence.
fn untested(topic: impl Into<String>, rest: &str) -> Advice {
    let topic = topic.into();
    Advice {
        topic: Some(topic.clone()),
        ..advice("not tested", format!("{topic}{rest}"))
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
        first.says = format!("{}; {}", busy.says(), first.says);
    }
    let open = open::of(state, answers);
    rows.extend(open.others().map(|why| advice("open", why.says())));
    let line = open.advice(&state.experiment.experiment);
    rows.extend(line.map(|line| to_paste(NEXT, line)));
    rows.extend(
        answers
            .iter()
            .map(|row| advice("why", format!("{}: {}", row.target, row.says))),
    );
    rows.extend(answer::levels(state, metric).map(|says| advice("figures", says)));
    rows.extend(facts.iter().filter_map(|f| at_what_cost(state, f)));
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
    rows.push(untested(
        "this machine",
        &format!(": it was measured on {host}, and imported from a file, of which no line is shown that could be pasted"),
    ));
    rows
}

/// Bytes that each transaction of a target had written, and its flushes: a cost that may be low on this device and high on another.
fn at_what_cost(state: &State, f: &Facts) -> Option<Advice> {
    let written = f.device_bytes_per_transaction;
    // A filesystem that was not made for the runs has a device that others may write to.
    let by = if stored::is_made(f) {
        ""
    } else {
        " by all programs"
    };
    let written =
        written.map(|bytes| format!("{} written to the device{by}", format_bytes(bytes as u64)));
    let flushes = f.flushes_per_transaction;
    let flushes = flushes.map(|flushes| format!("{} flushes of it", answer::figure(flushes)));
    let parts: Vec<String> = [written, flushes].into_iter().flatten().collect();
    let each = (!parts.is_empty()).then(|| format!("per transaction {}", parts.join(" and ")));
    let flush =
        (f.flush_us).map(|us| format!("before the runs a flush took {} us", answer::figure(us)));
    let parts: Vec<String> = [each, flush].into_iter().flatten().collect();
    let name = state.targets.get(f.number)?.name.as_str();
    (!parts.is_empty())
        .then(|| advice("figures", format!("{name}: {} (medians)", parts.join("; "))))
}

fn unlike_in_durability(state: &State, facts: &[Facts]) -> Vec<Advice> {
    let less = facts.iter().filter_map(|f| {
        let name = state.targets.get(f.number).map_or("", |t| t.name.as_str());
        let why = less_durable(facts, f.number)?;
        Some(advice(
            "cost",
            format!(
                "{name} is not as durable as others of these ({why}): what it gains may be paid with commits that are lost when power is"
            ),
        ))
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
        advice(
            "cost",
            format!(
                "{name} is for comparison only: {} is no filesystem to keep a database on",
                f.filesystem.as_deref().unwrap_or("it")
            ),
        )
    })
    .collect()
}

fn not_tested(state: &State, facts: &[Facts]) -> Vec<Advice> {
    let mut rows = Vec::new();
    let is_tried = |f: &Facts| {
        let durability = f.durability.as_ref();
        durability
            .is_some_and(|durability| durability.is_shown() || durability.has_failed_power_cuts())
    };
    if !facts.iter().all(is_tried) {
        rows.push(untested(
            "what is promised of durability was not tried by cutting power",
            "; it is what mount options, caches and settings say",
        ));
    }
    if !facts.iter().any(|f| f.crash == Some(true)) {
        let says = match facts.iter().all(can_crash) {
            true => ": options => '{\"crash\": true}' measures it",
            false => ": the workload has no option \"crash\"",
        };
        rows.push(untested("recovery after a crash", says));
    }
    let f = facts.first().cloned().unwrap_or_default();
    let what = [
        f.workload.map(|workload| format!("workload {workload}")),
        f.clients
            .map(|clients| format_count(clients.max(0) as u64, "client")),
    ];
    let what: Vec<String> = what.into_iter().flatten().collect();
    if !what.is_empty() {
        let loads = what.join(" and ");
        rows.push(untested(
            format!("other loads and sizes than {loads} on this machine"),
            "",
        ));
    }
    rows.extend(options_not_tested(state, facts));
    rows.push(untested("ageing", ageing(facts)));
    if state.experiment.metric == "tps" {
        rows.push(untested(
            "latency at a fixed rate, which full speed does not show",
            ": give a rate for that",
        ));
    }
    if facts.iter().any(|f| f.power_loss_protected == Some(true)) {
        rows.push(untested(
            "that the device keeps its cache when power is lost",
            ": equally durable as you declared",
        ));
    }
    rows
}

/// Whether its workload takes the option `crash`.
fn can_crash(f: &Facts) -> bool {
    let workload = f.workload.as_deref().and_then(Workload::parse);
    workload.is_none_or(|workload| workload.takes_option("crash"))
}

/// Files of a database that has lived long are scattered, on a filesystem that was full before.
fn ageing(facts: &[Facts]) -> &'static str {
    match facts.iter().all(stored::is_made) {
        true => ": each run is on a filesystem that was just made",
        false => ": each run has data files that were just made",
    }
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
        let topic = format!("options of mkfs and mount of {filesystem}, which are as they come");
        let says = format!(
            "{topic}; targets => '{{{name}}}', factors => '{{\"mount_options\": [\"\", \"{option}\"]}}' compares one"
        );
        rows.push(Advice {
            topic: Some(topic),
            ..to_paste("not tested", says)
        });
    }
    rows
}

fn set_aside(answers: &[Row]) -> Vec<Advice> {
    let excluded = answers.iter().filter(|row| row.is_set_aside());
    let says = |row: &Row| format!("{}, which was set aside since its runs failed", row.target);
    excluded.map(|row| untested(says(row), "")).collect()
}

/// The codes of each target, and how to read what they mean.
fn findings(state: &State, answers: &[Row]) -> Vec<Advice> {
    let with = answers
        .iter()
        .filter_map(|row| Some((row, warning::in_words(&row.warnings)?)));
    let codes =
        with.map(|(row, warnings)| advice("finding", format!("{}: {warnings}", row.target)));
    let mut rows: Vec<Advice> = codes.collect();
    if !rows.is_empty() {
        let id = state.experiment.experiment_id;
        rows.push(advice("finding", format!(
            "in words, with figures: SELECT run_id, code, message FROM fsbench.finding JOIN fsbench.experiment_run USING (run_id) WHERE experiment_id = {id} AND severity = 'warning'"
        )));
    }
    rows
}

#[cfg(test)]
mod tests;
