//! A server with the extension for tests of bad luck, and the one place that says what must be left of a run: nothing.

use crate::luck::hold::Phase;
use pgfsbench_tests::{LONG, PRELOADED, Server, refusal, wait_until};
use postgres::{Client, SimpleQueryMessage};
use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs;

pub struct Bench {
    pub server: Server,
}

/// How a run ended, as its row says.
#[derive(Debug)]
pub struct Ending {
    pub status: String,
    /// SQLSTATE, message and DETAIL.
    pub reason: String,
}

/// The first column of the first row as text; nothing if there is none.
pub fn value(client: &mut Client, sql: &str) -> String {
    let messages = client
        .simple_query(sql)
        .unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    let first = messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row.get(0).unwrap_or_default().to_owned()),
        _ => None,
    });
    first.unwrap_or_default()
}

/// Where data are kept that are copied to targets.
const PREPARED_DATA: &str = "pgsql_tmp_prepared_data";

impl Bench {
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    pub fn start_with(settings: &[(&str, &str)]) -> Self {
        let bench = Self {
            server: Server::start(&[PRELOADED, settings].concat()),
        };
        bench.value("CREATE EXTENSION pgfsbench");
        bench
    }

    /// The first value that this statement gives, in a session of its own.
    pub fn value(&self, sql: &str) -> String {
        value(&mut self.server.connect("postgres"), sql)
    }

    /// `start` with these arguments; the run's id.
    pub fn run_started(&self, arguments: &str) -> String {
        self.value(&format!("SELECT fsbench.start({arguments})"))
    }

    /// Pid of a process of this type, once it is there.
    pub fn pid_of(&self, backend_type: &str) -> i32 {
        let mut client = self.server.connect("postgres");
        let sql =
            format!("SELECT min(pid) FROM pg_stat_activity WHERE backend_type = '{backend_type}'");
        wait_until(backend_type, LONG, || value(&mut client, &sql).parse().ok())
    }

    /// Wait until a run is in this phase.
    pub fn wait_for_phase(&self, phase: Phase) {
        let mut client = self.server.connect("postgres");
        let sql = "SELECT string_agg(phase, ',') FROM fsbench.progress WHERE phase <> 'queued'";
        let began = std::time::Instant::now();
        // Not `wait_until`: some phases last a few hundredths of a second.
        while value(&mut client, sql) != phase.name() {
            assert!(began.elapsed() < LONG, "no run came to phase {phase:?}");
        }
    }

    /// The end of the run with this label; nothing if it has no row.
    pub fn ending(&self, label: &str) -> Option<Ending> {
        self.ending_where(&format!("label = '{label}'"))
    }

    /// Status, SQLSTATE, message and DETAIL of a run; nothing if it has no row.
    pub fn ending_of(&self, run: &str) -> String {
        let ending = self.ending_where(&format!("run_id = {run}"));
        ending.map_or_else(String::new, |e| format!("{} {}", e.status, e.reason))
    }

    pub fn ending_where(&self, condition: &str) -> Option<Ending> {
        let sql = format!(
            "SELECT status, concat_ws('; ', error_code, error, error_detail) FROM fsbench.run_log WHERE {condition}"
        );
        let row = self
            .server
            .connect("postgres")
            .query_opt(&sql, &[])
            .expect("at most one row")?;
        Some(Ending {
            status: row.get(0),
            reason: row.get(1),
        })
    }

    /// Everything that runs have made is gone, or goes within a reasonable time.
    pub fn nothing_is_left(&self, after: impl Display) {
        self.nothing_is_left_but(&[], after);
    }

    pub fn nothing_is_left_but(&self, kept: &[&str], after: impl Display) {
        let mut client = self.server.connect("postgres");
        let began = std::time::Instant::now();
        loop {
            let left = leftovers(&self.server, &mut client, kept);
            if left.is_empty() {
                return;
            }
            assert!(
                began.elapsed() < LONG,
                "after {after}, these are left: {left:?}"
            );
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    /// A small run ends well.
    pub fn a_run_works(&self, after: impl Display) {
        let run = "SELECT tps > 0 FROM fsbench.run(scale => 1, clients => 2, transactions => 20, warmup => '0', force => true)";
        let result = self.server.connect("postgres").simple_query(run);
        assert!(result.is_ok(), "after {after}: {result:?}");
    }

    /// As many runs as may wait can be asked for, and one more cannot; all are cancelled again.
    pub fn every_slot_is_free(&self) {
        let mut client = self.server.connect("postgres");
        for sql in [
            "ALTER SYSTEM SET pgfsbench.max_queued = 15",
            "SELECT pg_reload_conf()",
        ] {
            client.batch_execute(sql).expect(sql);
        }
        wait_until("15 runs may wait", LONG, || {
            (value(&mut client, "SHOW pgfsbench.max_queued") == "15").then_some(())
        });
        let start =
            "SELECT fsbench.start(scale => 1, clients => 1, duration => '5 min', force => true)";
        client.batch_execute(start).expect(start);
        self.server.wait_for(
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

/// What must not be there when no run is queued or active, in words. `kept` are databases that may be.
pub fn leftovers(server: &Server, client: &mut Client, kept: &[&str]) -> Vec<String> {
    let mut left = Vec::new();
    for process in server.processes() {
        let ours = process.title.strip_prefix("postgres: fsbench ");
        if ours.is_some_and(|role| !role.starts_with("janitor")) {
            left.push(format!("process {}", process.title));
        }
    }
    let mut known = BTreeSet::new();
    for row in client
        .query("SELECT oid::text, datname::text FROM pg_database", &[])
        .expect("pg_database")
    {
        let name: String = row.get(1);
        if name.starts_with("fsbench_work") && !kept.contains(&name.as_str()) {
            left.push(format!("database {name}"));
        }
        known.insert(row.get::<_, String>(0));
    }
    for name in names_in(server, "base") {
        if name.parse::<u32>().is_ok() && !known.contains(&name) {
            left.push(format!("directory base/{name}"));
        }
    }
    for name in names_in(server, "pgfsbench") {
        // Data to be copied stay, once they are complete.
        if name != PREPARED_DATA {
            left.push(format!("journal entry {name}"));
        }
    }
    for name in names_in(server, &format!("pgfsbench/{PREPARED_DATA}")) {
        if name != "lock" && !name.ends_with(".loaded") {
            left.push(format!("prepared data {name}"));
        }
    }
    for name in names_in(server, "pg_wal") {
        if name.starts_with("pgfsbench") {
            left.push(format!("file pg_wal/{name}"));
        }
    }
    let progress = value(
        client,
        "SELECT string_agg(run_id || ' ' || phase, ', ') FROM fsbench.progress",
    );
    if !progress.is_empty() {
        left.push(format!("progress {progress}"));
    }
    let rows = value(
        client,
        "SELECT string_agg(run_id || ' ' || status, ', ') FROM fsbench.run_log WHERE status IN ('queued', 'running')",
    );
    if !rows.is_empty() {
        left.push(format!("rows {rows}"));
    }
    left
}

pub fn names_in(server: &Server, directory: &str) -> Vec<String> {
    let Ok(entries) = fs::read_dir(server.data().join(directory)) else {
        return Vec::new();
    };
    entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

/// The directories of databases.
pub fn database_directories(server: &Server) -> BTreeSet<String> {
    names_in(server, "base").into_iter().collect()
}
