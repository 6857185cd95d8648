//! Conditions that must not disturb a run, or the next one.

use crate::common::server_on_disk;
use pgfsbench_tests::{LONG, PRELOADED, TestServer, wait_until};

/// A run under a low rate: its window is as long as it was asked for, whenever its last transaction was due; and settings
/// of the database that are meant for people do not reach the run's own processes.
#[test]
fn the_window_is_whole_under_a_low_rate_in_a_read_only_database() {
    let server = server_on_disk(&[]);
    server
        .connect("postgres")
        .batch_execute(
            "ALTER DATABASE postgres SET default_transaction_read_only = on; \
             ALTER DATABASE postgres SET default_transaction_isolation = 'repeatable read'; \
             ALTER DATABASE postgres SET lock_timeout = '1ms'; \
             ALTER DATABASE postgres SET synchronous_commit = off",
        )
        .expect("set-up");
    let mut client = server.connect("postgres");
    for sql in [
        "SET default_transaction_isolation = 'read committed'",
        "SET default_transaction_read_only = off",
        "SET lock_timeout = 0",
        "SELECT * FROM fsbench.run(scale => 1, clients => 2, rate => 1, duration => '3 s', warmup => '0', seed => 1)",
    ] {
        client.batch_execute(sql).expect(sql);
    }
    let row = client
        .query_one(
            "SELECT status, measured_ms >= 3000, abs(tps * measured_ms / 1000 - transactions_total) < 1e-6, \
               (SELECT sum(transactions) = transactions_total FROM fsbench.sample s WHERE s.run_id = r.run_id), \
               durability NOT LIKE '%synchronous_commit off%', \
               (SELECT sum(interval_ms) >= 2900 FROM fsbench.sample s WHERE s.run_id = r.run_id) \
             FROM fsbench.result r",
            &[],
        )
        .expect("result");
    assert_eq!(row.get::<_, String>(0), "done");
    for (column, holds) in [
        "as long as asked",
        "tps",
        "samples add up",
        "durability is that of the clients",
        "every second is there",
    ]
    .into_iter()
    .enumerate()
    .map(|(i, what)| (what, row.get::<_, Option<bool>>(i + 1)))
    {
        assert_eq!(holds, Some(true), "{column}");
    }
}

#[test]
fn a_queued_run_whose_database_is_dropped_holds_nobody_up() {
    let server = TestServer::start(PRELOADED);
    let mut client = server.connect("postgres");
    for sql in ["CREATE EXTENSION pgfsbench", "CREATE DATABASE other"] {
        client.batch_execute(sql).expect(sql);
    }
    let first: i64 = client
        .query_one(
            "SELECT fsbench.start(scale => 1, clients => 1, duration => '5 min', warmup => '0', rate => 10)",
            &[],
        )
        .expect("start")
        .get(0);
    let mut other = server.connect("other");
    for sql in [
        "CREATE EXTENSION pgfsbench",
        "SELECT fsbench.start(scale => 1, clients => 1, transactions => 1)",
    ] {
        other.batch_execute(sql).expect(sql);
    }
    drop(other);
    wait_until("the database is dropped", LONG, || {
        client.batch_execute("DROP DATABASE other").ok()
    });
    let cancelled: bool = client
        .query_one("SELECT fsbench.cancel($1)", &[&first])
        .expect("cancel")
        .get(0);
    assert!(cancelled);
    wait_until("the next run is taken", LONG, || {
        client
            .batch_execute("SELECT fsbench.run(scale => 1, clients => 1, transactions => 1)")
            .ok()
    });
    let attempts = server.log().matches("FATAL:  database").count();
    assert!(attempts <= 3, "{}", server.log());
}
