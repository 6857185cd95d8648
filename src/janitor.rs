//! The janitor: the one permanent worker. It clears up after the last stop of the server, launches a coordinator for each
//! request when its turn comes, and clears up after coordinators that died.
//!
//! It is the only one that launches coordinators, so that there is one run at a time without any further lock.

use std::{
    sync::atomic::Ordering::{Acquire, Relaxed, Release},
    time::{Duration, Instant},
};

use pgrx::{PgLogLevel, pg_sys::panic::ErrorReport};

use crate::{
    board::{Board, Cancel, Errand, Request, RequestState},
    errors::{Fault, sqlstate},
    journal,
    outcome::Outcome,
    pg::{
        catalog,
        process::{self, Database, Handle, Role, Status},
        shmem, xact,
    },
};

/// How often a dead coordinator's run is cleared up again when that fails.
const RECOVERY_ATTEMPTS: u32 = 3;
/// How long it takes to find out by itself that something is to be done, when nobody wakes it.
const PATROL: Duration = Duration::from_secs(5);

/// What the janitor knows of the coordinators that it has launched.
struct Janitor {
    board: &'static Board,
    /// By request: the launched worker, and how often it was launched to recover.
    launched: Vec<Option<Handle>>,
    recoveries: Vec<u32>,
}

/// Main of the background worker.
pub fn main(_argument: i32) {
    let Some(board) = shmem::board() else { return };
    process::on_exit(leave);
    process::connect(Database::None);
    process::report_activity("pgfsbench janitor");
    board.janitor_pid.store(process::my_pid(), Release);
    let mut janitor = Janitor {
        board,
        launched: (0..board.requests.len()).map(|_| None).collect(),
        recoveries: vec![0; board.requests.len()],
    };
    if board.recovered.load(Acquire) == 0 {
        janitor.sweep();
        board.recovered.store(1, Release);
        shmem::announce();
    }
    loop {
        janitor.patrol();
        process::wait(PATROL);
    }
}

fn leave() {
    if let Some(board) = shmem::board() {
        board.janitor_pid.store(0, Release);
    }
}

/// Writes a fault to the server's log.
pub fn log_warning(fault: &Fault) {
    let report: ErrorReport = fault.clone().into();
    report.report(PgLogLevel::WARNING);
}

impl Janitor {
    /// Has each database that may have the extension swept, one after the other.
    fn sweep(&mut self) {
        let databases = match catalog::databases() {
            Ok(databases) => databases,
            Err(fault) => return log_warning(&fault),
        };
        let mut orphans = 1;
        for database in databases.iter().filter(|d| d.allows_connections) {
            self.board.sweep_database.store(database.oid, Relaxed);
            self.board.sweep_orphans.store(orphans, Relaxed);
            self.board.sweep_done.store(0, Release);
            if self.sweep_one() {
                orphans = 0;
            }
        }
        if orphans == 1 && journal::entries().is_ok_and(|entries| !entries.is_empty()) {
            log_warning(&Fault::new(
                sqlstate::SYSTEM,
                "could not clear up after earlier benchmark runs",
            ));
        }
    }

    fn sweep_one(&self) -> bool {
        // Slots are taken for a moment by others when the server starts: wait for one.
        let deadline = Instant::now() + Duration::from_secs(60);
        let worker = loop {
            if let Some(worker) = process::launch(Role::Coordinator, " (recovery)", -1) {
                break worker;
            }
            if Instant::now() > deadline {
                log_warning(
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

    fn patrol(&mut self) {
        for index in 0..self.board.requests.len() {
            let request = &self.board.requests[index];
            match request.state() {
                RequestState::Submitted => self.launch_new(index, request),
                RequestState::Starting => self.check_start(index, request),
                RequestState::Working => self.check_work(index, request),
                RequestState::Queued => self.check_queued(index, request),
                RequestState::Ended => self.release(index, request),
                RequestState::Free | RequestState::Filling => {}
            }
        }
        self.launch_next();
    }

    /// Whether a run is being carried out or cleared up.
    fn is_busy(&self) -> bool {
        self.board.requests.iter().any(|request| {
            matches!(
                request.state(),
                RequestState::Starting | RequestState::Working
            ) && matches!(request.errand(), Errand::Run | Errand::Recover)
        })
    }

    fn launch_new(&mut self, index: usize, request: &Request) {
        let errand = if self.is_busy() || self.first_queued().is_some() {
            Errand::Enqueue
        } else {
            Errand::Run
        };
        self.launch(index, request, errand);
    }

    fn first_queued(&self) -> Option<usize> {
        (0..self.board.requests.len())
            .filter(|&i| self.board.requests[i].state() == RequestState::Queued)
            .min_by_key(|&i| self.board.requests[i].ticket.load(Acquire))
    }

    fn launch_next(&mut self) {
        if self.is_busy() {
            return;
        }
        if let Some(index) = self.first_queued() {
            self.launch(index, &self.board.requests[index], Errand::Run);
        }
    }

    fn launch(&mut self, index: usize, request: &Request, errand: Errand) {
        request.set_errand(errand);
        request.coordinator.store(0, Release);
        request.set_state(RequestState::Starting);
        self.launched[index] = process::launch(Role::Coordinator, "", index as i32);
        if self.launched[index].is_none() {
            self.could_not_start(request, errand);
        }
    }

    /// A coordinator that has ended before it took its request could not start.
    fn check_start(&mut self, index: usize, request: &Request) {
        match &self.launched[index] {
            Some(handle) if handle.status() != Status::Stopped => {}
            // Launched by a janitor before this one, or dead at once.
            _ if request.state() == RequestState::Starting => {
                self.could_not_start(request, request.errand());
            }
            _ => {}
        }
    }

    fn could_not_start(&self, request: &Request, errand: Errand) {
        match errand {
            // Its row exists: tried again on a later patrol, when a slot may be free.
            Errand::Run | Errand::Withdraw if request.run_id.load(Acquire) != 0 => {
                request.set_state(RequestState::Queued);
            }
            Errand::Recover => request.set_state(RequestState::Working),
            _ => self.end(
                request,
                &Fault::new(
                    sqlstate::NO_RESOURCES,
                    "could not register background process",
                )
                .detail("The coordinator of the run could not be started.")
                .hint("You may need to increase \"max_worker_processes\"; see the server's log."),
            ),
        }
    }

    /// Ends a request by the janitor's own hand.
    fn end(&self, request: &Request, fault: &Fault) {
        request
            .outcome
            .set(&Outcome::Failed(fault.clone()).to_json());
        request.set_state(RequestState::Ended);
        shmem::announce();
    }

    /// A coordinator that is gone while its request is not over has died: clear up after it.
    fn check_work(&mut self, index: usize, request: &Request) {
        if process::is_alive(request.coordinator.load(Acquire))
            || request.state() != RequestState::Working
        {
            return;
        }
        self.board.run.stop.store(1, Release);
        let attempt = &mut self.recoveries[index];
        *attempt += 1;
        let home = request.home.load(Acquire);
        let home_exists = catalog::databases()
            .is_ok_and(|databases| databases.iter().any(|database| database.oid == home));
        if *attempt > RECOVERY_ATTEMPTS {
            self.free_run_area(index);
            return self.end(
                request,
                &Fault::new(
                    sqlstate::TERMINATED,
                    "the coordinator of the run was terminated",
                )
                .detail("Clearing up after it failed; see the server's log.")
                .hint("It is tried again at the next start of the server."),
            );
        }
        if home_exists {
            return self.launch(index, request, Errand::Recover);
        }
        // The home database was dropped: sweep from any other one.
        self.sweep();
        self.free_run_area(index);
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

    fn check_queued(&mut self, index: usize, request: &Request) {
        if request.cancel() != Cancel::No {
            self.launch(index, request, Errand::Withdraw);
        }
    }

    /// Frees an ended request that nobody waits for any more.
    fn release(&mut self, index: usize, request: &Request) {
        self.launched[index] = None;
        self.recoveries[index] = 0;
        if !process::is_alive(request.waiter.load(Acquire)) {
            request.set_state(RequestState::Free);
            shmem::announce();
        }
    }
}

/// Wakes the janitor.
pub fn wake(board: &Board) {
    process::wake(board.janitor_pid.load(Acquire));
}

/// Runs `f` in a transaction; logs what goes wrong. For what is done on the way out.
pub fn or_log<R>(what: &str, f: impl FnOnce() -> Result<R, Fault>) -> Option<R> {
    match xact::catch(f).and_then(|result| result) {
        Ok(result) => Some(result),
        Err(fault) => {
            xact::abort();
            log_warning(&fault.context(what));
            None
        }
    }
}
