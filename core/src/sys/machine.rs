//! The machine: kernel settings, processors' clocks, NUMA, clock source.

use std::collections::BTreeMap;

use super::{Tree, chosen, line, number};

/// Settings of virtual memory that decide when the kernel writes, and how much it keeps.
const VM: [&str; 17] = [
    "dirty_background_bytes",
    "dirty_background_ratio",
    "dirty_bytes",
    "dirty_expire_centisecs",
    "dirty_ratio",
    "dirty_writeback_centisecs",
    "dirtytime_expire_seconds",
    "laptop_mode",
    "min_free_kbytes",
    "nr_hugepages",
    "overcommit_kbytes",
    "overcommit_memory",
    "overcommit_ratio",
    "page-cluster",
    "swappiness",
    "vfs_cache_pressure",
    "zone_reclaim_mode",
];
const CPUS: &str = "/sys/devices/system/cpu";
const CLOCK: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
const HUGE_PAGES: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

/// Facts about the machine; None: unknown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Machine {
    /// Settings below `/proc/sys/vm`.
    pub vm: Option<BTreeMap<String, i64>>,
    /// Transparent huge pages: always, madvise or never.
    pub transparent_hugepage: Option<String>,
    /// The governors of all processors; several are separated by commas.
    pub governor: Option<String>,
    /// The slowest processor's clock now.
    pub mhz_min: Option<f64>,
    /// The fastest processor's clock now.
    pub mhz_max: Option<f64>,
    /// Nodes of memory.
    pub numa_nodes: Option<u32>,
    /// By what the kernel tells the time.
    pub clock_source: Option<String>,
    /// Times that processors were slowed down by heat since the machine started.
    pub throttled: Option<u64>,
}

/// Looks at the machine; the text of `/proc/cpuinfo` has the clocks of those whose drivers do not tell.
pub fn machine(tree: &dyn Tree) -> Machine {
    let vm: BTreeMap<String, i64> = VM
        .iter()
        .filter_map(|name| {
            Some((
                (*name).to_owned(),
                number(tree, &format!("/proc/sys/vm/{name}"))?,
            ))
        })
        .collect();
    let cpus: Vec<String> = numbered(tree, CPUS, "cpu");
    let of_each = |name: &str| -> Vec<String> {
        let paths = cpus.iter().map(|cpu| format!("{CPUS}/{cpu}/{name}"));
        paths.filter_map(|path| line(tree, &path)).collect()
    };
    let mut governors = of_each("cpufreq/scaling_governor");
    governors.sort();
    governors.dedup();
    let mhz = clocks(tree, &of_each("cpufreq/scaling_cur_freq"));
    let throttled: Vec<u64> = of_each("thermal_throttle/core_throttle_count")
        .iter()
        .filter_map(|count| count.parse().ok())
        .collect();
    let nodes = numbered(tree, "/sys/devices/system/node", "node").len() as u32;
    Machine {
        vm: (!vm.is_empty()).then_some(vm),
        transparent_hugepage: chosen(tree, HUGE_PAGES),
        governor: (!governors.is_empty()).then(|| governors.join(", ")),
        mhz_min: mhz.iter().copied().reduce(f64::min),
        mhz_max: mhz.iter().copied().reduce(f64::max),
        numa_nodes: (nodes > 0).then_some(nodes),
        clock_source: line(tree, CLOCK),
        throttled: (!throttled.is_empty()).then(|| throttled.iter().sum()),
    }
}

fn clocks(tree: &dyn Tree, khz: &[String]) -> Vec<f64> {
    if !khz.is_empty() {
        let khz = khz.iter().filter_map(|khz| khz.parse::<f64>().ok());
        return khz.map(|khz| khz / 1000.0).collect();
    }
    let text = tree.read(crate::proc::CPUINFO).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    lines
        .filter(|(name, _)| name.trim() == "cpu MHz")
        .filter_map(|(_, mhz)| mhz.trim().parse().ok())
        .filter(|mhz| *mhz > 0.0)
        .collect()
}

/// Names of that prefix with a number behind it.
fn numbered(tree: &dyn Tree, directory: &str, prefix: &str) -> Vec<String> {
    let is_numbered = |name: &String| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    let mut names = tree.list(directory);
    names.retain(is_numbered);
    names.sort();
    names
}

/// Words of the command line of the kernel that can hold a secret, by what their names contain.
const SECRETS: [&str; 5] = ["pass", "secret", "token", "key", "cred"];

/// The kernel's command line, without the values of what may be secrets, and without what was handed on to the first
/// process.
pub fn command_line(tree: &dyn Tree) -> Option<String> {
    let line = line(tree, "/proc/cmdline")?;
    let words = line.split(' ').take_while(|word| *word != "--");
    let shown = words.map(|word| match word.split_once('=') {
        Some((name, _))
            if SECRETS
                .iter()
                .any(|s| name.to_ascii_lowercase().contains(s)) =>
        {
            format!("{name}=(not stored)")
        }
        _ => word.to_owned(),
    });
    Some(shown.collect::<Vec<_>>().join(" "))
}
