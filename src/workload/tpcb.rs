//! pgbench's three built-in scripts on pgbench's tables.

mod maintenance;
mod script;

use pgfsbench_core::{
    run::row::Maintenance,
    spec::{Plan, Spec},
    units::ACCOUNTS,
    verification::Check,
    workload::tpcb::{self, Balances},
};
use serde_json::Value;

use super::{Found, Progress, WorkerContext, transactions::Transactions};
use crate::errors::{Fault, unreadable};

pub use script::TABLES;

/// The workload, whichever of the scripts it is.
pub struct Tpcb;

fn balances(found: &Value) -> Result<Balances, Fault> {
    serde_json::from_value(found.clone()).map_err(|e| unreadable("balances", e))
}

impl Transactions for Tpcb {
    type Transaction<'a> = script::Script;

    fn names(&self) -> &'static [&'static str] {
        &["tpcb", "tpcb-simple-update", "select-only"]
    }

    fn rows(&self, spec: &Spec) -> u64 {
        u64::from(spec.scale) * ACCOUNTS
    }

    fn made(&self, spec: &Spec) -> Vec<String> {
        let bulk = spec.options.maintenance.then_some(maintenance::BULK);
        let tables = TABLES.into_iter().chain(bulk);
        let with_key = |table: &str| [table.to_owned(), format!("{table}_pkey")];
        tables.flat_map(with_key).collect()
    }

    fn load(&self, spec: &Spec, progress: Progress) -> Result<(), Fault> {
        script::load(spec, progress)
    }

    fn after_load(&self, _spec: &Spec) -> &'static [&'static str] {
        &script::AFTER_LOAD
    }

    fn complete_load(&self, spec: &Spec) -> Result<(), Fault> {
        script::tell_size(spec)
    }

    fn question(&self, _spec: &Spec) -> &'static str {
        script::BALANCES
    }

    fn read_after_window(&self, spec: &Spec) -> Result<Option<String>, Fault> {
        script::balances_after_window(spec)
    }

    fn checks(&self, spec: &Spec, found: &Value, committed: &[u64]) -> Result<Vec<Check>, Fault> {
        let committed = committed.iter().sum();
        let script = tpcb::Script::of(spec);
        Ok(tpcb::checks(script, &balances(found)?, committed))
    }

    fn first_transaction(&self) -> &'static str {
        "UPDATE public.pgbench_branches SET bbalance = bbalance WHERE bid = 1"
    }

    fn compare(
        &self,
        spec: &Spec,
        found: &Value,
        committed: u64,
        _results: &Value,
    ) -> Result<Found, Fault> {
        let (script, balances) = (tpcb::Script::of(spec), balances(found)?);
        Ok(Found {
            transactions: script.writes().then_some(balances.history_rows as u64),
            checks: tpcb::checks(script, &balances, committed),
        })
    }

    fn maintenance(&self) -> &'static [&'static str] {
        &maintenance::STEPS
    }

    fn maintain(&self, context: &WorkerContext) -> Result<Vec<Maintenance>, Fault> {
        maintenance::carry_out(context.spec, |done| context.done(done))
    }
}
