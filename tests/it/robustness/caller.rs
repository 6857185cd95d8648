//! The session that waits for a run ends before it: by its timeout, or because its client is gone.

use crate::robustness::hold::{Phase, bring_to};
use pgfsbench_tests::{LONG, Leaves, TestServer, wait_until};
use std::process::Stdio;

#[test]
fn a_run_ends_with_its_caller() {
    let server = TestServer::with_extension(&[]);
    a_statement_timeout_cancels_the_run(&server);
    server.start_anew();
    a_run_is_cancelled_when_the_client_that_waits_for_it_is_killed(&server);
}

/// The length is by transactions, so that nobody can know that the timeout comes before the end.
fn a_statement_timeout_cancels_the_run(server: &TestServer) {
    let mut client = server.connect("postgres");
    // On a machine that is slow a run may not even have a row when the first one strikes.
    let ending = [4, 20, 100].into_iter().find_map(|seconds| {
        let run = format!(
            "SET statement_timeout = '{seconds} s'; \
             SELECT * FROM fsbench.run(scale => 1, clients => 1, transactions => 100000, rate => 10, warmup => '0', label => 'timeout')"
        );
        let error = client.simple_query(&run).expect_err("the timeout");
        let error = error.as_db_error().expect("an answer");
        assert_eq!(error.code().code(), "57014");
        assert_eq!(
            error.message(),
            "canceling statement due to statement timeout"
        );
        server.nothing_is_left("a statement timeout");
        server.ending_where("label = 'timeout'")
    });
    let ending = ending.expect("a row");
    assert_eq!(ending.status, "cancelled");
    assert_eq!(
        ending.reason,
        "57014; the run was canceled; It was canceled because the waiting statement was canceled or timed out."
    );
    client
        .batch_execute("SET statement_timeout = 0")
        .expect("SET");
    // The session is as good as before.
    client
        .simple_query(
            "SELECT * FROM fsbench.run(scale => 1, clients => 1, transactions => 5, warmup => '0')",
        )
        .expect("the next run");
    server.every_slot_is_free();
}

fn a_run_is_cancelled_when_the_client_that_waits_for_it_is_killed(server: &TestServer) {
    for phase in [Phase::Load, Phase::Measure] {
        let label = format!("lost in {phase:?}");
        let statement = format!("SELECT * FROM fsbench.run({})", phase.arguments(&label));
        let mut psql = server.client_program("psql");
        psql.args(["-X", "-c", &statement]);
        psql.stdout(Stdio::null()).stderr(Stdio::null());
        let (_hold, mut psql) = bring_to(server, phase, || psql.spawn().expect("psql runs"));
        // SIGKILL: it says good-bye to nobody.
        psql.kill().expect("psql was there");
        psql.wait().expect("psql is gone");
        server.nothing_is_left(&label);
        let ending = server
            .ending_where(&format!("label = '{}'", label))
            .expect("a row");
        assert_eq!(ending.status, "cancelled");
        assert_eq!(
            ending.reason,
            "57014; the run was canceled; It was canceled because the connection of the waiting session was lost."
        );
    }
    // They end by themselves, some time after the run.
    let sessions = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%fsbench.run%' AND pid <> pg_backend_pid()";
    wait_until("the sessions have ended", LONG, || {
        (server.value(sessions) == "0").then_some(())
    });
    server.a_run_works("lost connections");
}
