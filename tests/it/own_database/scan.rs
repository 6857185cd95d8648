//! Scans of the user's tables in a copy.

use super::{PREPARE, run, shop};
use crate::common::{assert_refused, execute, row};
use pgfsbench_tests::Leaves;

/// A run of scans in the copy; `options` are further members of the options.
fn scan(table: &str, options: &str) -> String {
    format!(
        "SELECT run_id FROM fsbench.run(target => 'here', workload => 'scan', data => 'shop', database => 'shop', \
         options => '{{\"table\": \"{table}\", \"degrees\": [1, 2], \"repeats\": 2, \"readers\": [1]{options}}}')"
    )
}

const LINES: &str = r#"sales.\"Order Lines\""#;

#[test]
fn a_table_of_the_copy_is_scanned_with_all_its_partitions() {
    let place = shop();
    let mut client = place.server.connect("postgres");
    let mut operator = place.server.connect_as("op", "postgres");
    assert_eq!(row(&mut client, PREPARE), "t");
    execute(
        &mut client,
        "GRANT EXECUTE ON FUNCTION fsbench.prepare_data TO op",
    );
    let files = "SELECT sum(pg_relation_size(c)) FROM unnest('{sales.lines_1, sales.lines_2}'::regclass[]) c";
    let bytes = row(&mut place.server.connect("shop"), files);
    for further in ["", r#", "cache": "shared_buffers""#] {
        let id = row(&mut operator, &scan(LINES, further));
        let scans = format!(
            "SELECT count(*), count(DISTINCT degree), min(rows), max(rows), bool_and(used), min(bytes), \
               (SELECT min(bytes) FROM fsbench.scan_read WHERE run_id = {id}) FROM fsbench.scan WHERE run_id = {id} AND used"
        );
        let expected = format!("4|2|18000|18000|t|{bytes}|{bytes}");
        assert_eq!(row(&mut client, &scans), expected);
        let loads = format!(
            "SELECT load_ms IS NULL, used #>> '{{options,table}}' FROM fsbench.run_log WHERE run_id = {id}"
        );
        assert_eq!(row(&mut client, &loads), r#"t|sales."Order Lines""#);
    }
    for (role, table, code, words) in [
        ("op", "sales.gone", "55000", "does not exist in the copied"),
        ("op", "sales.recent", "55000", "is no table"),
        ("op", "secret", "42501", "permission denied for table"),
        ("op", "sales.hidden", "42501", "all rows of table"),
        ("super", "sales.basket", "55000", "cannot be scanned"),
        ("super", "sales.lines_3", "55000", "is empty"),
        (
            "super",
            "pg_catalog.pg_class",
            "55000",
            "of PostgreSQL itself",
        ),
    ] {
        let client = match role {
            "op" => &mut operator,
            _ => &mut client,
        };
        assert_refused(client, &scan(table, ""), code, &[words]);
    }
    // A superuser reads tables that hide rows from others.
    let id = row(&mut client, &scan("sales.hidden", ""));
    let rows = format!("SELECT max(rows) FROM fsbench.scan WHERE run_id = {id}");
    assert_eq!(row(&mut client, &rows), "1");
    execute(&mut client, "SELECT fsbench.drop_data('shop')");
    place.nothing_is_left("scans of a copy");
}

/// Tables whose index, statistics or key the planner takes a value from that a function of the owner's gives. Its error has a value in its words, and tells
/// the role that called it by the SQLSTATE.
const TRAPS: &str = "GRANT USAGE, CREATE ON SCHEMA sales TO clerk; SET ROLE clerk; \
     CREATE FUNCTION sales.tell(what text) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$BEGIN \
       IF current_user <> 'clerk' THEN RAISE EXCEPTION '% called with 4711-0815', what \
         USING ERRCODE = CASE current_user WHEN 'op' THEN 'P0002' WHEN 'fsbench_script' THEN 'P0003' ELSE 'P0001' END; END IF; RETURN 1; END$$; \
     CREATE TABLE sales.by_index AS SELECT generate_series(1, 1000) AS id; \
     CREATE TABLE sales.by_statistics AS SELECT generate_series(1, 1000) AS id; \
     CREATE TABLE sales.by_key (id int) PARTITION BY RANGE ((id + sales.tell('key'))); \
     CREATE TABLE sales.by_key_1 PARTITION OF sales.by_key FOR VALUES FROM (0) TO (5000); \
     INSERT INTO sales.by_key SELECT generate_series(1, 1000); \
     CREATE INDEX ON sales.by_index ((id + sales.tell('index'))); \
     CREATE STATISTICS sales.told ON (id + sales.tell('statistics')) FROM sales.by_statistics; \
     GRANT SELECT ON sales.by_index, sales.by_statistics, sales.by_key TO op";

#[test]
fn functions_of_a_table_are_called_with_the_rights_of_the_role_that_scans_it() {
    let place = shop();
    let mut client = place.server.connect("postgres");
    let mut operator = place.server.connect_as("op", "postgres");
    execute(&mut place.server.connect("shop"), TRAPS);
    execute(
        &mut client,
        "CREATE ROLE files IN ROLE pg_read_server_files; GRANT files TO op",
    );
    assert_eq!(row(&mut client, PREPARE), "t");
    execute(
        &mut client,
        "GRANT EXECUTE ON FUNCTION fsbench.prepare_data TO op",
    );
    for what in ["index", "statistics", "key"] {
        let scan = scan(&format!("sales.by_{what}"), "");
        for (client, code) in [(&mut operator, "P0002"), (&mut client, "P0003")] {
            let said = assert_refused(client, &scan, code, &["SQLSTATE", code]);
            assert!(!said.contains("4711-0815"), "{what}: {said}");
        }
    }
    let stored = "SELECT count(*), count(*) FILTER (WHERE to_jsonb(r)::text LIKE '%4711-0815%') FROM fsbench.run_log r WHERE status = 'failed'";
    assert_eq!(row(&mut client, stored), "6|0");
    // In the copy it still has this right.
    execute(&mut client, "REVOKE files FROM op");
    let words = ["had more rights", "pg_read_server_files"];
    assert_refused(&mut operator, &scan("item", ""), "42501", &words);
    let read = run("SELECT id FROM item WHERE id = 1;", "");
    assert_refused(&mut operator, &read, "42501", &words);
    execute(&mut client, "SELECT fsbench.drop_data('shop')");
    // A role of the original with the name of the role for superusers' runs.
    execute(
        &mut client,
        "CREATE ROLE fsbench_script IN ROLE pg_execute_server_program",
    );
    assert_eq!(row(&mut client, PREPARE), "t");
    assert_refused(
        &mut client,
        &scan("item", ""),
        "42501",
        &["fsbench_script", "may do more", "pg_execute_server_program"],
    );
    execute(&mut client, "SELECT fsbench.drop_data('shop')");
    place.nothing_is_left("scans of tables with functions");
}
