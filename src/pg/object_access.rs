//! Keeps the tables of a run that is queued or on. A DROP of the extension, or a TRUNCATE of a table of its schema, would lose the run's results, and
//! is refused with the hint to cancel the run. Dropping an object that the extension depends on counts, too.
//!
//! The hook is called for each DDL command of the server: other commands pass it at once.

use std::sync::atomic::Ordering::Acquire;

use pgfsbench_core::units::format_ids;
use pgrx::{PgLogLevel, pg_guard, pg_sys, pg_sys::panic::ErrorReport};

use crate::{
    errors::{Fault, sqlstate},
    pg::{session, shmem},
};

static mut PREVIOUS: pg_sys::object_access_hook_type = None;

/// Looks at what is dropped or emptied from now on. From `_PG_init`, while shared libraries are preloaded.
pub fn install_hook() {
    // SAFETY: the postmaster is single-threaded here, and hooks are meant to be chained like this.
    unsafe {
        PREVIOUS = pg_sys::object_access_hook;
        pg_sys::object_access_hook = Some(on_access);
    }
}

// No guard here, for the sake of everything else that comes by: nothing in it panics.
unsafe extern "C-unwind" fn on_access(
    access: pg_sys::ObjectAccessType::Type,
    class: pg_sys::Oid,
    object: pg_sys::Oid,
    sub: i32,
    argument: *mut std::ffi::c_void,
) {
    use pg_sys::ObjectAccessType::{OAT_DROP, OAT_TRUNCATE};
    // SAFETY: what the server has called this with; the previous hook was set by another library.
    unsafe {
        if let Some(previous) = PREVIOUS {
            previous(access, class, object, sub, argument);
        }
        if access == OAT_DROP && class == pg_sys::ExtensionRelationId {
            before_drop(object);
        } else if access == OAT_TRUNCATE && class == pg_sys::RelationRelationId {
            before_truncate(object);
        }
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn before_drop(extension: pg_sys::Oid) {
    let runs = open_runs(|of| of == extension.to_u32());
    refuse("drop extension \"pgfsbench\"", &runs);
}

#[pg_guard]
unsafe extern "C-unwind" fn before_truncate(table: pg_sys::Oid) {
    let runs = open_runs(|_| true);
    // SAFETY: in a transaction that has locked the table.
    let is_ours = !runs.is_empty()
        && unsafe {
            pg_sys::get_rel_namespace(table) == pg_sys::get_namespace_oid(c"fsbench".as_ptr(), true)
        };
    if is_ours {
        refuse("truncate tables of pgfsbench", &runs);
    }
}

/// The runs of this database that are queued or on, of those extensions; 0 for one that is just about to get its number.
fn open_runs(is_of: impl Fn(u32) -> bool) -> Vec<i64> {
    let Some(board) = shmem::board() else {
        return Vec::new();
    };
    let extension_database = session::database();
    let mut runs: Vec<i64> = board
        .requests
        .iter()
        .filter(|request| {
            request.is_open()
                && request.extension_database.load(Acquire) == extension_database
                && is_of(request.extension.load(Acquire))
        })
        .map(|request| request.run_id.load(Acquire))
        .collect();
    runs.sort_unstable();
    runs
}

fn refuse(what: &str, runs: &[i64]) {
    if runs.is_empty() {
        return;
    }
    let fault = Fault::new(
        sqlstate::IN_USE,
        format!("cannot {what} while runs are queued or on"),
    )
    .detail(format!("Results would be lost, of run {}.", format_ids(runs)))
    .hint("Cancel them first: SELECT fsbench.cancel_experiment(experiment) FROM fsbench.experiments WHERE status IN ('queued', 'running'); SELECT fsbench.cancel(run_id) FROM fsbench.progress; then wait until that view is empty.");
    ErrorReport::from(fault).report(PgLogLevel::ERROR);
}
