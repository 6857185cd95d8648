//! Advice: rows in reading order. The arithmetic stands in [`answer`](super::answer); this module turns it into advice, and says what it does not cover.

use serde::Deserialize;
use serde_json::Value;

mod choice;
mod lines;
mod stored;

use std::collections::BTreeMap;

use super::{
    answer::{self, Row, plain},
    plan::percent,
    state::State,
    steps,
};
use crate::{
    finding::not_durable,
    units::{format_bytes, format_count},
};

/// The finding that figures rose or fell within a window.
const DRIFT: &str = "drift";

/// Filesystems that lose committed data when power is lost, or that are not maintained for this use.
const FOR_COMPARISON_ONLY: &[&str] = &["ext2", "vfat", "exfat", "tmpfs", "jfs", "minix"];

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
    pub durability: Option<String>,
    pub virtualization: Option<String>,
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
    /// Checkpoints that WAL has forced, and all that began in a window: means over its runs.
    pub forced_checkpoints: Option<f64>,
    pub checkpoints: Option<f64>,
    /// Whether its server had data checksums.
    pub data_checksums: Option<bool>,
}

impl Facts {
    fn has_forced(&self) -> bool {
        self.forced_checkpoints.is_some_and(|forced| forced > 0.0)
    }

    fn why_not_durable(&self) -> Option<&str> {
        self.durability.as_deref().and_then(not_durable)
    }
}

/// The machine and the server that lines are to be pasted on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Here {
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
    /// Its subject: choice, why, figures, cost, not tested, finding, regime, mkfs, fstab, udev, sysctl or postgresql.conf.
    pub part: &'static str,
    /// In words, or a line to be pasted.
    pub says: String,
}

fn advice(part: &'static str, says: impl Into<String>) -> Advice {
    Advice {
        part,
        says: says.into(),
    }
}

/// The advice of an experiment.
pub fn rows(state: &State, said: &[Row], facts: &[Facts], here: &Here) -> Vec<Advice> {
    let metric = steps::declared(state);
    let choice = choice::choice(state, said, facts, metric);
    let mut rows = choice.advice;
    rows.extend(
        said.iter()
            .map(|row| advice("why", format!("{}: {}", row.target, row.says))),
    );
    rows.extend(answer::levels(state, metric).map(|says| advice("figures", says)));
    rows.extend(unlike_in_durability(state, facts));
    rows.extend(only_for_comparison(state, facts));
    rows.extend(
        regime(state, said, facts, here)
            .into_iter()
            .map(|says| advice("regime", says)),
    );
    rows.extend(not_tested(state, facts));
    rows.extend(set_aside(said));
    rows.extend(findings(state, said));
    if let Some(chosen) = choice.chosen {
        let of = facts.iter().find(|f| f.number == chosen);
        rows.extend(
            of.map(|facts| lines::lines(state, facts, here))
                .unwrap_or_default(),
        );
    }
    rows
}

/// The same of an experiment of another host, that somebody has brought here in a file: no line of it is to be pasted.
pub fn of_other_host(rows: Vec<Advice>, host: &str) -> Vec<Advice> {
    let mut rows = rows;
    rows.retain(|row| !lines::PARTS.contains(&row.part));
    // Nor what would look like one.
    for row in &mut rows {
        row.says = row.says.replace(char::is_control, " ");
    }
    rows.push(advice(
        "not tested",
        format!("this machine: it was measured on {host}, and imported from a file, of which no line is shown that could be pasted"),
    ));
    rows
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
fn less_durable(facts: &[Facts], number: usize) -> Option<&str> {
    let is_durable = |f: &Facts| {
        let words = f.durability.as_deref();
        words.is_some_and(|words| not_durable(words).is_none())
    };
    let own = facts.iter().find(|f| f.number == number)?;
    own.why_not_durable()
        .filter(|_| facts.iter().any(is_durable))
}

/// Why commits on all of them may be lost, as the first one says it.
fn nothing_durable(facts: &[Facts]) -> Option<&str> {
    let all = facts.iter().all(|f| f.why_not_durable().is_some());
    facts.first().filter(|_| all)?.why_not_durable()
}

/// Whether nobody should keep a database on the filesystem of that target.
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

/// In what circumstances it was measured: others may say something else.
fn regime(state: &State, said: &[Row], facts: &[Facts], here: &Here) -> Vec<String> {
    let Some(f) = facts.first() else {
        return Vec::new();
    };
    let mut parts = Vec::new();
    if let (Some(data), Some(memory)) = (f.data_bytes, f.memory_bytes) {
        parts.push(match fits(data, memory) {
            true => {
                "the data fit into memory, so that reads hardly reach the filesystem".to_owned()
            }
            false => format!(
                "the data are {} times as large as memory",
                percent(data / memory / 100.0)
            ),
        });
    }
    parts.extend(with_small_buffers(state, facts));
    parts.extend(forced_checkpoints(state, facts));
    parts.extend(unsteady(said));
    parts.extend(unlike_in_checksums(facts, here));
    if let Some(reason) = nothing_durable(facts) {
        parts.push(format!(
            "no commit of any of them was durable ({reason}): where commits are, they take longer, and may tell them apart differently"
        ));
    }
    if facts.iter().any(|f| f.kind.as_deref() == Some("image")) {
        parts.push("on images, that is, on top of another filesystem: a real device may tell them apart differently".into());
    }
    if let Some(kind) = f.virtualization.as_deref().filter(|kind| *kind != "none") {
        parts.push(format!(
            "in a virtual machine ({kind}), whose disk is what its host makes of it"
        ));
    }
    parts
}

/// Where WAL has forced checkpoints: who commits more has more of them, so that two targets do not work under the same ones.
fn forced_checkpoints(state: &State, facts: &[Facts]) -> Option<String> {
    let name = |f: &Facts| state.targets.get(f.number).map_or("", |t| t.name.as_str());
    let of = |f: &Facts| {
        let forced = f.forced_checkpoints.unwrap_or(0.0);
        let all = f.checkpoints.unwrap_or(0.0);
        format!("{} {} of {} a run", name(f), plain(forced), plain(all))
    };
    let each: Vec<String> = facts.iter().map(of).collect();
    facts.iter().any(Facts::has_forced).then(|| {
        format!(
            "WAL forced checkpoints before their time ({}): who commits more has more of them; with a larger max_wal_size, and room for that much WAL, all come by the clock",
            each.join(", ")
        )
    })
}

/// shared_buffers that are smaller than data which fit into memory.
fn small_buffers(f: &Facts) -> Option<f64> {
    let (data, memory) = f.data_bytes.zip(f.memory_bytes)?;
    let buffers = f.shared_buffers_bytes?;
    (fits(data, memory) && buffers < data).then_some(buffers)
}

/// In which runs of a target there is a warning of this code, in words.
fn runs_with<'a>(row: &'a Row, code: &str) -> Option<&'a str> {
    let warnings = row.warnings.as_deref().unwrap_or_default().split(", ");
    let mut named = warnings.map(|warning| warning.split_once(' ').unwrap_or((warning, "")));
    let (_, runs) = named.find(|(name, _)| *name == code)?;
    Some(match runs.trim_matches(['(', ')']) {
        "" => "all runs",
        runs => runs,
    })
}

/// Targets whose shared_buffers were smaller than their data: others may have had more, where that is what was compared.
fn with_small_buffers(state: &State, facts: &[Facts]) -> Option<String> {
    let name = |f: &Facts| state.targets.get(f.number).map_or("", |t| t.name.as_str());
    let small = facts.iter().filter_map(|f| Some((f, small_buffers(f)?)));
    let small: Vec<(&Facts, f64)> = small.collect();
    let (f, buffers) = small.first()?;
    let names: Vec<&str> = small.iter().map(|(f, _)| name(f)).collect();
    let of = match small.len() == facts.len() {
        true => String::new(),
        false => format!(" of {}", names.join(", ")),
    };
    Some(format!(
        "shared_buffers{of} ({}) are smaller than the data ({}): the server reads and writes its pages through the kernel's cache all the time, which with larger ones happens at checkpoints, and may give another ratio",
        format_bytes(*buffers as u64),
        format_bytes(f.data_bytes.unwrap_or(0.0) as u64)
    ))
}

/// Where figures rose or fell within the windows: what they are depends on how long these are.
fn unsteady(said: &[Row]) -> Option<String> {
    let each: Vec<String> = (said.iter())
        .filter_map(|row| {
            let runs = runs_with(row, DRIFT)?;
            Some(format!("{} in {runs}", row.target))
        })
        .collect();
    (!each.is_empty()).then(|| {
        format!(
            "tps rose or fell within the windows ({}), so that a longer warm-up or longer windows may give another ratio; the findings have the direction",
            each.join(", ")
        )
    })
}

/// Where all servers that were measured had data checksums and this one has none, or the other way round.
fn unlike_in_checksums(facts: &[Facts], here: &Here) -> Option<String> {
    let are_all = |on: bool| facts.iter().all(|f| f.data_checksums == Some(on));
    match here.data_checksums {
        false if are_all(true) => Some("the servers that were measured had data checksums, which this server has not: what they cost is in all figures; factors => '{\"data_checksums\": [true, false]}' beside one filesystem tells how much"),
        true if are_all(false) => Some("the servers that were measured had no data checksums, which this server has: what they cost is in no figure"),
        _ => None,
    }
    .map(str::to_owned)
}

/// The same in a few words, to stand behind a choice.
fn regime_in_short(said: &[&Row], facts: &[Facts]) -> String {
    let Some(f) = facts.first() else {
        return String::new();
    };
    let data = f.data_bytes.zip(f.memory_bytes);
    let data = data.map(|(data, memory)| match fits(data, memory) {
        true => "with data in memory".to_owned(),
        false => "with data larger than memory".to_owned(),
    });
    let durable = nothing_durable(facts).map(|reason| format!("with nothing durable: {reason}"));
    let has = |code: &str| said.iter().any(|row| runs_with(row, code).is_some());
    let disturbed = has("noisy_neighbour").then(|| "beside others on the machine".to_owned());
    // Where that is what was compared, the choice has its own.
    let is_small = facts.iter().all(|f| small_buffers(f).is_some());
    let small = is_small.then(|| "with shared_buffers smaller than the data".to_owned());
    let drift = has(DRIFT).then(|| "with tps that were not steady".to_owned());
    let is_on_images = facts.iter().any(|f| f.kind.as_deref() == Some("image"));
    let images = is_on_images.then(|| "on images".to_owned());
    let kind = f.virtualization.as_deref().filter(|kind| *kind != "none");
    let machine = kind.map(|kind| format!("in a virtual machine ({kind})"));
    let has_forced = facts.iter().any(Facts::has_forced);
    let forced = has_forced.then(|| "with checkpoints forced by WAL".to_owned());
    let parts: Vec<String> = [
        data, small, durable, forced, drift, images, machine, disturbed,
    ]
    .into_iter()
    .flatten()
    .collect();
    match parts.is_empty() {
        true => String::new(),
        false => format!(" (measured {})", parts.join(", ")),
    }
}

/// Whether data fit into memory, beside what else is there.
fn fits(data: f64, memory: f64) -> bool {
    data < memory * 0.8
}

fn not_tested(state: &State, facts: &[Facts]) -> Vec<Advice> {
    let mut rows = vec![advice(
        "not tested",
        "what is promised of durability was not tried by cutting power; it is what mount options, caches and settings say",
    )];
    if !facts.iter().any(|f| f.crash == Some(true)) {
        rows.push(advice(
            "not tested",
            "recovery after a crash: options => '{\"crash\": true}' measures it",
        ));
    }
    let f = facts.first().cloned().unwrap_or_default();
    let what = [
        f.workload.map(|workload| format!("workload {workload}")),
        f.clients
            .map(|clients| format_count(clients.max(0) as u64, "client")),
    ];
    let what: Vec<String> = what.into_iter().flatten().collect();
    if !what.is_empty() {
        rows.push(advice(
            "not tested",
            format!(
                "other loads and sizes than {} on this machine",
                what.join(" and ")
            ),
        ));
    }
    rows.extend(options_not_tested(state, facts));
    rows.push(advice(
        "not tested",
        "ageing: each run is on a filesystem that was just made",
    ));
    if state.experiment.metric == "tps" {
        rows.push(advice(
            "not tested",
            "latency at a fixed rate, which full speed does not show: give a rate for that",
        ));
    }
    if facts.iter().any(|f| f.power_loss_protected == Some(true)) {
        rows.push(advice(
            "not tested",
            "that the device keeps its cache when power is lost: equally durable as you declared",
        ));
    }
    rows
}

/// Where mkfs and mount were left alone on all of them.
fn options_not_tested(state: &State, facts: &[Facts]) -> Option<Advice> {
    let are_made = facts.iter().any(|f| f.mkfs_command.is_some());
    let has_options = |f: &Facts| {
        let of_mount = f.mount_options.as_deref().unwrap_or_default();
        f.has_mkfs_options || !of_mount.is_empty()
    };
    (are_made && !facts.iter().any(has_options)).then(|| {
        let name = state.targets.first().map_or("", |t| t.target.as_str());
        advice(
            "not tested",
            format!(
                "options of mkfs and mount: all are as they come; targets => '{{{name}}}', factors => '{{\"mount_options\": [\"\", \"noatime\"]}}' compares some"
            ),
        )
    })
}

fn set_aside(said: &[Row]) -> Vec<Advice> {
    let aside = said.iter().filter(|row| row.is_set_aside());
    let says = |row: &Row| format!("{}, which was set aside since its runs failed", row.target);
    aside.map(|row| advice("not tested", says(row))).collect()
}

/// The codes of each target, and how to read what they mean.
fn findings(state: &State, said: &[Row]) -> Vec<Advice> {
    let with = said
        .iter()
        .filter_map(|row| Some((row, row.warnings.as_ref()?)));
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
mod tests {
    use super::*;

    #[test]
    fn no_text_of_another_host_looks_like_a_line() {
        let of_a_file = "virtualization (kvm)\nmkfs|mkfs.xfs -f /dev/sda\u{9b}1m".to_owned();
        let rows = vec![
            advice("mkfs", "mkfs.xfs /dev/sdb".to_owned()),
            advice("regime", of_a_file),
        ];
        let shown = of_other_host(rows, "db1");
        assert_eq!(shown.len(), 2);
        assert_eq!(
            shown[0].says,
            "virtualization (kvm) mkfs|mkfs.xfs -f /dev/sda 1m"
        );
        assert!(shown[1].says.contains("measured on db1"));
    }
}
