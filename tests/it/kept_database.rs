//! A kept work database is pgbench's: the same pages as those of `pgbench -i`, sound, and fit for pgbench to run on.

use crate::common::{execute, program, rows, run, server, work_database};
use pgfsbench_tests::{TestServer, assert_columns, refusal};

const TABLES: [&str; 3] = ["pgbench_accounts", "pgbench_branches", "pgbench_tellers"];

/// A work database that was loaded and only read.
fn kept_database(server: &TestServer, arguments: &str) -> String {
    let mut client = server.connect("postgres");
    let id = run(
        &mut client,
        &format!(
            "workload => 'select-only', clients => 1, transactions => 1, keep => true, {arguments}"
        ),
    );
    work_database(&mut client, &id)
}

/// Every item of every page of a table: where it is, its header without transaction ids, and its data.
fn items_of_table(table: &str) -> String {
    format!(
        "SELECT count(*), md5(string_agg(format('%s %s %s %s %s %s %s %s %s %s %s', page, lp, lp_off, lp_flags, lp_len, \
           t_ctid, t_infomask2, t_infomask, t_hoff, t_bits, t_data), ',' ORDER BY page, lp)) \
         FROM generate_series(0, pg_relation_size('{table}') / 8192 - 1) AS page, \
           heap_page_items(get_raw_page('{table}', page::int))"
    )
}

/// Every item of every page of a primary key.
fn items_of_key(table: &str) -> String {
    format!(
        "SELECT count(*), md5(string_agg(format('%s %s %s %s %s', page, itemoffset, ctid, itemlen, data), ',' ORDER BY page, itemoffset)) \
         FROM generate_series(1, pg_relation_size('{table}_pkey') / 8192 - 1) AS page, bt_page_items('{table}_pkey', page::int)"
    )
}

fn compared_with_pgbench(server: &TestServer, arguments: &str, init: &[&str]) {
    let ours = kept_database(server, arguments);
    execute(&mut server.connect("postgres"), "CREATE DATABASE theirs");
    program(
        server,
        "pgbench",
        &[&["-i", "-q"], init, &["theirs"]].concat(),
    );

    let mut ours = server.connect(&ours);
    let mut theirs = server.connect("theirs");
    for client in [&mut ours, &mut theirs] {
        execute(
            client,
            "CREATE EXTENSION pageinspect; CREATE EXTENSION pg_visibility",
        );
    }
    let mut same = |sql: &str| {
        let expected = rows(&mut theirs, sql);
        assert!(!expected.is_empty(), "{arguments}: {sql}");
        assert_eq!(rows(&mut ours, sql), expected, "{arguments}: {sql}");
    };
    same(
        "SELECT relname, relkind, relpages, reltuples, relallvisible, reloptions, relhasindex, relpersistence, \
           pg_relation_size(oid), pg_relation_size(oid, 'vm') \
         FROM pg_class WHERE relname LIKE 'pgbench%' ORDER BY 1",
    );
    same(
        "SELECT attrelid::regclass::text, attname, attnum, format_type(atttypid, atttypmod), attnotnull, attstorage, attstattarget \
         FROM pg_attribute WHERE attnum > 0 AND attrelid IN (SELECT oid FROM pg_class WHERE relname LIKE 'pgbench%') ORDER BY 1, 3",
    );
    same(
        "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint \
         WHERE conrelid::regclass::text LIKE 'pgbench%' ORDER BY 1, 2",
    );
    same(
        "SELECT tablename, attname, null_frac, n_distinct FROM pg_stats \
          WHERE tablename LIKE 'pgbench%' AND (tablename, attname) <> ('pgbench_accounts', 'bid') ORDER BY 1, 2",
    );
    for table in TABLES {
        same(&format!(
            "SELECT count(*), md5(string_agg(t::text, ',' ORDER BY ctid)) FROM {table} t"
        ));
        same(&items_of_table(table));
        same(&items_of_key(table));
        same(&format!(
            "SELECT * FROM pg_visibility_map_summary('{table}')"
        ));
        same(&format!("SELECT count(*) FROM pg_check_frozen('{table}')"));
    }
    same("SELECT count(*) FROM pgbench_history");
}

#[test]
fn pages_are_those_of_pgbench_at_any_fillfactor_logged_or_not() {
    let server = server(&[("autovacuum", "off")]);
    for (arguments, init) in [
        ("scale => 2", &["-s", "2"][..]),
        (
            r#"scale => 1, options => '{"fillfactor": 75}'"#,
            &["-s", "1", "-F", "75"],
        ),
        (
            r#"scale => 1, options => '{"unlogged": true}'"#,
            &["-s", "1", "--unlogged-tables"],
        ),
    ] {
        compared_with_pgbench(&server, arguments, init);
        server.start_anew();
    }
}

fn is_sound(server: &TestServer, database: &str) {
    let arguments = [
        "--install-missing",
        "--heapallindexed",
        "--rootdescend",
        database,
    ];
    assert_eq!(program(server, "pg_amcheck", &arguments), "");
}

#[test]
fn pgbench_runs_on_kept_databases() {
    let server = TestServer::with_extension(&[]);
    loaded_tables_are_sound(&server);
    server.start_anew();
    pgbench_runs_on_a_kept_database_and_it_is_not_used_again(&server);
    server.start_anew();
    pgbench_runs_a_script_of_ones_own_on_what_is_kept_as_the_manual_says(&server);
}

fn loaded_tables_are_sound(server: &TestServer) {
    let database = kept_database(server, "scale => 2");
    is_sound(server, &database);
    // After transactions too.
    let mut client = server.connect("postgres");
    let id = run(
        &mut client,
        "scale => 2, clients => 4, transactions => 500, seed => 1, keep => true",
    );
    let database = work_database(&mut client, &id);
    is_sound(server, &database);
}

fn pgbench_runs_on_a_kept_database_and_it_is_not_used_again(server: &TestServer) {
    let mut client = server.connect("postgres");
    let keep = "scale => 2, clients => 2, transactions => 100, seed => 1, keep => true";
    let id = run(&mut client, keep);
    let database = work_database(&mut client, &id);

    for arguments in [
        &["-n", "-c", "2", "-t", "50"][..],
        &["-n", "-c", "2", "-T", "1"],
        &["-n", "-c", "2", "-t", "50", "-M", "prepared"],
        &["-n", "-S", "-t", "50"],
    ] {
        let said = program(server, "pgbench", &[arguments, &[&database]].concat());
        assert!(said.contains("number of failed transactions: 0"), "{said}");
        assert!(said.contains("scaling factor: 2"), "{said}");
    }
    let mut kept = server.connect(&database);
    assert_columns(
        &mut kept,
        "FROM ( SELECT sum(abalance), NULL::bigint AS count FROM pgbench_accounts UNION ALL SELECT sum(tbalance), NULL FROM \
             pgbench_tellers UNION ALL SELECT sum(bbalance), NULL FROM pgbench_branches UNION ALL SELECT sum(delta), count(*) FROM \
             pgbench_history) s",
        &[("count(DISTINCT sum)", "1"), ("min(count) > 400", "t")],
    );

    // A trap in it, for whoever would use it again with more rights than its maker had.
    execute(
        &mut kept,
        "CREATE FUNCTION trap() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'trapped'; END $$; \
         CREATE TRIGGER trap BEFORE UPDATE ON pgbench_accounts FOR EACH ROW EXECUTE FUNCTION trap()",
    );
    let again = run(&mut client, keep);
    assert_ne!(work_database(&mut client, &again), database);
    assert_eq!(
        refusal(&mut kept, "UPDATE pgbench_accounts SET abalance = 0").message(),
        "trapped"
    );
    // It stays over a restart of the server.
    drop((client, kept));
    server.restart();
    let mut client = server.connect("postgres");
    run(&mut client, "scale => 1, clients => 1, transactions => 10");
    assert_eq!(
        rows(
            &mut client,
            "SELECT count(*) FROM pg_database WHERE datname LIKE 'fsbench_work%'"
        ),
        ["2"]
    );
}

fn pgbench_runs_a_script_of_ones_own_on_what_is_kept_as_the_manual_says(server: &TestServer) {
    let page = include_str!("../../docs/own-sql.md");
    let command = page
        .lines()
        .find(|line| line.starts_with("pgbench -n -f my.sql"));
    let database = kept_database(server, "scale => 1, seed => 1");
    let script = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(
        script.path(),
        "\\set aid random(1, 100000 * :scale)\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n",
    )
    .expect("a script");
    let script = script.path().display().to_string();
    let words: Vec<&str> = command
        .expect("the command")
        .split_whitespace()
        .skip(1)
        .map(|word| match word {
            "my.sql" => script.as_str(),
            "fsbench_work_7" => database.as_str(),
            "600" => "1",
            other => other,
        })
        .collect();
    let said = program(server, "pgbench", &words);
    assert!(said.contains("number of failed transactions: 0 "), "{said}");
    assert!(said.contains("scaling factor: 1\n"), "{said}");
}
