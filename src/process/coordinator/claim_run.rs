//! Claims a queued run when its turn comes. Its arguments come from its row, which must not have changed. The role that asked for it must
//! still be allowed to run it.

use std::sync::atomic::Ordering::Acquire;

use pgfsbench_core::spec::Spec;
use serde::Deserialize;

use crate::{
    bench::{extension_dropped, the_extension},
    board::{Board, Request},
    errors::{Fault, read_json, sqlstate, unreadable},
    pg::{guc, process, session, sql, xact},
    store,
};

/// Rights of the role that has asked.
#[derive(Deserialize)]
struct Rights {
    name: Option<String>,
    may_run: bool,
    may_keep: bool,
}

const RIGHTS: &str = "SELECT jsonb_build_object('name', (SELECT rolname FROM pg_roles WHERE oid = $1::oid), \
      'may_run', coalesce(has_schema_privilege($1::oid, 'fsbench', 'USAGE') AND (SELECT bool_or(has_function_privilege($1::oid, p.oid, 'EXECUTE')) \
        FROM pg_proc p WHERE pronamespace = 'fsbench'::regnamespace AND proname IN ('run', 'start')), false), \
      'may_keep', coalesce(pg_has_role($1::oid, $2::oid, 'USAGE'), false))";

/// Whether the texts of a request still have to be read from its row.
pub fn is_unclaimed(board: &Board, request: &Request) -> bool {
    request.run_id.load(Acquire) != 0
        && board
            .texts(request)
            .is_some_and(|texts| texts.spec.is_empty())
}

/// Reads the texts of a queued run, and repeats the checks of its call: row, rights or extension may have changed.
pub fn claim_run(board: &Board, request: &Request) -> Result<(), Fault> {
    process::become_undisturbed_owner(request.owner.load(Acquire))?;
    if the_extension()? != request.extension.load(Acquire) {
        return Err(extension_dropped());
    }
    let run_id = request.run_id.load(Acquire);
    let queued = xact::transaction(|| store::queued(run_id))?.ok_or_else(|| not_queued(run_id))?;
    let fingerprint = [0, 1].map(|half: usize| request.fingerprint[half].load(Acquire));
    if !queued.is_unchanged(fingerprint) {
        return Err(Fault::new(
            sqlstate::NOT_IN_THIS_STATE,
            format!("the row of run {run_id} was changed while it was queued"),
        )
        .detail("It does not say any more what was asked for.")
        .hint("Start the run again."));
    }
    let spec: Spec =
        serde_json::from_value(queued.used.clone()).map_err(|e| unreadable("specification", e))?;
    xact::transaction(|| check_rights(request, &spec))?;
    if let Some(texts) = board.texts(request) {
        texts.arguments.set(&queued.asked.to_string());
        texts.spec.set(&queued.used.to_string());
    }
    Ok(())
}

/// The error of a run whose row is gone, or is over.
pub fn not_queued(run_id: i64) -> Fault {
    Fault::new(
        sqlstate::NOT_IN_THIS_STATE,
        format!("run {run_id} is not queued any more"),
    )
    .detail("Its row was deleted or changed while it waited for its turn.")
}

/// Whether the role that has asked may still have this run made.
fn check_rights(request: &Request, spec: &Spec) -> Result<(), Fault> {
    let (role, owner) = (request.role.load(Acquire), request.owner.load(Acquire));
    let text = sql::read(RIGHTS, &[Some(&role.to_string()), Some(&owner.to_string())])?;
    let rights: Rights = read_json("rights", &text.unwrap_or_default())?;
    let refusal = |message: String| {
        Fault::new(sqlstate::NOT_ALLOWED, message)
            .detail("Rights are looked at when a run is asked for, and again when its turn comes.")
    };
    let Some(name) = rights.name else {
        return Err(refusal(
            "the role that asked for the run was dropped".into(),
        ));
    };
    if !rights.may_run {
        return Err(refusal(format!(
            "role \"{name}\" may not make runs any more"
        )));
    }
    if spec.keep && !rights.may_keep {
        return Err(refusal(format!(
            "role \"{name}\" may not keep the work database any more"
        )));
    }
    for (name, value) in &spec.settings {
        if is_of_session(name)? {
            session::with_rights_of(role, || guc::check(name, value))?;
        }
    }
    Ok(())
}

/// Whether a session could set it: others are those of a server on a target, which any operator may choose.
fn is_of_session(name: &str) -> Result<bool, Fault> {
    let found = sql::read(
        "SELECT 1 FROM pg_settings WHERE lower(name) = $1 AND context IN ('user', 'superuser')",
        &[Some(name)],
    )?;
    Ok(found.is_some())
}
