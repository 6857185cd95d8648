//! The workloads: each has a folder with everything that it does in a server. Coordinator, clients and worker know of a workload what
//! [`Workload`] says, and no more; what can be decided without a server is in the folder of the same name in core.

mod client_context;
mod commit;
mod fsync;
mod io;
mod power_cut;
mod scan;
mod script;
mod tpcb;
mod tpcc_like;
mod transactions;
mod worker_context;

use std::{num::NonZeroU32, sync::atomic::Ordering::Acquire};

use pgfsbench_core::{spec::Spec, verification::Check};
use serde_json::Value;

use crate::{
    bench::{Run, Task},
    board::{RunArea, outcome::Outcome},
    errors::{Fault, sqlstate},
    pg::process::Database,
};

pub use client_context::ClientContext;
pub use worker_context::WorkerContext;

/// The registry.
static ALL: &[&dyn Workload] = &[
    &tpcb::Tpcb,
    &fsync::Fsync,
    &scan::Scans,
    &commit::Commit,
    &script::Script,
    &io::Io,
    &tpcc_like::TpccLike,
    &power_cut::PowerCut,
];

/// The work of a workload, in the coordinator, in each client, and in the worker.
pub trait Workload: Sync {
    /// Names in SQL, from the definitions in core.
    fn names(&self) -> &'static [&'static str];

    /// In the coordinator: from an empty database, or none, to the stored result.
    fn carry_out(&self, run: &mut Run) -> Result<Outcome, Fault>;

    /// In a client, from its start to its end. It is connected to the work database, if there is one.
    fn take_part(&self, context: &ClientContext, spec: &Spec) -> Result<(), Fault>;

    /// In the worker, with the owner's rights: one of the tasks that this workload has numbered.
    fn work(&self, task: Task, context: &WorkerContext) -> Result<(), Fault>;

    /// Whether clients are sessions of the role that has asked, without the owner's rights.
    fn has_clients_of_role(&self) -> bool {
        false
    }

    /// Whether a task is done in a session of the role that has asked, without the owner's rights.
    fn is_of_role(&self, _task: Task) -> bool {
        false
    }

    /// After a crash: a transaction that writes and leaves everything as it is.
    fn first_transaction(&self) -> &'static str {
        "SELECT 1"
    }

    /// After a crash: reads what is there, as JSON.
    fn question(&self, _spec: &Spec) -> &'static str {
        "SELECT '{}'"
    }

    /// After a crash: the role whose scripts were run on the server of the target, unless the copy of a user's server has another, if the caller has
    /// checks. They are made in a session of that role.
    fn role_of_checks(&self, _spec: &Spec) -> Option<&'static str> {
        None
    }

    /// After a crash: makes the checks of the caller. `ask` runs a query in a session of that role.
    fn check_again(&self, _spec: &Spec, _ask: Ask) -> Result<OwnChecks, Fault> {
        Ok(OwnChecks::default())
    }

    /// Compares that with what was committed. `results` has the run's rows in the workload's own tables of results, by table.
    fn compare(
        &self,
        _spec: &Spec,
        _answer: &Value,
        _committed: u64,
        _results: &Value,
    ) -> Result<Found, Fault> {
        Ok(Found::default())
    }
}

/// Tells how many rows are loaded; an error if the run was cancelled.
pub type Progress<'a> = &'a mut dyn FnMut(u64) -> Result<(), Fault>;

/// Runs a query; gives the value of its first row, and the number of its rows.
pub type Ask<'a> = &'a mut dyn FnMut(&str) -> Result<(Option<String>, u64), Fault>;

/// Checks of the caller.
#[derive(Default)]
pub struct OwnChecks {
    /// All of them, with their outcomes.
    pub checks: Vec<Check>,
    /// The error that ends the run: a check has failed, or could not be made.
    pub fault: Option<Fault>,
}

/// The result of the verification after a crash.
#[derive(Default)]
pub struct Found {
    /// Transactions that have left something; None where they leave nothing.
    pub transactions: Option<u64>,
    /// Checks of the data against the committed state.
    pub checks: Vec<Check>,
}

/// The workload of a run.
pub fn of(spec: &Spec) -> Result<&'static dyn Workload, Fault> {
    let name = spec.workload.as_str();
    let is_it = |workload: &&&dyn Workload| workload.names().contains(&name);
    ALL.iter().find(is_it).copied().ok_or_else(|| {
        Fault::new(
            sqlstate::INTERNAL,
            format!("nothing carries out workload \"{name}\""),
        )
    })
}

/// A task that a workload has not numbered.
fn no_such_task(task: Task) -> Fault {
    Fault::new(sqlstate::INTERNAL, format!("there is no task {}", task.0))
}

/// The work database, in a session of the role that has asked. A session without a role would be the bootstrap superuser's.
pub fn session_of_role(run: &RunArea) -> Result<Database, Fault> {
    let role = NonZeroU32::new(run.session_role.load(Acquire));
    let role = role.ok_or_else(|| {
        Fault::new(
            sqlstate::INTERNAL,
            "the role whose sessions the run needs is not known",
        )
    })?;
    Ok(Database::WorkAs(run.work_database.load(Acquire), role))
}
