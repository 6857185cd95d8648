//! The helper worker: asks the helper for something outside of a run. What a function writes is seen by others only when its
//! transaction commits, and its session cannot commit while it waits; so a worker writes the job, commits, and stays until the
//! helper is done. The session that asked waits for the worker, and reads in the job's row what came of it.
//!
//! The session holds an advisory lock as long as it waits, which it loses however it ends: by that the worker sees that no session
//! waits any more. Then a job that was not begun is withdrawn; one that was goes on, and what it prepares is released.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    errors::{Fault, read_json, sqlstate},
    pg::{
        guc,
        process::{self, Database, Role, Status},
        report, session,
        shared_text::{self, SharedText},
        sql, xact,
    },
    random,
    target::{self, ServerPlace, helper_job},
};

/// How often a worker that was terminated is replaced.
const ATTEMPTS: u32 = 3;
/// Time between two checks that the client is still there.
const LOOK: Duration = Duration::from_secs(1);

/// Takes the lock that says that a session waits for a job. Shared, so that it never has to wait for itself.
const TAKE: &str = "SELECT pg_advisory_xact_lock_shared(hashtext('pgfsbench helper worker'), ($1::bigint & 2147483647)::int)";
/// Whether the session that asked has it. Any role may take it too, and even leave it in a prepared transaction, which has no process.
const IS_AWAITED: &str = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid = $2::int \
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
    AND classid::bigint = hashtext('pgfsbench helper worker')::bigint & 4294967295 AND objid::bigint = $1::bigint & 2147483647 AND objsubid = 2";

/// The message to the worker: it fits into the few bytes that a worker gets.
struct JobMessage {
    database: u32,
    owner: u32,
    /// Identifies the job: the worker gives it its number, since to take one can give this session's transaction an
    /// id, after which it may not ask again.
    ticket: i64,
    action: String,
    target: String,
    /// Number of the shared text with the request, if it is not that of a target that is there.
    shared_text: Option<u32>,
}

impl JobMessage {
    fn to_text(&self) -> String {
        let Self {
            database,
            owner,
            ticket,
            action,
            target,
            shared_text,
        } = self;
        let shared_text = shared_text.map_or(String::new(), |number| format!(" {number}"));
        format!("{database} {owner} {ticket} {action} {target}{shared_text}")
    }

    fn parse(text: &str) -> Option<Self> {
        let mut fields = text.split(' ');
        let mut next = || fields.next();
        Some(Self {
            database: next()?.parse().ok()?,
            owner: next()?.parse().ok()?,
            ticket: next()?.parse().ok()?,
            action: next()?.to_owned(),
            target: next()?.to_owned(),
            shared_text: next().and_then(|number| number.parse().ok()),
        })
    }
}

/// Asks the helper on behalf of this session, and waits for what comes of it. In a transaction that has not written.
pub fn ask(owner: u32, action: &str, target: &str) -> Result<Value, Fault> {
    ask_with(owner, action, target, None)
}

/// Asks the helper about a target that is not committed with this request yet.
pub fn ask_for(owner: u32, action: &str, target: &str, request: &Value) -> Result<Value, Fault> {
    let shared_text = SharedText::pack(&request.to_string());
    ask_with(owner, action, target, Some(shared_text.number()))
}

fn ask_with(
    owner: u32,
    action: &str,
    target: &str,
    shared_text: Option<u32>,
) -> Result<Value, Fault> {
    let ticket = random::ticket();
    session::with_rights_of(owner, || sql::read(TAKE, &[Some(&ticket.to_string())]))?;
    let message = JobMessage {
        database: session::database(),
        owner,
        ticket,
        action: action.into(),
        target: target.into(),
        shared_text,
    };
    for _ in 0..ATTEMPTS {
        let Some(worker) = process::launch_with(Role::HelperWorker, &message.to_text()) else {
            return Err(no_slot());
        };
        while worker.status() != Status::Stopped {
            process::wait(LOOK);
            if !session::is_connected() {
                return Err(Fault::new(
                    sqlstate::CONNECTION_LOST,
                    "connection to client lost",
                ));
            }
        }
        // A terminated worker leaves a job that is not over.
        if let Some(outcome) = session::with_rights_of(owner, || helper_job::outcome(ticket))? {
            return outcome;
        }
    }
    Err(Fault::new(
        sqlstate::NOT_IN_THIS_STATE,
        "pgfsbench-helper could not be asked",
    )
    .detail(format!(
        "The background worker that was to see a job of fsbench.helper_job to its end has ended {ATTEMPTS} times."
    ))
    .hint("See the server's log. Nobody may hold locks on the tables of fsbench, nor this transaction."))
}

fn no_slot() -> Fault {
    Fault::new(
        sqlstate::NO_RESOURCES,
        "could not register background process",
    )
    .detail("A worker is needed that asks pgfsbench-helper.")
    .hint("You may need to increase \"max_worker_processes\".")
}

/// Main of the background worker.
pub fn main(_argument: i32, _serial: u32) {
    let Some(message) = JobMessage::parse(&process::message()) else {
        return;
    };
    process::connect(Database::Oid(message.database));
    process::report_activity("pgfsbench helper worker");
    report::or_log("asking pgfsbench-helper", || see_to(&message));
}

fn see_to(message: &JobMessage) -> Result<(), Fault> {
    process::become_undisturbed_owner(message.owner)?;
    // The session that waits may hold a lock, and would wait for ever.
    guc::apply("lock_timeout", "2s")?;
    let mut check_interrupts = || match xact::transaction(|| is_awaited(message.ticket))? {
        true => Ok(()),
        false => Err(Fault::new(sqlstate::CANCELED, "the request was canceled")
            .detail("The session that asked for it does not wait any more.")),
    };
    // It is there when a worker before this one was terminated.
    let job = match xact::transaction(|| helper_job::of_ticket(message.ticket))? {
        Some(job) => job,
        None => {
            let begun = xact::transaction(|| request(message)).and_then(|request| {
                helper_job::wait_for_helper(Duration::ZERO, &mut check_interrupts)?;
                xact::transaction(|| insert(message, &request, None))
            });
            match begun {
                Ok(job) => job,
                Err(fault) => {
                    return xact::transaction(|| insert(message, &json!({}), Some(&fault)))
                        .map(|_| ());
                }
            }
        }
    };
    // The session that asked finds the outcome in the row.
    let _ = helper_job::wait(job, &mut check_interrupts);
    if message.action == "prepare" && check_interrupts().is_err() {
        let status = xact::transaction(|| helper_job::status(job))?;
        if status.is_some_and(|status| status != "failed") {
            helper_job::queue(None, &message.target, "release", &json!({}))?;
        }
    }
    Ok(())
}

fn is_awaited(ticket: i64) -> Result<bool, Fault> {
    let session = process::launched_by().to_string();
    let held = sql::read(IS_AWAITED, &[Some(&ticket.to_string()), Some(&session)])?;
    Ok(held.is_some())
}

/// The request to the helper, from what is committed.
fn request(message: &JobMessage) -> Result<Value, Fault> {
    if let Some(number) = message.shared_text {
        let text = shared_text::unpack(number).ok_or_else(|| {
            Fault::new(sqlstate::CANCELED, "the request was canceled")
                .detail("The session that asked for it does not wait any more.")
        })?;
        return read_json("request", &text);
    }
    if !["prepare", "plan"].contains(&message.action.as_str()) {
        return Ok(json!({}));
    }
    match target::find(&message.target)?.on {
        ServerPlace::Made { prepare } => Ok(json!(prepare)),
        _ => Err(Fault::new(
            sqlstate::NOT_IN_THIS_STATE,
            format!("target \"{}\" was changed", message.target),
        )),
    }
}

/// Gives its number.
fn insert(message: &JobMessage, request: &Value, fault: Option<&Fault>) -> Result<i64, Fault> {
    let result = fault.map(|fault| json!({"sqlstate": fault.sqlstate}).to_string());
    let id = sql::write(
        "INSERT INTO fsbench.helper_job (ticket, target, action, request, status, ended_at, result, error, error_detail, error_hint) \
         VALUES ($1::bigint, $2, $3, $4::jsonb, CASE WHEN $5 IS NULL THEN 'queued' ELSE 'failed' END, \
           CASE WHEN $5 IS NOT NULL THEN clock_timestamp() END, $5::jsonb, $6, $7, $8) RETURNING job_id",
        &[
            Some(&message.ticket.to_string()),
            Some(&message.target),
            Some(&message.action),
            Some(&request.to_string()),
            result.as_deref(),
            fault.map(|fault| fault.message.as_str()),
            fault.and_then(|fault| fault.detail.as_deref()),
            fault.and_then(|fault| fault.hint.as_deref()),
        ],
    )?;
    helper_job::number(id)
}
