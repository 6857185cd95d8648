//! The statements about fsbench.helper_job. Everything is qualified, and the search path holds nothing of the user's.

use crate::client::{Client, Failure};
use crate::output::log;
use pgfsbench_core::helper::Request;
use pgfsbench_core::helper::protocol::Report;
use pgfsbench_core::helper::request::LONGEST_REQUEST;
use pgfsbench_core::refusal::{Kind, Refusal};
use pgfsbench_core::sqlstate;
use serde_json::Value;

/// A job that is ours to do.
pub struct Job {
    pub id: i64,
    /// The run that it is for.
    pub run: Option<i64>,
    /// A copy of the request. Later changes of the row do not reach it.
    pub request: Result<Request, Refusal>,
}

/// How a job ended.
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

    /// The result of a job that succeeded.
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

/// True for a queued job that was asked for since this server was started, by the transaction that inserted its row. The row of a
/// restored dump names the transaction that asked, and was inserted by another one.
macro_rules! is_of_here {
    () => {
        "server_started = pg_postmaster_start_time() AND xmin = asked_by::xid"
    };
}

/// Ends jobs that no helper works on: those that an earlier helper had claimed, and those from before the server's start or from a dump. A row that
/// cannot be changed keeps no other.
pub fn fail_stale(client: &mut Client) -> Result<(), Failure> {
    const STALE: &str = concat!(
        "status = 'running' OR status = 'queued' AND NOT (",
        is_of_here!(),
        ")"
    );
    let fail = format!(
        "UPDATE fsbench.helper_job SET status = 'failed', ended_at = clock_timestamp(), \
           error = CASE WHEN status = 'running' THEN 'pgfsbench-helper has ended during the job' \
                   WHEN server_started <> pg_postmaster_start_time() THEN 'the server was restarted before the job was begun' \
                   ELSE 'the job was not asked for here: its row was restored' END, \
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

/// True if the connection has failed, and not just a statement.
pub fn is_lost(client: &Client, error: &tokio_postgres::Error) -> bool {
    let is_going = |e: &tokio_postgres::error::DbError| {
        sqlstate::ends_a_session(e.code().code()) || e.severity() != "ERROR"
    };
    client.is_closed() || error.as_db_error().is_none_or(is_going)
}

/// Says what the database would not do.
pub fn complain(what: &str, error: &tokio_postgres::Error) {
    let said = error.as_db_error().map_or("", |e| e.message());
    log!(None; "{what}: {said}");
}

/// Claims the oldest job of this start of the server. A job is read only when it is claimed, so that one that cannot be read blocks no others. A job
/// that cannot be claimed is not tried again by this session, and is added to `refractory`.
pub fn claim(client: &mut Client, refractory: &mut Vec<i64>) -> Result<Option<Job>, Failure> {
    loop {
        let mut candidate = None;
        let taken = client.transaction(|client| {
            candidate = oldest(client, refractory)?;
            match candidate {
                None => Ok(0),
                Some(id) => client.execute(TAKE, &[&id, &env!("CARGO_PKG_VERSION")]),
            }
        });
        match (candidate, taken) {
            (Some(id), Ok(1)) => return taken_job(client, id).map(Some),
            (Some(id), Ok(_)) => refractory.push(id),
            (None, Ok(_)) => return Ok(None),
            (Some(id), Err(e)) if !is_lost(client, &e) => {
                complain(&format!("job {id} could not be taken"), &e);
                refractory.push(id);
            }
            (_, Err(e)) => return Err(e.into()),
        }
    }
}

const TAKE: &str = "UPDATE fsbench.helper_job SET status = 'running', started_at = clock_timestamp(), helper_version = $2 \
     WHERE job_id = $1";

fn oldest(
    client: &mut Client,
    refractory: &mut Vec<i64>,
) -> Result<Option<i64>, tokio_postgres::Error> {
    const OLDEST: &str = concat!(
        "SELECT job_id FROM fsbench.helper_job WHERE status = 'queued' AND ",
        is_of_here!(),
        " AND job_id <> ALL ($1) ORDER BY job_id LIMIT 1 FOR UPDATE SKIP LOCKED"
    );
    let row = client.query_opt(OLDEST, &[refractory])?;
    row.map(|row| row.try_get(0)).transpose()
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

/// Texts are cut one character behind their limit: enough to tell that they are too long.
fn read(client: &mut Client, id: i64) -> Result<Read, tokio_postgres::Error> {
    let row = client.query_one(
        "SELECT left(action, 100), left(target, 100), left(request::text, $2), run_id FROM fsbench.helper_job WHERE job_id = $1",
        &[&id, &(LONGEST_REQUEST as i32 + 1)],
    )?;
    let text = |i: usize| row.try_get::<_, &str>(i);
    let request = Request::of_job(text(0)?, text(1)?, text(2)?);
    Ok((row.try_get(3)?, request))
}

/// Stores the steps that were taken so far; does nothing if another session has locked the row.
pub fn record_steps(client: &mut Client, id: i64, steps: &[Report]) -> Result<(), Failure> {
    client.execute(
        "UPDATE fsbench.helper_job SET steps = $2::text::jsonb \
         WHERE job_id = (SELECT job_id FROM fsbench.helper_job WHERE job_id = $1 AND status = 'running' \
                         FOR UPDATE SKIP LOCKED)",
        &[&id, &serde_json::to_string(steps)?],
    )?;
    Ok(())
}

/// The attempts to record how a job ended. Each waits for the row's lock.
const ATTEMPTS: u32 = 3;

/// Stores how a job ended. False if the row does not say so now: it is gone, another session has ended it, the server was restarted since (so no
/// session waits for it), or the database refuses the change. An error only if the database cannot be reached.
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

/// Brief: without the steps, in case the database refuses something in them.
fn try_record(
    client: &mut Client,
    id: i64,
    outcome: &Outcome,
    in_brief: bool,
) -> Result<bool, tokio_postgres::Error> {
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

/// True if the database has the helper's description, and names this session as the one that serves it.
pub fn knows_us(client: &mut Client) -> Result<bool, Failure> {
    let row = client.query_one(
        "SELECT EXISTS (SELECT FROM fsbench.helper_description) \
           AND EXISTS (SELECT FROM fsbench.helper_session WHERE pid = pg_backend_pid())",
        &[],
    )?;
    Ok(row.get(0))
}

/// Replaces the helper's description in the database.
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
        // No job depends on it.
        Err(e) => complain("what is here could not be described", &e),
        Ok(_) => {}
    }
    Ok(())
}

/// No text of PostgreSQL's holds a NUL.
fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}
