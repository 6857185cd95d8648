//! Rows of experiments.

use std::collections::BTreeMap;

use pgfsbench_core::{
    experiment::{
        recommend::Facts,
        state::{Made, Outcome},
        steps::{Aside, Place},
    },
    verdict::{Reason, looks::Look},
};
use serde::Deserialize;
use serde_json::Value;

pub use super::experiment_state::state;
use crate::{
    errors::{Fault, read_json, sqlstate, to_json_text},
    pg::sql,
};

/// The columns that steer an experiment.
#[derive(Clone, Debug, Deserialize)]
#[allow(missing_docs)]
pub struct Steered {
    pub experiment_id: i64,
    pub experiment: String,
    pub status: String,
    pub mark: String,
    pub requested_by: String,
    /// OID of that role; None when it is gone.
    pub role: Option<u32>,
    pub seed: i64,
    pub probe_waited_seconds: f64,
    pub parameters: Value,
}

const STEERED: &str = "SELECT to_jsonb(e) || jsonb_build_object('role', r.oid::bigint) FROM fsbench.experiment e \
     LEFT JOIN pg_catalog.pg_roles r ON r.rolname = e.requested_by";

/// The experiment that is on or is next; None when there is none.
pub fn on() -> Result<Option<Steered>, Fault> {
    let text = sql::read_latest(
        &format!(
            "{STEERED} WHERE e.status IN ('running', 'queued') ORDER BY e.status = 'queued', e.experiment_id LIMIT 1"
        ),
        &[],
    )?;
    text.map(|text| read_json("experiment", &text)).transpose()
}

/// The experiment of this name; None when there is none.
pub fn find(name: &str) -> Result<Option<Steered>, Fault> {
    let text = sql::read_latest(&format!("{STEERED} WHERE e.experiment = $1"), &[Some(name)])?;
    text.map(|text| read_json("experiment", &text)).transpose()
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
         WHERE t.target = $1 AND e.status IN ('recorded', 'queued', 'running', 'paused') ORDER BY e.experiment_id LIMIT 1",
        &[Some(target)],
    )
}

/// Inserts the row of an experiment, given as JSON, and those of its targets; gives its number.
pub fn insert(row: &Value, targets: &[Value]) -> Result<i64, Fault> {
    let id = sql::write(
        "INSERT INTO fsbench.experiment SELECT n.* FROM (SELECT nextval('fsbench.experiment_id_seq') AS id) s, \
           jsonb_populate_record(NULL::fsbench.experiment, $1::jsonb || jsonb_build_object('experiment_id', s.id, \
             'created_at', clock_timestamp())) n RETURNING experiment_id",
        &[Some(&row.to_string())],
    )?;
    let id: i64 = id
        .and_then(|id| id.parse().ok())
        .ok_or_else(|| Fault::new(sqlstate::INTERNAL, "an experiment was not stored"))?;
    sql::write(
        "INSERT INTO fsbench.experiment_target (experiment_id, number, name, target, own) \
         SELECT $1::bigint, t.number, t.name, t.target, t.own \
         FROM jsonb_to_recordset($2::jsonb) AS t (number integer, name text, target text, own jsonb)",
        &[Some(&id.to_string()), Some(&to_json_text(&targets)?)],
    )?;
    Ok(id)
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

/// Sets the status, and why.
pub fn set_status(experiment_id: i64, status: &str, reason: Option<&str>) -> Result<(), Fault> {
    sql::write(
        "UPDATE fsbench.experiment SET status = $2, status_reason = $3, \
           started_at = CASE WHEN $2 = 'running' THEN coalesce(started_at, clock_timestamp()) ELSE started_at END, \
           ended_at = CASE WHEN $2 IN ('done', 'cancelled') THEN clock_timestamp() END \
         WHERE experiment_id = $1::bigint",
        &[Some(&experiment_id.to_string()), Some(status), reason],
    )?;
    Ok(())
}

/// Moves it from one of these states to another; false if it is in none of them: another process has moved it first.
pub fn move_status(
    experiment_id: i64,
    from: &[&str],
    status: &str,
    reason: Option<&str>,
) -> Result<bool, Fault> {
    let is_there = sql::write(
        "SELECT 1 FROM fsbench.experiment WHERE experiment_id = $1::bigint AND status = ANY (string_to_array($2, ' ')) FOR UPDATE",
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

/// Stores what is said of an experiment.
pub fn set_answer(experiment_id: i64, answer: &str) -> Result<(), Fault> {
    sql::write(
        "UPDATE fsbench.experiment SET answer = $2 WHERE experiment_id = $1::bigint",
        &[Some(&experiment_id.to_string()), Some(answer)],
    )?;
    Ok(())
}

/// Stores which targets are not run any more.
pub fn set_aside(experiment_id: i64, aside: &[Aside]) -> Result<(), Fault> {
    for aside in aside {
        let newly = sql::write(
            "UPDATE fsbench.experiment_target SET set_aside = $3 WHERE experiment_id = $1::bigint AND number = $2::integer \
               AND set_aside IS NULL RETURNING name",
            &[
                Some(&experiment_id.to_string()),
                Some(&aside.number.to_string()),
                Some(&aside.why),
            ],
        )?;
        if let Some(name) = newly {
            log(
                experiment_id,
                "set_aside",
                None,
                Some(&format!("{name}: {}", aside.why)),
                None,
            )?;
        }
    }
    Ok(())
}

/// Notes what has happened.
pub fn log(
    experiment_id: i64,
    event: &str,
    block: Option<u32>,
    message: Option<&str>,
    by: Option<&str>,
) -> Result<(), Fault> {
    sql::write(
        "INSERT INTO fsbench.experiment_log (experiment_id, event, block, message, by) \
         VALUES ($1::bigint, $2, $3::integer, $4, $5)",
        &[
            Some(&experiment_id.to_string()),
            Some(event),
            block.map(|block| block.to_string()).as_deref(),
            message,
            by,
        ],
    )?;
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

/// Notes that it is waited a while before the run that is next.
pub fn wait_for_probe(experiment_id: i64, seconds: f64, probe: f64) -> Result<(), Fault> {
    sql::write(
        "UPDATE fsbench.experiment SET probe_waited_seconds = probe_waited_seconds + $2::float8 WHERE experiment_id = $1::bigint",
        &[Some(&experiment_id.to_string()), Some(&seconds.to_string())],
    )?;
    let message = format!(
        "{seconds:.0} s: the processor probe is {probe:.1}, which is not what it was before the other runs"
    );
    log(experiment_id, "waits", None, Some(&message), None)
}

/// Notes that a run is about to be started.
pub fn intend(
    experiment_id: i64,
    place: Place,
    boot_id: &str,
    versions: &str,
    probe: Option<f64>,
) -> Result<(), Fault> {
    sql::write(
        "UPDATE fsbench.experiment SET probe_waited_seconds = 0 WHERE experiment_id = $1::bigint AND probe_waited_seconds > 0",
        &[Some(&experiment_id.to_string())],
    )?;
    sql::write(
        "INSERT INTO fsbench.experiment_run (experiment_id, block, position, number, attempt, boot_id, versions, probe) \
         VALUES ($1::bigint, $2::integer, $3::integer, $4::integer, $5::integer, $6, $7, $8::float8)",
        &[
            Some(&experiment_id.to_string()),
            Some(&place.block.to_string()),
            Some(&place.position.to_string()),
            Some(&place.number.to_string()),
            Some(&place.attempt.to_string()),
            Some(boot_id),
            Some(versions),
            probe.map(|probe| probe.to_string()).as_deref(),
        ],
    )?;
    Ok(())
}

/// The key of a run of an experiment in its table.
fn key(experiment_id: i64, made: &Made) -> [String; 4] {
    [
        experiment_id.to_string(),
        made.block.to_string(),
        made.number.to_string(),
        made.attempt.to_string(),
    ]
}

fn update_run(
    experiment_id: i64,
    made: &Made,
    set: &str,
    values: &[Option<&str>],
) -> Result<(), Fault> {
    let key = key(experiment_id, made);
    let mut arguments: Vec<Option<&str>> = key.iter().map(|part| Some(part.as_str())).collect();
    arguments.extend(values);
    sql::write(
        &format!(
            "UPDATE fsbench.experiment_run SET {set} WHERE experiment_id = $1::bigint AND block = $2::integer \
               AND number = $3::integer AND attempt = $4::integer"
        ),
        &arguments,
    )?;
    Ok(())
}

/// Stores which run it has become.
pub fn set_run(experiment_id: i64, made: &Made, run_id: i64) -> Result<(), Fault> {
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
    made: &Made,
    outcome: Outcome,
    why: Option<&str>,
) -> Result<(), Fault> {
    let set = "outcome = $5, why = $6";
    update_run(experiment_id, made, set, &[Some(outcome.as_str()), why])
}

/// Forgets a run that was to be started and was not.
pub fn forget_run(experiment_id: i64, made: &Made) -> Result<(), Fault> {
    let key = key(experiment_id, made);
    sql::write(
        "DELETE FROM fsbench.experiment_run WHERE experiment_id = $1::bigint AND block = $2::integer \
           AND number = $3::integer AND attempt = $4::integer AND run_id IS NULL",
        &key.iter()
            .map(|part| Some(part.as_str()))
            .collect::<Vec<_>>(),
    )?;
    Ok(())
}

/// Says of the runs of a block that they do not count.
pub fn repeat_block(experiment_id: i64, block: u32, why: &str) -> Result<(), Fault> {
    sql::write(
        "UPDATE fsbench.experiment_run SET outcome = 'repeated', why = $3 \
         WHERE experiment_id = $1::bigint AND block = $2::integer AND outcome IN ('measured', 'behind')",
        &[
            Some(&experiment_id.to_string()),
            Some(&block.to_string()),
            Some(why),
        ],
    )?;
    log(experiment_id, "repeated", Some(block), Some(why), None)
}

/// The run that was started for a place, by its label, by the role that the experiment belongs to.
pub fn find_run(experiment_id: i64, made: &Made, label: &str) -> Result<Option<i64>, Fault> {
    let key = key(experiment_id, made);
    let mut arguments: Vec<Option<&str>> = key.iter().map(|part| Some(part.as_str())).collect();
    arguments.push(Some(label));
    let found = sql::read_latest(
        "SELECT max(r.run_id) FROM fsbench.run_log r, fsbench.experiment e JOIN fsbench.experiment_run x USING (experiment_id) \
         WHERE e.experiment_id = $1::bigint AND x.block = $2::integer AND x.number = $3::integer AND x.attempt = $4::integer \
           AND r.label = $5 AND r.requested_by = e.requested_by AND r.requested_at >= x.planned_at",
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
        "SELECT fsbench.start(target => $1, workload => p ->> 'workload', scale => (p ->> 'scale')::integer, \
           size => p ->> 'size', clients => (p ->> 'clients')::integer, \
           duration => (p ->> 'duration_us')::bigint * interval '1 us', transactions => (p ->> 'transactions')::bigint, \
           warmup => coalesce((p ->> 'warmup')::interval, (p ->> 'warmup_us')::bigint * interval '1 us'), rate => (p ->> 'rate')::float8, \
           latency_limit_ms => (p ->> 'latency_limit_ms')::float8, seed => $4::bigint, settings => nullif(p -> 'settings', '{}'), \
           options => nullif(p -> 'options', '{}'), label => $5, force => coalesce((p ->> 'force')::boolean, false)) \
         FROM (SELECT ($2::jsonb || $3::jsonb) || jsonb_build_object( \
             'settings', CASE jsonb_typeof($2::jsonb -> 'settings') WHEN 'object' THEN $2::jsonb -> 'settings' ELSE '{}' END || coalesce($3::jsonb -> 'settings', '{}'), \
             'options', CASE jsonb_typeof($2::jsonb -> 'options') WHEN 'object' THEN $2::jsonb -> 'options' ELSE '{}' END || coalesce($3::jsonb -> 'options', '{}')) AS p) x",
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
        "SELECT jsonb_object_agg(number, own) FROM fsbench.experiment_target WHERE experiment_id = $1::bigint",
        &[Some(&experiment_id.to_string())],
    )?;
    read_json(
        "parameters of targets",
        &text.unwrap_or_else(|| "{}".into()),
    )
}

/// The run of an experiment that is on or queued; None when there is none.
pub fn run_that_is_on(experiment_id: i64) -> Result<Option<i64>, Fault> {
    let found = sql::read_latest(
        "SELECT max(x.run_id) FROM fsbench.experiment_run x JOIN fsbench.run_log r USING (run_id) \
         WHERE x.experiment_id = $1::bigint AND r.status IN ('queued', 'running')",
        &[Some(&experiment_id.to_string())],
    )?;
    Ok(found.and_then(|id| id.parse().ok()))
}

/// Says of what was not judged that it will not be.
pub fn close_runs(experiment_id: i64, why: &str) -> Result<(), Fault> {
    sql::write(
        "UPDATE fsbench.experiment_run SET outcome = 'interrupted', why = $2 WHERE experiment_id = $1::bigint AND outcome IS NULL",
        &[Some(&experiment_id.to_string()), Some(why)],
    )?;
    Ok(())
}

/// Removes an experiment.
pub fn delete(experiment_id: i64) -> Result<(), Fault> {
    sql::write(
        "DELETE FROM fsbench.experiment WHERE experiment_id = $1::bigint",
        &[Some(&experiment_id.to_string())],
    )?;
    Ok(())
}

/// Facts of a target of an experiment beside its metric.
#[derive(Debug, Default, Deserialize)]
#[allow(missing_docs)]
pub struct BesideRow {
    pub number: usize,
    pub durability: Option<String>,
    pub warnings: Option<String>,
    pub runs: u32,
    /// How many of its runs had a processor probe far from the median of all.
    pub probes_off: u32,
    /// The first of its runs that count.
    pub first_run: Option<i64>,
}

/// The same of all targets, by what is stored of the runs that count.
pub fn beside(experiment_id: i64) -> Result<Vec<BesideRow>, Fault> {
    let text = sql::read_latest(
        "WITH usual AS (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x.probe) AS probe FROM fsbench.experiment_run x WHERE x.experiment_id = $1::bigint), \
         counted AS (SELECT x.number, x.run_id, abs(x.probe / (SELECT u.probe FROM usual u) - 1) > 0.05 AS is_off FROM fsbench.experiment_run x \
           WHERE x.experiment_id = $1::bigint AND x.outcome IN ('measured', 'behind')), \
         of_target AS (SELECT c.number, count(*) AS runs, count(*) FILTER (WHERE c.is_off) AS probes_off, min(c.run_id) AS first_run, \
             string_agg(DISTINCT e.durability, '; ') AS durability \
           FROM counted c LEFT JOIN fsbench.environment e USING (run_id) GROUP BY 1), \
         found AS (SELECT c.number, f.code, count(*) AS with_it, max(f.weight) AS weight FROM counted c JOIN fsbench.finding f USING (run_id) \
           WHERE f.severity = 'warning' GROUP BY 1, 2) \
         SELECT coalesce(jsonb_agg(jsonb_build_object('number', t.number, 'durability', t.durability, 'runs', t.runs, 'probes_off', t.probes_off, 'first_run', t.first_run, \
           'warnings', (SELECT string_agg(CASE WHEN f.with_it < t.runs THEN format('%s (%s of %s runs)', f.code, f.with_it, t.runs) \
               ELSE f.code END, ', ' ORDER BY f.weight DESC, f.code COLLATE \"C\") FROM found f WHERE f.number = t.number))), '[]') \
         FROM of_target t",
        &[Some(&experiment_id.to_string())],
    )?;
    read_json("targets of an experiment", &text.unwrap_or_default())
}

/// The stored environments of the runs of each target, as `recommend` takes them.
pub fn facts(experiment_id: i64) -> Result<Vec<Facts>, Fault> {
    let text = sql::read_latest(
        "WITH counted AS (SELECT x.number, min(x.run_id) AS run_id, percentile_cont(0.5) WITHIN GROUP (ORDER BY r.stall_seconds) AS stalls \
           FROM fsbench.experiment_run x JOIN fsbench.run_log r USING (run_id) \
           WHERE x.experiment_id = $1::bigint AND x.outcome IN ('measured', 'behind') GROUP BY 1) \
         SELECT coalesce(jsonb_agg(jsonb_build_object('number', c.number, 'kind', r.target_definition ->> 'kind', 'filesystem', e.filesystem, \
           'mkfs_command', e.mkfs_command, 'mount_options', r.target_definition ->> 'mount_options', 'durability', e.durability, \
           'virtualization', e.virtualization, 'data_bytes', r.data_bytes, 'memory_bytes', e.memory_bytes, 'stall_seconds', c.stalls, \
           'crash', r.used #>> '{options,crash}' = 'true', 'power_loss_protected', (r.target_definition ->> 'power_loss_protected')::boolean, \
           'settings', coalesce(r.target_definition -> 'settings', '{}') || coalesce(t.own -> 'settings', '{}'), \
           'block_settings', r.target_definition -> 'block_settings', 'kernel_settings', r.target_definition -> 'kernel_settings', \
           'workload', r.workload, 'clients', r.clients) ORDER BY c.number), '[]') \
         FROM counted c JOIN fsbench.run_log r USING (run_id) LEFT JOIN fsbench.environment e USING (run_id) \
           JOIN fsbench.experiment_target t ON t.experiment_id = $1::bigint AND t.number = c.number",
        &[Some(&experiment_id.to_string())],
    )?;
    read_json("targets of an experiment", &text.unwrap_or_default())
}

/// Experiments that are done and repeat this one, or that this one repeats.
pub fn sessions_of(name: &str) -> Result<Vec<i64>, Fault> {
    let text = sql::read_latest(
        "SELECT coalesce(jsonb_agg(o.experiment_id ORDER BY o.experiment_id), '[]') FROM fsbench.experiment o \
         WHERE o.status = 'done' AND (o.confirms = $1 OR o.experiment = (SELECT e.confirms FROM fsbench.experiment e WHERE e.experiment = $1))",
        &[Some(name)],
    )?;
    read_json("experiments", &text.unwrap_or_default())
}

/// The run of an experiment that is on, in words; None if none is.
pub fn on_now(experiment_id: i64) -> Result<Option<String>, Fault> {
    sql::read_latest(
        "SELECT format('block %s, %s', x.block, t.name) FROM fsbench.experiment_run x JOIN fsbench.experiment_target t USING (experiment_id, number) \
         WHERE x.experiment_id = $1::bigint AND x.outcome IS NULL AND x.run_id IS NOT NULL LIMIT 1",
        &[Some(&experiment_id.to_string())],
    )
}
