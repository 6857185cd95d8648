//! Workloads whose clients run transactions: what they have in common, from the loaded tables to the stored result. One of them says what
//! its tables are, what a transaction is, and how the tables are verified.

pub mod client;
mod result;
mod run;
mod search;

use pgfsbench_core::{
    random::Stream,
    rows::Row,
    run::row::Maintenance,
    spec::Spec,
    verification::Check,
    workload::mix::{Choice, Counted, Mix, Outcome, Tries},
};
use serde_json::Value;

use super::{
    Ask, ClientContext, Found, OwnChecks, Progress, WorkerContext, Workload, no_such_task,
};
use crate::{
    bench::{Run, Task},
    board::{Phase, outcome::Outcome as RunOutcome},
    clock,
    errors::{Fault, read_json, sqlstate},
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

/// The transactions of one client, prepared. Clients are compiled for each kind of it: nothing is looked up while they run.
///
/// The loop of [`client`] owns clock, rate, waits, tries and counters; this trait owns what a transaction does. For each transaction the
/// loop calls `choose` once, and `transact` for each try of it.
pub trait Transaction<'a>: Sized {
    /// Gives the session its rights and settings.
    fn begin_session(context: &ClientContext<'a>, spec: &Spec) -> Result<(), Fault> {
        client::become_owner_with_stable_plans(context, spec)
    }

    /// Prepares its statements. With SPI open. `counted` has the counters of this client; the loop counts the types.
    fn prepare(
        context: &ClientContext<'a>,
        spec: &Spec,
        spi: &Connection,
        counted: Counted<'static>,
    ) -> Result<Self, Fault>;

    /// Handling of transactions that fail.
    fn tries(&self) -> Tries {
        Tries::ONCE
    }

    /// Chooses the next transaction, and the waits around it.
    #[inline]
    fn choose(&mut self, _random: &mut Stream, _is_measured: bool) -> Choice {
        Choice::default()
    }

    /// The statements of one try, with random values of that stream: each try draws the same ones. Says how the transaction ends.
    fn run(
        &mut self,
        choice: Choice,
        spi: &Connection,
        random: &mut Stream,
    ) -> Result<Outcome, Fault>;

    /// One try of a transaction, to its end.
    #[inline]
    fn transact(
        &mut self,
        choice: Choice,
        random: &mut Stream,
        is_measured: bool,
    ) -> Result<Ended, Fault> {
        xact::begin();
        let spi = Connection::open();
        let outcome = self.run(choice, &spi, random)?;
        spi.close();
        let began_ns = clock::now_ns();
        match outcome {
            Outcome::Committed => xact::commit(),
            Outcome::RolledBack => xact::abort(),
        }
        let end_ns = clock::now_ns();
        self.ended(choice, outcome, is_measured);
        Ok(Ended {
            outcome,
            commit_ns: end_ns - began_ns,
            end_ns,
        })
    }

    /// Called when a try was carried out to its end, for counts of the workload's own.
    #[inline]
    fn ended(&mut self, _choice: Choice, _outcome: Outcome, _is_measured: bool) {}

    /// Durations of the commits of a transaction that has ended so, in nanoseconds.
    #[inline]
    fn commits<'s>(&'s self, ended: &'s Ended) -> &'s [u64] {
        std::slice::from_ref(&ended.commit_ns)
    }

    /// Rolls back the try that has failed with this error; gives the error as it is shown.
    fn roll_back(&mut self, fault: Fault) -> Fault {
        xact::abort();
        fault
    }
}

/// How a transaction was carried out to its end.
#[derive(Clone, Copy)]
pub struct Ended {
    pub outcome: Outcome,
    /// How long its COMMIT or ROLLBACK took.
    pub commit_ns: u64,
    /// Monotonic clock of its end.
    pub end_ns: u64,
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

    /// Names in SQL.
    fn names(&self) -> &'static [&'static str];

    /// In the coordinator, before anything is made: what the workload needs until the end of the run.
    fn begin(&self, _run: &mut Run) -> Result<Vec<Segment>, Fault> {
        Ok(Vec::new())
    }

    /// In the coordinator: the types that are counted apart; None where all transactions are of one type. `kept` is what `begin` has given.
    fn mix(&self, _spec: &Spec, _kept: &[Segment]) -> Result<Option<Mix>, Fault> {
        Ok(None)
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

    /// In the coordinator, after the tables were read: checks of the caller's, or those for which `kept` is needed. `found` is what the tables
    /// hold.
    fn own_checks(
        &self,
        _run: &mut Run,
        _kept: &[Segment],
        _found: &Value,
    ) -> Result<OwnChecks, Fault> {
        Ok(OwnChecks::default())
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

    /// Names in schema public of everything that the workload makes.
    fn made(&self, _spec: &Spec) -> Vec<String> {
        Vec::new()
    }

    /// Creates the tables in the current transaction, and fills them if there is one loader. `progress` gets the rows so far.
    fn load(&self, spec: &Spec, progress: Progress) -> Result<(), Fault>;

    /// Processes that fill the tables at the same time.
    fn loaders(&self, _spec: &Spec) -> u32 {
        1
    }

    /// Makes files as long as several loaders fill them. In the transaction after that of `load`: with wal_level minimal, the end of a transaction reads the
    /// pages of small tables that it has created into shared buffers, past which loaders write.
    fn reserve(&self, _spec: &Spec, _progress: Progress) -> Result<(), Fault> {
        Ok(())
    }

    /// Fills the share of one of several loaders, in a transaction of its own.
    fn load_share(&self, _spec: &Spec, _loader: u32, _progress: Progress) -> Result<(), Fault> {
        Ok(())
    }

    /// Statements that are run after loading, each in a transaction of its own; the longest first, if several processes load, which take one each.
    fn after_load(&self, spec: &Spec) -> &'static [&'static str];

    /// After these statements, in a transaction of its own.
    fn complete_load(&self, _spec: &Spec) -> Result<(), Fault> {
        Ok(())
    }

    /// Reads what checks of the loaded tables need, where there are such. In a transaction of its own.
    fn read_loaded(&self) -> Result<String, Fault> {
        Ok(String::new())
    }

    /// In the coordinator: checks of the loaded tables, from what `read_loaded` has read.
    fn checks_of_load(&self, _read: &str) -> Result<Vec<Check>, Fault> {
        Ok(Vec::new())
    }

    /// Reads what the tables hold, as JSON: `run_log.balances`.
    fn question(&self, spec: &Spec) -> &'static str;

    /// Reads the same after the measured window of a server that has not crashed: may leave out what no client has touched. In a transaction of its own.
    fn read_after_window(&self, spec: &Spec) -> Result<Option<String>, Fault> {
        sql::read(self.question(spec), &[])
    }

    /// Checks whether their contents follow from the committed transactions of each client. All outcomes are stored; a check that has
    /// failed ends the run.
    fn checks(&self, spec: &Spec, found: &Value, committed: &[u64]) -> Result<Vec<Check>, Fault>;

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

    /// After a crash: the role in whose session the caller's checks are made, if there are any.
    fn role_of_checks(&self, _spec: &Spec) -> Option<&'static str> {
        None
    }

    /// After a crash: makes the checks of the caller.
    fn check_again(&self, _spec: &Spec, _ask: Ask) -> Result<OwnChecks, Fault> {
        Ok(OwnChecks::default())
    }

    /// Steps of what is timed after the window, for those that have the option `maintenance`.
    fn maintenance(&self) -> &'static [&'static str] {
        &[]
    }

    /// Carries these out; gives rows of `fsbench.maintenance`.
    fn maintain(&self, _context: &WorkerContext) -> Result<Vec<Maintenance>, Fault> {
        Ok(Vec::new())
    }
}

/// Relations and types in schema public that have one of these names, and the schema itself if it is missing.
const TAKEN: &str = "SELECT CASE WHEN to_regnamespace('public') IS NULL THEN '' ELSE (SELECT string_agg(DISTINCT quote_ident(name), ', ') FROM ( \
      SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace('public') UNION ALL \
      SELECT typname FROM pg_type WHERE typnamespace = to_regnamespace('public')) AS t (name) WHERE name = ANY (string_to_array($1, ','))) END";

/// Refuses a database of a user's own in which the names of the workload's tables and indexes are taken. In a transaction.
fn check_free(names: &[String]) -> Result<(), Fault> {
    if names.is_empty() {
        return Ok(());
    }
    let (message, detail, hint) = match sql::read(TAKEN, &[Some(&names.join(","))])?.as_deref() {
        None => return Ok(()),
        Some("") => (
            "schema \"public\" does not exist in the copied database",
            "The workload makes its tables there.".to_owned(),
            "CREATE SCHEMA public before the server is copied, or use the workload \"script\".",
        ),
        Some(taken) => (
            "the tables of the workload collide with those of the copied database",
            format!("The schema public has these names already: {taken}."),
            "Use another database of the data, or the workload \"script\" on the tables that are there.",
        ),
    };
    Err(Fault::new(sqlstate::EXISTS_ALREADY, message)
        .detail(detail)
        .hint(hint))
}

impl<T: Transactions> Workload for T {
    fn names(&self) -> &'static [&'static str] {
        Transactions::names(self)
    }

    fn carry_out(&self, run: &mut Run) -> Result<RunOutcome, Fault> {
        run::carry_out(self, run)
    }

    fn take_part(&self, context: &ClientContext, spec: &Spec) -> Result<(), Fault> {
        let loaders = self.loaders(spec);
        match context.board.run.phase() {
            Phase::Load => context.load_share(loaders, |progress| {
                Transactions::load_share(self, spec, context.index, progress)
            }),
            Phase::Vacuum if loaders > 1 => context.run_shares(loaders, self.after_load(spec)),
            _ => client::run::<T::Transaction<'_>>(context, spec),
        }
    }

    fn work(&self, task: Task, context: &WorkerContext) -> Result<(), Fault> {
        match task {
            LOAD => {
                xact::transaction(|| {
                    if context.spec.stage.is_on_own() {
                        check_free(&self.made(context.spec))?;
                    }
                    self.load(context.spec, &mut |rows| context.done(rows))
                })?;
                match self.loaders(context.spec) {
                    1 => Ok(()),
                    _ => xact::transaction(|| {
                        self.reserve(context.spec, &mut |rows| context.done(rows))
                    }),
                }
            }
            VACUUM => {
                if self.loaders(context.spec) == 1 {
                    context.run_each(self.after_load(context.spec))?;
                }
                xact::transaction(|| self.complete_load(context.spec))?;
                context.report(&xact::transaction(|| self.read_loaded())?);
                Ok(())
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

    fn role_of_checks(&self, spec: &Spec) -> Option<&'static str> {
        Transactions::role_of_checks(self, spec)
    }

    fn check_again(&self, spec: &Spec, ask: Ask) -> Result<OwnChecks, Fault> {
        Transactions::check_again(self, spec, ask)
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
