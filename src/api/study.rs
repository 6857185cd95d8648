//! `study`, `study_plan`, `study_report`, `study_claims`, `define_study` and `drop_study`.

mod change;
mod evidence;
mod facts;
mod starting;

use pgfsbench_core::{
    experiment::state::State,
    refusal::quoted,
    study::{arguments, builtin, claims, definition::Study, not_tested::StudyContext, report},
};
use pgrx::{iter::TableIterator, name, pg_extern, pg_sys::panic::ErrorReport};

use super::guard;
use crate::{
    errors::{Fault, sqlstate, to_json_text},
    pg::{
        session,
        text::{ReturnedText, Text},
    },
    store::study as store,
};

/// The definition of this name: a study that comes with pgfsbench, or a user's own.
fn definition(owner: u32, name: Option<&str>) -> Result<Study, Fault> {
    let built_in = builtin::all().map_err(Fault::from)?;
    if let Some(name) = name {
        if let Some(found) = built_in.iter().find(|study| study.study == name) {
            return Ok(found.clone());
        }
        if let Some(found) = session::with_rights_of(owner, || store::defined(name))? {
            return Ok(found);
        }
    }
    let mut known: Vec<String> = built_in.into_iter().map(|study| study.study).collect();
    known.extend(session::with_rights_of(owner, store::names)?);
    Err(arguments::unknown(name, &known).into())
}

/// The study of this name that was started.
fn started(owner: u32, name: Option<&str>) -> Result<store::Started, Fault> {
    let found = match name {
        Some(name) => session::with_rights_of(owner, || store::started(name))?,
        None => None,
    };
    if let Some(found) = found {
        return Ok(found);
    }
    let study = definition(owner, name)?;
    Err(Fault::new(
        sqlstate::INVALID_PARAMETER,
        format!("study {} was not started", quoted(&study.study)),
    )
    .detail("Nothing of it was measured in this database.")
    .hint("Start it with fsbench.study(); fsbench.published has the author's figures."))
}

#[pg_extern(sql = false)]
fn fsbench_builtin_studies() -> Result<
    TableIterator<'static, (name!(study, ReturnedText), name!(definition, ReturnedText))>,
    ErrorReport,
> {
    let mut rows = Vec::new();
    for study in builtin::all().map_err(Fault::from)? {
        let text = to_json_text(&study)?;
        rows.push((ReturnedText(study.study), ReturnedText(text)));
    }
    Ok(TableIterator::new(rows))
}

/// Gives what `f` makes of a started study and of what its experiments say.
fn with_evidence<R>(
    study: Option<Text>,
    f: impl FnOnce(&StudyContext<'_>, &evidence::ByQuestion) -> Vec<R>,
) -> Result<Vec<R>, Fault> {
    let owner = guard::extension()?.owner;
    let name: Option<String> = study.map(Into::into);
    let found = started(owner, name.as_deref())?;
    let here = StudyContext::new(&found.definition, &found.asked, &found.facts);
    let evidence = session::with_rights_of(owner, || evidence::gather(&here))?;
    Ok(f(&here, &evidence))
}

#[allow(clippy::type_complexity)]
#[pg_extern(sql = false)]
fn fsbench_study_claims(
    study: Option<Text>,
) -> Result<
    TableIterator<
        'static,
        (
            name!(claim, ReturnedText),
            name!(says, ReturnedText),
            name!(seen, ReturnedText),
            name!(decided_by, ReturnedText),
            name!(here, ReturnedText),
            name!(estimate, Option<f64>),
            name!(low, Option<f64>),
            name!(high, Option<f64>),
            name!(why, ReturnedText),
        ),
    >,
    ErrorReport,
> {
    let rows = with_evidence(study, claims::judge)?;
    Ok(TableIterator::new(rows.into_iter().map(|row| {
        (
            row.claim.into(),
            row.says.into(),
            row.seen.into(),
            row.decided_by.into(),
            row.here.into(),
            row.estimate,
            row.low,
            row.high,
            row.why.into(),
        )
    })))
}

#[allow(clippy::type_complexity)]
#[pg_extern(sql = false)]
fn fsbench_study_report(
    study: Option<Text>,
) -> Result<
    TableIterator<
        'static,
        (
            name!(question, Option<ReturnedText>),
            name!(variant, ReturnedText),
            name!(metric, ReturnedText),
            name!(published, Option<f64>),
            name!(unit, Option<ReturnedText>),
            name!(published_percent, Option<f64>),
            name!(measured, Option<f64>),
            name!(measured_percent, Option<f64>),
            name!(runs, Option<i32>),
            name!(ratio, Option<f64>),
            name!(low, Option<f64>),
            name!(high, Option<f64>),
            name!(compared, Option<ReturnedText>),
            name!(remark, Option<ReturnedText>),
            name!(not_tested, Option<ReturnedText>),
        ),
    >,
    ErrorReport,
> {
    let rows = with_evidence(study, report::report)?;
    Ok(TableIterator::new(rows.into_iter().map(|row| {
        (
            row.question.map(ReturnedText),
            row.variant.into(),
            row.metric.into(),
            row.published,
            row.unit.map(ReturnedText),
            row.published_percent,
            row.measured,
            row.measured_percent,
            row.runs,
            row.ratio,
            row.low,
            row.high,
            row.order.map(ReturnedText::from),
            row.remark.map(ReturnedText),
            row.not_tested.map(ReturnedText),
        )
    })))
}

/// Whose disk it was that the runs of an experiment were made on.
fn where_made(state: &State) -> Result<Option<String>, Fault> {
    let facts = crate::run::experiment::facts(state)?;
    let is_on_images = facts.iter().any(|f| f.kind.as_deref() == Some("image"));
    let machine = facts.iter().find_map(|f| f.virtualization.clone());
    let machine = machine.filter(|kind| kind != "none");
    let parts: Vec<String> = [
        is_on_images.then(|| "on an image".to_owned()),
        machine.map(|kind| format!("in a virtual machine ({kind})")),
    ]
    .into_iter()
    .flatten()
    .collect();
    Ok((!parts.is_empty()).then(|| parts.join(", ")))
}
