//! Every SQL statement that touches the tables of results. The values go in as one JSON document per table.

pub mod definition;
pub mod experiment;
mod experiment_facts;
mod experiment_log;
mod experiment_runs;
mod experiment_state;
pub mod import;
mod queued;
pub mod script;
mod seconds;
pub mod study;

use pgfsbench_core::{
    difference,
    finding::{Durability, Finding},
    hist::{Histogram, Measure},
    recovery_log::Recovery,
    rows::Row,
    run::row::{Done, RequestedRun},
    spec::Spec,
    verification::{self, Check, Moment},
    work_database,
};
use serde_json::{Value, json};

use crate::{
    errors::{Fault, read_stored, sqlstate, to_json_text},
    pg::sql,
};

pub use definition::document;
pub use import::{check as check_import, check_rows, forget_hints, import, insert_rows};
pub use queued::{fingerprint, queued, queued_on};
pub use seconds::{insert_operations, insert_samples, insert_waits};

/// Inserts the row of a new run, and gives its id. `asked` is JSON; `status` is `queued` or `running`.
pub fn insert_run(
    spec: &Spec,
    asked: &str,
    requested_by: &str,
    status: &str,
) -> Result<i64, Fault> {
    use pgfsbench_core::spec::Bound;
    let (duration_ms, transactions) = match spec.bound {
        // How long a checkpoint cycle is there is not known here.
        Bound::DurationMs(ms) => (
            Some(ms).filter(|_| !spec.is_chosen_remotely("duration")),
            None,
        ),
        Bound::Transactions(n) => (None, Some(n)),
    };
    let workload = spec.workload;
    let has_scale = spec.has_tables() && !spec.is_chosen_remotely("scale");
    // If another machine chooses them, their number is not known yet.
    let clients = workload.clients_come_from();
    let clients = clients.filter(|name| !spec.is_chosen_remotely(name));
    let row = RequestedRun {
        status: status.into(),
        target: spec.target.clone(),
        workload: workload.as_str(),
        scale: has_scale.then_some(spec.scale),
        clients: clients.map(|_| spec.clients),
        duration: duration_ms.map(|ms| format!("{ms} ms")),
        transactions: transactions.filter(|_| workload.takes("transactions")),
        warmup: workload
            .takes("warmup")
            .then(|| format!("{} ms", spec.warmup_ms)),
        rate: spec.rate,
        latency_limit_ms: spec.latency_limit_ms,
        seed: spec.seed,
        label: spec.label.clone(),
        forced: spec.force,
        used: json!(spec),
        requested_by: requested_by.into(),
    };
    let id = sql::write(
        include_str!("store/queries/insert_run.sql"),
        &[Some(&to_json_text(&row)?), Some(asked)],
    )?;
    id.and_then(|id| id.parse().ok())
        .ok_or_else(|| Fault::new(sqlstate::INTERNAL, "the run got no id"))
}

/// Moves a queued run to `running`; false when its row is gone or has another status.
pub fn set_running(run_id: i64) -> Result<bool, Fault> {
    let found = sql::write(
        "UPDATE fsbench.run_log SET status = 'running', started_at = clock_timestamp() \
         WHERE run_id = $1::bigint AND status = 'queued' RETURNING 1",
        &[Some(&run_id.to_string())],
    )?;
    Ok(found.is_some())
}

/// Stores which database the run works in, before it is made.
pub fn set_work_database(run_id: i64, name: &str, oid: u32, mark: &str) -> Result<(), Fault> {
    sql::write(
        "UPDATE fsbench.run_log SET work_database = $2, work_database_oid = $3::oid, work_mark = $4 \
         WHERE run_id = $1::bigint",
        &[
            Some(&run_id.to_string()),
            Some(name),
            Some(&oid.to_string()),
            Some(mark),
        ],
    )?;
    Ok(())
}

/// The database of this name that a run has left, if it is one: its OID and its comment.
pub fn left_database(name: &str) -> Result<Option<(u32, String)>, Fault> {
    let text = sql::read(
        "SELECT jsonb_build_array(oid::bigint, coalesce(shobj_description(oid, 'pg_database'), '')) \
         FROM pg_catalog.pg_database WHERE datname = $1",
        &[Some(name)],
    )?;
    Ok(text
        .and_then(|text| serde_json::from_str::<(u32, String)>(&text).ok())
        .filter(|(_, comment)| {
            work_database::is_name(name) && work_database::mark_in(comment).is_some()
        }))
}

/// The condition on pg_database for a database that a run on a user's own data can work in, but that of the extension.
pub const USABLE_DATABASE: &str = "datallowconn AND NOT datistemplate AND datconnlimit <> -2";

/// OID of a database of a user's own that sessions can use, if it is there.
pub fn own_database(name: &str) -> Result<Option<u32>, Fault> {
    let query =
        format!("SELECT oid FROM pg_catalog.pg_database WHERE datname = $1 AND {USABLE_DATABASE}");
    let text = sql::read(&query, &[Some(name)])?;
    Ok(text.and_then(|oid| oid.parse().ok()))
}

/// Ends a run that only loads.
pub fn set_loaded(
    run_id: i64,
    load_ms: Option<f64>,
    phases: &Value,
    steps: &Value,
) -> Result<(), Fault> {
    sql::write(
        "UPDATE fsbench.run_log SET status = 'done', kept = true, load_ms = $2::float8, phases = $3::jsonb, \
           steps = $4::jsonb, ended_at = clock_timestamp() WHERE run_id = $1::bigint",
        &[
            Some(&run_id.to_string()),
            load_ms.map(|ms| ms.to_string()).as_deref(),
            Some(&phases.to_string()),
            Some(&steps.to_string()),
        ],
    )?;
    Ok(())
}

/// Ends a run that is done, with all that was measured.
pub fn set_done(run_id: i64, done: &Done) -> Result<(), Fault> {
    let done = json!(done);
    let columns: Vec<&str> = done
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| &name[..])
        .collect();
    let (columns, values) = (columns.join(", "), columns.join(", n."));
    sql::write(
        &format!(
            "UPDATE fsbench.run_log r SET ({columns}) = (SELECT n.{values} \
               FROM jsonb_populate_record(NULL::fsbench.run_log, $2::jsonb) n) WHERE r.run_id = $1::bigint"
        ),
        &[Some(&run_id.to_string()), Some(&done.to_string())],
    )?;
    Ok(())
}

/// Stores the steps of a run that has cleared up, and its phases, unless they are those of another server.
pub fn set_steps(run_id: i64, steps: &Value, phases: Option<&Value>) -> Result<(), Fault> {
    sql::write(
        "UPDATE fsbench.run_log SET steps = $2::jsonb, phases = coalesce($3::jsonb, phases) WHERE run_id = $1::bigint",
        &[
            Some(&run_id.to_string()),
            Some(&steps.to_string()),
            phases.map(ToString::to_string).as_deref(),
        ],
    )?;
    Ok(())
}

/// Adds a phase after those that are stored.
pub fn add_phase(run_id: i64, phase: &Value) -> Result<(), Fault> {
    sql::write(
        "UPDATE fsbench.run_log SET phases = phases || $2::jsonb WHERE run_id = $1::bigint",
        &[Some(&run_id.to_string()), Some(&phase.to_string())],
    )?;
    Ok(())
}

/// Stores when the measured window began (seconds since 1970) and that the run has ended now.
pub fn set_times(run_id: i64, measured_from: f64) -> Result<(), Fault> {
    sql::write(
        "UPDATE fsbench.run_log SET measured_from = to_timestamp($2::float8), ended_at = clock_timestamp() \
         WHERE run_id = $1::bigint",
        &[Some(&run_id.to_string()), Some(&measured_from.to_string())],
    )?;
    Ok(())
}

/// Ends a run that did not come to its end: status `failed` or `cancelled` with the reason. Leaves a run alone that is done.
pub fn set_failed(run_id: i64, fault: &Fault, phases: Option<&Value>) -> Result<(), Fault> {
    let status = if fault.is_cancel() {
        "cancelled"
    } else {
        "failed"
    };
    sql::write(
        "UPDATE fsbench.run_log SET status = $2, error_code = $3, error = $4, error_detail = $5, error_hint = $6, \
           phases = coalesce($7::jsonb, phases), ended_at = clock_timestamp() \
         WHERE run_id = $1::bigint AND status IN ('queued', 'running')",
        &[
            Some(&run_id.to_string()),
            Some(status),
            Some(&fault.sqlstate),
            Some(&fault.message),
            fault.detail.as_deref(),
            fault.hint.as_deref(),
            phases.map(ToString::to_string).as_deref(),
        ],
    )?;
    Ok(())
}

/// Stores a histogram of what was measured.
pub fn insert_histogram(
    run_id: i64,
    transaction: &str,
    measure: Measure,
    histogram: &Histogram,
) -> Result<(), Fault> {
    insert(run_id, &[histogram.to_row(transaction, measure)])
}

/// Stores rows of a run, given without its number.
pub fn insert<R: Row>(run_id: i64, rows: &[R]) -> Result<(), Fault> {
    match rows {
        [] => Ok(()),
        rows => insert_array(run_id, R::TABLE, &to_json_text(&rows)?),
    }
}

/// Stores checks of the data of a run, with their outcomes.
pub fn insert_checks(run_id: i64, moment: Moment, checks: &[Check]) -> Result<(), Fault> {
    insert(run_id, &verification::rows(moment, checks))
}

/// Stores an array of rows of a run. A run_id within the rows is ignored.
pub fn insert_array(run_id: i64, table: &str, rows: &str) -> Result<(), Fault> {
    sql::write(
        &format!(
            "INSERT INTO fsbench.{table} SELECT n.* FROM jsonb_array_elements($2::jsonb) e, \
               jsonb_populate_record(NULL::fsbench.{table}, e || jsonb_build_object('run_id', $1::bigint)) n"
        ),
        &[Some(&run_id.to_string()), Some(rows)],
    )?;
    Ok(())
}

/// The findings that are stored about a run.
pub fn findings(run_id: i64) -> Result<Vec<Finding>, Fault> {
    let text = sql::read_latest(
        "SELECT coalesce(jsonb_agg(jsonb_build_object('code', code, 'severity', severity, 'message', message, \
           'hint', coalesce(hint, ''), 'weight', weight)), '[]') FROM fsbench.finding WHERE run_id = $1::bigint",
        &[Some(&run_id.to_string())],
    )?;
    read_stored("findings", &text.unwrap_or_default())
}

/// Stores the findings in the place of those that are there.
pub fn replace_findings(run_id: i64, findings: &[Finding]) -> Result<(), Fault> {
    sql::write(
        "DELETE FROM fsbench.finding WHERE run_id = $1::bigint",
        &[Some(&run_id.to_string())],
    )?;
    insert(run_id, findings)
}

/// Stores what the helper was asked for and has made, with the environment of a run.
pub fn set_storage(run_id: i64, storage: &Value) -> Result<(), Fault> {
    sql::write(
        include_str!("store/queries/set_storage.sql"),
        &[Some(&run_id.to_string()), Some(&storage.to_string())],
    )?;
    Ok(())
}

/// Stores a hash of the whole configuration: equal for runs whose settings are equal.
pub fn set_configuration_fingerprint(run_id: i64) -> Result<(), Fault> {
    let of_one_server = format!("{{{}}}", difference::OF_ONE_SERVER.join(","));
    sql::write(
        include_str!("store/queries/set_configuration_fingerprint.sql"),
        &[
            Some(&run_id.to_string()),
            Some(&of_one_server),
            Some(&difference::pattern_of_places()),
        ],
    )?;
    Ok(())
}

/// Stores the marks of devices in their first run if they were not known when the target was created; those of the log too.
pub fn set_device_identity(target: &str, made: &Value) -> Result<(), Fault> {
    let marks = |made: &Value| {
        let known = [
            ("serial", &made["serial"]),
            ("wwn", &made["wwn"]),
            ("partition_uuid", &made["partition_uuid"]),
            ("bytes", &made["device_bytes"]),
        ];
        let known = known.into_iter().filter(|(_, mark)| !mark.is_null());
        Value::Object(
            known
                .map(|(name, mark)| (name.to_owned(), mark.clone()))
                .collect(),
        )
    };
    let members = |made: &Value| {
        let all = made["members"].as_array();
        all.map(|all| Value::Array(all.iter().map(marks).collect()))
    };
    let log = &made["log"];
    let of_one_log = || Value::Array(vec![marks(log)]);
    for (given, column, marks) in [
        ("device", "device", Some(marks(made))),
        ("devices", "device", members(made)),
        ("log_device", "log_device", Some(marks(log))),
        (
            "log_devices",
            "log_device",
            members(log).or_else(|| Some(of_one_log())),
        ),
    ] {
        let Some(marks) = marks else { continue };
        sql::write(
            &format!(
                "UPDATE fsbench.target SET {column}_identity = $2::jsonb \
                 WHERE target = $1 AND {given} IS NOT NULL AND {column}_identity IS NULL"
            ),
            &[Some(target), Some(&marks.to_string())],
        )?;
    }
    Ok(())
}

/// Stores what a COMMIT of a run promised.
pub fn set_durability(run_id: i64, durability: &Durability) -> Result<(), Fault> {
    sql::write(
        "UPDATE fsbench.environment SET durability = $2, durability_codes = $3::jsonb WHERE run_id = $1::bigint",
        &[
            Some(&run_id.to_string()),
            Some(&durability.sentence()),
            Some(&json!(durability).to_string()),
        ],
    )?;
    Ok(())
}

/// Stores how the server of a target has recovered from its crash, and the balances that it had then, if they could be read.
pub fn insert_recovery(
    run_id: i64,
    recovery: &Recovery,
    balances: Option<&Value>,
) -> Result<(), Fault> {
    insert(run_id, std::slice::from_ref(recovery))?;
    match balances {
        None => Ok(()),
        Some(balances) => {
            sql::write(
                "UPDATE fsbench.run_log SET balances = $2::jsonb WHERE run_id = $1::bigint",
                &[Some(&run_id.to_string()), Some(&balances.to_string())],
            )?;
            Ok(())
        }
    }
}

/// Names of the targets other than `default`.
pub fn target_names() -> Result<Vec<String>, Fault> {
    let text = sql::read(
        "SELECT coalesce(jsonb_agg(target ORDER BY target), '[]') FROM fsbench.target WHERE kind <> 'default'",
        &[],
    )?;
    read_stored("targets", &text.unwrap_or_default())
}

/// The runs as an array of SQL.
fn array(runs: &[i64]) -> String {
    let runs: Vec<String> = runs.iter().map(ToString::to_string).collect();
    format!("{{{}}}", runs.join(","))
}

/// Runs whose rows say queued or running, each with whether it was asked for after the postmaster had started.
pub fn unfinished() -> Result<Vec<(i64, bool)>, Fault> {
    let text = sql::read(
        "SELECT coalesce(jsonb_agg(jsonb_build_array(run_id, coalesce(requested_at > pg_postmaster_start_time(), false)) ORDER BY run_id), '[]') \
         FROM fsbench.run_log WHERE status IN ('queued', 'running')",
        &[],
    )?;
    read_stored("runs", &text.unwrap_or_default())
}

/// Whether a run is done, and its work database is to stay.
pub fn is_kept(run_id: i64) -> Result<bool, Fault> {
    let found = sql::read(
        "SELECT 1 FROM fsbench.run_log WHERE run_id = $1::bigint AND status = 'done' AND kept",
        &[Some(&run_id.to_string())],
    )?;
    Ok(found.is_some())
}

/// The status in the row of a run; None when there is no such run.
pub fn status_of(run_id: i64) -> Result<Option<String>, Fault> {
    sql::read_latest(
        "SELECT status FROM fsbench.run_log WHERE run_id = $1::bigint",
        &[Some(&run_id.to_string())],
    )
}

/// The outcome of a run, from its row; None when there is no such run. A run that is on according to its row, but has no process, counts as failed.
pub fn outcome_of(run_id: i64) -> Result<Option<crate::board::outcome::Outcome>, Fault> {
    let text = sql::read_latest(
        include_str!("store/queries/outcome.sql"),
        &[Some(&run_id.to_string()), Some(sqlstate::NOT_IN_THIS_STATE)],
    )?;
    text.map(|text| read_stored("run", &text)).transpose()
}
