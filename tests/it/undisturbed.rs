//! Settings of a database that must not disturb a run.

use crate::common::server_on_disk;

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
