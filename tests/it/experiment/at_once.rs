//! An experiment that a session changes while its conductor is at it, and transactions that stay open.

use super::{LONGER, SHORT, hold_first_run, outcomes, targets, wait_for, wait_for_no_run};
use crate::common::{assert_refused, execute, row, server, wait_for_phase};
use crate::robustness::hold::wait_for_lock_of;
use pgfsbench_tests::{Leaves, TestServer};

#[test]
fn sessions_change_an_experiment_at_once_with_its_conductor() {
    let server = TestServer::with_extension(&[]);
    a_cancel_while_a_run_is_judged_waits_its_turn(&server);
    server.start_anew();
    a_transaction_that_stays_open_keeps_no_other_database_waiting(&server);
    server.start_anew();
    what_a_transaction_does_not_see_it_does_not_change(&server);
}

fn a_cancel_while_a_run_is_judged_waits_its_turn(server: &TestServer) {
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    let first = hold_first_run(server, &mut client);
    // The first to come waits for this row; the second must not hold a lock that the first wants next.
    execute(
        &mut client,
        "BEGIN; SELECT FROM fsbench.experiment_run FOR UPDATE",
    );
    let cancel = server.background("postgres", "SELECT fsbench.cancel_experiment('e')");
    wait_for_lock_of(server, "client backend");
    drop(first);
    wait_for_lock_of(server, "fsbench conductor");
    execute(&mut client, "COMMIT");
    cancel.join().expect("it is cancelled");
    wait_for_no_run(&mut client);
    assert_eq!(
        row(&mut client, "SELECT status FROM fsbench.experiment"),
        "cancelled"
    );
    assert_eq!(outcomes(&mut client, "e"), ["interrupted 1"]);
    let log = server.log();
    assert!(!log.contains("deadlock"), "{log}");
    server.nothing_is_left("a cancel while a run is judged");
}

fn a_transaction_that_stays_open_keeps_no_other_database_waiting(server: &TestServer) {
    let mut client = server.connect("postgres");
    execute(&mut client, "CREATE DATABASE other");
    let mut other = server.connect("other");
    execute(&mut other, "CREATE EXTENSION pgfsbench");
    let _places = targets(&mut client, &["a", "b"]);
    let _others = targets(&mut other, &["a", "b"]);
    let first = hold_first_run(server, &mut client);
    execute(&mut client, "BEGIN; SELECT fsbench.pause_experiment('e')");
    drop(first);
    wait_for_lock_of(server, "fsbench conductor");
    execute(
        &mut other,
        &format!("SELECT fsbench.experiment('f', '{{a,b}}', {SHORT})"),
    );
    wait_for(&mut other, "f");
    assert_eq!(outcomes(&mut other, "f"), ["measured 6"]);
    execute(&mut client, "ROLLBACK");
    wait_for(&mut client, "e");
    assert_eq!(outcomes(&mut client, "e"), ["measured 6"]);
    server.nothing_is_left("a transaction that stayed open");
}

fn what_a_transaction_does_not_see_it_does_not_change(server: &TestServer) {
    let mut client = server.connect("postgres");
    let mut other = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    execute(
        &mut other,
        "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM fsbench.experiment",
    );
    execute(
        &mut client,
        &format!("SELECT fsbench.experiment('e', '{{a,b}}', start => false, {SHORT})"),
    );
    assert_refused(
        &mut other,
        "SELECT fsbench.drop_experiment('e')",
        "40001",
        &[
            "cannot be changed",
            "does not see it",
            "Begin the transaction again",
        ],
    );
    execute(
        &mut other,
        "ROLLBACK; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT fsbench.drop_experiment('e'); COMMIT",
    );
    assert_eq!(
        row(&mut client, "SELECT count(*) FROM fsbench.experiment"),
        "0"
    );
}

#[test]
fn what_tells_the_conductor_cannot_be_prepared() {
    let server = server(&[("max_prepared_transactions", "2")]);
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    execute(
        &mut client,
        &format!("BEGIN; SELECT fsbench.experiment('e', '{{a,b}}', {LONGER})"),
    );
    assert_refused(
        &mut client,
        "PREPARE TRANSACTION 'e'",
        "0A000",
        &["cannot PREPARE", "experiment", "COMMIT"],
    );
    assert_eq!(
        row(&mut client, "SELECT count(*) FROM fsbench.experiment"),
        "0"
    );
    // The session does not go on believing that it has announced the change.
    execute(
        &mut client,
        "BEGIN; CREATE TABLE t(); PREPARE TRANSACTION 't'",
    );
    execute(&mut client, "COMMIT PREPARED 't'");
    execute(
        &mut client,
        &format!("SELECT fsbench.experiment('e', '{{a,b}}', {LONGER})"),
    );
    wait_for_phase(&mut client, "measure");
    execute(&mut client, "SELECT fsbench.cancel_experiment('e')");
    wait_for_no_run(&mut client);
    server.nothing_is_left("what could not be prepared");
}
