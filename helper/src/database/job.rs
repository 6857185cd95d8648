//! The statements about fsbench.helper_job. Everything is qualified, and the search path holds nothing of the user's.

use super::Failure;
use crate::voice::log;
use pgfsbench_core::helper::Request;
use pgfsbench_core::helper::protocol::Report;
use pgfsbench_core::helper::request::LONGEST_REQUEST;
use pgfsbench_core::refusal::{Kind, Refusal};
use postgres::Client;
use serde_json::Value;
use std::error::Error;
use std::fmt;

/// A job that is ours to do.
pub struct Job {
    pub id: i64,
    /// The run that it is for.
    pub run: Option<i64>,
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

    /// What came of it, if it is done.
    pub fn result(&self) -> Option<&Value> {
        self.result.as_ref().filter(|_| self.refusal.is_none())
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
         SET default_transaction_read_only = off; SET default_transaction_deferrable = off; \
         SET statement_timeout = '60s'; SET idle_session_timeout = 0; SET idle_in_transaction_session_timeout = 0; \
         SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'transaction_timeout'",
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
        return Err(who_is_there(client)?.into());
    }
    client.batch_execute("LISTEN fsbench_helper")?;
    Ok(())
}

/// Anybody can take an advisory lock.
fn who_is_there(client: &mut Client) -> Result<String, Failure> {
    let row = client.query_opt(
        "SELECT a.pid, coalesce(a.application_name, ''), coalesce(a.usename::text, '') \
         FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid \
         WHERE l.locktype = 'advisory' AND l.granted \
           AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
           AND (l.classid::bigint << 32 | l.objid::bigint) = hashtext('pgfsbench-helper')::bigint",
        &[],
    )?;
    Ok(match row {
        Some(row) if !row.get::<_, &str>(1).starts_with("pgfsbench-helper") => format!(
            "process {0} of user \"{2}\" (\"{1}\"), which is no pgfsbench-helper, holds the advisory lock \
             hashtext('pgfsbench-helper'); end it with: SELECT pg_terminate_backend({0})",
            row.get::<_, i32>(0),
            row.get::<_, &str>(1),
            row.get::<_, &str>(2),
        ),
        _ => "another pgfsbench-helper serves the database".to_owned(),
    })
}

/// There is no such table.
#[derive(Debug)]
pub struct NoTable(&'static str);

impl fmt::Display for NoTable {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(
            f,
            "there is no table {}; run CREATE EXTENSION pgfsbench",
            self.0
        )
    }
}

impl Error for NoTable {}

/// A table that the helper writes to has to be there, and a superuser's.
fn check_table(client: &mut Client, table: &'static str) -> Result<(), Failure> {
    let row = client.query_opt(
        "SELECT c.relkind = 'r', t.rolsuper AND s.rolsuper \
         FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
           JOIN pg_roles t ON t.oid = c.relowner JOIN pg_roles s ON s.oid = n.nspowner \
         WHERE c.oid = to_regclass($1)",
        &[&table],
    )?;
    let Some(row) = row.filter(|row| row.get(0)) else {
        return Err(NoTable(table).into());
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
/// is not done any more. A row that cannot be changed keeps no other.
pub fn fail_stale(client: &mut Client) -> Result<(), Failure> {
    const STALE: &str =
        "status = 'running' OR status = 'queued' AND server_started <> pg_postmaster_start_time()";
    let fail = format!(
        "UPDATE fsbench.helper_job SET status = 'failed', ended_at = clock_timestamp(), \
           error = CASE status WHEN 'running' THEN 'pgfsbench-helper has ended during the job' \
                   ELSE 'the server was restarted before the job was begun' END, \
           error_hint = CASE status WHEN 'running' THEN 'Release the target, and try again.' ELSE 'Try again.' END \
         WHERE ({STALE})"
    );
    match client.execute(&fail, &[]) {
        Ok(_) => return Ok(()),
        Err(e) if is_lost(client, &e) => return Err(e.into()),
        Err(_) => {}
    }
    let stale = format!("SELECT job_id FROM fsbench.helper_job WHERE {STALE} ORDER BY job_id");
    for row in client.query(&stale, &[])? {
        let id: i64 = row.get(0);
        match client.execute(&format!("{fail} AND job_id = $1"), &[&id]) {
            Ok(_) => {}
            Err(e) if is_lost(client, &e) => return Err(e.into()),
            Err(e) => complain(&format!("job {id} could not be failed"), &e),
        }
    }
    Ok(())
}

/// Whether it is the connection that has failed, and not a statement.
pub fn is_lost(client: &Client, error: &postgres::Error) -> bool {
    let is_going = |e: &postgres::error::DbError| {
        // admin_shutdown, crash_shutdown, cannot_connect_now
        e.code().code().starts_with("57P") || e.severity() != "ERROR"
    };
    client.is_closed() || error.as_db_error().is_none_or(is_going)
}

/// Says what the database would not do.
pub fn complain(what: &str, error: &postgres::Error) {
    let said = error.as_db_error().map_or("", |e| e.message());
    log!(None; "{what}: {said}");
}

/// Takes the oldest job of this start of the server. It is read only when it is taken, so that one that cannot be read is in
/// nobody's way; one that cannot be taken is not tried again by this session, and is added to `refractory`.
pub fn claim(client: &mut Client, refractory: &mut Vec<i64>) -> Result<Option<Job>, Failure> {
    loop {
        let mut transaction = client.transaction()?;
        let row = transaction.query_opt(
            "SELECT job_id FROM fsbench.helper_job \
             WHERE status = 'queued' AND server_started = pg_postmaster_start_time() AND job_id <> ALL ($1) \
             ORDER BY job_id LIMIT 1 FOR UPDATE SKIP LOCKED",
            &[refractory],
        )?;
        let Some(row) = row else {
            return Ok(None);
        };
        let id: i64 = row.get(0);
        let taken = transaction
            .execute(
                "UPDATE fsbench.helper_job SET status = 'running', started_at = clock_timestamp(), helper_version = $2 \
                 WHERE job_id = $1",
                &[&id, &env!("CARGO_PKG_VERSION")],
            )
            .and_then(|changed| transaction.commit().map(|()| changed));
        match taken {
            Ok(1) => return taken_job(client, id).map(Some),
            Ok(_) => refractory.push(id),
            Err(e) if is_lost(client, &e) => return Err(e.into()),
            Err(e) => {
                complain(&format!("job {id} could not be taken"), &e);
                refractory.push(id);
            }
        }
    }
}

fn taken_job(client: &mut Client, id: i64) -> Result<Job, Failure> {
    let (run, request) = match read(client, id) {
        Ok((run, request)) => (run, request),
        Err(e) if is_lost(client, &e) => return Err(e.into()),
        // In a database of SQL_ASCII, bytes that are no text.
        Err(e) => {
            let refusal = Refusal::argument("job cannot be read")
                .detail(format!(
                    "The server says: {}.",
                    e.as_db_error().map_or("", |e| e.message())
                ))
                .hint("Use ASCII.");
            (None, Err(refusal))
        }
    };
    Ok(Job { id, run, request })
}

type Read = (Option<i64>, Result<Request, Refusal>);

/// However long they are, no more of the texts is read than tells that they are too long.
fn read(client: &mut Client, id: i64) -> Result<Read, postgres::Error> {
    let row = client.query_one(
        "SELECT left(action, 100), left(target, 100), left(request::text, $2), run_id FROM fsbench.helper_job WHERE job_id = $1",
        &[&id, &(LONGEST_REQUEST as i32 + 1)],
    )?;
    let text = |i: usize| row.try_get::<_, &str>(i);
    let request = Request::of_job(text(0)?, text(1)?, text(2)?);
    Ok((row.try_get(3)?, request))
}

/// What was done so far. Whoever has locked the row is not waited for.
pub fn record_steps(client: &mut Client, id: i64, steps: &[Report]) -> Result<(), Failure> {
    client.execute(
        "UPDATE fsbench.helper_job SET steps = $2::text::jsonb \
         WHERE job_id = (SELECT job_id FROM fsbench.helper_job WHERE job_id = $1 AND status = 'running' \
                         FOR UPDATE SKIP LOCKED)",
        &[&id, &serde_json::to_string(steps)?],
    )?;
    Ok(())
}

/// How often it is tried; each time somebody who has locked the row is waited for.
const ATTEMPTS: u32 = 3;

/// How it ended: whether its row says so now. It does not when the row has gone or was ended by somebody else, when the server
/// was started anew since it was asked for, so that nobody waits for it, or when the database refuses the change; only that it cannot be reached is an error.
pub fn record(client: &mut Client, id: i64, outcome: &Outcome) -> Result<bool, Failure> {
    for attempt in 1..=ATTEMPTS {
        match try_record(client, id, outcome, attempt == ATTEMPTS) {
            Ok(true) => return Ok(true),
            Ok(false) => break,
            Err(e) if is_lost(client, &e) => return Err(e.into()),
            Err(e) => complain(&format!("job {id} could not be ended"), &e),
        }
    }
    log!(None; "how job {id} has ended is not recorded");
    Ok(false)
}

/// In brief: without the steps, of which something may be what the database does not take.
fn try_record(
    client: &mut Client,
    id: i64,
    outcome: &Outcome,
    in_brief: bool,
) -> Result<bool, postgres::Error> {
    let none = Refusal::new(Kind::Internal, "");
    let refusal = outcome.refusal.as_ref();
    let (status, error) = match refusal {
        None => ("done", None),
        Some(refusal) => ("failed", Some(storable(&refusal.message))),
    };
    let Refusal { detail, hint, .. } = refusal.unwrap_or(&none);
    let steps = match in_brief {
        true => None,
        false => serde_json::to_string(&outcome.steps).ok(),
    };
    let changed = client.execute(
        "UPDATE fsbench.helper_job SET status = $2, ended_at = clock_timestamp(), \
           steps = coalesce($3::text::jsonb, steps), \
           result = $4::text::jsonb, error = $5, error_detail = $6, error_hint = $7 \
         WHERE job_id = $1 AND status = 'running' AND server_started = pg_postmaster_start_time()",
        &[
            &id,
            &status,
            &steps,
            &outcome.result.as_ref().map(Value::to_string),
            &error,
            &detail.as_deref().map(storable),
            &hint.as_deref().map(storable),
        ],
    )?;
    Ok(changed == 1)
}

/// What the helper sees, instead of what it saw before.
pub fn publish(client: &mut Client, outcome: &Outcome) -> Result<(), Failure> {
    let (Some(description), None) = (&outcome.result, &outcome.refusal) else {
        // It stays as it was seen last.
        return Ok(());
    };
    // With a 0 that is no character of PostgreSQL's the whole would be refused.
    let text = description.to_string().replace("\\u0000", "\\ufffd");
    let published = client.execute(
        "INSERT INTO fsbench.helper_description (seen_at, helper_version, description) \
         VALUES (clock_timestamp(), $1, $2::text::jsonb) \
         ON CONFLICT (singleton) DO UPDATE SET seen_at = excluded.seen_at, \
           helper_version = excluded.helper_version, description = excluded.description",
        &[&env!("CARGO_PKG_VERSION"), &text],
    );
    match published {
        Err(e) if is_lost(client, &e) => return Err(e.into()),
        // Nobody's job depends on it.
        Err(e) => complain("what is here could not be described", &e),
        Ok(_) => {}
    }
    Ok(())
}

/// No text of PostgreSQL's holds a NUL.
fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}
