//! A server that is reached by a connection, and a run of ours on it. The server belongs to the user: only the run is created there, nothing is
//! removed, and its refusals hold.

use std::time::{Duration, Instant};

use pgfsbench_core::session_settings;
use serde::{Deserialize, Serialize};

use crate::{
    errors::{Fault, sqlstate},
    pg::{
        libpq::{CheckInterrupts, Connection},
        process,
    },
    target,
};

/// How long connecting may take, unless connect_timeout is given.
const CONNECT: Duration = Duration::from_secs(10);
/// How long the end of a run there is waited for, connecting included.
const END: Duration = Duration::from_secs(30);
/// Time between two looks meanwhile.
const POLL: Duration = Duration::from_millis(100);

/// Keepalives that notice a dead link within half a minute, unless the connection says otherwise: a server that does nothing for a
/// while is no such link, its kernel answers.
const KEEPALIVES: [(&str, &str); 6] = [
    ("keepalives", "1"),
    ("keepalives_idle", "10"),
    ("keepalives_interval", "5"),
    ("keepalives_count", "3"),
    ("tcp_user_timeout", "30000"),
    ("target_session_attrs", "any"),
];

/// Settings of the sessions there: whatever those of the role or the database are, the connection that asks how far a run is
/// must neither time out nor write.
const SESSION: &str = "-c statement_timeout=0 -c lock_timeout=0 -c idle_in_transaction_session_timeout=0 \
     -c idle_session_timeout=0 -c default_transaction_read_only=off \
     -c default_transaction_isolation=read\\ committed -c search_path=pg_catalog,pg_temp \
     -c client_min_messages=error";

/// The options of such a session: [`SESSION`], and how SQL is read and values are printed.
pub fn session() -> String {
    format!("{SESSION} {}", session_settings::as_options())
}

/// A run on another server; what the journal knows of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RemoteRun {
    /// Keywords and values of libpq. There is no secret in them.
    pub connection: String,
    /// The run's label there, and the name of the session that starts it: unlike its number, it is known before it is started.
    pub label: String,
}

/// Cancels what is to be cancelled, and says how much of it there still is: a session that is just starting the run, and the
/// run. The label is looked up among the runs that are on, so that this takes no time in a long history.
const CANCEL: &str = "SELECT (SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity \
      WHERE application_name = $1 AND pid <> pg_backend_pid() AND state = 'active') \
    + (SELECT count(fsbench.cancel(p.run_id)) FROM fsbench._progress() p JOIN fsbench.run_log r USING (run_id) \
      WHERE r.label = $1)";

impl RemoteRun {
    /// Connects, within a time.
    pub fn connect(
        &self,
        application_name: &str,
        check_interrupts: CheckInterrupts,
    ) -> Result<Connection, Fault> {
        let given = target::check_connection(&self.connection)?;
        let value = |keyword: &str| {
            given
                .iter()
                .find(|parameter| parameter.keyword == keyword)
                .map(|parameter| parameter.value.as_str())
        };
        // For libpq, zero and text that is no number stand for no limit; here for ours.
        let timeout = value("connect_timeout").and_then(|text| text.trim().parse().ok());
        let timeout = timeout
            .filter(|&seconds| seconds > 0)
            .map_or(CONNECT, Duration::from_secs);
        let options = format!("{} {}", value("options").unwrap_or_default(), session());
        let mut parameters: Vec<(&str, &str)> = KEEPALIVES.to_vec();
        parameters.retain(|(keyword, _)| value(keyword).is_none());
        parameters.extend(
            given
                .iter()
                .filter(|parameter| parameter.keyword != "options")
                .map(|parameter| (parameter.keyword.as_str(), parameter.value.as_str())),
        );
        parameters.extend([
            ("application_name", application_name),
            ("client_encoding", "UTF8"),
            ("options", options.as_str()),
        ]);
        let deadline = Instant::now() + timeout;
        let mut in_time = || {
            check_interrupts()?;
            if Instant::now() > deadline {
                return Err(
                    Fault::new(sqlstate::CONNECTION_LOST, "timeout expired").detail(format!(
                        "It does not answer within {} s (connect_timeout).",
                        timeout.as_secs()
                    )),
                );
            }
            Ok(())
        };
        let opened = Connection::open(&parameters, &mut in_time);
        opened.map(Connection::leads_to_another).map_err(|fault| {
            if fault.sqlstate != sqlstate::CONNECTION_LOST {
                return fault;
            }
            Fault::new(
                sqlstate::CANNOT_CONNECT,
                "could not connect to the server of the target",
            )
            .detail(fault.detail.unwrap_or_default())
            .hint("Check its connection in fsbench.target, the service and password files of this server's operating system user, and pg_hba.conf there.")
        })
    }

    /// Cancels the run there, whether it is on, waits for its turn, or is just being started, and waits until it is over, for a
    /// while. By a connection of its own, since the other one may be busy, stuck or lost.
    pub fn end(&self) -> Result<(), Fault> {
        let deadline = Instant::now() + END;
        let mut in_time = || {
            if Instant::now() > deadline {
                return Err(Fault::new(
                    sqlstate::CONNECTION_LOST,
                    "the server does not answer in time",
                ));
            }
            Ok(())
        };
        let mut connection = self.connect("pgfsbench", &mut in_time)?;
        loop {
            let left = connection.query(CANCEL, &[Some(&self.label)], &mut in_time)?;
            if left.as_deref() == Some("0") {
                return Ok(());
            }
            process::wait(POLL);
            in_time()?;
        }
    }
}
