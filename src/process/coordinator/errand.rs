//! What a coordinator is launched for: a run, or its row when it is queued, withdrawn or left behind.

use std::sync::atomic::Ordering::{Acquire, Release};

use super::{Run, extension_dropped, free_run_area, insert, the_extension};
use crate::{
    board::{Errand, Request, RequestState, outcome::Outcome},
    errors::Fault,
    pg::{
        process::{self, Database},
        report, shmem, xact,
    },
    process::janitor,
    run::{cancellation, cleanup},
    store,
};

/// Main of the background worker; the argument is the request, or negative for a sweep, the serial number that of the launch.
pub fn main(argument: i32, launch: u32) {
    let Some(board) = shmem::board() else { return };
    if argument < 0 {
        return cleanup::sweep(board);
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
            let recovered = cleanup::recover(board, request);
            free_run_area(board, argument as u32);
            match recovered {
                Ok(()) => RequestState::Ended,
                Err(fault) => return report::log_warning(&fault.context("could not clear up")),
            }
        }
        Errand::Run => {
            let clean = Run::new(board, request, argument as u32).and_then(Run::live);
            match clean {
                Ok(()) => RequestState::Ended,
                // What was made is still there: the janitor sends another worker to clear up.
                Err(fault) => return report::log_warning(&fault.context("could not clear up")),
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

fn enqueue(request: &Request) -> Result<(), Fault> {
    process::become_undisturbed_owner(request.owner.load(Acquire))?;
    if the_extension()? != request.extension.load(Acquire) {
        return Err(extension_dropped());
    }
    insert(request, &request.specification()?, "queued").map(|_| ())
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
