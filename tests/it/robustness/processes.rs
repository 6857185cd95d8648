//! pg_terminate_backend and pg_cancel_backend of each process of a run.

use crate::robustness::hold::{Phase, bring_to, take_back};
use pgfsbench_tests::{LONG, Leaves, TestServer, value, wait_until};
use postgres::Client;

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

/// Calls this for a process of a run. False if a worker had done its part of the load by then: nothing keeps it at that.
fn is_hit(server: &TestServer, function: &str, role: &str, phase: Phase) -> bool {
    let mut client = server.connect("postgres");
    if role == "worker" {
        // From here on it reports what hits it.
        let is_there = "SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'fsbench worker' AND query = 'pgfsbench worker'";
        let is_in_time = wait_until("a worker", LONG, || {
            let is_there = value(&mut client, is_there) == "t";
            (is_there || !is_in(&mut client, phase)).then_some(is_there)
        });
        if !is_in_time {
            return false;
        }
    }
    let hit = format!(
        "SELECT {function}(min(pid)) FROM pg_stat_activity WHERE backend_type = 'fsbench {role}'"
    );
    if value(&mut client, &hit) != "t" {
        return false;
    }
    phase != Phase::Load
        || wait_until("the run ends or goes on", LONG, || {
            let is_over = "SELECT count(*) FROM fsbench.progress";
            let is_over = value(&mut client, is_over) == "0";
            (is_over || is_in(&mut client, Phase::Measure)).then_some(is_over)
        })
}

fn is_in(client: &mut Client, phase: Phase) -> bool {
    let is_in = format!(
        "SELECT count(*) FROM fsbench.progress WHERE phase = '{}'",
        phase.name()
    );
    value(client, &is_in) == "1"
}

fn hit_each(server: &TestServer, function: &str, expected: impl Fn(usize) -> &'static str) {
    for (i, (role, phase, ..)) in CASES.iter().enumerate() {
        let what = format!("{function} of {role} in {phase:?}");
        eprintln!("{what}");
        // The load has to last until somebody has come to cancel it.
        let arguments = phase.arguments(&what).replace("scale => 10", "scale => 30");
        let begin = || {
            server.background(
                "postgres",
                &format!("SELECT * FROM fsbench.run({arguments})"),
            )
        };
        let caller = loop {
            let (mut hold, caller) = bring_to(server, *phase, begin);
            let is_hit = is_hit(server, function, role, *phase);
            hold.release();
            if is_hit {
                break caller;
            }
            assert_eq!(*role, "worker", "{what}");
            take_back(server, caller);
        };
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
        let begin = || {
            let arguments = phase.arguments(&what).replace("scale => 10", "scale => 30");
            server.background(
                "postgres",
                &format!("SELECT * FROM fsbench.run({arguments})"),
            )
        };
        let pid =
            format!("SELECT min(pid) FROM pg_stat_activity WHERE backend_type = 'fsbench {role}'");
        // A worker may have done its part of the load before it is met.
        let caller = loop {
            let (_hold, caller) = bring_to(server, phase, begin);
            let mut client = server.connect("postgres");
            let pid = wait_until("the process", LONG, || {
                let pid: Option<i32> = value(&mut client, &pid).parse().ok();
                (pid.is_some() || !is_in(&mut client, phase)).then_some(pid)
            });
            if pid.is_some_and(|pid| server.is_crashed_by(pid)) {
                break caller;
            }
            assert_eq!(role, "worker");
            take_back(server, caller);
        };
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
