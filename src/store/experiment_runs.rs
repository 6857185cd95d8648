//! The rows of an experiment's runs.

use std::collections::BTreeMap;

use pgfsbench_core::experiment::{
    state::{ExperimentRun, Outcome},
    steps::Place,
};
use serde_json::Value;

use super::experiment_log::log;
use crate::{
    errors::{Fault, read_stored, sqlstate},
    pg::sql,
};

/// Whether an experiment is running; if so, it cannot be paused or cancelled before the end of the transaction, as by [`super::experiment::lock`].
pub fn stays_running(experiment_id: i64) -> Result<bool, Fault> {
    let found = sql::write(
        "SELECT 1 FROM fsbench.experiment WHERE experiment_id = $1::bigint AND status = 'running' FOR NO KEY UPDATE",
        &[Some(&experiment_id.to_string())],
    )?;
    Ok(found.is_some())
}

/// Notes that a run is about to be started; false if the experiment was paused or cancelled meanwhile.
pub fn record_intent(
    experiment_id: i64,
    place: Place,
    boot_id: &str,
    versions: &str,
) -> Result<bool, Fault> {
    if !stays_running(experiment_id)? {
        return Ok(false);
    }
    // The row changes with its runs: a session with an older snapshot does not see this run, and must not cancel the experiment.
    sql::write(
        "UPDATE fsbench.experiment SET status = status WHERE experiment_id = $1::bigint",
        &[Some(&experiment_id.to_string())],
    )?;
    sql::write(
        "INSERT INTO fsbench.experiment_run (experiment_id, block, position, target_number, attempt, boot_id, versions) \
         VALUES ($1::bigint, $2::integer, $3::integer, $4::integer, $5::integer, $6, $7)",
        &[
            Some(&experiment_id.to_string()),
            Some(&place.block.to_string()),
            Some(&place.position.to_string()),
            Some(&place.number.to_string()),
            Some(&place.attempt.to_string()),
            Some(boot_id),
            Some(versions),
        ],
    )?;
    Ok(true)
}

/// The key of a run of an experiment in its table.
fn key(experiment_id: i64, made: &ExperimentRun) -> [String; 4] {
    [
        experiment_id.to_string(),
        made.block.to_string(),
        made.number.to_string(),
        made.attempt.to_string(),
    ]
}

fn update_run(
    experiment_id: i64,
    made: &ExperimentRun,
    set: &str,
    values: &[Option<&str>],
) -> Result<(), Fault> {
    let key = key(experiment_id, made);
    let mut arguments: Vec<Option<&str>> = key.iter().map(|part| Some(part.as_str())).collect();
    arguments.extend(values);
    sql::write(
        &format!(
            "UPDATE fsbench.experiment_run SET {set} WHERE experiment_id = $1::bigint AND block = $2::integer \
               AND target_number = $3::integer AND attempt = $4::integer"
        ),
        &arguments,
    )?;
    Ok(())
}

/// Stores which run it has become.
pub fn set_run(experiment_id: i64, made: &ExperimentRun, run_id: i64) -> Result<(), Fault> {
    update_run(
        experiment_id,
        made,
        "run_id = $5::bigint",
        &[Some(&run_id.to_string())],
    )
}

/// Stores what became of it.
pub fn set_outcome(
    experiment_id: i64,
    made: &ExperimentRun,
    outcome: Outcome,
    why: Option<&str>,
) -> Result<(), Fault> {
    let set = "outcome = $5, why = $6";
    update_run(experiment_id, made, set, &[Some(outcome.as_str()), why])
}

/// Forgets a run that was to be started and was not.
pub fn forget_run(experiment_id: i64, made: &ExperimentRun) -> Result<(), Fault> {
    let key = key(experiment_id, made);
    sql::write(
        "DELETE FROM fsbench.experiment_run WHERE experiment_id = $1::bigint AND block = $2::integer \
           AND target_number = $3::integer AND attempt = $4::integer AND run_id IS NULL",
        &key.iter()
            .map(|part| Some(part.as_str()))
            .collect::<Vec<_>>(),
    )?;
    Ok(())
}

/// Says of the runs of a block that they do not count.
pub fn repeat_block(experiment_id: i64, block: u32, why: &str) -> Result<(), Fault> {
    repeat(experiment_id, "block = $2::integer", block, why)?;
    log(experiment_id, "repeated", Some(block), Some(why), None)
}

/// Marks the runs of all blocks before this one as not counting.
pub fn repeat_before(experiment_id: i64, block: u32, why: &str) -> Result<(), Fault> {
    repeat(
        experiment_id,
        "block BETWEEN 1 AND $2::integer - 1",
        block,
        why,
    )?;
    log(experiment_id, "throttled", Some(block), Some(why), None)
}

fn repeat(experiment_id: i64, which: &str, block: u32, why: &str) -> Result<(), Fault> {
    sql::write(
        &format!(
            "UPDATE fsbench.experiment_run SET outcome = 'repeated', why = $3 \
             WHERE experiment_id = $1::bigint AND {which} AND outcome IN ('measured', 'behind', 'disturbed')"
        ),
        &[
            Some(&experiment_id.to_string()),
            Some(&block.to_string()),
            Some(why),
        ],
    )?;
    Ok(())
}

/// The run that was started for a place, by its label, by the role that the experiment belongs to.
pub fn find_run(
    experiment_id: i64,
    made: &ExperimentRun,
    label: &str,
) -> Result<Option<i64>, Fault> {
    let key = key(experiment_id, made);
    let mut arguments: Vec<Option<&str>> = key.iter().map(|part| Some(part.as_str())).collect();
    arguments.push(Some(label));
    let found = sql::read_latest(
        "SELECT max(r.run_id) FROM fsbench.run_log r, fsbench.experiment e JOIN fsbench.experiment_run x USING (experiment_id) \
         WHERE e.experiment_id = $1::bigint AND x.block = $2::integer AND x.target_number = $3::integer AND x.attempt = $4::integer \
           AND r.label = $5 AND r.requested_by = e.requested_by AND r.requested_at >= x.planned_at \
           AND NOT EXISTS (SELECT FROM fsbench.imported_run i WHERE i.run_id = r.run_id)",
        &arguments,
    )?;
    Ok(found.and_then(|id| id.parse().ok()))
}

/// Starts a run with the parameters of an experiment and those of a target of its own; gives its number. With the rights of the role
/// that asked.
pub fn start_run(
    target: &str,
    parameters: &Value,
    own: &Value,
    seed: i64,
    label: &str,
) -> Result<i64, Fault> {
    let id = sql::write(
        include_str!("queries/experiment_start_run.sql"),
        &[
            Some(target),
            Some(&parameters.to_string()),
            Some(&own.to_string()),
            Some(&seed.to_string()),
            Some(label),
        ],
    )?;
    id.and_then(|id| id.parse().ok())
        .ok_or_else(|| Fault::new(sqlstate::INTERNAL, "fsbench.start() gave no run"))
}

/// Parameters that targets of an experiment have of their own, by number.
pub fn own_parameters(experiment_id: i64) -> Result<BTreeMap<usize, Value>, Fault> {
    let text = sql::read_latest(
        "SELECT jsonb_object_agg(target_number, own) FROM fsbench.experiment_target WHERE experiment_id = $1::bigint",
        &[Some(&experiment_id.to_string())],
    )?;
    read_stored(
        "parameters of targets",
        &text.unwrap_or_else(|| "{}".into()),
    )
}

/// Which of these experiments were cancelled, each with the role that has cancelled it, or dropped.
pub fn cancelled_or_dropped(ids: &[i64]) -> Result<Vec<(i64, Option<String>)>, Fault> {
    let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
    let text = sql::read_latest(
        "SELECT coalesce(jsonb_agg(DISTINCT jsonb_build_array(id, (SELECT l.by FROM fsbench.experiment_log l \
             WHERE l.experiment_id = id AND l.event = 'cancelled' ORDER BY l.log_id DESC LIMIT 1))), '[]') \
         FROM unnest($1::bigint[]) AS id LEFT JOIN fsbench.experiment e ON e.experiment_id = id \
         WHERE e.status = 'cancelled' OR e.experiment_id IS NULL",
        &[Some(&format!("{{{}}}", ids.join(",")))],
    )?;
    read_stored("experiments", &text.unwrap_or_default())
}

/// Says of what was not judged that it will not be.
pub fn close_runs(experiment_id: i64, why: &str) -> Result<(), Fault> {
    sql::write(
        "UPDATE fsbench.experiment_run SET outcome = 'interrupted', why = $2 WHERE experiment_id = $1::bigint AND outcome IS NULL",
        &[Some(&experiment_id.to_string()), Some(why)],
    )?;
    Ok(())
}
