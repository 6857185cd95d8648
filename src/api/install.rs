//! `version()`, and what CREATE EXTENSION says.

use pgrx::{PgLogLevel, pg_extern, pg_sys::panic::ErrorReport};

use super::guard;
use crate::{
    errors::{Fault, sqlstate},
    pg::shmem,
    process::janitor,
};

/// Under this many worker slots a run with a few clients does not fit.
pub const FEW_SLOTS: i64 = 16;
/// What is suggested then.
pub const ENOUGH_SLOTS: i64 = 64;

#[pg_extern(sql = false)]
fn fsbench_version() -> &'static str {
    guard::VERSION
}

#[pg_extern(sql = false)]
fn fsbench_check_preloaded() -> Result<(), ErrorReport> {
    let mut hints = Vec::new();
    let mut problems = Vec::new();
    if shmem::board().is_none() {
        problems.push("pgfsbench is not in shared_preload_libraries, so that no benchmark can run");
        hints.push(guard::preload_statement()?);
    }
    let slots = super::request::max_worker_processes()?;
    if slots < FEW_SLOTS {
        problems.push("max_worker_processes is low, so that only a few clients can run");
        hints.push(format!(
            "ALTER SYSTEM SET max_worker_processes = {ENOUGH_SLOTS};"
        ));
    }
    if !problems.is_empty() {
        janitor::log_warning(
            &Fault::new(sqlstate::NOT_IN_THIS_STATE, problems.join("; "))
                .hint(format!("Run {} and restart the server.", hints.join(" "))),
        );
    }
    Ok(())
}

/// Tells the caller something that is not an error.
pub fn notice(message: String, hint: Option<String>) {
    let mut report = ErrorReport::new(
        pgrx::PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION,
        message,
        "pgfsbench",
    );
    if let Some(hint) = hint {
        report = report.set_hint(hint);
    }
    report.report(PgLogLevel::NOTICE);
}
