//! Targets that are in use are not changed, and not used by somebody else.

use crate::{
    board::{Board, RequestState},
    errors::Fault,
    pg::{session, xact},
    target::helper_job,
};

/// Refuses to change a target that a run of this database is on or waits for.
pub fn check_unused(board: &Board, name: &str) -> Result<(), Fault> {
    use std::sync::atomic::Ordering::Acquire;
    let user = board.requests.iter().find(|request| {
        !matches!(
            request.state(),
            RequestState::Free | RequestState::Filling | RequestState::Ended
        ) && request.home.load(Acquire) == session::database()
            && request
                .specification()
                .is_ok_and(|spec| spec.target == name)
    });
    match user {
        None => Ok(()),
        Some(request) => Err(Fault::new("55006", format!("target \"{name}\" is in use"))
            .detail(format!(
                "Run {} is on it, or waits for it.",
                request.run_id.load(Acquire)
            ))
            .hint("Wait for the run with fsbench.wait(), or cancel it with fsbench.cancel().")),
    }
}

/// Refuses what cannot be while somebody looks at a target that he had prepared.
pub fn check_not_prepared(owner: u32, name: &str) -> Result<(), Fault> {
    let prepared = session::with_rights_of(owner, || {
        xact::without_keeping_locks(|| helper_job::prepared_by(name))
    })?;
    match prepared {
        Some(None) => Err(
            Fault::new("55006", format!("target \"{name}\" is prepared already"))
                .detail("Somebody has called fsbench.prepare_target() to look at it.")
                .hint("Call fsbench.release_target() first."),
        ),
        _ => Ok(()),
    }
}
