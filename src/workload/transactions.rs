//! Workloads whose clients run transactions: what they have in common, from the loaded tables to the stored result. One of them says what
//! its tables are, what a transaction is, and how the tables are verified.

pub mod client;
mod result;
mod run;
mod search;

use pgfsbench_core::{
    random::Stream, rows::Row, run::row::Maintenance, spec::Spec, workload::script::ScriptResult,
};
use serde_json::Value;

use super::{ClientContext, Found, WorkerContext, Workload, no_such_task};
use crate::{
    bench::{Run, Task},
    board::outcome::Outcome,
    clock,
    errors::{Fault, read_json},
    pg::{guc, plan::Connection, segment::Segment, sql, xact},
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
    /// Gives the session its rights and settings.
    fn begin_session(context: &ClientContext<'a>, spec: &Spec) -> Result<(), Fault> {
        client::become_owner_with_stable_plans(context, spec)
    }

    /// Prepares its statements. With SPI open.
    fn prepare(context: &ClientContext<'a>, spec: &Spec, spi: &Connection) -> Result<Self, Fault>;

    /// Its statements, with random values of that stream.
    fn run(&self, spi: &Connection, random: &mut Stream) -> Result<(), Fault>;

    /// One transaction with its COMMIT. An error that can be tried again, and is not, counts as a failure; others end the run.
    #[inline]
    fn transact(&mut self, random: &mut Stream, _is_measured: bool) -> Result<Ended, Fault> {
        xact::begin();
        let spi = Connection::open();
        self.run(&spi, random)?;
        spi.close();
        let began_ns = clock::now_ns();
        xact::commit();
        let end_ns = clock::now_ns();
        Ok(Ended {
            commit_ns: end_ns - began_ns,
            end_ns,
            is_committed: true,
        })
    }

    /// How long the client waits before its next transaction, where no rate says when that is due.
    #[inline]
    fn wait_ns(&mut self) -> u64 {
        0
    }

    /// Called with the latency of a measured transaction that `transact` has just carried out; None if it has failed.
    #[inline]
    fn measured(&mut self, _latency_ns: Option<u64>) {}
}

/// How a transaction has ended.
#[derive(Clone, Copy)]
pub struct Ended {
    /// How long its COMMIT took.
    pub commit_ns: u64,
    /// Monotonic clock of its end.
    pub end_ns: u64,
    /// Whether it counts as done, and not as failed.
    pub is_committed: bool,
}

/// Rows of a table of results.
pub struct ResultRows {
    pub table: &'static str,
    /// An array of JSON.
    pub rows: Value,
}

impl ResultRows {
    /// These rows.
    pub fn of<R: Row>(rows: &[R]) -> Self {
        Self {
            table: R::TABLE,
            rows: serde_json::json!(rows),
        }
    }
}

/// A workload of transactions.
pub trait Transactions: Sync {
    /// The transaction that a client runs.
    type Transaction<'a>: Transaction<'a>;

    /// Its names in SQL.
    fn names(&self) -> &'static [&'static str];

    /// In the coordinator, before anything is made: what the workload needs until the end of the run.
    fn begin(&self, _run: &mut Run) -> Result<Vec<Segment>, Fault> {
        Ok(Vec::new())
    }

    /// In the coordinator, when the clients have ended: results beside those of all transactions. `kept` is what `begin` has given.
    fn results(&self, _run: &Run, _kept: &[Segment]) -> Result<Vec<ScriptResult>, Fault> {
        Ok(Vec::new())
    }

    /// In the coordinator, when the clients have ended: rows of a table of the workload's own.
    fn own_results(&self, _run: &Run, _kept: &[Segment]) -> Option<ResultRows> {
        None
    }

    /// In the coordinator, after the task that loads.
    fn after_loading(&self, _run: &mut Run) -> Result<(), Fault> {
        Ok(())
    }

    /// In the coordinator, before the clients are launched.
    fn before_clients(&self, _run: &mut Run) -> Result<(), Fault> {
        Ok(())
    }

    /// In the coordinator, after the tables were verified: further checks. `found` is what they hold, and what is stored of it.
    fn check(&self, _run: &mut Run, _kept: &[Segment], _found: &mut Value) -> Result<(), Fault> {
        Ok(())
    }

    /// How long a transaction may go on after the end of the window before its statement is cancelled; None without a limit.
    fn grace_ns(&self) -> Option<u64> {
        None
    }

    /// Whether clients are sessions of the role that has asked.
    fn has_clients_of_role(&self) -> bool {
        false
    }

    /// Whether a task is done in a session of the role that has asked.
    fn is_of_role(&self, _task: Task) -> bool {
        false
    }

    /// A task of this workload alone.
    fn own_task(&self, task: Task, _context: &WorkerContext) -> Result<(), Fault> {
        Err(no_such_task(task))
    }

    /// Rows that are loaded and counted.
    fn rows(&self, spec: &Spec) -> u64;

    /// Creates and fills the tables in the current transaction. `progress` gets the rows so far.
    fn load(
        &self,
        spec: &Spec,
        progress: &mut dyn FnMut(u64) -> Result<(), Fault>,
    ) -> Result<(), Fault>;

    /// Statements that are run after loading, each in a transaction of its own.
    fn after_load(&self, spec: &Spec) -> &'static [&'static str];

    /// Checks the tables in the server that has loaded them. In a transaction of its own.
    fn check_loaded(&self) -> Result<(), Fault> {
        Ok(())
    }

    /// Reads what the tables hold, as JSON: `run_log.balances`.
    fn question(&self, spec: &Spec) -> &'static str;

    /// Reads the same after the measured window of a server that has not crashed: may leave out what no client has touched. In a transaction of its own.
    fn read_after_window(&self, spec: &Spec) -> Result<Option<String>, Fault> {
        sql::read(self.question(spec), &[])
    }

    /// Refuses their contents unless these follow from the committed transactions of each client.
    fn verify(&self, spec: &Spec, found: &Value, committed: &[u64]) -> Result<(), Fault>;

    /// After a crash: a transaction that writes and leaves everything as it is.
    fn first_transaction(&self) -> &'static str;

    /// After a crash, when all that is known is how many transactions were committed: what is there of them.
    /// `results` has the run's rows in the workload's own tables of results, by table.
    fn compare(
        &self,
        spec: &Spec,
        found: &Value,
        committed: u64,
        results: &Value,
    ) -> Result<Found, Fault>;

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
            VACUUM => {
                context.run_each(self.after_load(context.spec))?;
                xact::transaction(|| self.check_loaded())
            }
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
            other => self.own_task(other, context),
        }
    }

    fn has_clients_of_role(&self) -> bool {
        Transactions::has_clients_of_role(self)
    }

    fn is_of_role(&self, task: Task) -> bool {
        Transactions::is_of_role(self, task)
    }

    fn first_transaction(&self) -> &'static str {
        Transactions::first_transaction(self)
    }

    fn question(&self, spec: &Spec) -> &'static str {
        Transactions::question(self, spec)
    }

    fn compare(
        &self,
        spec: &Spec,
        answer: &Value,
        committed: u64,
        results: &Value,
    ) -> Result<Found, Fault> {
        Transactions::compare(self, spec, answer, committed, results)
    }
}
