//! The least that a durable transaction can be: each client inserts one row, and commits. Nothing is read or updated, and no client
//! waits for another's row: the cost is the way of a commit record to the disk.
//!
//! Arguments that are not given are chosen as by all workloads of transactions.

mod rows;

use super::{syncs_and_commits, transactions};
use crate::{
    finding_row::Finding,
    refusal::Refusal,
    spec::{Act, Chosen, Estimate, Given, Names, Options, Parameters, Plan, Results, Spec, Step},
};

pub use rows::{Rows, checks};

/// Bytes that a row takes in the table: its header, a client, a number, padding, and its place on the page.
const ROW_BYTES: f64 = 44.0;
/// A client is an int, a number a bigint.
const CHANGED_BYTES: u64 = 4 + 8;

pub struct Commit;

impl Parameters for Commit {
    fn name(&self) -> &'static str {
        "commit"
    }

    fn parameters(&self) -> &'static [&'static str] {
        &[
            "clients",
            "duration",
            "transactions",
            "warmup",
            "rate",
            "latency_limit_ms",
            "settings",
            "keep",
        ]
    }

    fn shared_options(&self) -> &'static [&'static str] {
        &[
            "unlogged",
            "sample",
            "crash",
            "sustain",
            "wal_segments",
            "instances",
        ]
    }

    fn lacks(&self, _name: &str) -> (&'static str, &'static str) {
        (
            "It inserts rows into a table that is empty at first, and reads none.",
            "Leave it out.",
        )
    }

    fn choose(
        &self,
        given: &Given,
        options: &mut Options,
        _names: &mut Names,
    ) -> Result<Chosen, Refusal> {
        transactions::choose(given, options, u32::MAX)
    }
}

impl Estimate for Commit {
    fn added_bytes(&self, _spec: &Spec, transactions: f64) -> u64 {
        (transactions * ROW_BYTES) as u64
    }

    fn changed_bytes(&self, _spec: &Spec) -> Option<u64> {
        Some(CHANGED_BYTES)
    }
}

impl Plan for Commit {
    fn writes(&self) -> bool {
        true
    }

    /// Rows fill pages one after the other, so WAL is nearly all that a transaction writes.
    fn depends_on_checkpoints(&self) -> bool {
        false
    }

    fn leaves_dead_rows(&self) -> bool {
        false
    }

    fn reads_storage(&self) -> bool {
        false
    }

    fn steps(&self) -> &'static [Step] {
        const {
            &[
                Step::new(
                    Act::Load,
                    "create the table of the workload, which is empty",
                ),
                Step::new(Act::Vacuum, "VACUUM (ANALYZE) it"),
                Step::FILL_WAL,
                Step::CHECKPOINT,
                Step::LAUNCH,
                Step::new(Act::WarmUp, "an INSERT and a COMMIT, by all clients"),
                Step::new(Act::Measure, "an INSERT and a COMMIT, by all clients"),
                Step::new(
                    Act::Verify,
                    "compare the rows of each client with what it has committed",
                ),
            ]
        }
    }
}

impl Results for Commit {
    /// `commit` is the name of COMMIT alone.
    fn transaction(&self) -> &'static str {
        "insert"
    }

    fn when_saturated(&self) -> &'static str {
        "The processors were the limit, not the storage: use fewer clients, or a rate."
    }

    fn facts_query(&self) -> Option<&'static str> {
        Some(syncs_and_commits::QUERY)
    }

    fn findings(&self, facts: &str) -> serde_json::Result<Vec<Finding>> {
        syncs_and_commits::findings(facts)
    }

    fn verified_after_crash(&self) -> &'static str {
        "compare the rows that are there with what each client has committed"
    }
}
