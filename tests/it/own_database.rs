//! A copy of this server becomes data with a name, and runs work in its databases: nothing reaches the original, or is left of a copy.

mod backups;
mod recorded;
mod room;
mod scan;
mod study;
mod values;

use crate::common::{assert_refused, execute, owned_directory, row, rows};
use crate::directory_target::Place;
use pgfsbench_tests::{LONG, Leaves, OwnedDirectory, TestServer, refusal, wait_until};
use postgres::Client;
use std::fs;
use std::ops::Deref;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

/// A server with what a copy must not have: an archive, a slot, an open prepared transaction, a subscription, settings in files.
const BUSY: &[(&str, &str)] = &[
    ("archive_mode", "on"),
    ("archive_command", "/bin/true"),
    ("wal_level", "logical"),
    // The test reads the WAL at the end.
    ("wal_keep_size", "1GB"),
    ("max_prepared_transactions", "5"),
    ("max_worker_processes", "40"),
    ("shared_preload_libraries", "pg_stat_statements, pgfsbench"),
    ("ssl_key_file", "keys/own.key"),
    // It writes statistics, which count as changes of rows.
    ("autovacuum", "off"),
];

/// A server with a target, and the directory of its tablespace.
struct Shop {
    place: Place,
    _tablespace: OwnedDirectory,
}

impl Deref for Shop {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.place
    }
}

fn shop() -> Shop {
    let server = TestServer::with_extension(BUSY);
    let keys = server.data().join("keys");
    fs::create_dir(&keys).expect("a directory");
    fs::write(keys.join("own.key"), "secret").expect("a key");
    let tablespace = owned_directory("pgfsbench-tablespace.");
    let mut client = server.connect("postgres");
    execute(
        &mut client,
        "CREATE ROLE clerk LOGIN; CREATE ROLE op LOGIN; SELECT fsbench.grant_operator('op'); SELECT pg_create_physical_replication_slot('standby')",
    );
    execute(&mut client, "CREATE DATABASE shop");
    execute(
        &mut client,
        &format!(
            "CREATE TABLESPACE fast LOCATION '{}'",
            tablespace.path().display()
        ),
    );
    let mut shop = server.connect("shop");
    execute(
        &mut shop,
        "CREATE TABLE item (id int PRIMARY KEY, stock int NOT NULL); INSERT INTO item SELECT n, 1000 FROM generate_series(1, 100) n; \
         CREATE TABLE secret (card text PRIMARY KEY) TABLESPACE fast; INSERT INTO secret VALUES ('4711-0815'); GRANT SELECT, UPDATE ON item TO clerk; \
         GRANT SELECT ON item TO op",
    );
    execute(
        &mut shop,
        "CREATE SCHEMA sales; GRANT USAGE ON SCHEMA sales TO op; \
         CREATE TABLE sales.\"Order Lines\" (id int, region int, note text) PARTITION BY LIST (region); \
         CREATE TABLE sales.lines_1 PARTITION OF sales.\"Order Lines\" FOR VALUES IN (1) TABLESPACE fast; \
         CREATE TABLE sales.lines_2 PARTITION OF sales.\"Order Lines\" FOR VALUES IN (2); \
         CREATE TABLE sales.lines_3 PARTITION OF sales.\"Order Lines\" FOR VALUES IN (3); \
         INSERT INTO sales.\"Order Lines\" SELECT n, 1 + n % 2, 'a note' FROM generate_series(1, 20000) n; \
         DELETE FROM sales.\"Order Lines\" WHERE id % 10 = 0; \
         CREATE VIEW sales.recent AS SELECT id FROM sales.\"Order Lines\"; \
         CREATE TABLE sales.hidden (id int); INSERT INTO sales.hidden VALUES (1); ALTER TABLE sales.hidden ENABLE ROW LEVEL SECURITY; \
         CREATE UNLOGGED TABLE sales.basket (id int); INSERT INTO sales.basket VALUES (1); \
         GRANT SELECT ON sales.\"Order Lines\", sales.hidden TO op",
    );
    execute(
        &mut shop,
        "CREATE SUBSCRIPTION news CONNECTION 'host=/nowhere' PUBLICATION all_news WITH (connect = false, slot_name = 'news')",
    );
    execute(&mut shop, "ALTER SUBSCRIPTION news ENABLE");
    execute(
        &mut shop,
        "BEGIN; UPDATE item SET stock = 0 WHERE id = 100; PREPARE TRANSACTION 'left open'",
    );
    Shop {
        place: Place::beside(server, ""),
        _tablespace: tablespace,
    }
}

/// An experiment of another database keeps the data as soon as it is started.
fn another_database_needs_the_data(place: &Shop) {
    execute(
        &mut place.server.connect("postgres"),
        "CREATE DATABASE second",
    );
    let mut second = place.server.connect("second");
    execute(&mut second, "CREATE EXTENSION pgfsbench");
    let directory = place.path().display();
    execute(
        &mut second,
        &format!(
            "SELECT fsbench.create_target('here', directory => '{directory}'); BEGIN; \
             SELECT fsbench.experiment('elsewhere', targets => '{{here}}', factors => '{{\"clients\": [1, 2]}}', workload => 'script', \
               scripts => 'SELECT 1;', data => 'shop', database => 'shop', duration => '1 s')"
        ),
    );
    assert_refused(
        &mut place.server.connect("postgres"),
        "SELECT fsbench.drop_data('shop')",
        "55006",
        &["An experiment of database \"second\" is not over"],
    );
    execute(
        &mut second,
        "COMMIT; SELECT fsbench.cancel_experiment('elsewhere')",
    );
    // Its mark goes when its conductor has seen that it is over.
    let marks = place.server.data().join("pgfsbench");
    wait_until("the mark of the experiment is gone", LONG, || {
        let mut entries = fs::read_dir(&marks).ok()?.flatten();
        let is_mark = |name: &str| name.starts_with("experiment-");
        let has_mark = entries.any(|entry| entry.file_name().to_str().is_some_and(is_mark));
        (!has_mark).then_some(())
    });
}

const PREPARE: &str =
    "SELECT fsbench.prepare_data('shop', from_server => true, max_rate => '1024M') > 1000000";

/// A run of a script in the copy; `further` are arguments.
fn run(scripts: &str, further: &str) -> String {
    format!(
        "SELECT run_id FROM fsbench.run(target => 'here', workload => 'script', data => 'shop', database => 'shop', clients => 2, transactions => 20, \
         scripts => $s${scripts}$s$ {further})"
    )
}

/// Queries on the copy whose answers tell that it is on its own.
const ALONE: &str = r#", checks => '[
    {"name": "archive", "sql": "SHOW archive_mode", "expected": "off"},
    {"name": "network", "sql": "SHOW listen_addresses", "expected": ""},
    {"name": "subscriptions", "sql": "SHOW max_logical_replication_workers", "expected": "0"},
    {"name": "enabled", "sql": "SELECT count(*) FROM pg_subscription WHERE subenabled", "expected": 0},
    {"name": "slots", "sql": "SELECT count(*) FROM pg_replication_slots", "expected": 0},
    {"name": "prepared", "sql": "SELECT count(*) FROM pg_prepared_xacts", "expected": 0},
    {"name": "role", "sql": "SELECT rolsuper FROM pg_roles WHERE rolname = current_user", "expected": "f"},
    {"name": "before", "sql": "SELECT sum(stock) FROM item", "expected": 100000, "moment": "load"},
    {"name": "sum", "sql": "SELECT sum(stock) FROM item", "expected": 99960}]'"#;

const TAKE: &str = "\\set id random(1, 99)\nUPDATE item SET stock = stock - 1 WHERE id = :id;";

/// Rows that a database of the server has changed, and sums of the tables.
fn state(server: &TestServer) -> String {
    let mut shop = server.connect("shop");
    execute(&mut shop, "ROLLBACK; SELECT pg_stat_force_next_flush()");
    row(
        &mut shop,
        "SELECT tup_inserted, tup_updated, tup_deleted, (SELECT sum(stock) FROM item), (SELECT count(*) FROM pg_prepared_xacts), \
           (SELECT count(*) FROM pg_replication_slots), (SELECT count(*) FROM pg_class) FROM pg_stat_database WHERE datname = 'shop'",
    )
}

/// Records of WAL since then that change files of the user's database, or of all databases together. Hint bits and pruned pages come by reading.
fn others_in_wal(server: &TestServer, from: &str) -> Vec<String> {
    let mut client = server.connect("postgres");
    let (shop, to) = (
        row(
            &mut client,
            "SELECT oid FROM pg_database WHERE datname = 'shop'",
        ),
        row(&mut client, "SELECT pg_current_wal_flush_lsn()"),
    );
    let records = server.wal(from, &to);
    assert!(records.iter().any(|record| record.contains("BACKUP_END")));
    let of_shop = format!("/{shop}/");
    let is_of_others = |record: &String| {
        let is_shared = record.contains(" 1664/0/")
            && !["FPI_FOR_HINT", "PRUNE"]
                .iter()
                .any(|hint| record.contains(hint));
        is_shared || record.contains(&of_shop)
    };
    records.into_iter().filter(is_of_others).collect()
}

/// A target whose programs say that they are of another major version.
fn programs_of_another_version_are_refused(place: &Place) {
    let programs = owned_directory("pgfsbench-programs.");
    for name in ["initdb", "postgres"] {
        let program = programs.path().join(name);
        fs::write(&program, "#!/bin/sh\necho 'postgres (PostgreSQL) 14.1'\n").expect("a program");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("chmod");
    }
    let mut client = place.server.connect("postgres");
    let create = format!(
        "SELECT fsbench.create_target('old', directory => '{}', bindir => '{}')",
        place.path().display(),
        programs.path().display()
    );
    execute(&mut client, &create);
    assert_refused(
        &mut client,
        &run(TAKE, "").replace("'here'", "'old'"),
        "55000",
        &[
            "data \"shop\" are of another major version",
            "are PostgreSQL 14",
            "bindir",
        ],
    );
    assert!(place.is_empty(), "something was copied");
}

/// Adds to the note of the copy a library that does not exist, as if it had been removed since.
fn a_library_goes(client: &mut Client) {
    let directory = row(client, "SELECT directory FROM fsbench.prepared_data");
    let note = Path::new(&directory).join("note.json");
    let before = fs::read_to_string(&note).expect("a note");
    let after = before.replace(r#""libraries":["#, r#""libraries":["gone","#);
    assert_ne!(before, after);
    fs::write(&note, after).expect("it can be written");
}

#[test]
fn scripts_run_on_a_copy_of_the_server_and_change_nothing_in_the_original() {
    let place = shop();
    let mut client = place.server.connect("postgres");
    let before = state(&place.server);
    let lsn = row(&mut client, "SELECT pg_current_wal_flush_lsn()");
    assert_refused(
        &mut client,
        &run(TAKE, ""),
        "22023",
        &["data \"shop\" do not exist", "prepare_data"],
    );
    execute(&mut client, "BEGIN");
    assert_eq!(row(&mut client, PREPARE), "t");
    // A copy that replays CREATE TABLESPACE would write the files of the original.
    let made_meanwhile = owned_directory("pgfsbench-tablespace.");
    let mut other = place.server.connect("postgres");
    execute(&mut other, "SET lock_timeout = '10ms'");
    let create = format!(
        "CREATE TABLESPACE late LOCATION '{}'",
        made_meanwhile.path().display()
    );
    assert_eq!(refusal(&mut other, &create).code().code(), "55P03");
    execute(&mut client, "COMMIT");
    assert_refused(
        &mut client,
        PREPARE,
        "42710",
        &["exist already", "drop_data"],
    );
    let known = "SELECT data, contents FROM fsbench.prepared_data";
    assert_eq!(rows(&mut client, known), ["shop|own"]);
    programs_of_another_version_are_refused(&place);
    a_library_goes(&mut client);
    // A restart of the same run begins with the same rows.
    for settings in [
        "",
        r#", settings => '{"max_logical_replication_workers": 4}'"#,
    ] {
        let id = row(&mut client, &run(TAKE, &format!("{ALONE}{settings}")));
        let result = format!(
            "SELECT status, transactions_total, failed FROM fsbench.result WHERE run_id = {id}"
        );
        assert_eq!(row(&mut client, &result), "done|40|0");
        let not_loaded = format!(
            "SELECT storage -> 'libraries_not_loaded' FROM fsbench.environment WHERE run_id = {id}"
        );
        assert_eq!(row(&mut client, &not_loaded), r#"["gone"]"#);
        let checks = format!(
            "SELECT count(*), count(*) FILTER (WHERE moment = 'load') FROM fsbench.verification WHERE run_id = {id} AND passed"
        );
        assert_eq!(row(&mut client, &checks), "9|1");
    }
    // No transaction is made where the data are not as the caller wants them.
    let wrong = r#", checks => '[{"name": "stock", "sql": "SELECT sum(stock) FROM item", "expected": 1, "moment": "load"}]'"#;
    assert_refused(
        &mut client,
        &run(TAKE, wrong),
        "XX001",
        &["check \"stock\" has failed", "another value"],
    );
    let stored = "SELECT r.transactions_total, v.moment, v.passed FROM fsbench.run_log r JOIN fsbench.verification v USING (run_id) \
       WHERE r.status = 'failed' AND v.name = 'stock'";
    assert_eq!(row(&mut client, stored), "|load|f");
    let directory = row(&mut client, "SELECT directory FROM fsbench.prepared_data");
    let copy = Path::new(&directory).join("data");
    assert!(copy.join("PG_VERSION").exists() && !copy.join("keys/own.key").exists());
    let outside = copy.join("pg_tblspc/99999");
    symlink(made_meanwhile.path(), &outside).expect("a link");
    assert_refused(
        &mut client,
        &run(TAKE, ""),
        "55000",
        &["a tablespace is outside of the copy"],
    );
    fs::remove_file(outside).expect("it is there");
    assert_refused(
        &mut client,
        &run(TAKE, "").replace("database => 'shop'", "database => 'gone'"),
        "22023",
        &[
            "database \"gone\" does not exist in the data \"shop\"",
            "A run can work in \"shop\"",
        ],
    );
    // No run of the experiment has copied the data yet.
    execute(
        &mut client,
        "SELECT fsbench.experiment('planned', targets => '{here}', factors => '{\"clients\": [1, 2]}', workload => 'script', scripts => 'SELECT 1;', \
         data => 'shop', database => 'shop', duration => '1 s', max_blocks => 3, start => false)",
    );
    assert_refused(
        &mut client,
        "SELECT fsbench.drop_data('shop')",
        "55006",
        &[
            "prepared data are in use",
            "Experiment \"planned\" is not over",
        ],
    );
    execute(&mut client, "SELECT fsbench.resume_experiment('planned')");
    execute(&mut client, "CALL fsbench.wait_experiment('planned')");
    let ended = "SELECT status, (SELECT count(*) >= 6 AND bool_and(outcome <> 'failed') FROM fsbench.experiment_run r WHERE r.experiment_id = e.experiment_id) \
                 FROM fsbench.experiment e WHERE experiment = 'planned'";
    assert_eq!(row(&mut client, ended), "done|t");
    assert_eq!(others_in_wal(&place.server, &lsn), Vec::<String>::new());
    another_database_needs_the_data(&place);
    // Data that a run has loaded go, and a copy with a name stays.
    execute(&mut client, "SELECT fsbench.drop_prepared_data()");
    assert_eq!(rows(&mut client, known), ["shop|own"]);
    assert_eq!(
        row(&mut client, "SELECT fsbench.drop_data('shop') > 1000000"),
        "t"
    );
    assert_refused(
        &mut client,
        "SELECT fsbench.drop_data('shop')",
        "42704",
        &["do not exist"],
    );
    assert_eq!(state(&place.server), before);
    place.nothing_is_left("runs on a copy");
    let prepared = place
        .server
        .data()
        .join("pgfsbench/pgsql_tmp_prepared_data");
    let left = fs::read_dir(prepared).expect("the place").flatten();
    let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["lock"]);
}

/// Checks after a crash, of a role that is no superuser: two of them would show a value of the data.
const CRASH: &str = r#", options => '{"crash": true}', checks => '[
    {"name": "role", "sql": "SELECT session_user", "expected": "op"},
    {"name": "libraries", "sql": "SHOW pg_stat_statements.max", "expected": "5000"},
    {"name": "value", "sql": "SELECT stock * 4711 FROM item WHERE id = 1", "expected": 1},
    {"name": "error", "sql": "SELECT (stock * 4711)::text::date FROM item WHERE id = 1", "expected": 1}]'"#;

/// Scripts of a superuser run as another role, and their errors have no value of the data.
fn scripts_of_a_superuser_tell_no_value(client: &mut Client) {
    assert_refused(
        client,
        &run("COPY item TO PROGRAM 'true';", ""),
        "42501",
        &["external program"],
    );
    assert_refused(
        client,
        &run("SELECT 1 FROM gone;", ""),
        "42P01",
        &["relation \"gone\" does not exist", "SELECT 1 FROM gone"],
    );
    for script in [
        "INSERT INTO secret SELECT card FROM secret;",
        "SELECT card::int FROM secret;",
        "SELECT card::regclass FROM secret;",
        "DO $$BEGIN RAISE EXCEPTION '%', (SELECT card FROM secret); END$$;",
        "DO $$BEGIN RAISE EXCEPTION '%', (SELECT card FROM secret) USING ERRCODE = '53000'; END$$;",
    ] {
        let said = refusal(client, &run(script, ""));
        let said = format!("{said:?}");
        assert!(
            said.contains("SQLSTATE") && !said.contains("4711-0815"),
            "{said}"
        );
    }
    let stored = "SELECT count(*), count(*) FILTER (WHERE to_jsonb(r)::text LIKE '%4711-0815%') FROM fsbench.run_log r WHERE status = 'failed'";
    assert_eq!(row(client, stored), "10|0");
}

/// Errors of scripts show the command that has failed, which is a text.
fn no_export_without_texts_has_a_command(client: &mut Client) {
    for (texts, expected) in [("true", "t"), ("false", "f")] {
        let exported = format!(
            "SELECT bool_or(line LIKE '%The command is%') FROM fsbench.export(run_ids => ARRAY(SELECT run_id FROM fsbench.run_log WHERE status = 'failed'), \
               texts => {texts}) line"
        );
        assert_eq!(row(client, &exported), expected);
    }
}

/// PostgreSQL leaves constants in utility statements, and the simple protocol puts values of variables there.
fn no_statement_has_a_value(client: &mut Client) {
    let script = "SELECT stock * 4711 AS n FROM item WHERE id = 1 \\gset\nSET app.tenant = :n;\nSELECT id FROM item WHERE id = 1 AND :n > 0;";
    let id = row(client, &run(script, ", protocol => 'simple'"));
    let stored = format!(
        "SELECT count(*) FILTER (WHERE query LIKE '%4711%'), bool_or(query = 'SET'), bool_or(query LIKE 'SELECT id FROM item%') \
         FROM fsbench.statement WHERE run_id = {id}"
    );
    assert_eq!(row(client, &stored), "0|t|t");
}

#[test]
fn a_copy_gives_no_role_a_right_and_no_result_a_value() {
    let place = shop();
    let mut client = place.server.connect("postgres");
    let mut operator = place.server.connect_as("op", "postgres");
    assert_eq!(refusal(&mut operator, PREPARE).code().code(), "42501");
    assert_eq!(row(&mut client, PREPARE), "t");
    let read = "SELECT stock FROM item WHERE id = 1;";
    assert_refused(
        &mut operator,
        &run(read, ""),
        "42501",
        &["permission denied to use the data"],
    );
    // Nor does it learn which databases the copy has.
    assert_refused(
        &mut operator,
        &run(read, "").replace("database => 'shop'", "database => '?'"),
        "42501",
        &["permission denied to use the data"],
    );
    execute(
        &mut client,
        "GRANT EXECUTE ON FUNCTION fsbench.prepare_data TO op",
    );
    let who = r#", checks => '[{"name": "role", "sql": "SELECT current_user", "expected": "op"}]'"#;
    let id = row(&mut operator, &run(read, who));
    let status = format!("SELECT status FROM fsbench.result WHERE run_id = {id}");
    assert_eq!(row(&mut client, &status), "done");
    // The right may be revoked while an experiment waits to be started.
    execute(
        &mut operator,
        "SELECT fsbench.experiment('waiting', targets => '{here}', factors => '{\"clients\": [1, 2]}', workload => 'script', scripts => 'SELECT 1;', \
         data => 'shop', database => 'shop', duration => '1 s', start => false)",
    );
    execute(
        &mut client,
        "REVOKE EXECUTE ON FUNCTION fsbench.prepare_data FROM op",
    );
    assert_refused(
        &mut operator,
        "SELECT fsbench.resume_experiment('waiting')",
        "42501",
        &["permission denied to use the data"],
    );
    execute(
        &mut client,
        "GRANT EXECUTE ON FUNCTION fsbench.prepare_data TO op; SELECT fsbench.cancel_experiment('waiting')",
    );
    for forbidden in [
        "SELECT card FROM secret;",
        "UPDATE item SET stock = 0;",
        "CREATE TABLE new (n int);",
    ] {
        assert_refused(
            &mut operator,
            &run(forbidden, ""),
            "42501",
            &["permission denied"],
        );
    }
    scripts_of_a_superuser_tell_no_value(&mut client);
    no_export_without_texts_has_a_command(&mut client);
    no_statement_has_a_value(&mut client);
    let id = row(&mut operator, &run(read, CRASH));
    let checks = format!(
        "SELECT string_agg(name || ' ' || coalesce(passed::text, '?'), ', ' ORDER BY position) FROM fsbench.verification WHERE run_id = {id} AND moment = 'crash'"
    );
    assert_eq!(
        row(&mut client, &checks),
        "role true, libraries true, value false, error ?"
    );
    let stored = format!(
        "SELECT (SELECT count(*) FROM fsbench.verification v WHERE run_id = {id} AND to_jsonb(v)::text LIKE '%4711000%'), \
           (SELECT count(*) FROM fsbench.recovery r WHERE run_id = {id} AND to_jsonb(r)::text LIKE '%4711000%'), \
           (SELECT count(*) FROM fsbench.finding f WHERE run_id = {id} AND to_jsonb(f)::text LIKE '%4711000%'), \
           (SELECT problem LIKE '%another value%' FROM fsbench.recovery WHERE run_id = {id})"
    );
    assert_eq!(row(&mut client, &stored), "0|0|0|t");
    values::are_in_no_table_export_or_page(&mut client);
    execute(&mut client, "SELECT fsbench.drop_data('shop')");
    place.nothing_is_left("failed runs on a copy");
}

#[test]
fn other_workloads_make_their_tables_in_the_copy() {
    let place = shop();
    let mut client = place.server.connect("postgres");
    assert_eq!(row(&mut client, PREPARE), "t");
    let own = "data => 'shop', database => 'shop'";
    let id = row(
        &mut client,
        &format!(
            "SELECT run_id FROM fsbench.run(target => 'here', scale => 1, clients => 1, transactions => 50, {own})"
        ),
    );
    let result = format!(
        "SELECT status, transactions_total, load_ms > 0 FROM fsbench.result WHERE run_id = {id}"
    );
    assert_eq!(row(&mut client, &result), "done|50|t");
    // Each of several servers works in a copy of its own.
    let id = row(
        &mut client,
        &format!(
            "SELECT run_id FROM fsbench.run(target => 'here', scale => 1, clients => 1, duration => '2 s', warmup => '0', options => '{{\"instances\": 2}}', {own})"
        ),
    );
    let shares = format!(
        "SELECT status, (SELECT count(*) FROM fsbench.run_instance i WHERE i.run_id = r.run_id AND transactions > 0), \
           (SELECT count(*) FROM fsbench.verification v WHERE v.run_id = r.run_id AND NOT passed) FROM fsbench.run_log r WHERE run_id = {id}"
    );
    assert_eq!(row(&mut client, &shares), "done|2|0");
    let both = |id: &str| {
        format!(
            "SELECT r.status, (SELECT balances_verified FROM fsbench.recovery c WHERE c.run_id = r.run_id), \
               (SELECT count(*) FROM fsbench.maintenance m WHERE m.run_id = r.run_id) FROM fsbench.run_log r WHERE run_id = {id}"
        )
    };
    for (options, expected) in [
        (r#"{"crash": true}"#, "done|t|0"),
        (r#"{"maintenance": true}"#, "done||4"),
    ] {
        let id = row(
            &mut client,
            &format!(
                "SELECT run_id FROM fsbench.run(target => 'here', scale => 1, clients => 1, transactions => 50, options => '{options}', {own})"
            ),
        );
        assert_eq!(row(&mut client, &both(&id)), expected);
    }
    assert_refused(
        &mut client,
        &format!(
            "SELECT fsbench.run(target => 'here', workload => 'tpcc-like', scale => 1, clients => 1, transactions => 5, {own})"
        ),
        "42710",
        &["collide", "these names already: item, item_pkey", "script"],
    );
    for (wrong, words) in [
        (
            "target => 'here', data => 'shop'",
            "the argument \"database\" is missing",
        ),
        (
            "target => 'here', database => 'shop'",
            "the argument \"data\" is missing",
        ),
        ("data => 'shop', database => 'shop'", "needs a target"),
        (
            "target => 'here', data => 'shop', database => 'postgres'",
            "cannot work in the database",
        ),
        (
            "target => 'here', data => 'other', database => 'shop'",
            "do not exist",
        ),
        (
            "target => 'here', workload => 'fsync', data => 'shop', database => 'shop'",
            "has no parameter \"data\"",
        ),
    ] {
        assert_refused(
            &mut client,
            &format!("SELECT fsbench.run({wrong})"),
            "22023",
            &[words],
        );
    }
    study::is_carried_out_in_the_copy(&mut client);
    execute(&mut client, "SELECT fsbench.drop_data('shop')");
    place.nothing_is_left("runs of tpcb on a copy");
}
