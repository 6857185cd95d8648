//! Rows of experiments.

use pgfsbench_core::{
    experiment::{
        answer::open::Open,
        row::{OfTarget, Recorded},
        steps::ExcludedTarget,
        wal::Fixed,
    },
    units::format_seconds,
    verdict::{Reason, looks::Look},
};
use serde::Deserialize;
use serde_json::Value;

pub use super::{
    experiment_facts::{
        RunSurroundings, TargetFactsRow, contexts, facts, surroundings, target_facts, used,
    },
    experiment_log::log,
    experiment_runs::{
        cancelled_or_dropped, close_runs, find_run, forget_run, own_parameters, record_intent,
        repeat_before, repeat_block, set_outcome, set_run, start_run, stays_running,
    },
    experiment_state::{state, transactions},
};
use crate::{
    errors::{Fault, read_stored, sqlstate, to_json_text},
    pg::sql,
};

/// An end that is so much later than reckoned before has moved.
const MOVED_SECONDS: f64 = 60.0;

/// The columns that steer an experiment.
#[derive(Clone, Debug, Deserialize)]
pub struct ExperimentControl {
    pub experiment_id: i64,
    pub experiment: String,
    pub status: String,
    pub mark: String,
    pub requested_by: String,
    /// OID of that role; None when it is gone.
    pub role: Option<u32>,
    pub seed: i64,
    /// Parameters of its runs, JSON. Read only where a run is started: whatever they hold, the experiment can be cancelled.
    parameters: String,
}

impl ExperimentControl {
    /// The parameters of all of its runs.
    pub fn parameters(&self) -> Result<Value, Fault> {
        read_stored("parameters of an experiment", &self.parameters)
    }
}

/// These columns alone, and a number for whatever a column of floats holds: an odd row is still found, paused and dropped.
const STEERED: &str = "SELECT jsonb_build_object('experiment_id', e.experiment_id, 'experiment', e.experiment, 'status', e.status, 'mark', e.mark, \
     'requested_by', e.requested_by, 'role', r.oid::bigint, 'seed', e.seed, 'parameters', e.parameters::text) \
     FROM fsbench.experiment e LEFT JOIN pg_catalog.pg_roles r ON r.rolname = e.requested_by";

/// The experiment that is on or is next; None when there is none.
pub fn on() -> Result<Option<ExperimentControl>, Fault> {
    let text = sql::read_latest(
        &format!(
            "{STEERED} WHERE e.status IN ('running', 'queued') ORDER BY e.status = 'queued', e.experiment_id LIMIT 1"
        ),
        &[],
    )?;
    text.map(|text| read_stored("experiment", &text))
        .transpose()
}

/// The host that an experiment was imported from; None for one that was made here.
pub fn imported_from(experiment_id: i64) -> Result<Option<String>, Fault> {
    sql::read_latest(
        "SELECT f.host FROM fsbench.imported_experiment i JOIN fsbench.imported_file f USING (import_id) WHERE i.experiment_id = $1::bigint",
        &[Some(&experiment_id.to_string())],
    )
}

/// The experiment of this name; None when there is none.
pub fn find(name: &str) -> Result<Option<ExperimentControl>, Fault> {
    let text = sql::read_latest(&format!("{STEERED} WHERE e.experiment = $1"), &[Some(name)])?;
    text.map(|text| read_stored("experiment", &text))
        .transpose()
}

/// The experiment of this number; None when there is none.
pub fn steered(experiment_id: i64) -> Result<Option<ExperimentControl>, Fault> {
    let text = sql::read_latest(
        &format!("{STEERED} WHERE e.experiment_id = $1::bigint"),
        &[Some(&experiment_id.to_string())],
    )?;
    text.map(|text| read_stored("experiment", &text))
        .transpose()
}

/// Whether this database has an experiment that is on, if it has the table at all.
pub fn any_is_on() -> Result<bool, Fault> {
    if sql::read("SELECT to_regclass('fsbench.experiment')", &[])?.is_none() {
        return Ok(false);
    }
    let found = sql::read(
        "SELECT 1 FROM fsbench.experiment WHERE status IN ('running', 'queued') LIMIT 1",
        &[],
    )?;
    Ok(found.is_some())
}

/// The name of the experiment that is on.
pub fn name_of_running() -> Result<Option<String>, Fault> {
    sql::read_latest(
        "SELECT experiment FROM fsbench.experiment WHERE status = 'running' ORDER BY experiment_id LIMIT 1",
        &[],
    )
}

/// An experiment that is not over and has this target.
pub fn using(target: &str) -> Result<Option<String>, Fault> {
    sql::read_latest(
        "SELECT e.experiment FROM fsbench.experiment e JOIN fsbench.experiment_target t USING (experiment_id) \
         WHERE t.target_name = $1 AND e.status IN ('recorded', 'queued', 'running', 'paused') ORDER BY e.experiment_id LIMIT 1",
        &[Some(target)],
    )
}

/// An experiment that is not over and whose runs copy the data of this name.
pub fn using_data(name: &str) -> Result<Option<String>, Fault> {
    sql::read_latest(
        "SELECT experiment FROM fsbench.experiment WHERE asked -> 'run' ->> 'data' = $1 \
         AND status IN ('recorded', 'queued', 'running', 'paused') ORDER BY experiment_id LIMIT 1",
        &[Some(name)],
    )
}

/// Inserts the row of an experiment, and those of its targets; gives its number.
pub fn insert(row: &Recorded, targets: &[OfTarget]) -> Result<i64, Fault> {
    let id = sql::write(
        "INSERT INTO fsbench.experiment SELECT n.* FROM (SELECT nextval('fsbench.experiment_id_seq') AS id) s, \
           jsonb_populate_record(NULL::fsbench.experiment, $1::jsonb || jsonb_build_object('experiment_id', s.id, \
             'created_at', clock_timestamp())) n RETURNING experiment_id",
        &[Some(&to_json_text(row)?)],
    )?;
    let id: i64 = id
        .and_then(|id| id.parse().ok())
        .ok_or_else(|| Fault::new(sqlstate::INTERNAL, "an experiment was not stored"))?;
    sql::write(
        "INSERT INTO fsbench.experiment_target (experiment_id, target_number, target, target_name, own) \
         SELECT $1::bigint, t.target_number, t.target, t.target_name, t.own \
         FROM jsonb_to_recordset($2::jsonb) AS t (target_number integer, target text, target_name text, own jsonb)",
        &[Some(&id.to_string()), Some(&to_json_text(&targets)?)],
    )?;
    Ok(id)
}

/// Locks those of these targets that are there, so that they are neither changed nor dropped until the transaction ends. Runs may
/// note meanwhile what device they found. All are locked in the order of their names, as `drop_study` does it: none waits for another.
/// Whatever the caller has read of targets before may be out of date afterwards.
pub fn hold(targets: &[&str]) -> Result<(), Fault> {
    sql::write(
        "SELECT count(*) FROM (SELECT 1 FROM fsbench.target t \
           WHERE t.target IN (SELECT pg_catalog.jsonb_array_elements_text($1::jsonb)) ORDER BY t.target FOR KEY SHARE OF t) held",
        &[Some(&to_json_text(&targets)?)],
    )?;
    Ok(())
}

/// Locks the targets of an experiment; see [`hold`].
pub fn hold_targets_of(experiment_id: i64) -> Result<(), Fault> {
    let names = sql::read_latest(
        "SELECT coalesce(jsonb_agg(DISTINCT target_name), '[]') FROM fsbench.experiment_target WHERE experiment_id = $1::bigint",
        &[Some(&experiment_id.to_string())],
    )?;
    let names: Vec<String> = read_stored("targets", &names.unwrap_or_default())?;
    hold(&names.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Sets columns of an experiment by name.
pub fn update(experiment_id: i64, columns: &Value) -> Result<(), Fault> {
    let names = || {
        columns
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, _)| name)
    };
    let list = |prefix: &str| {
        let names: Vec<String> = names().map(|name| format!("{prefix}{name}")).collect();
        names.join(", ")
    };
    sql::write(
        &format!(
            "UPDATE fsbench.experiment e SET ({}) = (SELECT {} FROM jsonb_populate_record(NULL::fsbench.experiment, $2::jsonb) n) \
             WHERE e.experiment_id = $1::bigint",
            list(""),
            list("n.")
        ),
        &[Some(&experiment_id.to_string()), Some(&columns.to_string())],
    )?;
    Ok(())
}

/// From now on its runs have this rate; said with why.
pub fn set_rate(experiment_id: i64, rate: f64, why: &str) -> Result<(), Fault> {
    sql::write(
        "UPDATE fsbench.experiment SET parameters = parameters || jsonb_build_object('rate', $2::float8) WHERE experiment_id = $1::bigint",
        &[Some(&experiment_id.to_string()), Some(&rate.to_string())],
    )?;
    log(experiment_id, "rate", None, Some(why), None)
}

/// From now on no run is made again for its neighbours, as a block has shown.
pub fn take_as_it_is(experiment_id: i64, block: u32, why: &str) -> Result<(), Fault> {
    sql::write(
        "UPDATE fsbench.experiment SET neighbours = 'found' WHERE experiment_id = $1::bigint",
        &[Some(&experiment_id.to_string())],
    )?;
    log(experiment_id, "neighbours", Some(block), Some(why), None)
}

/// Keeps when the experiment is over at the latest, as reckoned when a run of this block is about to begin. An end that has moved by more than a minute is
/// noted with the reason.
pub fn note_end(experiment_id: i64, block: u32, why: &str) -> Result<(), Fault> {
    let id = experiment_id.to_string();
    let later = sql::write(
        "WITH reckoned AS MATERIALIZED (SELECT e.experiment_id, e.over_at_latest AS before, \
             clock_timestamp() + fsbench._seconds_left(e) * interval '1 s' AS now FROM fsbench.experiment e WHERE e.experiment_id = $1::bigint) \
         UPDATE fsbench.experiment e SET over_at_latest = r.now FROM reckoned r WHERE e.experiment_id = r.experiment_id \
         RETURNING extract(epoch FROM r.now - r.before)::float8",
        &[Some(&id)],
    )?;
    let later = later.and_then(|seconds| seconds.parse::<f64>().ok());
    let Some(seconds) = later.filter(|seconds| *seconds > MOVED_SECONDS) else {
        return Ok(());
    };
    let moved = format!(
        "{} later than reckoned before: {why}",
        format_seconds(seconds)
    );
    sql::write(
        "UPDATE fsbench.experiment SET moved = $2 WHERE experiment_id = $1::bigint",
        &[Some(&id), Some(&moved)],
    )?;
    log(experiment_id, "moved", Some(block), Some(&moved), None)
}

/// From now on its runs find so many segments of WAL ready, and have this max_wal_size; said with why.
pub fn set_wal(experiment_id: i64, fixed: &Fixed) -> Result<(), Fault> {
    let max = fixed.max_bytes.map(|bytes| format!("{}MB", bytes >> 20));
    sql::write(
        "UPDATE fsbench.experiment SET parameters = parameters \
           || jsonb_build_object('options', coalesce(nullif(parameters -> 'options', 'null'), '{}') || jsonb_build_object('wal_segments', $2::bigint)) \
           || CASE WHEN $3::text IS NULL THEN '{}' ELSE jsonb_build_object('settings', \
                coalesce(nullif(parameters -> 'settings', 'null'), '{}') || jsonb_build_object('max_wal_size', $3::text)) END \
         WHERE experiment_id = $1::bigint",
        &[
            Some(&experiment_id.to_string()),
            Some(&fixed.segments.to_string()),
            max.as_deref(),
        ],
    )?;
    log(experiment_id, "wal", None, Some(&fixed.why), None)
}

/// Sets the status, and why.
pub fn set_status(experiment_id: i64, status: &str, reason: Option<&str>) -> Result<(), Fault> {
    sql::write(
        "UPDATE fsbench.experiment e SET status = $2, status_reason = $3, \
           started_at = CASE WHEN $2 = 'running' THEN coalesce(e.started_at, clock_timestamp()) ELSE e.started_at END, \
           ended_at = CASE WHEN $2 IN ('done', 'cancelled') THEN clock_timestamp() END, \
           on_seconds = fsbench._on_seconds(e), on_since = CASE WHEN $2 = 'running' THEN clock_timestamp() END, over_at_latest = NULL \
         WHERE e.experiment_id = $1::bigint",
        &[Some(&experiment_id.to_string()), Some(status), reason],
    )?;
    Ok(())
}

/// Keeps how long those that are on were on: what pauses them next knows no such column.
pub fn keep_time_on() -> Result<(), Fault> {
    sql::write(
        "UPDATE fsbench.experiment e SET on_seconds = fsbench._on_seconds(e), on_since = NULL WHERE e.status = 'running'",
        &[],
    )?;
    Ok(())
}

/// An array without experiments.
const NONE: &str = "{}";

/// Those that are on or queued, as an array of bigint; the rows are locked until the end of the transaction. By columns that the tables have in
/// each version.
pub fn lock_all() -> Result<String, Fault> {
    if !any_is_on()? {
        return Ok(NONE.to_owned());
    }
    let ids = sql::write(
        "SELECT array_agg(experiment_id) FROM (SELECT experiment_id FROM fsbench.experiment WHERE status IN ('running', 'queued') \
           ORDER BY experiment_id FOR NO KEY UPDATE) e",
        &[],
    )?;
    Ok(ids.unwrap_or_else(|| NONE.to_owned()))
}

/// Pauses these, by columns that the tables have in each version. With the rights of their owner.
pub fn pause(ids: &str, why: &str) -> Result<(), Fault> {
    if ids == NONE {
        return Ok(());
    }
    sql::write(
        "WITH paused AS (UPDATE fsbench.experiment SET status = 'paused', status_reason = $1 WHERE experiment_id = ANY ($2::bigint[]) RETURNING experiment_id) \
         INSERT INTO fsbench.experiment_log (experiment_id, event, message) SELECT experiment_id, 'paused', $1 FROM paused",
        &[Some(why), Some(ids)],
    )?;
    Ok(())
}

/// Whether a mark of this experiment is of no use any more: it is over or was dropped, and the transaction that has written the mark is over, too, which may
/// have recorded or extended it. Keeps it so until the end of the transaction.
pub fn is_no_more(experiment_id: i64, written_by: u64) -> Result<bool, Fault> {
    let id = experiment_id.to_string();
    let status = sql::read_latest(
        "SELECT CASE WHEN NOT pg_visible_in_snapshot($2::xid8, pg_current_snapshot()) THEN 'not known' \
           ELSE coalesce((SELECT status FROM fsbench.experiment WHERE experiment_id = $1::bigint), 'gone') END",
        &[Some(&id), Some(&written_by.to_string())],
    )?;
    Ok(match status.as_deref() {
        Some("gone") => true,
        // Another session may just be extending the experiment.
        Some("done" | "cancelled") => sql::write(
            "SELECT 1 FROM fsbench.experiment WHERE experiment_id = $1::bigint AND status IN ('done', 'cancelled') FOR UPDATE SKIP LOCKED",
            &[Some(&id)],
        )?
        .is_some(),
        _ => false,
    })
}

/// Says why it does not go on though it is on.
pub fn set_trouble(experiment_id: i64, why: &str) -> Result<(), Fault> {
    sql::write(
        "UPDATE fsbench.experiment SET status_reason = $2 WHERE experiment_id = $1::bigint AND status IN ('queued', 'running')",
        &[Some(&experiment_id.to_string()), Some(why)],
    )?;
    Ok(())
}

/// Removes the troubles of experiments that go on again: an experiment that is on has no other reason for its status.
pub fn forget_trouble() -> Result<(), Fault> {
    sql::write(
        "UPDATE fsbench.experiment SET status_reason = NULL WHERE status IN ('queued', 'running') AND status_reason IS NOT NULL",
        &[],
    )?;
    Ok(())
}

/// Takes the row of an experiment until the end of the transaction. Each change of an experiment locks this row first, so that none of two
/// holds what the other one wants. False when the transaction does not see it.
pub fn lock(experiment_id: i64) -> Result<bool, Fault> {
    let found = sql::write(
        "SELECT 1 FROM fsbench.experiment WHERE experiment_id = $1::bigint FOR NO KEY UPDATE",
        &[Some(&experiment_id.to_string())],
    )?;
    Ok(found.is_some())
}

/// Moves it from one of these states to another; false if it is in none of them: another process has moved it first.
pub fn move_status(
    experiment_id: i64,
    from: &[&str],
    status: &str,
    reason: Option<&str>,
) -> Result<bool, Fault> {
    let is_there = sql::write(
        "SELECT 1 FROM fsbench.experiment WHERE experiment_id = $1::bigint AND status = ANY (string_to_array($2, ' ')) FOR NO KEY UPDATE",
        &[Some(&experiment_id.to_string()), Some(&from.join(" "))],
    )?
    .is_some();
    if is_there {
        set_status(experiment_id, status, reason)?;
    }
    Ok(is_there)
}

/// Ends an experiment: with the looks that it has had, and what is said of it.
pub fn end(
    experiment_id: i64,
    status: &str,
    why: Option<&str>,
    looks: &[Look],
    ended_by: Option<Reason>,
) -> Result<(), Fault> {
    sql::write(
        "UPDATE fsbench.experiment SET looks = $2::jsonb, ended_by = $3 WHERE experiment_id = $1::bigint",
        &[
            Some(&experiment_id.to_string()),
            Some(&to_json_text(&looks)?),
            ended_by.map(Reason::as_str),
        ],
    )?;
    set_status(experiment_id, status, why)
}

/// Stores what is said of an experiment, why something is open, and the blocks that would decide it.
pub fn set_answer(experiment_id: i64, answer: &str, open: &Open) -> Result<(), Fault> {
    let reasons = (!open.reasons.is_empty()).then(|| to_json_text(&open.reasons));
    sql::write(
        "UPDATE fsbench.experiment SET answer = $2, open_because = $3::jsonb, next_blocks = $4::integer WHERE experiment_id = $1::bigint",
        &[
            Some(&experiment_id.to_string()),
            Some(answer),
            reasons.transpose()?.as_deref(),
            open.next_blocks.map(|blocks| blocks.to_string()).as_deref(),
        ],
    )?;
    Ok(())
}

/// Stores which targets are not run any more.
pub fn set_aside(experiment_id: i64, excluded: &[ExcludedTarget]) -> Result<(), Fault> {
    for excluded in excluded {
        let newly = sql::write(
            "UPDATE fsbench.experiment_target SET set_aside = $3 WHERE experiment_id = $1::bigint AND target_number = $2::integer \
               AND set_aside IS NULL RETURNING target",
            &[
                Some(&experiment_id.to_string()),
                Some(&excluded.number.to_string()),
                Some(&excluded.why),
            ],
        )?;
        if let Some(name) = newly {
            log(
                experiment_id,
                "set_aside",
                None,
                Some(&format!("{name}: {}", excluded.why)),
                None,
            )?;
        }
    }
    Ok(())
}

/// Whether the look after a block was noted already.
pub fn has_looked(experiment_id: i64, block: u32) -> Result<bool, Fault> {
    let found = sql::read_latest(
        "SELECT 1 FROM fsbench.experiment_log WHERE experiment_id = $1::bigint AND event = 'look' AND block = $2::integer LIMIT 1",
        &[Some(&experiment_id.to_string()), Some(&block.to_string())],
    )?;
    Ok(found.is_some())
}

/// Names of its targets that are still there and begin so; None where there are none.
pub fn targets_that_begin(experiment_id: i64, with: &str) -> Result<Option<String>, Fault> {
    sql::read_latest(
        "SELECT string_agg(DISTINCT t.target, ', ' ORDER BY t.target) FROM fsbench.experiment_target e JOIN fsbench.target t ON t.target = e.target_name \
         WHERE e.experiment_id = $1::bigint AND starts_with(e.target_name, $2)",
        &[Some(&experiment_id.to_string()), Some(with)],
    )
}

/// Removes an experiment.
pub fn delete(experiment_id: i64) -> Result<(), Fault> {
    sql::write(
        "DELETE FROM fsbench.experiment WHERE experiment_id = $1::bigint",
        &[Some(&experiment_id.to_string())],
    )?;
    Ok(())
}

/// Experiments that are done and repeat this one, or that this one repeats.
pub fn sessions_of(experiment_id: i64) -> Result<Vec<i64>, Fault> {
    let text = sql::read_latest(
        "SELECT coalesce(jsonb_agg(o.experiment_id ORDER BY o.experiment_id), '[]') FROM fsbench.experiment o \
         WHERE o.status = 'done' AND (o.confirms = $1::bigint OR o.experiment_id = (SELECT e.confirms FROM fsbench.experiment e WHERE e.experiment_id = $1::bigint))",
        &[Some(&experiment_id.to_string())],
    )?;
    read_stored("experiments", &text.unwrap_or_default())
}

/// The run of an experiment that is on, in words; None if none is.
pub fn on_now(experiment_id: i64) -> Result<Option<String>, Fault> {
    sql::read_latest(
        "SELECT format('block %s, %s', x.block, t.target) FROM fsbench.experiment_run x JOIN fsbench.experiment_target t USING (experiment_id, target_number) \
         WHERE x.experiment_id = $1::bigint AND x.outcome IS NULL AND x.run_id IS NOT NULL LIMIT 1",
        &[Some(&experiment_id.to_string())],
    )
}
