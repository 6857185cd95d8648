//! `experiment`, and what is done with one: `compare`, `recommend`, pause and the like.

pub mod asking;
mod change;

use std::sync::{Mutex, atomic::Ordering::AcqRel};

use pgfsbench_core::{
    board::EXPERIMENT_SLOTS,
    experiment::{
        answer::{self, warning},
        metric,
        recommend::{self, Advice},
        steps,
    },
    refusal::quoted,
};
use pgrx::{datum::Interval, iter::TableIterator, name, pg_extern, pg_sys::panic::ErrorReport};

use super::guard;
use crate::{
    errors::{Fault, sqlstate},
    pg::{
        process, report, session, shmem,
        text::{ReturnedText, Text},
        xact,
    },
    process::janitor,
    run::experiment,
    store::experiment as store,
};

/// From now on the conductor of this database has something to look at, and sessions that wait for an experiment too, if this transaction commits.
pub fn tell_conductor() {
    xact::on_commit(|| {
        let Some(board) = shmem::board() else { return };
        // The starting session saw a free place; another database may have taken it since.
        if !board.experiment_slots.tell(session::database()) {
            report::log_warning(&too_many_databases());
        }
        board.experiment_slots.endings.fetch_add(1, AcqRel);
        shmem::announce();
        janitor::wake(board);
    });
}

/// The error where no further database can have experiments that go on.
fn too_many_databases() -> Fault {
    Fault::new(
        sqlstate::NO_RESOURCES,
        "too many databases have experiments at the same time",
    )
    .detail(format!(
        "{EXPERIMENT_SLOTS} databases have experiments that are running or queued, and no more are gone on with."
    ))
    .hint("Wait until those of another database are over, or pause them there; then call fsbench.experiment() or fsbench.resume_experiment() again.")
}

pub fn unknown(name: &str) -> Fault {
    Fault::new(
        sqlstate::INVALID_PARAMETER,
        format!("experiment {} does not exist", quoted(name)),
    )
    .detail("There is no experiment of this name in this database.")
    .hint("See fsbench.experiments.")
}

/// The experiment of this name.
fn named(owner: u32, name: Option<Text>) -> Result<store::ExperimentControl, Fault> {
    let name: String = name.map(Into::into).ok_or_else(|| {
        Fault::new(sqlstate::INVALID_PARAMETER, "experiment must not be null")
            .detail("It is the name of an experiment.")
            .hint("See fsbench.experiments.")
    })?;
    session::with_rights_of(owner, || store::find(&name))?.ok_or_else(|| unknown(&name))
}

#[allow(clippy::type_complexity)]
#[pg_extern(sql = false)]
fn fsbench_compare(
    experiment: Option<Text>,
    metric: Option<Text>,
) -> Result<
    TableIterator<
        'static,
        (
            name!(target, ReturnedText),
            name!(ratio, Option<f64>),
            name!(low, Option<f64>),
            name!(high, Option<f64>),
            name!(verdict, ReturnedText),
            name!(says, ReturnedText),
            name!(blocks, Option<i32>),
            name!(durability, Option<ReturnedText>),
            name!(same_durability, Option<bool>),
            name!(further_time, Option<Interval>),
            name!(warnings, Option<ReturnedText>),
        ),
    >,
    ErrorReport,
> {
    let rows = compare(experiment, metric.map(Into::into))?;
    let rows = rows.into_iter().map(|row| {
        let further = row.further_seconds.and_then(interval);
        (
            row.target.into(),
            row.ratio,
            row.low,
            row.high,
            row.verdict.into(),
            row.says.into(),
            row.blocks.map(|n| n as i32),
            row.durability
                .map(|durability| ReturnedText(durability.sentence())),
            row.same_durability,
            further,
            warning::in_words(&row.warnings).map(ReturnedText),
        )
    });
    Ok(TableIterator::new(rows))
}

fn interval(seconds: f64) -> Option<Interval> {
    // Whole minutes: it is an estimate.
    let minutes = (seconds / 60.0).ceil().min(1e8) as i64;
    Interval::new(0, 0, minutes * 60_000_000).ok()
}

fn compare(experiment: Option<Text>, metric: Option<String>) -> Result<Vec<answer::Row>, Fault> {
    let owner = guard::extension()?.owner;
    let found = named(owner, experiment)?;
    let metric = metric.map(|name| metric::find(&name)).transpose()?;
    session::with_rights_of(owner, || {
        let state = store::state(found.experiment_id, metric.map(|m| m.name))?
            .ok_or_else(|| unknown(&found.experiment))?;
        if let Some(metric) = metric {
            metric.is_among(&store::transactions(found.experiment_id)?)?;
        }
        let metric = metric.unwrap_or_else(|| steps::declared(&state));
        experiment::answers(&state, metric)
    })
}

#[pg_extern(sql = false)]
fn fsbench_recommend(
    experiment: Option<Text>,
) -> Result<
    TableIterator<'static, (name!(part, ReturnedText), name!(says, ReturnedText))>,
    ErrorReport,
> {
    let rows = recommended(experiment)?;
    Ok(TableIterator::new(
        rows.into_iter()
            .map(|row| (row.part.into(), row.says.into())),
    ))
}

#[allow(clippy::type_complexity)]
#[pg_extern(sql = false)]
fn fsbench_advice(
    experiment: Option<Text>,
) -> Result<
    TableIterator<
        'static,
        (
            name!(part, ReturnedText),
            name!(says, ReturnedText),
            name!(topic, Option<ReturnedText>),
            name!(setting, Option<ReturnedText>),
            name!(value, Option<ReturnedText>),
        ),
    >,
    ErrorReport,
> {
    let rows = recommended(experiment)?;
    Ok(TableIterator::new(rows.into_iter().map(|row| {
        let (setting, value) = row.setting.unzip();
        (
            row.part.into(),
            row.says.into(),
            row.topic.map(ReturnedText),
            setting.map(ReturnedText),
            value.map(ReturnedText),
        )
    })))
}

fn recommended(experiment: Option<Text>) -> Result<Vec<Advice>, Fault> {
    let owner = guard::extension()?.owner;
    let found = named(owner, experiment)?;
    session::with_rights_of(owner, || {
        let state =
            store::state(found.experiment_id, None)?.ok_or_else(|| unknown(&found.experiment))?;
        let said = experiment::answers(&state, steps::declared(&state))?;
        let facts = experiment::facts(&state)?;
        let rows = recommend::rows(&state, &said, &facts, &experiment::here()?);
        Ok(match store::imported_from(found.experiment_id)? {
            Some(host) => recommend::of_other_host(rows, &host),
            None => rows,
        })
    })
}

#[pg_extern(sql = false)]
fn fsbench_experiment_ended(
    experiment: Option<Text>,
    timeout_ms: Option<i32>,
) -> Result<bool, ErrorReport> {
    let ready = guard::ready()?;
    let name: Option<String> = experiment.map(Into::into);
    let patience = std::time::Duration::from_millis(timeout_ms.unwrap_or(0).clamp(0, 1000) as u64);
    let status = || -> Result<store::ExperimentControl, Fault> {
        named(ready.owner, name.clone().map(Text))
    };
    let found = is_over(&status()?)?;
    if found {
        return Ok(true);
    }
    if !session::may_commit() {
        return Err(Fault::new(
            sqlstate::IN_TRANSACTION,
            "CALL fsbench.wait_experiment() cannot be used in a transaction block",
        )
        .detail("It commits again and again while it waits, so as to hold no snapshot. A transaction block, or a function or a DO block in one, does not let it.")
        .hint("Call it by itself, or look at fsbench.experiments now and then.")
        .into());
    }
    if patience.is_zero() {
        return Ok(false);
    }
    tell_progress(ready.owner, &status()?)?;
    let changes = ready.board.experiment_slots.endings();
    shmem::wait_for_change(patience, || {
        ready.board.experiment_slots.endings() != changes
    });
    process::check_interrupts();
    Ok(is_over(&status()?)?)
}

/// The last message to this session. Of this backend alone.
static TOLD: Mutex<String> = Mutex::new(String::new());

/// Tells the session that waits of each run.
fn tell_progress(owner: u32, found: &store::ExperimentControl) -> Result<(), Fault> {
    let on = session::with_rights_of(owner, || store::on_now(found.experiment_id))?;
    let Some(on) = on else { return Ok(()) };
    let text = format!("experiment {}: {on}", quoted(&found.experiment));
    if let Ok(mut told) = TOLD.lock()
        && *told != text
    {
        told.clone_from(&text);
        drop(told);
        report::notice(text, None);
    }
    Ok(())
}

fn is_over(found: &store::ExperimentControl) -> Result<bool, Fault> {
    match found.status.as_str() {
        "done" | "cancelled" => Ok(true),
        status @ ("paused" | "recorded") => Err(Fault::new(
            sqlstate::NOT_IN_THIS_STATE,
            format!("experiment {} is {status}", quoted(&found.experiment)),
        )
        .detail("It does not go on by itself, so that its end cannot be waited for; fsbench.experiments says why.")
        .hint("Call fsbench.resume_experiment().")),
        _ => Ok(false),
    }
}
