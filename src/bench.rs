//! A run that is being carried out, and what every workload's run is made of: its work database and phases, the processes that it has,
//! windows that it opens for them, and what is seen and stored of it. A workload puts these together; the coordinator begins and
//! ends it.

pub mod finish;
mod phases;
mod run_processes;
mod steps;
mod wal;
pub mod windows;
mod work_database;

use std::{
    sync::atomic::Ordering::{Acquire, Release},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use pgfsbench_core::{
    board::{ClientSlot, Sample},
    checkpoint::Window,
    run::plan::PlanCursor,
    spec::{Bound, Spec},
};
use serde_json::Value;

pub use phases::{PhaseTime, Span};
pub use run_processes::{QUIET_NS, RunProcesses, Task};

use crate::{
    board::{Board, Phase, Request},
    clock,
    errors::{Fault, sqlstate},
    host::flush_probe,
    pg::{process, shmem, xact},
    run::{cancellation, cleanup, journal::Entry, preflight},
    watch::{checkpoint_watch, observations::Observations, statements, statistics},
};

/// How often the coordinator looks around if no process wakes it.
pub const LOOK: Duration = Duration::from_millis(250);
const SECOND: Duration = Duration::from_secs(1);
/// Milliseconds for the second probe of flushes, verify, collect and cleanup of the quick look.
const QUICK_END_MS: u64 = 5_000 + flush_probe::PATIENCE.as_millis() as u64;
/// The shortest measured window that a quick look is cut down to.
const QUICK_MEASURE_MS: u64 = 5_000;

/// A run that is being carried out.
pub struct Run {
    pub board: &'static Board,
    pub request: &'static Request,
    pub index: u32,
    /// The specification; the quick look is cut to the time that is left.
    pub spec: Spec,
    pub run_id: i64,
    /// The extension that this run belongs to: OID of its pg_extension row.
    pub extension: u32,
    pub processes: RunProcesses,
    pub started_ns: u64,
    pub phases: Vec<PhaseTime>,
    /// Plan of the run, and the next step.
    pub cursor: PlanCursor,
    pub entry: Option<Entry>,
    /// The request to the helper and its result, for a run on a filesystem of its own.
    pub storage: Option<Value>,
    /// The phases of a run that has failed on another server, as that server has stored them.
    pub remote_phases: Option<Value>,
    /// Whether another server has said how the run ended, which nothing here knows better.
    pub remote_has_ended: bool,
    /// Phases of a run on a target outside the run of the server there.
    pub spans: Vec<Span>,
    pub looked_at_room: Instant,
    /// When the next second of the window is over; None outside of it.
    pub next_second: Option<Instant>,
    /// When the measured window was over; None before.
    pub window_ended_ns: Option<u64>,
    /// When something is to be done without anybody waking this process; 0 for nothing.
    pub alarm_ns: u64,
    /// The server's checkpoints meanwhile.
    pub checkpoints: checkpoint_watch::Watch,
    /// The server's statistics meanwhile.
    pub statistics: statistics::Watch,
    /// The statements of the workload.
    pub statements: statements::Watch,
    /// The samples that the sampler has sent so far.
    pub samples: Vec<Sample>,
    /// Facts that were gathered while the run was on.
    pub observed: Observations,
    /// The coordinator's service to others between two looks.
    between_looks: fn(&Self) -> Result<(), Fault>,
}

impl Run {
    /// The run of a request, with the request's area in shared memory.
    pub fn new(
        board: &'static Board,
        request: &'static Request,
        index: u32,
        between_looks: fn(&Self) -> Result<(), Fault>,
    ) -> Result<Self, Fault> {
        let spec = board.specification(request)?;
        // On a target, the clients are those of another server.
        let clients = if spec.is_here() { spec.clients } else { 0 };
        let slots = shmem::clients()
            .get(..clients as usize)
            .ok_or_else(|| Fault::new(sqlstate::INTERNAL, "more clients than slots"))?;
        let serial = board.run.next_serial();
        board.run.reset();
        // All of them, since progress adds up all slots.
        shmem::clients().iter().for_each(ClientSlot::reset);
        board.run.request.store(index + 1, Release);
        Ok(Self {
            board,
            request,
            index,
            spec,
            run_id: request.run_id.load(Acquire),
            extension: request.extension.load(Acquire),
            processes: RunProcesses::new(board, serial, slots),
            started_ns: clock::now_ns(),
            phases: Vec::new(),
            cursor: PlanCursor::default(),
            entry: None,
            storage: None,
            remote_phases: None,
            remote_has_ended: false,
            spans: Vec::new(),
            looked_at_room: Instant::now(),
            next_second: None,
            window_ended_ns: None,
            alarm_ns: 0,
            checkpoints: checkpoint_watch::Watch::default(),
            statistics: statistics::Watch::default(),
            statements: statements::Watch::default(),
            samples: Vec::new(),
            observed: Observations::default(),
            between_looks,
        })
    }

    /// The slots of its clients.
    pub fn client_slots(&self) -> &'static [ClientSlot] {
        &shmem::clients()[..self.spec.clients as usize]
    }

    /// Has the worker do a task, and waits until it has.
    pub fn have_done(&mut self, task: Task) -> Result<(), Fault> {
        self.processes.launch_worker(task)?;
        self.wait_until(|run| run.processes.worker_is_done())
    }

    /// The run's own CHECKPOINT, by which it is also seen whether the server reports them.
    pub fn have_own_checkpoint(&mut self) -> Result<(), Fault> {
        self.checkpoints
            .before_own(&self.board.checkpoints, clock::now_ns());
        self.have_done(Task::CHECKPOINT)?;
        self.checkpoints
            .after_own(&self.board.checkpoints, clock::now_ns());
        Ok(())
    }

    pub fn checkpoint(&mut self) -> Result<(), Fault> {
        self.enter(Phase::Checkpoint, 0);
        self.have_own_checkpoint()?;
        self.observed
            .of_work_database(&self.board.run.worker.report.get())
    }

    /// The start of the window for the server's statistics, before any client works.
    pub fn begin_statistics(&mut self) -> Result<(), Fault> {
        let work_database = self.board.run.work_database.load(Acquire);
        self.statistics.begin(work_database)?;
        self.statements.begin(work_database)
    }

    /// The end of the window for the server's statistics; the clients have sent them everything.
    pub fn end_statistics(&mut self) -> Result<(), Fault> {
        let work_database = self.board.run.work_database.load(Acquire);
        let timing = self.observed.timing(&self.spec);
        self.statistics.end(work_database, timing)?;
        let transactions = if self.spec.workload.runs_transactions() {
            let measured = |slot: &ClientSlot| slot.measured.load(Acquire);
            self.client_slots().iter().map(measured).sum()
        } else {
            0
        };
        let has_io_times = timing.is_some_and(|timing| timing.io);
        let is_on_own = self.spec.is_on_own();
        self.statements
            .end(work_database, has_io_times, transactions, is_on_own)
    }

    /// Cuts warm-up and window of a quick look to the time that is left of its minute.
    pub fn fit_quick_look(&mut self) {
        let (Some(within), Bound::DurationMs(duration)) = (self.spec.within_ms, self.spec.bound)
        else {
            return;
        };
        let used = clock::ms(self.started_ns, clock::now_ns()) as u64;
        let left = within.saturating_sub(used + QUICK_END_MS);
        // One that is planned is never left out.
        self.spec.warmup_ms = self.spec.warmup_ms.min((left / 5).max(1));
        let window = left
            .saturating_sub(self.spec.warmup_ms)
            .max(QUICK_MEASURE_MS);
        self.spec.bound = Bound::DurationMs(duration.min(window));
    }

    /// Waits until `ready`, and meanwhile looks for reasons to give up.
    pub fn wait_until(
        &mut self,
        mut ready: impl FnMut(&mut Self) -> Result<bool, Fault>,
    ) -> Result<(), Fault> {
        loop {
            self.check_interrupts()?;
            if ready(self)? {
                return Ok(());
            }
            let alarm = match self.alarm_ns.saturating_sub(clock::now_ns()) {
                0 => LOOK,
                left => Duration::from_nanos(left),
            };
            process::wait(alarm.min(LOOK));
        }
    }

    pub fn check_interrupts(&mut self) -> Result<(), Fault> {
        self.take_samples();
        self.checkpoints.poll(&self.board.checkpoints);
        if cancellation::is_cancelled(self.request) {
            return Err(cancellation::fault(self.request));
        }
        if self.looked_at_room.elapsed() >= SECOND {
            self.looked_at_room = Instant::now();
            preflight::watch_room()?;
            if the_extension()? != self.extension {
                return Err(extension_dropped());
            }
        }
        (self.between_looks)(self)?;
        if let Some(next) = &mut self.next_second
            && let Some(late) = Instant::now().checked_duration_since(*next)
        {
            // Seconds without a look are left out.
            *next += SECOND * (1 + late.as_secs() as u32);
            self.observed.each_second(&mut self.checkpoints)?;
        }
        Ok(())
    }

    pub fn take_samples(&mut self) {
        while let Some(sample) = self.board.run.samples.pop() {
            self.samples.push(sample);
        }
    }

    /// The window has begun: from now on, [`Run::check_interrupts`] looks in each second of it.
    pub fn watch_seconds(&mut self) {
        self.next_second = Some(Instant::now() + SECOND);
    }

    /// Reads what belongs to the end of the window.
    pub fn end_window(&mut self) -> Result<(), Fault> {
        self.next_second = None;
        self.window_ended_ns = Some(clock::now_ns());
        self.observed.at_end(&mut self.checkpoints)
    }

    /// The window has ended then: which checkpoints touch it.
    pub fn close_checkpoints(&mut self, end_ns: u64) {
        let window = Window {
            start_ns: self.observed.measure_start_ns,
            end_ns,
        };
        self.checkpoints.close(&self.board.checkpoints, window);
    }
}

/// OID of the extension in this database, 0 when it is gone.
pub fn the_extension() -> Result<u32, Fault> {
    xact::transaction(|| Ok(cleanup::extension()?.map_or(0, |extension| extension.oid)))
}

pub fn extension_dropped() -> Fault {
    Fault::new(
        sqlstate::NOT_IN_THIS_STATE,
        "extension \"pgfsbench\" was dropped during the run",
    )
    .detail("Its tables are gone, so that the run has no row any more.")
}

/// Seconds since 1970.
pub fn epoch() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |d| d.as_secs_f64())
}
