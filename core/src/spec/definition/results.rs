//! Results of a workload: their tables, the metric, and sentences about them.

use serde_json::{Map, Value};

use super::{DocumentTable, OwnMetric, Parameters, ResultTable};
use crate::{finding_row::Finding, spec::RunArguments};

/// Results of a workload, and what is said about them.
pub trait Results: Parameters {
    /// The name of its transaction, beside `commit` and `service`, which are parts of it.
    fn transaction(&self) -> &'static str {
        self.name()
    }

    /// Advice for a run in which the processors were saturated.
    fn when_saturated(&self) -> &'static str {
        "The processors were the limit, not the storage: use data beyond RAM, fewer clients, or a rate."
    }

    /// Tables of results that only this workload has rows in, beside those of all.
    fn tables(&self) -> &'static [ResultTable] {
        &[]
    }

    /// The table of the texts to which its runs refer.
    fn document_table(&self) -> Option<DocumentTable> {
        None
    }

    /// Functions and procedures of the schema that serve this workload alone, and that operators may call.
    fn operator_routines(&self) -> &'static [&'static str] {
        &[]
    }

    /// Figures that only its runs have.
    fn metrics(&self) -> &'static [OwnMetric] {
        &[]
    }

    /// Whether `tps` counts its operations, though its clients run no transactions.
    fn counts_operations(&self) -> bool {
        false
    }

    /// The figure that an experiment decides by, where that is not one of transactions.
    fn metric(&self) -> Option<&'static str> {
        None
    }

    /// Names of the kinds of transactions that a run with these arguments measures; empty if all are alike.
    fn transaction_names(
        &self,
        _arguments: &RunArguments,
        _options: &Map<String, Value>,
    ) -> Vec<String> {
        Vec::new()
    }

    /// The query of the facts about its own results: one value, JSON, for the run $1. None if it has no such findings.
    fn facts_query(&self) -> Option<&'static str> {
        None
    }

    /// Findings about its own results by those facts. The error says that they cannot be read.
    fn findings(&self, _facts: &str) -> serde_json::Result<Vec<Finding>> {
        Ok(Vec::new())
    }

    /// The place of a run's details, in half a sentence.
    fn details(&self, _run_id: i64) -> String {
        "each second is in fsbench.sample".into()
    }

    /// How it is verified after a crash.
    fn verified_after_crash(&self) -> &'static str {
        "compare what is there with what was committed"
    }
}
