//! A job of pgfsbench-helper: a row of `fsbench.helper_job`, committed, so that the helper sees it, and watched
//! until the helper has written there how it went.

use std::time::{Duration, Instant};

use pgfsbench_core::{
    proc,
    refusal::{Kind, Refusal},
};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    errors::{Fault, read_json, sqlstate},
    pg::{libpq::CheckInterrupts, points::point, process, sql, xact},
};

/// How long a helper may be away before it counts as not running: it may just be starting again.
const AWAY: Duration = Duration::from_secs(3);
/// How long the release of a target is waited for at the end of a run.
const RELEASE: Duration = Duration::from_secs(120);
/// The pause between two polls of the row.
const POLL: Duration = Duration::from_millis(50);

/// A job as the helper has left it.
#[derive(Deserialize)]
struct Row {
    status: String,
    result: Option<Value>,
    error: Option<String>,
    detail: Option<String>,
    hint: Option<String>,
}

/// Asks the helper for something and waits until it is done; gives the result. `patience` is how long it may take until a
/// helper is there. An error of `check_interrupts` ends the wait: a job that was not begun is withdrawn then.
pub fn ask(
    run_id: Option<i64>,
    target: &str,
    action: &str,
    request: &Value,
    patience: Duration,
    check_interrupts: CheckInterrupts,
) -> Result<Value, Fault> {
    wait_for_helper(patience, check_interrupts)?;
    let id = queue(run_id, target, action, request)?;
    wait(id, check_interrupts)
}

/// Queues a job for when there is a helper. In no transaction.
pub fn queue(
    run_id: Option<i64>,
    target: &str,
    action: &str,
    request: &Value,
) -> Result<i64, Fault> {
    let run_id = run_id.map(|id| id.to_string());
    let id = xact::transaction(|| {
        sql::write(
            "INSERT INTO fsbench.helper_job (run_id, target, action, request) \
             VALUES ($1::bigint, $2, $3, $4::jsonb) RETURNING job_id",
            &[
                run_id.as_deref(),
                Some(target),
                Some(action),
                Some(&request.to_string()),
            ],
        )
    })?;
    number(id)
}

/// The number of a job that was inserted.
pub fn number(id: Option<String>) -> Result<i64, Fault> {
    id.and_then(|id| id.parse().ok())
        .ok_or_else(|| Fault::new(sqlstate::INTERNAL, "a job has no number"))
}

/// The job that a session waits for by this ticket; None when there is none yet. In a transaction.
pub fn of_ticket(ticket: i64) -> Result<Option<i64>, Fault> {
    let id = sql::read(
        "SELECT job_id FROM fsbench.helper_job WHERE ticket = $1::bigint",
        &[Some(&ticket.to_string())],
    )?;
    Ok(id.and_then(|id| id.parse().ok()))
}

/// The version of the helper that serves this database; None when there is none. In a transaction.
pub fn helper_version() -> Result<Option<String>, Fault> {
    sql::read(include_str!("queries/helper_version.sql"), &[])
}

/// Whether a helper has ever served this database. In a transaction.
pub fn has_served() -> Result<bool, Fault> {
    let there = sql::read("SELECT 'yes' FROM fsbench.helper_session", &[])?;
    Ok(there.is_some())
}

/// Waits until a helper of this version serves this database.
pub fn wait_for_helper(patience: Duration, check_interrupts: CheckInterrupts) -> Result<(), Fault> {
    let began = Instant::now();
    loop {
        match xact::transaction(helper_version)? {
            Some(version) if version == env!("CARGO_PKG_VERSION") => return Ok(()),
            Some(version) => return Err(other_version(&version)),
            None if began.elapsed() > patience.max(AWAY) => {
                return Err(not_running(xact::transaction(has_served)?));
            }
            None => {}
        }
        check_interrupts()?;
        process::wait(POLL);
    }
}

/// The error if no helper serves: it has to be set up, or only started.
pub fn not_running(has_served: bool) -> Fault {
    const START: &str =
        "systemctl start pgfsbench-helper (or pgfsbench-helper serve, where systemd does not run)";
    const WAIT: &str = "A run waits for it with the option wait_for_helper_ms.";
    Fault::new(sqlstate::NOT_IN_THIS_STATE, "pgfsbench-helper is not running")
        .detail("It makes and mounts the filesystems of targets, and serves no session of this database now.")
        .hint(match has_served {
            true => format!("Start it as root: {START}. {WAIT}"),
            false => format!("Have root set it up for this database (fsbench.doctor() has the command) or, if that is done, start it: {START}. {WAIT}"),
        })
}

fn other_version(version: &str) -> Fault {
    Fault::new(
        sqlstate::NOT_IN_THIS_STATE,
        "pgfsbench-helper has another version than the extension",
    )
    .detail(format!(
        "The helper has version {version}, and the extension {}.",
        env!("CARGO_PKG_VERSION")
    ))
    .hint("Install the same version of both, and restart pgfsbench-helper.")
}

/// Waits until a job is over.
pub fn wait(id: i64, check_interrupts: CheckInterrupts) -> Result<Value, Fault> {
    let mut seen = Instant::now();
    loop {
        let (row, there) = xact::transaction(|| Ok((read(id)?, helper_version()?.is_some())))?;
        match row.status.as_str() {
            "done" => {
                point!("the helper has done a job");
                return Ok(row.result.unwrap_or_default());
            }
            "failed" => return Err(why(row)),
            _ => {}
        }
        if there {
            seen = Instant::now();
        } else if seen.elapsed() > AWAY && withdraw(id, &row.status, "pgfsbench-helper has ended")?
        {
            return Err(match row.status.as_str() {
                "queued" => not_running(true),
                _ => Fault::new(
                    sqlstate::SYSTEM,
                    "pgfsbench-helper has ended during the job",
                )
                .detail(format!("It was job {id} of fsbench.helper_job."))
                .hint("See its log, and start it again: it clears up what it has begun."),
            });
        }
        if let Err(fault) = check_interrupts() {
            withdraw(id, "queued", &fault.message)?;
            return Err(fault);
        }
        process::wait(POLL);
    }
}

/// Asks for the release of a target that a run had prepared; None when it had not, or when it is released already: another run may have it now.
pub fn ask_release(run_id: i64, target: &str) -> Result<Option<i64>, Fault> {
    match may_be_prepared_by(run_id, target)? {
        true => queue(Some(run_id), target, "release", &serde_json::json!({})).map(Some),
        false => Ok(None),
    }
}

/// Waits until a target is released. Without a helper the job stays in the queue for the next one.
pub fn wait_for_release(id: i64) -> Result<(), Fault> {
    let began = Instant::now();
    let mut seen = Instant::now();
    loop {
        let (row, there) = xact::transaction(|| Ok((read(id)?, helper_version()?.is_some())))?;
        match row.status.as_str() {
            "done" => return Ok(()),
            "failed" => return Err(why(row)),
            _ if there => seen = Instant::now(),
            _ => {}
        }
        if seen.elapsed() > AWAY {
            return Err(not_running(true).hint("It is released when pgfsbench-helper runs again."));
        }
        if began.elapsed() > RELEASE {
            return Err(at_other_work(id));
        }
        process::wait(POLL);
    }
}

/// The error if the helper has had other jobs for so long.
fn at_other_work(id: i64) -> Fault {
    Fault::new(sqlstate::NOT_IN_THIS_STATE, "pgfsbench-helper has other jobs before it")
        .detail("It does one at a time, and in one it may wait until an array is in sync.")
        .hint(format!(
            "It comes to this one by itself. To see how far it is: SELECT job_id, target, action, status FROM fsbench.helper_job WHERE job_id <= {id} ORDER BY job_id DESC LIMIT 5."
        ))
}

/// How far the array is in sync that the helper waits for in a job of this run, in percent; None while it waits for none. In a transaction.
pub fn sync_percent(run_id: i64) -> Result<Option<u64>, Fault> {
    let percent = sql::read_latest(
        "SELECT substring(steps -> -1 ->> 'output' FROM '^([0-9]+) % ') FROM fsbench.helper_job \
         WHERE run_id = $1::bigint AND status = 'running' AND steps -> -1 ->> 'step' = 'await_sync'",
        &[Some(&run_id.to_string())],
    )?;
    Ok(percent.and_then(|percent| percent.parse().ok()))
}

/// Steps of the helper in the last job of this kind for a run, each with its milliseconds. In a transaction.
pub fn steps(run_id: i64, action: &str) -> Result<Vec<(String, f64)>, Fault> {
    let text = sql::read_latest(
        "SELECT coalesce(jsonb_agg(jsonb_build_array(s.report -> 'step', s.report -> 'ms') ORDER BY s.number), '[]') \
         FROM (SELECT steps FROM fsbench.helper_job WHERE run_id = $1::bigint AND action = $2 ORDER BY job_id DESC LIMIT 1) j, \
           jsonb_array_elements(j.steps) WITH ORDINALITY AS s(report, number)",
        &[Some(&run_id.to_string()), Some(action)],
    )?;
    read_json("steps", &text.unwrap_or_default())
}

/// Whether the helper has made a filesystem for this run, or may still do so. A job that was not begun is withdrawn.
fn may_be_prepared_by(run_id: i64, target: &str) -> Result<bool, Fault> {
    #[derive(Deserialize)]
    struct Latest {
        job_id: i64,
        action: String,
        status: String,
    }
    let latest = || {
        let text = sql::read(
            "SELECT to_jsonb(j) FROM ( \
               SELECT job_id, action, status FROM fsbench.helper_job \
               WHERE run_id = $1::bigint AND target = $2 AND (action = 'prepare' OR action = 'release' AND status = 'done') \
               ORDER BY job_id DESC LIMIT 1) j",
            &[Some(&run_id.to_string()), Some(target)],
        )?;
        text.map(|text| read_json::<Latest>("job", &text))
            .transpose()
    };
    let Some(job) = xact::transaction(latest)? else {
        return Ok(false);
    };
    // The helper has undone a job that failed.
    if job.action == "release" || job.status == "failed" {
        return Ok(false);
    }
    let withdrawn = job.status == "queued" && withdraw(job.job_id, "queued", "the run is over")?;
    Ok(!withdrawn)
}

/// Ends a job that is still in this state.
fn withdraw(id: i64, status: &str, why: &str) -> Result<bool, Fault> {
    let withdrawn = xact::transaction(|| {
        sql::write(
            "UPDATE fsbench.helper_job SET status = 'failed', ended_at = clock_timestamp(), error = $3 \
             WHERE job_id = $1::bigint AND status = $2 RETURNING job_id",
            &[Some(&id.to_string()), Some(status), Some(why)],
        )
    })?;
    Ok(withdrawn.is_some())
}

fn read(id: i64) -> Result<Row, Fault> {
    let text = sql::read(
        "SELECT jsonb_build_object('status', status, 'result', result, 'error', error, 'detail', error_detail, \
           'hint', error_hint) FROM fsbench.helper_job WHERE job_id = $1::bigint",
        &[Some(&id.to_string())],
    )?;
    let gone = || {
        Fault::new(
            sqlstate::NOT_IN_THIS_STATE,
            format!("job {id} of fsbench.helper_job is gone"),
        )
        .detail("Somebody has deleted its row.")
    };
    read_json("job", &text.ok_or_else(gone)?)
}

/// The error of a job that has failed: its SQLSTATE is that of what the helper has refused, or what the extension has written.
fn why(row: Row) -> Fault {
    let mut result = row.result.unwrap_or_default();
    let own = result["sqlstate"].as_str().map(str::to_owned);
    let kind = serde_json::from_value(result["refused"].take()).ok();
    let mut fault = Fault::from(Refusal {
        kind: kind.unwrap_or(Kind::System),
        message: row.error.unwrap_or_else(|| "the job failed".into()),
        detail: row.detail,
        hint: row.hint,
    });
    if let Some(sqlstate) = own {
        fault.sqlstate = sqlstate;
    }
    fault
}

/// The status of a job; None when there is no such row. In a transaction.
pub fn status(id: i64) -> Result<Option<String>, Fault> {
    sql::read(
        "SELECT status FROM fsbench.helper_job WHERE job_id = $1::bigint",
        &[Some(&id.to_string())],
    )
}

/// The outcome of the job of a ticket, as it is committed now; None while it is not over, or not there. In a transaction.
pub fn outcome(ticket: i64) -> Result<Option<Result<Value, Fault>>, Fault> {
    let text = sql::read_latest(
        "SELECT jsonb_build_object('status', status, 'result', result, 'error', error, 'detail', error_detail, \
           'hint', error_hint) FROM fsbench.helper_job WHERE ticket = $1::bigint AND status IN ('done', 'failed')",
        &[Some(&ticket.to_string())],
    )?;
    let row: Option<Row> = text.map(|text| read_json("job", &text)).transpose()?;
    Ok(row.map(|row| match row.status.as_str() {
        "done" => Ok(row.result.unwrap_or_default()),
        _ => Err(why(row)),
    }))
}

/// The run that had a target prepared; Some(None) when a user prepared it. A filesystem that is not mounted any more does not count: after a reboot,
/// or when the row comes from another machine. In a transaction.
pub fn prepared_by(target: &str) -> Result<Option<Option<i64>>, Fault> {
    #[derive(Deserialize)]
    struct Prepared {
        run_id: Option<i64>,
        mount_point: Option<String>,
    }
    let text = sql::read_latest(include_str!("queries/prepared_by.sql"), &[Some(target)])?;
    let prepared: Option<Prepared> = text.map(|text| read_json("job", &text)).transpose()?;
    Ok(prepared
        .filter(|prepared| prepared.mount_point.as_deref().is_none_or(is_mounted))
        .map(|prepared| prepared.run_id))
}

fn is_mounted(mount_point: &str) -> bool {
    let mounts = proc::understood_mounts(&std::fs::read(proc::MOUNTINFO).unwrap_or_default());
    // Without /proc nothing is known.
    mounts.is_empty() || mounts.iter().any(|m| m.mount_point == mount_point)
}
