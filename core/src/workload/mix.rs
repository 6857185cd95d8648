//! Transactions of several types: the clients of a run choose among them, and each type is counted apart.

mod counters;
mod cut_off;
mod options;
mod rows;

use crate::{
    spec::{Limit, ResultTable},
    sqlstate,
};

pub use counters::{CommandCounters, Counted, Shape, TypeCounters};
pub use cut_off::{CutOff, Order};
pub use options::{GRACE, GRACE_MS, grace_ns};
pub use rows::{CommandResult, Latencies, Results, TransactionFailure, TransactionResult};

/// Transactions of each type.
pub const TRANSACTION_RESULT: ResultTable = ResultTable::new("transaction_result", "position")
    .limits(&[
        ("committed", Limit::COUNT),
        ("failed", Limit::COUNT),
        ("late", Limit::COUNT),
        ("position", Limit::NUMBER),
        ("retried", Limit::COUNT),
        ("retries", Limit::COUNT),
        ("rolled_back", Limit::COUNT),
        ("transaction", Limit::NAME),
        ("weight", Limit::COUNT),
    ]);

/// Failures of each type, by SQLSTATE.
pub const TRANSACTION_FAILURE: ResultTable =
    ResultTable::new("transaction_failure", "position, sqlstate").limits(&[
        ("position", Limit::NUMBER),
        ("retries", Limit::COUNT),
        ("sqlstate", Limit::NAME),
        ("transactions", Limit::COUNT),
    ]);

/// The transaction types of a run, in the order of their positions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mix {
    pub types: Vec<Type>,
    /// Whether the workload knows which transactions it has rolled back as intended.
    pub counts_rollbacks: bool,
}

/// A transaction type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Type {
    /// Name in the tables of results.
    pub name: String,
    /// Weight by which clients choose it.
    pub weight: u32,
    /// Transactions that take longer are late.
    pub limit_ns: Option<u64>,
    /// Commands that are measured one by one; empty where only the whole transaction is.
    pub commands: Vec<Command>,
}

/// A command of a transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// The line on which it begins, from 1.
    pub line: u32,
    /// `SQL`, or the name of a meta command.
    pub kind: &'static str,
}

impl Mix {
    /// Sizes of the counters of so many clients.
    pub fn shape(&self, clients: u32) -> Shape {
        let commands: usize = self.types.iter().map(|type_| type_.commands.len()).sum();
        Shape {
            clients: clients as usize,
            types: self.types.len(),
            commands,
        }
    }
}

/// How a transaction was carried out to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Committed,
    /// The workload wanted it so.
    RolledBack,
}

/// The transaction that a client carries out next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Number of its type, from 0.
    pub of_type: usize,
    /// Wait before it, in nanoseconds: the time in which a user fills in a form. No part of its latency.
    pub wait_before_ns: u64,
    /// Wait after it, in nanoseconds: the time in which a user reads the answer. No part of its latency.
    pub wait_after_ns: u64,
}

/// Handling of transactions that fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tries {
    /// Tries of a transaction that fails with a retryable error, the first one included.
    pub most: u32,
    /// SQLSTATEs with which a transaction may fail although nothing is wrong: it is tried again, or counts as failed.
    pub retryable: &'static [&'static str],
    /// Whether transactions that fail with another error are counted, and do not end the run.
    pub continue_on_error: bool,
}

impl Tries {
    /// One try; other errors end the run.
    pub const ONCE: Self = Self {
        most: 1,
        retryable: Self::WITH_LOCK_TIMEOUTS,
        continue_on_error: false,
    };

    /// Errors after which pgbench tries a transaction again.
    pub const OF_PGBENCH: &[&str] = &[sqlstate::SERIALIZATION_FAILURE, sqlstate::DEADLOCK];

    /// Errors of workloads whose transactions are known: a lock timeout says nothing but that the lock was held.
    pub const WITH_LOCK_TIMEOUTS: &[&str] = &[
        sqlstate::SERIALIZATION_FAILURE,
        sqlstate::DEADLOCK,
        sqlstate::LOCK_NOT_AVAILABLE,
    ];

    /// Whether a transaction may fail with this error although nothing is wrong.
    pub fn is_retryable(&self, sqlstate: &str) -> bool {
        self.retryable.contains(&sqlstate)
    }

    /// Whether a transaction is tried once more, as pgbench decides it: not after its last try, not beyond the limit of latency, and not
    /// when the window is over.
    pub fn has_another(&self, failed: &FailedTry) -> bool {
        let is_late = failed
            .limit_ns
            .is_some_and(|limit| failed.elapsed_ns > limit);
        failed.retries + 1 < u64::from(self.most) && !is_late && !failed.is_over
    }
}

/// A try that has failed with a retryable error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedTry {
    /// Tries of the transaction before this one.
    pub retries: u64,
    /// Nanoseconds since the transaction was due.
    pub elapsed_ns: u64,
    /// Limit of latency of the run.
    pub limit_ns: Option<u64>,
    /// Whether the window is over.
    pub is_over: bool,
}

#[cfg(test)]
mod tests;
