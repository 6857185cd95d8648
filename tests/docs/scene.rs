//! The surroundings of a page: a server, and what else its reader has.

use crate::lab::Lab;
use crate::manual::{Reader, Requirement};
use crate::page::Page;
use crate::shown::{Step, differences, missing, session};
use pgfsbench_tests::{OwnedDirectory, PRELOADED, TestServer};
use postgres::Client;
use std::io::Write;
use std::process::Stdio;

pub struct Scene {
    /// Ends before its server does.
    _lab: Option<Lab>,
    server: TestServer,
    /// The server on the other host.
    other: Option<TestServer>,
    /// In place of a mount point.
    directory: OwnedDirectory,
}

/// Output of psql, and whether it succeeded.
struct Said {
    succeeded: bool,
    printed: String,
}

fn psql(server: &TestServer, database: &str, text: &str) -> Said {
    let mut psql = server
        .client_program("psql")
        // Files that a page has written go with the server.
        .current_dir(server.socket().0)
        .args([
            "-X",
            "-P",
            "pager=off",
            "-v",
            "ON_ERROR_STOP=1",
            "-d",
            database,
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("psql");
    let mut input = psql.stdin.take().expect("a pipe");
    input.write_all(text.as_bytes()).expect("psql reads");
    drop(input);
    let output = psql.wait_with_output().expect("psql ends");
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Said {
        succeeded: output.status.success(),
        printed: said(&output.stdout) + &said(&output.stderr),
    }
}

fn prepare(server: &TestServer) {
    let text = "CREATE DATABASE bench;\n\\c bench\nCREATE EXTENSION pgfsbench;";
    let said = psql(server, "postgres", text);
    assert!(said.succeeded, "{}", said.printed);
}

impl Scene {
    pub fn new(reader: &Reader) -> Self {
        let from_nothing = reader.requires.contains(&Requirement::EmptyServer);
        let settings = if from_nothing { &[] } else { PRELOADED };
        let server = TestServer::start(settings);
        if !from_nothing {
            prepare(&server);
        }
        let has = |what| reader.requires.contains(&what);
        let other = has(Requirement::OtherHost).then(|| {
            let other = TestServer::start(PRELOADED);
            prepare(&other);
            let said = psql(&other, "bench", "CREATE ROLE bench LOGIN");
            assert!(said.succeeded, "{}", said.printed);
            other
        });
        let scene = Self {
            _lab: has(Requirement::Helper).then(|| Lab::serve(&server)),
            server,
            other,
            directory: OwnedDirectory::new("pgfsbench-docs-mnt."),
        };
        let before = scene.filled(reader.before);
        let said = psql(&scene.server, scene.database(), &before);
        assert!(said.succeeded, "before {}: {}", reader.page, said.printed);
        scene
    }

    pub fn client(&self) -> Client {
        self.server.connect(self.database())
    }

    /// With the names of what is here.
    fn filled(&self, text: &str) -> String {
        let directory = self.directory.path().display().to_string();
        let text = text.replace("{directory}", &directory);
        match &self.other {
            Some(other) => {
                let (sockets, port) = other.socket();
                text.replace("{other}", &format!("host={sockets} port={port}"))
            }
            None => text,
        }
    }

    /// bench, once it is there.
    fn database(&self) -> &'static str {
        let mut client = self.server.connect("postgres");
        let there = client.query("SELECT FROM pg_database WHERE datname = 'bench'", &[]);
        match there.expect("databases").is_empty() {
            true => "postgres",
            false => "bench",
        }
    }

    /// Reads a page from its beginning to its end, and does what it says: what is wrong with it.
    pub fn read(&self, page: &Page, reader: &Reader) -> Vec<String> {
        let mut faults = Vec::new();
        let mut printed = String::new();
        for block in &page.blocks {
            let at = page.at(block.line);
            if reader.not_run(block).is_some() {
                continue;
            }
            let text = self.filled(&reader.substituted(&block.text));
            let found = match block.kind.as_str() {
                "sql" => self.run_block(&text, reader.is_there(block), &mut printed),
                "psql" => self.run_session(&text, reader),
                // The output of the block above.
                "text" => missing(&text, &printed),
                "sh" => crate::shell::faults_of_lines("", &block.text),
                "toml" => crate::configuration::faults(&block.text),
                kind => vec![format!(
                    "a block of kind {kind:?} is neither run nor listed"
                )],
            };
            faults.extend(found.iter().map(|fault| format!("{at}: {fault}")));
        }
        if reader.calls_in_tables {
            for (line, call) in page.calls() {
                let text = self.filled(&reader.substituted(&format!("{call};")));
                let found = self.run_block(&text, false, &mut printed);
                faults.extend(
                    found
                        .iter()
                        .map(|fault| format!("{}: {fault}", page.at(line))),
                );
            }
        }
        faults
    }

    fn run_block(&self, text: &str, there: bool, printed: &mut String) -> Vec<String> {
        let said = match (&self.other, there) {
            (Some(other), true) => psql(other, "bench", text),
            _ => psql(&self.server, self.database(), text),
        };
        *printed = said.printed;
        if !said.succeeded {
            return vec![printed.clone()];
        }
        if text.contains("ALTER SYSTEM") {
            self.server.restart();
        }
        Vec::new()
    }

    fn run_session(&self, text: &str, reader: &Reader) -> Vec<String> {
        let steps = session(text);
        let mut faults = Vec::new();
        for step in &steps {
            faults.extend(self.run_step(step, reader));
        }
        faults
    }

    fn run_step(&self, step: &Step, reader: &Reader) -> Vec<String> {
        let said = psql(&self.server, self.database(), &step.statement);
        if !said.succeeded {
            return vec![said.printed];
        }
        let mut faults = differences(&step.shown, &said.printed);
        if reader.may_be_empty(&step.statement) {
            faults.retain(|fault| !fault.starts_with("no row came"));
        }
        faults.extend(reader.cells_that_differ(step, &said.printed));
        let statement = step.statement.lines().next().unwrap_or("");
        faults
            .iter()
            .map(|fault| format!("{statement}: {fault}"))
            .collect()
    }
}
