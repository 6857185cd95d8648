//! Runs together with other extensions, called by other languages, and while others look.

use crate::common::{QUICK, execute, row, rows, run, server};
use pgfsbench_tests::{LONG, assert_columns, wait_until};

#[test]
fn python_in_the_server_can_run_and_start() {
    let server = server(&[]);
    let mut client = server.connect("postgres");
    execute(
        &mut client,
        "CREATE EXTENSION plpython3u; \
         CREATE FUNCTION measured(arguments text) RETURNS text LANGUAGE plpython3u AS $$
             row = plpy.execute('SELECT * FROM fsbench.run(' + arguments + ')')[0]
             return row['target'] if row['tps'] > 0 else 'nothing'
         $$; \
         CREATE FUNCTION refused(arguments text) RETURNS text LANGUAGE plpython3u AS $$
             try:
                 plpy.execute('SELECT fsbench.start(' + arguments + ')')
             except plpy.SPIError as error:
                 return error.sqlstate
         $$",
    );
    assert_eq!(
        row(&mut client, &format!("SELECT measured('{QUICK}')")),
        "default"
    );
    assert_eq!(row(&mut client, "SELECT refused('clients => 0')"), "22023");
    // After an error in a subtransaction it works again.
    assert_columns(
        &mut client,
        "",
        &[
            ("refused('workload => NULL, scale => -1')", "22023"),
            (&format!("measured('{QUICK}')"), "default"),
        ],
    );
}

#[test]
fn a_waiting_select_has_no_transaction_id_and_hot_rows_are_pruned() {
    // No other process has a snapshot.
    let server = server(&[("autovacuum", "off")]);
    let mut client = server.connect("postgres");
    wait_until("somebody looks while the caller waits", LONG, || {
        let caller = server.background(
            "postgres",
            "SELECT * FROM fsbench.run(scale => 4, clients => 4, transactions => 10000, seed => 1, keep => true, \
               settings => '{\"synchronous_commit\": \"off\"}')",
        );
        let mut seen = Vec::new();
        while seen.is_empty() && !caller.is_finished() {
            seen = rows(
                &mut client,
                &format!(
                    "SELECT state, backend_xid IS NULL FROM pg_stat_activity WHERE pid = {} \
                     AND EXISTS (SELECT FROM fsbench.progress WHERE phase = 'measure') AND state = 'active'",
                    caller.pid
                ),
            );
        }
        caller.join().expect("the run");
        assert!(seen.is_empty() || seen == ["active|t"], "{seen:?}");
        seen.pop()
    });
    let latest = "SELECT work_database FROM fsbench.result ORDER BY run_id DESC LIMIT 1";
    let database = row(&mut client, latest);
    let mut kept = server.connect(&database);
    // 40,000 updates of 4 and 40 rows: some 200 pages each if nothing were pruned. A client that does not get a processor for a
    // while keeps what was updated meanwhile, so that some dozens are no fault.
    assert_columns(
        &mut kept,
        "",
        &[
            ("pg_relation_size('pgbench_branches') < 140 * 8192", "t"),
            ("pg_relation_size('pgbench_tellers') < 140 * 8192", "t"),
        ],
    );
}

/// The library brings libpq into the server: it has to be the server's own, or its other users in there fail.
#[test]
fn others_in_the_server_have_the_libpq_of_the_server() {
    let server = server(&[("wal_level", "replica"), ("max_wal_senders", "4")]);
    let mut client = server.connect("postgres");
    execute(
        &mut client,
        "LOAD 'postgres_fdw'; CREATE EXTENSION postgres_fdw; CREATE EXTENSION dblink; \
         CREATE TABLE near AS SELECT 42 AS n; \
         DO $$ BEGIN EXECUTE format('CREATE SERVER here FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host %L, port %L, dbname %L)', \
             current_setting('unix_socket_directories'), current_setting('port'), current_database()); END $$; \
         CREATE USER MAPPING FOR CURRENT_USER SERVER here; \
         CREATE FOREIGN TABLE far (n int) SERVER here OPTIONS (table_name 'near')",
    );
    assert_eq!(row(&mut client, "SELECT n FROM far"), "42");
    let asked = "SELECT n FROM dblink(format('host=%s port=%s dbname=%s', current_setting('unix_socket_directories'), \
                   current_setting('port'), current_database()), 'SELECT n FROM near') AS t(n int)";
    assert_eq!(row(&mut client, asked), "42");
    // Runs ask other servers by libpq, too.
    run(&mut client, QUICK);

    let standby = server.copy(&["--write-recovery-conf"]);
    standby.start_again();
    let streams = "SELECT EXISTS (SELECT FROM pg_stat_wal_receiver WHERE status = 'streaming')";
    standby.wait_for("postgres", streams, LONG);
}
