//! Processes and objects that pass for the server's, or stand in the helper's way there: it believes the servers' user only, and uses names of
//! pg_catalog.

use super::bench::{Bench, ask, wait_for_job};
use crate::common::{execute, program, row, rows};
use pgfsbench_tests::{LONG, Signal, refusal, wait_until};
use postgres::NoTls;
use std::fs::{self, Permissions};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::thread::spawn;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const IMAGE: &str = r#"{"storage": {"image": {"bytes": 67108864}}, "filesystem": "ext4"}"#;

#[test]
fn the_helper_believes_the_servers_user_only() {
    let Some(bench) = Bench::new("the_helper_believes_the_servers_user_only") else {
        return;
    };
    who_listens_where_the_server_did_is_told_nothing(&bench);
    bench.start_anew();
    a_connection_names_the_user_of_the_server(&bench);
    bench.start_anew();
    nobody_without_rights_keeps_the_helper_from_serving(&bench);
    bench.start_anew();
    who_has_locked_the_table_of_the_session_is_named(&bench);
}

fn who_listens_where_the_server_did_is_told_nothing(bench: &Bench) {
    let place = TempDir::with_prefix_in("pgfsbench-impostor.", pgfsbench_tests::scratch())
        .expect("a directory");
    fs::set_permissions(place.path(), Permissions::from_mode(0o777)).expect("chmod");
    // Somebody who is not the servers' user: this process.
    let socket = place.path().join(".s.PGSQL.5432");
    let listener = UnixListener::bind(&socket).expect("a socket");
    fs::set_permissions(&socket, Permissions::from_mode(0o777)).expect("chmod");
    let heard = spawn(move || {
        let hear = |_| {
            let (mut stream, _) = listener.accept().expect("a connection");
            stream.set_read_timeout(Some(LONG)).expect("a timeout");
            stream.read(&mut [0; 64]).expect("the end, or something")
        };
        [0, 1, 2].map(hear)
    });
    let sockets = place.path().display().to_string();
    let connection = bench.connection("postgres");
    let at = |connection: &str| {
        let usual = bench.usual("postgres");
        bench
            .lab
            .configure(&usual.replace(&bench.connection("postgres"), connection));
    };
    at(&format!("host={sockets} dbname=postgres user=postgres"));
    bench.lab.refused(
        &["run-once"],
        &[
            "is not the servers' user",
            &sockets,
            "nothing is said to it",
        ],
    );
    // Nor is setup taken in; and it says what such a directory is.
    let before = fs::read(bench.lab.path("helper.toml")).expect("a configuration");
    let setup = [
        "setup",
        "--no-unit",
        "--database",
        "other",
        "--socket",
        &sockets,
    ];
    bench
        .lab
        .refused(&setup, &["is not the servers' user", "requirepeer"]);
    let said = bench.lab.run(&setup).stdout;
    assert!(String::from_utf8_lossy(&said).contains("every user of this machine may write to"));
    assert_eq!(
        fs::read(bench.lab.path("helper.toml")).expect("it is there"),
        before
    );
    assert_eq!(heard.join().expect("it has heard"), [0; 3]);

    // The user can be named, where servers run as another one.
    for (peer, is_served) in [("root", false), ("postgres", true)] {
        at(&format!("{connection} requirepeer={peer}"));
        let code = bench.lab.run(&["run-once"]).status.code();
        assert_eq!(code == Some(0), is_served, "{peer}");
    }
}

#[test]
fn a_database_does_not_say_what_names_mean_to_the_helper() {
    let test = "a_database_does_not_say_what_names_mean_to_the_helper";
    let Some(bench) = Bench::with_extension(test, &[]) else {
        return;
    };
    execute(
        &mut bench.client(),
        "CREATE ROLE mallory LOGIN; CREATE ROLE helper LOGIN",
    );
    execute(&mut bench.client(), "CREATE DATABASE hers OWNER mallory");
    execute(
        &mut bench.server.connect("hers"),
        "CREATE EXTENSION pgfsbench",
    );
    let mut hers = bench.server.connect_as("mallory", "hers");
    const ATTACK: &str =
        "BEGIN EXECUTE 'ALTER ROLE mallory SUPERUSER'; EXCEPTION WHEN OTHERS THEN NULL; END";
    let function = |signature: &str, value: &str| {
        format!(
            "CREATE FUNCTION evil.{signature} LANGUAGE plpgsql AS $$ BEGIN {ATTACK}; RETURN {value}; END $$;"
        )
    };
    let evil = [
        "CREATE SCHEMA evil AUTHORIZATION mallory; GRANT USAGE ON SCHEMA evil TO PUBLIC;"
            .to_owned(),
        function("pg_get_userbyid(oid) RETURNS name", "'x'"),
        function("pg_is_in_recovery() RETURNS boolean", "false"),
        function("clock_timestamp() RETURNS timestamptz", "now()"),
        function("pg_postmaster_start_time() RETURNS timestamptz", "now()"),
        function("same(text, text) RETURNS boolean", "true"),
        function("same(name, text) RETURNS boolean", "true"),
        "CREATE OPERATOR evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.same);"
            .to_owned(),
        "CREATE OPERATOR evil.= (LEFTARG = name, RIGHTARG = text, FUNCTION = evil.same);"
            .to_owned(),
        "ALTER DATABASE hers SET search_path = evil, pg_catalog; \
         ALTER DATABASE hers SET standard_conforming_strings = off; \
         ALTER DATABASE hers SET default_transaction_read_only = on; \
         ALTER DATABASE hers SET statement_timeout = '1ms'"
            .to_owned(),
    ];
    execute(&mut hers, &evil.concat());
    let (sockets, port) = bench.server.socket();
    let setup = [
        "setup",
        "--no-unit",
        "--force",
        "--database",
        "hers",
        "--role",
        "helper",
    ];
    let is_superuser = "SELECT rolsuper FROM pg_roles WHERE rolname = 'mallory'";
    let said = bench
        .lab
        .ok(&[&setup[..], &["--socket", &sockets, "--port", &port]].concat());
    assert_eq!(row(&mut bench.client(), is_superuser), "f", "{said}");
    assert!(said.contains("granted \"postgres\""), "{said}");

    bench.lab.configure(&bench.usual("hers"));
    // From its start: a SET may take longer than her timeout.
    let usual =
        "-c search_path=pg_catalog -c default_transaction_read_only=off -c statement_timeout=0";
    let mut config = bench.server.config("postgres", "hers");
    let mut client = config.options(usual).connect(NoTls).expect("a session");
    let job = ask(&mut client, "t", "release", "{}");
    bench.lab.ok(&["run-once"]);
    wait_for_job(&mut client, &job, "done");
    assert_eq!(row(&mut client, is_superuser), "f");
}

fn nobody_without_rights_keeps_the_helper_from_serving(bench: &Bench) {
    let mut client = bench.client();
    execute(
        &mut client,
        "CREATE ROLE mallory LOGIN; CREATE ROLE reader LOGIN IN ROLE pg_monitor; \
         GRANT USAGE ON SCHEMA fsbench TO PUBLIC; GRANT SELECT ON ALL TABLES IN SCHEMA fsbench TO pg_monitor",
    );
    let mut mallory = bench.server.connect_as("mallory", "postgres");
    execute(
        &mut mallory,
        concat!(
            "SET application_name = 'pgfsbench-helper ",
            env!("CARGO_PKG_VERSION"),
            "'; SELECT pg_advisory_lock(hashtext('pgfsbench-helper'))"
        ),
    );
    let mut reader = bench.server.connect_as("reader", "postgres");
    execute(
        &mut reader,
        concat!(
            "SET application_name = 'pgfsbench-helper ",
            env!("CARGO_PKG_VERSION"),
            "'; BEGIN; SELECT FROM fsbench.helper_session"
        ),
    );
    for lock in [
        "BEGIN; LOCK TABLE fsbench.helper_session IN SHARE MODE",
        "SELECT FROM fsbench.helper_session FOR UPDATE",
    ] {
        let mut other = bench.server.connect_as("reader", "postgres");
        assert_eq!(refusal(&mut other, lock).code().code(), "42501", "{lock}");
    }
    let job = ask(&mut client, "t", "release", "{}");
    bench.lab.ok(&["run-once"]);
    wait_for_job(&mut client, &job, "done");
    // Nor does a session that has taken the number of the helper's, without being it.
    execute(
        &mut client,
        "UPDATE fsbench.helper_session SET pid = pg_backend_pid(), backend_start = backend_start - interval '1 s'",
    );
    bench.lab.ok(&["run-once"]);
}

fn who_has_locked_the_table_of_the_session_is_named(bench: &Bench) {
    let mut client = bench.client();
    execute(
        &mut client,
        "SET application_name = 'nosy'; BEGIN; LOCK TABLE fsbench.helper_session IN SHARE MODE",
    );
    let pid = row(&mut client, "SELECT pg_backend_pid()");
    let words = [
        &format!("process {pid} of user \"postgres\" (\"nosy\")"),
        "ShareLock",
        &format!("pg_terminate_backend({pid})"),
    ];
    bench.lab.refused(&["run-once"], &words);
}

#[test]
fn the_helper_believes_no_text_and_no_restored_row() {
    let Some(bench) = Bench::new("the_helper_believes_no_text_and_no_restored_row") else {
        return;
    };
    what_a_server_says_is_one_line_of_the_log(&bench);
    bench.start_anew();
    a_job_of_a_restored_dump_is_not_done(&bench);
    bench.start_anew();
    a_database_that_is_gone_is_asked_for_ever_more_rarely_and_served_again(&bench);
}

fn what_a_server_says_is_one_line_of_the_log(bench: &Bench) {
    let mut client = bench.client();
    execute(
        &mut client,
        "CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION E'no\\n\
           2026-11-22 10:00:00.000 UTC pgfsbench-helper: erased /dev/sda\\x1b[2J\\u009b1A\\u202e\\u2028\\r.'; END $$; \
         CREATE TRIGGER fails BEFORE UPDATE ON fsbench.helper_job FOR EACH STATEMENT EXECUTE FUNCTION fails()",
    );
    ask(&mut client, "t", "release", "{}");
    bench.lab.run(&["run-once"]);
    let said = bench.lab.run(&["run-once"]).stderr;
    let said = String::from_utf8(said).expect("UTF-8");
    let lines: Vec<&str> = said
        .split('\n')
        .filter(|line| line.contains("erased /dev/sda"))
        .collect();
    let [line] = lines[..] else {
        panic!("{said}");
    };
    let (_, after) = line.split_once(" UTC pgfsbench-helper").expect("a prefix");
    assert!(after.starts_with(" [bench] session: job "), "{line}");
    assert!(
        line.contains("no\\n2026") && line.ends_with("\\u{1b}[2J\\u{9b}1A\\u{202e}\\u{2028}\\r."),
        "{line}"
    );
}

fn a_job_of_a_restored_dump_is_not_done(bench: &Bench) {
    let mut client = bench.client();
    ask(&mut client, "t", "prepare", IMAGE);
    let place = bench.server.data().with_file_name("jobs.sql");
    let (dump, all) = (
        place.display().to_string(),
        place.with_extension("all").display().to_string(),
    );
    program(
        &bench.server,
        "pg_dump",
        &[
            "--data-only",
            "-t",
            "fsbench.helper_job",
            "-f",
            &dump,
            "postgres",
        ],
    );
    program(&bench.server, "pg_dump", &["-f", &all, "postgres"]);
    let restore = |file: &str, database: &str| {
        program(
            &bench.server,
            "psql",
            &["-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", file, database],
        );
    };
    let jobs = "SELECT status, error FROM fsbench.helper_job";
    let refused = "failed|the job was not asked for here: its row was restored";

    // Into the same table, while nobody serves, and while somebody does.
    let forget = "TRUNCATE fsbench.helper_job";
    execute(&mut client, forget);
    restore(&dump, "postgres");
    bench.lab.ok(&["run-once"]);
    assert_eq!(rows(&mut client, jobs), [refused]);
    execute(&mut client, forget);
    let mut serving = bench.serve_now();
    restore(&dump, "postgres");
    wait_until("the job is refused", LONG, || {
        (rows(&mut client, jobs) == [refused]).then_some(())
    });
    serving.end(Signal::TERM);
    // And into another database of the same server.
    execute(&mut client, "CREATE DATABASE restored");
    restore(&all, "restored");
    bench.lab.configure(&bench.usual("restored"));
    bench.lab.ok(&["run-once"]);
    assert_eq!(rows(&mut bench.server.connect("restored"), jobs), [refused]);
    bench.lab.nothing_is_left_at_once();
}

fn a_database_that_is_gone_is_asked_for_ever_more_rarely_and_served_again(bench: &Bench) {
    let mut client = bench.client();
    execute(&mut client, "CREATE DATABASE gone");
    bench.serve_database("gone");
    let mut serving = bench.serve();
    let served = "SELECT EXISTS (SELECT FROM fsbench.helper_description)";
    bench.server.wait_for("gone", served, LONG);
    let began = Instant::now();
    execute(&mut client, "DROP DATABASE gone WITH (FORCE)");
    let attempts = || {
        bench
            .server
            .log()
            .matches("database \"gone\" does not exist")
            .count()
    };
    wait_until("it was looked for four times", LONG, || {
        (attempts() > 3).then_some(())
    });
    assert!(
        began.elapsed() > Duration::from_secs(6),
        "{:?}",
        began.elapsed()
    );
    bench.wait_for_log("waiting until that is over");
    let told = bench.log();
    assert_eq!(told.matches("does not exist").count(), 1, "{told}");
    execute(&mut client, "CREATE DATABASE gone");
    bench.make_tables("gone");
    bench.server.wait_for("gone", served, LONG);
    bench.wait_for_log("serving again");
    assert_eq!(serving.end(Signal::TERM), Some(0));
}

/// `requirepeer` names the user behind the socket.
fn a_connection_names_the_user_of_the_server(bench: &Bench) {
    let usual = bench.lab.usual();
    for (peer, is_served) in [("root", false), ("postgres", true)] {
        let connection = format!("{} requirepeer={peer}", bench.connection("postgres"));
        let configured = usual.replace("host=/nowhere user=postgres", &connection);
        bench.lab.configure(&configured);
        let code = bench.lab.run(&["run-once"]).status.code();
        assert_eq!(code == Some(0), is_served, "{peer}");
    }
}
