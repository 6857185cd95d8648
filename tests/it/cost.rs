//! The work of the storage, as a run stores it, against the figures of others for the same run; and where there are none.

use crate::bracket::{Bracket, assert_between, bracket};
use crate::common::{execute, row, rows, run, server, server_in, set};
use crate::held::Held;
use crate::iostat::Iostat;
use crate::layers::Mounts;
use pgfsbench_tests::{
    LONG, LoopFs, TestServer, assert_columns, on_tmpfs, server_owner, skip, wait_until,
};
use postgres::Client;
use rustix::fs::{major, minor, stat};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Nothing but the run writes.
const QUIET: &[(&str, &str)] = &[
    ("wal_level", "minimal"),
    ("max_wal_senders", "0"),
    ("autovacuum", "off"),
    ("checkpoint_timeout", "1h"),
    ("log_min_messages", "warning"),
];

/// Writes, bytes written and flushes of a device, as the kernel counts them.
fn disk(number: (u32, u32)) -> [u64; 3] {
    let text = fs::read_to_string("/proc/diskstats").expect("diskstats");
    let line = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .find(|words| words[0] == number.0.to_string() && words[1] == number.1.to_string())
        .expect("the device has a line");
    let field = |n: usize| line[n].parse::<u64>().expect("a number");
    [field(7), field(9) * 512, field(18)]
}

/// Has the page cache give up what it holds of the larger files below a directory.
fn forget(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let Ok(seen) = entry.metadata() else { continue };
        if seen.is_dir() {
            forget(&entry.path());
        } else if seen.len() > 1 << 20
            && let Ok(file) = fs::File::open(entry.path())
        {
            let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed);
        }
    }
}

/// iostat's columns and what they count in a second, and the same of a sample.
const OF_IOSTAT: [(&str, &[&str], f64, &str); 10] = [
    ("reads", &["r/s"], 1.0, "device_reads"),
    ("writes", &["w/s"], 1.0, "device_writes"),
    ("flushes", &["f/s"], 1.0, "device_flushes"),
    (
        "kilobytes read",
        &["rkB/s"],
        1.0,
        "device_read_bytes / 1024",
    ),
    (
        "kilobytes written",
        &["wkB/s"],
        1.0,
        "device_write_bytes / 1024",
    ),
    (
        "ms of reads",
        &["r/s", "r_await"],
        1.0,
        "device_reads * device_r_await_ms",
    ),
    (
        "ms of writes",
        &["w/s", "w_await"],
        1.0,
        "device_writes * device_w_await_ms",
    ),
    (
        "ms of flushes",
        &["f/s", "f_await"],
        1.0,
        "device_flushes * device_f_await_ms",
    ),
    (
        "ms of requests in the queue",
        &["aqu-sz"],
        1000.0,
        "device_aqu_sz * interval_ms",
    ),
    (
        "ms busy",
        &["util"],
        10.0,
        "device_util_percent / 100 * interval_ms",
    ),
];

#[test]
fn device_figures_are_those_that_the_kernel_and_iostat_count() {
    let test = "device_figures_are_those_that_the_kernel_and_iostat_count";
    let fs = match LoopFs::ext4(1500) {
        Ok(fs) => fs,
        Err(why) => return skip(test, &why),
    };
    let device = stat(fs.path()).expect("stat").st_dev;
    let number = (major(device), minor(device));
    let server = server_in(&fs.path(), None, &[("shared_buffers", "1MB")]);
    let mut client = server.connect("postgres");
    let name = fs::canonicalize(format!("/sys/dev/block/{}:{}", number.0, number.1));
    let name = name
        .expect("a device")
        .file_name()
        .expect("a name")
        .display()
        .to_string();
    let Some(iostat) = Iostat::start(&name) else {
        return skip(test, "there is no iostat");
    };
    // Reads go to the device when no cache keeps the pages.
    let base = server.data().join("base");
    let mut forgotten = Instant::now();
    let (run, seen) = bracket(
        &mut client,
        "scale => 2, clients => 2, duration => '5 s', warmup => '1 s', seed => 1",
        |_| {
            if forgotten.elapsed() > Duration::from_millis(150) {
                forget(&base);
                forgotten = Instant::now();
            }
            disk(number)
        },
    );
    let reports = iostat.end();
    let figures = |sql: &str| {
        let text = row(&mut server.connect("postgres"), sql);
        let figures: Vec<f64> = text.split('|').map(|n| n.parse().expect("known")).collect();
        figures
    };
    let told = figures(&format!(
        "SELECT sum(device_writes), sum(device_write_bytes::float8), sum(device_flushes) FROM fsbench.sample WHERE run_id = {run}"
    ));
    let of_run = figures(&format!(
        "SELECT device_write_bytes, device_flushes FROM fsbench.result WHERE run_id = {run}"
    ));
    assert_eq!(of_run, told[1..], "the seconds add up to the run");
    assert_between(
        ["writes", "bytes", "flushes"],
        [told[0], told[1], told[2]],
        &seen,
        0.0,
    );

    for (what, columns, unit, expression) in OF_IOSTAT {
        let told = figures(&format!(
            "SELECT sum({expression}) FROM fsbench.sample WHERE run_id = {run}"
        ))[0];
        let counted = reports.counted(seen.window, columns);
        let (least, most) = (counted.0 * unit, counted.1 * unit);
        assert!(
            told > 0.0,
            "{what}: nothing told, {least} to {most} by iostat"
        );
        assert!(
            least * 0.95 - 5.0 <= told && told <= most * 1.05 + 5.0,
            "{what}: {told} told, {least} to {most} by iostat"
        );
    }
    let all = row(
        &mut client,
        &format!(
            "SELECT bool_and(device_util_percent >= 0 AND device_util_percent * interval_ms / 100 <= interval_ms + 500 AND device_aqu_sz >= 0 AND device_r_await_ms IS NULL = (device_reads = 0) \
               AND device_w_await_ms IS NULL = (device_writes = 0) AND wal_device_writes IS NULL) \
             FROM fsbench.sample WHERE run_id = {run}"
        ),
    );
    assert_eq!(all, "t");
    // The amplifications follow from the stored figures.
    assert_columns(
        &mut client,
        &format!(
            "FROM fsbench.result JOIN fsbench.environment USING (run_id) WHERE run_id = {run}"
        ),
        &[
            ("changed_bytes = 36 * transactions_total", "t"),
            ("server_write_bytes > wal_bytes", "t"),
            (
                "abs(server_write_amplification * changed_bytes / server_write_bytes - 1) < 1e-6",
                "t",
            ),
            (
                "abs(filesystem_write_amplification * server_write_bytes / device_write_bytes - 1) < 1e-6",
                "t",
            ),
            (
                "abs(write_amplification * changed_bytes / device_write_bytes - 1) < 1e-6",
                "t",
            ),
            (
                "abs(device_bytes_per_transaction * transactions_total / device_write_bytes - 1) < 1e-6",
                "t",
            ),
            (
                "abs(flushes_per_transaction * transactions_total / device_flushes - 1) < 1e-6",
                "t",
            ),
            ("journal_mode", "ordered"),
        ],
    );
}

/// Jiffies that a process has used.
fn ticks(pid: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).expect("it lives");
    let (_, rest) = text.rsplit_once(") ").expect("a name");
    let field = |n: usize| rest.split(' ').nth(n).and_then(|n| n.parse::<u64>().ok());
    field(11)
        .zip(field(12))
        .map(|(user, system)| user + system)
        .expect("two times")
}

#[test]
fn what_the_servers_own_processes_use_and_write_is_what_the_kernel_and_its_views_count() {
    let server = server(&[
        ("shared_buffers", "1MB"),
        ("bgwriter_delay", "10ms"),
        ("bgwriter_lru_maxpages", "1000"),
        ("wal_writer_delay", "1ms"),
        ("fsync", "off"),
    ]);
    let mut client = server.connect("postgres");
    // A server that has just begun to accept connections may not have them yet.
    let pids = ["checkpointer", "walwriter", "background writer"].map(|kind| {
        let pid = format!("SELECT pid FROM pg_stat_activity WHERE backend_type = '{kind}'");
        wait_until(kind, LONG, || rows(&mut client, &pid).pop())
    });
    let mut seconds = Instant::now();
    let mut read = |client: &mut Client| {
        if seconds.elapsed() > Duration::from_millis(300) {
            execute(client, "CHECKPOINT");
            seconds = Instant::now();
        }
        let blocks = row(
            client,
            "SELECT buffers_checkpoint, buffers_clean, buffers_backend FROM pg_stat_bgwriter",
        );
        let mut blocks = blocks
            .split('|')
            .map(|n| n.parse::<u64>().expect("a number"));
        let [checkpointer, walwriter, bgwriter] = pids.each_ref().map(|pid| ticks(pid));
        let mut next = || blocks.next().expect("three numbers");
        [checkpointer, walwriter, bgwriter, next(), next(), next()]
    };
    // The coordinator has a second after the warm-up in which to read what the server counts: later it does not know it. Nor does
    // a sampler that stood still over the window.
    let (run, seen, told) = wait_until("what the server's processes did is known", LONG, || {
        let (run, seen) = bracket(
            &mut client,
            // Without a flush for each commit: each flush writes its last page of WAL again, and wal_bytes does not count that.
            "scale => 5, clients => 4, duration => '5 s', warmup => '1 s', seed => 1, settings => '{\"synchronous_commit\": \"off\"}'",
            &mut read,
        );
        let is_known = format!(
            "SELECT server_write_bytes IS NOT NULL FROM fsbench.result WHERE run_id = {run}"
        );
        let told = row(
            &mut client,
            &format!(
                "SELECT sum(checkpointer_cpu_ms) / 10, sum(walwriter_cpu_ms) / 10, sum(bgwriter_cpu_ms) / 10, \
                   (SELECT string_agg(value::text, '|' ORDER BY array_position('{{buffers_checkpoint,buffers_clean,buffers_backend}}', counter)) \
                    FROM fsbench.statistic WHERE run_id = {run} AND view = 'pg_stat_bgwriter' AND counter ~ '^buffers_(checkpoint|clean|backend)$') \
                 FROM fsbench.sample WHERE run_id = {run}"
            ),
        );
        let is_known = row(&mut client, &is_known) == "t" && !told.split('|').any(str::is_empty);
        is_known.then_some((run, seen, told))
    });
    let told: Vec<f64> = told
        .split('|')
        .map(|n| n.parse().expect("a number"))
        .collect();
    let told: [f64; 6] = told.try_into().expect("six figures");
    assert_between(
        [
            "checkpointer's time",
            "walwriter's time",
            "bgwriter's time",
            "checkpointer's blocks",
            "bgwriter's blocks",
            "backends' blocks",
        ],
        told,
        &seen,
        0.001,
    );
    // The processor time of the run is theirs and the clients'.
    assert_columns(
        &mut client,
        &format!("FROM fsbench.result WHERE run_id = {run}"),
        &[
            (
                &format!(
                    "abs(cpu_seconds - client_cpu_seconds - {} / 100.0) < 0.01",
                    told[0] + told[1] + told[2]
                ),
                "t",
            ),
            (
                "abs(cpu_ms_per_transaction * transactions_total / 1000 / cpu_seconds - 1) < 1e-6",
                "t",
            ),
            ("client_blocks_written > 0", "t"),
        ],
    );
    // The counters above and these were not read in one moment: between two readings these processes write thousands of blocks.
    let blocks: f64 = row(
        &mut client,
        &format!("SELECT (server_write_bytes - wal_bytes) / 8192 FROM fsbench.result WHERE run_id = {run}"),
    )
    .parse()
    .expect("a number of blocks");
    let sum = |counts: [u64; 6]| [counts[3] + counts[4] + counts[5]];
    let seen = Bracket {
        before: sum(seen.before),
        inside: (sum(seen.inside.0), sum(seen.inside.1)),
        after: sum(seen.after),
        window: seen.window,
    };
    assert_between(["blocks"], [blocks], &seen, 0.001);
}

#[test]
fn wal_its_syncs_and_resets_in_the_window() {
    let server = server(QUIET);
    wal_is_the_difference_of_lsns_at_start_and_end(&server);
    server.start_anew();
    statistics_that_are_reset_in_the_middle_leave_what_hangs_on_them_unknown(&server);
    server.start_anew();
    a_write_that_waits_for_the_disk_is_a_sync(&server);
}

fn wal_is_the_difference_of_lsns_at_start_and_end(server: &TestServer) {
    let mut client = server.connect("postgres");
    let lsn = |client: &mut Client| -> u64 {
        row(client, "SELECT pg_current_wal_insert_lsn() - '0/0'")
            .parse()
            .expect("a number")
    };
    // Without writers they are equal. What CREATE EXTENSION has left dead in catalogs would be pruned by who reads it first.
    execute(&mut client, "VACUUM");
    let reading = "workload => 'select-only', scale => 1, clients => 1, duration => '2 s', warmup => '1 s', seed => 1";
    let (run, seen) = bracket(&mut client, reading, lsn);
    assert_eq!(seen.inside.0, seen.inside.1);
    let at = seen.inside.0.to_string();
    assert_columns(
        &mut client,
        &format!("FROM fsbench.result r WHERE run_id = {run}"),
        &[
            ("wal_start_lsn - '0/0'", &at),
            ("wal_end_lsn - '0/0'", &at),
            ("wal_bytes", "0"),
            ("client_wal_bytes", "0"),
            (
                "(SELECT sum(wal_bytes) FROM fsbench.sample s WHERE s.run_id = r.run_id)",
                "0",
            ),
        ],
    );

    // After a warm-up the coordinator may be late.
    let writing = "scale => 1, clients => 1, duration => '3 s', warmup => '0', seed => 1";
    let (run, seen) = bracket(&mut client, writing, lsn);
    let told = rows(
        &mut client,
        &format!(
            "SELECT unnest(ARRAY[wal_start_lsn - '0/0', wal_end_lsn - '0/0', wal_bytes, client_wal_bytes, client_wal_records, \
               (SELECT sum(wal_bytes) FROM fsbench.sample s WHERE s.run_id = r.run_id)]) \
             FROM fsbench.result r WHERE run_id = {run}"
        ),
    );
    let told: Vec<u64> = told.iter().map(|n| n.parse().expect("known")).collect();
    let [start, end, wal, by_clients, records, by_second] = told[..] else {
        panic!("{told:?}");
    };
    assert!(
        seen.before <= start && start < seen.inside.1,
        "start {start}"
    );
    assert!(seen.inside.1 <= end && end <= seen.after, "end {end}");
    assert_eq!(end - start, wal);
    // The sampler may be late, too.
    let inside = seen.inside.1 - seen.inside.0;
    assert!(
        inside <= by_second && by_second <= seen.after - seen.before,
        "{by_second}"
    );
    // Each record begins at a multiple of 8, and each page of 8192 bytes with a header of 24, the first of a segment of 40.
    let most = (by_clients + 7 * records) * 8192 / 8160;
    let within = |n: u64| by_clients * 98 / 100 <= n && n <= most * 102 / 100;
    assert!(within(wal), "{told:?}");
}

/// Asserts of the one run what is known of the devices of its data and its WAL.
fn assert_known(client: &mut Client, data_unknown: &str, wal_unknown: &str, wal_known: &str) {
    assert_columns(
        client,
        "FROM fsbench.sample",
        &[
            (
                "bool_and(num_nulls(device_reads, device_writes, device_flushes, device_read_bytes, device_write_bytes, \
                 device_r_await_ms, device_w_await_ms, device_f_await_ms, device_aqu_sz, device_util_percent) = 10)",
                data_unknown,
            ),
            // In the short one after the last second no tick of the processors may have passed.
            (
                "bool_and((cpu_idle_percent IS NOT NULL OR interval_ms < 20) AND dirty_bytes IS NOT NULL AND client_cpu_ms IS NOT NULL)",
                "t",
            ),
            ("bool_and(wal_device_writes IS NULL)", wal_unknown),
            (
                "bool_or(wal_device_write_bytes > 0 AND wal_device_flushes > 0)",
                wal_known,
            ),
        ],
    );
}

/// Asserts that what hangs on what a device wrote is not known of the run, and the rest is.
fn assert_no_device_figures(client: &mut Client) {
    assert_columns(
        client,
        "FROM fsbench.result",
        &[
            (
                "num_nulls(device_read_bytes, device_write_bytes, device_flushes, device_bytes_per_transaction, \
                 flushes_per_transaction, filesystem_write_amplification, write_amplification)",
                "7",
            ),
            ("server_write_amplification > 0", "t"),
            ("cpu_seconds > 0", "t"),
        ],
    );
}

#[test]
fn a_filesystem_without_a_device_has_no_device_figures_and_wal_elsewhere_has_its_own() {
    const SHORT_RUN: &str = "scale => 1, clients => 1, duration => '2 s', warmup => '0', seed => 1";
    let test = "a_filesystem_without_a_device_has_no_device_figures_and_wal_elsewhere_has_its_own";
    let Some(memory) = on_tmpfs() else {
        return skip(test, "needs a tmpfs on /dev/shm");
    };
    let on_tmpfs = server_in(memory, None, &[]);
    let mut client = on_tmpfs.connect("postgres");
    run(&mut client, SHORT_RUN);
    assert_known(&mut client, "t", "t", "");
    assert_no_device_figures(&mut client);
    drop(on_tmpfs);

    let fs = match LoopFs::ext4(700) {
        Ok(fs) => fs,
        Err(why) => return skip(test, &why),
    };
    let apart = server_in(memory, Some(&fs.path()), &[]);
    let mut client = apart.connect("postgres");
    run(&mut client, SHORT_RUN);
    assert_known(&mut client, "t", "f", "t");
    assert_no_device_figures(&mut client);
    drop(apart);

    let mut mounts = Mounts::new();
    if let Ok(overlay) = mounts.overlay("overlay", &fs.path(), "") {
        let server = server_in(&overlay, None, &[]);
        let mut client = server.connect("postgres");
        run(&mut client, SHORT_RUN);
        assert_known(&mut client, "t", "t", "");
        assert_no_device_figures(&mut client);
    }

    // Data with a device, WAL without: what was written in all is not known.
    let place = tempfile::TempDir::with_prefix_in("pgfsbench-wal.", memory).expect("a directory");
    if let Some(owner) = server_owner() {
        std::os::unix::fs::chown(place.path(), Some(owner), None).expect("chown");
    }
    let apart = server_in(&fs.path(), Some(place.path()), &[]);
    let mut client = apart.connect("postgres");
    run(&mut client, SHORT_RUN);
    assert_known(&mut client, "f", "t", "");
    assert_columns(
        &mut client,
        "FROM fsbench.result",
        &[
            ("device_read_bytes IS NOT NULL", "t"),
            (
                "num_nulls(device_write_bytes, device_flushes, write_amplification)",
                "3",
            ),
        ],
    );
}

fn statistics_that_are_reset_in_the_middle_leave_what_hangs_on_them_unknown(server: &TestServer) {
    let mut client = server.connect("postgres");
    let mut held = Held::in_window(
        server,
        "scale => 1, clients => 1, transactions => 100, rate => 100, warmup => '0', seed => 1",
    );
    // The rate of the first second is known when it is over.
    held.wait_for("tps_last_second IS NOT NULL");
    let known_at = row(&mut client, "SELECT clock_timestamp()");
    execute(&mut client, "SELECT pg_stat_reset_shared('bgwriter')");
    let run = held.end();
    assert_columns(
        &mut client,
        &format!("FROM fsbench.result WHERE run_id = {run}"),
        &[
            ("status", "done"),
            (
                &format!("'{known_at}'::timestamptz - measured_from > '990 ms'"),
                "t",
            ),
            ("server_write_bytes IS NULL", "t"),
            ("server_write_amplification IS NULL", "t"),
            ("client_wal_bytes > 0", "t"),
            ("changed_bytes > 0", "t"),
        ],
    );
}

fn a_write_that_waits_for_the_disk_is_a_sync(server: &TestServer) {
    let mut client = server.connect("postgres");
    set(server, &mut client, "wal_sync_method", "open_datasync");
    let run = run(
        &mut client,
        "scale => 1, clients => 1, transactions => 300, warmup => '0', seed => 1",
    );
    assert_columns(
        &mut client,
        &format!("FROM fsbench.result WHERE run_id = {run}"),
        &[
            // The walwriter takes some of them.
            ("client_wal_syncs > 100", "t"),
            ("client_wal_syncs = client_wal_writes", "t"),
        ],
    );
}
