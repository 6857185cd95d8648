//! Scans on filesystems that the helper makes, cold at several read-aheads; and what becomes of them when they are interrupted.

use super::lab::Lab;
use super::runs::SHORT;
use super::scene::Scene;
use crate::common::{assert_refused, execute, rows};
use pgfsbench_tests::{LONG, Leaves, Signal, assert_columns, on_disk, wait_until};

/// A million rows, 60 MB.
const SCAN: &str = "workload => 'scan', scale => 1, seed => 1";

/// Stored results at each read-ahead: scans that count, and runs with transactions. A comparison of read-aheads (study 3) needs both of
/// each.
const READ_AHEAD: &str = "SELECT read_ahead_kb, count(*) FILTER (WHERE gb_per_second > 0) AS scans, count(*) FILTER (WHERE tps > 0) AS runs \
    FROM (SELECT r.read_ahead_kb, s.gb_per_second, NULL AS tps FROM fsbench.result r JOIN fsbench.scan s USING (run_id) WHERE s.used \
          UNION ALL SELECT read_ahead_kb, NULL, tps FROM fsbench.result WHERE workload = 'tpcb') x \
    GROUP BY read_ahead_kb ORDER BY 1";

fn scene(test: &str) -> Option<Scene> {
    // On the machine's disk: what lies in memory is cached there.
    let lab = Lab::below(on_disk(), test)?;
    let settings = [("max_parallel_workers", "4")];
    let scene = Scene::of(lab, &settings, "drop_caches = true\n")?;
    for kb in [128, 8192] {
        scene.value(&format!(
            "SELECT fsbench.create_target('ra{kb}', filesystem => 'ext4', image_size => '1800MB', image_sparse => true, \
               drop_caches => true, block_settings => '{{\"read_ahead_kb\": {kb}}}')"
        ));
    }
    Some(scene)
}

#[test]
fn scans_are_cold_at_the_read_ahead_that_is_asked_for_and_their_table_is_copied_to_each_target() {
    let test = "scans_are_cold_at_the_read_ahead_that_is_asked_for_and_their_table_is_copied_to_each_target";
    let Some(scene) = scene(test) else { return };
    scene.value("SELECT fsbench.drop_prepared_data()");
    let mut wanted = "load_once filesystem copy server";
    for kb in [128, 8192] {
        // More than the asking server allows.
        let scans = scene.start_run(&format!(
            "target => 'ra{kb}', {SCAN}, options => '{{\"degrees\": [1, 6], \"repeats\": 2, \"readers\": [1], \"cache\": \"cold\"}}'"
        ));
        assert_eq!(scene.ending(&scans), "done");
        // Other reads on a device of its own are next to none.
        assert_columns(
            &mut scene.bench.client(),
            &format!(
                "FROM fsbench.result r JOIN fsbench.scan s USING (run_id) WHERE run_id = {scans}"
            ),
            &[
                ("count(*) FILTER (WHERE s.used)", "4"),
                ("bool_and(s.rows = 1000000)", "t"),
                ("max(s.workers_launched)", "6"),
                ("bool_and(s.cached_bytes <= s.bytes * 0.01)", "t"),
                (
                    "bool_and(NOT s.used OR s.device_read_bytes >= s.bytes * 0.99)",
                    "t",
                ),
                ("max(r.read_ahead_kb)", &kb.to_string()),
            ],
        );
        let steps = format!(
            "SELECT string_agg(p ->> 'phase', ' ' ORDER BY n) FROM fsbench.run_log, jsonb_array_elements(phases) WITH ORDINALITY AS t (p, n) \
             WHERE run_id = {scans} AND p ->> 'phase' IN ('load_once', 'filesystem', 'copy', 'server', 'load')"
        );
        assert_eq!(scene.value(&steps), wanted);
        wanted = "filesystem copy server";
        let transactions = scene.start_run(&format!("target => 'ra{kb}', {SHORT}"));
        assert_eq!(scene.ending(&transactions), "done");
        scene.nothing_is_left("the runs at one read-ahead");
    }
    assert_eq!(
        rows(&mut scene.bench.client(), READ_AHEAD),
        ["128|4|1", "8192|4|1"]
    );
}

#[test]
fn a_table_that_is_too_large_for_the_target_is_refused_before_it_is_loaded() {
    let test = "a_table_that_is_too_large_for_the_target_is_refused_before_it_is_loaded";
    let Some(scene) = scene(test) else { return };
    scene.value("SELECT fsbench.drop_prepared_data()");
    assert_refused(
        &mut scene.bench.client(),
        "SELECT fsbench.start(target => 'ra128', workload => 'scan', size => '10GB', options => '{\"cache\": \"cold\"}')",
        "53100",
        &[
            "not enough room for the run",
            "takes about 1",
            "the filesystem on the image will have 1692 MB",
            "image_size",
        ],
    );
    assert_eq!(
        scene.value("SELECT (SELECT count(*) FROM fsbench.run_log) + (SELECT count(*) FROM fsbench.prepared_data)"),
        "0"
    );
}

#[test]
#[ignore = "`make soak` has it"]
fn scans_that_are_cancelled_or_lose_a_worker_leave_nothing_on_a_target() {
    let test = "scans_that_are_cancelled_or_lose_a_worker_leave_nothing_on_a_target";
    let Some(scene) = scene(test) else { return };
    // Long enough for a worker to be met at its work.
    let arguments = "target => 'ra128', workload => 'scan', scale => 4, seed => 1, \
         options => '{\"degrees\": [1, 2], \"repeats\": 1000, \"readers\": []}'";
    let run = scene.start_run(arguments);
    scene.wait_for_phase("measure");
    let traces = scene.traces();
    execute(
        &mut scene.bench.client(),
        &format!("SELECT fsbench.cancel({run})"),
    );
    assert!(scene.ending(&run).starts_with("cancelled 57014"));
    scene.nothing_is_left_of(&traces, "cancelled in a scan");

    let run = scene.start_run(arguments);
    scene.wait_for_phase("measure");
    let traces = scene.traces();
    // One that has done its part by then ends well, and the run goes on with the next scan.
    wait_until("a parallel worker dies at its work", LONG, || {
        let mut there = scene.target_processes().into_iter();
        if let Some(worker) = there.find(|p| p.title.contains("parallel worker for PID")) {
            scene.bench.server.try_signal(worker.pid, Signal::TERM);
        }
        (!scene.told(&run).starts_with("running")).then_some(())
    });
    let told = scene.ending(&run);
    assert!(
        told.starts_with("failed 57P01") && told.contains("worker failed"),
        "{told}"
    );
    scene.nothing_is_left_of(&traces, "a worker has died");
}

#[test]
#[ignore = "`make soak` has it"]
fn a_load_on_an_image_that_is_cancelled_or_loses_a_loader_leaves_nothing() {
    let test = "a_load_on_an_image_that_is_cancelled_or_loses_a_loader_leaves_nothing";
    let Some(scene) = scene(test) else { return };
    for (how, ends) in [
        ("cancelled", "cancelled 57014"),
        (
            "killed",
            "failed 57P02; the target server was stopped or crashed",
        ),
    ] {
        let start = || {
            scene.start_run(
                "target => 'ra128', workload => 'scan', scale => 8, \
                 options => '{\"degrees\": [1], \"repeats\": 1000, \"data\": \"loaded\", \"loaders\": 3, \"readers\": [], \"unlogged\": true}'",
            )
        };
        let mut run = start();
        let a_loader = || {
            let mut there = scene.target_processes().into_iter();
            there.find(|p| p.title.contains("fsbench client"))
        };
        let server = &scene.bench.server;
        // It is stopped as soon as it is seen: the load is not over before somebody has looked at what it has made.
        let loader = wait_until("a loader is stopped", LONG, || {
            let told = scene.told(&run);
            assert!(told.starts_with("running"), "{told}");
            // Nothing keeps it from being over before: then it is made again.
            let phase = format!("SELECT phase FROM fsbench.progress WHERE run_id = {run}");
            if scene.value(&phase) == "measure" {
                scene.value(&format!("SELECT fsbench.cancel({run})"));
                scene.nothing_is_left("a load that was too fast");
                run = start();
            }
            a_loader().filter(|loader| server.try_signal(loader.pid, Signal::STOP))
        });
        let traces = scene.traces();
        if how == "cancelled" {
            scene.value(&format!("SELECT fsbench.cancel({run})"));
            // On a busy machine it may have been killed by now, since it did not end.
            server.try_signal(loader.pid, Signal::CONT);
        } else {
            server.signal(loader.pid, Signal::KILL);
        }
        let told = scene.ending(&run);
        assert!(told.starts_with(ends), "{how}: {told}");
        scene.nothing_is_left_of(&traces, how);
    }
}
