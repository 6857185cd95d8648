//! Results of a workload: their tables, the metric, and sentences about them.

use super::{Parameters, ResultTable};

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

    /// The figure that an experiment decides by, where that is not one of transactions.
    fn metric(&self) -> Option<&'static str> {
        None
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
