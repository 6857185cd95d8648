//! Things that must be gone after a run, and are waited for: the one list of these on a server.

use crate::server::TestServer;
use crate::value;
use crate::wait::{LONG, pause, wait_with};
use postgres::NoTls;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs;

/// Directory of the data that are copied to targets.
const PREPARED_DATA: &str = "pgsql_tmp_prepared_data";
const PREPARED_DATA_PLACES: &str = "pgsql_tmp_prepared_data_places";

/// Something on which runs leave traces.
pub trait Leaves {
    /// The things that are there now, in words.
    fn left(&self) -> Vec<String>;

    /// More about the traces, for the reader of a failure.
    fn more_about_it(&self) -> String {
        String::new()
    }

    /// Everything that runs have made is gone, or goes within a reasonable time.
    fn nothing_is_left(&self, after: impl Display) {
        self.nothing_is_left_but(&[], after);
    }

    /// Everything that runs have made is gone, except for these databases.
    fn nothing_is_left_but(&self, databases: &[&str], after: impl Display) {
        let kept: Vec<String> = databases.iter().map(|name| database(name)).collect();
        wait_with(
            LONG,
            pause,
            || {
                let mut left = self.left();
                left.retain(|trace| !kept.contains(trace));
                if left.is_empty() { Ok(()) } else { Err(left) }
            },
            |left| {
                let more = self.more_about_it();
                format!("after {after}, these are left: {left:#?}\n{more}")
            },
        );
    }
}

fn database(name: &str) -> String {
    format!("database {name}")
}

impl Leaves for TestServer {
    fn left(&self) -> Vec<String> {
        let Ok(mut client) = self.config("postgres", "postgres").connect(NoTls) else {
            return vec!["the server takes no connection".to_owned()];
        };
        let mut left = Vec::new();
        for process in self.processes() {
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
            if name.starts_with("fsbench_work") {
                left.push(database(&name));
            }
            known.insert(row.get::<_, String>(0));
        }
        for name in self.names_in("base") {
            if name.parse::<u32>().is_ok() && !known.contains(&name) {
                left.push(format!("directory base/{name}"));
            }
        }
        for name in self.names_in("pgfsbench") {
            // Data to be copied stay, once they are complete, and the list of other directories with such data.
            if ![PREPARED_DATA, PREPARED_DATA_PLACES].contains(&name.as_str()) {
                left.push(format!("journal entry {name}"));
            }
        }
        for name in self.names_in(&format!("pgfsbench/{PREPARED_DATA}")) {
            if name != "lock" && !name.ends_with(".loaded") {
                left.push(format!("prepared data {name}"));
            }
        }
        for name in self.names_in("base/pgsql_tmp") {
            if name.starts_with("pgsql_tmp_pgfsbench") {
                left.push(format!("directory base/pgsql_tmp/{name}"));
            }
        }
        for name in self.names_in("pg_wal") {
            if name.starts_with("pgfsbench") {
                left.push(format!("file pg_wal/{name}"));
            }
        }
        for (what, sql) in [
            (
                "progress",
                "SELECT string_agg(run_id || ' ' || phase, ', ') FROM fsbench.progress",
            ),
            (
                "rows",
                "SELECT string_agg(run_id || ' ' || status, ', ') FROM fsbench.run_log WHERE status IN ('queued', 'running')",
            ),
        ] {
            let found = value(&mut client, sql);
            if !found.is_empty() {
                left.push(format!("{what} {found}"));
            }
        }
        left
    }
}

impl TestServer {
    /// When a run is over, its databases and its entry of the journal are gone; only its processes end a little later.
    pub fn nothing_is_left_at_once(&self) {
        let mut left = self.left();
        left.retain(|trace| trace.starts_with("database ") || trace.starts_with("journal entry "));
        assert_eq!(left, [""; 0], "when the run was over");
        self.nothing_is_left("a run");
    }

    /// The names in a directory of its data.
    pub fn names_in(&self, directory: &str) -> Vec<String> {
        let entries = fs::read_dir(self.data().join(directory));
        let entries = entries.into_iter().flatten().flatten();
        entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect()
    }

    /// The directories of its databases.
    pub fn database_directories(&self) -> BTreeSet<String> {
        self.names_in("base").into_iter().collect()
    }
}
