//! A database or the extension is dropped, or a database closed, under a run.

use crate::robustness::hold::{Phase, bring_to, bring_to_in, wait_for_lock};
use pgfsbench_tests::{Background, LONG, Leaves, TestServer, refusal, value, wait_until};

fn run_in(server: &TestServer, database: &str, phase: Phase, label: &str) -> Background {
    let statement = format!("SELECT * FROM fsbench.run({})", phase.arguments(label));
    server.background(database, &statement)
}

#[test]
fn a_database_dropped_under_a_run_ends_it() {
    let server = TestServer::with_extension(&[]);
    the_work_database_dropped_under_a_run_fails_it(&server);
    server.start_anew();
    the_home_database_dropped_under_a_run_ends_it(&server);
    server.start_anew();
    a_queued_run_whose_database_is_dropped_holds_nobody_up(&server);
}

fn the_work_database_dropped_under_a_run_fails_it(server: &TestServer) {
    for phase in [
        Phase::Load,
        Phase::Vacuum,
        Phase::Checkpoint,
        Phase::Warmup,
        Phase::Measure,
    ] {
        let what = format!("drop in {phase:?}");
        let (hold, caller) = bring_to(server, phase, || run_in(server, "postgres", phase, &what));
        let name =
            server.value("SELECT datname FROM pg_database WHERE datname LIKE 'fsbench_work%'");
        server.value(&format!("DROP DATABASE {name} WITH (FORCE)"));
        drop(hold);
        server.nothing_is_left(&what);
        let error = caller.join().expect_err("the caller's error");
        let ending = server
            .ending_where(&format!("label = '{}'", what))
            .expect("a row");
        assert_eq!(ending.status, "failed", "{what}: {ending:?}");
        // The row and the caller hear the same.
        let error = error.as_db_error().expect("an answer");
        let told = format!("{}; {}", error.code().code(), error.message());
        assert!(
            ending.reason.starts_with(&told),
            "{what}: {ending:?}, {told}"
        );
        server.a_run_works(&what);
    }
    server.every_slot_is_free();
}

fn a_queued_run_whose_database_is_dropped_holds_nobody_up(server: &TestServer) {
    let first = server.start_run(&Phase::Measure.arguments("first"));
    let mut client = server.connect("postgres");
    value(&mut client, "CREATE DATABASE other");
    let mut other = server.connect("other");
    value(&mut other, "CREATE EXTENSION pgfsbench");
    let start = format!(
        "SELECT fsbench.start({})",
        Phase::Measure.arguments("second")
    );
    value(&mut other, &start);
    drop(other);
    let from = server.log().len();
    wait_until("the database is dropped", LONG, || {
        client.batch_execute("DROP DATABASE other").ok()
    });
    assert_eq!(
        server.value(&format!("SELECT fsbench.cancel({first})")),
        "t"
    );
    wait_until("the next run is taken", LONG, || {
        client
            .batch_execute("SELECT fsbench.run(scale => 1, clients => 1, transactions => 1)")
            .ok()
    });
    let attempts = server.log()[from..].matches("FATAL:  database").count();
    assert!(attempts <= 3, "{}", server.log());
}

#[test]
fn the_extension_and_closed_databases_under_a_run() {
    let server = TestServer::with_extension(&[]);
    the_extension_is_not_dropped_and_its_tables_are_not_emptied_under_a_run(&server);
    server.start_anew();
    a_run_that_comes_while_the_extension_is_dropped_fails_and_the_next_one_is_made(&server);
    server.start_anew();
    clearing_up_in_a_closed_database_is_tried_until_there_were_five_failures(&server);
}

fn the_extension_is_not_dropped_and_its_tables_are_not_emptied_under_a_run(server: &TestServer) {
    let mut client = server.connect("postgres");
    for phase in [
        Phase::Load,
        Phase::Checkpoint,
        Phase::Measure,
        Phase::Collect,
    ] {
        let what = format!("DROP EXTENSION in {phase:?}");
        let (hold, caller) = bring_to(server, phase, || run_in(server, "postgres", phase, &what));
        let refused = refusal(&mut client, "DROP EXTENSION pgfsbench");
        assert_eq!(refused.code().code(), "55006", "{what}");
        server.value("SELECT bool_and(fsbench.cancel(run_id)) FROM fsbench.progress");
        drop(hold);
        let _ = caller.join();
        server.nothing_is_left(&what);
    }
    // Nor with what waits in the queue alone.
    let run = server.start_run(&Phase::Measure.arguments("first"));
    let queued = server.start_run(&Phase::Measure.arguments("queued"));
    server.wait_for_phase(Phase::Measure.name());
    for (sql, what) in [
        ("DROP EXTENSION pgfsbench CASCADE", "drop extension"),
        ("TRUNCATE fsbench.run_log CASCADE", "truncate tables"),
        ("TRUNCATE fsbench.finding", "truncate tables"),
    ] {
        let error = refusal(&mut client, sql);
        assert_eq!(error.code().code(), "55006", "{sql}: {error:?}");
        assert!(error.message().contains(what), "{sql}: {error:?}");
        let of = format!("of run {run}, {queued}.");
        assert!(
            error.detail().is_some_and(|detail| detail.ends_with(&of)),
            "{error:?}"
        );
        assert!(
            error
                .hint()
                .is_some_and(|hint| hint.contains("fsbench.cancel(run_id)"))
        );
    }
    let delete = format!("DELETE FROM fsbench.run_log WHERE run_id = {run}");
    assert_eq!(refusal(&mut client, &delete).code().code(), "55006");
    // Extensions of others may be dropped.
    client
        .batch_execute("CREATE TABLE mine (); TRUNCATE mine; DROP TABLE mine")
        .expect("somebody else's");
    server.value("SELECT bool_and(fsbench.cancel(run_id)) FROM fsbench.progress");
    server.nothing_is_left("refusals");
    client
        .batch_execute("TRUNCATE fsbench.run_log CASCADE; DROP EXTENSION pgfsbench; CREATE EXTENSION pgfsbench")
        .expect("nothing is on");
    server.a_run_works("another extension");
    server.every_slot_is_free();
}

fn a_run_that_comes_while_the_extension_is_dropped_fails_and_the_next_one_is_made(
    server: &TestServer,
) {
    let mut client = server.connect("postgres");
    client
        .batch_execute("BEGIN; DROP EXTENSION pgfsbench")
        .expect("nothing is on");
    let start = server.background(
        "postgres",
        &format!("SELECT fsbench.start({})", Phase::Measure.arguments("lost")),
    );
    wait_for_lock(server);
    client
        .batch_execute("COMMIT; CREATE EXTENSION pgfsbench")
        .expect("another extension");
    assert!(start.join().is_err());
    server.nothing_is_left("a lost run");
    server.a_run_works("a lost run");
    server.every_slot_is_free();
}

fn the_home_database_dropped_under_a_run_ends_it(server: &TestServer) {
    for phase in [Phase::Begin, Phase::Creating, Phase::Load, Phase::Measure] {
        let what = format!("home dropped in {phase:?}");
        eprintln!("{what}");
        server.value("CREATE DATABASE home");
        let mut home = server.connect("home");
        home.batch_execute("CREATE EXTENSION pgfsbench")
            .expect("CREATE EXTENSION");
        drop(home);
        let begin = || run_in(server, "home", phase, &what);
        let (hold, caller) = bring_to_in(server, "home", phase, begin);
        // Without FORCE it waits, and then refuses: the coordinator is connected.
        if phase == Phase::Measure {
            let refused = refusal(&mut server.connect("postgres"), "DROP DATABASE home");
            assert_eq!(refused.code().code(), "55006");
        }
        server.value("DROP DATABASE home WITH (FORCE)");
        drop(hold);
        server.nothing_is_left(&what);
        assert!(caller.join().is_err(), "{what}");
        server.a_run_works(&what);
    }
    server.every_slot_is_free();
}

fn clearing_up_in_a_closed_database_is_tried_until_there_were_five_failures(server: &TestServer) {
    server.value("CREATE DATABASE home");
    let mut home = server.connect("home");
    home.batch_execute("CREATE EXTENSION pgfsbench")
        .expect("CREATE EXTENSION");
    let begin = || run_in(server, "home", Phase::Measure, "closed");
    let (_, caller) = bring_to_in(server, "home", Phase::Measure, begin);
    server.value("ALTER DATABASE home ALLOW_CONNECTIONS false");
    server.value(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'fsbench coordinator'",
    );
    let error = caller.join().expect_err("the caller's error");
    let error = error.as_db_error().expect("an answer");
    assert_eq!(error.code().code(), "57P01", "{error:?}");
    assert_eq!(
        error.hint(),
        Some("It is tried again at the next start of the server.")
    );
    // The coordinator of the run was the first that failed.
    let refused = r#"database "home" is not currently accepting connections"#;
    assert_eq!(server.log().matches(refused).count(), 4);
    server.value("ALTER DATABASE home ALLOW_CONNECTIONS true");
    server.restart();
    server.nothing_is_left("cleared up at the next start");
    let status = "SELECT status || ' ' || error_code FROM fsbench.run_log";
    // Who clears up at a start knows only that nobody has ended it.
    let told = value(&mut server.connect("home"), status);
    assert_eq!(told, "failed 57P02");
    server.every_slot_is_free();
}
