//! Runs that end with a crash of their server: on filesystems that the helper makes, and mounts again.

use super::interrupted_runs::prepared_without_a_helper;
use super::lab::{Lab, system};
use super::runs::{SHORT, create, on_image};
use super::scene::Scene;
use crate::common::{assert_refused, execute, rows};
use pgfsbench_tests::{LONG, Leaves, Signal, assert_columns, on_disk, wait_until};
use std::fs;
use std::path::PathBuf;

const CRASH: &str = r#"options => '{"crash": true}'"#;
const PATIENT: &str = r#"options => '{"crash": true, "wait_for_helper_ms": 600000}'"#;

/// A run that is held by the helper before a step of its remount.
fn held(test: &str, step: &str) -> Option<(Scene, String)> {
    let mut scene = on_image(test, "")?;
    let run = hold(&mut scene, step);
    Some((scene, run))
}

fn hold(scene: &mut Scene, step: &str) -> String {
    scene.serve_with(&["--pause-before", step]);
    let run = scene.start_run(&format!("target => 'ext4', {SHORT}, {PATIENT}"));
    scene.serving.as_ref().expect("a helper").wait_until_held();
    scene.wait_for_phase("recovery");
    run
}

fn has_failed(scene: &Scene, run: &str, start: &str, words: &str) {
    let told = scene.ending(run);
    assert!(told.starts_with(start), "{told}");
    assert!(told.contains(words), "{told}");
    let stored = format!("SELECT count(*) FROM fsbench.recovery WHERE run_id = {run}");
    assert_eq!(scene.value(&stored), "0");
}

/// Asserts that the figures before the crash are stored, that the fault after it is told, and that nothing claims that no transaction was lost.
fn is_done_with_a_problem(scene: &Scene, run: &str, words: &str) {
    assert_eq!(scene.ending(run), "done");
    let told = scene.value(&format!(
        "SELECT problem FROM fsbench.recovery WHERE run_id = {run}"
    ));
    assert!(told.contains(words), "{told}");
    let committed = scene.value(&format!(
        "SELECT transactions_total + transactions_outside FROM fsbench.run_log WHERE run_id = {run}"
    ));
    assert_columns(
        &mut scene.bench.client(),
        &format!(
            "FROM fsbench.recovery JOIN fsbench.run_log r USING (run_id) WHERE run_id = {run}"
        ),
        &[
            ("balances_verified IS NULL", "t"),
            ("transactions_found IS NULL", "t"),
            ("transactions_committed", &committed),
            ("stop_ms > 0", "t"),
            ("transactions_total > 0", "t"),
            ("tps > 0", "t"),
            ("latency_p99_ms > 0", "t"),
            (
                "(SELECT string_agg(code || ' ' || severity, ', ') FROM fsbench.finding f \
                  WHERE f.run_id = r.run_id AND code IN ('lost_transactions', 'recovery_failed'))",
                "recovery_failed invalid",
            ),
            (
                "(SELECT count(*) > 0 FROM fsbench.histogram h WHERE h.run_id = r.run_id)",
                "t",
            ),
        ],
    );
}

#[test]
fn what_was_committed_is_there_after_a_crash_and_what_recovery_takes_is_stored() {
    let test = "what_was_committed_is_there_after_a_crash_and_what_recovery_takes_is_stored";
    let Some(scene) = Scene::new(test, &[], "") else {
        return;
    };
    for filesystem in scene.bench.lab.filesystems() {
        create(&scene, filesystem, ", mount_options => 'noatime'");
        let run = scene.start_run(&format!("target => '{filesystem}', {SHORT}, {CRASH}"));
        assert_eq!(scene.ending(&run), "done");
        scene.nothing_is_left("a run with a crash");
        assert_columns(
            &mut scene.bench.client(),
            &format!("FROM fsbench.recovery WHERE run_id = {run}"),
            &[
                ("unmounted", "t"),
                ("unmount_ms > 0", "t"),
                ("mount_ms > 0", "t"),
                ("recovery_ms > 0", "t"),
                ("redo_ms <= recovery_ms", "t"),
                ("first_transaction_ms >= recovery_ms", "t"),
                ("stop_ms > 0", "t"),
                ("stopped_after_ms > 0", "t"),
                ("transactions_committed", "60"),
                ("transactions_found", "60"),
                ("balances_verified", "t"),
                ("problem IS NULL", "t"),
            ],
        );
        // Exactly what the server said, and no checkpoint since the one before the clients: all WAL of the window was replayed.
        assert_columns(
            &mut scene.bench.client(),
            &format!(
                "FROM fsbench.recovery JOIN fsbench.run_log USING (run_id) WHERE run_id = {run}"
            ),
            &[
                ("wal_replayed_bytes = redo_end_lsn - redo_start_lsn", "t"),
                ("redo_done_lsn < redo_end_lsn", "t"),
                ("wal_replayed_bytes >= wal_bytes", "t"),
                ("redo_start_lsn <= wal_start_lsn", "t"),
                ("redo_end_lsn >= wal_end_lsn", "t"),
                (
                    "array_to_string(server_log, ' ') LIKE '%redo starts at ' || redo_start_lsn || '%redo done at ' || redo_done_lsn || '%'",
                    "t",
                ),
                ("(balances ->> 'history_rows')::int", "60"),
            ],
        );
        let jobs = format!(
            "SELECT string_agg(action || ' ' || status, ', ' ORDER BY job_id) FROM fsbench.helper_job WHERE run_id = {run}"
        );
        assert_eq!(
            scene.value(&jobs),
            "prepare done, remount done, release done"
        );
        let phases = format!(
            "SELECT string_agg(p ->> 'phase', ' ' ORDER BY n) FROM fsbench.run_log, \
               jsonb_array_elements(phases) WITH ORDINALITY AS t (p, n) \
             WHERE run_id = {run} AND p ->> 'phase' IN ('measure', 'stop', 'remount', 'recovery', 'verify')"
        );
        assert_eq!(scene.value(&phases), "measure stop remount recovery verify");
        let lost = format!(
            "SELECT count(*) FROM fsbench.finding WHERE run_id = {run} AND code = 'lost_transactions'"
        );
        assert_eq!(scene.value(&lost), "0");
    }
    // A run without a crash makes the same transactions.
    let run = scene.start_run(&format!("target => 'ext4', {SHORT}"));
    assert_eq!(scene.ending(&run), "done");
    let balances = "SELECT count(DISTINCT balances) FROM fsbench.run_log";
    assert_eq!(scene.value(balances), "1");
    let crashed = format!("SELECT count(*) FROM fsbench.recovery WHERE run_id = {run}");
    assert_eq!(scene.value(&crashed), "0");
}

#[test]
fn committed_transactions_that_a_crash_has_lost_make_the_run_invalid() {
    let test = "committed_transactions_that_a_crash_has_lost_make_the_run_invalid";
    // On the machine's disk: memory would keep nothing.
    let scene =
        Lab::below(on_disk(), test).and_then(|lab| Scene::of(lab, &[], "drop_caches = true\n"));
    let Some(mut scene) = scene else {
        return;
    };
    create(&scene, "ext4", "");
    // Held when the filesystem is mounted again and not read yet.
    for (fsync, words) in [("on", "do not trust this storage"), ("off", "fsync off")] {
        scene.value(&format!(
            r#"SELECT fsbench.alter_target('ext4', settings => '{{"fsync": "{fsync}"}}')"#
        ));
        scene.serve_with(&["--pause-before", "mounted_again"]);
        // The checkpoint with which the window begins is over before the last ones: what is before its record cannot be lost.
        let run = scene.start_run(&format!("target => 'ext4', {SHORT}, rate => 20, {PATIENT}"));
        let serving = scene.serving.as_ref().expect("a helper");
        serving.wait_until_held();
        forget_wal(&scene);
        serving.go_on();
        assert_eq!(scene.ending(&run), "done");
        scene.nothing_is_left("a run that has lost transactions");
        let codes =
            format!("SELECT string_agg(code, ' ') FROM fsbench.finding WHERE run_id = {run}");
        let codes = scene.value(&codes);
        let recovery =
            format!("SELECT row_to_json(r) FROM fsbench.recovery r WHERE run_id = {run}");
        assert!(
            codes.contains("lost_transactions"),
            "{codes}: {}",
            scene.value(&recovery)
        );
        assert_columns(
            &mut scene.bench.client(),
            &format!(
                "FROM fsbench.finding JOIN fsbench.recovery USING (run_id) WHERE run_id = {run} AND code = 'lost_transactions'"
            ),
            &[
                ("severity", "invalid"),
                (
                    "message LIKE '% of 60 committed transactions were lost in the crash%'",
                    "t",
                ),
                (&format!("hint LIKE '%{words}%'"), "t"),
                ("balances_verified", "f"),
                ("transactions_found < 60", "t"),
                ("problem LIKE '%pgbench_history holds%'", "t"),
                (
                    &format!("(SELECT worst_finding FROM fsbench.result WHERE run_id = {run})"),
                    "invalid",
                ),
            ],
        );
    }
}

/// The data directory of the target server.
fn target_data(scene: &Scene) -> PathBuf {
    let place = scene.bench.lab.path("mnt/bench@ext4/pgfsbench");
    let server = fs::read_dir(place).expect("the directory").flatten().next();
    server.expect("a server").path().join("data")
}

/// Cuts the WAL of the target server off in the middle, as storage does that has not kept what it was told to.
fn forget_wal(scene: &Scene) {
    let data = target_data(scene);
    let control = pgfsbench_tests::controldata(&data);
    let value = |name: &str| {
        let line = control.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split(':').nth(1))
            .expect(name)
            .trim()
            .to_owned()
    };
    let file = data
        .join("pg_wal")
        .join(value("Latest checkpoint's REDO WAL file"));
    let offset = |lsn: &str| {
        let low = lsn.split('/').nth(1).expect("an LSN");
        u64::from_str_radix(low, 16).expect("hexadecimal") % (16 << 20)
    };
    // The checkpoint's own record is needed, and a page after it there are transactions.
    let from = offset(&value("Latest checkpoint location")) / 8192 * 8192 + 2 * 8192;
    let wal = fs::OpenOptions::new()
        .write(true)
        .open(file)
        .expect("the WAL");
    let size = wal.metadata().expect("its size").len();
    wal.set_len(from).expect("cut");
    wal.set_len(size).expect("zeroes");
}

fn a_run_that_is_cancelled_during_the_crash_leaves_nothing(scene: &mut Scene) {
    let run = hold(scene, "mount_again");
    assert_eq!(scene.value(&format!("SELECT fsbench.cancel({run})")), "t");
    scene.serving.as_ref().expect("a helper").go_on();
    has_failed(scene, &run, "cancelled 57014", "canceled");
    scene.nothing_is_left("a run was cancelled");
    scene.serve_with(&[]);
    let next = scene.start_run(&format!("target => 'ext4', {SHORT}, {PATIENT}"));
    assert_eq!(scene.ending(&next), "done");
    scene.nothing_is_left("the next run");
}

#[test]
fn whatever_hinders_recovery_does_not_cost_the_window_and_nothing_is_left() {
    let test = "whatever_hinders_recovery_does_not_cost_the_window_and_nothing_is_left";
    let Some(mut scene) = on_image(test, "") else {
        return;
    };
    nobody_else_is_crashed(&mut scene);
    without_a_helper_the_window_is_measured_and_recovery_is_not(&mut scene);
    a_helper_that_is_killed_while_it_mounts_again_does_not_cost_the_window_and_clears_up(
        &mut scene,
    );
    a_filesystem_that_does_not_mount_again_is_told_in_the_words_of_mount(&mut scene);
    a_run_that_is_cancelled_during_the_crash_leaves_nothing(&mut scene);
}

fn a_helper_that_is_killed_while_it_mounts_again_does_not_cost_the_window_and_clears_up(
    scene: &mut Scene,
) {
    let run = hold(scene, "mount_again");
    scene.end_helper(Signal::KILL);
    is_done_with_a_problem(scene, &run, "pgfsbench-helper has ended during the job");
    scene.serve_with(&[]);
    scene.nothing_is_left("the helper was killed");
}

fn without_a_helper_the_window_is_measured_and_recovery_is_not(scene: &mut Scene) {
    let run = prepared_without_a_helper(scene, &format!(", {CRASH}"));
    is_done_with_a_problem(scene, &run, "pgfsbench-helper is not running");
    scene.serve_with(&[]);
    scene.nothing_is_left("the helper is back");
}

fn a_filesystem_that_does_not_mount_again_is_told_in_the_words_of_mount(scene: &mut Scene) {
    let run = hold(scene, "mount_again");
    let device = scene.bench.lab.loops().remove(0);
    system("wipefs", &["--all", &device]);
    scene.serving.as_ref().expect("a helper").go_on();
    is_done_with_a_problem(scene, &run, "wrong fs type");
    scene.nothing_is_left("it was not mounted again");
}

#[test]
#[ignore = "`make soak` has it"]
fn a_target_server_that_is_killed_while_it_recovers_does_not_cost_the_window() {
    let test = "a_target_server_that_is_killed_while_it_recovers_does_not_cost_the_window";
    let Some((scene, run)) = held(test, "mounted_again") else {
        return;
    };
    let traces = scene.traces();
    // It stands still before it has recovered, since it reads a pipe without a writer.
    let file = target_data(&scene).join("pg_hba.conf");
    fs::remove_file(&file).expect("remove");
    system("mkfifo", &["-m", "644", &file.display().to_string()]);
    scene.serving.as_ref().expect("a helper").go_on();
    let server = wait_until("the server is started again", LONG, || {
        scene.target_postmaster()
    });
    scene.bench.server.signal(server, Signal::KILL);
    is_done_with_a_problem(&scene, &run, "the target server ");
    scene.nothing_is_left_of(&traces, "the target server was killed");
}

#[test]
#[ignore = "`make soak` has it"]
fn an_asking_server_that_crashes_itself_meanwhile_clears_up() {
    let test = "an_asking_server_that_crashes_itself_meanwhile_clears_up";
    let Some((mut scene, run)) = held(test, "mount_again") else {
        return;
    };
    scene.bench.server.stop(pgfsbench_tests::Stop::Immediate);
    scene.bench.server.start_again();
    // It cannot be told anything while it is held.
    scene.end_helper(Signal::KILL);
    scene.serve_with(&[]);
    let told = scene.told(&run);
    assert!(
        told.is_empty() || told.starts_with("failed") || told.starts_with("running"),
        "{told}"
    );
    scene.nothing_is_left("the asking server has crashed");
    assert!(scene.told(&run).starts_with("failed 57P02"));
}

fn nobody_else_is_crashed(scene: &mut Scene) {
    let mut client = scene.bench.client();
    execute(
        &mut client,
        "SELECT fsbench.create_target('far', connection => 'host=/nowhere dbname=bench')",
    );
    for (target, words) in [
        ("default", "this server is not crashed by a run of its own"),
        (
            "far",
            "a server that is reached by a connection is not crashed",
        ),
    ] {
        assert_refused(
            &mut client,
            &format!("SELECT * FROM fsbench.run(target => '{target}', {SHORT}, {CRASH})"),
            "22023",
            &[words, "fsbench.create_target()"],
        );
    }
    assert_eq!(rows(&mut client, "SELECT FROM fsbench.run_log").len(), 0);
}
