//! The coordinator: owns a run from its row to its end. It makes the work database, launches the other processes and
//! watches them, stores what they measured, and removes what was made.

mod fsync;
pub mod on_target;
mod scan;

use std::{
    sync::atomic::Ordering::{Acquire, Relaxed, Release},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use pgfsbench_core::{
    balance::{self, Balances},
    board::{ClientSlot, ClientState, Sample},
    checkpoint::Window,
    finding,
    spec::{Bound, Kind, Spec, Stage},
};
use serde_json::{Value, json};

use crate::{
    board::{Board, Errand, Phase, Request, RequestState},
    cancellation, checkpoints, client, clock, collect,
    crew::Crew,
    errors::{Fault, sqlstate},
    flush_probe,
    janitor::{self, log_warning},
    journal::{self, Entry},
    outcome::{Outcome, Row},
    pg::{
        catalog,
        process::{self, Database},
        session, shmem, sql, utility, xact,
    },
    preflight,
    recovery::{self, Left},
    statements, statistics, store,
    worker::Task,
    workload::{maintenance, pgbench},
};

/// How often the coordinator looks around when nobody wakes it.
const LOOK: Duration = Duration::from_millis(250);
/// How long the clients may take to tell the statistics what they did in the warm-up; after that the first of them tell more.
const REPORTS_NS: u64 = client::QUIET_NS / 10 * 9;
/// What the second probe of flushes, verify, collect and cleanup of the quick look may take.
const QUICK_END_MS: u64 = 5_000 + flush_probe::PATIENCE.as_millis() as u64;
/// The shortest measured window that a quick look is cut down to.
const QUICK_MEASURE_MS: u64 = 5_000;

/// Main of the background worker; the argument is the request, or negative for a sweep, the serial number that of the launch.
pub fn main(argument: i32, launch: u32) {
    let Some(board) = shmem::board() else { return };
    if argument < 0 {
        return recovery::sweep(board);
    }
    let request = &board.requests[argument as usize];
    process::connect(Database::Oid(request.home.load(Acquire)));
    if !claim(request, launch) {
        return;
    }
    let errand = request.errand();
    process::report_activity("pgfsbench coordinator");
    // On every way out the janitor has to look: for the next run, or for what is left of this one.
    process::on_exit(|| {
        if let Some(board) = shmem::board() {
            janitor::wake(board);
        }
    });
    let next = match errand {
        Errand::Enqueue => end_or(request, RequestState::Queued, enqueue(request)),
        Errand::Withdraw => end_or(request, RequestState::Ended, withdraw(request)),
        Errand::Recover => {
            let recovered = recovery::recover(board, request);
            free_run_area(board, argument as u32);
            match recovered {
                Ok(()) => RequestState::Ended,
                Err(fault) => return log_warning(&fault.context("could not clear up")),
            }
        }
        Errand::Run => {
            let clean = Run::new(board, request, argument as u32).and_then(Run::live);
            match clean {
                Ok(()) => RequestState::Ended,
                // What was made is still there: the janitor sends another worker to clear up.
                Err(fault) => return log_warning(&fault.context("could not clear up")),
            }
        }
    };
    request.set_state(next);
    shmem::announce();
}

/// Takes the request, unless this process comes too late for it.
fn claim(request: &Request, launch: u32) -> bool {
    let pid = process::my_pid();
    shmem::locked(|| {
        let mine =
            request.state() == RequestState::Starting && request.launch.load(Acquire) == launch;
        if mine {
            request.coordinator.store(pid, Release);
            request.set_state(RequestState::Working);
        }
        mine
    })
}

fn free_run_area(board: &Board, index: u32) {
    let _ = board
        .run
        .request
        .compare_exchange(index + 1, 0, Release, Relaxed);
}

/// The state after an errand: `next`, or the end with the error as its outcome.
fn end_or(request: &Request, next: RequestState, result: Result<(), Fault>) -> RequestState {
    match result {
        Ok(()) => next,
        Err(fault) => {
            request.outcome.set(&Outcome::Failed(fault).to_json());
            RequestState::Ended
        }
    }
}

fn spec_of(request: &Request) -> Result<Spec, Fault> {
    serde_json::from_str(&request.spec.get())
        .map_err(|e| Fault::new(sqlstate::INTERNAL, format!("unreadable specification: {e}")))
}

fn insert(request: &Request, spec: &Spec, status: &str) -> Result<i64, Fault> {
    let run_id = xact::transaction(|| {
        let requested_by = session::role_name(request.role.load(Acquire));
        store::insert_run(spec, &request.asked.get(), &requested_by, status)
    })?;
    request.run_id.store(run_id, Release);
    shmem::announce();
    Ok(run_id)
}

fn enqueue(request: &Request) -> Result<(), Fault> {
    process::become_undisturbed_owner(request.owner.load(Acquire))?;
    if the_extension()? != request.extension.load(Acquire) {
        return Err(extension_dropped());
    }
    insert(request, &spec_of(request)?, "queued").map(|_| ())
}

fn withdraw(request: &Request) -> Result<(), Fault> {
    process::become_undisturbed_owner(request.owner.load(Acquire))?;
    let fault = cancellation::fault(request);
    if the_extension()? == request.extension.load(Acquire) {
        xact::transaction(|| store::set_failed(request.run_id.load(Acquire), &fault, None))?;
    }
    request.outcome.set(&Outcome::Failed(fault).to_json());
    Ok(())
}

/// A phase that is over, or the one that is on.
struct PhaseTime {
    phase: Phase,
    started_ns: u64,
    ended_ns: Option<u64>,
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
    pub seen: collect::Seen,
}

impl Run {
    fn new(board: &'static Board, request: &'static Request, index: u32) -> Result<Self, Fault> {
        let spec = spec_of(request)?;
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
            alarm_ns: 0,
            checkpoints: checkpoints::Watch::default(),
            statistics: statistics::Watch::default(),
            statements: statements::Watch::default(),
            samples: Vec::new(),
            seen: collect::Seen::default(),
        })
    }

    /// From the row to the end. An error means that something could not be cleared up.
    fn live(mut self) -> Result<(), Fault> {
        let result = xact::catch(|| self.carry_out()).and_then(|result| result);
        // Interrupts that came with an error must not hit what follows; a termination still ends the process.
        self.crew.disband();
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
                    janitor::or_log("could not store the end of the run", || {
                        xact::transaction(|| store::set_failed(self.run_id, &fault, Some(&phases)))
                    })
                };
                // The row of that number may be another's by now.
                let has_row = janitor::or_log("could not look for the extension", the_extension)
                    == Some(self.extension);
                // A second interrupt may have hit the first try.
                if !has_row || save().or_else(save).is_none() {
                    log_warning(&fault);
                }
                Outcome::Failed(fault)
            }
        };
        // Before clearing up: should that fail, another worker does it, and leaves this as it is.
        self.request.outcome.set(&outcome.to_json());
        self.enter(Phase::Cleanup, 0);
        self.clean_up(matches!(outcome, Outcome::Done(_)))?;
        if matches!(outcome, Outcome::Done(_)) && self.spec.is_here() {
            self.end_phase();
            let phases = self.phase_times();
            janitor::or_log("could not store the phases of the run", || {
                xact::transaction(|| store::update_run(self.run_id, &json!({"phases": phases})))
            });
        }
        free_run_area(self.board, self.index);
        Ok(())
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

    /// From an empty database to the result of a workload of transactions.
    fn carry_out_transactions(&mut self) -> Result<Outcome, Fault> {
        match self.spec.stage.clone() {
            Stage::OnLoaded { database, .. } => self.adopt(&database)?,
            Stage::Whole | Stage::WholeOfTarget | Stage::LoadOnly => {
                self.provision()?;
                self.load()?;
                self.vacuum()?;
            }
        }
        // Before the clients, whose worker slots it would need beside theirs.
        self.checkpoint()?;
        if self.spec.stage == Stage::LoadOnly {
            return self.leave_loaded();
        }
        self.prepare_clients()?;
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
        let row = collect::store(self, slots, balances.as_ref(), phases)?;
        Ok(Outcome::Done(row))
    }

    /// The row: new, or the one that was queued.
    fn begin(&mut self) -> Result<(), Fault> {
        if self.run_id == 0 {
            self.run_id = insert(self.request, &self.spec, "running")?;
            return Ok(());
        }
        if !xact::transaction(|| store::set_running(self.run_id))? {
            return Err(Fault::new(
                sqlstate::NOT_IN_THIS_STATE,
                format!("run {} is not queued any more", self.run_id),
            ));
        }
        // The server may have changed since it was asked for.
        let state = xact::transaction(preflight::server_state)?;
        preflight::check(&self.spec, &state)
    }

    fn provision(&mut self) -> Result<(), Fault> {
        self.enter(Phase::Provision, 0);
        self.seen.before_provision()?;
        let oid = catalog::new_oid();
        let mark = collect::random_mark();
        let (name, home) = xact::transaction(|| Ok((self.free_name()?, database_name()?)))?;
        xact::transaction(|| store::set_work_database(self.run_id, &name, oid, &mark))?;
        let entry = Entry {
            home: session::database(),
            run_id: self.run_id,
            work_database: name.clone(),
            work_database_oid: oid,
            mark: mark.clone(),
            directory_existed: session::data_directory()
                .join("base")
                .join(oid.to_string())
                .exists(),
            server: None,
            prepared: None,
            far: None,
            wal_file: None,
        };
        journal::write(&entry)?;
        self.entry = Some(entry);
        // In one transaction, so that there is never a work database without its mark.
        let comment = format!(
            "pgfsbench: work database of run {} in database {home}; mark {mark}",
            self.run_id
        );
        let (name, comment) = (utility::identifier(&name), utility::literal(&comment));
        utility::run(&[
            &format!("CREATE DATABASE {name} TEMPLATE template0 ALLOW_CONNECTIONS false OID {oid}"),
            &format!("COMMENT ON DATABASE {name} IS {comment}"),
        ])?;
        self.board.run.work_database.store(oid, Release);
        Ok(())
    }

    /// Takes a work database over that an earlier run has left, loaded.
    fn adopt(&mut self, database: &str) -> Result<(), Fault> {
        self.enter(Phase::Provision, 0);
        self.seen.before_provision()?;
        let (oid, mark) =
            xact::transaction(|| store::left_database(database))?.ok_or_else(|| {
                Fault::new(
                    sqlstate::NOT_IN_THIS_STATE,
                    format!("there are no loaded data in database \"{database}\""),
                )
            })?;
        let (run_id, home) = (self.run_id, session::database());
        xact::transaction(|| store::set_work_database(run_id, database, oid, &mark))?;
        let entry = Entry {
            work_database: database.to_owned(),
            work_database_oid: oid,
            mark,
            ..Entry::on_target(home, run_id)
        };
        journal::write(&entry)?;
        self.entry = Some(entry);
        let name = utility::identifier(database);
        utility::run(&[&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false")])?;
        self.board.run.work_database.store(oid, Release);
        Ok(())
    }

    /// The end of a run that only loads: the work database stays.
    fn leave_loaded(&mut self) -> Result<Outcome, Fault> {
        self.end_phase();
        let (load_ms, phases) = (self.load_ms(), self.phase_times());
        xact::transaction(|| store::set_loaded(self.run_id, load_ms, &phases))?;
        Ok(Outcome::Done(Row {
            run_id: self.run_id,
            target: self.spec.target.clone(),
            workload: self.spec.workload.as_str().into(),
            ..Row::default()
        }))
    }

    /// Loading, vacuuming and keys; None when the data were loaded before.
    fn load_ms(&self) -> Option<f64> {
        let loads = self.phases.iter().any(|p| p.phase == Phase::Load);
        loads.then(|| self.ms_of(Phase::Load) + self.ms_of(Phase::Vacuum))
    }

    /// `fsbench_work_<run id>`, or with a number behind it when another database of the server has kept that name.
    fn free_name(&self) -> Result<String, Fault> {
        let name = format!("fsbench_work_{}", self.run_id);
        let free = sql::read(
            "SELECT $1 || coalesce(n, '') FROM (SELECT NULL UNION ALL SELECT '_' || g FROM generate_series(2, 10000) g) AS t(n) \
             WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_database WHERE datname = $1 || coalesce(n, '')) LIMIT 1",
            &[Some(&name)],
        )?;
        Ok(free.unwrap_or(name))
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

    /// Has the worker do a task, and waits until it has.
    fn have_done(&mut self, task: Task) -> Result<(), Fault> {
        self.crew.launch_worker(task)?;
        self.wait_until(|run| run.crew.worker_is_done())
    }

    fn prepare_clients(&mut self) -> Result<(), Fault> {
        self.crew.launch_clients(self.spec.options.sample)?;
        // All of them: one that came later would miss what it is there to see.
        self.wait_until(|run| {
            Ok(run.crew.clients_are(ClientState::Ready)? && run.crew.sampler_is_there()?)
        })
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

    fn measure(&mut self) -> Result<(), Fault> {
        self.seen.before_clients(self.entry.as_ref())?;
        self.fit_quick_look();
        let run = &self.board.run;
        for (place, pid) in run.server_pids.iter().zip(collect::server_pids()?) {
            place.store(pid, Release);
        }
        let work_database = run.work_database.load(Acquire);
        let warmup_ns = self.spec.warmup_ms * 1_000_000;
        if warmup_ns == 0 {
            self.seen.at_start(&mut self.checkpoints)?;
            self.begin_statistics()?;
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
            self.statements.begin_again(work_database)?;
            self.seen.at_start(&mut self.checkpoints)?;
            self.wait_for_reports(start)?;
            self.statistics.begin(work_database)?;
            if self.crew.may_have_reported_again() {
                self.statistics.begin_late();
            }
        }
        self.alarm_ns = self.seen.measure_end_ns.unwrap_or(0);
        let mut next_look = Instant::now() + Duration::from_secs(1);
        self.wait_until(|run| {
            if Instant::now() >= next_look {
                next_look += Duration::from_secs(1);
                run.seen.each_second(&mut run.checkpoints)?;
            }
            // Under a low rate the clients know before the end that nothing more is due.
            let over = clock::now_ns() >= run.seen.measure_end_ns.unwrap_or(0);
            Ok(run.crew.clients_are(ClientState::Done)? && over)
        })?;
        self.seen.at_end(&mut self.checkpoints)?;
        run.stop.store(1, Release);
        self.crew.wake();
        self.wait_until(|run| run.crew.sampler_is_done())?;
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
        self.statements
            .end(work_database, timing.is_some_and(|timing| timing.io))
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

    /// After the balances were compared: the bulk load is not to be among the reasons why they could differ.
    fn maintain(&mut self) -> Result<(), Fault> {
        self.seen.before_maintenance();
        self.enter(Phase::Maintenance, maintenance::STEPS.len() as u64);
        self.have_done(Task::Maintain)?;
        let report = self.board.run.worker.report.get();
        self.seen.maintenance = serde_json::from_str(&report)
            .map_err(|e| Fault::new(sqlstate::INTERNAL, format!("unreadable steps: {e}")))?;
        Ok(())
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
        let balances: Balances = serde_json::from_str(&report)
            .map_err(|e| Fault::new(sqlstate::INTERNAL, format!("unreadable balances: {e}")))?;
        let committed = shmem::clients()[..self.spec.clients as usize]
            .iter()
            .map(|slot| slot.committed.load(Acquire))
            .sum();
        balance::verify(self.spec.workload, &balances, committed)?;
        Ok(balances)
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
        while let Some(sample) = self.board.run.samples.pop() {
            self.samples.push(sample);
        }
        self.checkpoints.look(&self.board.checkpoints);
        if cancellation::is_cancelled(self.request) {
            return Err(cancellation::fault(self.request));
        }
        if self.looked_at_room.elapsed() >= Duration::from_secs(1) {
            self.looked_at_room = Instant::now();
            preflight::watch_room()?;
            if the_extension()? != self.extension {
                return Err(extension_dropped());
            }
        }
        Ok(())
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
            recovery::open_work_database(entry)?;
        } else {
            let what_is_left = recovery::remove_what_was_made(entry)?;
            if what_is_left != Left::Nothing {
                let left = finding::not_released(&self.spec.target);
                janitor::or_log("could not store a finding", || {
                    xact::transaction(|| store::insert_findings(self.run_id, &[left]))
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

    fn enter(&mut self, phase: Phase, total: u64) {
        self.end_phase();
        let now = clock::now_ns();
        self.phases.push(PhaseTime {
            phase,
            started_ns: now,
            ended_ns: None,
        });
        self.board.run.enter(phase, now, total);
        shmem::announce();
    }

    fn end_phase(&mut self) {
        if let Some(last) = self.phases.last_mut() {
            last.ended_ns.get_or_insert_with(clock::now_ns);
        }
    }

    fn ms_of(&self, phase: Phase) -> f64 {
        self.phases
            .iter()
            .filter(|p| p.phase == phase)
            .map(|p| clock::ms(p.started_ns, p.ended_ns.unwrap_or_else(clock::now_ns)))
            .sum()
    }

    fn phase_times(&self) -> Value {
        self.phases
            .iter()
            .enumerate()
            .map(|(index, p)| {
                // Those of the server that carries the run out follow it.
                let is_its_server = index == 0 && !self.spec.is_here();
                json!({
                    "phase": if is_its_server { "server" } else { p.phase.as_str() },
                    "started_ms": clock::ms(self.started_ns, p.started_ns),
                    "ms": p.ended_ns.map(|end| clock::ms(p.started_ns, end)),
                })
            })
            .collect()
    }
}

/// OID of the extension in this database, 0 when it is gone.
fn the_extension() -> Result<u32, Fault> {
    xact::transaction(|| Ok(recovery::extension()?.map_or(0, |extension| extension.oid)))
}

fn extension_dropped() -> Fault {
    Fault::new(
        sqlstate::NOT_IN_THIS_STATE,
        "extension \"pgfsbench\" was dropped during the run",
    )
    .detail("Its tables are gone, so that the run has no row any more.")
}

fn database_name() -> Result<String, Fault> {
    Ok(sql::read("SELECT current_database()", &[])?.unwrap_or_default())
}

/// Seconds since 1970.
fn epoch() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |d| d.as_secs_f64())
}
