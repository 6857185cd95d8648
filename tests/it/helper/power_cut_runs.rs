//! Power cuts of a filesystem that the helper makes and records: what was acknowledged survives, and controls fail.

use super::scene::Scene;
use crate::common::rows;
use pgfsbench_tests::{Leaves, refusal, skip};
use std::fs;
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
            "barriers_off failed t f 12",
            "fsync_off failed t f 12",
            "full_page_writes_off failed t t 12"
        ]
    );
    let says = format!(
        "SELECT says FROM fsbench.power_cut_result WHERE part = 'commits' AND run_id = {run}"
    );
    assert_eq!(scene.value(&says), "0 of 12 lost: less than 23 % at 95 %");
    let points = format!(
        "SELECT bool_and(lost = 0 AND holes = 0) || ' ' || count(*) FILTER (WHERE pages_checked) || ' ' || count(*) FILTER (WHERE relations_checked > 100) || ' ' || (max(acknowledged) > 0) || ' ' || (max(unflushed) > 0) \
         FROM fsbench.power_cut_point WHERE part = 'commits' AND run_id = {run}"
    );
    assert_eq!(scene.value(&points), "true 2 2 true true");
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
    assert_eq!((first, parts.len()), ("commits|failed", 5), "{parts:?}");
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

#[test]
fn an_error_of_the_disk_stops_the_server_and_loses_no_commit() {
    let test = "an_error_of_the_disk_stops_the_server_and_loses_no_commit";
    let Some(scene) = scene(test) else {
        return;
    };
    let parts = rows(
        &mut scene.bench.client(),
        "SELECT run_id, part, outcome FROM fsbench.power_cut('ext4', cuts => 3, clients => 2, duration => '1 s', seed => 1, fsync_error => true)",
    );
    assert_eq!(parts.len(), 7, "{parts:?}");
    let run = parts[0].split_once('|').expect("a run").0;
    for (part, on) in [(5, "flush_error"), (6, "write_error")] {
        assert_eq!(parts[part], format!("{run}|{on}|passed"), "{parts:?}");
    }
    // The write that fails may be one of the filesystem's journal, whose error has other words.
    let errors = rows(
        &mut scene.bench.client(),
        &format!(
            "SELECT concat_ws(' ', operation, errors, reported, acknowledged >= 20, lost, operation = 'write' OR message ~ 'PANIC:  could not fdatasync file') \
             FROM fsbench.power_cut_error WHERE run_id = {run} ORDER BY 1"
        ),
    );
    assert_eq!(errors, ["flush 1 panic t 0 t", "write 1 panic t 0 t"]);
    let found = format!(
        "SELECT count(*) FROM fsbench.finding WHERE code = 'fsync_error' AND run_id = {run}"
    );
    assert_eq!(scene.value(&found), "0");
    scene.nothing_is_left("errors of the disk");
    // The rows that a filesystem would have left that hides errors.
    let judged = |change: &str, code: &str| {
        scene.value(&format!(
            "UPDATE fsbench.power_cut_error SET {change} WHERE operation = 'write' AND run_id = {run} RETURNING operation"
        ));
        let severity =
            format!("SELECT severity FROM fsbench.judge({run}) WHERE code = 'fsync_error'");
        assert_eq!(scene.value(&severity), code);
    };
    judged("reported = NULL, outcome = 'hidden'", "warning");
    judged("lost = 1, outcome = 'failed'", "invalid");
}

#[test]
fn an_experiment_cuts_the_power_of_each_target_and_says_so_with_the_speed() {
    let test = "an_experiment_cuts_the_power_of_each_target_and_says_so_with_the_speed";
    let Some(scene) = scene(test) else {
        return;
    };
    scene.value(
        "SELECT fsbench.create_target('alike', filesystem => 'ext4', image_size => '800MB', image_sparse => true)",
    );
    let mut client = scene.bench.client();
    let arguments = r#"'cut', targets => '{ext4,alike}', workload => 'commit', clients => 1, transactions => 20, max_blocks => 3, seed => 1, options => '{"power_cut": 2}'"#;
    let planned =
        format!("SELECT says FROM fsbench.plan_experiment({arguments}) WHERE item = 'power cuts'");
    assert_eq!(
        scene.value(&planned),
        "2 power cuts of 2 targets, with controls, before the first block: about 2 min 20 s"
    );
    let on_default = arguments.replace("{ext4,alike}", "{ext4,default}");
    let refused = refusal(
        &mut client,
        &format!("SELECT fsbench.experiment({on_default})"),
    );
    assert!(
        refused
            .message()
            .contains("needs a target with an image or a device"),
        "{refused}"
    );
    scene.value(&format!("SELECT fsbench.experiment({arguments})"));
    client
        .batch_execute("CALL fsbench.wait_experiment('cut')")
        .expect("the experiment ends");
    scene.nothing_is_left("an experiment with power cuts");
    let cut = rows(
        &mut client,
        "SELECT concat_ws(' ', t.target, x.block, r.workload, r.used #>> '{options,cuts}', x.planned_at < (SELECT min(planned_at) FROM fsbench.experiment_run WHERE block = 1)) \
         FROM fsbench.experiment_run x JOIN fsbench.experiment_target t USING (experiment_id, target_number) JOIN fsbench.run_log r USING (run_id) \
         WHERE x.outcome = 'power_cut' ORDER BY 1",
    );
    assert_eq!(cut, ["alike 0 power-cut 2 t", "ext4 0 power-cut 2 t"]);
    let options = "SELECT count(*) FROM fsbench.experiment_run x JOIN fsbench.run_log r USING (run_id) WHERE block > 0 AND r.asked::text LIKE '%power_cut%'";
    assert_eq!(scene.value(options), "0");
    // So few cuts of the controls may tear nothing.
    client
        .batch_execute("UPDATE fsbench.power_cut_result SET outcome = 'passed' WHERE NOT control")
        .expect("an update");
    let says = rows(
        &mut client,
        "SELECT says FROM fsbench.recommend('cut') WHERE says LIKE '%power cuts lost%' ORDER BY 1",
    );
    assert_eq!(
        says,
        ["alike", "ext4"].map(|name| format!(
            "{name}: 0 of 4 power cuts lost or damaged data: less than 53 % at 95 %"
        ))
    );
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
        let parts_made = if filesystem == "xfs" { 4 } else { 5 };
        assert_eq!(parts.len(), parts_made, "{parts:?}");
        for test in &parts[..2] {
            assert!(test.contains("|passed|0 of "), "{filesystem}: {parts:?}");
        }
        scene.nothing_is_left(filesystem);
    }
}

/// Batches on two filesystems that keep all: in each of them nothing is lost, and no control passes.
#[test]
#[ignore = "`make soak` has it"]
fn no_batch_loses_a_commit_or_has_a_control_that_passes() {
    let test = "no_batch_loses_a_commit_or_has_a_control_that_passes";
    let Some(scene) = scene(test) else {
        return;
    };
    scene.value(
        "SELECT fsbench.create_target('xfs', filesystem => 'xfs', image_size => '1GB', image_sparse => true)",
    );
    let mut client = scene.bench.client();
    let mut wrong = Vec::new();
    let (batches, first) = pgfsbench_tests::kills();
    for batch in first..first + batches {
        let filesystem = if batch % 2 == 0 { "ext4" } else { "xfs" };
        let began = Instant::now();
        let parts = rows(
            &mut client,
            &format!(
                "SELECT part, outcome, says FROM fsbench.power_cut('{filesystem}', cuts => 20, duration => '2 s', seed => {batch})"
            ),
        );
        println!(
            "batch {batch}, {filesystem}, {:.0?}: {parts:?}",
            began.elapsed()
        );
        let is_wrong = |(number, part): (usize, &String)| {
            let outcome = if number < 2 { "|passed|" } else { "|failed|" };
            !part.contains(outcome)
        };
        if parts.len() < 4 || parts.iter().enumerate().any(is_wrong) {
            wrong.push(format!("{batch}, {filesystem}: {parts:?}"));
        }
        scene.nothing_is_left(filesystem);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A server whose disk takes nothing more fails in one of many ways.
#[test]
#[ignore = "`make soak` has it"]
fn a_record_that_is_full_is_told() {
    let test = "a_record_that_is_full_is_told";
    let Some(scene) = scene(test) else {
        return;
    };
    let run = scene.start_run(
        "target => 'ext4', workload => 'power-cut', clients => 16, duration => '1 h', seed => 1",
    );
    let ending = scene.ending(&run);
    let full = "53100; the record of the target's writes is full";
    assert!(ending.contains(full), "{ending}");
    scene.nothing_is_left("full record");
}

/// A row of the matrix: filesystem, options of mkfs and mount, settings of the server, and tests that must fail.
type Case = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
);

const CASES: [Case; 17] = [
    // Without a journal `e2fsck -p` gives up after most cuts: pages are lost with the filesystem, and the controls of commits show nothing.
    ("ext2", "", "", "{}", &["pages"]),
    ("ext3", "", "", "{}", &[]),
    ("ext4", "", "data=ordered", "{}", &[]),
    ("ext4", "", "data=writeback", "{}", &[]),
    ("ext4", "", "data=journal", "{}", &[]),
    ("ext4", "-O fast_commit", "", "{}", &[]),
    ("ext4", "-O ^has_journal", "", "{}", &["pages"]),
    ("ext4", "", "barrier=0", "{}", &["commits"]),
    ("xfs", "", "", "{}", &[]),
    ("btrfs", "", "", "{}", &[]),
    ("btrfs", "", "nodatacow", "{}", &[]),
    ("ext4", "", "", OPEN_DATASYNC, &[]),
    ("xfs", "", "", OPEN_DATASYNC, &[]),
    ("btrfs", "", "", OPEN_DATASYNC, &[]),
    ("ext4", "", "", WITHOUT_FULL_PAGES, &["pages"]),
    ("xfs", "", "", WITHOUT_FULL_PAGES, &["pages"]),
    ("btrfs", "", "", WITHOUT_FULL_PAGES, &[]),
];
const OPEN_DATASYNC: &str = r#"{"wal_sync_method": "open_datasync"}"#;
const WITHOUT_FULL_PAGES: &str = r#"{"full_page_writes": "off"}"#;

/// Prints the matrix for the filesystems of this machine.
#[test]
#[ignore = "`make soak` has it"]
fn the_matrix_of_filesystems_and_options() {
    let test = "the_matrix_of_filesystems_and_options";
    let Some(scene) = scene(test) else {
        return;
    };
    let mut client = scene.bench.client();
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").expect("a kernel");
    let server = scene.value("SELECT current_setting('server_version') || ', ' || current_date");
    println!("Linux {}, PostgreSQL {server}", kernel.trim());
    println!("| filesystem | options | settings | commits | pages | controls |");
    println!("|---|---|---|---|---|---|");
    let mut wrong = Vec::new();
    for (number, (filesystem, mkfs, mount, settings, fails)) in CASES.into_iter().enumerate() {
        if !scene.bench.lab.has(filesystem) {
            continue;
        }
        scene.value(&format!(
            "SELECT fsbench.create_target('m{number}', filesystem => '{filesystem}', image_size => '1GB', image_sparse => true, \
               mkfs_options => nullif('{mkfs}', ''), mount_options => nullif('{mount}', ''))"
        ));
        let parts = rows(
            &mut client,
            &format!(
                "SELECT part, outcome, split_part(split_part(says, ' at 95', 1), '; cut ', 1) FROM fsbench.power_cut('m{number}', cuts => 100, settings => '{settings}')"
            ),
        );
        scene.nothing_is_left(filesystem);
        let told = |name: &str| {
            let row = parts
                .iter()
                .find(|row| row.starts_with(&format!("{name}|")));
            row.map_or("", |row| row.split_once('|').expect("an outcome").1)
        };
        let controls = &parts[2..];
        let shown = controls
            .iter()
            .filter(|row| row.contains("|failed|"))
            .count();
        println!(
            "| {filesystem} | {} | {settings} | {} | {} | {shown} of {} fail |",
            [mkfs, mount].join(" ").trim(),
            told("commits").replace('|', ": "),
            told("pages").replace('|', ": "),
            controls.len(),
        );
        for name in ["commits", "pages"] {
            let has_failed = told(name).starts_with("failed");
            // Tests without full pages pass or fail, by the filesystem.
            let is_open = name == "pages" && settings == WITHOUT_FULL_PAGES && fails.is_empty();
            // Without barriers everything may be damaged.
            let is_damaged = name == "pages" && fails.contains(&"commits");
            let has_journal = filesystem != "ext2" && !mkfs.contains("^has_journal");
            let is_void = told(name).starts_with("void") && has_journal;
            if has_failed != fails.contains(&name) && !is_open && !is_damaged || is_void {
                wrong.push(format!(
                    "{filesystem} {mkfs} {mount} {settings}: {name}: {}",
                    told(name)
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A filesystem without a journal is checked after each cut, as when a machine boots.
#[test]
fn a_filesystem_without_a_journal_is_checked_before_it_is_judged() {
    let test = "a_filesystem_without_a_journal_is_checked_before_it_is_judged";
    let Some(scene) = scene(test) else {
        return;
    };
    scene.value(
        "SELECT fsbench.create_target('plain', filesystem => 'ext4', image_size => '1GB', image_sparse => true, mkfs_options => '-O ^has_journal')",
    );
    let parts = rows(
        &mut scene.bench.client(),
        "SELECT run_id, part, outcome FROM fsbench.power_cut('plain', cuts => 3, clients => 2, duration => '1 s', seed => 1)",
    );
    assert_eq!(parts.len(), 5, "{parts:?}");
    let run = parts[0].split_once('|').expect("a run").0;
    let lost = format!(
        "SELECT coalesce(string_agg(problem, '; '), 'nothing') FROM fsbench.power_cut_point WHERE part = 'commits' AND run_id = {run}"
    );
    assert_eq!(scene.value(&lost), "nothing");
    let checks = format!(
        "SELECT count(*) = (SELECT count(*) FROM fsbench.power_cut_point WHERE run_id = {run}) FROM fsbench.helper_job j, jsonb_array_elements(j.steps) s \
         WHERE s ->> 'step' = 'check_cut' AND j.run_id = {run}"
    );
    assert_eq!(scene.value(&checks), "t");
    scene.nothing_is_left("power cuts without a journal");
}
