//! The limit of a target: the resource or the wait that bounds its figures. Two equivalent targets may have shown only that limit.

use serde::Deserialize;

use crate::finding::is_saturated;
pub use crate::texts::answer::Limit;

/// Something waited for memory in such a share of the time.
const MEMORY: f64 = 0.1;
/// A device that is busy for such a share of the time has no more to give, or hardly.
const BUSY: f64 = 0.9;
/// Clients that wait for one thing in this share of their time are limited by it.
const WAITS: f64 = 0.4;

/// Share of each resource that was used in the windows of a target: means over its runs, 0 to 1. None: not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ResourceUse {
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

/// The limit of a target, if one resource or wait is clearly it.
pub fn limit(used: &ResourceUse, has_rate: bool) -> Option<Limit> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_up_is_the_limit() {
        let quiet = ResourceUse {
            idle: Some(0.5),
            device_busy: Some(0.3),
            memory_pressure: Some(0.0),
            locks: Some(0.1),
            flushes: Some(0.2),
            ..ResourceUse::default()
        };
        assert_eq!(limit(&quiet, false), None);
        assert_eq!(limit(&quiet, true), Some(Limit::Rate));
        assert_eq!(
            limit(&ResourceUse::default(), false),
            None,
            "nothing is known"
        );
        for (used, what) in [
            (
                ResourceUse {
                    idle: Some(0.01),
                    ..quiet
                },
                Limit::Processors,
            ),
            (
                ResourceUse {
                    device_busy: Some(0.97),
                    ..quiet
                },
                Limit::Device,
            ),
            (
                ResourceUse {
                    flushes: Some(0.7),
                    ..quiet
                },
                Limit::Flushes,
            ),
            (
                ResourceUse {
                    locks: Some(0.6),
                    flushes: Some(0.4),
                    device_busy: Some(0.95),
                    ..quiet
                },
                Limit::Locks,
            ),
            (
                ResourceUse {
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
}
