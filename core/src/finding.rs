//! Findings: what can mislead about a run, each with a code, how bad it is, the figures, and what to do.
//!
//! [`judge`] is a pure function of [`RunFacts`]. Each rule looks at a few facts; a fact that is not known never makes a
//! finding, and never an error.

mod crash;
mod durability;
mod facts;
mod rules;
mod storage;
mod summary;
mod value;

pub use durability::{Class, Code, Device, Durability};
pub use facts::{
    CheckpointFacts, CrashFacts, FlushFacts, InstanceFacts, MachineFacts, Place, PowerCutFacts,
    RunFacts, ServerFacts, Statements, StorageFacts, WaitFacts, WalFacts, WalSyncFacts, XminHolder,
    XminHolderKind,
};
pub use rules::{device_reads, fits_memory, is_saturated, memory_for_data};
pub use storage::{Unreleased, not_released};
pub use summary::summary;
pub use value::not_positive;

pub use crate::finding_row::{
    Finding, GROUPS, Group, IMPORTED, NOT_POSITIVE, NOT_RELEASED, Severity, is_of_the_moment, sort,
    weight,
};

/// Transactions that hold back vacuum by at least this many ids are old.
pub const OLD_XMIN_AGE: i64 = 10_000;

/// All findings about a run but those about its workload's own results, which its workload makes; as [`sort`] sorts them.
pub fn judge(facts: &RunFacts) -> Vec<Finding> {
    let mut findings: Vec<Finding> = rules::ALL.iter().filter_map(|rule| rule(facts)).collect();
    sort(&mut findings);
    findings
}

/// The finding of that code that a run would have, by facts that are known beforehand.
pub fn foretell(facts: &RunFacts, code: &str) -> Option<Finding> {
    judge(facts).into_iter().find(|found| found.code == code)
}

#[cfg(test)]
mod tests;
