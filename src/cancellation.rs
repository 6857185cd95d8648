//! Whether a run is to be cancelled, and the reason in words.

use std::sync::atomic::Ordering::Acquire;

use crate::{
    board::{Cancel, Request},
    errors::{Fault, sqlstate},
    pg::process,
};

/// Whether the request is to be cancelled. A session that waits for it and has ended cancels it by that.
pub fn is_cancelled(request: &Request) -> bool {
    let waiter = request.waiter.load(Acquire);
    if waiter != 0 && !process::is_alive(waiter) {
        request.set_cancel(Cancel::CallerGone, "");
    }
    request.cancel() != Cancel::No
}

/// Why the run was cancelled.
pub fn fault(request: &Request) -> Fault {
    let fault = Fault::new(sqlstate::CANCELED, "the run was canceled");
    let by = request.cancelled_by.get();
    let reason = request.cancel().reason();
    fault.detail(match request.cancel() {
        Cancel::Asked if by.is_empty() => format!("It was {reason}."),
        Cancel::Asked => format!("It was {reason} of role \"{by}\"."),
        _ => format!("It was canceled because {reason}."),
    })
}
