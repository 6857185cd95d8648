//! `define_study` and `drop_study`.

use pgfsbench_core::{
    quoting::sql_literal,
    refusal::quoted,
    study::{builtin, check},
};
use pgrx::{pg_extern, pg_sys::panic::ErrorReport};

use super::started;
use crate::{
    api::{
        experiment::tell_conductor,
        guard::{self, Ready},
    },
    errors::{Fault, sqlstate, to_json_text},
    pg::{
        session, sql,
        text::{Document, ReturnedText, Text},
        xact,
    },
    run::marker,
    store::{experiment as experiments, study as store},
};

/// With the caller's own rights: what is written there says which filesystems are made, and on which devices.
#[pg_extern(sql = false)]
fn fsbench_define_study(definition: Option<Document>) -> Result<ReturnedText, ErrorReport> {
    guard::extension()?;
    xact::check_may_write(c"fsbench.define_study()");
    let study = check::parse(definition.map(|d| d.0).unwrap_or_default()).map_err(Fault::from)?;
    if builtin::find(&study.study).map_err(Fault::from)?.is_some() {
        return Err(Fault::new(
            sqlstate::EXISTS_ALREADY,
            format!("study {} comes with pgfsbench", quoted(&study.study)),
        )
        .detail("What an author has published is not changed.")
        .hint("Give your own study another name.")
        .into());
    }
    sql::write(
        "INSERT INTO fsbench.study_definition (study, definition) VALUES ($1, $2::jsonb) \
         ON CONFLICT (study) DO UPDATE SET definition = EXCLUDED.definition, defined_by = EXCLUDED.defined_by, defined_at = EXCLUDED.defined_at",
        &[Some(&study.study), Some(&to_json_text(&study)?)],
    )?;
    Ok(ReturnedText(study.study))
}

/// Drops a study: a defined study without runs is forgotten, else its targets, experiments and runs go.
#[pg_extern(sql = false)]
fn fsbench_drop_study(
    study: Option<Text>,
    keep_runs: Option<bool>,
) -> Result<ReturnedText, ErrorReport> {
    let ready = guard::ready()?;
    xact::check_may_write(c"fsbench.drop_study()");
    let name: Option<String> = study.map(Into::into);
    let is_started = match &name {
        Some(name) => session::with_rights_of(ready.owner, || store::started(name))?.is_some(),
        None => false,
    };
    if !is_started
        && let Some(name) = &name
        && session::with_rights_of(ready.owner, || store::defined(name))?.is_some()
        && store::forget(name)?
    {
        return Ok(ReturnedText(name.clone()));
    }
    let found = started(ready.owner, name.as_deref())?;
    let what = format!("study {}", quoted(&found.definition.study));
    let role = session::with_rights_of(ready.owner, || role_that_asked(&ready, &found))?;
    guard::check_may_change(ready.owner, &what, role, &found.requested_by)?;
    let name = &found.definition.study;
    session::with_rights_of(ready.owner, || -> Result<_, Fault> {
        let mut ids: Vec<i64> = store::experiments(name)?.into_values().collect();
        ids.sort_unstable();
        ids.into_iter()
            .try_for_each(|id| experiments::lock(id).map(drop))
    })?;
    if let Some(experiment) = session::with_rights_of(ready.owner, || store::on(name))? {
        return Err(Fault::new(sqlstate::IN_USE, format!("study {} is on", quoted(name)))
            .detail(format!("Experiment {} is not over.", quoted(&experiment)))
            .hint(format!(
                "Wait for it, or end it with: SELECT fsbench.cancel_experiment(e.experiment) FROM fsbench.experiments AS e JOIN fsbench.studies AS s ON e.experiment = ANY (s.experiments) WHERE s.study = {} AND e.status NOT IN ('done', 'cancelled')",
                sql_literal(name)
            ))
            .into());
    }
    let keeps = keep_runs.unwrap_or(false);
    let targets = session::with_rights_of(ready.owner, || -> Result<_, Fault> {
        for (_, id) in store::experiments(name)? {
            let runs = store::runs(id)?;
            experiments::delete(id)?;
            if !keeps {
                store::delete_runs(&runs)?;
            }
        }
        store::delete(name)
    })?;
    tell_conductor();
    if !keeps {
        for target in targets {
            sql::write("SELECT fsbench.drop_target($1)", &[Some(&target)])?;
        }
    }
    Ok(ReturnedText(found.definition.study))
}

/// The role that has asked for a study; None when it was dropped, which the mark of any of its experiments tells. With the rights of the extension's owner.
fn role_that_asked(ready: &Ready, found: &store::Started) -> Result<Option<u32>, Fault> {
    for id in store::experiments(&found.definition.study)?.into_values() {
        let steered = experiments::steered(id)?;
        if let Some(steered) = steered
            && marker::role_that_asked(&steered, ready.extension)?.is_none()
        {
            return Ok(None);
        }
    }
    Ok(found.role)
}
