//! The workload `tpcc-like`: results of a run, and each consistency condition broken by hand.

mod load;

use crate::common::{ending, execute, row, rows, run, server, work_database};
use crate::held::Held;
use pgfsbench_tests::{LONG, TestServer, assert_columns, seconds, wait_until};
use postgres::{Client, SimpleQueryMessage};
use std::fs;

const CONDITIONS: &str = include_str!("../../src/workload/tpcc_like/queries/conditions.sql");
const EXPENSIVE_CONDITIONS: &str =
    include_str!("../../src/workload/tpcc_like/queries/expensive_conditions.sql");
const CONDITION_11_LOADED: &str =
    include_str!("../../src/workload/tpcc_like/queries/condition_11_loaded.sql");

const STOCK_LEVEL: &str = include_str!("../../src/workload/tpcc_like/queries/stock_level.sql");
const INSERT_LINES: &str = include_str!("../../src/workload/tpcc_like/queries/insert_lines.sql");
const TAKE_OLDEST: &str = include_str!("../../src/workload/tpcc_like/queries/take_oldest.sql");

/// Changes, each with the conditions that do not hold after it.
const BREAKS: [(&str, &[i32]); 12] = [
    ("UPDATE warehouse SET w_ytd = w_ytd + 1", &[1, 8]),
    (
        "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_id = 1",
        &[2],
    ),
    (
        "DELETE FROM new_order WHERE no_d_id = 1 AND no_o_id = (SELECT max(no_o_id) - 5 FROM new_order WHERE no_d_id = 1)",
        &[3, 5, 11],
    ),
    (
        "UPDATE orders SET o_ol_cnt = o_ol_cnt + 1 WHERE o_d_id = 2 AND o_id = 7",
        &[4, 6],
    ),
    (
        "UPDATE orders SET o_carrier_id = NULL WHERE o_d_id = 3 AND o_id = 8",
        &[5, 7],
    ),
    (
        "UPDATE orders SET o_ol_cnt = o_ol_cnt + CASE o_id WHEN 7 THEN 1 ELSE -1 END WHERE o_d_id = 2 AND o_id IN (7, 8)",
        &[6],
    ),
    (
        "UPDATE order_line SET ol_delivery_d = NULL WHERE ol_d_id = 4 AND ol_o_id = 9 AND ol_number = 1",
        &[7],
    ),
    (
        "UPDATE history SET h_amount = h_amount + 1 WHERE ctid = '(0,1)'",
        &[8, 9, 10],
    ),
    (
        "UPDATE district SET d_ytd = d_ytd + CASE d_id WHEN 1 THEN 1 ELSE -1 END WHERE d_id IN (1, 2)",
        &[9],
    ),
    (
        "UPDATE customer SET c_balance = c_balance + 1, c_ytd_payment = c_ytd_payment - 1 WHERE c_d_id = 5 AND c_id = 1",
        &[10],
    ),
    (
        "UPDATE customer SET c_delivery_cnt = c_delivery_cnt + 1 WHERE c_d_id = 6 AND c_id = 2",
        &[11],
    ),
    (
        "UPDATE customer SET c_ytd_payment = c_ytd_payment + 1 WHERE c_d_id = 7 AND c_id = 3",
        &[12],
    ),
];

/// The conditions that do not hold.
fn broken(client: &mut Client) -> Vec<i32> {
    let sql = format!(
        "SELECT (c ->> 'condition')::integer FROM (SELECT ({CONDITIONS}) -> 'conditions' || ({EXPENSIVE_CONDITIONS})) a (a), \
         jsonb_array_elements(a) c WHERE (c ->> 'wrong')::bigint > 0 ORDER BY 1"
    );
    let found = rows(client, &sql);
    found
        .iter()
        .map(|number| number.parse().expect("a number"))
        .collect()
}

#[test]
fn a_run_keeps_all_conditions_and_each_is_seen_when_it_is_broken() {
    // The clients are READ COMMITTED whatever the default is.
    let server = server(&[("default_transaction_isolation", "serializable")]);
    let mut client = server.connect("postgres");
    let mut held = Held::in_window(
        &server,
        r#"workload => 'tpcc-like', scale => 1, clients => 4, transactions => 150, warmup => '0', seed => 5, keep => true,
           settings => '{"lock_timeout": "30ms"}', options => '{"unlogged": true}'"#,
    );
    let mut locks = server.connect(&held.database());
    execute(&mut locks, "BEGIN; UPDATE warehouse SET w_tax = w_tax");
    held.release();
    wait_until("a payment has had all its tries", LONG, || {
        let failed = "transaction failed: canceling statement due to lock timeout";
        server.log().contains(failed).then_some(())
    });
    execute(&mut locks, "COMMIT");
    drop(locks);
    let id = held.end();
    let of_run = format!("WHERE run_id = {id}");
    // Only payments change the warehouse. A serializable one that has waited for it fails with 40001.
    assert_columns(
        &mut client,
        &format!("FROM fsbench.transaction_failure {of_run}"),
        &[
            ("count(*) FILTER (WHERE sqlstate <> '55P03')", "0"),
            (
                "bool_or(position = 2 AND transactions > 0 AND retries >= 9 * transactions)",
                "t",
            ),
        ],
    );
    assert_columns(
        &mut client,
        &format!(
            "FROM fsbench.tpcc_transaction t JOIN fsbench.transaction_result r USING (run_id, transaction) {of_run}"
        ),
        &[
            ("abs(sum(mix_percent) - 100) < 1e-9", "t"),
            (
                "bool_and(total = committed + coalesce(rolled_back, 0) AND rollbacks = coalesce(rolled_back, 0))",
                "t",
            ),
            (
                "bool_and(t.failed = r.failed AND t.retries = r.retries)",
                "t",
            ),
            (
                "bool_and(total > 0 AND rollback_percent = 100.0 * rollbacks / total)",
                "t",
            ),
            (
                "bool_and(p90_s > 0 AND avg_s > 0 AND is_within_limit = (p90_s <= limit_s))",
                "t",
            ),
            (
                "string_agg(limit_s::text, ' ' ORDER BY position)",
                "5 5 5 5 20",
            ),
        ],
    );
    assert_columns(
        &mut client,
        &format!("FROM fsbench.run_log {of_run}"),
        &[
            // Transactions that roll back are not committed ones.
            (
                "transactions_total = (SELECT sum(committed) FROM fsbench.transaction_result)",
                "t",
            ),
            ("status", "done"),
        ],
    );
    let checks = format!(
        "SELECT moment, count(*), bool_and(passed) FROM fsbench.verification {of_run} GROUP BY 1 ORDER BY 1"
    );
    assert_eq!(rows(&mut client, &checks), ["load|1|t", "window|13|t"]);
    assert_columns(
        &mut client,
        &format!("FROM fsbench.transaction_result {of_run}"),
        &[
            ("sum(committed + rolled_back + failed)", "600"),
            (
                "string_agg(transaction, ' ' ORDER BY position)",
                "new-order payment order-status delivery stock-level",
            ),
            ("sum(weight)", "100"),
            // Only New-Orders roll back.
            ("sum(rolled_back) FILTER (WHERE position > 1)", "0"),
            (
                "sum(committed) FILTER (WHERE position = 1) = (SELECT sum(new_orders) FROM fsbench.tpcc_client)",
                "t",
            ),
            (
                "sum(rolled_back) = (SELECT sum(wrong_orders) FROM fsbench.tpcc_client)",
                "t",
            ),
        ],
    );
    assert_columns(
        &mut client,
        &format!(
            "FROM fsbench.tpcc JOIN fsbench.run_log USING (run_id) JOIN fsbench.transaction_result t USING (run_id) {of_run} AND position = 1"
        ),
        &[
            ("abs(notpm - committed * 60000 / measured_ms) < 1e-6", "t"),
            (
                "abs(notpm_dbt2 - (committed + rolled_back + t.failed) * 60000 / measured_ms) < 1e-6",
                "t",
            ),
            ("notpm_per_warehouse = notpm", "t"),
            ("lines_per_order BETWEEN 9 AND 11", "t"),
            // With one warehouse nothing is remote.
            ("remote_lines_percent + remote_payments_percent", "0"),
        ],
    );
    let histograms = format!(
        "SELECT count(*) FROM fsbench.histogram {of_run} AND measure = 'latency' AND transaction IN (SELECT transaction FROM fsbench.transaction_result)"
    );
    assert_eq!(row(&mut client, &histograms), "5");

    let database = row(
        &mut client,
        &format!("SELECT work_database FROM fsbench.run_log {of_run}"),
    );
    let mut there = server.connect(&database);
    for (table, least) in [
        ("orders WHERE o_client IS NOT NULL", 1),
        ("order_line", 300_000),
        ("stock", 100_000),
    ] {
        let count = row(&mut there, &format!("SELECT count(*) FROM {table}"));
        let count: u64 = count.parse().expect("a number");
        assert!(count >= least, "{table}: {count}");
    }
    let keys = "SELECT count(*) FILTER (WHERE contype = 'f' AND convalidated), count(*) FILTER (WHERE contype = 'p') \
        FROM pg_constraint WHERE connamespace = 'public'::regnamespace";
    assert_eq!(row(&mut there, keys), "10|8");
    assert!(broken(&mut there).is_empty());
    for (change, conditions) in BREAKS {
        execute(&mut there, &format!("BEGIN; {change}"));
        assert_eq!(broken(&mut there), conditions, "{change}");
        execute(&mut there, "ROLLBACK");
    }
    for district in 1..=10 {
        let counted = STOCK_LEVEL
            .replace("$1", "1")
            .replace("$2", &district.to_string())
            .replace("$3", "20");
        let expected = format!(
            "SELECT count(*) FROM stock WHERE s_w_id = 1 AND s_quantity < 20 AND s_i_id IN (SELECT ol_i_id FROM order_line \
             WHERE ol_d_id = {district} AND ol_o_id IN (SELECT o_id FROM orders WHERE o_d_id = {district} ORDER BY o_id DESC LIMIT 20))"
        );
        let expected = row(&mut there, &expected);
        assert_eq!(row(&mut there, &counted), expected, "district {district}");
        assert_ne!(expected, "0", "district {district}");
    }
    // Once orders were delivered, the form of condition 11 that holds after the load does not hold.
    let loaded = format!("SELECT (({CONDITION_11_LOADED}) ->> 'wrong')::integer > 0");
    assert_eq!(row(&mut there, &loaded), "t");
    drop(there);
    execute(&mut client, &format!("DROP DATABASE \"{database}\""));
    server.nothing_is_left_at_once();
}

#[test]
fn terminals_wait_and_each_order_is_delivered_once_by_clients_of_one_warehouse() {
    let server = server(&[]);
    terminals_wait_before_and_after_transactions(&server);
    each_order_is_delivered_once_by_clients_of_one_warehouse(&server);
}

fn terminals_wait_before_and_after_transactions(server: &TestServer) {
    let mut client = server.connect("postgres");
    let id = run(
        &mut client,
        r#"workload => 'tpcc-like', scale => 1, duration => '5 s', warmup => '0',
           options => '{"waits": true, "unlogged": true, "mix": {"payment": 1}}'"#,
    );
    assert_columns(
        &mut client,
        &format!(
            "FROM fsbench.run_log JOIN fsbench.transaction_result USING (run_id) WHERE run_id = {id} AND position = 2"
        ),
        &[
            ("clients", "10"),
            // Keys take 3 s, and the mean of thinking is 12 s.
            ("committed BETWEEN 1 AND 20", "t"),
            ("run_log.latency_max_ms < 2900", "t"),
        ],
    );
    server.nothing_is_left_at_once();
}

/// 9000 orders are open after the load. Four clients of one warehouse deliver at the same time, until none is left and districts are skipped.
fn each_order_is_delivered_once_by_clients_of_one_warehouse(server: &TestServer) {
    let mut client = server.connect("postgres");
    let id = run(
        &mut client,
        r#"workload => 'tpcc-like', scale => 1, clients => 4, transactions => 250, warmup => '0', keep => true,
           options => '{"unlogged": true, "foreign_keys": false, "mix": {"delivery": 1}}'"#,
    );
    assert_columns(
        &mut client,
        &format!(
            "FROM fsbench.run_log JOIN fsbench.transaction_result USING (run_id) WHERE run_id = {id} AND position = 4"
        ),
        &[
            // A delivery that skips a district, or all of them, has committed.
            ("committed", "1000"),
            ("transaction_result.failed + retries", "0"),
            (
                "(SELECT count(*) FROM fsbench.verification v WHERE v.run_id = run_log.run_id AND moment = 'window' AND passed)",
                "13",
            ),
        ],
    );
    let database = work_database(&mut client, &id);
    let mut there = server.connect(&database);
    let left = "SELECT (SELECT count(*) FROM new_order), (SELECT sum(c_delivery_cnt) FROM customer), \
        (SELECT count(*) FROM orders WHERE o_carrier_id IS NULL)";
    assert_eq!(row(&mut there, left), "0|9000|0");

    // Clause 2.4.2.2: stock that would fall below 10 is filled up by 91.
    execute(
        &mut there,
        "UPDATE stock SET s_quantity = CASE s_i_id WHEN 1 THEN 10 WHEN 2 THEN 15 ELSE 14 END, s_ytd = 0, s_order_cnt = 0, s_remote_cnt = 0 WHERE s_i_id <= 3; \
         UPDATE item SET i_price = 2.5 WHERE i_id <= 3",
    );
    // An order of district 4 of warehouse 2 takes 1, 5 and 5 from warehouse 1.
    let take = [
        ("$1", "1"),
        ("$2", "4"),
        ("$3", "2"),
        ("$4", "'{1,2,3}'::int[]"),
        ("$5", "'{1,1,1}'::int[]"),
        ("$6", "'{1,5,5}'::int[]"),
        ("$7", "'{1,2,3}'::int[]"),
    ];
    let take = (take.iter()).fold(INSERT_LINES.to_owned(), |sql, (name, value)| {
        sql.replace(name, value)
    });
    let lines = rows(&mut there, &take);
    assert_eq!(lines.len(), 3, "{lines:?}");
    let stock = "SELECT s_quantity, s_ytd, s_order_cnt, s_remote_cnt FROM stock WHERE s_i_id <= 3 ORDER BY s_i_id";
    assert_eq!(
        rows(&mut there, stock),
        ["100|1|1|1", "10|5|1|1", "100|5|1|1"]
    );
    let lines = "SELECT ol_number, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info = s_dist_04 FROM order_line JOIN stock ON s_w_id = 1 AND s_i_id = ol_i_id \
        WHERE ol_w_id = 2 ORDER BY 1";
    assert_eq!(
        rows(&mut there, lines),
        ["1|1|1|2.50|t", "2|1|5|12.50|t", "3|1|5|12.50|t"]
    );

    // A delivery that waits for another one gets the order after it, if that commits.
    for (open, end, taken) in [
        ("(1), (2)", "COMMIT", Some("2")),
        ("(1), (2)", "ROLLBACK", Some("1")),
        ("(1)", "COMMIT", None),
        ("(1)", "ROLLBACK", Some("1")),
    ] {
        let open = format!(
            "TRUNCATE new_order; INSERT INTO new_order (no_o_id, no_d_id, no_w_id) SELECT o, 1, 1 FROM (VALUES {open}) v (o)"
        );
        execute(&mut there, &open);
        assert_eq!(
            oldest_while_another_takes_it(server, &database, end).as_deref(),
            taken,
            "{open}; {end}"
        );
    }
    drop(there);
    execute(&mut client, &format!("DROP DATABASE \"{database}\""));
    server.nothing_is_left_at_once();
}

/// The order of district 1 that a delivery takes which has waited for another one, after that has ended so.
fn oldest_while_another_takes_it(server: &TestServer, database: &str, end: &str) -> Option<String> {
    let take = TAKE_OLDEST.replace("$1", "1").replace("$2", "1");
    let mut first = server.connect(database);
    execute(&mut first, "BEGIN");
    assert_eq!(row(&mut first, &take), "1");
    let second = server.background(database, &take);
    let waits = format!(
        "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = {}",
        second.pid
    );
    server.wait_for(database, &waits, LONG);
    execute(&mut first, end);
    let messages = second.join().expect("a delivery");
    messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    })
}

/// Kilobytes of memory of its own that a process may take in addition between the first tenth of the run and its end.
const MOST_GROWTH_KB: u64 = 4096;

/// An hour, or as many seconds as `PGFSBENCH_SOAK_SECONDS` says.
#[test]
#[ignore = "`make soak` has it"]
fn a_long_run_keeps_all_conditions_and_its_clients_do_not_grow() {
    let server = server(&[]);
    let mut client = server.connect("postgres");
    let seconds = seconds();
    let arguments =
        format!(r#"workload => 'tpcc-like', scale => 2, clients => 8, duration => '{seconds} s'"#);
    let id = server.start_run(&arguments);
    let after = |tenths: u64| {
        let mut client = server.connect("postgres");
        let condition = format!(
            "SELECT done >= {} FROM fsbench.progress WHERE run_id = {id} AND phase = 'measure'",
            seconds * 100 * tenths
        );
        let deadline = LONG + std::time::Duration::from_secs(seconds);
        wait_until("the window has come so far", deadline, || {
            (rows(&mut client, &condition) == ["t"]).then_some(())
        });
        memory_of_clients(&server)
    };
    let early = after(1);
    let late = after(9);
    assert_eq!((early.len(), late.len()), (8, 8));
    for (early, late) in early.iter().zip(&late) {
        eprintln!("process {}: {} kB, then {} kB", early.0, early.1, late.1);
        assert_eq!(early.0, late.0, "the clients of the window");
        assert!(late.1 <= early.1 + MOST_GROWTH_KB, "{early:?} {late:?}");
    }
    let ended = ending(&mut client, &id);
    assert!(ended.starts_with("done"), "{ended}");
    assert_columns(
        &mut client,
        &format!("FROM fsbench.run_log WHERE run_id = {id}"),
        &[
            (
                "(SELECT count(*) FROM fsbench.verification v WHERE v.run_id = run_log.run_id AND moment = 'window' AND passed)",
                "13",
            ),
            ("failed", "0"),
            (
                "(SELECT sum(committed) > 0 AND bool_and(committed > 0) FROM fsbench.transaction_result t WHERE t.run_id = run_log.run_id)",
                "t",
            ),
            // Inputs of a long run are those of the specification.
            (
                "(SELECT count(*) FROM fsbench.finding f WHERE f.run_id = run_log.run_id AND code IN ('inputs_out_of_range', 'failed_transactions'))",
                "0",
            ),
            (
                "(SELECT count(*) FROM fsbench.transaction_failure f WHERE f.run_id = run_log.run_id AND sqlstate NOT IN ('40001', '40P01', '57014'))",
                "0",
            ),
        ],
    );
    server.nothing_is_left_at_once();
}

/// Each client of a run, with the kilobytes of memory that are its alone.
fn memory_of_clients(server: &TestServer) -> Vec<(i32, u64)> {
    let clients =
        (server.processes().into_iter()).filter(|process| process.title.contains("fsbench client"));
    clients
        .map(|process| {
            let status =
                fs::read_to_string(format!("/proc/{}/status", process.pid)).expect("its status");
            let line = status
                .lines()
                .find_map(|line| line.strip_prefix("RssAnon:"));
            let kilobytes = line
                .and_then(|line| line.split_whitespace().next())
                .expect("RssAnon");
            (process.pid, kilobytes.parse().expect("a number"))
        })
        .collect()
}
