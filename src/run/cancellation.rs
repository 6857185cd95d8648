//! Whether a run is to be cancelled, and the reason in words.

use std::sync::atomic::Ordering::Acquire;

use pgfsbench_core::run::request::unwanted;

use crate::{
    board::{Cancel, Request},
    clock,
    errors::{Fault, sqlstate},
    pg::process,
};

/// Whether the request is to be cancelled. A session that waits for it and has ended cancels it by that, and a lease by
/// running out.
pub fn is_cancelled(request: &Request) -> bool {
    let why = unwanted(waits(request), request.lease(), clock::now_ns());
    if why != Cancel::No {
        request.set_cancel(why, "");
    }
    request.cancel() != Cancel::No
}

/// Whether the session that waits for it is still there; None when no session waits.
fn waits(request: &Request) -> Option<bool> {
    let waiter = request.waiter.load(Acquire);
    let is_there = process::is_alive(waiter);
    // One that has only started the run says that it does not wait, and may have left, between the two.
    let is_same = request.waiter.load(Acquire) == waiter;
    (waiter != 0 && is_same).then_some(is_there)
}

/// Why the run was cancelled.
pub fn fault(request: &Request) -> Fault {
    if request.cancel() == Cancel::LeaseOver {
        return Fault::new(sqlstate::LEASE_OVER, "the lease of the run has run out")
            .detail(format!(
                "Whoever started it has not renewed the lease for {} ms: the connection is lost, or the server that asked does not run any more.",
                request.lease_ms.load(Acquire)
            ))
            .hint("Look at the server that has asked for the run, and start it there again.");
    }
    let fault = Fault::new(sqlstate::CANCELED, "the run was canceled");
    let by = request.cancelled_by.get();
    let reason = request.cancel().reason();
    fault.detail(match request.cancel() {
        Cancel::Requested if by.is_empty() => format!("It was {reason}."),
        Cancel::Requested => format!("It was {reason} of role \"{by}\"."),
        _ => format!("It was canceled because {reason}."),
    })
}
