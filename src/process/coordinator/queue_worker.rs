//! Rows of runs that wait for their turn: they are stored, and ended when the run is withdrawn.
//!
//! A worker that was launched for one such row stays for a moment, and serves the other requests of its database, too: with
//! thousands of them, a worker for each would take a hundred times as long. Without a free worker slot, the coordinator of the current run
//! does this work between two of its own steps.

use std::{
    sync::atomic::Ordering::{AcqRel, Acquire, Release},
    time::{Duration, Instant},
};

use super::insert;
use crate::{
    bench::{Run, extension_dropped, the_extension},
    board::{Board, CoordinatorTask, Request, RequestState, outcome::Outcome},
    errors::Fault,
    pg::{guc, process, report, shmem, xact},
    process::janitor,
    run::cancellation,
    store,
};

/// The time that an idle worker stays.
const PATIENCE: Duration = Duration::from_millis(100);
/// Waits for locks without a limit.
const NO_TIMEOUT: &str = "0";

/// Puts a request into the queue, or takes it out of it, by its errand.
pub fn carry_out(board: &Board, request: &Request) {
    carry_out_within(board, request, NO_TIMEOUT);
}

fn carry_out_within(board: &Board, request: &Request, lock_timeout: &str) {
    let next = match request.task() {
        CoordinatorTask::Enqueue => match enqueue(board, request, lock_timeout) {
            Ok(()) => {
                // The caller needs the number alone, which is there.
                board.take_texts_back(request.ticket.load(Acquire));
                RequestState::Queued
            }
            Err(fault) => end(board, request, fault),
        },
        _ => withdraw_within(board, request, cancellation::fault(request), lock_timeout),
    };
    request.set_state(next);
    shmem::announce();
}

/// Serves the queue of this database, until no request comes for a moment.
pub fn serve(board: &Board, extension_database: u32) {
    let pid = process::my_pid();
    let is_taken = shmem::locked(|| {
        let taken = process::is_alive(board.queue_worker.load(Acquire));
        if !taken {
            board
                .queue_worker_database
                .store(extension_database, Release);
            board.queue_worker.store(pid, Release);
        }
        taken
    });
    if is_taken {
        return;
    }
    let mut idle_since = Instant::now();
    loop {
        let left = PATIENCE.saturating_sub(idle_since.elapsed());
        // A caller after this has the janitor launch another worker.
        let request = shmem::locked(|| {
            let request = board.take_task(extension_database, pid);
            if request.is_none() && left.is_zero() {
                board.queue_worker.store(0, Release);
            }
            request
        });
        match request {
            Some(request) => {
                carry_out(board, request);
                idle_since = Instant::now();
            }
            None if left.is_zero() => return,
            None => {
                // A run that is queued now may be the next, and a request that has ended is to be freed.
                janitor::wake(board);
                shmem::wait_for_change(left, || board.task_of(extension_database).is_some());
            }
        }
    }
}

/// Ends the service on every way out: another process may get this pid.
pub fn leave(board: &Board) {
    let pid = process::my_pid();
    let _ = board.queue_worker.compare_exchange(pid, 0, AcqRel, Acquire);
}

impl Run {
    /// If no worker can be launched, this one does part of its work, for runs of its own database.
    pub fn stand_in(&self) -> Result<(), Fault> {
        if self.board.no_slot.load(Acquire) == 0 {
            return Ok(());
        }
        let (extension_database, owner) = (&self.request.extension_database, &self.request.owner);
        let taken = shmem::locked(|| {
            let (request, _) = self.board.task_of(extension_database.load(Acquire))?;
            let is_ours = request.extension.load(Acquire) == self.extension
                && request.owner.load(Acquire) == owner.load(Acquire);
            is_ours.then(|| {
                self.board
                    .take_task(extension_database.load(Acquire), process::my_pid())
            })?
        });
        if let Some(request) = taken {
            // A lock on run_log must not keep this run from looking after itself.
            carry_out_within(self.board, request, "1s");
            guc::apply("lock_timeout", NO_TIMEOUT)?;
        }
        Ok(())
    }
}

/// The end of a request, with an error as its outcome.
fn end(board: &Board, request: &Request, fault: Fault) -> RequestState {
    Outcome::Failed(fault).tell(board, request);
    RequestState::Ended
}

fn become_owner(request: &Request, lock_timeout: &str) -> Result<(), Fault> {
    process::become_undisturbed_owner(request.owner.load(Acquire))?;
    guc::apply("lock_timeout", lock_timeout)
}

fn enqueue(board: &Board, request: &Request, lock_timeout: &str) -> Result<(), Fault> {
    become_owner(request, lock_timeout)?;
    if the_extension()? != request.extension.load(Acquire) {
        return Err(extension_dropped());
    }
    insert(board, request, &board.specification(request)?, "queued").map(|_| ())
}

/// Ends a request that has waited and is not carried out, and its row, if that is there.
pub fn withdraw(board: &Board, request: &Request, fault: Fault) -> RequestState {
    withdraw_within(board, request, fault, NO_TIMEOUT)
}

fn withdraw_within(
    board: &Board,
    request: &Request,
    fault: Fault,
    lock_timeout: &str,
) -> RequestState {
    let set_failed = || {
        become_owner(request, lock_timeout)?;
        if the_extension()? == request.extension.load(Acquire) {
            xact::transaction(|| store::set_failed(request.run_id.load(Acquire), &fault, None))?;
        }
        Ok(())
    };
    report::or_log("could not store the end of the run", set_failed);
    end(board, request, fault)
}
