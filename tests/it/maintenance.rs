//! Steps of maintenance after a run: what they take room for is asked before, and whoever ends the run in one of them, nothing is
//! left.

use crate::common::assert_refused;
use crate::luck::bench::{Bench, value};
use pgfsbench_tests::{LONG, LoopFs, Signal, Stop, skip};

const RUN: &str =
    r#"scale => 3, clients => 2, transactions => 50, options => '{"maintenance": true}'"#;

/// Brings a run to a step, which cannot end before the checkpointer goes on: it is stopped. Gives the run and the checkpointer.
fn bring_to(bench: &Bench, steps_done: u32) -> (String, i32) {
    let run = bench.run_started(RUN);
    let mut client = bench.server.connect("postgres");
    let began = std::time::Instant::now();
    let reached = |client: &mut _, condition: &str| {
        let sql =
            format!("SELECT bool_and(phase = 'maintenance' AND {condition}) FROM fsbench.progress");
        value(client, &sql) == "t"
    };
    // Not `wait_until`: some steps last a few hundredths of a second.
    while !reached(&mut client, "true") {
        assert!(began.elapsed() < LONG, "no maintenance");
    }
    let checkpointer = bench.pid_of("checkpointer");
    bench.server.hold(checkpointer);
    while !reached(&mut client, &format!("done >= {steps_done}")) {
        assert!(began.elapsed() < LONG, "no step {steps_done}");
    }
    (run, checkpointer)
}

#[test]
fn whoever_ends_a_run_in_a_step_leaves_nothing() {
    let bench = Bench::start();
    for done in 0..4_u32 {
        let further = [
            ("terminate the coordinator", "failed 57P01"),
            ("terminate the worker", "failed 57P01; worker failed"),
            ("immediate stop", "failed 57P02"),
        ][done as usize % 3];
        for (how, wanted) in [
            ("cancel", "cancelled 57014"),
            ("kill -9 the worker", "failed 57P02"),
            further,
        ] {
            eprintln!("{how} after {done} steps");
            let (run, checkpointer) = bring_to(&bench, done);
            let server = &bench.server;
            let go_on = || server.signal(checkpointer, Signal::CONT);
            match how {
                "cancel" => {
                    assert_eq!(bench.value(&format!("SELECT fsbench.cancel({run})")), "t");
                    go_on();
                }
                "terminate the coordinator" => {
                    server.terminate(bench.pid_of("fsbench coordinator"));
                    go_on();
                }
                "terminate the worker" => {
                    server.terminate(bench.pid_of("fsbench worker"));
                    go_on();
                }
                "kill -9 the worker" => {
                    let worker = bench.pid_of("fsbench worker");
                    go_on();
                    server.crash(worker);
                }
                _ => {
                    go_on();
                    server.stop(Stop::Immediate);
                    server.start_again();
                }
            }
            bench.nothing_is_left(how);
            let ended = bench.ending_of(&run);
            assert!(
                ended.starts_with(wanted),
                "{how} after {done} steps: {ended}"
            );
            let rows = format!("SELECT count(*) FROM fsbench.maintenance WHERE run_id = {run}");
            assert_eq!(bench.value(&rows), "0");
        }
    }
    bench.a_run_works("maintenance");
    assert!(!bench.server.log().contains("PANIC"), "a PANIC");
}

#[test]
fn transaction_ids_of_the_steps_are_not_the_workloads() {
    // Nobody else takes any.
    let bench = Bench::start_with(&[("autovacuum", "off")]);
    let used = [r#"{"maintenance": true}"#, "{}"].map(|options| {
        let run = bench.value(&format!(
            "SELECT run_id FROM fsbench.run(scale => 1, clients => 1, transactions => 50, seed => 3, options => '{options}')"
        ));
        bench.value(&format!(
            "SELECT xids_used FROM fsbench.run_log WHERE run_id = {run}"
        ))
    });
    assert_eq!(used[0], used[1]);
    assert!(used[0].parse().is_ok_and(|n: u64| n >= 50), "{used:?}");
}

#[test]
fn a_target_has_its_maintenance_brought_home() {
    let bench = Bench::start();
    let directory = crate::common::owned_directory("pgfsbench-target.");
    bench.value(&format!(
        "SELECT fsbench.create_target('here', directory => '{}')",
        directory.path().display()
    ));
    // Loaded once and copied; the table beside is loaded there.
    let run = bench.value(&format!(
        "SELECT run_id FROM fsbench.run(target => 'here', {RUN})"
    ));
    let steps = format!(
        "SELECT string_agg(step, ' ' ORDER BY position) || bool_and(ms > 0) FROM fsbench.maintenance WHERE run_id = {run}"
    );
    assert_eq!(
        bench.value(&steps),
        "bulk_load index_build vacuum checkpointtrue"
    );
    let phases = format!(
        "SELECT count(*) FROM fsbench.run_log, jsonb_array_elements(phases) p WHERE run_id = {run} AND p->>'phase' = 'maintenance'"
    );
    assert_eq!(bench.value(&phases), "1");
    bench.nothing_is_left("maintenance on a target");
}

#[test]
fn room_for_maintenance_is_asked_before() {
    let name = "room_for_maintenance_is_asked_before";
    let fs = match LoopFs::ext4(300) {
        Ok(fs) => fs,
        Err(reason) => return skip(name, &reason),
    };
    let settings = [
        ("pgfsbench.reserved_space", "32MB"),
        ("max_wal_size", "64MB"),
        ("min_wal_size", "32MB"),
    ];
    let server = crate::common::server_in(&fs.path(), None, &settings);
    let mut client = server.connect("postgres");
    let run = |options: &str| {
        format!(
            "SELECT fsbench.start(scale => 4, clients => 1, transactions => 1, options => '{options}')"
        )
    };
    assert_refused(
        &mut client,
        &run(r#"{"maintenance": true}"#),
        "53100",
        &["not enough room"],
    );
    let id = value(&mut client, &run("{}"));
    assert!(crate::common::ending(&mut client, &id).starts_with("done"));
}
