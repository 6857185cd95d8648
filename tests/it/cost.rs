//! What the storage did, as a run stores it, against what others say of the same run; and where nobody can say.

use crate::bracket::{assert_between, bracket};
use crate::common::{execute, row, rows, run, server, server_in};
use crate::iostat::Iostat;
use pgfsbench_tests::{LONG, LoopFs, Server, server_owner, skip};
use postgres::Client;
use rustix::fs::{major, minor, stat};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
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
    let fs = match LoopFs::ext4(700) {
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
    // Reads go to the device when nobody keeps what was read.
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

    // Two decimals of a rate and of a time are not quite their product.
    for (what, columns, unit, expression) in OF_IOSTAT {
        let told = figures(&format!(
            "SELECT sum({expression}) FROM fsbench.sample WHERE run_id = {run}"
        ))[0];
        let (least, most) = reports.counted(seen.window, |column| {
            columns.iter().map(|name| column(name)).product::<f64>() * unit
        });
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
            "SELECT bool_and(device_util_percent BETWEEN 0 AND 110 AND device_aqu_sz >= 0 AND device_r_await_ms IS NULL = (device_reads = 0) \
               AND device_w_await_ms IS NULL = (device_writes = 0) AND wal_device_writes IS NULL) \
             FROM fsbench.sample WHERE run_id = {run}"
        ),
    );
    assert_eq!(all, "t");
    // What each byte has come to, from what is stored of it.
    let parts = format!(
        "SELECT changed_bytes = 36 * transactions_total, server_write_bytes > wal_bytes, \
           abs(server_write_amplification * changed_bytes / server_write_bytes - 1) < 1e-6, \
           abs(filesystem_write_amplification * server_write_bytes / device_write_bytes - 1) < 1e-6, \
           abs(write_amplification * changed_bytes / device_write_bytes - 1) < 1e-6, \
           abs(device_bytes_per_transaction * transactions_total / device_write_bytes - 1) < 1e-6, \
           abs(flushes_per_transaction * transactions_total / device_flushes - 1) < 1e-6, journal_mode \
         FROM fsbench.result JOIN fsbench.environment USING (run_id) WHERE run_id = {run}"
    );
    assert_eq!(row(&mut client, &parts), "t|t|t|t|t|t|t|ordered");
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
    let pids = ["checkpointer", "walwriter", "background writer"].map(|kind| {
        row(
            &mut client,
            &format!("SELECT pid FROM pg_stat_activity WHERE backend_type = '{kind}'"),
        )
    });
    let mut seconds = Instant::now();
    let (run, seen) = bracket(
        &mut client,
        "scale => 5, clients => 4, duration => '5 s', warmup => '1 s', seed => 1",
        |client| {
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
        },
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
    let told: Vec<f64> = told.split('|').map(|n| n.parse().expect("known")).collect();
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
    let facts = format!(
        "SELECT abs(cpu_seconds - client_cpu_seconds - {} / 100.0) < 0.01, \
           abs(cpu_ms_per_transaction * transactions_total / 1000 / cpu_seconds - 1) < 1e-6, client_blocks_written > 0, \
           abs(server_write_bytes / (wal_bytes + 8192.0 * ({} + greatest({}, client_blocks_written))) - 1) < 0.01, \
           server_write_bytes, wal_bytes, client_blocks_written \
         FROM fsbench.result WHERE run_id = {run}",
        told[0] + told[1] + told[2],
        told[3] + told[4],
        told[5]
    );
    let facts = row(&mut client, &facts);
    assert!(facts.starts_with("t|t|t|t|"), "{facts} {told:?}");
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

    let fs = match LoopFs::ext4(700) {
        Ok(fs) => fs,
        Err(why) => return skip("wal_elsewhere_has_figures_of_its_own_device", &why),
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

/// Files as the kernel has them, all of the same length however far their counters are.
fn machine_after(steps: u64) -> [(&'static str, String); 6] {
    let n = |start: u64, step: u64| format!("{:012}", start + steps * step);
    let pressure = |some, full| {
        let line = "avg10=0.00 avg60=0.00 avg300=0.00 total=";
        format!("some {line}{}\nfull {line}{}\n", n(9, some), n(5, full))
    };
    let cpu: Vec<String> = [50, 10, 20, 100, 10, 5, 2, 3, 0, 0]
        .map(|step| n(1000, step))
        .to_vec();
    [
        ("/proc/stat", format!("cpu  {}\n", cpu.join(" "))),
        (
            "/proc/meminfo",
            "MemTotal: 9000 kB\nMemFree: 1000 kB\nMemAvailable: 2000 kB\nCached: 3000 kB\nDirty: 40 kB\nWriteback: 12 kB\n".into(),
        ),
        (
            "/proc/vmstat",
            format!(
                "pgpgin {}\npgpgout {}\npswpin {}\npswpout {}\npgmajfault {}\n",
                n(1, 500),
                n(2, 600),
                n(3, 7),
                n(4, 9),
                n(5, 11)
            ),
        ),
        ("io", pressure(300_000, 200_000)),
        ("memory", pressure(40_000, 30_000)),
        ("cpu", pressure(250_000, 0)),
    ]
}

#[test]
fn figures_of_the_machine_are_those_in_its_files() {
    let test = "figures_of_the_machine_are_those_in_its_files";
    if server_owner().is_none() || !Path::new("/proc/pressure").is_dir() {
        return skip(test, "needs root, and a kernel that tells of pressure");
    }
    let server = server(&[]);
    server.stop(pgfsbench_tests::Stop::Fast);
    let place = tempfile::TempDir::with_prefix_in("pgfsbench-proc.", "/tmp").expect("a directory");
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).expect("chmod");
    let path = |name: &str| place.path().join(name.trim_start_matches("/proc/"));
    for (name, text) in machine_after(0) {
        fs::write(path(name), text).expect("a file");
    }
    let bound = ["/proc/stat", "/proc/meminfo", "/proc/vmstat"].map(|name| (name, path(name)));
    let mut files: Vec<(&str, &Path)> = bound.iter().map(|(n, p)| (*n, p.as_path())).collect();
    files.push(("/proc/pressure", place.path()));
    server.start_again_with_files(&files);
    let mut client = server.connect("postgres");
    let run = row(
        &mut client,
        "SELECT fsbench.start(scale => 1, clients => 1, duration => '4 s', warmup => '0', seed => 1)",
    );
    server.wait_for(
        "postgres",
        "SELECT bool_and(phase = 'measure' AND done > 1300) FROM fsbench.progress",
        LONG,
    );
    // Not shortened first: it may be read just then.
    for (name, text) in machine_after(1) {
        let file = fs::File::options().write(true).open(path(name));
        std::os::unix::fs::FileExt::write_all_at(&file.expect("it is there"), text.as_bytes(), 0)
            .expect("it is written");
    }
    execute(&mut client, &format!("CALL fsbench.wait({run})"));
    let told = |expressions: &str| {
        row(
            &mut server.connect("postgres"),
            &format!("SELECT {expressions} FROM fsbench.sample WHERE run_id = {run}"),
        )
    };
    assert_eq!(
        told(
            "max(memory_free_bytes) / 1024, min(memory_available_bytes) / 1024, max(cached_bytes) / 1024, min(dirty_bytes) / 1024, \
             max(writeback_bytes) / 1024, min(writeback_bytes) / 1024"
        ),
        "1000|2000|3000|40|12|12"
    );
    assert_eq!(
        told(
            "sum(pgpgin_bytes) / 1024, sum(pgpgout_bytes) / 1024, sum(pswpin_pages), sum(pswpout_pages), sum(pgmajfault)"
        ),
        "500|600|7|9|11"
    );
    assert_eq!(
        told(
            "max(cpu_usr_percent), max(cpu_nice_percent), max(cpu_sys_percent), max(cpu_idle_percent), max(cpu_iowait_percent), \
             max(cpu_irq_percent), max(cpu_soft_percent), max(cpu_steal_percent)"
        ),
        "25|5|10|50|5|2.5|1|1.5"
    );
    // Milliseconds in which something waited.
    let waited = [
        "io_some",
        "io_full",
        "memory_some",
        "memory_full",
        "cpu_some",
    ]
    .map(|name| format!("round(sum(pressure_{name}_percent * interval_ms / 100))"));
    assert_eq!(told(&waited.join(", ")), "300|200|40|30|250");
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
               abs(sum(percent) - 100) < 0.1, (SELECT count(DISTINCT second) > 1 \
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
        "SELECT client_wal_sync_ms > 0.6 * measured_ms, client_wal_sync_ms / client_wal_syncs >= 8, client_wal_syncs >= transactions_total, \
           client_wal_writes >= transactions_total AND client_wal_write_ms > 0, \
           client_wal_writes <= (SELECT value FROM fsbench.statistic s WHERE s.run_id = r.run_id AND counter = 'wal_write'), \
           client_wal_writes = (SELECT sum(client_wal_writes) FROM fsbench.sample s WHERE s.run_id = r.run_id) \
         FROM fsbench.result r WHERE run_id = {writing}"
    );
    assert_eq!(row(&mut client, &told), "t|t|t|t|t|t");
    // The client was looked at 100 times a second.
    let looks = format!(
        "SELECT sum(samples) BETWEEN 0.8 * measured_ms / 10 AND 1.2 * measured_ms / 10, sum(samples), measured_ms \
         FROM fsbench.wait_event JOIN fsbench.result USING (run_id) WHERE run_id = {writing} GROUP BY measured_ms"
    );
    let looks = row(&mut client, &looks);
    assert!(looks.starts_with("t|"), "{looks}");
    // Under a low rate there is nothing to do but to wait for the next transaction.
    let waiting = run(
        &mut client,
        "workload => 'select-only', rate => 20, scale => 1, clients => 1, duration => '3 s', warmup => '0', seed => 1",
    );
    assert_eq!(top(&mut client, &waiting), "Extension Extension|t|t|t");
}
