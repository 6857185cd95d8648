//! The crash that a run on a target may end with: its server is stopped with nothing written that a crash would not have
//! written, its filesystem unmounted and mounted again, and the server started. What it had committed has to be there.

use pgfsbench_core::{
    recovery_log::{self, Recovery, lsn_text},
    spec::{Act, Errand},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Programs,
    remote::{Measured, read},
};
use crate::{
    bench::Run,
    board::Phase,
    clock,
    errors::{Fault, sqlstate},
    pg::{libpq::Connection, sql, xact},
    run::cancellation,
    store,
    target::{On, Target, server::TargetServer},
    workload,
};

/// The row of the run there, just before the crash.
#[derive(Deserialize)]
struct Before {
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

/// The result of a crash.
pub(super) struct Crashed {
    recovery: Recovery,
    balances: Option<Value>,
}

impl Crashed {
    /// In a transaction, after the run itself.
    pub fn store(&self, run_id: i64) -> Result<(), Fault> {
        store::insert_recovery(run_id, &self.recovery, self.balances.as_ref())
    }
}

impl Run {
    /// Crashes the server of the target, and has it recover. The window is measured: whatever goes wrong from here on is a result,
    /// too. Only who cancels the run wants none.
    pub(super) fn crash(
        &mut self,
        target: &Target,
        programs: &Programs,
        server: &TargetServer,
        connection: Connection,
        measured: &Measured,
    ) -> Result<Crashed, Fault> {
        drop(connection);
        let before = xact::transaction(|| sql::read(BEFORE, &[Some(&measured.document)]))?;
        let before: Before = read(&before.unwrap_or_default())?;
        let mut crashed = Crashed {
            recovery: Recovery {
                stopped_after_ms: before.since_window_ms,
                transactions_committed: before.committed,
                ..Recovery::default()
            },
            balances: None,
        };
        let recovered = self.crash_and_recover(target, programs, server, &before, &mut crashed);
        if let Err(fault) = recovered {
            if fault.is_cancel() || cancellation::is_cancelled(self.request) {
                return Err(fault);
            }
            crashed.recovery.problem = Some(in_words(server.explain(fault)));
        }
        if crashed.recovery.problem.is_some() {
            // That is the result.
            self.course.skip_to(Act::Collect);
        }
        Ok(crashed)
    }

    fn crash_and_recover(
        &mut self,
        target: &Target,
        programs: &Programs,
        server: &TargetServer,
        before: &Before,
        crashed: &mut Crashed,
    ) -> Result<(), Fault> {
        let recovery = &mut crashed.recovery;
        self.enter(Phase::Recovery, 0);
        let began = self.begin_step();
        self.step(Act::CrashServer);
        server.crash(&mut || self.look_around())?;
        recovery.stop_ms = Some(self.end_step("stop", began));
        let began = self.begin_step();
        let mounted = self.forget_filesystem(target, server)?;
        self.end_step("remount", began);
        recovery.unmounted = mounted.remounted;
        recovery.unmount_ms = mounted.unmount_ms;
        recovery.mount_ms = mounted.mount_ms;
        recovery.cache_cold = mounted.is_cold;
        let began = self.begin_step();
        self.step(Act::StartAgain);
        let recovered = server.recover(
            &programs.bindir,
            &programs.user,
            &before.work_database,
            &mut || self.look_around(),
        );
        let log = server.recovery_log();
        let lsn = |lsn: Option<u64>| lsn.map(lsn_text);
        recovery.recovery_ms = log.recovery_ms;
        recovery.redo_ms = log.redo_ms;
        recovery.redo_start_lsn = lsn(log.redo_start_lsn);
        recovery.redo_done_lsn = lsn(log.redo_done_lsn);
        recovery.server_log = log.lines.clone();
        let recovered = recovered?;
        let mut connection = match recovered.connection {
            Ok(connection) => connection,
            // It does not even have that database any more.
            Err(fault) => {
                recovery.balances_verified = Some(false);
                recovery.problem = Some(fault.detail.unwrap_or(fault.message));
                return Ok(());
            }
        };
        let workload = workload::of(&self.spec)?;
        let first = self.ask_data(&mut connection, workload.first_transaction())?;
        let now = clock::now_ns();
        recovery.first_transaction_ms = first.is_ok().then(|| clock::ms(recovered.started_ns, now));
        let redo_end = recovery_log::parse_lsn(&self.ask(&mut connection, REDO_END, &[])?);
        recovery.redo_end_lsn = lsn(redo_end);
        recovery.wal_replayed_bytes = log.replayed_bytes(redo_end);
        self.end_step("recovery", began);
        let began = self.begin_step();
        self.step(Act::VerifyAgain);
        let found = self.ask_data(&mut connection, workload.question())?;
        self.end_step("verify", began);
        let different = match found {
            Err(problem) => Some(problem),
            Ok(text) => {
                let answer: Value = read(&text)?;
                let found = workload.compare(&self.spec, &answer, before.committed)?;
                recovery.transactions_found = found.transactions;
                crashed.balances = Some(answer);
                found.different
            }
        };
        // Data that are all there, and that cannot be changed, are not what they were either.
        let problem = different.or(first.err());
        recovery.balances_verified = Some(problem.is_none());
        recovery.problem = problem;
        Ok(())
    }

    /// Has nothing of the filesystem in the page cache: unmounts and mounts it, if it was made for the run.
    fn forget_filesystem(
        &mut self,
        target: &Target,
        server: &TargetServer,
    ) -> Result<Mounted, Fault> {
        if !matches!(target.on, On::Made { .. }) {
            self.step(Act::ForgetAgain);
            server.sync_and_forget(&mut || self.look_around())?;
            return Ok(Mounted::default());
        }
        let result = self.send_helper(&target.name, Errand::Remount, &json!({}))?;
        if target.drop_caches {
            self.send_helper(&target.name, Errand::DropCaches, &json!({}))?;
        }
        Ok(Mounted {
            remounted: true,
            unmount_ms: result["unmount_ms"].as_f64(),
            mount_ms: result["mount_ms"].as_f64(),
            is_cold: Some(target.drop_caches || !self.is_cached_below()),
        })
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

/// The error in words, with the output of programs and the log.
fn in_words(fault: Fault) -> String {
    match fault.detail {
        Some(detail) => format!("{}: {detail}", fault.message),
        None => fault.message,
    }
}

/// The steps on the filesystem; None if a step was not made, or is not known.
#[derive(Default)]
struct Mounted {
    remounted: bool,
    unmount_ms: Option<f64>,
    mount_ms: Option<f64>,
    is_cold: Option<bool>,
}
