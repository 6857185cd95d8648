//! The janitor: the one permanent worker. It clears up after the last stop of the server, launches a coordinator for each
//! request when its turn comes, and clears up after coordinators that died.
//!
//! It is the only one that launches coordinators, so that there is one run at a time without any further lock.

mod experiments;

use std::{
    sync::atomic::Ordering::{Acquire, Relaxed, Release},
    time::{Duration, Instant},
};

use pgfsbench_core::run::{
    janitor::{self as decide, Action, Failed, New, Slot, Worker},
    request::is_withdrawn,
};

use crate::{
    board::{Board, CoordinatorTask, Request, RequestState, outcome::Outcome},
    errors::{Fault, sqlstate},
    host::flush_probe,
    pg::{
        catalog::{self, DatabaseEntry},
        points::point,
        process::{self, Database, Handle, Role, Status},
        report, shmem,
    },
    run::{cancellation, cleanup, dropped_copies, journal},
    target::orphaned_data,
};

/// How long there may be no worker slot for a request that is to be queued before it is refused.
const NO_SLOT: Duration = Duration::from_secs(10);
/// Time after which it looks for work by itself, if no process wakes it.
const PATROL: Duration = Duration::from_secs(5);

/// The janitor's record of the coordinators that it has launched.
struct Janitor {
    board: &'static Board,
    /// By request: the worker that was launched last, and the number of that launch.
    launched: Vec<Option<(u32, Handle)>>,
    /// By request: how many have died or could not start.
    failures: Vec<Failures>,
    /// The conductor that was launched last.
    conductor: experiments::Conductor,
}

/// How many coordinators of a request have died or could not start.
#[derive(Clone, Copy, Default)]
struct Failures {
    ticket: u64,
    count: u32,
    /// Since when there is no worker slot for a request that is to be queued.
    no_slot_since: Option<Instant>,
}

impl Failures {
    fn of(&mut self, request: &Request) -> u32 {
        let ticket = request.ticket.load(Acquire);
        if self.ticket != ticket {
            *self = Self {
                ticket,
                ..Self::default()
            };
        }
        self.count
    }

    fn count(&mut self, request: &Request) -> u32 {
        self.count = self.of(request) + 1;
        self.count
    }
}

/// Main of the background worker.
pub fn main(_argument: i32, _serial: u32) {
    let Some(board) = shmem::board() else { return };
    process::on_exit(leave);
    process::connect(Database::None);
    board.janitor_pid.store(process::my_pid(), Release);
    let mut janitor = Janitor {
        board,
        launched: (0..board.requests.len()).map(|_| None).collect(),
        failures: vec![Failures::default(); board.requests.len()],
        conductor: experiments::Conductor::default(),
    };
    let mut failures = 0;
    while board.recovered.load(Acquire) == 0 {
        process::report_activity("pgfsbench janitor: clearing up after the last stop");
        // pg_cancel_backend() does not end the janitor: it begins again.
        let swept = report::or_log("error in the janitor", || {
            process::check_interrupts();
            flush_probe::remove_left();
            let somebody_has_it = janitor.sweep();
            board.recovered.store(1, Release);
            shmem::announce();
            report::or_log("could not look after prepared data", || {
                orphaned_data::check(somebody_has_it)
            });
            Ok(())
        });
        failures = rest_after(swept, failures);
    }
    process::report_activity("pgfsbench janitor");
    let mut failures = 0;
    loop {
        let patrolled = report::or_log("error in the janitor", || {
            janitor.check_all();
            match board.requests.iter().any(Request::is_open) {
                true => Ok(()),
                false => dropped_copies::remove_those_committed(),
            }
        });
        failures = rest_after(patrolled, failures);
        // An error of its own: whatever interrupts the wait does not end the janitor either.
        report::or_log("error in the janitor", || {
            process::wait(PATROL);
            Ok(())
        });
    }
}

/// After an error the janitor rests, however often it is woken: an error that persists would keep a processor busy, and fill the
/// log. Gives the number of errors in a row.
fn rest_after(done: Option<()>, failures: u32) -> u32 {
    if done.is_some() {
        return 0;
    }
    let end = Instant::now() + decide::rest_after(failures + 1);
    while Instant::now() < end {
        report::or_log("error in the janitor", || {
            process::wait(end.saturating_duration_since(Instant::now()));
            Ok(())
        });
    }
    failures + 1
}

fn leave() {
    if let Some(board) = shmem::board() {
        board.janitor_pid.store(0, Release);
    }
}

impl Janitor {
    /// At the start of the server, has each database that may have the extension swept, one after the other; later, only what
    /// is left of databases that are gone, from any other one. Whether a database has the extension, or may have it.
    fn sweep(&mut self) -> bool {
        let databases = match catalog::databases() {
            Ok(databases) => databases,
            Err(fault) => {
                report::log_warning(&fault);
                return true;
            }
        };
        let mut orphans = 1;
        let mut unknown = databases.iter().any(|database| database.is_closed);
        self.board.sweep_extension.store(0, Release);
        for database in databases.iter().filter(|d| d.allows_connections) {
            self.board.sweep_database.store(database.oid, Relaxed);
            self.board.sweep_orphans.store(orphans, Relaxed);
            self.board.sweep_done.store(0, Release);
            if !self.sweep_one() {
                unknown = true;
            } else {
                orphans = 0;
                // Rows are read only at the start of the server.
                if self.board.recovered.load(Acquire) == 1 {
                    break;
                }
            }
        }
        if orphans == 1 && journal::entries().is_ok_and(|entries| !entries.is_empty()) {
            report::log_warning(&Fault::new(
                sqlstate::SYSTEM,
                "could not clear up after earlier benchmark runs",
            ));
        }
        unknown || self.board.sweep_extension.load(Acquire) == 1
    }

    fn sweep_one(&self) -> bool {
        // Slots are taken for a moment by others when the server starts: wait for one.
        let deadline = Instant::now() + Duration::from_secs(60);
        let worker = loop {
            if let Some(worker) = process::launch(Role::Coordinator, " (recovery)", -1, 0) {
                break worker;
            }
            if Instant::now() > deadline {
                report::log_warning(
                    &Fault::new(
                        sqlstate::NO_RESOURCES,
                        "could not register background process",
                    )
                    .hint("You may need to increase \"max_worker_processes\"."),
                );
                return false;
            }
            process::wait(Duration::from_secs(1));
        };
        while worker.status() != Status::Stopped {
            process::wait(Duration::from_secs(1));
        }
        self.board.sweep_done.load(Acquire) == 1
    }

    fn check_all(&mut self) {
        point!("janitor on patrol");
        let board = self.board;
        // Thousands of requests may be queued; they are checked together.
        let mut at_hand: Vec<usize> = (0..board.requests.len())
            .filter(|&index| {
                let state = board.requests[index].state();
                !matches!(state, RequestState::Free | RequestState::Queued)
            })
            .collect();
        at_hand.sort_by_key(|&index| board.requests[index].ticket.load(Acquire));
        for index in at_hand {
            let request = &board.requests[index];
            match request.state() {
                RequestState::Submitted => self.launch_new(index, request),
                RequestState::Starting => self.check_start(index, request),
                RequestState::Working => self.check_work(index, request),
                RequestState::Ended => self.release(request),
                RequestState::Free | RequestState::Filling | RequestState::Queued => {}
            }
        }
        self.check_queue();
        self.launch_next();
        self.conductor.see_to(self.board);
    }

    /// Whether a run is being carried out or cleared up.
    fn is_busy(&self) -> bool {
        let requests = self.board.requests.iter();
        decide::is_busy(requests.map(|request| (request.state(), request.task())))
    }

    fn launch_new(&mut self, index: usize, request: &Request) {
        let action = decide::of_new(&New {
            is_cancelled: cancellation::is_cancelled(request),
            is_busy: self.is_busy(),
            before: self.board.before(request),
            may_begin: experiments::may_begin(self.board, request),
            has_queue_worker: self.has_queue_worker(request),
        });
        self.act(index, request, RequestState::Submitted, action);
    }

    /// Whether a worker is there that does the queue's work in the database of this request.
    fn has_queue_worker(&self, request: &Request) -> bool {
        // Another one may just take the place of one that leaves.
        let (extension_database, pid) = shmem::locked(|| {
            let extension_database = self.board.queue_worker_database.load(Acquire);
            (extension_database, self.board.queue_worker.load(Acquire))
        });
        extension_database == request.extension_database.load(Acquire) && process::is_alive(pid)
    }

    fn launch_next(&mut self) {
        if self.is_busy() {
            return;
        }
        let queue = self.board.queue();
        // Requests of a database that allows no connections just now keep their places until it does.
        let databases = (!queue.is_empty()).then(catalog::databases);
        let is_closed = |extension_database: u32| match &databases {
            Some(Ok(databases)) => databases
                .iter()
                .any(|d| d.oid == extension_database && d.is_closed),
            _ => false,
        };
        let queue = queue.into_iter().map(|(index, request)| {
            let stays = cancellation::is_cancelled(request)
                || is_closed(request.extension_database.load(Acquire))
                || !experiments::may_begin(self.board, request);
            (request.ticket.load(Acquire), stays, (index, request))
        });
        if let Some((index, request)) = decide::next_in_queue(queue) {
            self.launch_queued(index, request, CoordinatorTask::Run);
        }
    }

    /// Does what was decided of a request that stands at `from`.
    fn act(&mut self, index: usize, request: &Request, from: RequestState, action: Action) {
        match action {
            Action::Wait => {}
            Action::Launch(task) => self.launch(index, request, from, task),
            Action::WaitAgain => self.wait_again(request),
            Action::LeaveToCoordinator => {
                match request.task() {
                    CoordinatorTask::Enqueue => request.set_state(RequestState::Submitted),
                    _ => self.wait_again(request),
                }
                self.ask_coordinator();
            }
            // `check_work` counts.
            Action::TakeForDead => request.set_state(RequestState::Working),
            // It has no row yet, and its row would never be read.
            Action::Cancel => self.end_from(from, request, &cancellation::fault(request)),
            Action::GiveUpStarting => self.end(
                request,
                &Fault::new(
                    sqlstate::NO_RESOURCES,
                    "could not register background process",
                )
                .detail("The coordinator of the run could not be started: there was no slot for it, or the run's database allows no connections.")
                .hint("You may need to increase \"max_worker_processes\", or to wait for the run that is on, which takes the slots; see the server's log."),
            ),
            Action::GiveUp => self.give_up(index, request),
            Action::EndHomeless => self.end_homeless(index, request, request.task()),
        }
    }

    /// Launches a coordinator for a request that has waited: from now on it has texts again, or it waits on.
    fn launch_queued(&mut self, index: usize, request: &Request, task: CoordinatorTask) {
        if self.board.give_texts_to_waiting(request) {
            self.launch(index, request, RequestState::Queued, task);
        }
    }

    /// Launches a coordinator for a request that stands at `from`.
    fn launch(
        &mut self,
        index: usize,
        request: &Request,
        from: RequestState,
        task: CoordinatorTask,
    ) {
        let number = shmem::locked(|| {
            // A coordinator that an earlier janitor has launched may just have taken it.
            (request.state() == from).then(|| {
                request.set_task(task);
                request.coordinator.store(0, Release);
                if task == CoordinatorTask::Run {
                    experiments::begin(self.board, request);
                }
                request.set_state(RequestState::Starting);
                request.launch.fetch_add(1, Relaxed).wrapping_add(1)
            })
        });
        let Some(number) = number else { return };
        let handle = process::launch(Role::Coordinator, "", index as i32, number);
        self.launched[index] = handle.map(|handle| (number, handle));
        if self.launched[index].is_none() {
            return self.could_not_start(index, request, task);
        }
        self.board.no_slot.store(0, Release);
    }

    /// The worker that was launched last for a request; None when another one works on it that this janitor has not launched.
    fn launched_for(&self, index: usize, request: &Request) -> Option<&Handle> {
        let (number, handle) = self.launched[index].as_ref()?;
        (*number == request.launch.load(Acquire)).then_some(handle)
    }

    /// State of the worker that was launched last for a request.
    fn worker(&self, index: usize, request: &Request) -> Worker {
        match self.launched_for(index, request).map(Handle::status) {
            None => Worker::Unknown,
            Some(Status::Stopped) => Worker::Ended,
            Some(_) => Worker::Runs,
        }
    }

    /// A coordinator that has ended before it took its request could not start.
    fn check_start(&mut self, index: usize, request: &Request) {
        let worker = self.worker(index, request);
        // Looked at again now that it may have ended: it may have been quick.
        if request.state() != RequestState::Starting {
            return;
        }
        match decide::of_starting(worker, request.task()) {
            Some(action) => self.act(index, request, RequestState::Starting, action),
            None => {
                // One that was to clear up is taken for dead, and counted as that.
                if request.task() != CoordinatorTask::Recover {
                    self.failures[index].count(request);
                }
                self.could_not_start(index, request, request.task());
            }
        }
    }

    fn could_not_start(&mut self, index: usize, request: &Request, task: CoordinatorTask) {
        let failed = self.failed(index, request, task);
        self.act(index, request, RequestState::Starting, failed.at_start());
    }

    /// The facts on which the next action depends when a coordinator has failed.
    fn failed(&mut self, index: usize, request: &Request, task: CoordinatorTask) -> Failed {
        let has_home = home_exists(request);
        let failures = self.failures[index].of(request);
        let slot = if self.launched[index].is_some() {
            Slot::There
        } else if task == CoordinatorTask::Enqueue && self.waits_too_long(index) {
            Slot::MissingForLong
        } else {
            Slot::Missing
        };
        Failed {
            task,
            failures,
            slot,
            has_row: request.run_id.load(Acquire) != 0,
            has_home,
        }
    }

    /// Whether there has been no worker slot for a request for so long that it is to be refused.
    fn waits_too_long(&mut self, index: usize) -> bool {
        let since = &mut self.failures[index].no_slot_since;
        since.get_or_insert_with(Instant::now).elapsed() > NO_SLOT
    }

    /// Has the coordinator of the run that is on do the queue's work, if that is one of its database.
    fn ask_coordinator(&self) {
        self.board.no_slot.store(1, Release);
        if let Some(active) = shmem::active_request() {
            process::wake(active.coordinator.load(Acquire));
        }
    }

    /// Back into the queue, where its place has stayed.
    fn wait_again(&self, request: &Request) {
        self.board.take_texts_back(request.ticket.load(Acquire));
        request.set_state(RequestState::Queued);
    }

    /// Ends a request, unless another process has taken it meanwhile.
    fn end_from(&self, from: RequestState, request: &Request, fault: &Fault) {
        if shmem::locked(|| request.advance(from, RequestState::Working)) {
            self.end(request, fault);
        }
    }

    /// Ends a request by the janitor's own hand, unless its coordinator has come so far as to say how.
    fn end(&self, request: &Request, fault: &Fault) {
        if self.board.outcome(request).is_empty() {
            Outcome::Failed(fault.clone()).tell(self.board, request);
        }
        request.set_state(RequestState::Ended);
        shmem::announce();
    }

    /// A coordinator that is gone while its request is not over has died.
    fn check_work(&mut self, index: usize, request: &Request) {
        let (worker, pid) = (
            self.worker(index, request),
            request.coordinator.load(Acquire),
        );
        let is_dead = decide::is_dead(worker, process::is_alive(pid));
        // It may have given the request back meanwhile, and another one may have taken it.
        let is_its =
            request.state() == RequestState::Working && request.coordinator.load(Acquire) == pid;
        if !is_dead || !is_its {
            return;
        }
        // If there was no slot for one, none has died.
        if worker != Worker::Unknown || pid != 0 {
            self.failures[index].count(request);
        }
        let failed = self.failed(index, request, request.task());
        self.act(index, request, RequestState::Working, failed.at_work());
    }

    fn give_up(&self, index: usize, request: &Request) {
        if request.task().takes_the_run_area() {
            cleanup::end_run_processes(self.board);
            self.free_run_area(index);
        }
        self.end(
            request,
            &Fault::new(
                sqlstate::TERMINATED,
                "the coordinator of the run was terminated",
            )
            .detail("Clearing up after it failed; see the server's log.")
            .hint("It is tried again at the next start of the server."),
        );
    }

    /// Ends a request whose database was dropped. What it made is removed from any other database.
    fn end_homeless(&mut self, index: usize, request: &Request, task: CoordinatorTask) {
        if task.takes_the_run_area() {
            cleanup::end_run_processes(self.board);
            self.sweep();
            self.free_run_area(index);
        }
        self.end(
            request,
            &Fault::new(sqlstate::TERMINATED, "the database of the run was dropped"),
        );
    }

    fn free_run_area(&self, index: usize) {
        let _ = self
            .board
            .run
            .request
            .compare_exchange(index as u32 + 1, 0, Release, Relaxed);
    }

    /// Ends what waits for nothing any more.
    fn check_queue(&mut self) {
        let queue = self.board.queue();
        // Not for each of them by itself.
        let Some(databases) = (!queue.is_empty()).then(catalog::databases) else {
            return;
        };
        let mut withdraws = self.withdraws();
        for (index, request) in queue {
            let extension_database = request.extension_database.load(Acquire);
            let is_gone = |databases: &Vec<DatabaseEntry>| {
                databases.iter().all(|d| d.oid != extension_database)
            };
            if databases.as_ref().is_ok_and(is_gone) {
                self.end_homeless(index, request, CoordinatorTask::Withdraw);
            } else if cancellation::is_cancelled(request)
                && !withdraws
                && !self.has_queue_worker(request)
            {
                self.launch_queued(index, request, CoordinatorTask::Withdraw);
                withdraws = true;
            }
        }
    }

    /// Whether a cancelled run is just being taken out of the queue. These go one after the other: thousands may have been cancelled, and the current
    /// run needs the worker slots.
    fn withdraws(&self) -> bool {
        let mut requests = self.board.requests.iter();
        requests.any(|request| is_withdrawn(request.state(), request.task()))
    }

    /// Frees an ended request for which no session waits any more.
    fn release(&mut self, request: &Request) {
        // The waiting session may do the same just now, and the next caller may have claimed the request by then.
        let ticket = request.ticket.load(Acquire);
        if !process::is_alive(request.waiter.load(Acquire))
            && request.advance(RequestState::Ended, RequestState::Free)
        {
            self.board.take_texts_back(ticket);
            shmem::announce();
        }
    }
}

/// Whether the database of the caller is still there; true when that cannot be found out.
fn home_exists(request: &Request) -> bool {
    let extension_database = request.extension_database.load(Acquire);
    catalog::databases().map_or(true, |databases| {
        databases
            .iter()
            .any(|database| database.oid == extension_database)
    })
}

/// Wakes the janitor.
pub fn wake(board: &Board) {
    process::wake(board.janitor_pid.load(Acquire));
}
