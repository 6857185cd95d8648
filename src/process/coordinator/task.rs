//! The errand of a coordinator: a run, or its row when it is queued, withdrawn or left behind.

use std::sync::atomic::Ordering::{Acquire, Release};

use super::{claim_run, free_run_area, queue_worker};
use crate::{
    bench::Run,
    board::{CoordinatorTask, Request, RequestState},
    pg::{
        process::{self, Database},
        report, shmem,
    },
    process::janitor,
    run::cleanup,
};

/// Main of the background worker; the argument is the request, or negative for a sweep, the serial number that of the launch.
pub fn main(argument: i32, launch: u32) {
    let Some(board) = shmem::board() else { return };
    if argument < 0 {
        return cleanup::sweep(board);
    }
    let request = &board.requests[argument as usize];
    process::connect(Database::Oid(request.extension_database.load(Acquire)));
    process::wait_until_known();
    if !claim(request, launch) {
        return;
    }
    let task = request.task();
    process::report_activity("pgfsbench coordinator");
    // On every way out the janitor has to look: for the next run, or for what is left of this one.
    process::on_exit(|| {
        if let Some(board) = shmem::board() {
            queue_worker::leave(board);
            janitor::wake(board);
        }
    });
    let next = match task {
        CoordinatorTask::Enqueue | CoordinatorTask::Withdraw => {
            queue_worker::carry_out(board, request);
            return queue_worker::serve(board, request.extension_database.load(Acquire));
        }
        CoordinatorTask::Recover => {
            let recovered = cleanup::recover(board, request);
            free_run_area(board, argument as u32);
            match recovered {
                Ok(()) => RequestState::Ended,
                Err(fault) => return report::log_warning(&fault.context("could not clear up")),
            }
        }
        CoordinatorTask::Run => {
            if claim_run::is_unclaimed(board, request)
                && let Err(fault) = claim_run::claim_run(board, request)
            {
                request.set_state(queue_worker::withdraw(board, request, fault));
                return shmem::announce();
            }
            let run = Run::new(board, request, argument as u32, Run::stand_in);
            let clean = run.and_then(Run::live);
            match clean {
                Ok(()) => RequestState::Ended,
                // Things that the run made are still there: the janitor sends another worker to clear up.
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
