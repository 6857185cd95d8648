//! A server with the tables of the targets, and a helper that is to serve it.

use super::lab::{Lab, go_on, wait_until_held};
use crate::common::{execute, row, server};
use pgfsbench_tests::{LONG, Signal, TestServer, wait_until};
use postgres::Client;
use postgres::config::Host;
use rustix::process::{Pid, kill_process};
use std::fs;
use std::process::Child;

/// A server with the tables of the targets, and a helper that is to serve it.
pub struct Bench {
    pub lab: Lab,
    pub server: TestServer,
}

impl Bench {
    pub fn new(test: &str) -> Option<Self> {
        let bench = Self {
            lab: Lab::new(test)?,
            server: TestServer::start(&[]),
        };
        bench.serve_database("postgres");
        Some(bench)
    }

    /// With the whole extension, which functions are called of.
    pub fn with_extension(test: &str, settings: &[(&str, &str)]) -> Option<Self> {
        Self::of(Lab::new(test)?, settings)
    }

    pub fn of(lab: Lab, settings: &[(&str, &str)]) -> Option<Self> {
        let bench = Self {
            lab,
            server: server(settings),
        };
        bench.server.give_prepared_data();
        bench.lab.configure(&bench.usual("postgres"));
        Some(bench)
    }

    /// The configuration with this database.
    pub fn usual(&self, name: &str) -> String {
        let connection = self.connection(name);
        self.lab
            .usual()
            .replace("host=/nowhere user=postgres", &connection)
    }

    /// Have this database served, and give it the tables.
    pub fn serve_database(&self, name: &str) {
        self.lab.configure(&self.usual(name));
        self.make_tables(name);
    }

    /// For the next part of a test: as after `new`, with no job, no helper and the usual configuration.
    pub fn start_anew(&self) {
        let helpers = "FROM pg_stat_activity WHERE application_name LIKE 'pgfsbench-helper%'";
        let mut client = self.client();
        execute(
            &mut client,
            &format!(
                "SET default_transaction_read_only = off; SELECT pg_terminate_backend(pid) {helpers}"
            ),
        );
        wait_until("no helper is connected", LONG, || {
            (row(&mut client, &format!("SELECT count(*) {helpers}")) == "0").then_some(())
        });
        execute(
            &mut client,
            "ALTER DATABASE postgres RESET ALL; DROP SCHEMA fsbench CASCADE",
        );
        self.serve_database("postgres");
    }

    /// With these further lines.
    pub fn configure(&self, further: &str) {
        let usual = self.usual("postgres");
        self.lab.configure(&format!("{usual}{further}"));
    }

    pub fn connection(&self, name: &str) -> String {
        let config = self.server.config("postgres", name);
        let [Host::Unix(sockets)] = config.get_hosts() else {
            panic!("{config:?}");
        };
        let (sockets, port) = (sockets.display(), config.get_ports()[0]);
        format!("host={sockets} port={port} dbname={name} user=postgres")
    }

    /// The tables alone: the helper needs nothing else of the extension.
    pub fn make_tables(&self, name: &str) {
        let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/../sql/schema/2_targets.sql");
        let schema = fs::read_to_string(schema).expect("the schema");
        let mut client = self.server.connect(name);
        execute(
            &mut client,
            // Stubs a table of runs: for triggers, and to know whether a run is on. The bodies of functions are not checked.
            &format!(
                "SET check_function_bodies = off; CREATE SCHEMA fsbench; \
                 CREATE TABLE fsbench.run_log (run_id bigint, status text); {schema}"
            ),
        );
    }

    pub fn client(&self) -> Client {
        self.server.connect("postgres")
    }

    pub fn serve(&self) -> Serving {
        self.serve_with(&[])
    }

    pub fn serve_with(&self, options: &[&str]) -> Serving {
        let log = fs::File::create(self.lab.path("log")).expect("a log");
        let child = self
            .lab
            .command(&[&["serve"], options].concat())
            .stderr(log)
            .spawn()
            .expect("the helper runs");
        Serving { child }
    }

    /// Have it served, and wait until the helper is there.
    pub fn serve_now(&self) -> Serving {
        let serving = self.serve();
        self.server.wait_for(
            "postgres",
            "SELECT EXISTS (SELECT FROM fsbench.helper_description)",
            LONG,
        );
        serving
    }

    /// Waits until its log has these words: what a process of it has said is handed on to that.
    pub fn wait_for_log(&self, words: &str) {
        wait_until(&format!("the log has \"{words}\""), LONG, || {
            self.log().contains(words).then_some(())
        });
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.lab.path("log")).unwrap_or_default()
    }
}

pub struct Serving {
    pub child: Child,
}

impl Serving {
    /// Waits until it has stopped itself before a step, as it was told to.
    pub fn wait_until_held(&self) {
        wait_until_held(&self.child);
    }

    pub fn go_on(&self) {
        go_on(&self.child);
    }

    /// The process that speaks with the database.
    pub fn database_process(&self) -> Pid {
        let parent = format!("PPid:\t{}\n", self.child.id());
        let pids = fs::read_dir("/proc").expect("/proc").flatten();
        let mut pids = pids.filter_map(|entry| {
            let status = fs::read_to_string(entry.path().join("status")).ok()?;
            let is_it = status.starts_with("Name:\texe\n") && status.contains(&parent);
            is_it.then(|| entry.file_name().to_str()?.parse().ok())?
        });
        Pid::from_raw(pids.next().expect("a process")).expect("a pid")
    }

    /// The process that is root.
    pub fn root_process(&self) -> Pid {
        Pid::from_raw(self.child.id() as i32).expect("a pid")
    }

    pub fn end(&mut self, signal: Signal) -> Option<i32> {
        let pid = Pid::from_raw(self.child.id() as i32).expect("a pid");
        kill_process(pid, signal).expect("kill");
        self.child.wait().expect("it ends").code()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn ask(client: &mut Client, target: &str, action: &str, request: &str) -> String {
    let row = client
        .query_one(
            "INSERT INTO fsbench.helper_job (target, action, request) VALUES ($1, $2, $3::text::jsonb) \
             RETURNING job_id::text",
            &[&target, &action, &request],
        )
        .expect("a job");
    row.get(0)
}

pub fn wait_for_job(client: &mut Client, job: &str, status: &str) {
    wait_until(&format!("job {job} is {status}"), LONG, || {
        let now = row(
            client,
            &format!(
                "SELECT status || coalesce(' ' || error, '') || coalesce(' ' || error_detail, '') \
                 FROM fsbench.helper_job WHERE job_id = {job}"
            ),
        );
        let over = ["done", "failed"].iter().any(|end| now.starts_with(end));
        assert!(!over || now.starts_with(status), "job {job}: {now}");
        now.starts_with(status).then_some(())
    });
}
