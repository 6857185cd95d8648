//! Workloads whose clients run transactions: what they have in common, from the loaded tables to the stored result. One of them says what
//! its tables are, what a transaction is, and how the tables are verified.

mod client;
mod result;
mod run;
mod search;

use pgfsbench_core::{random::Stream, run::row::Maintenance, spec::Spec};
use serde_json::Value;

use super::{ClientContext, Found, WorkerContext, Workload, no_such_task};
use crate::{
    bench::{Run, Task},
    board::outcome::Outcome,
    errors::{Fault, read_json},
    pg::{guc, plan::Connection, sql, xact},
    watch::surroundings,
};

/// Create and load the tables.
const LOAD: Task = Task(1);
/// Vacuum and analyze them, and build their keys.
const VACUUM: Task = Task(2);
/// Read what they hold into the report.
const VERIFY: Task = Task(3);
/// Do what comes after the measured window, and report what each step took.
const MAINTAIN: Task = Task(4);

/// The transaction of one client, prepared. Clients are compiled for each kind of it: nothing is looked up while they run.
pub trait Transaction<'a>: Sized {
    /// Prepares its statements. With SPI open.
    fn prepare(context: &ClientContext<'a>, spec: &Spec, spi: &Connection) -> Result<Self, Fault>;

    /// Its statements, with random values of that stream.
    fn run(&self, spi: &Connection, random: &mut Stream) -> Result<(), Fault>;
}

/// A workload of transactions.
pub trait Transactions: Sync {
    /// The transaction that a client runs.
    type Transaction<'a>: Transaction<'a>;

    /// Its names in SQL.
    fn names(&self) -> &'static [&'static str];

    /// Rows that are loaded and counted.
    fn rows(&self, spec: &Spec) -> u64;

    /// Creates and fills the tables in the current transaction. `progress` gets the rows so far.
    fn load(
        &self,
        spec: &Spec,
        progress: &mut dyn FnMut(u64) -> Result<(), Fault>,
    ) -> Result<(), Fault>;

    /// Statements that are run after loading, each in a transaction of its own.
    fn after_load(&self) -> &'static [&'static str];

    /// Reads what the tables hold, as JSON: `run_log.balances`.
    fn question(&self) -> &'static str;

    /// Reads the same after the measured window of a server that has not crashed: may leave out what no client has touched. In a transaction of its own.
    fn read_after_window(&self, _spec: &Spec) -> Result<Option<String>, Fault> {
        sql::read(self.question(), &[])
    }

    /// Refuses their contents unless these follow from the committed transactions of each client.
    fn verify(&self, spec: &Spec, found: &Value, committed: &[u64]) -> Result<(), Fault>;

    /// After a crash: a transaction that writes and leaves everything as it is.
    fn first_transaction(&self) -> &'static str;

    /// After a crash, when all that is known is how many transactions were committed: what is there of them.
    fn compare(&self, spec: &Spec, found: &Value, committed: u64) -> Result<Found, Fault>;

    /// Steps of what is timed after the window, for those that have the option `maintenance`.
    fn maintenance(&self) -> &'static [&'static str] {
        &[]
    }

    /// Carries these out; gives rows of `fsbench.maintenance`.
    fn maintain(&self, _context: &WorkerContext) -> Result<Vec<Maintenance>, Fault> {
        Ok(Vec::new())
    }
}

impl<T: Transactions> Workload for T {
    fn names(&self) -> &'static [&'static str] {
        Transactions::names(self)
    }

    fn carry_out(&self, run: &mut Run) -> Result<Outcome, Fault> {
        run::carry_out(self, run)
    }

    fn take_part(&self, context: &ClientContext, spec: &Spec) -> Result<(), Fault> {
        client::run::<T::Transaction<'_>>(context, spec)
    }

    fn work(&self, task: Task, context: &WorkerContext) -> Result<(), Fault> {
        match task {
            LOAD => xact::transaction(|| self.load(context.spec, &mut |rows| context.done(rows))),
            VACUUM => context.run_each(self.after_load()),
            VERIFY => {
                let found = xact::transaction(|| {
                    // To compile it takes 0.3 s.
                    guc::set_locally("jit", "off")?;
                    self.read_after_window(context.spec)
                })?;
                let mut report: Value = read_json("answer", &found.unwrap_or_default())?;
                let tables = xact::transaction(surroundings::tables)?;
                report["tables"] = read_json("tables", &tables)?;
                context.report(&report.to_string());
                Ok(())
            }
            MAINTAIN => {
                let steps = self.maintain(context)?;
                context.report(&serde_json::json!(steps).to_string());
                Ok(())
            }
            other => Err(no_such_task(other)),
        }
    }

    fn first_transaction(&self) -> &'static str {
        Transactions::first_transaction(self)
    }

    fn question(&self) -> &'static str {
        Transactions::question(self)
    }

    fn compare(&self, spec: &Spec, answer: &Value, committed: u64) -> Result<Found, Fault> {
        Transactions::compare(self, spec, answer, committed)
    }
}
