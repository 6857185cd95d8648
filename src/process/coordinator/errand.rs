//! What a coordinator is launched for: a run, or its row when it is queued, withdrawn or left behind.

use std::sync::atomic::Ordering::{Acquire, Release};

use super::{Run, extension_dropped, free_run_area, insert, the_extension, turn};
use crate::{
    board::{Board, Errand, Request, RequestState, outcome::Outcome},
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
        Errand::Enqueue => match enqueue(board, request) {
            Ok(()) => {
                // Whoever asked needs the number alone, which is there.
                board.take_papers_back(request.ticket.load(Acquire));
                RequestState::Queued
            }
            Err(fault) => end(board, request, fault),
        },
        Errand::Withdraw => withdraw(board, request, cancellation::fault(request)),
        Errand::Recover => {
            let recovered = cleanup::recover(board, request);
            free_run_area(board, argument as u32);
            match recovered {
                Ok(()) => RequestState::Ended,
                Err(fault) => return report::log_warning(&fault.context("could not clear up")),
            }
        }
        Errand::Run => {
            if turn::is_to_be_taken_up(board, request)
                && let Err(fault) = turn::take_up(board, request)
            {
                request.set_state(withdraw(board, request, fault));
                return shmem::announce();
            }
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

/// The end of a request, with an error as its outcome.
fn end(board: &Board, request: &Request, fault: Fault) -> RequestState {
    Outcome::Failed(fault).tell(board, request);
    RequestState::Ended
}

fn enqueue(board: &Board, request: &Request) -> Result<(), Fault> {
    process::become_undisturbed_owner(request.owner.load(Acquire))?;
    if the_extension()? != request.extension.load(Acquire) {
        return Err(extension_dropped());
    }
    insert(board, request, &board.specification(request)?, "queued").map(|_| ())
}

/// Ends a request that has waited and is not carried out, and its row, if that is there.
fn withdraw(board: &Board, request: &Request, fault: Fault) -> RequestState {
    let set_failed = || {
        process::become_undisturbed_owner(request.owner.load(Acquire))?;
        if the_extension()? == request.extension.load(Acquire) {
            xact::transaction(|| store::set_failed(request.run_id.load(Acquire), &fault, None))?;
        }
        Ok(())
    };
    report::or_log("could not store the end of the run", set_failed);
    end(board, request, fault)
}
