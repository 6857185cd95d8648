//! The tables as they are loaded: equal to those that the server would make, whatever the number of loaders, also after a crash.

use crate::common::{ending, execute, row, rows, run, server, work_database};
use pgfsbench_tests::{Leaves, PRELOADED, assert_columns};
use postgres::Client;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// Tables with the columns of their primary keys.
const KEYS: &[(&str, &str)] = &[
    ("item", "i_id"),
    ("warehouse", "w_id"),
    ("district", "d_w_id, d_id"),
    ("customer", "c_w_id, c_d_id, c_id"),
    ("orders", "o_w_id, o_d_id, o_id"),
    ("new_order", "no_w_id, no_d_id, no_o_id"),
    ("order_line", "ol_w_id, ol_d_id, ol_o_id, ol_number"),
    ("stock", "s_w_id, s_i_id"),
];

/// Places of the entries of an index's pages, and their data.
fn items_of_index(index: &str) -> String {
    format!(
        "SELECT count(*), md5(string_agg(format('%s %s %s %s %s', page, itemoffset, ctid, itemlen, data), ',' ORDER BY page, itemoffset)) \
         FROM generate_series(1, pg_relation_size('{index}') / 8192 - 1) AS page, bt_page_items('{index}', page::int)"
    )
}

/// Rows, primary keys and foreign keys as the loader writes them, past the server's own checks: the server makes the checks here.
#[test]
fn loaded_tables_are_those_that_the_server_would_make() {
    let server = server(&[("autovacuum", "off")]);
    let mut client = server.connect("postgres");
    // Nothing is written after the load.
    let id = run(
        &mut client,
        r#"workload => 'tpcc-like', scale => 2, clients => 1, transactions => 1, warmup => '0', keep => true, options => '{"mix": {"stock-level": 1}}'"#,
    );
    let database = work_database(&mut client, &id);
    let mut there = server.connect(&database);
    execute(
        &mut there,
        "CREATE EXTENSION amcheck; CREATE EXTENSION pageinspect; CREATE EXTENSION pg_visibility",
    );
    let of = |kind: &str| {
        format!(
            "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = '{kind}' ORDER BY 1"
        )
    };
    let tables = rows(&mut there, &of("r"));
    assert_eq!(tables.len(), 9);
    for table in &tables {
        assert_columns(
            &mut there,
            "",
            &[
                (
                    &format!("(SELECT count(*) FROM verify_heapam('{table}'))"),
                    "0",
                ),
                (
                    &format!("(SELECT count(*) FROM pg_check_frozen('{table}'))"),
                    "0",
                ),
                (
                    &format!("(SELECT count(*) FROM pg_check_visible('{table}'))"),
                    "0",
                ),
            ],
        );
    }
    let indexes = rows(&mut there, &of("i"));
    assert_eq!(indexes.len(), 10);
    for index in &indexes {
        execute(
            &mut there,
            &format!("SELECT bt_index_parent_check('{index}', true, true)"),
        );
        let size = format!(
            "SELECT relpages, reltuples, pg_relation_size(oid) FROM pg_class WHERE relname = '{index}'"
        );
        let items = items_of_index(index);
        let written = (row(&mut there, &items), row(&mut there, &size));
        execute(&mut there, &format!("REINDEX INDEX {index}"));
        let built = (row(&mut there, &items), row(&mut there, &size));
        assert_eq!(written, built, "{index}");
    }
    // The server reads all rows when a foreign key is made.
    let keys = rows(
        &mut there,
        "SELECT format('ALTER TABLE %s DROP CONSTRAINT %I, ADD %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) \
         FROM pg_constraint WHERE contype = 'f'",
    );
    assert_eq!(keys.len(), 10);
    for key in keys {
        execute(&mut there, &key);
    }
    drop(there);
    execute(&mut client, &format!("DROP DATABASE \"{database}\""));
    server.nothing_is_left_at_once();
}

/// Rows and the entries of keys follow from the scale alone. Several processes share the pages of a table, so that rows have other places.
#[test]
fn tables_are_equal_however_many_processes_load() {
    let server = server(&[]);
    let mut client = server.connect("postgres");
    let mut loaded = |loaders: u32| {
        let id = run(
            &mut client,
            &format!(
                r#"workload => 'tpcc-like', scale => 3, clients => 4, transactions => 1, warmup => '0', keep => true,
                   options => '{{"mix": {{"stock-level": 1}}, "loaders": {loaders}}}'"#
            ),
        );
        let database = format!("fsbench_work_{id}");
        let mut there = server.connect(&database);
        execute(&mut there, "CREATE EXTENSION amcheck");
        let contents: Vec<String> = rows(
            &mut there,
            "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY 1",
        )
        .iter()
        .map(|table| {
            let rows = format!(
                "SELECT '{table}', count(*), sum(hashtextextended(t::text, 0)) FROM public.{table} t"
            );
            row(&mut there, &rows)
        })
        .collect();
        for (table, _) in KEYS {
            // Each row has its entry, and a search from the root finds each entry.
            execute(
                &mut there,
                &format!("SELECT bt_index_parent_check('{table}_pkey', true, true)"),
            );
        }
        // The two other indexes are there, and each table was vacuumed and analyzed.
        let keys = rows(
            &mut there,
            "SELECT relname, reltuples FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'i' ORDER BY 1",
        );
        let prepared = rows(
            &mut there,
            "SELECT relname FROM pg_class c WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' \
             AND relallvisible = relpages AND EXISTS (SELECT FROM pg_statistic WHERE starelid = c.oid)",
        );
        assert_eq!(prepared.len(), 9, "{prepared:?}");
        drop(there);
        execute(&mut client, &format!("DROP DATABASE {database}"));
        (contents, keys)
    };
    let by_one = loaded(1);
    assert_eq!((by_one.0.len(), by_one.1.len()), (9, KEYS.len() + 2));
    // One of them has two warehouses.
    assert_eq!(loaded(2), by_one);
    assert_eq!(loaded(3), by_one);
    server.nothing_is_left_at_once();
}

/// The keys that a scan of a table finds, or a scan of its index.
fn contents_by(client: &mut Client, table: &str, keys: &str, by_index: bool) -> String {
    let (of_table, of_index) = match by_index {
        true => ("off", "on"),
        false => ("on", "off"),
    };
    execute(
        client,
        &format!(
            "SET enable_seqscan = {of_table}; SET enable_indexonlyscan = {of_index}; SET enable_indexscan = {of_index}; \
             SET enable_bitmapscan = off; SET max_parallel_workers_per_gather = 0"
        ),
    );
    let sql = format!(
        "SELECT count(*), sum(hashtext(concat_ws(' ', {keys}))::bigint) FROM {table} WHERE {} >= 0",
        keys.split(", ").next().expect("a column")
    );
    let plan = rows(client, &format!("EXPLAIN (COSTS OFF) {sql}")).join("\n");
    let wanted = match by_index {
        true => "Index Only Scan",
        false => "Seq Scan",
    };
    assert!(plan.contains(wanted), "{table}: {plan}");
    row(client, &sql)
}

/// Pages that the loaders write past shared buffers are there after a crash of the server: nothing was written back before it by a checkpoint, so that all
/// comes from WAL, or, with the least WAL, from the files, which the kernel keeps: a power cut is not tried here.
#[test]
fn loaded_tables_survive_a_crash() {
    const REPLICA: &[(&str, &str)] = &[("wal_level", "replica")];
    for wal in [
        REPLICA,
        &[("wal_level", "minimal"), ("max_wal_senders", "0")],
    ] {
        let settings = [("checkpoint_timeout", "1h"), ("max_wal_size", "4GB")];
        let server = server(&[&settings, wal].concat());
        for (workload, options, keys) in [
            ("tpcc-like", "{}", KEYS),
            ("tpcc-like", r#"{"loaders": 2}"#, KEYS),
            ("tpcb", "{}", &[("pgbench_accounts", "aid")]),
        ] {
            let mut hold = server.hold_at("coordinator in checkpoint");
            let id = server.value(&format!(
                "SELECT fsbench.start(workload => '{workload}', scale => 2, clients => 2, transactions => 1, options => '{options}')"
            ));
            hold.wait_for(1);
            let database = format!("fsbench_work_{id}");
            server.value(&format!("ALTER DATABASE {database} ALLOW_CONNECTIONS true"));
            let files: Vec<PathBuf> = rows(
                &mut server.connect(&database),
                "SELECT pg_relation_filepath(indexrelid) FROM pg_index WHERE indisprimary AND indrelid >= 16384",
            )
            .iter()
            .map(|file| server.data().join(file))
            .collect();
            assert!(files.len() >= keys.len(), "{files:?}");
            // No page without contents is left in shared buffers from the time before the load.
            let mut there = server.connect(&database);
            for (table, columns) in keys {
                let by_index = contents_by(&mut there, table, columns, true);
                let by_table = contents_by(&mut there, table, columns, false);
                assert_eq!(by_index, by_table, "{table} before the crash");
            }
            drop(there);
            server.kill();
            drop(hold);
            if wal == REPLICA {
                // The kernel has kept the pages that were written: without them, keys come from WAL alone.
                for file in &files {
                    let bytes = fs::metadata(file).expect("a key").len();
                    let zeros = vec![0; usize::try_from(bytes).expect("its size") - 8192];
                    let key = fs::OpenOptions::new().write(true).open(file);
                    key.and_then(|key| key.write_all_at(&zeros, 8192))
                        .expect("zeros after the first page");
                }
            }
            // The janitor would drop the database.
            server.configure(&[("shared_preload_libraries", "")]);
            server.start_again();
            let mut there = server.connect(&database);
            for (table, columns) in keys {
                let by_index = contents_by(&mut there, table, columns, true);
                let by_table = contents_by(&mut there, table, columns, false);
                assert_eq!(by_index, by_table, "{table}");
                execute(&mut there, &format!("REINDEX TABLE {table}"));
                let by_new_index = contents_by(&mut there, table, columns, true);
                assert_eq!(by_new_index, by_table, "{table}");
            }
            drop(there);
            server.configure(PRELOADED);
            server.restart();
            assert_eq!(
                ending(&mut server.connect("postgres"), &id)
                    .split(' ')
                    .next(),
                Some("failed")
            );
            server.nothing_is_left(workload);
        }
    }
}
