//! Runs that would do harm, or lack something: refused before anything is made, each with an error of its own.

use crate::common::{QUICK, assert_ended, assert_refused, execute, row, rows, run, server, set};
use pgfsbench_tests::{LONG, Stop, TestServer, assert_columns, wait_until};

const RUN: &str = "SELECT * FROM fsbench.run(scale => 1, clients => 1, transactions => 50)";
const FORCED: &str =
    "SELECT * FROM fsbench.run(scale => 1, clients => 1, transactions => 50, force => true)";

#[test]
fn worker_slots_that_are_missing_and_clients_that_are_too_many_are_counted() {
    let server = server(&[("max_worker_processes", "8")]);
    too_few_worker_slots_says_how_many_are_missing(&server);
    server.configure(&[("pgfsbench.max_clients", "3")]);
    server.restart();
    more_clients_than_pgfsbench_max_clients(&server);
    server.configure(&[("max_worker_processes", "2")]);
    server.restart();
    no_worker_slot_at_all_is_an_error_and_not_a_wait(&server);
}

fn too_few_worker_slots_says_how_many_are_missing(server: &TestServer) {
    let mut client = server.connect("postgres");
    // One is the logical replication launcher's, one the janitor's; a run takes two beside its clients'.
    assert_refused(
        &mut client,
        "SELECT fsbench.start(clients => 8)",
        "53000",
        &[
            "could not register background processes",
            "needs 10 worker slots",
            "6 are free, 4 are missing",
            "\"max_worker_processes\" to at least 12",
            "at most 4 clients",
        ],
    );
    server.nothing_is_left_at_once();
    // The chosen values fit.
    let id = run(&mut client, "scale => 10, transactions => 5");
    assert_columns(
        &mut client,
        &format!("FROM fsbench.result WHERE run_id = {id}"),
        &[("clients <= 4", "t"), ("status", "done")],
    );
    let id = run(&mut client, "scale => 1, clients => 4, transactions => 5");
    assert_eq!(server.ending(&id), "done");
}

fn no_worker_slot_at_all_is_an_error_and_not_a_wait(server: &TestServer) {
    let mut client = server.connect("postgres");
    for sql in [RUN, "SELECT fsbench.start()"] {
        assert_refused(&mut client, sql, "53000", &["3 are missing"]);
    }
}

fn more_clients_than_pgfsbench_max_clients(server: &TestServer) {
    let mut client = server.connect("postgres");
    assert_refused(
        &mut client,
        "SELECT fsbench.start(clients => 4)",
        "22023",
        &["4 is out of range", "allows at most 3", "at least 4"],
    );
    run(&mut client, "scale => 1, clients => 3, transactions => 5");
}

/// Where the server is debugged, an error that came on its way through SQL must not bring the way along.
fn what_an_experiments_targets_are_refused_for_has_no_backtrace(server: &TestServer) {
    server.stop(Stop::Fast);
    server
        .try_start_with(&[("RUST_BACKTRACE", "1")])
        .expect("the server starts");
    let said = assert_refused(
        &mut server.connect("postgres"),
        "SELECT fsbench.experiment('e', filesystems => '{ext4,btrsf}', image_size => '1GB')",
        "22023",
        &["btrsf", "HINT: "],
    );
    assert_eq!(said.lines().count(), 3, "{said}");
}

#[test]
fn a_standby_and_the_primary_that_it_follows() {
    let primary = server(&[]);
    let mut on_primary = primary.connect("postgres");
    let id = run(&mut on_primary, QUICK);

    let standby = primary.copy(&["-R"]);
    standby.start_again();
    let mut on_standby = standby.connect("postgres");
    assert_eq!(row(&mut on_standby, "SELECT pg_is_in_recovery()"), "t");
    for sql in [RUN, FORCED, "SELECT fsbench.start()"] {
        assert_refused(
            &mut on_standby,
            sql,
            "55000",
            &["during recovery", "standby", "promotion"],
        );
    }
    // Results are readable there.
    assert_columns(
        &mut on_standby,
        &format!("FROM fsbench.result WHERE run_id = {id}"),
        &[
            ("status", "done"),
            ("fsbench.percentile(0.5, run_id) > 0", "t"),
        ],
    );
    assert_eq!(
        row(
            &mut on_standby,
            &format!("SELECT run_id = {id} AND tps > 0 FROM fsbench.wait({id})")
        ),
        "t"
    );
    execute(&mut on_standby, &format!("CALL fsbench.wait({id})"));
    assert_eq!(
        rows(&mut on_standby, "SELECT * FROM fsbench.progress"),
        [""; 0]
    );

    wait_until("the standby is connected", LONG, || {
        (row(&mut on_primary, "SELECT count(*) FROM pg_stat_replication") == "1").then_some(())
    });
    assert_refused(
        &mut on_primary,
        RUN,
        "55000",
        &["replicated", "1 WAL sender", "force => true"],
    );
    execute(&mut on_primary, FORCED);
    assert_forced(&mut on_primary, true);
}

/// Asserts whether the last run was forced, as the row says and as its parameters.
fn assert_forced(client: &mut postgres::Client, forced: bool) {
    let (row, parameter) = if forced {
        ("t", "true")
    } else {
        ("f", "false")
    };
    assert_columns(
        client,
        "FROM fsbench.result ORDER BY run_id DESC LIMIT 1",
        &[("forced", row), ("used ->> 'force'", parameter)],
    );
}

fn archiving_is_refused_unless_forced(server: &TestServer) {
    server.configure(&[("archive_mode", "on"), ("archive_command", "true")]);
    server.restart();
    let mut client = server.connect("postgres");
    assert_refused(
        &mut client,
        RUN,
        "55000",
        &[
            "while WAL is archived",
            "archive_mode is \"on\"",
            "force => true",
        ],
    );
    assert_eq!(row(&mut client, "SELECT count(*) FROM fsbench.result"), "0");
    execute(&mut client, FORCED);
    assert_forced(&mut client, true);
    assert_told(&mut client, "archiving: WAL is archived");
}

/// Asserts the one finding about WAL that goes elsewhere of the last run, a warning.
fn assert_told(client: &mut postgres::Client, wanted: &str) {
    let told = "SELECT code || ': ' || message FROM fsbench.finding WHERE run_id = (SELECT max(run_id) FROM fsbench.run_log) \
         AND code IN ('archiving', 'replication') AND severity = 'warning'";
    assert_eq!(rows(client, told), [wanted]);
}

#[test]
fn a_replicated_server_or_one_that_archives_is_refused() {
    let server = server(&[("max_prepared_transactions", "1")]);
    a_replication_slot_is_refused_unless_forced(&server);
    server.start_anew();
    synchronous_replication_is_refused(&server);
    server.start_anew();
    a_queued_run_is_checked_again_when_its_turn_comes(&server);
    server.start_anew();
    an_import_does_not_wait_for_ever_for_a_prepared_transaction(&server);
    what_an_experiments_targets_are_refused_for_has_no_backtrace(&server);
    server.start_anew();
    archiving_is_refused_unless_forced(&server);
}

fn a_replication_slot_is_refused_unless_forced(server: &TestServer) {
    let mut client = server.connect("postgres");
    execute(
        &mut client,
        "SELECT pg_create_physical_replication_slot('standby', true)",
    );
    assert_refused(
        &mut client,
        RUN,
        "55000",
        &["replicated", "1 replication slot", "force => true"],
    );
    execute(&mut client, FORCED);
    assert_forced(&mut client, true);
    assert_told(
        &mut client,
        "replication: there are 0 WAL senders and 1 replication slot",
    );
    execute(&mut client, "SELECT pg_drop_replication_slot('standby')");
    execute(&mut client, RUN);
    assert_forced(&mut client, false);
}

fn synchronous_replication_is_refused(server: &TestServer) {
    let mut client = server.connect("postgres");
    set(server, &mut client, "synchronous_standby_names", "somebody");
    assert_refused(
        &mut client,
        RUN,
        "55000",
        &["synchronous replication", "somebody", "force => true"],
    );
    assert_eq!(row(&mut client, "SELECT count(*) FROM fsbench.result"), "0");
    set(server, &mut client, "synchronous_standby_names", "");
}

#[test]
fn transaction_ids_near_the_freeze_limit_are_refused_unless_forced() {
    let server = server(&[("autovacuum_freeze_max_age", "100000")]);
    let mut client = server.connect("postgres");
    for arguments in [
        "clients => 2, transactions => 60000",
        "duration => '1 min'",
        "rate => 2000, duration => '1 min'",
    ] {
        assert_refused(
            &mut client,
            &format!("SELECT fsbench.start({arguments})"),
            "55000",
            &[
                "too many transaction ids",
                "autovacuum_freeze_max_age (100000)",
                "raise autovacuum_freeze_max_age",
                "force => true",
            ],
        );
    }
    // Those that use few, or none.
    execute(&mut client, RUN);
    run(
        &mut client,
        "scale => 1, clients => 1, duration => '1 s', warmup => '0', rate => 100",
    );
    run(
        &mut client,
        "workload => 'select-only', scale => 1, clients => 1, transactions => 100000",
    );
    // Less than the limit, but not beside the ids that are used by now.
    assert_refused(
        &mut client,
        "SELECT fsbench.start(clients => 1, transactions => 99950)",
        "55000",
        &["too many transaction ids", "vacuumdb --all --freeze"],
    );
    let id = row(
        &mut client,
        "SELECT fsbench.start(scale => 1, clients => 2, transactions => 60000, force => true)",
    );
    execute(&mut client, &format!("SELECT fsbench.cancel({id})"));
    assert_ended(&mut client, &id, "cancelled 57014; the run was canceled");
    assert_forced(&mut client, true);
}

fn a_queued_run_is_checked_again_when_its_turn_comes(server: &TestServer) {
    let mut client = server.connect("postgres");
    let long = row(
        &mut client,
        "SELECT fsbench.start(scale => 1, clients => 1, duration => '5 min', warmup => '0', rate => 10)",
    );
    let queued = row(&mut client, &format!("SELECT fsbench.start({QUICK})"));
    execute(
        &mut client,
        "SELECT pg_create_physical_replication_slot('standby')",
    );
    execute(&mut client, &format!("SELECT fsbench.cancel({long})"));
    assert_ended(
        &mut client,
        &queued,
        "failed 55000; cannot run a benchmark while this server is replicated",
    );
    server.nothing_is_left_at_once();
}

fn an_import_does_not_wait_for_ever_for_a_prepared_transaction(server: &TestServer) {
    let mut client = server.connect("postgres");
    execute(
        &mut client,
        "BEGIN; LOCK TABLE fsbench.imported_file IN SHARE ROW EXCLUSIVE MODE; PREPARE TRANSACTION 'left'",
    );
    execute(&mut client, "SET lock_timeout = '100ms'");
    assert_refused(
        &mut client,
        "SELECT fsbench._lock_imports()",
        "55P03",
        &["another transaction imports a file", "pg_prepared_xacts"],
    );
    execute(&mut client, "ROLLBACK PREPARED 'left'");
    execute(&mut client, "BEGIN; SELECT fsbench._lock_imports()");
    assert_eq!(row(&mut client, "SHOW lock_timeout"), "100ms");
    execute(&mut client, "ROLLBACK");
}
