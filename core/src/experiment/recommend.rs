//! Advice: rows in reading order. The arithmetic stands in [`answer`](super::answer); this module turns it into advice, and says what it does not cover.

use serde::Deserialize;
use serde_json::Value;

use super::{
    answer::Row,
    metric::Metric,
    plan::percent,
    state::{Goal, State},
    steps,
};
use crate::units::format_count;

/// Filesystems that lose committed data when power is lost, or that are not maintained for this use.
const FOR_COMPARISON_ONLY: &[&str] = &["ext2", "vfat", "exfat", "tmpfs", "jfs", "minix"];

/// The stored environment of a target's runs: that of the first run that counts.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct Facts {
    pub number: usize,
    pub kind: Option<String>,
    pub filesystem: Option<String>,
    pub mkfs_command: Option<String>,
    /// The options as they were given to the target.
    pub mount_options: Option<String>,
    pub durability: Option<String>,
    pub virtualization: Option<String>,
    pub data_bytes: Option<f64>,
    pub memory_bytes: Option<f64>,
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
}

/// A piece of advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// Its subject: choice, why, cost, not tested, finding, regime, mkfs, fstab, udev, sysctl or postgresql.conf.
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
pub fn rows(state: &State, said: &[Row], facts: &[Facts]) -> Vec<Advice> {
    let metric = steps::declared(state);
    let choice = choice(state, said, facts, metric);
    let mut rows = choice.advice;
    rows.extend(
        said.iter()
            .map(|row| advice("why", format!("{}: {}", row.target, row.says))),
    );
    rows.extend(unlike_in_durability(said));
    rows.extend(only_for_comparison(state, facts));
    rows.extend(regime(facts));
    rows.extend(not_tested(state, facts));
    rows.extend(findings(said));
    if let Some(chosen) = choice.chosen {
        let of = facts.iter().find(|f| f.number == chosen);
        rows.extend(of.map(|facts| lines(state, facts)).unwrap_or_default());
    }
    rows
}

struct Choice {
    advice: Vec<Advice>,
    chosen: Option<usize>,
}

impl Choice {
    fn none(says: String) -> Self {
        Self {
            advice: vec![advice("choice", says)],
            chosen: None,
        }
    }
}

fn choice(state: &State, said: &[Row], facts: &[Facts], metric: Metric) -> Choice {
    let e = &state.experiment;
    if !matches!(e.status.as_str(), "done" | "cancelled") {
        return Choice::none(format!(
            "no choice yet: the experiment is {}; what is said below is as of its last look",
            e.status
        ));
    }
    let withheld =
        |row: &&Row| row.verdict == "inconclusive" && row.reason.as_deref() != Some("set_aside");
    match e.goal {
        Goal::Best => best(said, facts, withheld),
        Goal::Baseline => against_baseline(state, said, metric),
    }
}

fn best(said: &[Row], facts: &[Facts], withheld: impl Fn(&&Row) -> bool) -> Choice {
    if let Some(row) = said.iter().find(withheld) {
        let why = row.reason.as_deref().unwrap_or("inconclusive");
        return Choice::none(format!("no choice: {}", in_words(why)));
    }
    let of = |verdicts: &[&str]| -> Vec<&Row> {
        said.iter()
            .filter(|row| verdicts.contains(&row.verdict.as_str()))
            .collect()
    };
    let names = |rows: &[&Row]| {
        let names: Vec<&str> = rows.iter().map(|row| row.target.as_str()).collect();
        names.join(", ")
    };
    let (open, alike) = (
        of(&["open"]),
        of(&["best", "leading", "equivalent to the best"]),
    );
    if !open.is_empty() || alike.is_empty() {
        let left: Vec<&Row> = alike.iter().chain(&open).copied().collect();
        let mut choice = Choice::none(format!(
            "no choice among {}: it is open which of them is best",
            names(&left)
        ));
        choice.advice.extend(open.iter().filter_map(|row| {
            let most = row.ratio.zip(row.low).map(|(_, low)| 1.0 - low)?;
            Some(advice(
                "cost",
                format!(
                    "{} is at most {} % worse than the one that leads",
                    row.target,
                    percent(most.max(0.0))
                ),
            ))
        }));
        return choice;
    }
    if let [only] = alike[..] {
        return Choice {
            advice: vec![advice(
                "choice",
                format!("{}: it is the best of these", only.target),
            )],
            chosen: Some(only.number),
        };
    }
    let preferred = preferred(&alike, facts);
    Choice {
        advice: vec![
            advice(
                "choice",
                format!(
                    "{}: these are equivalent, the difference does not count",
                    names(&alike)
                ),
            ),
            advice(
                "choice",
                format!(
                    "{} of these, by preference: the more durable first, then fewer stall seconds, then the first in the list",
                    preferred.target
                ),
            ),
        ],
        chosen: Some(preferred.number),
    }
}

/// Of those that are as good: the more durable first, then the most even, then the first.
fn preferred<'a>(alike: &[&'a Row], facts: &[Facts]) -> &'a Row {
    let key = |row: &&&Row| {
        let facts = facts.iter().find(|f| f.number == row.number);
        let is_less_durable = facts
            .and_then(|f| f.durability.as_deref())
            .is_some_and(|d| d.starts_with("not durable"));
        let stalls = facts.and_then(|f| f.stall_seconds).unwrap_or(0.0);
        (is_less_durable, (stalls * 10.0) as i64, row.number)
    };
    alike.iter().min_by_key(key).copied().unwrap_or(alike[0])
}

fn against_baseline(state: &State, said: &[Row], metric: Metric) -> Choice {
    let baseline = state.experiment.baseline.unwrap_or(0);
    let name = state.targets[baseline].name.as_str();
    let better = if metric.more_is_better {
        "more"
    } else {
        "less"
    };
    let is_better = |row: &&Row| row.verdict == better;
    let betters: Vec<&Row> = said.iter().filter(is_better).collect();
    let open = said.iter().filter(|row| row.verdict == "inconclusive");
    let bounds: Vec<Advice> = open
        .filter(|row| row.reason.as_deref() != Some("set_aside"))
        .filter_map(|row| {
            // The most that a change would gain.
            let gain = match metric.more_is_better {
                true => row.high? - 1.0,
                false => 1.0 - row.low?,
            };
            Some(advice(
                "cost",
                format!(
                    "staying with {name} instead of {} costs at most {} %",
                    row.target,
                    percent(gain.max(0.0))
                ),
            ))
        })
        .collect();
    let mut choice = match betters[..] {
        [only] => Choice {
            advice: vec![advice("choice", format!("{}: {}", only.target, only.says))],
            chosen: Some(only.number),
        },
        [] => {
            let withheld = said.iter().find(|row| row.verdict == "inconclusive");
            match withheld.and_then(|row| row.reason.as_deref()) {
                Some(why) => Choice::none(format!("no choice: {}", in_words(why))),
                None => Choice {
                    advice: vec![advice(
                        "choice",
                        format!(
                            "stay with {name}: nothing that was compared with it is better by what counts"
                        ),
                    )],
                    chosen: Some(baseline),
                },
            }
        }
        _ => {
            let names: Vec<&str> = betters.iter().map(|row| row.target.as_str()).collect();
            Choice::none(format!(
                "{} are better than {name}; among themselves they were not ranked: goal \"best\" does that",
                names.join(" and ")
            ))
        }
    };
    choice.advice.extend(bounds);
    choice
}

fn in_words(reason: &str) -> String {
    match reason {
        "too_short" => "the windows have fewer than two checkpoint cycles, and what is slow about a filesystem mostly comes with checkpoints (too_short); leave duration out, or give a cycle".into(),
        "max_blocks" => "it was still open after the last block (max_blocks); fsbench.extend_experiment() makes more".into(),
        "too_noisy" => "the runs differ so much among themselves that more of them would hardly decide it (too_noisy)".into(),
        "max_duration" => "the time was over before it was decided (max_duration); fsbench.extend_experiment() goes on".into(),
        "cancelled" => "it was cancelled before it was decided".into(),
        "noise_floor" => "two names of one target differ as much (noise_floor)".into(),
        other => other.to_owned(),
    }
}

fn unlike_in_durability(said: &[Row]) -> Vec<Advice> {
    let unlike = said.iter().filter(|row| row.same_durability == Some(false));
    unlike
        .map(|row| {
            advice(
                "cost",
                format!(
                    "{} is not as durable as what it is compared with ({}): what it gains may be paid with commits that are lost when power is",
                    row.target,
                    row.durability.as_deref().unwrap_or("unknown")
                ),
            )
        })
        .collect()
}

fn only_for_comparison(state: &State, facts: &[Facts]) -> Vec<Advice> {
    let is_such = |f: &&Facts| {
        f.filesystem
            .as_deref()
            .is_some_and(|fs| FOR_COMPARISON_ONLY.contains(&fs))
    };
    (facts.iter().filter(is_such))
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

fn regime(facts: &[Facts]) -> Vec<Advice> {
    let Some(f) = facts.first() else {
        return Vec::new();
    };
    let mut parts = Vec::new();
    if let (Some(data), Some(memory)) = (f.data_bytes, f.memory_bytes) {
        parts.push(match data < memory * 0.8 {
            true => {
                "the data fit into memory, so that reads hardly reach the filesystem".to_owned()
            }
            false => format!(
                "the data are {} times as large as memory",
                percent(data / memory / 100.0)
            ),
        });
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
        .into_iter()
        .map(|says| advice("regime", says))
        .collect()
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
    rows.push(advice(
        "not tested",
        format!(
            "other loads and sizes than {} on this machine",
            what.join(" and ")
        ),
    ));
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

fn findings(said: &[Row]) -> Vec<Advice> {
    let with = said
        .iter()
        .filter_map(|row| Some((row, row.warnings.as_ref()?)));
    with.map(|(row, warnings)| advice("finding", format!("{}: {warnings}", row.target)))
        .collect()
}

/// Lines to be pasted, by what is stored of the runs of the one that is chosen.
fn lines(state: &State, f: &Facts) -> Vec<Advice> {
    let mut rows = Vec::new();
    let made = matches!(f.kind.as_deref(), Some("device" | "image"));
    if made && let Some(command) = &f.mkfs_command {
        let mut words: Vec<&str> = command.split(' ').collect();
        if words.last().is_some_and(|word| word.starts_with('/')) {
            words.pop();
        }
        rows.push(advice(
            "mkfs",
            format!("{} /dev/disk/by-id/YOUR-DEVICE", words.join(" ")),
        ));
    }
    if made && let Some(filesystem) = f.filesystem.as_deref().filter(|fs| *fs != "zfs") {
        let options = f.mount_options.as_deref().unwrap_or("defaults");
        rows.push(advice(
            "fstab",
            format!("UUID=FROM-BLKID /var/lib/postgresql {filesystem} {options} 0 2"),
        ));
        rows.push(advice("fstab", "systemctl daemon-reload"));
    }
    for (name, value) in members(f.block_settings.as_ref()) {
        rows.push(advice(
            "udev",
            format!(
                "ACTION==\"add|change\", KERNEL==\"YOUR-DEVICE\", ATTR{{queue/{name}}}=\"{value}\""
            ),
        ));
    }
    for (name, value) in members(f.kernel_settings.as_ref()) {
        rows.push(advice("sysctl", format!("{name} = {value}")));
    }
    let is_for_the_benchmark =
        |name: &str| name == "checkpoint_timeout" && state.experiment.too_short;
    for (name, value) in members(f.settings.as_ref()) {
        if !is_for_the_benchmark(&name) {
            let value = crate::quoting::sql_literal(&value);
            rows.push(advice(
                "postgresql.conf",
                format!("ALTER SYSTEM SET {name} = {value};"),
            ));
        }
    }
    rows
}

fn members(object: Option<&Value>) -> Vec<(String, String)> {
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let members = object.and_then(Value::as_object).into_iter().flatten();
    members
        .map(|(name, value)| (name.clone(), text(value)))
        .collect()
}
