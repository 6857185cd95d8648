//! `version()`, what CREATE EXTENSION says, what pgfsbench_report needs, and what follows from functions that are new.

use pgrx::{pg_extern, pg_sys::panic::ErrorReport};

use super::guard;
use crate::{
    errors::{Fault, sqlstate},
    pg::{extension_statements::AfterUpdate, report, shmem, sql},
    run::worker_slots,
    target::orphaned_data,
};

#[pg_extern(sql = false)]
fn fsbench_version() -> &'static str {
    guard::VERSION
}

#[pg_extern(sql = false)]
fn fsbench_check_preloaded() -> Result<(), ErrorReport> {
    orphaned_data::forget()?;
    let mut hints = Vec::new();
    let mut problems = Vec::new();
    if shmem::board().is_none() {
        problems.push("pgfsbench is not in shared_preload_libraries, so that no benchmark can run");
        hints.push(guard::preload_statement()?);
    }
    let slots = worker_slots::max_worker_processes()?;
    if slots < worker_slots::FEW_SLOTS {
        problems.push("max_worker_processes is low, so that only a few clients can run");
        hints.push(format!(
            "ALTER SYSTEM SET max_worker_processes = {};",
            worker_slots::ENOUGH_SLOTS
        ));
    }
    if !problems.is_empty() {
        report::log_warning(
            &Fault::new(sqlstate::NOT_IN_THIS_STATE, problems.join("; "))
                .hint(format!("Run {} and restart the server.", hints.join(" "))),
        );
    }
    Ok(())
}

/// Names the missing package: PostgreSQL itself would name an extension that the user did not ask for.
pub fn check_report() -> Result<(), ErrorReport> {
    let major = sql::read(
        "SELECT current_setting('server_version_num')::integer / 10000 \
         WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_available_extensions WHERE name = 'plpython3u')",
        &[],
    )?;
    let Some(major) = major else { return Ok(()) };
    Err(Fault::new(
        sqlstate::NOT_IN_THIS_STATE,
        "extension \"pgfsbench_report\" needs plpython3u, which is not installed on this machine",
    )
    .detail("Pages are made in PL/Python.")
    .hint(format!(
        "Install the package of PL/Python for PostgreSQL {major}: on Debian and Ubuntu postgresql-plpython3-{major}, on Red Hat and its kin postgresql{major}-plpython3."
    ))
    .into())
}

/// Before an upgrade: which rights each operator has. Gives what grants operators the rights that are new then.
pub fn before_update() -> Result<Option<AfterUpdate>, ErrorReport> {
    // A function of that name counts only as a member of the extension: a schema fsbench of another role may have one of its own. CREATE
    // EXTENSION IF NOT EXISTS succeeds for every role where there is nothing to do.
    let may_call = sql::read(
        "SELECT 1 FROM pg_extension e JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e' \
         WHERE e.extname = 'pgfsbench' AND d.classid = 'pg_proc'::regclass AND d.objid = to_regprocedure('fsbench._operators_have()') \
           AND has_function_privilege(d.objid, 'EXECUTE')",
        &[],
    )?;
    if may_call.is_none() {
        return Ok(None);
    }
    let before = sql::read("SELECT fsbench._operators_have()", &[])?;
    let renew = |before: String| -> AfterUpdate {
        Box::new(move || {
            sql::write(
                "SELECT fsbench._renew_operators($1::jsonb)",
                &[Some(&before)],
            )?;
            Ok(())
        })
    };
    Ok(before.map(renew))
}
