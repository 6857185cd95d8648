//! The coordinator: owns a run from its row to its end. It makes the work database, launches the other processes and
//! watches them, stores what they measured, and removes what was made.

mod errand;
pub mod finish;
mod fsync;
pub mod on_target;
mod phases;
mod registrar;
mod scan;
mod transactions;
mod turn;
mod windows;
mod work_database;

use std::{
    sync::atomic::Ordering::{Acquire, Relaxed, Release},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use pgfsbench_core::{
    board::{ClientSlot, Sample, is_sampled_alternately},
    checkpoint::Window,
    finding,
    spec::{Bound, Kind, Spec},
};
use serde_json::{Value, json};

pub use errand::main;
use phases::PhaseTime;

use crate::{
    board::{Board, Phase, Request, outcome::Outcome},
    clock,
    errors::{Fault, sqlstate},
    host::flush_probe,
    pg::{process, report, session, shmem, xact},
    process::{crew::Crew, worker::Task},
    run::{
        cancellation,
        cleanup::{self, Left},
        journal::{self, Entry},
        preflight,
    },
    store::{self, definition},
    watch::{checkpoints, statements, statistics},
};

/// How often the coordinator looks around when nobody wakes it.
const LOOK: Duration = Duration::from_millis(250);
const SECOND: Duration = Duration::from_secs(1);
/// What the second probe of flushes, verify, collect and cleanup of the quick look may take.
const QUICK_END_MS: u64 = 5_000 + flush_probe::PATIENCE.as_millis() as u64;
/// The shortest measured window that a quick look is cut down to.
const QUICK_MEASURE_MS: u64 = 5_000;

fn free_run_area(board: &Board, index: u32) {
    let _ = board
        .run
        .request
        .compare_exchange(index + 1, 0, Release, Relaxed);
}

fn insert(board: &Board, request: &Request, spec: &Spec, status: &str) -> Result<i64, Fault> {
    let asked = board.papers(request).map(|papers| papers.asked.get());
    let run_id = xact::transaction(|| {
        let requested_by = session::role_name(request.role.load(Acquire));
        let run_id = store::insert_run(spec, &asked.unwrap_or_default(), &requested_by, status)?;
        for (cell, half) in request.fingerprint.iter().zip(store::fingerprint(run_id)?) {
            cell.store(half, Release);
        }
        Ok(run_id)
    })?;
    request.run_id.store(run_id, Release);
    shmem::announce();
    Ok(run_id)
}

/// A run that is being carried out.
pub struct Run {
    board: &'static Board,
    request: &'static Request,
    index: u32,
    /// What is run; the quick look is cut to what time is left.
    pub spec: Spec,
    /// Its number.
    pub run_id: i64,
    /// The extension that this run belongs to: OID of its pg_extension row.
    extension: u32,
    crew: Crew,
    started_ns: u64,
    phases: Vec<PhaseTime>,
    entry: Option<Entry>,
    /// What the helper was asked for and has made, for a run on a filesystem of its own.
    storage: Option<Value>,
    /// The phases of a run that has failed on another server, as that server has stored them.
    phases_there: Option<Value>,
    /// Whether another server has said how the run ended, which nothing here knows better.
    ended_there: bool,
    /// What was done before a run on a target could begin, as phases.
    steps: Vec<Value>,
    looked_at_room: Instant,
    /// When the next second of the window is over; None outside of it.
    next_second: Option<Instant>,
    /// When the measured window was over; None before.
    window_ended_ns: Option<u64>,
    /// When something is to be done without anybody waking this process; 0 for nothing.
    alarm_ns: u64,
    /// The server's checkpoints meanwhile.
    pub checkpoints: checkpoints::Watch,
    /// The server's statistics meanwhile.
    pub statistics: statistics::Watch,
    /// The statements of the workload.
    pub statements: statements::Watch,
    /// What the sampler has sent so far.
    pub samples: Vec<Sample>,
    /// What was found out along the way.
    pub seen: finish::Seen,
}

impl Run {
    fn new(board: &'static Board, request: &'static Request, index: u32) -> Result<Self, Fault> {
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
            crew: Crew::new(board, serial, slots),
            started_ns: clock::now_ns(),
            phases: Vec::new(),
            entry: None,
            storage: None,
            phases_there: None,
            ended_there: false,
            steps: Vec::new(),
            looked_at_room: Instant::now(),
            next_second: None,
            window_ended_ns: None,
            alarm_ns: 0,
            checkpoints: checkpoints::Watch::default(),
            statistics: statistics::Watch::default(),
            statements: statements::Watch::default(),
            samples: Vec::new(),
            seen: finish::Seen::default(),
        })
    }

    /// From the row to the end. An error means that something could not be cleared up.
    fn live(mut self) -> Result<(), Fault> {
        let result = xact::catch(|| self.carry_out()).and_then(|result| result);
        // Interrupts that came with an error must not hit what follows; a termination still ends the process.
        self.crew.disband();
        let mut is_stored_as_failed = false;
        let outcome = match result {
            Ok(outcome) => outcome,
            Err(fault) => {
                xact::abort();
                let fault = self.explain(fault);
                let phases = self
                    .phases_there
                    .take()
                    .unwrap_or_else(|| self.phase_times());
                let save = || {
                    report::or_log("could not store the end of the run", || {
                        xact::transaction(|| store::set_failed(self.run_id, &fault, Some(&phases)))
                    })
                };
                // The row of that number may be another's by now.
                let has_row = report::or_log("could not look for the extension", the_extension)
                    == Some(self.extension);
                // A second interrupt may have hit the first try.
                is_stored_as_failed = has_row && save().or_else(save).is_some();
                if !is_stored_as_failed {
                    report::log_warning(&fault);
                }
                Outcome::Failed(fault)
            }
        };
        // Before clearing up: should that fail, another worker does it, and leaves this as it is.
        outcome.tell(self.board, self.request);
        if is_stored_as_failed {
            self.store_checkpoints_of_failed();
        }
        self.enter(Phase::Cleanup, 0);
        self.clean_up(matches!(outcome, Outcome::Done(_)))?;
        if matches!(outcome, Outcome::Done(_)) && self.spec.is_here() {
            self.end_phase();
            let phases = self.phase_times();
            report::or_log("could not store the phases of the run", || {
                xact::transaction(|| store::update_run(self.run_id, &json!({"phases": phases})))
            });
        }
        free_run_area(self.board, self.index);
        Ok(())
    }

    /// The checkpoints of a run that has failed in its measured window, or after it: they may tell why. Nobody waits for them,
    /// and what goes wrong here is only logged.
    fn store_checkpoints_of_failed(&mut self) {
        let (start, now) = (self.seen.measure_start_ns, clock::now_ns());
        if start == 0 || now <= start {
            return;
        }
        let ends = [self.window_ended_ns, self.seen.measure_end_ns];
        let end = ends.into_iter().flatten().fold(now, u64::min);
        self.close_checkpoints(end);
        let outcome = self.checkpoints.outcome.as_ref();
        let rows = outcome.map_or(&[][..], |outcome| &outcome.of_window.rows);
        if rows.is_empty() {
            return;
        }
        report::or_log("could not store the checkpoints of the run", || {
            xact::transaction(|| store::insert_checkpoints(self.run_id, rows))
        });
    }

    /// The phases of a run, in their order.
    fn carry_out(&mut self) -> Result<Outcome, Fault> {
        process::become_undisturbed_owner(self.request.owner.load(Acquire))?;
        if the_extension()? != self.extension {
            return Err(extension_dropped());
        }
        if !self.spec.is_here() {
            return self.carry_out_on_target();
        }
        self.begin()?;
        match self.spec.workload.kind() {
            Kind::Transactions => self.carry_out_transactions(),
            Kind::Fsync => self.carry_out_fsync(),
            Kind::Scan => self.carry_out_scans(),
        }
    }

    /// The row: new, or the one that was queued.
    fn begin(&mut self) -> Result<(), Fault> {
        if self.run_id == 0 {
            self.run_id = insert(self.board, self.request, &self.spec, "running")?;
            return xact::transaction(|| definition::set_definition(self.run_id));
        }
        if !xact::transaction(|| store::set_running(self.run_id))? {
            return Err(turn::not_queued(self.run_id));
        }
        xact::transaction(|| definition::set_definition(self.run_id))?;
        // The server may have changed since it was asked for.
        let state = xact::transaction(preflight::server_state)?;
        preflight::check(&self.spec, &state)
    }

    /// Has the worker do a task, and waits until it has.
    fn have_done(&mut self, task: Task) -> Result<(), Fault> {
        self.crew.launch_worker(task)?;
        self.wait_until(|run| run.crew.worker_is_done())
    }

    /// The run's own CHECKPOINT, by which it is also seen whether the server reports them.
    fn have_own_checkpoint(&mut self) -> Result<(), Fault> {
        self.checkpoints.before_own(&self.board.checkpoints);
        self.have_done(Task::Checkpoint)?;
        self.checkpoints.after_own(&self.board.checkpoints);
        Ok(())
    }

    fn checkpoint(&mut self) -> Result<(), Fault> {
        self.enter(Phase::Checkpoint, 0);
        self.have_own_checkpoint()?;
        self.seen
            .of_work_database(&self.board.run.worker.report.get());
        Ok(())
    }

    /// The start of the window for the server's statistics, when nobody works yet.
    fn begin_statistics(&mut self) -> Result<(), Fault> {
        let work_database = self.board.run.work_database.load(Acquire);
        self.statistics.begin(work_database)?;
        self.statements.begin(work_database)
    }

    /// The end of the window for the server's statistics; the clients have sent them everything.
    fn end_statistics(&mut self) -> Result<(), Fault> {
        let work_database = self.board.run.work_database.load(Acquire);
        let timing = self.seen.timing(&self.spec);
        self.statistics.end(work_database, timing)?;
        let transactions = match self.spec.workload.kind() {
            Kind::Scan | Kind::Fsync => 0,
            Kind::Transactions => shmem::clients()[..self.spec.clients as usize]
                .iter()
                .map(|slot| slot.measured.load(Acquire))
                .sum(),
        };
        let has_io_times = timing.is_some_and(|timing| timing.io);
        self.statements
            .end(work_database, has_io_times, transactions)
    }

    /// Cuts warm-up and window of a quick look to the time that is left of its minute.
    fn fit_quick_look(&mut self) {
        let (Some(within), Bound::DurationMs(duration)) = (self.spec.within_ms, self.spec.bound)
        else {
            return;
        };
        let used = clock::ms(self.started_ns, clock::now_ns()) as u64;
        let left = within.saturating_sub(used + QUICK_END_MS);
        self.spec.warmup_ms = self.spec.warmup_ms.min(left / 5);
        let window = left
            .saturating_sub(self.spec.warmup_ms)
            .max(QUICK_MEASURE_MS);
        self.spec.bound = Bound::DurationMs(duration.min(window));
    }

    /// Waits until `ready`, and meanwhile looks for reasons to give up.
    fn wait_until(
        &mut self,
        mut ready: impl FnMut(&mut Self) -> Result<bool, Fault>,
    ) -> Result<(), Fault> {
        loop {
            self.look_around()?;
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

    fn look_around(&mut self) -> Result<(), Fault> {
        self.take_samples();
        self.checkpoints.look(&self.board.checkpoints);
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
        self.stand_in()?;
        if let Some(next) = &mut self.next_second
            && let Some(late) = Instant::now().checked_duration_since(*next)
        {
            // Seconds in which nobody looked are left out.
            *next += SECOND * (1 + late.as_secs() as u32);
            let start = self.seen.measure_start_ns;
            if !self.spec.options.sample_alternately
                || is_sampled_alternately(clock::now_ns(), start)
            {
                self.seen.each_second(&mut self.checkpoints)?;
            }
        }
        Ok(())
    }

    fn take_samples(&mut self) {
        while let Some(sample) = self.board.run.samples.pop() {
            self.samples.push(sample);
        }
    }

    /// The window has begun: from now on, [`Run::look_around`] looks in each second of it.
    fn watch_seconds(&mut self) {
        self.next_second = Some(Instant::now() + SECOND);
    }

    /// Reads what belongs to the end of the window.
    fn end_window(&mut self) -> Result<(), Fault> {
        self.next_second = None;
        self.window_ended_ns = Some(clock::now_ns());
        self.seen.at_end(&mut self.checkpoints)
    }

    /// The reason as it is stored: an interrupt of this process is what its sender meant.
    fn explain(&self, fault: Fault) -> Fault {
        if cancellation::is_cancelled(self.request) {
            return cancellation::fault(self.request);
        }
        if self.ended_there {
            return fault;
        }
        if fault.is_cancel() {
            return Fault::new(sqlstate::CANCELED, "the run was canceled")
                .detail("Somebody called pg_cancel_backend() for one of its processes.");
        }
        // Without its tables everything that stores or asks fails, with errors that do not say why.
        match the_extension() {
            Ok(extension) if extension != self.extension => extension_dropped(),
            _ => fault,
        }
    }

    fn clean_up(&mut self, done: bool) -> Result<(), Fault> {
        let Some(entry) = &self.entry else {
            return Ok(());
        };
        if done && self.spec.keep {
            cleanup::open_work_database(entry)?;
        } else {
            let what_is_left = cleanup::remove_what_was_made(entry)?;
            if what_is_left != Left::Nothing {
                let left = finding::not_released(&self.spec.target);
                report::or_log("could not store a finding", || {
                    xact::transaction(|| store::insert_rows(self.run_id, "finding", &[left]))
                });
            }
            if what_is_left == Left::Something {
                return Ok(());
            }
        }
        journal::remove(entry.home, entry.run_id)
    }

    /// The window has ended then: which checkpoints touch it.
    pub fn close_checkpoints(&mut self, end_ns: u64) {
        let window = Window {
            start_ns: self.seen.measure_start_ns,
            end_ns,
        };
        self.checkpoints.close(&self.board.checkpoints, window);
    }
}

/// OID of the extension in this database, 0 when it is gone.
fn the_extension() -> Result<u32, Fault> {
    xact::transaction(|| Ok(cleanup::extension()?.map_or(0, |extension| extension.oid)))
}

fn extension_dropped() -> Fault {
    Fault::new(
        sqlstate::NOT_IN_THIS_STATE,
        "extension \"pgfsbench\" was dropped during the run",
    )
    .detail("Its tables are gone, so that the run has no row any more.")
}

/// Seconds since 1970.
fn epoch() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |d| d.as_secs_f64())
}
