//! The sampler's records, which are of everything that a run has counted.

use crate::common::{assert_ended, execute, row, rows, server};
use crate::robustness::hold::wait_for_lock;
use pgfsbench_tests::{LONG, Signal, wait_until};

#[test]
fn a_run_that_is_over_before_its_sampler_wakes_has_its_record() {
    let server = server(&[]);
    let mut client = server.connect("postgres");
    // The coordinator reads it between the launch of the sampler and the first transaction.
    let mut holder = server.connect("postgres");
    execute(
        &mut holder,
        "BEGIN; LOCK TABLE pg_stat_wal IN ACCESS EXCLUSIVE MODE",
    );
    let start = "fsbench.start(scale => 1, clients => 1, transactions => 20, warmup => '0')";
    let run = row(&mut client, &format!("SELECT {start}"));
    wait_for_lock(&server);
    let of = |role: &str| format!("FROM pg_stat_activity WHERE backend_type = 'fsbench {role}'");
    let sampler = server.pid_of("fsbench sampler");
    server.hold(sampler);
    execute(&mut holder, "ROLLBACK");
    let clients = format!("SELECT count(*) {}", of("client"));
    wait_until("the client has left", LONG, || {
        (row(&mut client, &clients) == "0").then_some(())
    });
    // Then the coordinator ends the window, and waits for the sampler.
    let waits = format!("SELECT wait_event {}", of("coordinator"));
    let mut in_a_row = 0;
    wait_until("the coordinator waits", LONG, || {
        let is_waiting = row(&mut client, &waits) == "Extension";
        in_a_row = if is_waiting { in_a_row + 1 } else { 0 };
        (in_a_row == 20).then_some(())
    });
    server.signal(sampler, Signal::CONT);
    assert_ended(&mut client, &run, "done");
    let records = format!(
        "SELECT second, s.transactions, r.transactions_total FROM fsbench.sample s JOIN fsbench.run_log r USING (run_id) WHERE run_id = {run}"
    );
    assert_eq!(rows(&mut client, &records), ["0|20|20"]);
}
