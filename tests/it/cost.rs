//! What the storage did, as a run stores it, against what others say of the same run; and where nobody can say.

use crate::common::{execute, row, rows, run, server, server_in};
use pgfsbench_tests::{LONG, LoopFs, Server, server_owner, skip};
use postgres::Client;
use rustix::fs::{major, minor, stat};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

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

/// What was read at four moments of a run.
struct Bracket<T> {
    /// Before its measured window.
    before: T,
    /// Inside of it, not at its very edges: a busy machine lets the sampler come late.
    inside: (T, T),
    /// After it.
    after: T,
}

fn epoch() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.expect("a time after 1970").as_secs_f64()
}

/// Reads again and again while a run goes on, and keeps what is surely before, in, and after its measured window.
fn bracket<T: Copy>(
    client: &mut Client,
    start: &str,
    mut read: impl FnMut(&mut Client) -> T,
) -> (String, Bracket<T>) {
    const EDGE: f64 = 0.5;
    let run = row(client, &format!("SELECT fsbench.start({start})"));
    let mut readings = Vec::new();
    let began = Instant::now();
    let is_over = format!("SELECT ended_at IS NOT NULL FROM fsbench.run_log WHERE run_id = {run}");
    let mut over = false;
    while !over {
        assert!(began.elapsed() < LONG, "the run has no end");
        over = row(client, &is_over) == "t";
        let from = epoch();
        let value = read(client);
        readings.push((from, value, epoch()));
        std::thread::sleep(Duration::from_millis(10));
    }
    let window = row(
        client,
        &format!(
            "SELECT extract(epoch FROM measured_from), extract(epoch FROM measured_from) + \
               (SELECT sum(interval_ms) / 1000 FROM fsbench.sample s WHERE s.run_id = r.run_id) \
             FROM fsbench.result r WHERE run_id = {run} AND status = 'done'"
        ),
    );
    let (from, to) = window.split_once('|').expect("two times");
    let (from, to): (f64, f64) = (from.parse().expect("a time"), to.parse().expect("a time"));
    let mut before = readings.iter().filter(|r| r.2 < from - EDGE);
    let inside = |r: &&(f64, T, f64)| r.0 > from + EDGE && r.2 < to;
    let value = |reading: Option<&(f64, T, f64)>| reading.expect("it was looked at then").1;
    let bracket = Bracket {
        before: value(before.next_back()),
        inside: (
            value(readings.iter().find(inside)),
            value(readings.iter().rfind(inside)),
        ),
        after: value(readings.last()),
    };
    (run, bracket)
}

#[test]
fn device_figures_are_those_that_the_kernel_counts() {
    let fs = match LoopFs::ext4(700) {
        Ok(fs) => fs,
        Err(why) => return skip("device_figures_are_those_that_the_kernel_counts", &why),
    };
    let device = stat(fs.path()).expect("stat").st_dev;
    let number = (major(device), minor(device));
    let server = server_in(&fs.path(), None, &[]);
    let mut client = server.connect("postgres");
    let (run, seen) = bracket(
        &mut client,
        "scale => 1, clients => 2, duration => '3 s', warmup => '1 s', seed => 1",
        |_| disk(number),
    );
    let figures = |sql: &str| {
        let text = row(&mut server.connect("postgres"), sql);
        let figures: Vec<u64> = text.split('|').map(|n| n.parse().expect("known")).collect();
        figures
    };
    let told = figures(&format!(
        "SELECT sum(device_writes), sum(device_write_bytes::float8)::bigint, sum(device_flushes) \
         FROM fsbench.sample WHERE run_id = {run}"
    ));
    let of_run = figures(&format!(
        "SELECT device_write_bytes, device_flushes FROM fsbench.result WHERE run_id = {run}"
    ));
    assert_eq!(of_run, told[1..], "the seconds add up to the run");
    for (i, what) in ["writes", "bytes", "flushes"].into_iter().enumerate() {
        let inside = seen.inside.1[i] - seen.inside.0[i];
        let outside = seen.after[i] - seen.before[i];
        assert!(inside > 0, "{what}: the window was looked at");
        assert!(
            inside <= told[i] && told[i] <= outside,
            "{what}: {inside} in the window, {outside} around it, {} told",
            told[i]
        );
    }
    let all = row(
        &mut client,
        &format!(
            "SELECT bool_and(device_util_percent BETWEEN 0 AND 110 AND device_aqu_sz >= 0 AND device_r_await_ms IS NULL = (device_reads = 0) \
               AND device_w_await_ms IS NULL = (device_writes = 0) AND wal_device_writes IS NULL), \
               min(device_bytes_per_transaction) > 0, min(filesystem_write_amplification) > 0 \
             FROM fsbench.sample s JOIN (SELECT run_id, device_bytes_per_transaction, filesystem_write_amplification FROM fsbench.run_log) r \
               USING (run_id) WHERE run_id = {run}"
        ),
    );
    assert_eq!(all, "t|t|t");
}

#[test]
fn wal_is_the_difference_of_lsns_at_start_and_end() {
    let server = server(QUIET);
    let mut client = server.connect("postgres");
    let lsn = |client: &mut Client| -> u64 {
        row(client, "SELECT pg_current_wal_insert_lsn() - '0/0'")
            .parse()
            .expect("a number")
    };
    // Where nobody writes, they are equal.
    let reading = "workload => 'select-only', scale => 1, clients => 1, duration => '2 s', warmup => '1 s', seed => 1";
    let (run, seen) = bracket(&mut client, reading, lsn);
    assert_eq!(seen.inside.0, seen.inside.1);
    let told = row(
        &mut client,
        &format!(
            "SELECT wal_start_lsn - '0/0', wal_end_lsn - '0/0', wal_bytes, client_wal_bytes, \
               (SELECT sum(wal_bytes) FROM fsbench.sample s WHERE s.run_id = r.run_id) \
             FROM fsbench.result r WHERE run_id = {run}"
        ),
    );
    let at = seen.inside.0;
    assert_eq!(told, format!("{at}|{at}|0|0|0"));

    let writing = "scale => 1, clients => 1, duration => '3 s', warmup => '1 s', seed => 1";
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
    assert!(by_second <= seen.after - seen.before, "{by_second}");
    // Each record begins at a multiple of 8, and each page of 8192 bytes with a header of 24, the first of a segment of 40.
    let most = (by_clients + 7 * records) * 8192 / 8160;
    let within = |n: u64| by_clients * 98 / 100 <= n && n <= most * 102 / 100;
    assert!(within(wal) && within(by_second), "{told:?}");
}

/// An overlay whose layers are all on one filesystem.
struct Overlay(PathBuf);

impl Overlay {
    /// None where the kernel has none.
    fn over(fs: &LoopFs) -> Option<Self> {
        let [lower, upper, work, merged] =
            ["lower", "upper", "work", "merged"].map(|name| fs.path().join(name));
        for directory in [&lower, &upper, &work, &merged] {
            fs::create_dir(directory).expect("a directory");
            std::os::unix::fs::chown(directory, server_owner(), None).expect("chown");
        }
        let options = format!(
            "lowerdir={},upperdir={},workdir={}",
            lower.display(),
            upper.display(),
            work.display()
        );
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "overlay", "overlay", "-o", &options])
            .arg(&merged);
        mount
            .status()
            .is_ok_and(|status| status.success())
            .then_some(Self(merged))
    }
}

impl Drop for Overlay {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

#[test]
fn a_filesystem_without_a_device_has_no_device_figures_and_wal_elsewhere_has_its_own() {
    const UNKNOWN: &str = "SELECT bool_and(num_nulls(device_reads, device_writes, device_flushes, device_read_bytes, device_write_bytes, \
            device_r_await_ms, device_w_await_ms, device_f_await_ms, device_aqu_sz, device_util_percent) = 10), \
          bool_and(cpu_idle_percent IS NOT NULL AND dirty_bytes IS NOT NULL AND client_cpu_ms IS NOT NULL), \
          bool_and(wal_device_writes IS NULL), bool_or(wal_device_write_bytes > 0 AND wal_device_flushes > 0) \
        FROM fsbench.sample";
    const OF_RUN: &str = "SELECT num_nulls(device_read_bytes, device_write_bytes, device_flushes, device_bytes_per_transaction, \
          flushes_per_transaction, filesystem_write_amplification, write_amplification), server_write_amplification > 0, cpu_seconds > 0 \
        FROM fsbench.result";
    const SHORT_RUN: &str = "scale => 1, clients => 1, duration => '2 s', warmup => '0', seed => 1";
    if !Path::new("/dev/shm").is_dir() {
        return skip(
            "a_filesystem_without_a_device_has_no_device_figures",
            "needs /dev/shm",
        );
    }
    let memory = Path::new("/dev/shm");
    let on_tmpfs = server_in(memory, None, &[]);
    let mut client = on_tmpfs.connect("postgres");
    run(&mut client, SHORT_RUN);
    assert_eq!(row(&mut client, UNKNOWN), "t|t|t|");
    assert_eq!(row(&mut client, OF_RUN), "7|t|t");
    drop(on_tmpfs);

    let Ok(fs) = LoopFs::ext4(700) else {
        return;
    };
    let apart = server_in(memory, Some(&fs.path()), &[]);
    let mut client = apart.connect("postgres");
    run(&mut client, SHORT_RUN);
    assert_eq!(row(&mut client, UNKNOWN), "t|t|f|t");
    assert_eq!(row(&mut client, OF_RUN), "7|t|t");
    drop(apart);

    if let Some(overlay) = Overlay::over(&fs) {
        let server = server_in(&overlay.0, None, &[]);
        let mut client = server.connect("postgres");
        run(&mut client, SHORT_RUN);
        assert_eq!(row(&mut client, UNKNOWN), "t|t|t|");
        assert_eq!(row(&mut client, OF_RUN), "7|t|t");
    }

    // Data with a device, WAL without: what was written in all is not known.
    let place = tempfile::TempDir::with_prefix_in("pgfsbench-wal.", memory).expect("a directory");
    if let Some(owner) = server_owner() {
        std::os::unix::fs::chown(place.path(), Some(owner), None).expect("chown");
    }
    let apart = server_in(&fs.path(), Some(place.path()), &[]);
    let mut client = apart.connect("postgres");
    run(&mut client, SHORT_RUN);
    assert_eq!(row(&mut client, UNKNOWN), "f|t|t|");
    let told = "SELECT device_read_bytes IS NOT NULL, num_nulls(device_write_bytes, device_flushes, write_amplification) FROM fsbench.result";
    assert_eq!(row(&mut client, told), "t|3");
}

#[test]
fn files_of_proc_that_are_missing_or_unreadable_leave_their_figures_unknown() {
    let test = "files_of_proc_that_are_missing_or_unreadable_leave_their_figures_unknown";
    if server_owner().is_none() {
        return skip(test, "needs root");
    }
    let server = server(&[]);
    server.stop(pgfsbench_tests::Stop::Fast);
    let place = tempfile::TempDir::with_prefix_in("pgfsbench-proc.", "/tmp").expect("a directory");
    let unreadable = place.path().join("unreadable");
    fs::write(&unreadable, "cpu 1 2 3 4\n").expect("a file");
    fs::set_permissions(&unreadable, fs::Permissions::from_mode(0o0)).expect("chmod");
    let odd = place.path().join("odd");
    fs::write(
        &odd,
        "MemFree: lots kB\nDirty: 8 kB\npgpgin x\n\u{0}\n254 0 vda 1 2\n",
    )
    .expect("a file");
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).expect("chmod");
    let empty = Path::new("/dev/null");
    let mut files = vec![
        ("/proc/stat", unreadable.as_path()),
        ("/proc/diskstats", odd.as_path()),
        ("/proc/meminfo", odd.as_path()),
        ("/proc/vmstat", empty),
    ];
    if Path::new("/proc/pressure").is_dir() {
        files.push(("/proc/pressure", place.path()));
    }
    server.start_again_with_files(&files);
    let mut client = server.connect("postgres");
    let run = run(
        &mut client,
        "scale => 1, clients => 2, transactions => 100, warmup => '0', seed => 1",
    );
    let known = format!(
        "SELECT string_agg(DISTINCT name, ' ' ORDER BY name) FROM fsbench.sample s, jsonb_each_text(to_jsonb(s)) AS c (name, value) \
         WHERE run_id = {run} AND value IS NOT NULL AND name ~ '^(cpu|device|wal_device|memory|cached|dirty|writeback|pg|psw|pressure)'"
    );
    assert_eq!(row(&mut client, &known), "dirty_bytes");
    let told = format!(
        "SELECT status, transactions_total, device_write_bytes IS NULL, write_amplification IS NULL, client_cpu_seconds >= 0, \
           client_wal_bytes > 0, (SELECT sum(transactions) FROM fsbench.sample s WHERE s.run_id = r.run_id) \
         FROM fsbench.result r WHERE run_id = {run}"
    );
    assert_eq!(row(&mut client, &told), "done|200|t|t|t|t|200");
}

#[test]
fn statistics_that_are_reset_in_the_middle_leave_what_hangs_on_them_unknown() {
    let server = server(QUIET);
    let mut client = server.connect("postgres");
    let run = row(
        &mut client,
        "SELECT fsbench.start(scale => 1, clients => 1, duration => '3 s', warmup => '0', seed => 1)",
    );
    // A whole second of the window is over.
    server.wait_for(
        "postgres",
        "SELECT bool_and(phase = 'measure' AND tps_last_second > 0) FROM fsbench.progress",
        LONG,
    );
    execute(&mut client, "SELECT pg_stat_reset_shared('bgwriter')");
    execute(&mut client, &format!("CALL fsbench.wait({run})"));
    let told = format!(
        "SELECT status, server_write_bytes IS NULL, server_write_amplification IS NULL, client_wal_bytes > 0, changed_bytes > 0 \
         FROM fsbench.result WHERE run_id = {run}"
    );
    assert_eq!(row(&mut client, &told), "done|t|t|t|t");
}

/// The library that makes each flush of WAL take that long, where the servers' owner can read it.
fn slow_flush(place: &Path, ns: u64) -> String {
    let library = place.join("flush.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../bench/flush1ms.c");
    let status = Command::new("cc")
        .args([
            "-O1",
            "-shared",
            "-fPIC",
            &format!("-DFLUSH_NS={ns}L"),
            "-o",
        ])
        .arg(&library)
        .arg(source)
        .status();
    assert!(status.expect("cc").success(), "cc");
    for (path, mode) in [(place, 0o755), (&library, 0o755)] {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("chmod");
    }
    library.display().to_string()
}

fn top(client: &mut Client, run: &str) -> String {
    row(
        client,
        &format!(
            "SELECT (array_agg(wait_event_type || ' ' || wait_event))[1], (array_agg(percent))[1] > 60, \
               abs(sum(percent) - 100) < 0.1, (SELECT sum(samples) > 0 AND count(DISTINCT second) > 1 \
                 FROM fsbench.wait_event WHERE run_id = {run}) \
             FROM fsbench.wait_profile({run})"
        ),
    )
}

#[test]
fn the_wait_profile_finds_what_a_run_waits_for() {
    let server =
        Server::start(&[pgfsbench_tests::PRELOADED, &[("track_wal_io_timing", "on")]].concat());
    server.stop(pgfsbench_tests::Stop::Fast);
    let place = tempfile::TempDir::with_prefix_in("pgfsbench-flush.", "/tmp").expect("a directory");
    let library = slow_flush(place.path(), 8_000_000);
    server
        .try_start_with(&[("LD_PRELOAD", &library)])
        .unwrap_or_else(|why| panic!("{why}"));
    let mut client = server.connect("postgres");
    execute(&mut client, "CREATE EXTENSION pgfsbench");
    let writing = run(
        &mut client,
        "scale => 1, clients => 1, duration => '3 s', warmup => '0', seed => 1",
    );
    assert_eq!(top(&mut client, &writing), "IO WALSync|t|t|t");
    // The same, by the client's own counters: most of its time, and 8 ms each.
    let told = format!(
        "SELECT client_wal_sync_ms > 0.6 * measured_ms, client_wal_sync_ms / client_wal_syncs >= 8, client_wal_syncs >= transactions_total \
         FROM fsbench.result WHERE run_id = {writing}"
    );
    assert_eq!(row(&mut client, &told), "t|t|t");
    // Under a low rate there is nothing to do but to wait for the next transaction.
    let waiting = run(
        &mut client,
        "workload => 'select-only', rate => 20, scale => 1, clients => 1, duration => '3 s', warmup => '0', seed => 1",
    );
    assert_eq!(top(&mut client, &waiting), "Extension Extension|t|t|t");
}
