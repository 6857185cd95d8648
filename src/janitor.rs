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
    recovery,
};

/// How often a dead coordinator's run is cleared up again when that fails, and how often a queued run is started whose
/// coordinator ends at once.
const ATTEMPTS: u32 = 3;
/// How long a coordinator that an earlier janitor has launched may take to start.
const START_TIME: Duration = Duration::from_secs(10);
/// How long it takes to find out by itself that something is to be done, when nobody wakes it.
const PATROL: Duration = Duration::from_secs(5);

struct Janitor {
    board: &'static Board,
    /// By request.
    launched: Vec<Launched>,
}

/// What the janitor knows of the coordinators of a request.
#[derive(Default)]
struct Launched {
    /// The latest; None when an earlier janitor has launched it.
    handle: Option<Handle>,
    /// Since when one is awaited that an earlier janitor has launched.
    awaited_since: Option<Instant>,
    /// How many ended before they took the request.
    deaths: u32,
    /// How many were to recover.
    recoveries: u32,
}

impl Launched {
    fn has_stopped(&self) -> bool {
        self.handle
            .as_ref()
            .is_some_and(|handle| handle.status() == Status::Stopped)
    }
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
        launched: (0..board.requests.len())
            .map(|_| Launched::default())
            .collect(),
    };
    if board.recovered.load(Acquire) == 0 {
        janitor.sweep();
        board.recovered.store(1, Release);
        shmem::announce();
    }
    loop {
        or_log("error in the janitor", || {
            janitor.patrol();
            process::wait(PATROL);
            Ok(())
        });
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
        let launched = &mut self.launched[index];
        launched.handle = process::launch(Role::Coordinator, "", index as i32);
        launched.awaited_since = None;
        if launched.handle.is_none() {
            self.could_not_start(index, request, errand);
        }
    }

    /// A coordinator that has ended before it took its request could not start.
    fn check_start(&mut self, index: usize, request: &Request) {
        let launched = &mut self.launched[index];
        let ended = match launched.handle {
            Some(_) => launched.has_stopped(),
            None => {
                let since = launched.awaited_since.get_or_insert_with(Instant::now);
                since.elapsed() > START_TIME
            }
        };
        // Asked again: it may have taken the request, and have ended since.
        if ended && request.state() == RequestState::Starting {
            launched.deaths += 1;
            self.could_not_start(index, request, request.errand());
        }
    }

    fn could_not_start(&self, index: usize, request: &Request, errand: Errand) {
        let deaths = self.launched[index].deaths;
        match errand {
            Errand::Recover => request.set_state(RequestState::Working),
            Errand::Run | Errand::Withdraw if deaths > 0 && !home_exists(request) => {
                self.end(request, &home_dropped());
            }
            // Its row exists: tried again on a later patrol, when a slot may be free.
            Errand::Run | Errand::Withdraw
                if request.run_id.load(Acquire) != 0 && deaths < ATTEMPTS =>
            {
                request.set_state(RequestState::Queued);
            }
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
        // Of one that an earlier janitor has launched only the pid is known.
        let gone = self.launched[index].has_stopped()
            || !process::is_alive(request.coordinator.load(Acquire));
        if !gone || request.state() != RequestState::Working {
            return;
        }
        self.board.run.stop.store(1, Release);
        let attempt = &mut self.launched[index].recoveries;
        *attempt += 1;
        if *attempt > ATTEMPTS {
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
        if home_exists(request) {
            return self.launch(index, request, Errand::Recover);
        }
        // Swept from any other database.
        recovery::end_crew(self.board);
        self.sweep();
        self.free_run_area(index);
        self.end(request, &home_dropped());
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
        self.launched[index] = Launched::default();
        // Its waiter may just be doing the same, and the next caller may have claimed it then.
        if !process::is_alive(request.waiter.load(Acquire))
            && request.advance(RequestState::Ended, RequestState::Free)
        {
            shmem::announce();
        }
    }
}

/// Whether the database of a request is still there; yes if that cannot be found out.
fn home_exists(request: &Request) -> bool {
    let home = request.home.load(Acquire);
    catalog::databases().map_or(true, |databases| {
        databases.iter().any(|database| database.oid == home)
    })
}

fn home_dropped() -> Fault {
    Fault::new(sqlstate::TERMINATED, "the database of the run was dropped")
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
