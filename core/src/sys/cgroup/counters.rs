//! Counters of the limits that are in force: how often each was reached.

use super::{
    AllowedFelt, Cgroups, Felt, Levels, MemoryFelt, QuotaFelt, Version,
    allowed::{Allowed, allowed},
    field,
    limits::{memory_limits, quotas},
    number,
};
use crate::{proc::parse_pressure, sys::Tree};

/// A level that limits memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MemoryCounters {
    level: usize,
    bytes: u64,
    reached: Option<u64>,
    killed: Option<u64>,
    waited_us: Option<u64>,
}

/// A level that limits processor time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct QuotaCounters {
    level: usize,
    processors: f64,
    periods: Option<u64>,
    stopped: Option<u64>,
    stopped_us: Option<u64>,
}

/// Counters at one moment, of the levels that limit something.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counters {
    memory: Vec<MemoryCounters>,
    quotas: Vec<QuotaCounters>,
    allowed: Option<Allowed>,
}

impl Cgroups {
    /// The counters now, but for I/O.
    pub fn counters(&self, tree: &dyn Tree) -> Counters {
        let memory = self.memory.iter().flat_map(|levels| {
            memory_limits(tree, levels).map(|(level, bytes)| memory(tree, levels, level, bytes))
        });
        let quotas = self.cpu.iter().flat_map(|levels| {
            quotas(tree, Some(levels))
                .map(|(level, quota)| processor_time(tree, levels, level, quota))
        });
        Counters {
            memory: memory.collect(),
            quotas: quotas.collect(),
            allowed: allowed(tree),
        }
    }
}

fn memory(tree: &dyn Tree, levels: &Levels, level: usize, bytes: u64) -> MemoryCounters {
    let directory = &levels.directories[level];
    let read = |file: &str| tree.read(&format!("{directory}/{file}"));
    let (reached, killed) = match levels.version {
        Version::One => {
            let killed = read("memory.oom_control").and_then(|text| field(&text, "oom_kill"));
            (number(tree, directory, "memory.failcnt"), killed)
        }
        Version::Two => {
            // Without those of the levels below, where the kernel tells them apart (Linux 5.2).
            let local = read("memory.events.local").or_else(|| read("memory.events"));
            let count = |name: &str| field(local.as_deref()?, name);
            let reached = match (count("max"), count("high")) {
                (Some(max), Some(high)) => max.checked_add(high),
                (max, high) => max.or(high),
            };
            let all = read("memory.events");
            (reached, all.and_then(|text| field(&text, "oom_kill")))
        }
    };
    MemoryCounters {
        level,
        bytes,
        reached,
        killed,
        waited_us: read("memory.pressure").and_then(|text| parse_pressure(&text).some),
    }
}

fn processor_time(
    tree: &dyn Tree,
    levels: &Levels,
    level: usize,
    processors: f64,
) -> QuotaCounters {
    let text = tree.read(&format!("{}/cpu.stat", levels.directories[level]));
    let count = |name: &str| field(text.as_deref()?, name);
    QuotaCounters {
        level,
        processors,
        periods: count("nr_periods"),
        stopped: count("nr_throttled"),
        stopped_us: match levels.version {
            Version::One => count("throttled_time").map(|ns| ns / 1000),
            Version::Two => count("throttled_usec"),
        },
    }
}

impl Counters {
    /// How far the limits were felt since `before`, `ns` nanoseconds ago.
    pub fn felt_since(&self, before: &Self, ns: u64) -> Felt {
        Felt {
            memory: self.memory_since(before, ns),
            quota: self.quota_since(before),
            allowed: self.allowed_since(before),
            io: None,
        }
    }

    /// The level that was reached most often; of several that were as often, the smallest.
    fn memory_since(&self, before: &Self, ns: u64) -> Option<MemoryFelt> {
        let each = self.memory.iter().filter_map(|now| {
            let before = before.memory.iter().find(|b| b.level == now.level)?;
            Some(MemoryFelt {
                bytes: now.bytes,
                reached: since(now.reached, before.reached),
                killed: since(now.killed, before.killed),
                waiting: since(now.waited_us, before.waited_us)
                    .filter(|_| ns > 0)
                    .map(|us| us as f64 * 1000.0 / ns as f64),
            })
        });
        each.min_by_key(|felt| (std::cmp::Reverse(felt.reached), felt.bytes))
    }

    /// The level that stopped its processes most often; of several the smallest.
    fn quota_since(&self, before: &Self) -> Option<QuotaFelt> {
        let each = self.quotas.iter().filter_map(|now| {
            let before = before.quotas.iter().find(|b| b.level == now.level)?;
            Some(QuotaFelt {
                processors: now.processors,
                periods: since(now.periods, before.periods),
                stopped: since(now.stopped, before.stopped),
                stopped_ms: since(now.stopped_us, before.stopped_us).map(|us| us as f64 / 1000.0),
            })
        });
        each.min_by(|a, b| {
            let by_count = b.stopped.cmp(&a.stopped);
            by_count.then(a.processors.total_cmp(&b.processors))
        })
    }

    fn allowed_since(&self, before: &Self) -> Option<AllowedFelt> {
        let (now, before) = (self.allowed?, before.allowed?);
        let shares = now.times.since(&before.times)?;
        Some(AllowedFelt {
            processors: now.processors,
            of: now.of,
            idle: (shares.idle + shares.iowait.unwrap_or_default()) / 100.0,
        })
    }
}

fn since(now: Option<u64>, before: Option<u64>) -> Option<u64> {
    now?.checked_sub(before?)
}
