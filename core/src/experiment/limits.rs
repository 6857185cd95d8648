//! The limit of a target: the resource or the wait that bounds its figures. Two equivalent targets may have shown only that limit.

use serde::Deserialize;

use crate::finding::is_saturated;

/// Something waited for memory in such a share of the time.
const MEMORY: f64 = 0.1;
/// A device that is busy for such a share of the time has no more to give, or hardly.
const BUSY: f64 = 0.9;
/// Clients that wait for one thing in this share of their time are limited by it.
const WAITS: f64 = 0.4;

/// Share of each resource that was used in the windows of a target: means over its runs, 0 to 1. None: not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Used {
    /// Number of the target.
    pub number: usize,
    /// Processors that did nothing, or waited for storage.
    pub idle: Option<f64>,
    /// The device had something to do.
    pub device_busy: Option<f64>,
    /// Something waited for memory.
    pub memory_pressure: Option<f64>,
    /// Clients waited for locks: of rows, or within the server, without those for WAL to be written.
    pub locks: Option<f64>,
    /// Clients waited for WAL to be written and flushed.
    pub flushes: Option<f64>,
}

/// The resource, or the wait, that limited a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The rate that was asked for.
    Rate,
    /// The processors.
    Processors,
    /// Memory.
    Memory,
    /// Locks.
    Locks,
    /// Throughput of the device.
    Device,
    /// Latency of the device's flushes.
    Flushes,
}

impl Limit {
    /// In words, after "limited by".
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rate => "the rate that was asked for",
            Self::Processors => "the processors",
            Self::Memory => "memory",
            Self::Locks => "locks",
            Self::Device => "what the device can do",
            Self::Flushes => "the time that the device takes to flush",
        }
    }
}

/// The limit of a target, if one resource or wait is clearly it.
pub fn limit(used: &Used, has_rate: bool) -> Option<Limit> {
    let above = |share: Option<f64>, limit: f64| share.is_some_and(|share| share >= limit);
    if has_rate {
        return Some(Limit::Rate);
    }
    if above(used.memory_pressure, MEMORY) {
        Some(Limit::Memory)
    } else if used.idle.is_some_and(is_saturated) {
        Some(Limit::Processors)
    } else if above(used.locks, WAITS) {
        // Who holds the lock may wait for the device; but more clients would not bring more to do to it.
        Some(Limit::Locks)
    } else if above(used.device_busy, BUSY) {
        Some(Limit::Device)
    } else if above(used.flushes, WAITS) {
        Some(Limit::Flushes)
    } else {
        None
    }
}

/// The limits of two targets, in words. None where neither is known.
pub fn of_both(one: Option<Limit>, other: Option<Limit>, names: [&str; 2]) -> Option<String> {
    match (one, other) {
        (Some(one), Some(other)) if one == other => {
            Some(format!("both limited by {}", one.as_str()))
        }
        (None, None) => None,
        _ => {
            let parts = [one, other].into_iter().zip(names);
            let parts: Vec<String> = parts
                .filter_map(|(limit, name)| Some(format!("{name} limited by {}", limit?.as_str())))
                .collect();
            Some(parts.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_up_is_the_limit() {
        let quiet = Used {
            idle: Some(0.5),
            device_busy: Some(0.3),
            memory_pressure: Some(0.0),
            locks: Some(0.1),
            flushes: Some(0.2),
            ..Used::default()
        };
        assert_eq!(limit(&quiet, false), None);
        assert_eq!(limit(&quiet, true), Some(Limit::Rate));
        assert_eq!(limit(&Used::default(), false), None, "nothing is known");
        for (used, what) in [
            (
                Used {
                    idle: Some(0.01),
                    ..quiet
                },
                Limit::Processors,
            ),
            (
                Used {
                    device_busy: Some(0.97),
                    ..quiet
                },
                Limit::Device,
            ),
            (
                Used {
                    flushes: Some(0.7),
                    ..quiet
                },
                Limit::Flushes,
            ),
            (
                Used {
                    locks: Some(0.6),
                    flushes: Some(0.4),
                    device_busy: Some(0.95),
                    ..quiet
                },
                Limit::Locks,
            ),
            (
                Used {
                    memory_pressure: Some(0.2),
                    idle: Some(0.0),
                    ..quiet
                },
                Limit::Memory,
            ),
        ] {
            assert_eq!(limit(&used, false), Some(what), "{used:?}");
        }
    }

    #[test]
    fn it_is_said_once_where_it_is_the_same() {
        let names = ["xfs", "ext4"];
        let (device, locks) = (Some(Limit::Device), Some(Limit::Locks));
        assert_eq!(
            of_both(device, device, names).unwrap(),
            "both limited by what the device can do"
        );
        assert_eq!(
            of_both(device, locks, names).unwrap(),
            "xfs limited by what the device can do, ext4 limited by locks"
        );
        assert_eq!(
            of_both(None, locks, names).unwrap(),
            "ext4 limited by locks"
        );
        assert_eq!(of_both(None, None, names), None);
    }
}
