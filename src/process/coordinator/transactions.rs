//! A run of transactions: from an empty database to what its clients and the server counted in the measured window.

mod result;

use std::{
    sync::atomic::Ordering::{Acquire, Relaxed, Release},
    time::Duration,
};

use pgfsbench_core::{
    balance::{self, Balances},
    board::ClientState,
    spec::Bound,
};
use serde_json::Value;

use super::{Run, epoch};
use crate::{
    board::{Phase, STOP_ALL, outcome::Outcome},
    clock,
    errors::{Fault, read_json},
    pg::shmem,
    process::{client, worker::Task},
    workload::{maintenance, pgbench},
};

/// How long the clients may take to tell the statistics what they did in the warm-up; after that the first of them tell more.
const REPORTS_NS: u64 = client::QUIET_NS / 10 * 9;

impl Run {
    /// From an empty database to the result of a workload of transactions.
    pub(super) fn carry_out_transactions(&mut self) -> Result<Outcome, Fault> {
        let load = |run: &mut Self| run.load().and_then(|()| run.vacuum());
        if !self.have_data(load)? {
            return self.leave_loaded();
        }
        self.have_sampler()?;
        self.have_clients()?;
        self.measure()?;
        // After a crash that is to come, they are compared then.
        let balances = match self.spec.options.crash {
            true => {
                self.end_statistics()?;
                None
            }
            false => Some(self.verify()?),
        };
        if self.spec.options.maintenance {
            self.maintain()?;
        }
        self.enter(Phase::Collect, 0);
        self.seen.load_ms = self.load_ms();
        let phases = self.phase_times();
        let slots = &shmem::clients()[..self.spec.clients as usize];
        self.store_transactions(slots, balances.as_ref(), phases)
    }

    fn load(&mut self) -> Result<(), Fault> {
        let rows = u64::from(self.spec.scale) * pgbench::ACCOUNTS;
        self.enter(Phase::Load, rows);
        self.have_done(Task::Load)
    }

    fn vacuum(&mut self) -> Result<(), Fault> {
        let steps = pgbench::VACUUM.len() + pgbench::PRIMARY_KEYS.len();
        self.enter(Phase::Vacuum, steps as u64);
        self.have_done(Task::Vacuum)
    }

    fn measure(&mut self) -> Result<(), Fault> {
        let work_database = self.entry.as_ref().map(|entry| entry.work_database_oid);
        self.seen.before_clients(&self.spec, work_database)?;
        self.fit_quick_look();
        let run = &self.board.run;
        let work_database = run.work_database.load(Acquire);
        let warmup_ns = self.spec.warmup_ms * 1_000_000;
        if warmup_ns == 0 {
            self.seen.surroundings.at_start();
            self.seen.at_start()?;
            self.begin_statistics()?;
            self.seen.mark_start(&mut self.checkpoints)?;
        } else {
            self.statements.begin(work_database)?;
        }
        let now = clock::now_ns();
        let start = now + warmup_ns;
        let end = match self.spec.bound {
            Bound::DurationMs(ms) => start + ms * 1_000_000,
            Bound::Transactions(_) => u64::MAX,
        };
        run.measure_start_ns.store(start, Relaxed);
        run.end_ns.store(end, Relaxed);
        self.seen.measured_from = epoch() + Duration::from_nanos(warmup_ns).as_secs_f64();
        self.seen.measure_start_ns = start;
        self.seen.measure_end_ns = Some(end).filter(|&end| end != u64::MAX);
        self.alarm_ns = start;
        if warmup_ns > 0 {
            self.enter(Phase::Warmup, self.spec.warmup_ms);
        }
        self.begin_sampling(start);
        run.go.store(1, Release);
        self.crew.wake();
        if warmup_ns > 0 {
            self.wait_until(|run| {
                Ok(run.crew.clients_are(ClientState::Done)? || clock::now_ns() >= start)
            })?;
        }
        let total = match self.spec.bound {
            Bound::DurationMs(ms) => ms,
            Bound::Transactions(n) => n * u64::from(self.spec.clients),
        };
        self.enter(Phase::Measure, total);
        if warmup_ns > 0 {
            self.seen.mark_start(&mut self.checkpoints)?;
            self.statements.begin_again(work_database)?;
            self.seen.at_start()?;
            self.wait_for_reports(start)?;
            self.statistics.begin(work_database)?;
            if self.crew.may_have_reported_again() {
                self.statistics.begin_late();
            }
            // It looks at all processes, and nothing is to be late for it.
            self.seen.surroundings.at_start();
        }
        self.alarm_ns = self.seen.measure_end_ns.unwrap_or(0);
        self.watch_seconds();
        self.wait_until(|run| {
            // Under a low rate the clients know before the end that nothing more is due.
            let over = clock::now_ns() >= run.seen.measure_end_ns.unwrap_or(0);
            Ok(run.crew.clients_are(ClientState::Done)? && over)
        })?;
        self.end_window()?;
        run.stop.store(STOP_ALL, Release);
        self.crew.wake();
        self.wait_for_sampler()?;
        self.seen.surroundings.after_clients();
        run.stop.store(0, Release);
        Ok(())
    }

    /// Waits until the clients have sent the statistics what they did in the warm-up. They do so before their first measured
    /// transaction, and not again for a second ([`client::QUIET_NS`]), so that what is read meanwhile is the start of the window.
    fn wait_for_reports(&mut self, start_ns: u64) -> Result<(), Fault> {
        let deadline = start_ns + REPORTS_NS;
        self.wait_until(|run| {
            run.alarm_ns = clock::now_ns() + 5_000_000;
            run.crew.clients_are(ClientState::Running)?;
            Ok(run.crew.have_reported() || clock::now_ns() >= deadline)
        })
    }

    fn verify(&mut self) -> Result<Balances, Fault> {
        self.enter(Phase::Verify, 0);
        // Before anybody works in the database again; the window is over, and is not prolonged by it.
        self.end_statistics()?;
        self.have_done(Task::Verify)?;
        let report = self.board.run.worker.report.get();
        if let Ok(report) = serde_json::from_str::<Value>(&report) {
            self.seen.surroundings.of_tables_at_end(&report["tables"]);
        }
        let balances: Balances = read_json("balances", &report)?;
        let committed = shmem::clients()[..self.spec.clients as usize]
            .iter()
            .map(|slot| slot.committed.load(Acquire))
            .sum();
        balance::verify(self.spec.workload, &balances, committed)?;
        Ok(balances)
    }

    /// After the balances were compared: the bulk load is not to be among the reasons why they could differ.
    fn maintain(&mut self) -> Result<(), Fault> {
        self.seen.before_maintenance();
        self.enter(Phase::Maintenance, maintenance::STEPS.len() as u64);
        self.have_done(Task::Maintain)?;
        let report = self.board.run.worker.report.get();
        self.seen.maintenance = read_json("steps", &report)?;
        Ok(())
    }
}
