//! A server that was copied while a run was on: what the run made there is removed, and the original's run is unharmed.

use crate::robustness::hold::Phase;
use pgfsbench_tests::{LONG, Leaves, TestServer, wait_until};

/// A run that goes on until it is cancelled, on a server that may be copied.
fn running() -> (TestServer, String) {
    let server = TestServer::with_extension(&[]);
    let arguments = Phase::Measure.arguments("copied") + ", rate => 100";
    let run = server.start_run(&format!("{arguments}, force => true"));
    server
        .start_run("scale => 1, clients => 1, transactions => 1, force => true, label => 'queued'");
    server.wait_for_phase(Phase::Measure.name());
    (server, run)
}

fn is_cleared(copy: &TestServer) {
    copy.nothing_is_left("a copy");
    for label in ["copied", "queued"] {
        let ending = copy
            .ending_where(&format!("label = '{}'", label))
            .expect("a row");
        assert_eq!(ending.status, "failed");
        assert!(ending.reason.starts_with("57P02; "), "{ending:?}");
    }
    copy.a_run_works("a copy");
    copy.every_slot_is_free();
}

fn is_unharmed(original: &TestServer, run: &str) {
    assert_eq!(
        original.value(&format!(
            "SELECT count(*) FROM pg_database WHERE datname = 'fsbench_work_{run}'"
        )),
        "1"
    );
    let seconds = "SELECT done FROM fsbench.progress WHERE phase = 'measure'";
    let before: i64 = original.value(seconds).parse().expect("it is measured");
    wait_until("the original's run goes on", LONG, || {
        let now: i64 = original.value(seconds).parse().expect("it is measured");
        (now > before + 1000).then_some(())
    });
    original.value(&format!("SELECT fsbench.cancel({run})"));
    original.nothing_is_left("a run that was copied");
    let of_both = "SELECT string_agg(status, ' ' ORDER BY run_id) FROM fsbench.run_log";
    assert_eq!(original.value(of_both), "cancelled done");
}

#[test]
fn a_restored_base_backup_of_a_server_with_a_run_clears_up_after_it() {
    let (original, run) = running();
    let copy = original.copy(&[]);
    copy.start_again();
    is_cleared(&copy);
    is_unharmed(&original, &run);
}

#[test]
fn a_standby_of_a_server_with_a_run_clears_up_when_it_is_promoted() {
    let (original, run) = running();
    let standby = original.copy(&["--write-recovery-conf"]);
    standby.start_again();
    // It has nothing of its own to clear up, and may not.
    let lsn = original.value("SELECT pg_current_wal_insert_lsn()");
    standby.wait_for(
        "postgres",
        &format!("SELECT pg_is_in_recovery() AND pg_last_wal_replay_lsn() > '{lsn}'"),
        LONG,
    );
    let refused = standby
        .connect("postgres")
        .simple_query("SELECT fsbench.start(scale => 1)")
        .expect_err("a standby");
    assert_eq!(refused.code().map(|code| code.code()), Some("55000"));
    assert_eq!(
        standby.value("SELECT string_agg(status, ' ' ORDER BY run_id) FROM fsbench.run_log"),
        "running queued"
    );
    assert_eq!(standby.value("SELECT pg_promote()"), "t");
    is_cleared(&standby);
    is_unharmed(&original, &run);
}
