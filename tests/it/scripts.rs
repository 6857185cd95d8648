//! The workload `script` beside pgbench itself: the same seed draws the same parameters, client by client, and chooses the same scripts.

use crate::common::{execute, program, row, rows, run, server, work_database};
use crate::directory_target::Place;
use pgfsbench_tests::{OwnedDirectory, TestServer, assert_columns, write_as_owner};

/// Every function that draws, and those whose seed is the run's.
const DRAWS: &str = r"\set uniform random(1, :most)
\set gauss random_gaussian(1, 1000, 2.5)
\set expo random_exponential(1, 1000, 2.5)
\set zipf random_zipfian(1, 1000, 1.1)
\set mixed permute(:uniform, 1000000)
\set hashed hash(:gauss)
\set half :uniform / 2.0
INSERT INTO seen (client, script, found) VALUES (:client_id, 'draws', format('%s %s %s %s %s %s %s %s', :uniform::bigint, :gauss::bigint, :expo::bigint,
    :zipf::bigint, :mixed::bigint, :hashed::bigint, :half::float8, :default_seed::bigint));
";
const OTHER: &str = r"\if :client_id % 2 = 0
\set x random(1, 6)
\else
\set x 10 * random(1, 6)
\endif
INSERT INTO seen (client, script, found) VALUES (:client_id, 'other', :x);
SELECT count(*) AS n FROM seen WHERE client = :client_id \gset
INSERT INTO seen (client, script, found) VALUES (:client_id, 'count', :n);
";
const TABLE: &str = "CREATE TABLE seen (number bigserial, client int, script text, found text)";

#[test]
fn the_same_seed_gives_the_parameters_of_pgbench() {
    let server = server(&[]);
    let mut client = server.connect("postgres");
    execute(&mut client, "CREATE DATABASE theirs");
    execute(&mut server.connect("theirs"), TABLE);
    let directory = OwnedDirectory::new("scripts");
    let files: Vec<String> = [("draws", DRAWS, 2), ("other", OTHER, 1)]
        .map(|(name, text, weight)| {
            let path = directory.path().join(name);
            write_as_owner(&path, text);
            format!("{}@{weight}", path.display())
        })
        .to_vec();
    let options = [
        "-n",
        "-M",
        "prepared",
        "-c",
        "3",
        "-j",
        "3",
        "-t",
        "40",
        "--random-seed=7",
        "-D",
        "most=1000000",
    ];
    let scripts = ["-f", &files[0], "-f", &files[1], "theirs"];
    program(&server, "pgbench", &[&options[..], &scripts].concat());
    let id = run(
        &mut client,
        &format!(
            "workload => 'script', clients => 3, transactions => 40, seed => 7, keep => true, variables => '{{\"most\": 1000000}}', \
             init_script => $i${TABLE};$i$, scripts => jsonb_build_array(jsonb_build_object('name', 'draws', 'weight', 2, 'text', $a${DRAWS}$a$), \
               jsonb_build_object('name', 'other', 'text', $b${OTHER}$b$))::text"
        ),
    );
    let name = work_database(&mut client, &id);
    let seen = "SELECT client, script, found FROM seen ORDER BY client, number";
    let theirs = rows(&mut server.connect("theirs"), seen);
    assert!(theirs.len() >= 120, "{}", theirs.len());
    assert_eq!(rows(&mut server.connect(&name), seen), theirs);
}

/// Statements whose literals differ each time. Now and then a statement has a million rows, and another one reads the client's memory.
const LITERALS: &str = r"\set n :n + 1
\set a random(1, 1000000000)
SELECT 'a :a of :n', :a + 1, 'b' || :a;
INSERT INTO differs VALUES (:a, 'text :a') ON CONFLICT DO NOTHING;
\if :n % 1000 = 0
SELECT generate_series(1, 1000000);
SELECT generate_series(1, 1000000) AS last \aset
INSERT INTO memory SELECT :n, substring(pg_read_file('/proc/self/status') FROM 'RssAnon:\s+(\d+) kB')::bigint;
\endif
";

#[test]
fn the_memory_of_a_client_does_not_grow_with_literals_that_differ_each_time() {
    let server = server(&[("fsync", "off"), ("synchronous_commit", "off")]);
    let mut client = server.connect("postgres");
    // Twenty statements in a transaction: 200,000 of them.
    let text = LITERALS.replacen("\\set n", &format!("{}\\set n", repeated(9)), 1);
    let id = run(
        &mut client,
        &format!(
            "workload => 'script', clients => 1, transactions => 10000, protocol => 'simple', keep => true, variables => '{{\"n\": 0}}', \
             init_script => 'CREATE TABLE differs (a bigint PRIMARY KEY, b text); CREATE TABLE memory (n bigint, kb bigint);', scripts => $t${text}$t$"
        ),
    );
    let executed = "SELECT sum(executions) >= 200000 FROM fsbench.command_result WHERE kind = 'SQL' AND run_id";
    assert_eq!(row(&mut client, &format!("{executed} = {id}")), "t");
    let name = work_database(&mut client, &id);
    // The first thousand transactions fill caches.
    let memory = "SELECT count(*), max(kb) FILTER (WHERE n > 1000) - min(kb) FILTER (WHERE n = 1000) <= 256 FROM memory";
    assert_eq!(row(&mut server.connect(&name), memory), "10|t");
}

/// Pairs of statements with a literal of their own each.
fn repeated(pairs: usize) -> String {
    let pair = "\\set a random(1, 1000000000)\nSELECT 'c :a', :a;\nSELECT ':a d' || :a::text;\n";
    pair.repeat(pairs)
}

/// An operator's scripts are not run as the role of a connection, and no script of another server as a superuser.
fn scripts_get_no_rights_by_a_connection(server: &TestServer) {
    server.value("CREATE ROLE op LOGIN");
    server.value("SELECT fsbench.grant_operator('op')");
    let call = |target: &str| {
        format!(
            "SELECT run_id FROM fsbench.run(target => '{target}', workload => 'script', clients => 1, transactions => 1, \
             init_script => 'SELECT 1;', scripts => 'SELECT 1;')"
        )
    };
    let mut operator = server.connect_as("op", "postgres");
    let mut superuser = server.connect("postgres");
    for (client, target, message) in [
        (
            &mut operator,
            "there",
            "permission denied to run scripts on a target with a connection",
        ),
        (
            &mut superuser,
            "superuser",
            "scripts of another server cannot be run as a superuser",
        ),
    ] {
        let error = client.simple_query(&call(target)).expect_err(target);
        let error = error.as_db_error().map(|error| error.message().to_owned());
        assert!(
            error.as_ref().is_some_and(|text| text.contains(message)),
            "{target}: {error:?}"
        );
    }
}

/// A session that a script opens by dblink has the rights that the asking role gets there by itself, and no script of another role gets one.
fn scripts_connect_as_the_asking_role_can(server: &TestServer) {
    let mut superuser = server.connect("postgres");
    let mut operator = server.connect_as("op", "postgres");
    let call = |target: &str, init: &str, script: &str, expected: &str| {
        format!(
            "SELECT run_id FROM fsbench.run(target => '{target}', workload => 'script', clients => 1, transactions => 1, init_script => $init${init}$init$, \
             scripts => $script${script}$script$, checks => '[{{\"sql\": \"SELECT who FROM who\", \"expected\": \"{expected}\"}}]')"
        )
    };
    let address = row(
        &mut superuser,
        "SELECT format('host=%s port=%s dbname=postgres', current_setting('unix_socket_directories'), current_setting('port'))",
    );
    let through = |user: &str| {
        format!(
            "INSERT INTO who SELECT a FROM dblink('{address} user={user}', 'SELECT session_user::text || current_setting($$is_superuser$$)') AS t(a text);"
        )
    };
    let init = "CREATE TABLE who (who text); CREATE EXTENSION dblink;";
    // A superuser could connect as any role in a session of its own.
    for (user, expected) in [("postgres", "postgreson"), ("op", "opoff")] {
        row(
            &mut superuser,
            &call("default", init, &through(user), expected),
        );
    }
    // Neither an operator, nor a superuser's script on the server of a target, gets the functions.
    for (client, target) in [(&mut operator, "default"), (&mut superuser, "here")] {
        let asked = call(target, init, "SELECT 1;", "");
        let error = client.simple_query(&asked).expect_err(target);
        let error = error.as_db_error().expect("an error of the server");
        assert_eq!(error.code().code(), "42501", "{target}: {error:?}");
        assert!(error.message().contains("dblink"), "{target}: {error:?}");
    }
    let reset = "RESET ROLE; RESET SESSION AUTHORIZATION; INSERT INTO who SELECT session_user || current_user || current_setting('is_superuser');";
    let made = "CREATE TABLE who (who text);";
    let expected = "fsbench_scriptfsbench_scriptoff";
    row(&mut superuser, &call("here", made, reset, expected));
    for statement in [
        "COPY (SELECT 1) TO PROGRAM 'id'",
        "SELECT pg_read_file('postgresql.conf')",
        "SET SESSION AUTHORIZATION postgres",
        "CREATE SUBSCRIPTION s CONNECTION 'dbname=postgres' PUBLICATION p",
    ] {
        let error = superuser
            .simple_query(&call("here", made, statement, ""))
            .expect_err(statement);
        let code = error.code().map(|code| code.code().to_owned());
        assert_eq!(code.as_deref(), Some("42501"), "{statement}: {error:?}");
    }
}

/// Figures of scripts come home from a server that was made for the run, and from another server.
pub fn transactions_come_home(server: &TestServer) {
    scripts_get_no_rights_by_a_connection(server);
    scripts_connect_as_the_asking_role_can(server);
    for target in ["here", "there"] {
        let run = server.value(&format!(
            "SELECT run_id FROM fsbench.run(target => '{target}', workload => 'script', clients => 2, transactions => 20, seed => 1, \
             init_script => 'CREATE TABLE t (a int); INSERT INTO t VALUES (1);', scripts => $$[{{\"name\": \"order\", \"text\": \"UPDATE t SET a = a + 1;\"}}, \
             {{\"name\": \"stock\", \"text\": \"SELECT a FROM t;\"}}]$$, checks => '[{{\"sql\": \"SELECT a > 1 FROM t\", \"expected\": true}}]')"
        ));
        let figures = format!(
            "SELECT string_agg(transaction, ' ' ORDER BY position), sum(committed), bool_and(fsbench._metric({run}, 'tps of ' || transaction) > 0), \
             (SELECT count(*) FROM fsbench.script_command c WHERE c.run_id = {run} AND c.text IS NOT NULL) FROM fsbench.transaction_result WHERE run_id = {run}"
        );
        let mut client = server.connect("postgres");
        assert_eq!(row(&mut client, &figures), "order stock|40|t|2", "{target}");
    }
}

/// After a crash the caller's checks are made as the role that has run the scripts, which is no superuser and cannot become one.
pub fn checks_are_made_after_a_crash(place: &Place) {
    let crashed = |checks: &str| {
        place.value(&format!(
            "SELECT run_id FROM fsbench.run('here', 'script', clients => 2, transactions => 20, warmup => '0', options => '{{\"crash\": true}}', \
             init_script => 'CREATE TABLE seen (client int);', scripts => 'INSERT INTO seen VALUES (:client_id);'{checks})"
        ))
    };
    let mut client = place.connect("postgres");
    let mut assert_of = |run: &str, columns: &[(&str, &str)]| {
        let from = format!(
            "FROM fsbench.recovery JOIN fsbench.run_log USING (run_id) WHERE run_id = {run}"
        );
        assert_columns(&mut client, &from, columns);
    };
    const FINDINGS: &str = "(SELECT string_agg(code, ' ') FROM fsbench.finding WHERE code IN ('lost_transactions', 'recovery_failed') AND finding.run_id = run_log.run_id)";
    const CHECKS: &str = "(SELECT string_agg(moment || ' ' || name || ' ' || coalesce(passed::text, '?'), ', ' ORDER BY position) \
         FROM fsbench.verification v WHERE v.run_id = run_log.run_id)";

    let run = crashed(
        r#", checks => '[{"name": "rows", "sql": "SELECT count(*) FROM seen", "expected": 40},
            {"name": "role", "sql": "SELECT session_user", "expected": "fsbench_script"},
            {"name": "reset", "sql": "RESET SESSION AUTHORIZATION; RESET ROLE; SELECT rolsuper FROM pg_roles WHERE rolname = current_user", "expected": false}]'"#,
    );
    assert_of(
        &run,
        &[
            ("balances_verified", "t"),
            ("problem IS NULL", "t"),
            ("first_transaction_ms > 0", "t"),
            ("transactions_found IS NULL", "t"),
            (CHECKS, "crash rows true, crash role true, crash reset true"),
            (&format!("{FINDINGS} IS NULL"), "t"),
        ],
    );

    // The first check that has failed decides; the error of another one is stored with it.
    let run = crashed(
        r#", checks => '[{"name": "rows", "sql": "SELECT count(*) FROM seen", "expected": 41}, {"name": "bad", "sql": "SELECT 1 FROM nothing", "expected": 1}]'"#,
    );
    assert_of(
        &run,
        &[
            ("balances_verified", "f"),
            (
                "problem",
                "After the run check \"rows\" expected \"41\", and found \"40\".",
            ),
            (CHECKS, "crash rows false, crash bad ?"),
            (FINDINGS, "lost_transactions"),
        ],
    );

    let run = crashed(
        r#", checks => '[{"name": "bad", "sql": "SELECT 1 / count(*) FROM seen WHERE client > 9", "expected": 1}]'"#,
    );
    assert_of(
        &run,
        &[
            ("balances_verified IS NULL", "t"),
            (
                "problem LIKE 'check \"bad\": division by zero: The query is %'",
                "t",
            ),
            (CHECKS, "crash bad ?"),
            (FINDINGS, "recovery_failed"),
        ],
    );

    // Without checks nothing is compared.
    let run = crashed("");
    assert_of(
        &run,
        &[
            ("balances_verified IS NULL AND problem IS NULL", "t"),
            ("recovery_ms > 0", "t"),
            (&format!("{FINDINGS} IS NULL AND {CHECKS} IS NULL"), "t"),
        ],
    );
}
