//! A database or the extension is dropped under a run.

use crate::luck::bench::{Bench, value};
use crate::luck::hold::{Phase, bring_to};
use pgfsbench_tests::{Background, LONG, refusal};
use std::time::Instant;

fn run_in(bench: &Bench, database: &str, phase: Phase, label: &str) -> Background {
    let statement = format!("SELECT * FROM fsbench.run({})", phase.arguments(label));
    bench.server.background(database, &statement)
}

#[test]
fn the_work_database_dropped_under_a_run_fails_it() {
    let bench = Bench::start();
    for phase in [
        Phase::Load,
        Phase::Vacuum,
        Phase::Checkpoint,
        Phase::Warmup,
        Phase::Measure,
    ] {
        let what = format!("drop in {phase:?}");
        let (mut hold, caller) =
            bring_to(&bench, phase, || run_in(&bench, "postgres", phase, &what));
        let name =
            bench.value("SELECT datname FROM pg_database WHERE datname LIKE 'fsbench_work%'");
        // DROP DATABASE takes a checkpoint.
        hold.release();
        bench.value(&format!("DROP DATABASE {name} WITH (FORCE)"));
        bench.nothing_is_left(&what);
        let error = caller.join().expect_err("the caller's error");
        let ending = bench.ending(&what).expect("a row");
        assert_eq!(ending.status, "failed", "{what}: {ending:?}");
        // The row and the caller hear the same.
        let error = error.as_db_error().expect("an answer");
        let told = format!("{}; {}", error.code().code(), error.message());
        assert!(
            ending.reason.starts_with(&told),
            "{what}: {ending:?}, {told}"
        );
        bench.a_run_works(&what);
    }
    bench.every_slot_is_free();
}

#[test]
fn the_extension_is_not_dropped_and_its_tables_are_not_emptied_under_a_run() {
    let bench = Bench::start();
    let mut client = bench.server.connect("postgres");
    for phase in [
        Phase::Load,
        Phase::Checkpoint,
        Phase::Measure,
        Phase::Collect,
    ] {
        let what = format!("DROP EXTENSION in {phase:?}");
        let (mut hold, caller) =
            bring_to(&bench, phase, || run_in(&bench, "postgres", phase, &what));
        // It would wait for the lock that holds the run.
        let waits = bench
            .server
            .background("postgres", "DROP EXTENSION pgfsbench");
        hold.release();
        match waits.join() {
            // It may have come to its end before.
            Ok(_) if phase == Phase::Collect => bench.value("CREATE EXTENSION pgfsbench"),
            refused => {
                let error = refused.expect_err("a run is on");
                assert_eq!(
                    error.code().map(|code| code.code()),
                    Some("55006"),
                    "{what}"
                );
                String::new()
            }
        };
        for run in bench
            .value("SELECT string_agg(run_id::text, ',') FROM fsbench.progress")
            .split(',')
        {
            if !run.is_empty() {
                bench.value(&format!("SELECT fsbench.cancel({run})"));
            }
        }
        let _ = caller.join();
        bench.nothing_is_left(&what);
    }
    // Nor with what waits in the queue alone.
    let run = bench.run_started(&Phase::Measure.arguments("first"));
    let queued = bench.run_started(&Phase::Measure.arguments("queued"));
    bench.wait_for_phase(Phase::Measure);
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
    // What is somebody else's may go.
    client
        .batch_execute("CREATE TABLE mine (); TRUNCATE mine; DROP TABLE mine")
        .expect("somebody else's");
    bench.value("SELECT bool_and(fsbench.cancel(run_id)) FROM fsbench.progress");
    bench.nothing_is_left("refusals");
    client
        .batch_execute("TRUNCATE fsbench.run_log CASCADE; DROP EXTENSION pgfsbench; CREATE EXTENSION pgfsbench")
        .expect("nothing is on");
    bench.a_run_works("another extension");
    bench.every_slot_is_free();
}

#[test]
fn a_run_that_comes_while_the_extension_is_dropped_fails_and_the_next_one_is_made() {
    let bench = Bench::start();
    let mut client = bench.server.connect("postgres");
    client
        .batch_execute("BEGIN; DROP EXTENSION pgfsbench")
        .expect("nothing is on");
    let start = bench.server.background(
        "postgres",
        &format!("SELECT fsbench.start({})", Phase::Measure.arguments("lost")),
    );
    crate::luck::hold::wait_for_lock(&bench);
    client
        .batch_execute("COMMIT; CREATE EXTENSION pgfsbench")
        .expect("another extension");
    assert!(start.join().is_err());
    bench.nothing_is_left("a lost run");
    bench.a_run_works("a lost run");
    bench.every_slot_is_free();
}

#[test]
fn the_home_database_dropped_under_a_run_ends_it() {
    let bench = Bench::start();
    for phase in [Phase::Begin, Phase::Creating, Phase::Load, Phase::Measure] {
        let what = format!("home dropped in {phase:?}");
        eprintln!("{what}");
        bench.value("CREATE DATABASE home");
        let mut home = bench.server.connect("home");
        home.batch_execute("CREATE EXTENSION pgfsbench")
            .expect("CREATE EXTENSION");
        let mut lock = None;
        let caller = if phase == Phase::Begin {
            let mut session = bench.server.connect("home");
            session
                .batch_execute("BEGIN; LOCK TABLE fsbench.run_log IN EXCLUSIVE MODE")
                .expect("LOCK");
            lock = Some(session);
            let caller = run_in(&bench, "home", phase, &what);
            crate::luck::hold::wait_for_lock(&bench);
            caller
        } else {
            let caller = run_in(&bench, "home", phase, &what);
            let began = Instant::now();
            while value(
                &mut home,
                "SELECT string_agg(phase, ',') FROM fsbench.progress",
            ) != phase.name()
            {
                assert!(began.elapsed() < LONG, "{what}: never");
            }
            caller
        };
        drop(home);
        // Without FORCE it waits, and then refuses: the coordinator is connected.
        if phase == Phase::Measure {
            let refused = refusal(&mut bench.server.connect("postgres"), "DROP DATABASE home");
            assert_eq!(refused.code().code(), "55006");
        }
        bench.value("DROP DATABASE home WITH (FORCE)");
        drop(lock);
        bench.nothing_is_left(&what);
        assert!(caller.join().is_err(), "{what}");
        bench.a_run_works(&what);
    }
    bench.every_slot_is_free();
}
