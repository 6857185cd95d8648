//! Wait events of clients, with a flush that takes as long as it is told to.

use crate::common::{run, server_on_disk};
use pgfsbench_tests::{SHOWN, assert_columns};
use postgres::Client;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

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

/// Asserts what most of the time of a run was waited for. Names of wait events are not written alike in all versions.
fn assert_top(client: &mut Client, run: &str, event: &str) {
    assert_columns(
        client,
        &format!("FROM fsbench.wait_profile({run})"),
        &[
            (
                "(array_agg(lower(wait_event_type || ' ' || wait_event)))[1]",
                event,
            ),
            ("(array_agg(percent))[1] > 60", "t"),
            ("abs(sum(percent) - 100) < 0.1", "t"),
            (
                &format!(
                    "(SELECT count(DISTINCT second) > 1 FROM fsbench.wait_event WHERE run_id = {run})"
                ),
                "t",
            ),
        ],
    );
}

#[test]
fn a_library_that_swallows_syncs_is_seen_by_the_probe() {
    let server = server_on_disk(&[]);
    server.stop(pgfsbench_tests::Stop::Fast);
    let place = tempfile::TempDir::with_prefix_in("pgfsbench-flush.", pgfsbench_tests::scratch())
        .expect("a directory");
    let library = slow_flush(place.path(), 0);
    server
        .try_start_with(&[("LD_PRELOAD", &library)])
        .unwrap_or_else(|why| panic!("{why}"));
    let mut client = server.connect("postgres");
    // Fewer syncs than can be compared.
    let id = run(
        &mut client,
        "scale => 1, clients => 1, transactions => 20, warmup => '0', seed => 1",
    );
    assert_columns(
        &mut client,
        &format!("FROM fsbench.finding WHERE run_id = {id} AND code = 'fsync_too_fast'"),
        &[
            ("count(*)", "1"),
            ("min(message) LIKE 'a flush takes %'", "t"),
        ],
    );
}

#[test]
fn the_wait_profile_finds_what_a_run_waits_for() {
    // On a disk: the workload fsync asks the kernel and no library, and in memory it has nothing to wait for.
    let server = server_on_disk(&[("track_wal_io_timing", "on"), ("shared_buffers", "512MB")]);
    server.stop(pgfsbench_tests::Stop::Fast);
    let place = tempfile::TempDir::with_prefix_in("pgfsbench-flush.", pgfsbench_tests::scratch())
        .expect("a directory");
    let library = slow_flush(place.path(), 24_000_000);
    server
        .try_start_with(&[("LD_PRELOAD", &library)])
        .unwrap_or_else(|why| panic!("{why}"));
    let mut client = server.connect("postgres");
    let writing = run(
        &mut client,
        "scale => 1, clients => 1, duration => '3 s', warmup => '0', seed => 1",
    );
    assert_top(&mut client, &writing, "io walsync");
    // The client's own counters agree: most of its time, and 24 ms each.
    assert_columns(
        &mut client,
        &format!("FROM fsbench.result r WHERE run_id = {writing}"),
        &[
            ("client_wal_sync_ms > 0.6 * measured_ms", "t"),
            ("client_wal_sync_ms / client_wal_syncs >= 24", "t"),
            ("client_wal_syncs >= transactions_total", "t"),
            (
                "client_wal_writes >= transactions_total AND client_wal_write_ms > 0",
                "t",
            ),
            (
                "client_wal_writes <= (SELECT sum(value) FROM fsbench.statistic s WHERE s.run_id = r.run_id AND (counter = 'wal_write' \
             OR view = 'pg_stat_io' AND object LIKE '%/wal/normal' AND counter = 'writes'))",
                "t",
            ),
            (
                "client_wal_writes = (SELECT sum(client_wal_writes) FROM fsbench.sample s WHERE s.run_id = r.run_id)",
                "t",
            ),
        ],
    );
    // The client was looked at 100 times a second; on a busy machine not always.
    assert_columns(
        &mut client,
        &format!(
            "FROM fsbench.wait_event JOIN fsbench.result USING (run_id) WHERE run_id = {writing} GROUP BY measured_ms"
        ),
        &[
            (
                "sum(samples) BETWEEN 0.05 * measured_ms / 10 AND 1.2 * measured_ms / 10",
                "t",
            ),
            ("sum(samples)", SHOWN),
            ("measured_ms", SHOWN),
        ],
    );
    // Under a low rate there is nothing to do but to wait for the next transaction.
    let waiting = run(
        &mut client,
        "workload => 'select-only', rate => 20, scale => 1, clients => 1, duration => '3 s', warmup => '0', seed => 1",
    );
    assert_top(&mut client, &waiting, "extension extension");
    // A sync test's writers are sampled while it is on.
    let syncing = run(
        &mut client,
        r#"workload => 'fsync', duration => '3 s', options => '{"methods": ["fdatasync"], "writers": [2]}'"#,
    );
    assert_top(&mut client, &syncing, "io walsync");
    // Each scanning process is sampled, and none while the cache is prepared.
    let scanning = run(
        &mut client,
        r#"workload => 'scan', scale => 4, seed => 1,
           options => '{"degrees": [2], "repeats": 4, "readers": [], "cache": "shared_buffers", "unlogged": true}'"#,
    );
    assert_columns(
        &mut client,
        &format!(
            "FROM fsbench.wait_event, (SELECT sum(ms) AS ms FROM fsbench.scan WHERE run_id = {scanning}) s \
             WHERE run_id = {scanning} GROUP BY ms"
        ),
        &[
            ("sum(samples) BETWEEN 0.2 * ms / 10 AND 3.5 * ms / 10", "t"),
            ("sum(samples)", SHOWN),
            ("ms", SHOWN),
        ],
    );
}
