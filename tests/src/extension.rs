//! Questions of tests to a server that has the extension in its database postgres.

use crate::left::Leaves;
use crate::server::TestServer;
use crate::wait::{LONG, pause_briefly, wait_until, wait_with};
use crate::{refusal, value};
use postgres::{Client, error::SqlState};
use std::fmt::{self, Display};

/// How a run ended, as its row says.
#[derive(Debug)]
pub struct Ending {
    pub status: String,
    /// SQLSTATE, message, DETAIL and HINT.
    pub reason: String,
}

impl Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason.as_str() {
            "" => write!(f, "{}", self.status),
            reason => write!(f, "{} {reason}", self.status),
        }
    }
}

/// Wait until the run that is on is in this phase.
pub fn wait_for_phase(client: &mut Client, phase: &str) {
    let sql =
        "SELECT coalesce(string_agg(phase, ','), '') FROM fsbench.progress WHERE phase <> 'queued'";
    // Asked for in a row, it is not planned each time.
    let question = client.prepare(sql).expect(sql);
    wait_with(
        LONG,
        pause_briefly,
        || {
            let now: String = client.query_one(&question, &[]).expect(sql).get(0);
            if now == phase { Ok(()) } else { Err(now) }
        },
        |now| format!("no run came to phase {phase}, and is in phase \"{now}\""),
    );
}

/// How a run has ended, once it has: `done`, or its status, SQLSTATE, message, DETAIL and HINT.
pub fn ending(client: &mut Client, run: &str) -> String {
    let wait = format!("CALL fsbench.wait({run})");
    let waited = client.batch_execute(&wait);
    waited.unwrap_or_else(|error| panic!("{wait}: {error:?}"));
    let ending = ending_where(client, &format!("run_id = {run}"));
    ending.expect("it has a row").to_string()
}

fn ending_where(client: &mut Client, condition: &str) -> Option<Ending> {
    let sql = format!(
        "SELECT status, concat_ws('; ', error_code, error, error_detail, error_hint) FROM fsbench.run_log WHERE {condition}"
    );
    let row = client.query_opt(&sql, &[]).expect("at most one row")?;
    Some(Ending {
        status: row.get(0),
        reason: row.get(1),
    })
}

impl TestServer {
    /// The first value that this statement gives, in a session of its own.
    pub fn value(&self, sql: &str) -> String {
        value(&mut self.connect("postgres"), sql)
    }

    /// `fsbench.start` with these arguments; the run's id.
    pub fn start_run(&self, arguments: &str) -> String {
        self.value(&format!("SELECT fsbench.start({arguments})"))
    }

    /// Pid of a process of this type, once it is there.
    pub fn pid_of(&self, backend_type: &str) -> i32 {
        let mut client = self.connect("postgres");
        let sql =
            format!("SELECT min(pid) FROM pg_stat_activity WHERE backend_type = '{backend_type}'");
        wait_until(backend_type, LONG, || value(&mut client, &sql).parse().ok())
    }

    /// Pid of the coordinator of the run that is on. Others may be there, which clear up after a crash.
    pub fn coordinator(&self) -> i32 {
        let mut client = self.connect("postgres");
        let sql = "SELECT min(coordinator_pid) FROM fsbench.progress WHERE status = 'running'";
        wait_until("a coordinator", LONG, || {
            value(&mut client, sql).parse().ok()
        })
    }

    /// See the function of this name.
    pub fn wait_for_phase(&self, phase: &str) {
        wait_for_phase(&mut self.connect("postgres"), phase);
    }

    /// See the function of this name.
    pub fn ending(&self, run: &str) -> String {
        ending(&mut self.connect("postgres"), run)
    }

    /// The row of a run now, in the words of `ending`; empty if there is none.
    pub fn told(&self, run: &str) -> String {
        let ending = self.ending_where(&format!("run_id = {run}"));
        ending.map_or_else(String::new, |ending| ending.to_string())
    }

    /// The ending of the one run for which this condition holds; None if there is none.
    pub fn ending_where(&self, condition: &str) -> Option<Ending> {
        ending_where(&mut self.connect("postgres"), condition)
    }

    /// For the next part of a test: as a new server is, with the extension in its database postgres, but without the seconds that a new
    /// one takes. Settings in its file, and data that were loaded for targets, stay.
    pub fn start_anew(&self) {
        let mut client = self.connect("template1");
        let run = |client: &mut Client, sql: &str| {
            let done = client.batch_execute(sql);
            done.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
        };
        // FORCE gives up after 5 seconds if a process does not end.
        let run_once_unused = |client: &mut Client, sql: &str| {
            wait_until(sql, LONG, || match client.batch_execute(sql) {
                Err(e) if e.code() == Some(&SqlState::OBJECT_IN_USE) => None,
                Err(error) => panic!("{sql}: {error:?}"),
                Ok(()) => Some(()),
            });
        };
        // First, since a setting may keep commits waiting for a standby.
        run(&mut client, "SET synchronous_commit = off");
        run(&mut client, "ALTER SYSTEM RESET ALL");
        self.reload();
        // The janitor may drop a work database meanwhile.
        for statements in [
            "SELECT format('DROP DATABASE IF EXISTS %I WITH (FORCE)', datname) FROM pg_database WHERE NOT datistemplate",
            "SELECT format('SELECT pg_drop_replication_slot(%L)', slot_name) FROM pg_replication_slots",
            "SELECT format('DROP ROLE %I', rolname) FROM pg_roles WHERE oid >= 16384",
        ] {
            for row in client.query(statements, &[]).expect(statements) {
                run_once_unused(&mut client, row.get(0));
            }
        }
        run(&mut client, "CREATE DATABASE postgres");
        drop(client);
        run(&mut self.connect("postgres"), "CREATE EXTENSION pgfsbench");
    }

    /// A small run ends well.
    pub fn a_run_works(&self, after: impl Display) {
        let run = "SELECT tps > 0 FROM fsbench.run(scale => 1, clients => 2, transactions => 20, warmup => '0', force => true)";
        assert_eq!(
            value(&mut self.connect("postgres"), run),
            "t",
            "after {after}"
        );
    }

    /// Asserts that as many runs can be queued as may wait, and not one more; all are cancelled again.
    pub fn every_slot_is_free(&self) {
        let mut client = self.connect("postgres");
        for sql in [
            "ALTER SYSTEM SET pgfsbench.max_queued = 15",
            "SELECT pg_reload_conf()",
        ] {
            client.batch_execute(sql).expect(sql);
        }
        wait_until("15 runs may wait", LONG, || {
            (value(&mut client, "SHOW pgfsbench.max_queued") == "15").then_some(())
        });
        let start = "SELECT fsbench.start(scale => 1, clients => 1, duration => '1 h', rate => 20, force => true)";
        client.batch_execute(start).expect(start);
        self.wait_for(
            "postgres",
            "SELECT count(*) = 1 FROM fsbench.progress WHERE status = 'running'",
            LONG,
        );
        for _ in 0..15 {
            client.batch_execute(start).expect(start);
        }
        let queued = "SELECT string_agg(run_id::text, ',' ORDER BY run_id) FROM fsbench.progress WHERE status = 'queued'";
        let queued = value(&mut client, queued);
        let (first, last) = (queued.split(',').next(), queued.split(',').next_back());
        let refused = refusal(&mut client, start);
        assert_eq!(refused.code().code(), "53400");
        assert_eq!(
            refused.detail(),
            Some(
                format!(
                    "15 runs wait for their turn, of them in this database yours: {} to {}. pgfsbench.max_queued is 15.",
                    first.unwrap_or_default(),
                    last.unwrap_or_default()
                )
                .as_str()
            )
        );
        let all = "SELECT bool_and(fsbench.cancel(run_id)) FROM fsbench.progress";
        assert_eq!(value(&mut client, all), "t");
        self.nothing_is_left("cancelling 16 runs");
    }
}
