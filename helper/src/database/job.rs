//! The statements about fsbench.helper_job. Everything is qualified, and the search path holds nothing of the user's.

use super::Failure;
use pgfsbench_core::helper::Request;
use pgfsbench_core::helper::protocol::Report;
use pgfsbench_core::helper::request::LONGEST_REQUEST;
use pgfsbench_core::refusal::{Kind, Refusal};
use postgres::Client;
use serde_json::Value;

/// A job that is ours to do.
pub struct Job {
    pub id: i64,
    /// What is asked for: a copy, which no later change of the row reaches.
    pub request: Result<Request, Refusal>,
}

/// What came of it.
pub struct Outcome {
    steps: Vec<Report>,
    result: Option<Value>,
    refusal: Option<Refusal>,
}

impl Outcome {
    pub fn done(steps: Vec<Report>, result: Value) -> Self {
        Self {
            steps,
            result: Some(result),
            refusal: None,
        }
    }

    /// The kind of refusal goes into the result, for the extension to make a SQLSTATE of.
    pub fn refused(steps: Vec<Report>, refusal: Refusal) -> Self {
        Self {
            steps,
            result: Some(serde_json::json!({"refused": refusal.kind})),
            refusal: Some(refusal),
        }
    }
}

/// Makes this the one session that serves the database, and listens.
pub fn settle_in(client: &mut Client) -> Result<(), Failure> {
    client.batch_execute(
        "SET search_path = pg_catalog, pg_temp; SET client_min_messages = error; \
         SET lock_timeout = '10s'; SET default_transaction_isolation = 'read committed'; \
         SET statement_timeout = 0; SET idle_session_timeout = 0",
    )?;
    if client.query_one("SELECT pg_is_in_recovery()", &[])?.get(0) {
        return Err("the server is a standby".into());
    }
    for table in ["fsbench.helper_job", "fsbench.helper_description"] {
        check_table(client, table)?;
    }
    let is_alone: bool = client
        .query_one(
            "SELECT pg_try_advisory_lock(hashtext('pgfsbench-helper'))",
            &[],
        )?
        .get(0);
    if !is_alone {
        return Err("another pgfsbench-helper serves the database".into());
    }
    client.batch_execute("LISTEN fsbench_helper")?;
    Ok(())
}

/// A table that the helper writes to has to be there, and a superuser's.
fn check_table(client: &mut Client, table: &str) -> Result<(), Failure> {
    let row = client.query_opt(
        "SELECT c.relkind = 'r', t.rolsuper AND s.rolsuper \
         FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
           JOIN pg_roles t ON t.oid = c.relowner JOIN pg_roles s ON s.oid = n.nspowner \
         WHERE c.oid = to_regclass($1)",
        &[&table],
    )?;
    let Some(row) = row.filter(|row| row.get(0)) else {
        return Err(format!("there is no table {table}; run CREATE EXTENSION pgfsbench").into());
    };
    // Who owns it can have code of his own run by whoever writes there.
    if !row.get::<_, bool>(1) {
        return Err(
            format!("table {table} or its schema belongs to a role that is no superuser").into(),
        );
    }
    Ok(())
}

/// Nobody works on what an earlier helper had taken; and what was asked for before the server's start, or comes from a dump,
/// is not done any more.
pub fn fail_stale(client: &mut Client) -> Result<(), Failure> {
    client.execute(
        "UPDATE fsbench.helper_job SET status = 'failed', ended_at = clock_timestamp(), \
           error = CASE status WHEN 'running' THEN 'pgfsbench-helper has ended during the job' \
                   ELSE 'the server was restarted before the job was begun' END, \
           error_hint = CASE status WHEN 'running' THEN 'Release the target, and try again.' ELSE 'Try again.' END \
         WHERE status = 'running' OR status = 'queued' AND server_started <> pg_postmaster_start_time()",
        &[],
    )?;
    Ok(())
}

/// Takes the oldest job of this start of the server. It is read only when it is taken, so that one that cannot be read is in
/// nobody's way.
pub fn claim(client: &mut Client) -> Result<Option<Job>, Failure> {
    let row = client.query_opt(
        "UPDATE fsbench.helper_job SET status = 'running', started_at = clock_timestamp(), helper_version = $1 \
         WHERE job_id = (SELECT job_id FROM fsbench.helper_job \
                         WHERE status = 'queued' AND server_started = pg_postmaster_start_time() \
                         ORDER BY job_id LIMIT 1 FOR UPDATE SKIP LOCKED) \
         RETURNING job_id",
        &[&env!("CARGO_PKG_VERSION")],
    )?;
    let Some(row) = row else {
        return Ok(None);
    };
    let id = row.get(0);
    let request = match read(client, id) {
        Ok(request) => request,
        Err(e) if e.as_db_error().is_none() || client.is_closed() => return Err(e.into()),
        // In a database of SQL_ASCII, bytes that are no text.
        Err(e) => Err(Refusal::argument("job cannot be read")
            .detail(format!(
                "The server says: {}.",
                e.as_db_error().map_or("", |e| e.message())
            ))
            .hint("Use ASCII.")),
    };
    Ok(Some(Job { id, request }))
}

/// However long they are, no more of the texts is read than tells that they are too long.
fn read(client: &mut Client, id: i64) -> Result<Result<Request, Refusal>, postgres::Error> {
    let row = client.query_one(
        "SELECT left(action, 100), left(target, 100), left(request::text, $2) FROM fsbench.helper_job WHERE job_id = $1",
        &[&id, &(LONGEST_REQUEST as i32 + 1)],
    )?;
    let text = |i: usize| row.try_get::<_, &str>(i);
    Ok(Request::of_job(text(0)?, text(1)?, text(2)?))
}

/// What was done so far.
pub fn record_steps(client: &mut Client, id: i64, steps: &[Report]) -> Result<(), Failure> {
    client.execute(
        "UPDATE fsbench.helper_job SET steps = $2::text::jsonb WHERE job_id = $1 AND status = 'running'",
        &[&id, &serde_json::to_string(steps)?],
    )?;
    Ok(())
}

/// How it ended.
pub fn record(client: &mut Client, id: i64, outcome: &Outcome) -> Result<(), Failure> {
    let none = Refusal::new(Kind::Internal, "");
    let refusal = outcome.refusal.as_ref();
    let (status, error) = match refusal {
        None => ("done", None),
        Some(refusal) => ("failed", Some(storable(&refusal.message))),
    };
    let Refusal { detail, hint, .. } = refusal.unwrap_or(&none);
    client.execute(
        "UPDATE fsbench.helper_job SET status = $2, ended_at = clock_timestamp(), steps = $3::text::jsonb, \
           result = $4::text::jsonb, error = $5, error_detail = $6, error_hint = $7 \
         WHERE job_id = $1 AND status = 'running'",
        &[
            &id,
            &status,
            &serde_json::to_string(&outcome.steps)?,
            &outcome.result.as_ref().map(Value::to_string),
            &error,
            &detail.as_deref().map(storable),
            &hint.as_deref().map(storable),
        ],
    )?;
    Ok(())
}

/// What the helper sees, instead of what it saw before.
pub fn publish(client: &mut Client, outcome: &Outcome) -> Result<(), Failure> {
    let (Some(description), None) = (&outcome.result, &outcome.refusal) else {
        // It stays as it was seen last.
        return Ok(());
    };
    // With a 0 that is no character of PostgreSQL's the whole would be refused.
    let text = description.to_string().replace("\\u0000", "\\ufffd");
    client.execute(
        "INSERT INTO fsbench.helper_description (seen_at, helper_version, description) \
         VALUES (clock_timestamp(), $1, $2::text::jsonb) \
         ON CONFLICT (singleton) DO UPDATE SET seen_at = excluded.seen_at, \
           helper_version = excluded.helper_version, description = excluded.description",
        &[&env!("CARGO_PKG_VERSION"), &text],
    )?;
    Ok(())
}

/// No text of PostgreSQL's holds a NUL.
fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}
