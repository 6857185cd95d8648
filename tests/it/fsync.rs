//! The workload `fsync`: its file is beside the WAL and never taken for any, and goes whatever happens; its writers are
//! watched as clients are; and it works on targets as here.

use crate::common::{assert_refused, program, set};
use crate::directory_target::Place;
use crate::space::fill;
use pgfsbench_tests::{
    LONG, Leaves, Signal, Stop, TestServer, assert_columns, send, value, wait_until,
};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const LONG_RUN: &str =
    r#"workload => 'fsync', duration => '5 min', options => '{"writers": [1, 2]}'"#;
const SHORT_RUN: &str =
    r#"workload => 'fsync', duration => '90 ms', options => '{"writers": [1]}'"#;

/// The file of the run that is on, once it is there.
fn file_of_run(server: &TestServer) -> PathBuf {
    let began = std::time::Instant::now();
    // Not `wait_until`: it is to be met while it is being made.
    loop {
        let name = server
            .names_in("pg_wal")
            .into_iter()
            .find(|name| name.starts_with("pgfsbench"));
        if let Some(name) = name {
            return server.data().join("pg_wal").join(name);
        }
        assert!(began.elapsed() < LONG, "no file");
    }
}

fn works(server: &TestServer) {
    let tests = format!(
        "SELECT count(*) FROM fsbench.run({SHORT_RUN}) r JOIN fsbench.run_log USING (run_id)"
    );
    assert_eq!(
        server.value(&tests),
        "0",
        "one snapshot does not see its own run"
    );
    let all = "SELECT count(*) FROM fsbench.fsync WHERE run_id = (SELECT max(run_id) FROM fsbench.run_log)";
    assert_eq!(server.value(all), "9");
}

#[test]
fn whatever_ends_a_run_its_file_goes_and_is_no_wal() {
    let server = TestServer::with_extension(&[]);
    its_file_is_never_taken_for_wal(&server);
    server.start_anew();
    whoever_ends_a_run_takes_its_file_along(&server);
    server.start_anew();
    signals_do_not_disturb_writers(&server);
    server.start_anew();
    a_directory_that_takes_no_file_fails_the_run_only(&server);
}

fn its_file_is_never_taken_for_wal(server: &TestServer) {
    let run = server.start_run(LONG_RUN);
    let file = file_of_run(server);
    server.wait_for_phase("measure");
    let about = fs::metadata(&file).expect("the file");
    assert_eq!(about.len(), 16 << 20);
    assert_eq!(about.permissions().mode() & 0o777, 0o600);
    // Segments are switched, removed, recycled and backed up around it.
    let mut client = server.connect("postgres");
    for _ in 0..3 {
        value(
            &mut client,
            "CREATE TABLE t (); DROP TABLE t; SELECT pg_switch_wal()",
        );
        value(&mut client, "CHECKPOINT");
    }
    let copy = TempDir::with_prefix_in("pgfsbench-copy.", pgfsbench_tests::scratch())
        .expect("a directory");
    let to = copy.path().join("data");
    program(
        server,
        "pg_basebackup",
        &["-D", to.to_str().expect("a path"), "--checkpoint=fast"],
    );
    let copied = fs::read_dir(to.join("pg_wal")).expect("its WAL").flatten();
    let ours = copied.filter(|entry| entry.file_name().to_string_lossy().starts_with("pgfsbench"));
    assert_eq!(ours.count(), 0, "in a base backup");
    assert_eq!(fs::metadata(&file).expect("the file").len(), 16 << 20);
    assert_eq!(server.value(&format!("SELECT fsbench.cancel({run})")), "t");
    server.nothing_is_left("cancel");
    assert_eq!(server.told(&run).split(';').next(), Some("cancelled 57014"));
    works(server);
}

fn whoever_ends_a_run_takes_its_file_along(server: &TestServer) {
    for making in [true, false] {
        for (what, wanted) in [
            ("cancel", "cancelled 57014"),
            ("terminate the coordinator", "failed 57P01"),
            ("terminate a writer", "failed 57P01; client % failed"),
            ("kill -9 the coordinator", "failed 57P02"),
            ("kill -9 a writer", "failed 57P02"),
            ("fast stop", "failed 57P0"),
            ("immediate stop", "failed 57P02"),
            ("kill -9 the postmaster", "failed 57P02"),
        ] {
            if making && what.ends_with("a writer") {
                continue;
            }
            eprintln!(
                "{what}, while the file is {}",
                if making { "made" } else { "written" }
            );
            let run = server.start_run(LONG_RUN);
            let coordinator = server.coordinator();
            file_of_run(server);
            if !making {
                server.wait_for_phase("measure");
            }
            match what {
                "cancel" => {
                    assert_eq!(server.value(&format!("SELECT fsbench.cancel({run})")), "t");
                }
                "terminate the coordinator" => server.terminate(coordinator),
                "terminate a writer" => server.terminate(server.pid_of("fsbench client")),
                "kill -9 the coordinator" => server.crash(coordinator),
                "kill -9 a writer" => server.crash(server.pid_of("fsbench client")),
                "fast stop" => server.stop(Stop::Fast),
                "immediate stop" => server.stop(Stop::Immediate),
                _ => server.kill(),
            }
            if server.processes().is_empty() {
                // No process was there to remove it, unless the server was stopped in order.
                let left = server.names_in("pg_wal");
                let is_left = left.iter().any(|name| name.starts_with("pgfsbench"));
                assert!(is_left || what == "fast stop", "{what}: {left:?}");
                server.start_again();
            }
            server.nothing_is_left(what);
            let ended = server.told(&run);
            let like = server.value(&format!("SELECT $_${ended}$_$ LIKE '{wanted}%'"));
            assert_eq!(like, "t", "{what}: {ended}");
        }
    }
    works(server);
    assert!(!server.log().contains("PANIC"), "a PANIC");
}

fn signals_do_not_disturb_writers(server: &TestServer) {
    let mut client = server.connect("postgres");
    let run = wait_until("a writer is met", LONG, || {
        let run = server.start_run(
            r#"workload => 'fsync', duration => '900 ms', options => '{"writers": [1]}'"#,
        );
        let mut writer = None;
        let is_over = |told: &str| !["queued", "running"].contains(&told);
        while writer.is_none() && !is_over(&server.told(&run)) {
            let pid = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'fsbench client'";
            writer = value(&mut client, pid).parse().ok();
        }
        // Until it has ended.
        let mut sent = 0;
        while writer.is_some_and(|writer| send(writer, Signal::USR1)) {
            sent += 1;
        }
        server.value(&format!("CALL fsbench.wait({run})"));
        (sent > 100).then_some(run)
    });
    assert_eq!(server.told(&run), "done");
    let sums = format!(
        "SELECT count(*) || ' ' || bool_and(syncs = (SELECT sum(n) FROM unnest(counts) n)) FROM fsbench.fsync WHERE run_id = {run}"
    );
    assert_eq!(server.value(&sums), "9 true");
}

fn a_directory_that_takes_no_file_fails_the_run_only(server: &TestServer) {
    let wal = server.data().join("pg_wal");
    fs::set_permissions(&wal, Permissions::from_mode(0o500)).expect("chmod");
    let run = server.start_run(SHORT_RUN);
    server.value(&format!("CALL fsbench.wait({run})"));
    fs::set_permissions(&wal, Permissions::from_mode(0o700)).expect("chmod");
    let ended = server.told(&run);
    assert!(
        ended.starts_with("failed 58000; could not create file"),
        "{ended}"
    );
    server.nothing_is_left("a file that cannot be made");
    works(server);
}

/// The WAL of this server is on a filesystem of its own, which has this directory.
pub fn a_full_filesystem_is_refused_or_fails_the_run_only(server: &TestServer, directory: &Path) {
    let mut client = server.connect("postgres");
    set(server, &mut client, "pgfsbench.reserved_space", "1MB");
    // The filesystem fills up before the file is made.
    let mut hold = server.hold_at("coordinator in provision");
    let run = server.start_run(LONG_RUN);
    hold.wait_for(1);
    let filler = fill(directory, 0);
    drop(hold);
    server.nothing_is_left("a full disk");
    let ended = server.told(&run);
    assert!(ended.starts_with("failed 53100; "), "{ended}");
    // There is no room for it from the start.
    fs::remove_file(&filler).expect("the filler");
    let filler = fill(directory, 10 << 20);
    assert_refused(
        &mut client,
        &format!("SELECT fsbench.start({SHORT_RUN})"),
        "53100",
        &["not enough room", "16 MB", "make room"],
    );
    fs::remove_file(filler).expect("the filler");
    works(server);
    assert!(!server.log().contains("PANIC"), "a PANIC");
}

pub fn tests_come_home(place: &Place, there: &TestServer) {
    for (target, options, tests, clients, writers) in [
        ("here", r#"{"writers": [1, 2]}"#, "18", "2", "[1, 2]"),
        // The writers are those that fit there.
        ("superuser", "{}", "27", "4", "[1, 2, 4]"),
    ] {
        let run = place.value(&format!(
            "SELECT run_id FROM fsbench.run(target => '{target}', workload => 'fsync', duration => '900 ms', options => '{options}')"
        ));
        assert_columns(
            &mut place.connect("postgres"),
            &format!(
                "FROM fsbench.run_log JOIN fsbench.fsync USING (run_id) WHERE run_id = {run} GROUP BY run_log.run_id"
            ),
            &[
                ("status", "done"),
                ("count(*)", tests),
                ("count(DISTINCT position)", tests),
                ("bool_and(syncs > 0 AND counts <> '{}')", "t"),
                ("clients", clients),
                ("used #> '{options,writers}'", writers),
            ],
        );
        assert_eq!(
            place.value(&format!(
                "SELECT tps > 0 AND data_directory IS NOT NULL AND load_ms IS NULL FROM fsbench.result WHERE run_id = {run}"
            )),
            "t"
        );
    }
    // Cancelled at any of them, nothing is left there or here.
    for target in ["here", "superuser"] {
        let run = place.start_run(&format!("target => '{target}', {LONG_RUN}"));
        place.wait_for_phase("measure");
        assert_eq!(place.value(&format!("SELECT fsbench.cancel({run})")), "t");
        place.nothing_is_left(target);
        there.nothing_is_left(target);
        assert!(place.told(&run).starts_with("cancelled 57014"));
    }
}
