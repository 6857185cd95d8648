//! The table of scans: loaded by as many processes as are asked for, the same before each scan, and in the cache as is asked for.

use crate::common::{
    assert_ended, assert_refused, create_target, execute, row, rows, run, server_on_disk as server,
    work_database,
};
use pgfsbench_tests::{
    LONG, OwnedDirectory, TestServer, assert_columns, controldata, on_disk, wait_until,
};
use postgres::Client;
use postgres::error::SqlState;
use std::path::Path;

/// A million rows on 7353 pages.
const SMALL: &str = "workload => 'scan', scale => 1, seed => 1";

/// Where the WAL of a server ends that was shut down.
fn end_of_wal(data: &Path) -> u64 {
    let told = controldata(data);
    let place = told
        .lines()
        .find_map(|line| line.strip_prefix("Latest checkpoint location:"));
    let (high, low) = place
        .expect("a place")
        .trim()
        .split_once('/')
        .expect("two numbers");
    let number = |text| u64::from_str_radix(text, 16).expect("hexadecimal");
    (number(high) << 32) + number(low)
}

#[test]
fn forty_processes_load_the_table_with_the_worker_slots_that_the_hint_asks_for_and_on_a_target_without()
 {
    let server = server(&[
        ("max_worker_processes", "24"),
        ("log_min_messages", "debug1"),
    ]);
    let mut client = server.connect("postgres");
    let loaders = r#"options => '{"degrees": [1, 2], "repeats": 1, "loaders": 40, "readers": [], "unlogged": true}'"#;
    let needed = |arguments: &str, who: &str| {
        let said = assert_refused(
            &mut server.connect("postgres"),
            &format!("SELECT fsbench.start({SMALL}, {arguments})"),
            "53000",
            &[
                "could not register background processes",
                "DETAIL: ",
                who,
                "HINT: Increase \"max_worker_processes\" to at least ",
                "use a target",
            ],
        );
        let (_, needed) = said.split_once("to at least ").expect("a number");
        needed.split(' ').next().expect("a number").to_owned()
    };
    needed(
        r#"settings => '{"max_parallel_workers": 40}', options => '{"degrees": [1, 40], "loaders": 2, "readers": []}'"#,
        "(degree 40, at most 2 loaders or readers, ",
    );
    // The logical replication launcher keeps its slot while it is away, for some seconds here, as in the first moments of a server.
    let launcher = "FROM pg_stat_activity WHERE backend_type = 'logical replication launcher'";
    execute(
        &mut client,
        &format!("SELECT pg_terminate_backend(pid) {launcher}"),
    );
    wait_until("the launcher is away", LONG, || {
        (row(&mut client, &format!("SELECT count(*) {launcher}")) == "0").then_some(())
    });
    let needed = needed(loaders, "(degree 2, at most 40 loaders or readers, ");
    let place = OwnedDirectory::within(on_disk(), "pgfsbench-target.");
    create_target(&mut client, "here", place.path());
    let assert_counted = |client: &mut Client, id: &str| {
        assert_columns(
            client,
            &format!("FROM fsbench.scan WHERE run_id = {id} AND used"),
            &[
                ("count(*)", "2"),
                ("bool_and(rows = 1000000)", "t"),
                ("sum(workers_launched)", "3"),
            ],
        );
    };
    // However it came there, it can be cold.
    for (data, unlogged) in [("copied", true), ("copied", false), ("loaded", true)] {
        let on_target = format!(
            r#"options => '{{"degrees": [1, 2], "repeats": 1, "loaders": 40, "readers": [], "unlogged": {unlogged}, "data": "{data}", "cache": "cold"}}'"#
        );
        let id = run(
            &mut client,
            &format!("target => 'here', {SMALL}, {on_target}"),
        );
        assert_counted(&mut client, &id);
        let cold = format!(
            "SELECT bool_and(cached_bytes <= bytes * 0.01) FROM fsbench.scan WHERE run_id = {id}"
        );
        assert_eq!(row(&mut client, &cold), "t", "{data} {unlogged}");
    }
    // Nothing of what is copied is written twice: loading 60 MB makes less WAL than that.
    let prepared = server.data().join("pgfsbench/pgsql_tmp_prepared_data");
    let loaded: Vec<u64> = std::fs::read_dir(prepared)
        .expect("data were prepared")
        .flatten()
        .map(|entry| entry.path().join("data"))
        .filter(|data| data.is_dir())
        .map(|data| end_of_wal(&data))
        .collect();
    assert_eq!(loaded.len(), 2);
    assert!(loaded[0].abs_diff(loaded[1]) < 30 << 20, "{loaded:?}");
    drop(client);

    server.configure(&[("max_worker_processes", &needed)]);
    server.restart();
    let mut client = server.connect("postgres");
    let started = || {
        server
            .log()
            .matches("starting background worker process \"fsbench client")
            .count()
    };
    let before = started();
    let id = run(&mut client, &format!("{SMALL}, {loaders}, keep => true"));
    assert_eq!(started() - before, 40);
    assert_counted(&mut client, &id);
    // It is the table that one process would have made.
    let database = work_database(&mut client, &id);
    let mut psql = server.connect(&database);
    execute(
        &mut psql,
        "CREATE EXTENSION amcheck; CREATE EXTENSION pg_visibility",
    );
    assert_columns(
        &mut psql,
        "FROM fsbench_scan",
        &[
            ("count(*)", "1000000"),
            ("count(DISTINCT ctid)", "1000000"),
            ("(SELECT count(*) FROM verify_heapam('fsbench_scan'))", "0"),
            (
                "(SELECT count(*) FROM pg_check_frozen('fsbench_scan'))",
                "0",
            ),
            (
                "(SELECT relpages FROM pg_class WHERE relname = 'fsbench_scan')",
                "7353",
            ),
        ],
    );
    drop(psql);
    execute(&mut client, &format!("DROP DATABASE {database}"));
    server.nothing_is_left_at_once();
}

/// Lets others into the work database of a run.
fn open_for_others(client: &mut Client, run_id: &str) -> String {
    wait_until("the work database is there", LONG, || {
        let opened = rows(
            client,
            &format!(
                "UPDATE pg_database SET datallowconn = true FROM fsbench.run_log \
                 WHERE run_id = {run_id} AND datname = work_database RETURNING datname"
            ),
        );
        opened.into_iter().next()
    })
}

const OTHER_ROWS: &str =
    "failed XX001; worker failed: the table does not have the rows that were loaded";
const CHANGED: &str = "failed 55000; worker failed: another session has changed rows of the table while it was scanned";

fn told(client: &mut Client, run_id: &str) -> String {
    row(
        client,
        &format!("SELECT error_detail, error_hint FROM fsbench.run_log WHERE run_id = {run_id}"),
    )
}

#[test]
fn a_table_that_somebody_changes_fails_the_run() {
    let server = server(&[]);
    a_table_that_somebody_changes_between_two_scans_fails_the_run(&server);
    server.start_anew();
    the_rows_are_counted_before_the_first_scan(&server);
}

fn a_table_that_somebody_changes_between_two_scans_fails_the_run(server: &TestServer) {
    let mut client = server.connect("postgres");
    let (both, changed, other) = (
        [CHANGED, OTHER_ROWS].as_slice(),
        [CHANGED].as_slice(),
        [OTHER_ROWS].as_slice(),
    );
    for (cache, change, wanted) in [
        // By the scan that is on, or before the next one.
        (
            "warm",
            "DELETE FROM fsbench_scan WHERE ctid = '(17,3)'",
            both,
        ),
        (
            "cold",
            "INSERT INTO fsbench_scan SELECT id FROM fsbench_scan LIMIT 1",
            both,
        ),
        // Even by what nobody will ever see.
        (
            "shared_buffers",
            "BEGIN; DELETE FROM fsbench_scan WHERE ctid = '(17,3)'; ROLLBACK",
            changed,
        ),
        ("warm", "TRUNCATE fsbench_scan", other),
    ] {
        let id = row(
            &mut client,
            &format!(
                "SELECT fsbench.start({SMALL}, options => '{{\"degrees\": [1, 2], \"repeats\": 1000, \"readers\": [], \
                   \"unlogged\": true, \"cache\": \"{cache}\"}}')"
            ),
        );
        server.wait_for_phase("measure");
        let database = open_for_others(&mut client, &id);
        let mut other = server.connect(&database);
        // Who only locks a row changes nothing.
        let lock = "BEGIN; SELECT FROM fsbench_scan LIMIT 1 FOR SHARE; ROLLBACK";
        execute(&mut other, lock);
        let done = |client: &mut Client| {
            let done = row(client, "SELECT done FROM fsbench.progress");
            done.parse::<u32>().expect("a number")
        };
        let before = done(&mut client);
        wait_until("three more scans", LONG, || {
            (done(&mut client) > before + 3).then_some(())
        });
        if let Err(error) = other.batch_execute(change) {
            // The run may fail, and drop the database, before the answer is sent.
            assert_eq!(
                error.code(),
                Some(&SqlState::ADMIN_SHUTDOWN),
                "{change}: {error:?}"
            );
        }
        drop(other);
        let ending = server.ending(&id);
        let found = wanted.iter().find(|start| ending.starts_with(**start));
        let found = *found.unwrap_or_else(|| panic!("{change}: {ending}"));
        let told = told(&mut client, &id);
        let (detail, hint) = told.split_once('|').expect("two columns");
        let ends = match found {
            CHANGED => [" of its 7353 pages are as they were before the first scan."].as_slice(),
            _ => &[
                "; it had 7353 pages before the first scan.",
                " of 1000000 rows.",
            ],
        };
        assert!(
            ends.iter().any(|end| detail.ends_with(end)),
            "{change}: {detail}"
        );
        assert!(
            hint.starts_with("Keep everybody out of the work database"),
            "{hint}"
        );
        server.nothing_is_left_at_once();
    }
}

fn the_rows_are_counted_before_the_first_scan(server: &TestServer) {
    let mut client = server.connect("postgres");
    let start = format!(
        "SELECT fsbench.start({SMALL}, options => '{{\"degrees\": [1], \"repeats\": 1, \"readers\": [], \
           \"cache\": \"cold\", \"unlogged\": true, \"loaders\": 2}}')"
    );
    let mut hold = server.hold_at("worker at work in vacuum");
    let id = row(&mut client, &start);
    hold.wait_for(1);
    let mut other = server.connect(&open_for_others(&mut client, &id));
    execute(&mut other, "DELETE FROM fsbench_scan WHERE ctid = '(17,3)'");
    drop((other, hold));
    assert_ended(&mut client, &id, OTHER_ROWS);
    let told = told(&mut client, &id);
    assert!(
        told.starts_with("A scan with 1 worker counted 999999 of 1000000 rows.|"),
        "{told}"
    );
    assert_columns(
        &mut client,
        &format!("FROM fsbench.run_log WHERE run_id = {id}"),
        &[
            ("phases #>> '{-1,phase}'", "verify"),
            (
                &format!("(SELECT count(*) FROM fsbench.scan WHERE run_id = {id})"),
                "0",
            ),
        ],
    );
    server.nothing_is_left_at_once();
}

/// How many of its blocks are in shared buffers.
const IN_BUFFERS: &str = "SELECT count(*) FROM pg_buffercache WHERE relfilenode = pg_relation_filenode('fsbench_scan') \
    AND relforknumber = 0 AND reldatabase = (SELECT oid FROM pg_database WHERE datname = current_database())";

#[test]
fn shared_buffers_hold_nothing_of_a_table_that_is_to_be_read_and_all_of_one_that_is_to_be_in_them()
{
    // So many that a scan leaves in them what it has read.
    let server = server(&[("shared_buffers", "256MB"), ("max_worker_processes", "16")]);
    let mut client = server.connect("postgres");
    for (cache, left) in [("cold", "0"), ("warm", "0"), ("shared_buffers", "7353")] {
        let id = run(
            &mut client,
            &format!(
                "{SMALL}, keep => true, options => '{{\"degrees\": [1, 2], \"repeats\": 2, \"readers\": [1], \"cache\": \"{cache}\"}}'"
            ),
        );
        let is_read = left == "0";
        let told = |holds: bool| if holds { "t" } else { "f" };
        assert_columns(
            &mut client,
            &format!("FROM fsbench.scan WHERE run_id = {id}"),
            &[
                ("min(buffers_read) >= 7353", told(is_read)),
                ("max(buffers_read) = 0", told(!is_read)),
            ],
        );
        let database = work_database(&mut client, &id);
        let mut psql = server.connect(&database);
        execute(&mut psql, "CREATE EXTENSION pg_buffercache");
        // As the last reading of its files has found it, which is made ready like a scan.
        assert_eq!(row(&mut psql, IN_BUFFERS), left, "{cache}");
        execute(&mut psql, "SELECT count(*) FROM fsbench_scan");
        assert_eq!(row(&mut psql, IN_BUFFERS), "7353", "{cache}");
        drop(psql);
        execute(&mut client, &format!("DROP DATABASE {database}"));
    }
    server.nothing_is_left_at_once();
}
