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
fn the_extension_dropped_under_a_run_ends_it() {
    let bench = Bench::start();
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
        hold.release();
        bench.value("DROP EXTENSION pgfsbench");
        let answer = caller.join();
        // It may have come to its end before.
        if phase != Phase::Collect || answer.is_err() {
            let error = answer.expect_err("the caller's error");
            let error = error.as_db_error().expect("an answer");
            assert_eq!(error.code().code(), "55000", "{what}: {error:?}");
            assert_eq!(
                error.message(),
                "extension \"pgfsbench\" was dropped during the run"
            );
        }
        bench.value("CREATE EXTENSION pgfsbench");
        bench.nothing_is_left(&what);
        bench.a_run_works(&what);
    }
    // And made again at once, with a queue of runs that the new one does not know.
    for _ in 0..3 {
        bench.run_started(&Phase::Measure.arguments("lost"));
    }
    bench.wait_for_phase(Phase::Measure);
    bench
        .server
        .connect("postgres")
        .batch_execute("DROP EXTENSION pgfsbench; CREATE EXTENSION pgfsbench")
        .expect("another extension");
    // Of the same number as one that was queued before.
    let new = bench
        .run_started("scale => 1, clients => 1, transactions => 7, warmup => '0', label => 'new'");
    bench.value(&format!("SELECT run_id FROM fsbench.wait({new})"));
    bench.nothing_is_left("another extension");
    let rows = bench.value(
        "SELECT string_agg(concat_ws(' ', run_id, status, label, transactions_total), ', ') FROM fsbench.run_log",
    );
    assert_eq!(rows, "1 done new 7");
    bench.a_run_works("another extension");
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
