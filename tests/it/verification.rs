//! Data that are verified after the window or after a crash: data that are not what the transactions have left fail the run.

use crate::common::{ending, execute, row, rows, run, server};
use crate::directory_target::Place;
use crate::held::Held;
use pgfsbench_tests::{Leaves, TestServer, assert_columns};

#[test]
fn data_that_another_session_changes_fail_the_run_and_are_named() {
    let server = server(&[]);
    an_account_that_holds_something_else_fails_the_run_however_many_there_are(&server);
    a_row_that_is_gone_or_in_the_place_of_another_one_fails_the_run(&server);
    a_condition_that_fails_ends_the_run_and_is_named(&server);
}

/// A run in whose window this change is made after that many transactions, and which fails therefore. Its id and the DETAIL.
fn changed(
    server: &TestServer,
    arguments: &str,
    transactions: u32,
    change: &str,
) -> (String, String) {
    let mut client = server.connect("postgres");
    let mut held = Held::after(server, arguments, transactions);
    let mut other = server.connect(&held.database());
    assert_eq!(other.execute(change, &[]).expect(change), 1, "{change}");
    held.release();
    let id = held.id.clone();
    let ended = ending(&mut client, &id);
    let wanted = "failed XX001; the data does not agree with what was measured";
    assert!(ended.starts_with(wanted), "{change}: {ended}");
    server.nothing_is_left_at_once();
    let detail = format!("SELECT error_detail FROM fsbench.run_log WHERE run_id = {id}");
    let detail = row(&mut client, &detail);
    (id, detail)
}

fn an_account_that_holds_something_else_fails_the_run_however_many_there_are(server: &TestServer) {
    let mut client = server.connect("postgres");
    // Accounts of more than a gigabyte, ten times the pages that these need, are read only where the history names them.
    for (scale, read, which) in [(1, "all", "min"), (9, "changed", "max")] {
        let arguments = format!(
            "scale => {scale}, clients => 2, transactions => 100, warmup => '0', rate => 100, \
             options => '{{\"fillfactor\": 10, \"unlogged\": true}}'"
        );
        let sound = run(&mut client, &format!("{arguments}, keep => true"));
        let told = row(
            &mut client,
            &format!(
                "SELECT work_database, balances ->> 'accounts_read', balances ->> 'accounts', balances ->> 'fingerprint' \
                 FROM fsbench.run_log WHERE run_id = {sound}"
            ),
        );
        // The fingerprint is that of all accounts, however they were read.
        let database = told.split('|').next().expect("a name");
        let there = row(
            &mut server.connect(database),
            "SELECT sum(abalance), sum(hashint8extended(aid, abalance)) FROM pgbench_accounts WHERE abalance <> 0",
        );
        assert_eq!(told, format!("{database}|{read}|{there}"));
        execute(&mut client, &format!("DROP DATABASE \"{database}\""));

        let change = format!(
            "UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = (SELECT {which}(aid) FROM pgbench_history)"
        );
        let (_, detail) = changed(server, &arguments, 40, &change);
        assert!(
            detail.contains("the balances of pgbench_accounts sum up to")
                && detail.contains("(+1)"),
            "{read}: {detail}"
        );
    }
}

fn a_row_that_is_gone_or_in_the_place_of_another_one_fails_the_run(server: &TestServer) {
    for (change, words) in [
        (
            "DELETE FROM fsbench_commit WHERE number = 3 AND client = 0",
            "(-1)",
        ),
        ("INSERT INTO fsbench_commit VALUES (0, 1)", "(+1)"),
        (
            "UPDATE fsbench_commit SET number = 4 WHERE number = 3 AND client = 1",
            "of 1 of 2 clients the rows are not those that it has inserted",
        ),
    ] {
        // Each client has inserted four rows at least.
        let arguments =
            "workload => 'commit', clients => 2, transactions => 100, warmup => '0', rate => 100";
        let (_, detail) = changed(server, arguments, 104, change);
        assert!(detail.contains(words), "{change}: {detail}");
    }
}

fn a_condition_that_fails_ends_the_run_and_is_named(server: &TestServer) {
    let (id, detail) = changed(
        server,
        r#"workload => 'tpcc-like', scale => 1, clients => 2, transactions => 200, warmup => '0', rate => 100,
           options => '{"unlogged": true, "foreign_keys": false, "conditions": "cheap"}'"#,
        40,
        "UPDATE customer SET c_delivery_cnt = c_delivery_cnt + 1 WHERE c_d_id = 1 AND c_id = 1",
    );
    assert_eq!(
        detail,
        "After the run condition 11 (clause 3.3.2.11) fails for 1 of 10: the orders, the rows of new_order and the deliveries since the load."
    );
    // All outcomes are stored, and those that were not made on request.
    let checks = format!(
        "SELECT count(*), count(*) FILTER (WHERE passed), count(*) FILTER (WHERE passed IS NULL AND note LIKE 'not made: %'), \
         string_agg(name, ',') FILTER (WHERE NOT passed) FROM fsbench.verification WHERE run_id = {id} AND moment = 'window'"
    );
    let checks = row(&mut server.connect("postgres"), &checks);
    assert_eq!(checks, "13|9|3|condition 11");
}

#[test]
fn what_each_workload_has_committed_on_a_target_is_there_after_a_crash() {
    let place = Place::new("");
    rows_of_each_client_are_there_after_a_crash(&place);
    conditions_hold_and_orders_of_each_client_are_there_after_a_crash(&place);
    crate::scripts::checks_are_made_after_a_crash(&place);
    place.nothing_is_left("crashes on a target");
}

fn rows_of_each_client_are_there_after_a_crash(place: &Place) {
    let mut client = place.connect("postgres");
    let id = run(
        &mut client,
        r#"'here', 'commit', clients => 3, transactions => 40, options => '{"crash": true}'"#,
    );
    assert_columns(
        &mut client,
        &format!("FROM fsbench.recovery JOIN fsbench.run_log USING (run_id) WHERE run_id = {id}"),
        &[
            ("transactions_committed", "120"),
            ("transactions_found", "120"),
            ("balances_verified", "t"),
            ("problem IS NULL", "t"),
            (
                "balances",
                r#"{"rows": 120, "clients": 3, "wrong_clients": 0, "rows_by_client": 240}"#,
            ),
        ],
    );
    let stored = format!(
        "SELECT measure, transactions FROM fsbench.histogram WHERE run_id = {id} ORDER BY 1"
    );
    assert_eq!(rows(&mut client, &stored), ["commit|120", "latency|120"]);
    let checks = format!(
        "SELECT moment, name, passed, note IS NULL FROM fsbench.verification WHERE run_id = {id} ORDER BY position"
    );
    assert_eq!(
        rows(&mut client, &checks),
        [
            "crash|rows|t|t",
            "crash|clients_with_wrong_numbers|t|t",
            "crash|rows_by_client||f",
        ]
    );
    place.nothing_is_left_at_once();
}

fn conditions_hold_and_orders_of_each_client_are_there_after_a_crash(place: &Place) {
    let mut client = place.connect("postgres");
    let id = run(
        &mut client,
        r#"'here', 'tpcc-like', scale => 1, clients => 3, transactions => 60, options => '{"crash": true}'"#,
    );
    assert_columns(
        &mut client,
        &format!("FROM fsbench.recovery JOIN fsbench.run_log USING (run_id) WHERE run_id = {id}"),
        &[
            ("balances_verified", "t"),
            ("problem IS NULL", "t"),
            ("jsonb_array_length(balances -> 'conditions')", "12"),
            (
                "(SELECT sum((o ->> 'orders')::bigint) FROM jsonb_array_elements(balances -> 'orders') o) \
                 = (SELECT sum(new_orders) FROM fsbench.tpcc_client c WHERE c.run_id = run_log.run_id)",
                "t",
            ),
            (
                "(SELECT count(*) FROM fsbench.tpcc_client c WHERE c.run_id = run_log.run_id)",
                "3",
            ),
            (
                "(SELECT count(*) FROM fsbench.verification v WHERE v.run_id = run_log.run_id AND moment = 'crash' AND passed)",
                "13",
            ),
        ],
    );
    place.nothing_is_left_at_once();
}
