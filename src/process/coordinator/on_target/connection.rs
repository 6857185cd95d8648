//! A run on a server that is reached by a connection: the steps are as on a server of our own, but the server belongs to the user.

use std::time::{Duration, Instant};

use pgfsbench_core::{
    quoting,
    refusal::quoted,
    run::{plan::Place, remote_request::Executor},
    spec::Act,
};
use serde::Deserialize;
use serde_json::json;

use super::{NextStep, remote::read};
use crate::{
    bench::Run,
    clock,
    errors::{Fault, sqlstate},
    pg::{libpq::Connection, process, sql, xact},
    random,
    run::plan,
    target::remote_run::RemoteRun,
};

/// Facts of the other server. From catalogs alone, since the extension's functions can only be called once it is known to be there.
#[derive(Deserialize)]
struct OtherServer {
    /// This very start of this very server.
    is_this: bool,
    database: String,
    role: String,
    /// Version of the extension in that database.
    extension: Option<String>,
    /// Whether the role may do everything that is done here.
    may: Option<bool>,
}

/// How long a server there that has crashed may take to recover and to say so.
const RECOVERY: Duration = Duration::from_secs(30);
/// Time between two looks meanwhile.
const POLL: Duration = Duration::from_millis(200);

/// The state of a run there after the link to it was lost.
enum RemoteRunState {
    /// It has failed, and why.
    Ended(String),
    /// The server is not yet so far.
    Recovers,
    /// It goes on, or was ended by us.
    GoesOn,
}

/// The row of that run.
#[derive(Deserialize)]
struct Ended {
    status: String,
    goes_on: bool,
    fault: Fault,
}

const ENDED: &str = "SELECT jsonb_build_object('status', status, 'goes_on', EXISTS (SELECT FROM fsbench._progress() p WHERE p.run_id = r.run_id), \
      'fault', jsonb_build_object('sqlstate', coalesce(error_code, ''), 'message', coalesce(error, ''), 'detail', error_detail)) \
    FROM fsbench.run_log r WHERE label = $1 ORDER BY run_id DESC LIMIT 1";

/// Whether a server has answered that sessions may come later.
fn is_recovering(fault: &Fault) -> bool {
    let says = fault.detail.as_deref().unwrap_or_default();
    ["recovery mode", "starting up", "not yet accepting"]
        .iter()
        .any(|words| says.contains(words))
}

const IDENTITY: &str = "SELECT system_identifier::text || ' ' || extract(epoch FROM pg_postmaster_start_time()) FROM pg_control_system()";

const OTHER_SERVER: &str = include_str!("queries/other_server.sql");

impl Run {
    pub(super) fn carry_out_on_connection(&mut self, connection: &str) -> Result<(), Fault> {
        let remote = RemoteRun {
            connection: connection.to_owned(),
            label: format!("pgfsbench {}", random::mark()),
        };
        self.note("connection", json!(connection));
        self.plan(Place::Connection);
        let result = self.carry_out_remotely(&remote);
        let result = result.map_err(|fault| self.told_by_recovered(&remote, fault));
        if (result.is_ok() || self.remote_has_ended)
            && let Some(entry) = &mut self.entry
        {
            // Nothing is left to be ended there.
            entry.remote_run = None;
        }
        result
    }

    /// A link that was lost because the server there has crashed says nothing of that. The server does, once it has recovered: what it says goes into
    /// the DETAIL.
    fn told_by_recovered(&mut self, remote: &RemoteRun, fault: Fault) -> Fault {
        let began = Instant::now();
        while fault.sqlstate == sqlstate::CONNECTION_LOST && began.elapsed() < RECOVERY {
            let after = self.look_at_recovered(remote);
            match after {
                Ok(RemoteRunState::Ended(says)) => {
                    return fault.detail(format!("The run there has ended: {says}"));
                }
                Ok(RemoteRunState::Recovers) => process::wait(POLL),
                Ok(RemoteRunState::GoesOn) | Err(_) => break,
            }
        }
        fault
    }

    fn look_at_recovered(&mut self, remote: &RemoteRun) -> Result<RemoteRunState, Fault> {
        self.check_interrupts()?;
        let mut link = match remote.connect("pgfsbench", &mut || self.check_interrupts()) {
            Ok(link) => link,
            Err(fault) if is_recovering(&fault) => return Ok(RemoteRunState::Recovers),
            Err(fault) => return Err(fault),
        };
        let there = self.ask(&mut link, ENDED, &[Some(&remote.label)])?;
        let there: Ended = read(&there)?;
        Ok(match there.status.as_str() {
            "failed" => {
                let Fault {
                    message, detail, ..
                } = there.fault.made_harmless();
                RemoteRunState::Ended(format!("{message}. {}", detail.unwrap_or_default()))
            }
            // The janitor of that server is about to clear up.
            "queued" | "running" if !there.goes_on => RemoteRunState::Recovers,
            _ => RemoteRunState::GoesOn,
        })
    }

    /// Step by step of the plan.
    fn carry_out_remotely(&mut self, remote: &RemoteRun) -> Result<(), Fault> {
        let label = &remote.label;
        let mut link = None;
        let mut measured = None;
        loop {
            let turn = self.turn()?;
            let began_ns = clock::now_ns();
            match (turn, &mut link) {
                (NextStep::Ours(Act::Connect), link) => {
                    *link = Some(remote.connect(label, &mut || self.check_interrupts())?);
                }
                (NextStep::Ours(Act::CheckServer), Some(link)) => self.check_remote_server(link)?,
                (NextStep::Ours(Act::Start), _) => {
                    self.record(|entry| entry.remote_run = Some(remote.clone()))?;
                }
                (NextStep::OfServer, Some(link)) => {
                    measured = Some(self.run_remotely(link, Executor::Other(label))?);
                }
                (NextStep::Ours(Act::Collect), _) => {
                    return self.store_measured(measured.as_ref(), None, None);
                }
                (NextStep::Ours(act), _) => return Err(plan::nothing_carries_out(act)),
                (NextStep::OfServer, None) => {
                    return Err(Fault::new(sqlstate::INTERNAL, "no server is connected"));
                }
            }
            if let NextStep::Ours(act) = turn {
                self.end_step(act, began_ns);
            }
        }
    }

    /// Refuses a server that cannot carry the run out, and says what it lacks.
    fn check_remote_server(&mut self, link: &mut Connection) -> Result<(), Fault> {
        let own = xact::transaction(|| sql::read(IDENTITY, &[]))?;
        let there: OtherServer = read(&self.ask(link, OTHER_SERVER, &[own.as_deref()])?)?;
        let refusal = |message: String| Fault::new(sqlstate::NOT_IN_THIS_STATE, message);
        if there.is_this {
            return Err(refusal(format!(
                "the connection of target \"{}\" leads to this server",
                self.spec.target
            ))
            .detail("The run there would wait for this one, which waits for it.")
            .hint("Use the target \"default\"."));
        }
        let (database, role) = (&there.database, &there.role);
        match there.extension.as_deref() {
            None => {
                return Err(refusal(format!(
                    "extension \"pgfsbench\" is not installed in database {} of the target", quoted(database)
                ))
                .detail("It is not created by a run, since the server is not one of pgfsbench's own.")
                .hint("Have pgfsbench installed and preloaded there, and run CREATE EXTENSION pgfsbench in that database."));
            }
            Some(version) if version != env!("CARGO_PKG_VERSION") => {
                return Err(
                    refusal("the target has another version of pgfsbench".into())
                        .detail(format!(
                            "The extension in its database {} is version {}, and {} here.",
                            quoted(database),
                            quoted(version),
                            env!("CARGO_PKG_VERSION")
                        ))
                        .hint("Install the same version in both servers."),
                );
            }
            Some(_) => {}
        }
        if there.may != Some(true) {
            return Err(Fault::new(
                sqlstate::NOT_ALLOWED,
                format!("role {} may not make runs on the target", quoted(role)),
            )
            .detail(format!(
                "It lacks rights in database {} there.",
                quoted(database)
            ))
            .hint(format!(
                "Have a superuser run SELECT fsbench.grant_operator({}) in that database.",
                quoting::sql_role(role)
            )));
        }
        // Says by itself that the library is not preloaded, and how to do that.
        self.ask(link, "SELECT count(*) FROM fsbench._progress()", &[])
            .map_err(|fault| fault.context("on the target"))?;
        self.check_version(link)
    }
}
