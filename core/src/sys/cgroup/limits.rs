//! The limits: memory, processor time, processors that may be used, and I/O.

use serde::{Deserialize, Serialize};

use super::{Cgroups, IoLimit, Levels, Version, allowed::allowed, field, io, number};
use crate::{
    sys::{Tree, line},
    units::{format_bytes, format_count},
};

/// Version 1 shows "no limit" as a number that no machine has as memory. Which number depends on the size of a page.
const NO_LIMIT: u64 = 1 << 62;

/// The limits of a server's cgroups: of all visible levels the smallest. None: no such limit was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Memory with page cache, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Processor time as a number of processors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processors: Option<f64>,
    /// Processors on which the server may run, where these are not all of the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_processors: Option<u32>,
    /// I/O, for each device.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub io: Vec<IoLimit>,
}

impl Limits {
    /// The memory that the server can use of a machine with `total` bytes.
    pub fn usable_memory(&self, total: Option<u64>) -> Option<u64> {
        smaller(total, self.memory_bytes)
    }

    /// The processors that the server can keep busy on a machine with `total`; at least 1.
    pub fn usable_processors(&self, total: Option<u32>) -> Option<u32> {
        let quota = self.processors.map(|processors| processors.ceil() as u32);
        let usable = smaller(smaller(total, self.allowed_processors), quota)?;
        Some(usable.max(1))
    }
}

impl Limits {
    /// The limits without names of devices, for a page that strangers read.
    pub fn without_names(&self) -> Self {
        let io = self.io.iter().map(|limit| IoLimit {
            device: "a device".into(),
            name: None,
            ..limit.clone()
        });
        Self {
            io: io.collect(),
            ..self.clone()
        }
    }

    /// The limits in words; None where there are none.
    pub fn in_words(&self) -> Option<String> {
        let memory = self.memory_bytes;
        let memory = memory.map(|bytes| format!("{} of memory", format_bytes(bytes)));
        let quota = self.processors;
        let quota = quota.map(|number| match number == 1.0 {
            true => "the time of 1 processor".to_owned(),
            false => format!("the time of {} processors", plain(number)),
        });
        let allowed = self.allowed_processors;
        let allowed = allowed.map(|number| format_count(number.into(), "processor"));
        let io = self.io.iter().map(IoLimit::in_words);
        let parts = [memory, quota, allowed].into_iter().flatten().chain(io);
        let parts: Vec<String> = parts.collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// A number with as many digits as it needs.
pub fn plain(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn smaller<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

impl Cgroups {
    /// The limits now; None where no cgroup is visible.
    pub fn limits(&self, tree: &dyn Tree) -> Option<Limits> {
        let is_visible = [&self.memory, &self.cpu, &self.io]
            .into_iter()
            .any(Option::is_some);
        is_visible.then(|| Limits {
            memory_bytes: self.memory.as_ref().and_then(|l| memory_limit(tree, l)),
            processors: quotas(tree, self.cpu.as_ref())
                .map(|(_, quota)| quota)
                .reduce(f64::min),
            allowed_processors: allowed(tree).map(|allowed| allowed.processors),
            io: io::smallest(self.io_counters(tree)),
        })
    }
}

/// The smallest limit of memory.
fn memory_limit(tree: &dyn Tree, levels: &Levels) -> Option<u64> {
    let own = memory_limits(tree, levels).map(|(_, bytes)| bytes).min();
    let inherited = match levels.version {
        // It counts levels above the container's root, too.
        Version::One => tree
            .read(&format!("{}/memory.stat", levels.directories[0]))
            .and_then(|text| field(&text, "hierarchical_memory_limit"))
            .filter(|bytes| *bytes < NO_LIMIT),
        Version::Two => None,
    };
    smaller(own, inherited)
}

/// The levels that limit memory, each with its limit in bytes.
pub(super) fn memory_limits(
    tree: &dyn Tree,
    levels: &Levels,
) -> impl Iterator<Item = (usize, u64)> {
    let files: &[&str] = match levels.version {
        Version::One => &["memory.limit_in_bytes"],
        Version::Two => &["memory.max", "memory.high"],
    };
    let limit = move |directory: &String| {
        let limits = files
            .iter()
            .filter_map(|file| number(tree, directory, file));
        limits.filter(|bytes| *bytes < NO_LIMIT).min()
    };
    let all = levels.directories.iter().enumerate();
    all.filter_map(move |(level, directory)| Some((level, limit(directory)?)))
}

/// The levels that limit processor time, each with its limit as a number of processors.
pub(super) fn quotas(
    tree: &dyn Tree,
    levels: Option<&Levels>,
) -> impl Iterator<Item = (usize, f64)> {
    let all = levels.into_iter().flat_map(|levels| {
        let all = levels.directories.iter().enumerate();
        all.map(|(level, directory)| (levels.version, level, directory))
    });
    all.filter_map(|(version, level, directory)| Some((level, quota(tree, version, directory)?)))
}

fn quota(tree: &dyn Tree, version: Version, directory: &str) -> Option<f64> {
    let (quota, period) = match version {
        // -1 for none is no u64.
        Version::One => (
            number(tree, directory, "cpu.cfs_quota_us")?,
            number(tree, directory, "cpu.cfs_period_us")?,
        ),
        Version::Two => {
            let text = line(tree, &format!("{directory}/cpu.max"))?;
            let (quota, period) = text.split_once(' ')?;
            (quota.parse().ok()?, period.trim().parse().ok()?)
        }
    };
    (quota > 0 && period > 0).then(|| quota as f64 / period as f64)
}
