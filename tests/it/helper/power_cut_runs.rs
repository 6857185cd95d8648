//! Power cuts of a filesystem that the helper makes and records: what was acknowledged survives, and controls fail.

use super::scene::Scene;
use crate::common::rows;
use pgfsbench_tests::{Leaves, skip};
use std::path::Path;
use std::time::Instant;

const SHORT: &str = "workload => 'power-cut', clients => 3, duration => '1 s', seed => 1";

/// A scene with a target of ext4, on a machine that can record it.
fn scene(test: &str) -> Option<Scene> {
    if !Path::new("/dev/fuse").exists() {
        skip(test, "there is no /dev/fuse to record with");
        return None;
    }
    let scene = Scene::new(test, &[], "")?;
    // With the record it has to fit into what the helper allows for images.
    scene.value(
        "SELECT fsbench.create_target('ext4', filesystem => 'ext4', image_size => '1GB', image_sparse => true)",
    );
    Some(scene)
}

/// Part, outcome, and cuts that have failed of all.
fn outcomes(scene: &Scene, run: &str) -> Vec<String> {
    rows(
        &mut scene.bench.client(),
        &format!(
            "SELECT concat_ws(' ', part, outcome, failed > 0, torn > 0, cuts) FROM fsbench.power_cut_result WHERE run_id = {run} ORDER BY control, part"
        ),
    )
}

#[test]
fn acknowledged_commits_survive_power_cuts_and_controls_do_not() {
    let test = "acknowledged_commits_survive_power_cuts_and_controls_do_not";
    let Some(scene) = scene(test) else {
        return;
    };
    let run = scene.start_run(&format!(
        "target => 'ext4', {SHORT}, options => '{{\"cuts\": 12}}'"
    ));
    assert_eq!(scene.ending(&run), "done");
    scene.nothing_is_left("power cuts");
    assert_eq!(
        outcomes(&scene, &run),
        [
            "commits passed f f 12",
            "pages passed f f 12",
            "fsync_off failed t f 12",
            "full_page_writes_off failed t t 12"
        ]
    );
    let says = format!(
        "SELECT says FROM fsbench.power_cut_result WHERE part = 'commits' AND run_id = {run}"
    );
    assert_eq!(scene.value(&says), "0 of 12 lost: less than 23 % at 95 %");
    let points = format!(
        "SELECT bool_and(lost = 0 AND holes = 0) || ' ' || count(*) FILTER (WHERE pages_checked) || ' ' || (max(acknowledged) > 0) || ' ' || (max(unflushed) > 0) \
         FROM fsbench.power_cut_point WHERE part = 'commits' AND run_id = {run}"
    );
    assert_eq!(scene.value(&points), "true 2 true true");
    // The definition decides, not the name, and of settings only those on which durability depends.
    scene.value(
        "SELECT fsbench.create_target('alike', filesystem => 'ext4', image_size => '1GB', image_sparse => true)",
    );
    let later = |code: &str| {
        let later = scene.start_run(
            r#"target => 'alike', workload => 'commit', clients => 2, transactions => 20, settings => '{"max_wal_size": "2GB"}'"#,
        );
        assert_eq!(scene.ending(&later), "done");
        let codes = format!(
            "SELECT jsonb_path_query_array(durability_codes, '$[*] ? (@.code like_regex \"power_cuts\")') FROM fsbench.environment WHERE run_id = {later}"
        );
        assert_eq!(scene.value(&codes), code);
    };
    // So few cuts show nothing, if none has failed. More of them take too long here.
    later("[]");
    let change = |what: &str| {
        scene.value(&format!(
            "UPDATE fsbench.power_cut_result SET {what} WHERE part = 'commits' AND run_id = {run} RETURNING part"
        ));
    };
    change("cuts = 47");
    later(r#"[{"code": "survived_power_cuts", "cuts": 59}]"#);
    change("failed = 1, outcome = 'failed', loss_below = NULL");
    later(r#"[{"code": "failed_power_cuts", "cuts": 59, "failed": 1}]"#);
}

#[test]
fn power_cuts_lose_commits_of_a_server_without_fsync() {
    let test = "power_cuts_lose_commits_of_a_server_without_fsync";
    let Some(scene) = scene(test) else {
        return;
    };
    let parts = rows(
        &mut scene.bench.client(),
        r#"SELECT run_id, part, outcome FROM fsbench.power_cut('ext4', cuts => 6, clients => 3, duration => '1 s', settings => '{"fsync": "off"}')"#,
    );
    let (run, first) = parts[0].split_once('|').expect("a run");
    assert_eq!((first, parts.len()), ("commits|failed", 4), "{parts:?}");
    let run = run.to_owned();
    scene.nothing_is_left("power cuts that have failed");
    let commits = outcomes(&scene, &run).swap_remove(0);
    assert_eq!(commits, "commits failed t f 6");
    let finding = format!(
        "SELECT severity FROM fsbench.finding WHERE code = 'power_cut_failed' AND run_id = {run}"
    );
    assert_eq!(scene.value(&finding), "invalid");
    let first = format!(
        "SELECT r.first_failed = min(p.number) AND count(p.problem) = count(*) FROM fsbench.power_cut_point p JOIN fsbench.power_cut_result r USING (run_id, part) \
         WHERE part = 'commits' AND p.outcome <> 'passed' AND run_id = {run} GROUP BY r.first_failed"
    );
    assert_eq!(scene.value(&first), "t");
}

/// The calls of README and docs/power-cuts.md, on each filesystem that the kernel mounts by itself.
#[test]
#[ignore = "`make soak` has it"]
fn filesystems_keep_what_they_acknowledged() {
    let test = "filesystems_keep_what_they_acknowledged";
    let Some(scene) = scene(test) else {
        return;
    };
    for filesystem in ["ext4", "xfs", "btrfs"] {
        if filesystem != "ext4" {
            scene.value(&format!(
                "SELECT fsbench.create_target('{filesystem}', filesystem => '{filesystem}', image_size => '1GB', image_sparse => true)"
            ));
        }
        let began = Instant::now();
        let parts = rows(
            &mut scene.bench.client(),
            &format!(
                "SELECT part, outcome, says FROM fsbench.power_cut('{filesystem}', cuts => 300)"
            ),
        );
        println!("{filesystem}, {:.0?}: {parts:#?}", began.elapsed());
        assert_eq!(parts.len(), 4, "{parts:?}");
        for test in &parts[..2] {
            assert!(test.contains("|passed|0 of "), "{filesystem}: {parts:?}");
        }
        scene.nothing_is_left(filesystem);
    }
}
