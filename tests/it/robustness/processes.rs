//! pg_terminate_backend and pg_cancel_backend of each process of a run.

use crate::robustness::hold::{Phase, bring_to};
use pgfsbench_tests::{Background, LONG, Leaves, TestServer, wait_until};

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

fn begin(server: &TestServer, phase: Phase, label: &str) -> Background {
    let arguments = phase.arguments(label);
    server.background(
        "postgres",
        &format!("SELECT * FROM fsbench.run({arguments})"),
    )
}

fn hit_each(server: &TestServer, function: &str, expected: impl Fn(usize) -> &'static str) {
    for (i, (role, phase, ..)) in CASES.iter().enumerate() {
        let what = format!("{function} of {role} in {phase:?}");
        eprintln!("{what}");
        let (hold, caller) = bring_to(server, *phase, || begin(server, *phase, &what));
        let pid = server.pid_of(&format!("fsbench {role}"));
        assert_eq!(server.value(&format!("SELECT {function}({pid})")), "t");
        drop(hold);
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
fn a_run_whose_process_is_terminated_or_cancelled_says_which() {
    let server = TestServer::with_extension(&[]);
    a_run_whose_process_is_terminated_fails_and_says_which(&server);
    server.start_anew();
    a_run_whose_process_is_cancelled_ends_and_says_so(&server);
}

fn a_run_whose_process_is_terminated_fails_and_says_which(server: &TestServer) {
    hit_each(server, "pg_terminate_backend", |i| CASES[i].2);
}

fn a_run_whose_process_is_cancelled_ends_and_says_so(server: &TestServer) {
    hit_each(server, "pg_cancel_backend", |i| CASES[i].3);
}

#[test]
fn a_process_that_is_killed_or_a_janitor_that_ends_leaves_nothing() {
    let server = TestServer::with_extension(&[]);
    a_process_that_is_killed_restarts_the_server_and_leaves_nothing(&server);
    server.start_anew();
    a_cancelled_janitor_stays_and_a_terminated_one_comes_back(&server);
}

fn a_process_that_is_killed_restarts_the_server_and_leaves_nothing(server: &TestServer) {
    for (role, phase) in [
        ("client", Phase::Measure),
        ("sampler", Phase::Measure),
        ("worker", Phase::Load),
        ("janitor", Phase::Measure),
    ] {
        let what = format!("kill -9 of {role}");
        let (_hold, caller) = bring_to(server, phase, || begin(server, phase, &what));
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

fn a_cancelled_janitor_stays_and_a_terminated_one_comes_back(server: &TestServer) {
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
