//! Estimates of what a run needs, before it is made.

use serde_json::Value;

use crate::{
    spec::{OVERHEAD_WORKERS, Spec},
    units,
};

/// Worker slots and bytes that a run of a workload needs.
pub trait Estimate {
    /// Worker slots that a run takes at its peak.
    fn workers(&self, spec: &Spec) -> u32 {
        spec.clients + OVERHEAD_WORKERS
    }

    /// Bytes of the freshly loaded tables and keys.
    fn data_bytes(&self, _spec: &Spec) -> u64 {
        0
    }

    /// About the same at a scale, when nothing else is known of a run but the options that are given.
    fn bytes_at(&self, scale: u32, _options: &Value) -> u64 {
        units::bytes_for_scale(scale)
    }

    /// Bytes that a run adds to its tables, if it runs so many transactions.
    fn added_bytes(&self, spec: &Spec, _transactions: f64) -> u64 {
        // Dead rows, and pgbench's history.
        self.data_bytes(spec) / 4
    }

    /// Bytes of user data that one transaction changes; None for what changes no rows.
    fn changed_bytes(&self, _spec: &Spec) -> Option<u64> {
        None
    }

    /// How many rows at this scale all clients change, and what one of them is called, if each transaction changes one of them.
    fn contended_rows(&self, _scale: u32) -> Option<(u64, &'static str)> {
        None
    }
}
