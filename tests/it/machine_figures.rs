//! Figures of the machine, per second, against the files that the kernel tells them in; and where these cannot be read.

use crate::common::{row, run, server_on_disk as server};
use crate::held::Held;
use pgfsbench_tests::{TestServer, assert_columns, server_owner, skip};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

#[test]
fn figures_of_the_machine_are_those_in_its_files_and_unknown_where_these_cannot_be_read() {
    if server_owner().is_none() {
        let test =
            "figures_of_the_machine_are_those_in_its_files_and_unknown_where_these_cannot_be_read";
        return skip(test, "needs root");
    }
    let server = server(&[]);
    files_of_proc_that_are_missing_or_unreadable_leave_their_figures_unknown(&server);
    figures_of_the_machine_are_those_in_its_files(&server);
}

fn files_of_proc_that_are_missing_or_unreadable_leave_their_figures_unknown(server: &TestServer) {
    let short = "scale => 1, clients => 1, transactions => 10, warmup => '0', seed => 1";
    let mut client = server.connect("postgres");
    let before = run(&mut client, short);
    let of_before =
        |what: &str| format!("SELECT {what} FROM fsbench.environment WHERE run_id = {before}");
    // The kernel of an ARM names none.
    if cfg!(target_arch = "x86_64") {
        assert_eq!(row(&mut client, &of_before("processor_model IS NULL")), "f");
    }
    // None if the data are on no device of their own.
    let device = row(
        &mut client,
        &of_before("coalesce(layers #>> '{0,device}', '')"),
    );
    let queue = ["queue", "../queue"]
        .map(|queue| format!("/sys/dev/block/{device}/{queue}"))
        .into_iter()
        .find_map(|queue| fs::canonicalize(queue).ok())
        .filter(|_| !device.is_empty());
    drop(client);
    server.stop(pgfsbench_tests::Stop::Fast);
    let place = tempfile::TempDir::with_prefix_in("pgfsbench-proc.", pgfsbench_tests::scratch())
        .expect("a directory");
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
        ("/proc/cpuinfo", unreadable.as_path()),
        // Not /proc/self/mountinfo: each process has its own, in a directory that is there only with it.
    ];
    let of_queue = ["scheduler", "nr_requests", "read_ahead_kb"];
    let of_queue: Vec<String> = queue
        .iter()
        .flat_map(|queue| of_queue.map(|name| format!("{}/{name}", queue.display())))
        .collect();
    let instead = [unreadable.as_path(), odd.as_path(), empty];
    files.extend(of_queue.iter().map(String::as_str).zip(instead));
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
    assert_columns(
        &mut client,
        &format!("FROM fsbench.result r WHERE run_id = {run}"),
        &[
            ("status", "done"),
            ("transactions_total", "200"),
            ("device_write_bytes IS NULL", "t"),
            ("write_amplification IS NULL", "t"),
            ("client_cpu_seconds >= 0", "t"),
            ("client_wal_bytes > 0", "t"),
            (
                "(SELECT sum(transactions) FROM fsbench.sample s WHERE s.run_id = r.run_id)",
                "200",
            ),
        ],
    );
    assert_columns(
        &mut client,
        &format!("FROM fsbench.environment WHERE run_id = {run}"),
        &[
            ("processor_model IS NULL", "t"),
            ("io_scheduler IS NULL", "t"),
            ("nr_requests IS NULL", "t"),
            ("read_ahead_kb IS NULL", "t"),
            ("kernel IS NULL", "f"),
        ],
    );
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

fn figures_of_the_machine_are_those_in_its_files(server: &TestServer) {
    if !Path::new("/proc/pressure").is_dir() {
        let test = "figures_of_the_machine_are_those_in_its_files";
        return skip(test, "needs a kernel that tells of pressure");
    }
    server.stop(pgfsbench_tests::Stop::Fast);
    let place = tempfile::TempDir::with_prefix_in("pgfsbench-proc.", pgfsbench_tests::scratch())
        .expect("a directory");
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).expect("chmod");
    let path = |name: &str| place.path().join(name.trim_start_matches("/proc/"));
    for (name, text) in machine_after(0) {
        fs::write(path(name), text).expect("a file");
    }
    let bound = ["/proc/stat", "/proc/meminfo", "/proc/vmstat"].map(|name| (name, path(name)));
    let mut files: Vec<(&str, &Path)> = bound.iter().map(|(n, p)| (*n, p.as_path())).collect();
    files.push(("/proc/pressure", place.path()));
    server.start_again_with_files(&files);
    let mut held = Held::in_window(
        server,
        "scale => 1, clients => 1, transactions => 100, rate => 100, warmup => '0', seed => 1",
    );
    // The sampler has read them.
    held.wait_for("tps_last_second IS NOT NULL");
    // Not shortened first: it may be read just then.
    for (name, text) in machine_after(1) {
        let file = fs::File::options().write(true).open(path(name));
        std::os::unix::fs::FileExt::write_all_at(&file.expect("it is there"), text.as_bytes(), 0)
            .expect("it is written");
    }
    let run = held.end();
    let assert_told = |columns: &[(&str, &str)]| {
        assert_columns(
            &mut server.connect("postgres"),
            &format!("FROM fsbench.sample WHERE run_id = {run}"),
            columns,
        );
    };
    assert_told(&[
        ("max(memory_free_bytes) / 1024", "1000"),
        ("min(memory_available_bytes) / 1024", "2000"),
        ("max(cached_bytes) / 1024", "3000"),
        ("min(dirty_bytes) / 1024", "40"),
        ("max(writeback_bytes) / 1024", "12"),
        ("min(writeback_bytes) / 1024", "12"),
        ("sum(pgpgin_bytes) / 1024", "500"),
        ("sum(pgpgout_bytes) / 1024", "600"),
        ("sum(pswpin_pages)", "7"),
        ("sum(pswpout_pages)", "9"),
        ("sum(pgmajfault)", "11"),
        ("max(cpu_usr_percent)", "25"),
        ("max(cpu_nice_percent)", "5"),
        ("max(cpu_sys_percent)", "10"),
        ("max(cpu_idle_percent)", "50"),
        ("max(cpu_iowait_percent)", "5"),
        ("max(cpu_irq_percent)", "2.5"),
        ("max(cpu_soft_percent)", "1"),
        ("max(cpu_steal_percent)", "1.5"),
    ]);
    // Milliseconds in which something waited.
    for (name, ms) in [
        ("io_some", "300"),
        ("io_full", "200"),
        ("memory_some", "40"),
        ("memory_full", "30"),
        ("cpu_some", "250"),
    ] {
        let waited = format!("round(sum(pressure_{name}_percent * interval_ms / 100))");
        assert_told(&[(&waited, ms)]);
    }
}
