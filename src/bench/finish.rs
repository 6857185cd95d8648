//! What a run comes to: facts gathered along the way, and the rows that are stored at its end.

use pgfsbench_core::{crash::lsn_text, environment::Environment};
use serde_json::{Value, json};

use super::Run;
use crate::{
    board::outcome::Outcome, errors::Fault, host::location, pg::xact, run::judgement, store,
};

/// Stores the result of a run of whatever workload, as `done`, in one transaction: the columns that its workload has
/// found (an object), those that every run has, the rows of `measured`, the environment and the findings. Gives how the run
/// ended, as it is stored.
pub fn finish(
    run: &Run,
    columns: Value,
    phases: Value,
    measured: impl FnOnce() -> Result<(), Fault>,
) -> Result<Outcome, Fault> {
    let mut columns = columns;
    columns["status"] = json!("done");
    columns["used"] = json!(run.spec);
    columns["phases"] = phases;
    columns["kept"] = json!(run.spec.keep);
    columns["load_ms"] = json!(run.seen.load_ms);
    columns["data_bytes"] = json!(run.seen.data_bytes);
    columns["xids_used"] =
        json!(run.seen.xid_at_end.unwrap_or_else(xact::next_xid) - run.seen.xid_at_start);
    columns["wal_bytes"] = json!(run.seen.end_lsn - run.seen.start_lsn);
    columns["wal_start_lsn"] = json!(lsn_text(run.seen.start_lsn));
    columns["wal_end_lsn"] = json!(lsn_text(run.seen.end_lsn));
    let checkpoints = run.checkpoints.outcome.as_ref();
    if let Some(outcome) = checkpoints {
        let (timed, requested) = outcome.timed_and_requested().unzip();
        columns["complete_checkpoints"] = json!(outcome.complete);
        columns["checkpoints_timed"] = json!(timed);
        columns["checkpoints_requested"] = json!(requested);
        columns["checkpoints_logged"] = json!(outcome.logged);
    }
    let difference = run.statistics.difference.as_ref();
    let counted =
        difference.and_then(|difference| pgfsbench_core::statistics::checkpoints(&difference.rows));
    if let Some((timed, requested)) = counted
        && columns["checkpoints_timed"].is_null()
    {
        columns["checkpoints_timed"] = json!(timed);
        columns["checkpoints_requested"] = json!(requested);
    }
    let timing = run.statistics.clients();
    columns["track_io_timing"] = json!(timing.map(|timing| timing.io));
    columns["track_wal_io_timing"] = json!(timing.map(|timing| timing.wal));
    columns["clock_read_ns"] = json!(run.seen.clock_read_ns);
    columns["facts"] = facts(run);
    let environment = finished_environment(run);
    xact::transaction(|| {
        let id = run.run_id;
        store::update_run(id, &columns)?;
        store::set_times(id, run.seen.measured_from)?;
        store::insert_rows(id, "environment", &[environment])?;
        if let Some(outcome) = checkpoints {
            store::insert_checkpoints(id, &outcome.of_window.rows)?;
        }
        if let Some(difference) = difference {
            store::insert_rows(id, "statistic", &difference.rows)?;
        }
        store::insert_rows(id, "statement", &run.statements.rows)?;
        measured()?;
        judgement::store(id)
    })
}

/// The environment, with what is known of it at the end.
fn finished_environment(run: &Run) -> Environment {
    let promises = run.seen.promises.as_ref();
    Environment {
        durability: promises.map(|promises| promises.in_words(&run.spec)),
        ..run.seen.environment.clone()
    }
}

/// What is seen of a run and has no column of its own; by the names of the facts that the findings are judged by.
fn facts(run: &Run) -> Value {
    let promises = run.seen.promises.as_ref();
    let place = |location: Option<location::Location>| location.and_then(|l| l.place());
    let mut facts = json!({
        "reset_views": run.statistics.difference.as_ref().map(|difference| &difference.reset),
        "statements": run.statements.recorded,
        "log_checkpoints": run.checkpoints.outcome.as_ref().map(|outcome| outcome.log_checkpoints),
        "fsync": promises.map(|p| p.fsync),
        "full_page_writes": promises.map(|p| p.full_page_writes),
        "synchronous_commit": promises.map(|p| p.synchronous_commit(&run.spec)),
        "xmin_holders": run.seen.old_xmin,
        "data_place": place(location::data_location()),
        "wal_place": place(location::wal_location()),
    });
    if let (Value::Object(facts), Value::Object(around)) =
        (&mut facts, run.seen.surroundings.facts())
    {
        facts.extend(around);
    }
    facts
}
