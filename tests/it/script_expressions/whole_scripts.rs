//! Whole scripts at random, and those of the oracle that end with an error of a server: each is carried out by fsbench.run() and by pgbench, on one
//! server. Rows that statements insert, errors and SQLSTATEs are compared, client by client.
//!
//! Each client of a run has a script of its own, as a branch of one text. A client that has failed does nothing more: pgbench ends it, and
//! `continue_on_error` goes on.

use super::{Random, client, client::End, is_ours_alone};
use crate::common::{execute, rows, run, server, work_database};
use pgfsbench_core::script::Protocol;
use pgfsbench_tests::{TestServer, is_soak};
use serde_json::Value;
use std::{collections::HashMap, env, fs, path::Path};

/// The variables that each script gets as -D, and the one that says that the client has not failed.
const GIVEN: [(&str, &str); 5] = [
    ("v1", "5"),
    ("v2", "2.5"),
    ("v3", "word"),
    ("i", "0"),
    ("done", "1"),
];
const TABLES: &str = "CREATE TABLE seen (number bigserial, client int NOT NULL, found text);
CREATE TABLE once (client int PRIMARY KEY);
CREATE TABLE who (client int, pid int);";
const TRANSACTIONS: u32 = 3;
/// Scripts of one run.
const SCRIPTS: usize = 20;

const ATOMS: &str =
    "0 1 2 3 7 100 2.5 :v1 :v2 :v1 :v2 :client_id :scale 9223372036854775807 null true";
const CALLS: &str = "random(1,100) random(1,1000000) random_gaussian(1,100,2.5) random_exponential(1,100,2.5) random_zipfian(1,100,1.1) \
    hash(:v1) permute(:client_id,10) random(:v1,10) double(:v1) int(:v2) greatest(:v1,:v2) pi()";
const OPERATORS: &str = "+ - * / % < = >= and or";
/// Texts that a statement makes of a variable V.
const VALUES: [&str; 11] = [
    "V::text",
    "V::float8::text",
    "coalesce(V::text, 'none')",
    "V::text || 'x'",
    "(V::numeric / 3)::text",
    "length(V::text)::text",
    "(V + 1)::text",
    "(V::bigint % 7)::text",
    "(V::int * 2)::text",
    ":undefined::text",
    "(V IS NULL)::text",
];
const ERRORS: [&str; 9] = [
    "SELECT 1 / (SELECT 0);",
    "SELECT nosuch;",
    "SELEC 1;",
    "INSERT INTO once VALUES (:client_id);",
    "DO $$BEGIN RAISE 'own' USING ERRCODE = 'P0004'; END$$;",
    "SELECT * FROM missing;",
    "SELECT 'x'::int;",
    "INSERT INTO seen (found) VALUES ('nobody');",
    "SAVEPOINT s;",
];
const SAFE: &str = "INSERT INTO seen (client, found) VALUES (:client_id, 'safe');";

impl Random {
    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    fn variable(&mut self) -> &'static str {
        self.one_of(&["v1", "v2", "v3", "v4"])
    }

    fn formula(&mut self, depth: usize) -> String {
        match self.below(if depth == 0 { 2 } else { 4 }) {
            0 => self.name(ATOMS),
            1 => self.name(CALLS),
            _ => {
                let (left, right) = (self.formula(depth - 1), self.formula(depth - 1));
                format!("({left}) {} ({right})", self.word(OPERATORS))
            }
        }
    }

    fn text_of_variable(&mut self) -> String {
        // Those at the end fail more often.
        let first = if self.below(4) == 0 { 0 } else { 5 };
        let at = self.below(VALUES.len() - first);
        VALUES[at].replace('V', &format!(":{}", self.variable()))
    }

    fn insert(&mut self) -> String {
        let text = self.text_of_variable();
        format!("INSERT INTO seen (client, found) VALUES (:client_id, {text});\n")
    }

    fn set(&mut self) -> String {
        let name = self.one_of(&["v1", "v2", "v4"]);
        let depth = self.below(3);
        format!("\\set {name} {}\n", self.formula(depth))
    }

    /// A statement whose rows become variables.
    fn store(&mut self) -> String {
        let rows = self.one_of(&["0", "1", "1", "1", "1", "2"]);
        match self.below(5) {
            0 => format!("SELECT g AS v2 FROM generate_series(1, {rows}) g \\gset\n"),
            1 => format!("SELECT g AS v1 FROM generate_series(1, {rows}) g \\aset\n"),
            2 => format!("SELECT {} AS v3, 9 AS v4 \\gset\n", self.text_of_variable()),
            3 => "SELECT NULL AS v4, true AS \"3\" \\gset v\n".replace("AS v4", "AS \"4\""),
            _ => "SELECT count(*) AS v1 FROM seen WHERE client = :client_id \\gset\n".into(),
        }
    }

    fn block(&mut self, depth: usize) -> String {
        let mut text = String::from("BEGIN;\n");
        for _ in 0..=self.below(2) {
            if self.below(3) == 0 {
                text += "SAVEPOINT s;\n";
                text += &self.item(depth - 1);
                text += self.one_of(&["ROLLBACK TO SAVEPOINT s;\n", "RELEASE SAVEPOINT s;\n", ""]);
            } else {
                text += &self.item(depth - 1);
            }
        }
        text + self.one_of(&[
            "COMMIT;\n",
            "COMMIT;\n",
            "ROLLBACK;\n",
            "COMMIT AND CHAIN;\nEND;\n",
            "",
        ])
    }

    fn branches(&mut self, depth: usize) -> String {
        let mut text = format!("\\if {}\n{}", self.formula(1), self.item(depth - 1));
        if self.below(2) == 0 {
            text += &format!("\\elif {}\n{}", self.formula(1), self.item(depth - 1));
        }
        if self.below(2) == 0 {
            text += &format!("\\else\n{}", self.item(depth - 1));
        }
        text + "\\endif\n"
    }

    /// At most one statement may fail: pgbench prepares all of them before it carries the first one out.
    fn pipeline(&mut self) -> String {
        let risky = match self.below(3) {
            0 => format!("{}\n", self.one_of(&ERRORS)),
            _ => self.insert(),
        };
        let (before, after) = (self.below(3), self.below(3));
        let safe = |count: usize| format!("{SAFE}\n").repeat(count);
        format!(
            "\\startpipeline\n{}{risky}{}\\endpipeline\n",
            safe(before),
            safe(after)
        )
    }

    fn item(&mut self, depth: usize) -> String {
        match self.below(if depth == 0 { 12 } else { 18 }) {
            0..4 => self.set(),
            4..8 => self.insert(),
            8..10 => self.store(),
            10 => "\\sleep 10 us\n".into(),
            11 => match self.below(3) {
                0 => format!("{}\n", self.one_of(&ERRORS)),
                _ => format!("{}\n", self.one_of(&["COMMIT;", "ROLLBACK;", SAFE, SAFE])),
            },
            12..14 => self.block(depth),
            14..16 => self.branches(depth),
            _ => self.pipeline(),
        }
    }

    fn whole_script(&mut self) -> String {
        (0..3 + self.below(5)).map(|_| self.item(2)).collect()
    }
}

/// One text with a branch for each client. Two statements with one transaction id stand in one block, which is open then: its client fails.
fn text_of(scripts: &[String]) -> String {
    let branch = |(client, script): (usize, &String)| {
        let word = if client == 0 { "if" } else { "elif" };
        format!("\\{word} :client_id = {client}\n{script}")
    };
    let branches: String = scripts.iter().enumerate().map(branch).collect();
    format!(
        "\\if :done = 1\n\\set done 0\nINSERT INTO who VALUES (:client_id, pg_backend_pid());\n{branches}\\endif\n\
         SELECT pg_current_xact_id()::text AS x1 \\gset\nSELECT pg_current_xact_id()::text AS x2 \\gset\n\
         \\if :x1 <> :x2\n\\set done 1\n\\endif\n\\endif\n"
    )
}

/// The error of a client. Errors that pgbench itself raises have no SQLSTATE.
#[derive(Clone, Debug, PartialEq)]
struct Failure {
    sqlstate: Option<String>,
    message: String,
}

/// Rows that a client has inserted, and its error.
#[derive(Clone, Debug, Default, PartialEq)]
struct Record {
    rows: Vec<String>,
    failure: Option<Failure>,
}

/// Records of all clients from the tables of a database, and what the server's log says since `from`: the first line of each process that has one of
/// these levels.
fn records(
    server: &TestServer,
    database: &str,
    count: usize,
    from: usize,
    level: &str,
) -> Vec<Record> {
    let mut records = vec![Record::default(); count];
    let mut session = server.connect(database);
    for found in rows(
        &mut session,
        "SELECT client, coalesce(found, 'NULL') FROM seen ORDER BY number",
    ) {
        let (client, found) = found.split_once('|').expect("two columns");
        records[client.parse::<usize>().expect("a number")]
            .rows
            .push(found.to_owned());
    }
    let of_process: HashMap<String, usize> =
        rows(&mut session, "SELECT DISTINCT pid, client FROM who")
            .iter()
            .map(|line| line.split_once('|').expect("two columns"))
            .map(|(pid, client)| (pid.to_owned(), client.parse().expect("a number")))
            .collect();
    for line in server.log()[from..].lines() {
        let Some((pid, rest)) = line.split_once('|') else {
            continue;
        };
        let Some((sqlstate, message)) = rest.split_once('|') else {
            continue;
        };
        let (Some(message), Some(client)) = (message.strip_prefix(level), of_process.get(pid))
        else {
            continue;
        };
        let record = &mut records[*client];
        record.failure.get_or_insert_with(|| Failure {
            sqlstate: Some(sqlstate.to_owned()),
            message: without_place(message.trim()).to_owned(),
        });
    }
    records
}

/// A message of the log without the place in the statement.
fn without_place(message: &str) -> &str {
    match message.rsplit_once(" at character ") {
        Some((message, place)) if place.bytes().all(|b| b.is_ascii_digit()) => message,
        _ => message,
    }
}

/// Records of a run of pgbench; None where a signal has ended it: its heap breaks in some of these scripts.
fn of_pgbench(
    server: &TestServer,
    file: &Path,
    count: usize,
    protocol: &str,
) -> Option<Vec<Record>> {
    let mut session = server.connect("theirs");
    execute(
        &mut session,
        &format!("DROP TABLE IF EXISTS seen, once, who; {TABLES}"),
    );
    let from = server.log().len();
    let mut pgbench = server.client_program("pgbench");
    pgbench.args([
        "-n",
        "-M",
        protocol,
        "-j",
        "1",
        "--random-seed=42",
        "-s",
        "1",
    ]);
    pgbench.args(["-c", &count.to_string(), "-t", &TRANSACTIONS.to_string()]);
    for (name, value) in GIVEN {
        pgbench.arg("-D").arg(format!("{name}={value}"));
    }
    let output = pgbench
        .arg("-f")
        .arg(file)
        .arg("theirs")
        .output()
        .expect("pgbench runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.code().is_none() {
        eprintln!("pgbench: {}: {said}", output.status);
        return None;
    }
    let mut records = records(server, "theirs", count, from, "ERROR:");
    // With one thread the reason of an error stands before the line that names the client.
    let mut reason = "";
    for line in said
        .lines()
        .filter_map(|line| line.strip_prefix("pgbench: error: "))
    {
        let client = line.strip_prefix("client ").and_then(|rest| {
            let end = rest.find([' ', ':'])?;
            rest[..end].parse::<usize>().ok()
        });
        let Some(client) = client else {
            reason = line;
            continue;
        };
        let message = match line.ends_with("evaluation of meta-command failed") {
            true => reason,
            false => line.rsplit_once(": ").map_or(line, |(_, message)| message),
        };
        records[client].failure.get_or_insert_with(|| Failure {
            sqlstate: None,
            message: message.to_owned(),
        });
    }
    assert!(
        records
            .iter()
            .any(|record| !record.rows.is_empty() || record.failure.is_some()),
        "{said}"
    );
    Some(records)
}

fn of_ours(server: &TestServer, text: &str, count: usize, protocol: &str) -> Vec<Record> {
    let mut session = server.connect("postgres");
    let given: Vec<String> = GIVEN
        .map(|(name, value)| format!("\"{name}\": \"{value}\""))
        .to_vec();
    let from = server.log().len();
    let id = run(
        &mut session,
        &format!(
            "workload => 'script', clients => {count}, transactions => {TRANSACTIONS}, seed => 42, scale => 1, keep => true, protocol => '{protocol}', \
             continue_on_error => true, variables => '{{{}}}', options => '{{\"commands\": false}}', init_script => $init${TABLES}$init$, \
             scripts => $script${text}$script$",
            given.join(", ")
        ),
    );
    let database = work_database(&mut session, &id);
    let mut records = records(
        server,
        &database,
        count,
        from,
        "WARNING:  transaction failed:",
    );
    execute(&mut session, &format!("DROP DATABASE \"{database}\""));
    for failure in records
        .iter_mut()
        .filter_map(|record| record.failure.as_mut())
    {
        let place = failure
            .message
            .split_once(", line ")
            .and_then(|(_, rest)| rest.split_once(": "));
        failure.message = place.expect("a line").1.to_owned();
    }
    records
}

/// Asserts that both sides agree on these scripts, and gives how each ended.
fn compare(
    server: &TestServer,
    place: &Path,
    scripts: &[String],
    protocol: &str,
) -> Option<Vec<Option<Failure>>> {
    let text = text_of(scripts);
    fs::write(place, &text).expect("the script can be written");
    let theirs = of_pgbench(server, place, scripts.len(), protocol)?;
    let ours = of_ours(server, &text, scripts.len(), protocol);
    for ((script, theirs), mut ours) in scripts.iter().zip(&theirs).zip(ours) {
        if ours
            .failure
            .as_ref()
            .is_some_and(|failure| is_ours_alone(&failure.message))
        {
            continue;
        }
        // A statement with $1 in its text is told in words of our own, with the SQLSTATE of the protocol's error.
        if let (Some(ours), Some(theirs)) = (&mut ours.failure, &theirs.failure)
            && ours.message.starts_with("the statement has ")
            && theirs.message.starts_with("bind message supplies ")
        {
            ours.message.clone_from(&theirs.message);
        }
        if let (Some(ours), Some(Failure { sqlstate: None, .. })) =
            (&mut ours.failure, &theirs.failure)
        {
            ours.sqlstate = None;
        }
        assert_eq!(ours, *theirs, "ours and pgbench's of {protocol}\n{script}");
    }
    Some(theirs.into_iter().map(|record| record.failure).collect())
}

fn differential_server() -> TestServer {
    let server = server(&[("log_line_prefix", "%p|%e|"), ("fsync", "off")]);
    execute(&mut server.connect("postgres"), "CREATE DATABASE theirs");
    server
}

#[test]
fn random_scripts_insert_and_fail_as_with_pgbench() {
    let server = differential_server();
    let place = tempfile::tempdir().expect("a directory can be made");
    let file = place.path().join("s.sql");
    let seed = env::var("PGFSBENCH_KILLS_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let mut random = Random(seed.unwrap_or(1));
    let mut sqlstates: HashMap<Option<String>, usize> = HashMap::new();
    let (mut failed, mut broken) = (0, 0);
    let runs = if is_soak() { 150 } else { 4 };
    for number in 0..runs {
        let protocol = if number % 4 == 3 {
            "simple"
        } else {
            "prepared"
        };
        // pgbench has no pipelines in the simple protocol.
        let fits = |script: &String| protocol == "prepared" || !script.contains("pipeline");
        let scripts = std::iter::repeat_with(|| random.whole_script());
        let scripts: Vec<String> = scripts.filter(fits).take(SCRIPTS).collect();
        let Some(ended) = compare(&server, &file, &scripts, protocol) else {
            broken += 1;
            continue;
        };
        for failure in ended.into_iter().flatten() {
            failed += 1;
            *sqlstates.entry(failure.sqlstate).or_default() += 1;
        }
    }
    assert!(
        broken * 20 <= runs,
        "{broken} of {runs} runs of pgbench end by a signal"
    );
    let all = (runs - broken) * SCRIPTS;
    eprintln!("{all} scripts, {failed} with an error: {sqlstates:?}");
    assert!(
        failed > all / 10 && failed < all * 9 / 10,
        "{failed} of {all}"
    );
    assert!(sqlstates.len() >= 5, "{sqlstates:?}");
}

/// The cases of the oracle that core cannot decide alone: the server raises their errors, or a block is open at their end.
#[test]
fn scripts_of_the_oracle_fail_in_a_server_as_with_pgbench() {
    const OF_THE_SERVER: [&str; 2] = ["ERROR:", "end of script reached"];
    let oracle = include_str!("../../../core/tests/data/pgbench-oracle-script.jsonl");
    let mut of_protocol: HashMap<&str, Vec<String>> = HashMap::new();
    let mut refused = 0;
    for line in oracle.lines() {
        let case: Value = serde_json::from_str(line).expect("a case");
        let error = case["pg15"]["err"].as_str().unwrap_or_default();
        if !OF_THE_SERVER.iter().any(|part| error.contains(part)) {
            continue;
        }
        let arguments = case["args"].as_str().expect("arguments");
        // The extended protocol has the errors of the prepared one.
        let is_simple = !["extended", "prepared"]
            .iter()
            .any(|word| arguments.contains(word));
        let script = case["script"].as_str().expect("a script");
        let mut run = client::Run::of(script);
        if !is_simple {
            run.protocol = Protocol::Prepared;
        }
        // The test of core names the cases that are refused earlier.
        if matches!(run.outcome().end, End::Refused(_)) {
            refused += 1;
            continue;
        }
        let protocol = if is_simple { "simple" } else { "prepared" };
        of_protocol
            .entry(protocol)
            .or_default()
            .push(script.to_owned());
    }
    let executed: usize = of_protocol.values().map(Vec::len).sum();
    eprintln!("{executed} cases are carried out, {refused} are refused earlier");
    assert!(executed >= 25, "{executed}");
    let server = differential_server();
    let place = tempfile::tempdir().expect("a directory can be made");
    let file = place.path().join("s.sql");
    for (protocol, scripts) in of_protocol {
        let ended = compare(&server, &file, &scripts, protocol).expect("pgbench ends");
        for (script, failure) in scripts.iter().zip(ended) {
            assert!(failure.is_some(), "no error of {protocol} {script}");
        }
    }
}
