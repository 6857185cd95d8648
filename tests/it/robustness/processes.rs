//! pg_terminate_backend and pg_cancel_backend of each process of a run.

use crate::robustness::hold::{Phase, bring_to};
use pgfsbench_tests::{LONG, Leaves, TestServer, wait_until};

/// Process, phase in which it is hit, and what the run's row then says when it is terminated and when it is cancelled.
const CASES: [(&str, Phase, &str, &str); 6] = [
    (
        "client",
        Phase::Measure,
        "failed 57P01; client % failed: the process was terminated; Somebody called pg_terminate_backend(), %",
        "failed 57P01; client % failed: canceling statement due to user request",
    ),
    (
        "client",
        Phase::Warmup,
        "failed 57P01; client % failed: the process was terminated; Somebody called pg_terminate_backend(), %",
        "failed 57P01; client % failed: canceling statement due to user request",
    ),
    (
        "sampler",
        Phase::Measure,
        "failed 57P01; sampler failed: the process was terminated; Somebody called pg_terminate_backend(), %",
        "cancelled 57014; the run was canceled; Somebody called pg_cancel_backend() for one of its processes.",
    ),
    (
        "worker",
        Phase::Load,
        "failed 57P01; worker failed: the process was terminated; Somebody called pg_terminate_backend(), %",
        "cancelled 57014; the run was canceled; Somebody called pg_cancel_backend() for one of its processes.",
    ),
    (
        "worker",
        Phase::Checkpoint,
        "failed 57P01; worker failed: the process was terminated; Somebody called pg_terminate_backend(), %",
        "cancelled 57014; the run was canceled; Somebody called pg_cancel_backend() for one of its processes.",
    ),
    (
        "coordinator",
        Phase::Measure,
        "failed 57P01; the coordinator of the run was terminated; %",
        "cancelled 57014; the run was canceled; Somebody called pg_cancel_backend() for one of its processes.",
    ),
];

fn hit_each(function: &str, expected: impl Fn(usize) -> &'static str) {
    let server = TestServer::with_extension(&[]);
    for (i, (role, phase, ..)) in CASES.iter().enumerate() {
        let what = format!("{function} of {role} in {phase:?}");
        eprintln!("{what}");
        // The load has to last until somebody has come to cancel it.
        let arguments = phase.arguments(&what).replace("scale => 10", "scale => 30");
        let (mut hold, caller) = bring_to(&server, *phase, || {
            server.background(
                "postgres",
                &format!("SELECT * FROM fsbench.run({arguments})"),
            )
        });
        if *role == "worker" {
            // From here on it reports what hits it.
            server.wait_for(
                "postgres",
                "SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'fsbench worker' \
                 AND query = 'pgfsbench worker'",
                LONG,
            );
        }
        let hit = server.value(&format!(
            "SELECT {function}(min(pid)) FROM pg_stat_activity WHERE backend_type = 'fsbench {role}'"
        ));
        assert_eq!(hit, "t", "{what}");
        hold.release();
        server.nothing_is_left(&what);
        assert!(caller.join().is_err(), "{what}: the caller got a result");
        let ending = server
            .ending_where(&format!("label = '{}'", what))
            .expect("the run has a row");
        let found = format!("{} {}", ending.status, ending.reason);
        let like = server.value(&format!("SELECT $_${found}$_$ LIKE $_${}$_$", expected(i)));
        assert_eq!(like, "t", "{what}: {found}");
        server.a_run_works(&what);
    }
    server.every_slot_is_free();
}

#[test]
fn a_run_whose_process_is_terminated_fails_and_says_which() {
    hit_each("pg_terminate_backend", |i| CASES[i].2);
}

#[test]
fn a_run_whose_process_is_cancelled_ends_and_says_so() {
    hit_each("pg_cancel_backend", |i| CASES[i].3);
}

#[test]
fn a_process_that_is_killed_restarts_the_server_and_leaves_nothing() {
    let server = TestServer::with_extension(&[]);
    for (role, phase) in [
        ("client", Phase::Measure),
        ("sampler", Phase::Measure),
        ("worker", Phase::Load),
        ("janitor", Phase::Measure),
    ] {
        let what = format!("kill -9 of {role}");
        let (_hold, caller) = bring_to(&server, phase, || {
            let arguments = phase.arguments(&what).replace("scale => 10", "scale => 30");
            server.background(
                "postgres",
                &format!("SELECT * FROM fsbench.run({arguments})"),
            )
        });
        server.crash(server.pid_of(&format!("fsbench {role}")));
        server.nothing_is_left(&what);
        assert!(caller.join().is_err());
        let ending = server
            .ending_where(&format!("label = '{}'", what))
            .expect("the run has a row");
        assert_eq!(ending.status, "failed");
        assert!(ending.reason.starts_with("57P02; "), "{ending:?}");
        server.a_run_works(&what);
    }
}

#[test]
fn a_cancelled_janitor_stays_and_a_terminated_one_comes_back() {
    let server = TestServer::with_extension(&[]);
    let janitor = server.pid_of("fsbench janitor");
    server.value(&format!("SELECT pg_cancel_backend({janitor})"));
    server.a_run_works("pg_cancel_backend of the janitor");
    assert_eq!(server.pid_of("fsbench janitor"), janitor);
    server.value(&format!("SELECT pg_terminate_backend({janitor})"));
    // At once, so that there may be no janitor.
    server.a_run_works("pg_terminate_backend of the janitor");
    wait_until("another janitor", LONG, || {
        (server.pid_of("fsbench janitor") != janitor).then_some(())
    });
    server.nothing_is_left("a janitor's end");
}
