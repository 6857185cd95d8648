//! The crash that a run on a target may end with: its server is stopped with nothing written that a crash would not have
//! written, its filesystem unmounted and mounted again, and the server started. What it had committed has to be there.

use pgfsbench_core::{
    recovery_log::{self, Recovery, lsn_text},
    spec::{Act, HelperTask, Workload},
    verification::{self, Check, Moment},
    workload::measured_tables,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    remote::{Measured, read},
    server_setup::ServerSetup,
};
use crate::{
    bench::Run,
    board::Phase,
    clock,
    errors::{Fault, sqlstate},
    pg::{libpq::Connection, sql, xact},
    run::cancellation,
    store, workload,
};

/// Columns of the run in the server on the target, just before the crash.
#[derive(Deserialize)]
struct RemoteRunRow {
    committed: u64,
    since_window_ms: Option<f64>,
    work_database: String,
}

/// The row is here by now, and the clock is the same.
const BEFORE: &str = "SELECT jsonb_build_object('committed', transactions_total + transactions_outside, \
      'work_database', work_database, 'since_window_ms', 1000 * extract(epoch FROM \
        clock_timestamp() - (measured_from + measured_ms * interval '1 ms'))) \
    FROM jsonb_populate_record(NULL::fsbench.run_log, $1::jsonb->'run')";

/// After recovery the server goes on where the WAL ends that it has applied, with a checkpoint.
const REDO_END: &str = "SELECT redo_lsn FROM pg_control_checkpoint()";

/// A crash, and what came of it so far.
pub(super) struct Crashed {
    before: RemoteRunRow,
    /// Rows of the run in the workload's own tables of results, by table.
    results: Value,
    pub(super) recovery: Recovery,
    balances: Option<Value>,
    /// Checks of the data after it.
    checks: Vec<Check>,
    /// Why the first transaction after it could not be made.
    refused: Option<String>,
}

impl Crashed {
    /// One that is about to come after what was measured.
    pub fn of(workload: Workload, measured: Option<&Measured>) -> Result<Self, Fault> {
        let document = measured.map(|measured| &measured.document[..]);
        let before = xact::transaction(|| sql::read(BEFORE, &[document]))?;
        let before: RemoteRunRow = read(&before.unwrap_or_default())?;
        Ok(Self {
            recovery: Recovery {
                stopped_after_ms: before.since_window_ms,
                transactions_committed: before.committed,
                ..Recovery::default()
            },
            before,
            results: measured.map_or(Ok(Value::Null), |measured| results_of(workload, measured))?,
            balances: None,
            checks: Vec::new(),
            refused: None,
        })
    }

    /// In a transaction, after the run itself.
    pub fn store(&self, run_id: i64) -> Result<(), Fault> {
        store::insert_recovery(run_id, &self.recovery, self.balances.as_ref())?;
        store::insert_checks(run_id, Moment::Crash, &self.checks)
    }
}

impl Run {
    /// Crashes the server of the target. The window is measured: whatever goes wrong from here on is a result, too.
    pub(super) fn crash(
        &mut self,
        server: &mut ServerSetup,
        crashed: &mut Crashed,
    ) -> Result<(), Fault> {
        drop(server.connection.take());
        self.enter(Phase::Recovery, 0);
        let began_ns = clock::now_ns();
        server.server()?.crash(&mut || self.check_interrupts())?;
        crashed.recovery.stop_ms = Some(clock::ms(began_ns, clock::now_ns()));
        Ok(())
    }

    /// Notes a problem of a step of the crash, or after it, as a result. A cancelled run has none.
    pub(super) fn note_problem(
        &mut self,
        server: &ServerSetup,
        crashed: &mut Crashed,
        result: Result<(), Fault>,
    ) -> Result<(), Fault> {
        if let Err(fault) = result {
            if fault.is_cancel() || cancellation::is_cancelled(self.request) {
                return Err(fault);
            }
            crashed.recovery.problem = Some(in_words(server.server()?.explain(fault)));
        }
        if crashed.recovery.problem.is_some() {
            // That is the result.
            self.cursor.skip_to(Act::Collect);
        }
        Ok(())
    }

    /// Unmounts the filesystem, and mounts it again: nothing of it is in the page cache.
    pub(super) fn remount(&mut self, target: &str, crashed: &mut Crashed) -> Result<(), Fault> {
        let result = self.send_helper(target, HelperTask::Remount, &json!({}))?;
        let recovery = &mut crashed.recovery;
        recovery.unmounted = true;
        recovery.unmount_ms = result["unmount_ms"].as_f64();
        recovery.mount_ms = result["mount_ms"].as_f64();
        recovery.cache_cold = Some(!self.is_cached_below());
        Ok(())
    }

    /// Starts the server again, and has it make a transaction.
    pub(super) fn start_again(
        &mut self,
        server: &mut ServerSetup,
        crashed: &mut Crashed,
    ) -> Result<(), Fault> {
        let workload = workload::of(&self.spec)?;
        let recovery = &mut crashed.recovery;
        let programs = server.programs;
        let made = server.server()?;
        if let Some(role) = workload.role_of_checks(&self.spec) {
            let role = server.role_of_scripts.as_deref().unwrap_or(role);
            made.let_in(role, &programs.user)?;
        }
        let recovered = made.recover(
            &programs.bindir,
            &programs.user,
            &crashed.before.work_database,
            &server.preloaded_after_crash(),
            &mut || self.check_interrupts(),
        );
        let log = made.recovery_log();
        let lsn = |lsn: Option<u64>| lsn.map(lsn_text);
        recovery.recovery_ms = log.recovery_ms;
        recovery.redo_ms = log.redo_ms;
        recovery.redo_start_lsn = lsn(log.redo_start_lsn);
        recovery.redo_done_lsn = lsn(log.redo_done_lsn);
        recovery.server_log = log.lines.clone();
        let recovered = recovered?;
        let connection = match recovered.connection {
            Ok(connection) => server.connection.insert(connection),
            // It does not even have that database any more.
            Err(fault) => {
                recovery.balances_verified = Some(false);
                recovery.problem = Some(fault.detail.unwrap_or(fault.message));
                return Ok(());
            }
        };
        let first = self.ask_data(connection, workload.first_transaction())?;
        let now = clock::now_ns();
        recovery.first_transaction_ms = first.is_ok().then(|| clock::ms(recovered.started_ns, now));
        crashed.refused = first.err();
        let redo_end = recovery_log::parse_lsn(&self.ask(connection, REDO_END, &[])?);
        recovery.redo_end_lsn = lsn(redo_end);
        recovery.wal_replayed_bytes = log.replayed_bytes(redo_end);
        Ok(())
    }

    /// Looks whether everything is there that was committed before.
    pub(super) fn verify_again(
        &mut self,
        server: &mut ServerSetup,
        crashed: &mut Crashed,
    ) -> Result<(), Fault> {
        let workload = workload::of(&self.spec)?;
        if let Some(role) = workload.role_of_checks(&self.spec) {
            return self.check_again(server, crashed, role);
        }
        let found = self.ask_data(server.connected()?, workload.question(&self.spec))?;
        let recovery = &mut crashed.recovery;
        let different = match found {
            Err(problem) => Some(problem),
            Ok(text) => {
                let answer: Value = read(&text)?;
                let found = workload.compare(
                    &self.spec,
                    &answer,
                    crashed.before.committed,
                    &crashed.results,
                )?;
                recovery.transactions_found = found.transactions;
                crashed.balances = Some(answer);
                let different = verification::differences(&found.checks);
                crashed.checks = found.checks;
                different
            }
        };
        // Data that are all there, and that cannot be changed, are not what they were either.
        let problem = different.or(crashed.refused.take());
        // Without a check nothing was compared.
        let is_known = problem.is_some() || !crashed.checks.is_empty();
        recovery.balances_verified = is_known.then_some(problem.is_none());
        recovery.problem = problem;
        Ok(())
    }

    /// Makes the checks of the caller again, as the role that has run the scripts.
    fn check_again(
        &mut self,
        server: &ServerSetup,
        crashed: &mut Crashed,
        role: &str,
    ) -> Result<(), Fault> {
        let user = &server.programs.user;
        let role = server.role_of_scripts.as_deref().unwrap_or(role);
        let database = &crashed.before.work_database;
        let spec = self.spec.clone();
        let workload = workload::of(&spec)?;
        let mut check_interrupts = || self.check_interrupts();
        let mut session =
            (server.server()?).connect_as_role(role, user, database, &mut check_interrupts)?;
        let mut ask = |sql: &str| session.rows(sql, &mut check_interrupts);
        let made = workload.check_again(&spec, &mut ask)?;
        let different = verification::differences(&made.checks);
        crashed.checks = made.checks;
        let unreadable = match made.fault {
            Some(fault) if sqlstate::speaks_of_data(&fault.sqlstate) => Some(fault.message),
            // The error may come from the query as well as from the data.
            Some(fault) if different.is_none() => return Err(fault),
            _ => None,
        };
        let problem = different.or(unreadable).or(crashed.refused.take());
        crashed.recovery.balances_verified = Some(problem.is_none());
        crashed.recovery.problem = problem;
        Ok(())
    }

    /// An answer about the data, or what is wrong with them; everything else is an error.
    fn ask_data(
        &mut self,
        connection: &mut Connection,
        sql: &str,
    ) -> Result<Result<String, String>, Fault> {
        match self.ask_within(connection, sql, &[], None) {
            Ok(answer) => Ok(Ok(answer)),
            Err(fault) if sqlstate::speaks_of_data(&fault.sqlstate) => Ok(Err(fault.message)),
            Err(fault) => Err(fault),
        }
    }
}

/// Rows of a run in its workload's own tables of results, by table.
fn results_of(workload: Workload, measured: &Measured) -> Result<Value, Fault> {
    let mut results = json!({});
    for (table, slices) in measured_tables().iter().zip(&measured.tables) {
        if !workload.tables().contains(table) {
            continue;
        }
        let mut rows: Vec<Value> = Vec::new();
        for slice in slices {
            rows.append(&mut read(slice)?);
        }
        results[table.name] = rows.into();
    }
    Ok(results)
}

/// The error in words, with the output of programs and the log.
fn in_words(fault: Fault) -> String {
    match fault.detail {
        Some(detail) => format!("{}: {detail}", fault.message),
        None => fault.message,
    }
}
