//! The place of the table while it is scanned: in the cache or on the device, as it was asked for; and scans for which it was elsewhere.

use crate::common::{assert_refused, execute, row, rows, run, server_in, server_on_disk as server};
use pgfsbench_tests::{LONG, LoopFs, TestServer, assert_columns, ending, wait_until};
use postgres::Client;
use rustix::fs::{Advice, fadvise};
use std::{
    fs::File,
    io::{Seek, Write},
    path::Path,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Duration,
};

const SETTINGS: &[(&str, &str)] = &[("max_worker_processes", "24"), ("shared_buffers", "32MB")];

/// A million rows.
const SMALL: &str = "workload => 'scan', scale => 1, seed => 1";

fn options(options: &str) -> String {
    format!("{SMALL}, options => '{{{options}}}'")
}

/// Whether the kernel tells what the device below a server reads.
fn device_is_known(server: &TestServer) -> bool {
    let device = rustix::fs::stat(server.data()).expect("stat").st_dev;
    let device = (rustix::fs::major(device), rustix::fs::minor(device));
    std::fs::exists(format!("/sys/dev/block/{}:{}", device.0, device.1)).expect("/sys is there")
}

/// A server whose files are on a device of which the kernel tells what it reads; else the test is skipped.
fn on_a_device(test: &str) -> Option<TestServer> {
    let server = server(SETTINGS);
    if !device_is_known(&server) {
        pgfsbench_tests::skip(test, "the server's files are on no block device");
        return None;
    }
    Some(server)
}

#[test]
fn what_is_cold_comes_from_the_device_and_what_is_warm_does_not() {
    let server = server(SETTINGS);
    let mut client = server.connect("postgres");
    let cold = run(
        &mut client,
        &options(r#""degrees": [1, 2], "repeats": 2, "cache": "cold", "readers": [2]"#),
    );
    // A figure that is not known is not 0. It is known if the filesystem is on a device, which others use, too.
    let device = match device_is_known(&server) {
        // The program itself may be on another one.
        true => "device_read_bytes >= process_read_bytes - bytes * 0.01",
        false => "device_read_bytes IS NULL",
    };
    let assert_scans = |client: &mut Client, id: &str, condition: &str| {
        assert_columns(
            client,
            &format!("FROM fsbench.scan WHERE run_id = {id}"),
            &[
                ("bool_or(used)", "t"),
                ("bool_and(buffers_read >= bytes / 8192)", "t"),
                (&format!("bool_and(used = ({condition}))"), "t"),
                (&format!("bool_and({device})"), "t"),
            ],
        );
    };
    let of = |id: &str, condition: &str| {
        format!(
            "SELECT bool_and({condition}) FROM (SELECT bytes, cached_bytes, device_read_bytes FROM fsbench.scan WHERE run_id = {id} \
             UNION ALL SELECT bytes, cached_bytes, device_read_bytes FROM fsbench.scan_read WHERE run_id = {id}) s"
        )
    };
    assert_eq!(
        row(&mut client, &of(&cold, "cached_bytes <= bytes * 0.01")),
        "t"
    );
    assert_scans(&mut client, &cold, "process_read_bytes >= bytes * 0.99");
    let warm = run(
        &mut client,
        &options(r#""degrees": [1, 2], "repeats": 2, "cache": "warm", "readers": [2]"#),
    );
    assert_eq!(
        row(&mut client, &of(&warm, "cached_bytes >= bytes * 0.99")),
        "t"
    );
    assert_scans(&mut client, &warm, "process_read_bytes <= bytes * 0.01");
    // Of a table in memory, the processor is the limit: a file is read faster, on a machine that does nothing else.
    execute(
        &mut client,
        &format!("UPDATE fsbench.scan_read SET gb_per_second = 1000 WHERE run_id = {warm}"),
    );
    assert_eq!(
        row(
            &mut client,
            &format!(
                "SELECT coalesce(string_agg(code || ' ' || severity, ',' ORDER BY code), '') FROM fsbench.judge({warm}) \
                      WHERE code IN ('cpu_bound', 'cpu_saturated', 'data_fits_ram', 'no_complete_checkpoint')"
            )
        ),
        "cpu_bound info"
    );
    // Findings are judged from the bytes that the processes of each scan had read, and from whether it counts.
    let judged = |client: &mut Client, id: &str, set: &str| {
        execute(
            client,
            &format!("UPDATE fsbench.scan SET page_cache_bytes = 0, {set} WHERE run_id = {id}"),
        );
        let told = rows(
            client,
            &format!(
                "SELECT severity || ': ' || message FROM fsbench.judge({id}) WHERE code = 'cache_not_as_asked'"
            ),
        );
        told.join("; ")
    };
    for id in [&warm, &cold] {
        execute(
            &mut client,
            &format!(
                "DELETE FROM fsbench.scan s WHERE run_id = {id} AND EXISTS (SELECT FROM fsbench.scan WHERE run_id = {id} \
                AND degree = s.degree AND repeat = s.repeat AND scan > s.scan)"
            ),
        );
    }
    const OF_ONE: &str = "CASE WHEN degree = 1 AND repeat = 2 THEN bytes / 2 ELSE 0 END";
    assert_eq!(
        judged(&mut client, &warm, "process_read_bytes = 0, used = true"),
        ""
    );
    assert_eq!(
        judged(
            &mut client,
            &warm,
            &format!("process_read_bytes = {OF_ONE}, used = degree <> 1 OR repeat <> 2")
        ),
        "warning: in 1 of 4 scans from a warm cache up to 50.00 % of the table came from storage; they do not count, and even made again \
         fewer repeats than asked for are left at degree 1"
    );
    assert_eq!(
        judged(
            &mut client,
            &warm,
            &format!("process_read_bytes = NULL, device_read_bytes = {OF_ONE}, used = true")
        ),
        "warning: in 1 of 4 scans from a warm cache up to 50.00 % of the table came from storage, or was read for others; they count"
    );
    assert_eq!(
        judged(
            &mut client,
            &cold,
            "process_read_bytes = bytes + 8192, used = true"
        ),
        ""
    );
    assert_eq!(
        judged(
            &mut client,
            &cold,
            "process_read_bytes = bytes / 4, used = false"
        ),
        "invalid: in 4 of 4 scans from a cold cache as little as 25.00 % of the table came from storage; they do not count, and even made again \
         no scan is left at degree 1, 2"
    );
    // Nothing is left: no curve, and no knee.
    assert_eq!(
        rows(
            &mut client,
            &format!(
                "SELECT degree, repeats, not_used, num_nulls(median_ms, gb_per_second, speedup, efficiency) FROM fsbench.scan_curve({cold})"
            )
        ),
        ["1|0|2|4", "2|0|2|4"]
    );
    assert_columns(
        &mut client,
        &format!("FROM fsbench.scan_knee({cold})"),
        &[
            ("verdict", "not_identifiable"),
            (
                "says",
                "not identifiable: it takes at least three degrees, and only 0 of 2 have scans that count",
            ),
        ],
    );
    // Speed-up is that over one worker; or, where nobody asked for that, the fewest are perfectly parallel.
    execute(
        &mut client,
        &format!(
            "UPDATE fsbench.scan SET used = true, ms = CASE degree WHEN 1 THEN 100 ELSE 80 END WHERE run_id = {warm}"
        ),
    );
    let curve = format!("SELECT degree, speedup, efficiency FROM fsbench.scan_curve({warm})");
    assert_eq!(rows(&mut client, &curve), ["1|1|1", "2|1.25|0.625"]);
    execute(
        &mut client,
        &format!("UPDATE fsbench.scan SET used = degree > 1 WHERE run_id = {warm}"),
    );
    assert_eq!(rows(&mut client, &curve), ["1||", "2||"]);
    execute(
        &mut client,
        &format!("DELETE FROM fsbench.scan WHERE run_id = {warm} AND degree = 1"),
    );
    assert_eq!(rows(&mut client, &curve), ["2|2|1"]);
    // Only with no more readers than processes that have scanned.
    execute(
        &mut client,
        &format!("UPDATE fsbench.scan_read SET readers = readers + 8 WHERE run_id = {warm}"),
    );
    assert_eq!(
        row(
            &mut client,
            &format!("SELECT count(*) FROM fsbench.judge({warm}) WHERE code = 'cpu_bound'")
        ),
        "0"
    );
    assert_refused(
        &mut client,
        &format!("SELECT fsbench.start({SMALL}, options => '{{\"cache\": \"shared_buffers\"}}')"),
        "55000",
        &["does not fit in shared_buffers", "HINT: ", "smaller scale"],
    );
}

#[test]
fn a_cold_cache_is_refused_where_there_is_none() {
    if !Path::new("/dev/shm").is_dir() {
        return pgfsbench_tests::skip("a_cold_cache_is_refused_where_there_is_none", "no /dev/shm");
    }
    let server = server_in(Path::new("/dev/shm"), None, SETTINGS);
    let mut client = server.connect("postgres");
    assert_refused(
        &mut client,
        &format!("SELECT fsbench.start({SMALL}, options => '{{\"cache\": \"cold\"}}')"),
        "55000",
        &["on tmpfs cannot be emptied", "HINT: ", "target"],
    );
}

#[test]
fn a_cold_cache_is_refused_where_one_below_keeps_the_table() {
    let fs = match LoopFs::ext4(1200) {
        Ok(fs) => fs,
        Err(reason) => {
            let name = "a_cold_cache_is_refused_where_one_below_keeps_the_table";
            return pgfsbench_tests::skip(name, &reason);
        }
    };
    let server = server_in(&fs.path(), None, SETTINGS);
    let mut client = server.connect("postgres");
    let place = fs.path().join("target");
    std::fs::create_dir(&place).expect("a directory");
    std::os::unix::fs::chown(&place, pgfsbench_tests::server_owner(), None).expect("chown");
    execute(
        &mut client,
        &format!(
            "SELECT fsbench.create_target('there', directory => '{}')",
            place.display()
        ),
    );
    for target in ["default", "there"] {
        assert_refused(
            &mut client,
            &format!(
                "SELECT fsbench.start(target => '{target}', {SMALL}, options => '{{\"cache\": \"cold\"}}')"
            ),
            "55000",
            &[
                "on an image without direct I/O cannot be emptied",
                "HINT: ",
                "direct I/O is possible",
            ],
        );
    }
    // The shared buffers of its server are known beforehand, too.
    assert_refused(
        &mut client,
        &format!(
            "SELECT fsbench.start(target => 'there', {SMALL}, options => '{{\"cache\": \"shared_buffers\"}}')"
        ),
        "55000",
        &[
            "does not fit in shared_buffers",
            "HINT: ",
            "Raise shared_buffers",
        ],
    );
    server.nothing_is_left_at_once();
}

/// The file of the table that the active run scans, once it does; None if that is over. Nobody else may connect to its database, but none
/// of its files is larger.
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
fn what_is_not_in_shared_buffers_when_it_was_to_be_there_is_told() {
    let server = server(&[("max_worker_processes", "24"), ("shared_buffers", "128MB")]);
    let mut client = server.connect("postgres");
    let id = run(
        &mut client,
        &options(r#""degrees": [1, 2], "repeats": 1, "cache": "shared_buffers", "readers": []"#),
    );
    let judged = format!(
        "SELECT severity || ': ' || message FROM fsbench.judge({id}) WHERE code = 'cache_not_as_asked'"
    );
    assert_columns(
        &mut client,
        &format!("FROM fsbench.scan WHERE run_id = {id}"),
        &[("bool_and(used)", "t"), ("max(buffers_read)", "0")],
    );
    assert_eq!(rows(&mut client, &judged), [""; 0]);
    // As if another session had driven a fifth of it out.
    execute(
        &mut client,
        &format!(
            "UPDATE fsbench.scan SET used = degree <> 2, buffers_read = CASE degree WHEN 2 THEN bytes / 8192 / 5 ELSE 0 END WHERE run_id = {id}"
        ),
    );
    assert_eq!(
        rows(&mut client, &judged),
        [
            "warning: in 1 of 2 scans from shared buffers up to 19.99 % of the table was not there; they do not count, and even made again \
             no scan is left at degree 2"
        ]
    );
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

/// In PostgreSQL 18 processes of the server read for whoever asks them: what they read for others is not taken for a scan's.
#[test]
fn what_is_read_for_others_meanwhile_is_not_taken_for_a_scans() {
    let server = server(SETTINGS);
    let mut client = server.connect("postgres");
    execute(
        &mut client,
        "CREATE TABLE beside WITH (parallel_workers = 0) AS SELECT repeat('x', 800) AS x FROM generate_series(1, 200000)",
    );
    execute(&mut client, "VACUUM beside");
    let read = "DO $$ BEGIN LOOP PERFORM count(*) FROM beside; END LOOP; END $$";
    let others = server.background("postgres", read);
    let id = run(
        &mut client,
        &options(r#""degrees": [1, 2], "repeats": 3, "cache": "warm", "readers": []"#),
    );
    execute(
        &mut client,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'DO %'",
    );
    others.join().expect_err("its session ended");
    let by_io_workers = "SELECT current_setting('io_method', true) IS NOT DISTINCT FROM 'worker'";
    let by_io_workers = row(&mut client, by_io_workers) == "t";
    let (others_have_read, findings) = if by_io_workers { ("t", "1") } else { ("", "0") };
    assert_columns(
        &mut client,
        &format!("FROM fsbench.scan WHERE run_id = {id}"),
        &[
            // A table that a busy machine has pushed out of its memory is read by the scan itself.
            ("bool_and(used OR process_read_bytes > 0)", "t"),
            (
                "bool_and((process_read_bytes IS NULL) = (others_read_bytes IS NOT NULL))",
                "t",
            ),
            ("bool_or(others_read_bytes > 0)", others_have_read),
            (
                &format!(
                    "(SELECT count(*) FROM fsbench.finding WHERE run_id = {id} AND code = 'read_for_others')"
                ),
                findings,
            ),
        ],
    );

    // Alone, everything is known again, and what waits for an I/O worker is seen to.
    let id = run(
        &mut client,
        &options(r#""degrees": [1], "repeats": 3, "cache": "cold", "readers": []"#),
    );
    assert_columns(
        &mut client,
        &format!("FROM fsbench.scan WHERE run_id = {id} AND used"),
        &[
            ("bool_and(process_read_bytes >= bytes * 0.99)", "t"),
            ("bool_and(others_read_bytes IS NULL)", "t"),
        ],
    );
    let waits = format!(
        "SELECT bool_or(wait_events ? 'IO:AioIoCompletion') FROM fsbench.scan WHERE run_id = {id}"
    );
    let is_seen = row(&mut client, &waits) == "t";
    assert_eq!(is_seen, by_io_workers, "waits of AIO");
}
