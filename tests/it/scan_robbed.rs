//! Scans for which the table was elsewhere: pushed out of the cache while they are on.

use crate::{
    common::{row, rows, run, server_on_disk as server},
    scan_cache::{SETTINGS, device_is_known, options},
};
use pgfsbench_tests::{LONG, TestServer, assert_columns, ending, wait_until};
use postgres::Client;
use rustix::fs::{Advice, fadvise};
use std::{
    fs::File,
    io::{Seek, Write},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Duration,
};

/// A server whose files are on a device of which the kernel tells what it reads; else the test is skipped.
fn on_a_device(test: &str) -> Option<TestServer> {
    let server = server(SETTINGS);
    if !device_is_known(&server) {
        pgfsbench_tests::skip(test, "the server's files are on no block device");
        return None;
    }
    Some(server)
}

/// The file of the table that the active run scans, once it does; None if that is over. No session may connect to its database, but none of its files
/// is larger.
fn open_table(server: &TestServer, client: &mut Client) -> Option<File> {
    let scans = wait_until("it scans", LONG, || {
        match rows(client, "SELECT phase FROM fsbench.progress")
            .pop()
            .as_deref()
        {
            Some("measure") => Some(true),
            Some("collect" | "cleanup") | None => Some(false),
            Some(_) => None,
        }
    });
    let work_database = "SELECT oid FROM pg_database WHERE datname LIKE 'fsbench_work%'";
    let database = rows(client, work_database).pop().filter(|_| scans)?;
    let files = std::fs::read_dir(server.data().join("base").join(database)).ok()?;
    let table = files
        .flatten()
        .max_by_key(|entry| entry.metadata().map_or(0, |file| file.len()));
    File::open(table?.path()).ok()
}

/// Tells a thread to end, however the scope that holds this ends.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Has a run of scans done, and takes the table out of the page cache while some of them are on: those of which the number in the
/// order in which they are seen, from 0, is among these. Gives the run, of which that came in time for a scan at least.
fn robbed(
    server: &TestServer,
    client: &mut Client,
    options: &str,
    is_among: impl Fn(usize) -> bool + Sync,
) -> String {
    wait_until("a scan is robbed", LONG, || {
        let id = rob(server, client, options, &is_among);
        let is_robbed = format!("SELECT bool_or(NOT used) FROM fsbench.scan WHERE run_id = {id}");
        (row(client, &is_robbed) == "t").then_some(id)
    })
}

fn rob(
    server: &TestServer,
    client: &mut Client,
    options: &str,
    is_among: &(impl Fn(usize) -> bool + Sync),
) -> String {
    let id = row(
        client,
        &format!(
            "SELECT fsbench.start(workload => 'scan', scale => 5, options => '{{{options}, \"readers\": [], \"unlogged\": true}}')"
        ),
    );
    let Some(table) = open_table(server, client) else {
        assert_eq!(ending(client, &id), "done");
        return id;
    };
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let mut looking = server.connect("postgres");
        let (_over, over, table) = (Over(&over), &over, &table);
        scope.spawn(move || {
            let leaders = "SELECT DISTINCT leader_pid FROM pg_stat_activity WHERE backend_type = 'parallel worker' AND leader_pid IS NOT NULL \
                AND datname LIKE 'fsbench_work%'";
            let mut seen = Vec::new();
            while !over.load(Relaxed) {
                for leader in rows(&mut looking, leaders) {
                    if !seen.contains(&leader) {
                        seen.push(leader);
                    }
                    if is_among(seen.len() - 1) {
                        forget(table);
                    }
                }
            }
        });
        assert_eq!(ending(client, &id), "done");
    });
    id
}

/// The kernel gives up what it has of a file.
fn forget(file: &File) {
    fadvise(file, 0, None, Advice::DontNeed).expect("pages are given up");
}

#[test]
fn a_scan_that_the_cache_did_not_serve_does_not_count_and_is_made_again() {
    let Some(server) =
        on_a_device("a_scan_that_the_cache_did_not_serve_does_not_count_and_is_made_again")
    else {
        return;
    };
    let mut client = server.connect("postgres");
    let some = robbed(
        &server,
        &mut client,
        r#""degrees": [1, 2], "repeats": 3"#,
        |n| n == 0 || n == 3,
    );
    let all = robbed(
        &server,
        &mut client,
        r#""degrees": [1], "repeats": 2"#,
        |_| true,
    );
    for id in [&some, &all] {
        assert_columns(
            &mut client,
            &format!("FROM fsbench.scan WHERE run_id = {id}"),
            &[
                ("bool_or(NOT used)", "t"),
                ("bool_and(used = (process_read_bytes <= bytes * 0.01))", "t"),
                ("bool_and(used = (why_not IS NULL))", "t"),
                (
                    "bool_and(used OR why_not = CASE WHEN process_read_bytes < bytes THEN to_char(process_read_bytes * 100.0 / bytes, \
             'FM990.00') || ' %' ELSE 'all' END || ' of the table came from storage, and not from the page cache')",
                    "t",
                ),
                (
                    "bool_and(page_cache_bytes = greatest(buffers_read * 8192 - process_read_bytes, 0))",
                    "t",
                ),
            ],
        );
        // Each is made until it counts, three times at most; the curve has what counts.
        assert_columns(
            &mut client,
            &format!(
                "FROM (SELECT degree, repeat, count(*) AS made, count(*) FILTER (WHERE used) AS counting, \
                     bool_or(used) = (array_agg(used ORDER BY scan DESC))[1] AS the_last_counts \
                   FROM fsbench.scan WHERE run_id = {id} GROUP BY degree, repeat) planned"
            ),
            &[
                ("bool_and(made <= 3)", "t"),
                ("bool_and(counting <= 1)", "t"),
                ("bool_and(the_last_counts)", "t"),
                ("bool_and(counting = 1 OR made = 3)", "t"),
                (
                    &format!("sum(counting) = (SELECT sum(repeats) FROM fsbench.scan_curve({id}))"),
                    "t",
                ),
                (
                    &format!(
                        "sum(made - counting) = (SELECT sum(not_used) FROM fsbench.scan_curve({id}))"
                    ),
                    "t",
                ),
                (
                    &format!(
                        "CASE WHEN max(counting) = 0 THEN 'invalid' WHEN min(counting) = 0 THEN 'warning' ELSE 'info' END \
                         = (SELECT severity FROM fsbench.finding WHERE run_id = {id} AND code = 'cache_not_as_asked')"
                    ),
                    "t",
                ),
            ],
        );
    }
    let again = "SELECT count(*) > 0 FROM (SELECT bool_or(used) AND count(*) > 1 AS again FROM fsbench.scan WHERE run_id =";
    assert_eq!(
        row(
            &mut client,
            &format!("{again} {some} GROUP BY degree, repeat) s WHERE again")
        ),
        "t"
    );
    server.nothing_is_left_at_once();
}

#[test]
fn what_others_read_from_the_device_does_not_spoil_a_scan() {
    let Some(server) = on_a_device("what_others_read_from_the_device_does_not_spoil_a_scan") else {
        return;
    };
    let mut client = server.connect("postgres");
    let over = AtomicBool::new(false);
    let id = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut other = tempfile::tempfile_in(server.data()).expect("a file");
            other.write_all(&vec![1; 64 << 20]).expect("written");
            other.sync_all().expect("synced");
            while !over.load(Relaxed) {
                forget(&other);
                other.rewind().expect("to its start");
                std::io::copy(&mut other, &mut std::io::sink()).expect("read");
            }
        });
        let _over = Over(&over);
        run(
            &mut client,
            "workload => 'scan', scale => 5, options => '{\"degrees\": [1], \"repeats\": 3, \"readers\": [], \"unlogged\": true}'",
        )
    });
    assert_columns(
        &mut client,
        &format!("FROM fsbench.scan WHERE run_id = {id}"),
        &[
            ("bool_and(used = (process_read_bytes <= bytes * 0.01))", "t"),
            ("bool_or(used AND device_read_bytes > bytes * 0.01)", "t"),
        ],
    );
    server.nothing_is_left_at_once();
}

#[test]
fn a_table_that_does_not_stay_in_the_cache_fails_the_run() {
    let Some(server) = on_a_device("a_table_that_does_not_stay_in_the_cache_fails_the_run") else {
        return;
    };
    let mut client = server.connect("postgres");
    let many = options(r#""degrees": [1], "repeats": 100, "readers": []"#);
    // Now and then there may be a moment in which it is there.
    wait_until("a run fails", LONG, || {
        let id = row(&mut client, &format!("SELECT fsbench.start({many})"));
        let Some(table) = open_table(&server, &mut client) else {
            server.ending(&id);
            return None;
        };
        let over = AtomicBool::new(false);
        let ended = std::thread::scope(|scope| {
            let _over = Over(&over);
            scope.spawn(|| {
                // Before all others on this machine: however busy it is, it is the table's reader who waits.
                let _ = rustix::process::setpriority_process(None, -20);
                while !over.load(Relaxed) {
                    forget(&table);
                    std::thread::sleep(Duration::from_micros(200));
                }
            });
            server.ending(&id)
        });
        server.nothing_is_left_at_once();
        if ended == "done" {
            return None;
        }
        let unkept = "failed 55000; worker failed: the table does not stay in the page cache";
        assert!(ended.starts_with(unkept), "{ended}");
        Some(())
    });
}
