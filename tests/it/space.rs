//! Room: a run that would not fit is refused, one that runs out of room is ended before the disk is full, and what a full WAL
//! filesystem leaves is cleared up. On small filesystems of their own.

use crate::common::{QUICK, assert_ended, assert_refused, create_target, row, run, server_in, set};
use crate::fsync::a_full_filesystem_is_refused_or_fails_the_run_only;
use pgfsbench_tests::{LONG, LoopFs, TestServer, assert_columns, on_disk, skip, wait_until};
use std::fs::{File, remove_file};
use std::io::Write;
use std::path::{Path, PathBuf};

const MEGABYTE: u64 = 1 << 20;

/// So that the server itself takes little.
const SMALL: &[(&str, &str)] = &[
    ("max_wal_size", "64MB"),
    ("min_wal_size", "32MB"),
    ("pgfsbench.reserved_space", "32MB"),
];

fn small_filesystem(test: &str, megabytes: u64) -> Option<LoopFs> {
    LoopFs::ext4(megabytes)
        .map_err(|reason| skip(test, &reason))
        .ok()
}

fn free_bytes(directory: &Path) -> u64 {
    let space = rustix::fs::statvfs(directory).expect("statvfs");
    space.f_bavail * space.f_frsize
}

/// Fills a filesystem, until this many bytes are free.
pub fn fill(directory: &Path, leave: u64) -> PathBuf {
    let path = directory.join("filler");
    let mut file = File::create_new(&path).expect("a file");
    let block = vec![b'x'; 64 << 10];
    while free_bytes(directory) > leave + block.len() as u64 {
        file.write_all(&block).expect("room");
    }
    file.sync_all().expect("sync");
    path
}

#[test]
fn a_run_or_its_maintenance_that_does_not_fit_is_refused() {
    let name = "a_run_or_its_maintenance_that_does_not_fit_is_refused";
    let Some(fs) = small_filesystem(name, 300) else {
        return;
    };
    let server = server_in(&fs.path(), None, SMALL);
    a_run_that_does_not_fit_is_refused(&server);
    room_for_maintenance_is_asked_before(&server);
}

fn a_run_that_does_not_fit_is_refused(server: &TestServer) {
    let mut client = server.connect("postgres");
    for arguments in [
        "scale => 20, clients => 1, transactions => 1",
        "size => '10 GB', clients => 1, transactions => 1, force => true",
        "workload => 'select-only', scale => 30, clients => 1, transactions => 1",
        "workload => 'scan', size => '1 GB'",
    ] {
        assert_refused(
            &mut client,
            &format!("SELECT fsbench.start({arguments})"),
            "53100",
            &[
                "not enough room",
                "It takes about",
                "reserve of 32 MB (pgfsbench.reserved_space)",
                "free",
                "smaller scale",
            ],
        );
    }
    let files = "SELECT fsbench.start(workload => 'io', options => '{\"size\": \"2GB\"}')";
    assert_refused(&mut client, files, "53100", &["files of fio"]);
    assert_eq!(row(&mut client, "SELECT count(*) FROM fsbench.result"), "0");
    run(&mut client, QUICK);
    // The reserve is the administrator's.
    set(server, &mut client, "pgfsbench.reserved_space", "10GB");
    assert_refused(
        &mut client,
        &format!("SELECT fsbench.start({QUICK})"),
        "53100",
        &["reserve of 10 GB"],
    );
    set(server, &mut client, "pgfsbench.reserved_space", "32MB");
}

fn room_for_maintenance_is_asked_before(server: &TestServer) {
    let mut client = server.connect("postgres");
    let start = |options: &str| {
        format!(
            "SELECT fsbench.start(scale => 4, clients => 1, transactions => 1, options => '{options}')"
        )
    };
    let maintained = start(r#"{"maintenance": true}"#);
    assert_refused(&mut client, &maintained, "53100", &["not enough room"]);
    let id = row(&mut client, &start("{}"));
    assert_ended(&mut client, &id, "done");
}

/// A run is on; something else fills the filesystem of this directory up to the reserve.
fn fills_up_while_a_run_is_on(server: &TestServer, directory: &Path) {
    let mut client = server.connect("postgres");
    let id = row(
        &mut client,
        "SELECT fsbench.start(scale => 1, clients => 2, duration => '10 min', warmup => '0', rate => 20)",
    );
    server.wait_for_phase("measure");
    let filler = fill(directory, 28 * MEGABYTE);
    assert_ended(
        &mut client,
        &id,
        "failed 53100; the filesystem is almost full",
    );
    assert!(
        free_bytes(directory) > 8 * MEGABYTE,
        "it was ended too late"
    );
    let detail = row(
        &mut client,
        &format!("SELECT error_detail FROM fsbench.result WHERE run_id = {id}"),
    );
    assert!(detail.contains("reserve of 32 MB"), "{detail}");
    remove_file(filler).expect("the filler");
    server.nothing_is_left_at_once();
    run(&mut client, QUICK);
    assert!(!server.log().contains("PANIC"), "{}", server.log());
}

#[test]
fn a_run_ends_before_the_data_filesystem_is_full() {
    let Some(fs) = small_filesystem("a_run_ends_before_the_data_filesystem_is_full", 400) else {
        return;
    };
    let server = server_in(&fs.path(), None, SMALL);
    // As long as there is room for it, it is only told.
    let mut client = server.connect("postgres");
    let filler = fill(&fs.path(), 60 * MEGABYTE);
    set(&server, &mut client, "pgfsbench.reserved_space", "1MB");
    let mut almost_full = |room: &str| {
        let id = run(&mut client, QUICK);
        let told = format!(
            "SELECT count(*) FROM fsbench.finding WHERE run_id = {id} AND code = 'almost_full' AND severity = 'warning'"
        );
        assert_eq!(row(&mut client, &told), room);
    };
    almost_full("1");
    remove_file(filler).expect("the filler");
    almost_full("0");
    set(&server, &mut client, "pgfsbench.reserved_space", "32MB");
    fills_up_while_a_run_is_on(&server, &fs.path());
}

#[test]
fn wal_on_a_filesystem_of_its_own_is_seen_and_watched_and_may_fill_it() {
    let name = "wal_on_a_filesystem_of_its_own_is_seen_and_watched_and_may_fill_it";
    let Some(fs) = small_filesystem(name, 200) else {
        return;
    };
    let server = server_in(on_disk(), Some(&fs.path()), SMALL);
    let mut client = server.connect("postgres");
    let id = run(&mut client, QUICK);
    assert_columns(
        &mut client,
        &format!("FROM fsbench.result r WHERE run_id = {id}"),
        &[
            ("scope", "data only"),
            ("wal_filesystem", "ext4"),
            ("st_dev <> wal_st_dev", "t"),
            ("device <> wal_device", "t"),
            (
                &format!("starts_with(wal_directory, '{}/')", fs.path().display()),
                "t",
            ),
            (
                "(SELECT severity IN ('info', 'warning') FROM fsbench.finding f \
                  WHERE f.run_id = r.run_id AND code = 'wal_on_other_filesystem')",
                "t",
            ),
        ],
    );
    fills_up_while_a_run_is_on(&server, &fs.path());
    drop(client);
    a_full_filesystem_is_refused_or_fails_the_run_only(&server, &fs.path());
    after_wal_has_filled_its_disk_nothing_is_left(&server, &fs.path());
}

fn after_wal_has_filled_its_disk_nothing_is_left(server: &TestServer, directory: &Path) {
    server.configure(&[
        ("pgfsbench.reserved_space", "1MB"),
        ("max_wal_size", "10GB"),
        ("checkpoint_timeout", "1h"),
        ("min_wal_size", "32MB"),
        // For bgwriter and autovacuum not to be the ones who meet the full disk in an unrelated way.
        ("autovacuum", "off"),
    ]);
    server.restart();
    let mut client = server.connect("postgres");
    let id = row(
        &mut client,
        "SELECT fsbench.start(scale => 1, clients => 4, duration => '4 min', warmup => '0', \
           settings => '{\"synchronous_commit\": \"off\"}')",
    );
    server.wait_for_phase("measure");
    let postmaster = server.postmaster();
    // More than the reserve, so that the watch has nothing to say, and less than a segment.
    let filler = fill(directory, 3 * MEGABYTE);
    wait_until("the server has stopped over its full WAL", LONG, || {
        server.log().contains("PANIC").then_some(())
    });
    drop(client);
    remove_file(filler).expect("the filler");
    server.settle(postmaster);

    let mut client = server.connect("postgres");
    server.wait_for(
        "postgres",
        "SELECT bool_and(status NOT IN ('queued', 'running')) FROM fsbench.run_log",
        LONG,
    );
    let outcome = server.ending(&id);
    assert!(
        outcome.starts_with("failed 57P02;") || outcome.starts_with("failed 53100;"),
        "{outcome}"
    );
    server.nothing_is_left_at_once();
    run(&mut client, QUICK);
}

#[test]
fn a_target_that_is_too_small_fills_up_or_goes_away_fails_the_run_only() {
    let name = "a_target_that_is_too_small_fills_up_or_goes_away_fails_the_run_only";
    let Some(fs) = small_filesystem(name, 400) else {
        return;
    };
    let server = crate::common::server(SMALL);
    let mut client = server.connect("postgres");
    create_target(&mut client, "small", &fs.path());
    assert_refused(
        &mut client,
        "SELECT fsbench.start(target => 'small', scale => 20)",
        "53100",
        &["not enough room", "reserve", "smaller scale"],
    );
    // Before anything is loaded.
    assert_refused(
        &mut client,
        "SELECT fsbench.start(target => 'small', workload => 'scan', size => '1 GB')",
        "53100",
        &[
            "not enough room",
            "It takes about 2",
            "free",
            "smaller scale",
        ],
    );
    // Segments of WAL that would be made ready.
    assert_refused(
        &mut client,
        r#"SELECT fsbench.start(target => 'small', scale => 1, options => '{"wal_segments": 40}')"#,
        "53100",
        &["not enough room", "data and WAL", "free"],
    );
    // So few that its WAL does not fill what is left before the run looks, each second.
    let long = "target => 'small', scale => 2, clients => 1, duration => '5 min', warmup => '0', rate => 20";
    let id = row(&mut client, &format!("SELECT fsbench.start({long})"));
    server.wait_for_phase("measure");
    let filler = fill(&fs.path(), 16 * MEGABYTE);
    assert_ended(
        &mut client,
        &id,
        "failed 53100; the filesystem is almost full",
    );
    server.nothing_is_left_at_once();
    remove_file(filler).expect("the filler");
    assert_eq!(
        std::fs::read_dir(fs.path()).expect("the target").count(),
        0,
        "left on the target"
    );
    run(&mut client, &format!("target => 'small', {QUICK}"));
    what_a_run_has_left_on_an_unmounted_target_goes_with_the_next_run(&server, &fs);
}

fn what_a_run_has_left_on_an_unmounted_target_goes_with_the_next_run(
    server: &TestServer,
    fs: &LoopFs,
) {
    let mut client = server.connect("postgres");
    let id = row(
        &mut client,
        "SELECT fsbench.start(target => 'small', scale => 1, clients => 1, duration => '10 min', warmup => '0', rate => 20)",
    );
    server.wait_for_phase("measure");
    fs.unmount_lazily();
    row(&mut client, &format!("SELECT fsbench.cancel({id})"));
    server.wait_for(
        "postgres",
        "SELECT bool_and(status NOT IN ('queued', 'running')) FROM fsbench.run_log",
        LONG,
    );
    // No process of the target's server keeps the filesystem.
    fs.mount_again();
    let left = || std::fs::read_dir(fs.path()).expect("the target").count();
    assert_eq!(left(), 1, "it was not there to be removed");
    run(&mut client, &format!("target => 'small', {QUICK}"));
    assert_eq!(left(), 0);
    server.nothing_is_left_at_once();
}
