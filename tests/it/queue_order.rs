//! Runs that wait for their turn: in one queue over all databases, by what their rows said when they were asked for.

use crate::common::{
    QUICK, assert_ended, assert_refused, execute, owned_directory, row, rows, run,
};
use pgfsbench_tests::{LONG, TestServer, assert_columns, ending};
use postgres::Client;

const LONG_RUN: &str = "scale => 1, clients => 1, duration => '5 min', warmup => '0', rate => 10";

/// Starts a run, and gives its id.
fn start(client: &mut Client, arguments: &str) -> String {
    row(client, &format!("SELECT fsbench.start({arguments})"))
}

fn cancel(client: &mut Client, run: &str) {
    assert_eq!(row(client, &format!("SELECT fsbench.cancel({run})")), "t");
}

/// A run that keeps the others waiting.
fn busy(server: &TestServer) -> (Client, String) {
    let mut client = server.connect("postgres");
    let long = start(&mut client, LONG_RUN);
    (client, long)
}

#[test]
fn the_queue_has_one_order_in_all_databases() {
    let server = TestServer::with_extension(&[]);
    the_order_is_that_of_asking_in_whatever_database(&server);
    server.start_anew();
    a_run_waits_its_turn_when_it_is_asked_to(&server);
    server.start_anew();
    rows_of_a_dump_are_no_runs(&server);
}

fn the_order_is_that_of_asking_in_whatever_database(server: &TestServer) {
    let (mut first, long) = busy(server);
    execute(&mut first, "CREATE DATABASE second");
    let mut second = server.connect("second");
    execute(&mut second, "CREATE EXTENSION pgfsbench");
    let mut asked = Vec::new();
    for _ in 0..2 {
        let run = start(&mut second, QUICK);
        asked.push(format!("second {run}"));
        let run = start(&mut first, QUICK);
        asked.push(format!("postgres {run}"));
    }
    let waiting =
        "SELECT runs_before FROM fsbench.progress WHERE status = 'queued' ORDER BY run_id";
    assert_eq!(rows(&mut second, waiting), ["1", "3"]);
    assert_eq!(rows(&mut first, waiting), ["2", "4"]);
    cancel(&mut first, &long);
    let mut made = Vec::new();
    for client in [&mut first, &mut second] {
        execute(
            client,
            "DO $$ BEGIN WHILE EXISTS (SELECT FROM fsbench.progress) LOOP PERFORM pg_sleep(0.05); END LOOP; END $$",
        );
        made.extend(rows(
            client,
            "SELECT started_at, current_database() || ' ' || run_id FROM fsbench.run_log WHERE status = 'done'",
        ));
    }
    made.sort();
    let made: Vec<&str> = made
        .iter()
        .filter_map(|made| made.split('|').next_back())
        .collect();
    assert_eq!(made, asked);
}

fn a_run_waits_its_turn_when_it_is_asked_to(server: &TestServer) {
    let (mut client, long) = busy(server);
    let asks = |turn: bool| {
        format!(
            "SELECT run_id, tps > 0 FROM fsbench.run({QUICK}, options => '{{\"wait_turn\": {turn}}}')"
        )
    };
    assert_refused(
        &mut client,
        &asks(false),
        "55000",
        &["another benchmark run is in progress", "wait_turn"],
    );
    let waits = server.background("postgres", &asks(true));
    let queued =
        "SELECT count(*) = 1 FROM fsbench.progress WHERE status = 'queued' AND runs_before = 1";
    server.wait_for("postgres", queued, LONG);
    // Somebody's own comes after it.
    let stray = start(&mut client, QUICK);
    // One that is cancelled while it waits.
    let gives_up = server.background("postgres", &asks(true));
    let queued = "SELECT count(*) = 3 FROM fsbench.progress WHERE status = 'queued'";
    server.wait_for("postgres", queued, LONG);
    gives_up.cancel();
    assert!(gives_up.join().is_err());
    // And one that somebody else cancels.
    let cancelled = server.background("postgres", &asks(true));
    let latest = "SELECT max(run_id) = 5 FROM fsbench.progress WHERE status = 'queued'";
    server.wait_for("postgres", latest, LONG);
    cancel(&mut client, "5");
    let error = cancelled.join().expect_err("it was cancelled");
    assert_eq!(error.code().map(|code| code.code()), Some("57014"));
    cancel(&mut client, &long);
    assert!(waits.join().is_ok());
    assert_eq!(ending(&mut client, &stray), "done");
    assert_eq!(
        rows(
            &mut client,
            "SELECT status, used->'options'->'wait_turn' FROM fsbench.run_log ORDER BY run_id"
        ),
        [
            "cancelled|",
            "done|true",
            "done|",
            "cancelled|true",
            "cancelled|true"
        ]
    );
}

#[test]
fn what_a_queued_run_was_asked_for_is_looked_at_again() {
    let server = TestServer::with_extension(&[]);
    a_row_that_was_changed_while_it_was_queued_is_not_carried_out(&server);
    server.start_anew();
    rights_are_looked_at_again_when_the_turn_comes(&server);
    server.start_anew();
    a_target_that_a_queued_run_waits_for_stays(&server);
    server.start_anew();
    an_error_of_any_length_reaches_the_caller_with_its_sqlstate(&server);
}

fn a_row_that_was_changed_while_it_was_queued_is_not_carried_out(server: &TestServer) {
    let (mut client, long) = busy(server);
    let changed = start(&mut client, QUICK);
    let gone = start(&mut client, QUICK);
    let as_it_was = start(&mut client, QUICK);
    for sql in [
        format!(
            "UPDATE fsbench.run_log SET used = used || '{{\"force\": true}}' WHERE run_id = {changed}"
        ),
        format!("DELETE FROM fsbench.run_log WHERE run_id = {gone}"),
        // A column that is no part of it.
        format!("UPDATE fsbench.run_log SET label = 'mine' WHERE run_id = {as_it_was}"),
    ] {
        execute(&mut client, &sql);
    }
    cancel(&mut client, &long);
    assert_eq!(ending(&mut client, &as_it_was), "done");
    assert_ended(
        &mut client,
        &changed,
        &format!("failed 55000; the row of run {changed} was changed while it was queued"),
    );
    assert_refused(
        &mut client,
        &format!("SELECT * FROM fsbench.wait({gone})"),
        "22023",
        &["does not exist"],
    );
}

fn rights_are_looked_at_again_when_the_turn_comes(server: &TestServer) {
    let (mut client, long) = busy(server);
    for sql in [
        "CREATE ROLE gone",
        "CREATE ROLE revoked",
        "CREATE ROLE sets",
        "SELECT fsbench.grant_operator(r) FROM unnest('{gone,revoked,sets}'::regrole[]) r",
        "GRANT SET ON PARAMETER track_functions TO sets",
    ] {
        execute(&mut client, sql);
    }
    let mut started = Vec::new();
    for role in ["gone", "revoked", "sets"] {
        execute(&mut client, &format!("SET ROLE {role}"));
        let settings = match role {
            "sets" => r#", settings => '{"track_functions": "all"}'"#,
            _ => "",
        };
        started.push(start(&mut client, &format!("{QUICK}{settings}")));
        execute(&mut client, "RESET ROLE");
    }
    for sql in [
        "SELECT fsbench.revoke_operator('gone')",
        "DROP ROLE gone",
        "SELECT fsbench.revoke_operator('revoked')",
        "REVOKE SET ON PARAMETER track_functions FROM sets",
    ] {
        execute(&mut client, sql);
    }
    let fine = start(&mut client, QUICK);
    cancel(&mut client, &long);
    assert_eq!(ending(&mut client, &fine), "done");
    let reasons = [
        "failed 42501; the role that asked for the run was dropped",
        "failed 42501; role \"revoked\" may not make runs any more",
        "failed 42501; permission denied to set parameter \"track_functions\"",
    ];
    assert_eq!(started.len(), reasons.len());
    for (run, reason) in started.iter().zip(reasons) {
        assert_ended(&mut client, run, reason);
    }
}

fn a_target_that_a_queued_run_waits_for_stays(server: &TestServer) {
    let (mut client, long) = busy(server);
    let directory = owned_directory("pgfsbench-turn");
    let path = directory.path().display();
    execute(
        &mut client,
        &format!("SELECT fsbench.create_target('there', directory => '{path}')"),
    );
    let run = start(&mut client, &format!("{QUICK}, target => 'there'"));
    for change in [
        "drop_target('there')",
        "alter_target('there', settings => '{}')",
    ] {
        assert_refused(
            &mut client,
            &format!("SELECT fsbench.{change}"),
            "55006",
            &[
                "target \"there\" is in use",
                &format!("Run {run} is on it, or waits for it."),
            ],
        );
    }
    cancel(&mut client, &run);
    assert_ended(&mut client, &run, "cancelled 57014; the run was canceled");
    assert_eq!(
        row(&mut client, "SELECT fsbench.drop_target('there')"),
        "there"
    );
    cancel(&mut client, &long);
}

fn rows_of_a_dump_are_no_runs(server: &TestServer) {
    let (mut client, long) = busy(server);
    let queued = start(&mut client, QUICK);
    // Rows as a dump would bring them.
    execute(
        &mut client,
        "CREATE TEMPORARY TABLE dump AS SELECT * FROM fsbench.run_log; UPDATE dump SET run_id = run_id + 100; \
         INSERT INTO fsbench.run_log SELECT * FROM dump",
    );
    let copied = |run: &str| run.parse::<i64>().expect("a number") + 100;
    for (run, was) in [(&long, "running"), (&queued, "queued")] {
        let copied = copied(run);
        assert_columns(
            &mut client,
            &format!("FROM fsbench.run_log WHERE run_id = {copied}"),
            &[
                ("status", "failed"),
                ("error_code", "55000"),
                (
                    "error",
                    &format!("the run was {was} when its row was copied"),
                ),
            ],
        );
        assert_refused(
            &mut client,
            &format!("SELECT * FROM fsbench.wait({copied})"),
            "55000",
            &["when its row was copied", "comes from a dump"],
        );
        assert_eq!(
            row(&mut client, &format!("SELECT fsbench.cancel({copied})")),
            "f"
        );
    }
    let runs = "SELECT string_agg(status, ' ' ORDER BY run_id) FROM fsbench.progress";
    assert_eq!(row(&mut client, runs), "running queued");
    cancel(&mut client, &long);
    assert_eq!(ending(&mut client, &queued), "done");
}

/// A message of a program or a server can be of any length and in any script: it reaches the caller, shortened.
fn an_error_of_any_length_reaches_the_caller_with_its_sqlstate(server: &TestServer) {
    let mut client = server.connect("postgres");
    execute(
        &mut client,
        "CREATE FUNCTION public.talk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
           RAISE EXCEPTION USING ERRCODE = '22012', MESSAGE = repeat('größe \"x\" \\ ', 20000), \
             DETAIL = repeat(E'日本\\n\\t', 20000), HINT = repeat('😀 ', 20000); END $$; \
         CREATE TRIGGER talk BEFORE INSERT ON fsbench.environment EXECUTE FUNCTION public.talk()",
    );
    assert_refused(
        &mut client,
        &format!("SELECT * FROM fsbench.run({QUICK})"),
        "22012",
        &["größe \"x\"", "DETAIL: 日本", "HINT: 😀"],
    );
    assert_columns(
        &mut client,
        "FROM fsbench.run_log",
        &[
            ("status", "failed"),
            ("left(error, 5)", "größe"),
            ("left(error_hint, 1)", "😀"),
        ],
    );
    execute(&mut client, "DROP TRIGGER talk ON fsbench.environment");
    run(&mut client, QUICK);
}
