//! Targets that are in use cannot be changed, or used by another run.

use std::sync::atomic::Ordering::Acquire;

use pgfsbench_core::refusal::quoted;

use crate::{
    board::{Board, Request},
    errors::{Fault, sqlstate},
    pg::{session, xact},
    store,
    target::helper_job,
};

/// The name of a target: NULL is none, and means no other.
pub fn named(target: Option<String>) -> Result<String, Fault> {
    target.ok_or_else(|| {
        Fault::new(sqlstate::INVALID_PARAMETER, "target must not be null")
            .detail("It is the name of a row of fsbench.target.")
            .hint("The target \"default\" is the filesystem of this server's own data directory.")
    })
}

/// Refuses to change a target that a run of this database is on or waits for, or that an experiment has still to do with.
pub fn check_unused(board: &Board, name: &str) -> Result<(), Fault> {
    match user_of(board, name)? {
        None => check_no_experiment(name),
        Some(run_id) => Err(
            Fault::new(sqlstate::IN_USE, format!("target \"{name}\" is in use"))
                .detail(format!("Run {run_id} is on it, or waits for it."))
                .hint("Wait for the run with fsbench.wait(), or cancel it with fsbench.cancel()."),
        ),
    }
}

fn check_no_experiment(name: &str) -> Result<(), Fault> {
    match store::experiment::using(name)? {
        None => Ok(()),
        Some(experiment) => Err(Fault::new(
            sqlstate::IN_USE,
            format!("target \"{name}\" is in use"),
        )
        .detail(format!(
            "Experiment {} is not over, and all of its runs are to be on the same target.",
            quoted(&experiment)
        ))
        .hint("Wait for it with CALL fsbench.wait_experiment(), or cancel it with fsbench.cancel_experiment().")),
    }
}

/// A run of this database that is on the target, or waits for it.
fn user_of(board: &Board, name: &str) -> Result<Option<i64>, Fault> {
    let of_this_database = || {
        let extension_database = session::database();
        let is_open = move |r: &&Request| {
            r.is_open() && r.extension_database.load(Acquire) == extension_database
        };
        board.requests.iter().filter(is_open)
    };
    let is_on_it = |request: &&Request| {
        let spec = board.specification(request);
        spec.is_ok_and(|spec| spec.target == name)
    };
    if let Some(request) = of_this_database().find(is_on_it) {
        return Ok(Some(request.run_id.load(Acquire)));
    }
    // A run that only waits is known by its row.
    let waiting: Vec<i64> = of_this_database()
        .map(|request| request.run_id.load(Acquire))
        .collect();
    store::queued_on(name, &waiting)
}

/// Refuses a target that a user has prepared by hand.
pub fn check_not_prepared(owner: u32, name: &str) -> Result<(), Fault> {
    let prepared = session::with_rights_of(owner, || {
        xact::without_keeping_locks(|| helper_job::prepared_by(name))
    })?;
    match prepared {
        Some(None) => Err(Fault::new(
            sqlstate::IN_USE,
            format!("target \"{name}\" is prepared already"),
        )
        .detail("Somebody has called fsbench.prepare_target() to look at it.")
        .hint("Call fsbench.release_target() first.")),
        _ => Ok(()),
    }
}
