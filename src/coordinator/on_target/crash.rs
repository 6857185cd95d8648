//! The crash that a run on a target may end with: its server is stopped with nothing written that a crash would not have
//! written, its filesystem unmounted and mounted again, and the server started. What it had committed has to be there.

use pgfsbench_core::{
    balance::Balances,
    crash::{self, lsn_text},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    super::Run,
    Programs,
    remote::{Measured, read},
};
use crate::{
    board::Phase,
    clock,
    errors::Fault,
    pg::libpq::Connection,
    store,
    target::{On, Target},
    target_server::TargetServer,
    workload::pgbench,
};

/// What is asked last before the crash.
#[derive(Deserialize)]
struct Before {
    committed: u64,
    since_window_ms: Option<f64>,
    work_database: String,
}

const BEFORE: &str = "SELECT jsonb_build_object('committed', transactions_total + transactions_outside, \
      'work_database', work_database, 'since_window_ms', 1000 * extract(epoch FROM \
        clock_timestamp() - (measured_from + measured_ms * interval '1 ms'))) \
    FROM fsbench.run_log WHERE run_id = $1::bigint";

/// A transaction that writes and leaves all sums as they are.
const FIRST_TRANSACTION: &str =
    "UPDATE public.pgbench_branches SET bbalance = bbalance WHERE bid = 1";

/// After recovery the server goes on where the WAL ends that it has applied, with a checkpoint.
const REDO_END: &str = "SELECT redo_lsn FROM pg_control_checkpoint()";

/// What came of a crash.
pub(super) struct Crashed {
    /// The row of fsbench.recovery.
    recovery: Value,
    balances: Option<Balances>,
}

impl Crashed {
    /// In a transaction, after the run itself.
    pub fn store(&self, run_id: i64) -> Result<(), Fault> {
        store::insert_recovery(run_id, &self.recovery, self.balances.as_ref())
    }
}

impl Run {
    /// Crashes the server of the target, and has it recover.
    pub(super) fn crash(
        &mut self,
        target: &Target,
        programs: &Programs,
        server: &TargetServer,
        mut connection: Connection,
        measured: &Measured,
    ) -> Result<Crashed, Fault> {
        let id = Some(measured.remote_id.as_str());
        let before: Before = read(&self.ask(&mut connection, BEFORE, &[id])?)?;
        drop(connection);
        self.enter(Phase::Recovery, 0);
        let began = self.begin_step();
        server.crash(&mut || self.look_around())?;
        let stop_ms = self.end_step("stop", began);
        let began = self.begin_step();
        let mounted = self.forget_filesystem(target, server)?;
        self.end_step("remount", began);
        let began = self.begin_step();
        let recovered = server.recover(
            &programs.bindir,
            &programs.user,
            &before.work_database,
            &mut || self.look_around(),
        )?;
        let mut first_transaction_ms = None;
        let mut redo_end = None;
        let found = match recovered.connection {
            // It does not even have that database any more.
            Err(fault) => Err(fault.detail.unwrap_or(fault.message)),
            Ok(mut connection) => {
                let first = self.ask_data(&mut connection, FIRST_TRANSACTION)?;
                let now = clock::now_ns();
                first_transaction_ms = first.is_ok().then(|| clock::ms(recovered.started_ns, now));
                let end = self.ask(&mut connection, REDO_END, &[])?;
                redo_end = crash::parse_lsn(&end);
                self.end_step("recovery", began);
                let began = self.begin_step();
                let found = self.ask_data(&mut connection, pgbench::BALANCES)?;
                self.end_step("verify", began);
                found
            }
        };
        let (balances, problem) = match found {
            Err(problem) => (None, Some(problem)),
            Ok(text) => {
                let balances: Balances = read(&text)?;
                let problem = crash::difference(self.spec.workload, &balances, before.committed);
                (Some(balances), problem)
            }
        };
        let transactions_found = balances
            .as_ref()
            .filter(|_| self.spec.workload.writes())
            .map(|balances| balances.history_rows as u64);
        let log = server.recovery_log();
        let lsn = |lsn: Option<u64>| lsn.map(lsn_text);
        Ok(Crashed {
            recovery: json!({
                "stopped_after_ms": before.since_window_ms, "stop_ms": stop_ms,
                "unmounted": mounted.remounted, "unmount_ms": mounted.unmount_ms, "mount_ms": mounted.mount_ms,
                "cache_cold": mounted.is_cold, "recovery_ms": log.recovery_ms, "redo_ms": log.redo_ms,
                "first_transaction_ms": first_transaction_ms,
                "redo_start_lsn": lsn(log.redo_start_lsn), "redo_done_lsn": lsn(log.redo_done_lsn),
                "redo_end_lsn": lsn(redo_end), "wal_replayed_bytes": log.replayed_bytes(redo_end),
                "transactions_committed": before.committed, "transactions_found": transactions_found,
                "balances_verified": problem.is_none(), "problem": problem, "server_log": log.lines,
            }),
            balances,
        })
    }

    /// Has nothing of the filesystem in the page cache: unmounts and mounts it, if it was made for the run.
    fn forget_filesystem(
        &mut self,
        target: &Target,
        server: &TargetServer,
    ) -> Result<Mounted, Fault> {
        if !matches!(target.on, On::Made { .. }) {
            server.sync_and_forget(&mut || self.look_around())?;
            return Ok(Mounted::default());
        }
        let result = self.ask_helper(&target.name, "remount", &json!({}))?;
        if target.drop_caches {
            self.ask_helper(&target.name, "drop_caches", &json!({}))?;
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
            Err(fault) if speaks_of_data(&fault) => Ok(Err(fault.message)),
            Err(fault) => Err(fault),
        }
    }
}

/// Corrupted pages and indexes, tables and files that are gone.
fn speaks_of_data(fault: &Fault) -> bool {
    ["XX001", "XX002", "42P01", "58P01"].contains(&fault.sqlstate.as_str())
}

/// What was done to the filesystem; None is: not known, or not done.
#[derive(Default)]
struct Mounted {
    remounted: bool,
    unmount_ms: Option<f64>,
    mount_ms: Option<f64>,
    is_cold: Option<bool>,
}
