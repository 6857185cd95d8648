//! Runs on filesystems that the helper makes for them: what they give, what can be asked for, what is refused.

use super::bench::Bench;
use super::lab::detach;
use super::scene::Scene;
use crate::common::{assert_refused, execute, row};
use pgfsbench_tests::{LONG, Leaves, Signal, assert_columns, attach, wait_until};
use std::time::Instant;

/// Arguments of the smallest run.
pub const SHORT: &str = "scale => 1, clients => 2, transactions => 30, warmup => '0', seed => 1";

/// A scene with a target on a sparse image, called as its filesystem.
pub fn on_image(test: &str, further: &str) -> Option<Scene> {
    let scene = Scene::new(test, &[], "drop_caches = true\n")?;
    create(&scene, "ext4", further);
    Some(scene)
}

pub fn create(scene: &Scene, filesystem: &str, further: &str) {
    scene.value(&format!(
        "SELECT fsbench.create_target('{filesystem}', filesystem => '{filesystem}', image_size => '1800MB', \
           image_sparse => true{further})"
    ));
}

/// The phases of a run that come before it on the target, in their order.
fn steps(scene: &Scene, run: &str) -> String {
    scene.value(&format!(
        "SELECT string_agg(p ->> 'phase', ' ' ORDER BY n) FROM fsbench.run_log, \
           jsonb_array_elements(phases) WITH ORDINALITY AS t (p, n) \
         WHERE run_id = {run} AND p ->> 'phase' IN ('load_once', 'filesystem', 'copy', 'server', 'load')"
    ))
}

#[test]
fn a_filesystem_is_made_measured_and_cleared_away_and_data_are_loaded_once() {
    let test = "a_filesystem_is_made_measured_and_cleared_away_and_data_are_loaded_once";
    let Some(scene) = Scene::new(test, &[], "") else {
        return;
    };
    scene.value("SELECT fsbench.drop_prepared_data()");
    let mut wanted = "load_once filesystem copy server";
    for filesystem in scene.bench.lab.filesystems() {
        create(&scene, filesystem, ", mount_options => 'noatime'");
        // So many that the sampler, which looks 100 times a second, sees some of them.
        let run = scene.start_run(&format!(
            "target => '{filesystem}', scale => 1, clients => 2, transactions => 1000, warmup => '0', seed => 1"
        ));
        assert_eq!(scene.ending(&run), "done");
        scene.nothing_is_left("a run");
        let last =
            format!("SELECT phases #>> '{{-1,phase}}' FROM fsbench.result WHERE run_id = {run}");
        assert_eq!(scene.value(&last), "release");
        assert_columns(
            &mut scene.bench.client(),
            &format!(
                "FROM fsbench.result r JOIN fsbench.environment e USING (run_id) WHERE run_id = {run}"
            ),
            &[
                ("r.target", filesystem),
                ("r.filesystem", filesystem),
                ("r.transactions_total", "2000"),
                ("r.tps > 0", "t"),
                ("e.storage -> 'request' ->> 'filesystem'", filesystem),
                (
                    "e.storage -> 'result' ->> 'mount_options' LIKE '%noatime%'",
                    "t",
                ),
                ("(e.storage -> 'data' ->> 'copied_bytes')::bigint > 0", "t"),
                ("r.device_write_bytes > 0", "t"),
                ("r.device_flushes > 0", "t"),
                ("r.client_wal_records > 0", "t"),
                (
                    "(SELECT count(*) > 0 FROM fsbench.wait_profile(r.run_id))",
                    "t",
                ),
            ],
        );
        // Commands that were executed as root are recorded.
        for (action, step) in [
            (
                "prepare",
                r#"@.step == "mkfs" && @.exit_code == 0 && @.ms > 0"#,
            ),
            (
                "prepare",
                r#"@.step == "attach" && @.output starts with "/dev/loop""#,
            ),
            ("release", r#"@.step == "unmount" && @.exit_code == 0"#),
        ] {
            assert_columns(
                &mut scene.bench.client(),
                &format!("FROM fsbench.helper_job WHERE run_id = {run} AND action = '{action}'"),
                &[
                    ("status", "done"),
                    (&format!("jsonb_path_exists(steps, '$[*] ? ({step})')"), "t"),
                ],
            );
        }
        let jobs = format!("SELECT count(*) FROM fsbench.helper_job WHERE run_id = {run}");
        assert_eq!(scene.value(&jobs), "2");
        assert_eq!(steps(&scene, &run), wanted);
        wanted = "filesystem copy server";
        let kept = "SELECT count(*) || ' ' || max(scale) FROM fsbench.prepared_data";
        assert_eq!(scene.value(kept), "1 1");
    }
}

#[test]
fn data_are_copied_cold_or_loaded_on_the_target_as_asked_and_kept_within_the_limit() {
    let test = "data_are_copied_cold_or_loaded_on_the_target_as_asked_and_kept_within_the_limit";
    let Some(scene) = on_image(test, ", drop_caches => true") else {
        return;
    };
    let run = |options: &str| {
        let run = scene.start_run(&format!(
            "target => 'ext4', {SHORT}, options => '{options}'"
        ));
        assert_eq!(scene.ending(&run), "done", "{options}");
        scene.nothing_is_left(options);
        run
    };
    scene.value("SELECT fsbench.drop_prepared_data()");
    let cold = run(r#"{"cache": "cold"}"#);
    assert_eq!(steps(&scene, &cold), "load_once filesystem copy server");
    let asked = |run: &str| {
        scene.value(&format!(
            "SELECT string_agg(action, ',' ORDER BY job_id) FROM fsbench.helper_job WHERE run_id = {run}"
        ))
    };
    assert_columns(
        &mut scene.bench.client(),
        &format!("FROM fsbench.environment WHERE run_id = {cold}"),
        &[
            ("storage -> 'data' ->> 'cache'", "cold"),
            (
                &format!(
                    "(SELECT string_agg(action, ',' ORDER BY job_id) FROM fsbench.helper_job WHERE run_id = {cold})"
                ),
                "prepare,drop_caches,release",
            ),
        ],
    );
    let loaded = run(r#"{"data": "loaded"}"#);
    assert_eq!(steps(&scene, &loaded), "filesystem server load");
    // It is the target that has the caches dropped, whatever the run asks for.
    assert_eq!(asked(&loaded), "prepare,drop_caches,release");
    scene.value("SELECT fsbench.alter_target('ext4', drop_caches => false)");
    let undropped = run("{}");
    assert_eq!(asked(&undropped), "prepare,release");
    scene.value("SELECT fsbench.alter_target('ext4', drop_caches => true)");
    // Both runs make the same transactions, wherever the data come from.
    let balances = format!(
        "SELECT count(DISTINCT balances) FROM fsbench.run_log WHERE run_id IN ({cold}, {loaded})"
    );
    assert_eq!(scene.value(&balances), "1");
    let dropped = "SELECT fsbench.drop_prepared_data() > 0";
    assert_eq!(scene.value(dropped), "t");
    assert_eq!(scene.value(dropped), "f");

    scene
        .bench
        .server
        .configure(&[("pgfsbench.prepared_data_limit", "0")]);
    scene.bench.server.restart();
    let mut client = scene.bench.client();
    let options = r#"options => '{"cache": "cold", "wait_for_helper_ms": 600000}'"#;
    assert_refused(
        &mut client,
        &format!("SELECT * FROM fsbench.run(target => 'ext4', {SHORT}, {options})"),
        "55000",
        &["a cold cache", "pgfsbench.prepared_data_limit"],
    );
    let again = run(r#"{"wait_for_helper_ms": 600000}"#);
    assert_eq!(steps(&scene, &again), "filesystem server load");
    let kept = "SELECT count(*) FROM fsbench.prepared_data";
    assert_eq!(scene.value(kept), "0");
}

/// The last part drops the target.
#[test]
fn runs_and_helpers_that_come_and_go() {
    let Some(mut scene) = on_image("runs_and_helpers_that_come_and_go", "") else {
        return;
    };
    a_run_has_settings_that_need_a_restart_for_itself(&mut scene);
    scene.serve_anew();
    without_a_helper_a_run_says_so_at_once_or_waits_for_it(&mut scene);
    scene.serve_anew();
    a_helper_of_another_version_is_refused_before_anything_is_made(&mut scene);
    scene.serve_anew();
    what_a_run_uses_is_not_taken_away(&mut scene);
}

fn a_run_has_settings_that_need_a_restart_for_itself(scene: &mut Scene) {
    let settings = r#"{"shared_buffers": "24MB", "wal_level": "minimal", "max_wal_senders": 0}"#;
    // For this one run alone.
    for (settings, is_its) in [(settings, "t"), ("{}", "f")] {
        let run = scene.start_run(&format!(
            "target => 'ext4', {SHORT}, settings => '{settings}'"
        ));
        assert_eq!(scene.ending(&run), "done");
        let told = format!(
            "SELECT coalesce(settings -> 'shared_buffers' ->> 'setting' = '24MB' \
               AND settings -> 'wal_level' ->> 'setting' = 'minimal', false) FROM fsbench.result WHERE run_id = {run}"
        );
        assert_eq!(scene.value(&told), is_its, "{settings}");
    }
    scene.nothing_is_left("runs with settings");
}

fn what_a_run_uses_is_not_taken_away(scene: &mut Scene) {
    scene.serve_with(&["--pause-before", "mkfs"]);
    let run = scene.start_run(&format!(
        r#"target => 'ext4', {SHORT}, options => '{{"wait_for_helper_ms": 600000}}'"#
    ));
    let serving = scene.serving.as_ref().expect("a helper");
    serving.wait_until_held();
    let mut client = scene.bench.client();
    for (sql, words) in [
        (
            "SELECT fsbench.drop_prepared_data()",
            "prepared data are in use",
        ),
        ("SELECT fsbench.drop_target('ext4')", "in use"),
        (
            "SELECT fsbench.alter_target('ext4', mount_options => 'noatime')",
            "in use",
        ),
    ] {
        assert_refused(&mut client, sql, "55006", &[words]);
    }
    serving.go_on();
    assert_eq!(scene.ending(&run), "done");
    scene.nothing_is_left("a run");
    execute(&mut client, "SELECT fsbench.drop_prepared_data()");
    execute(&mut client, "SELECT fsbench.drop_target('ext4')");
}

fn without_a_helper_a_run_says_so_at_once_or_waits_for_it(scene: &mut Scene) {
    scene.end_helper(Signal::TERM);
    let run = format!("SELECT * FROM fsbench.run(target => 'ext4', {SHORT})");
    let words = [
        "pgfsbench-helper is not running",
        "Start it as root: systemctl start pgfsbench-helper",
    ];
    // A busy machine may take longer now and then.
    wait_until("it is told within five seconds", LONG, || {
        let began = Instant::now();
        assert_refused(&mut scene.bench.client(), &run, "55000", &words);
        (began.elapsed().as_secs() < 5).then_some(())
    });
    // It need not be set up again.
    let hint = "SELECT hint FROM fsbench.doctor() WHERE subject = 'helper' AND item = 'running'";
    let hint = scene.value(hint);
    assert!(
        hint.starts_with("Start it as root") && !hint.contains("setup"),
        "{hint}"
    );
    scene.nothing_is_left("a run without a helper");
    let run = scene.start_run(&format!(
        r#"target => 'ext4', {SHORT}, options => '{{"wait_for_helper_ms": 600000}}'"#
    ));
    scene.wait_for_phase("provision");
    scene.serve_with(&[]);
    assert_eq!(scene.ending(&run), "done");
    scene.nothing_is_left("a run that has waited");
}

fn a_helper_of_another_version_is_refused_before_anything_is_made(scene: &mut Scene) {
    scene.value("SELECT fsbench.drop_prepared_data()");
    execute(&mut scene.bench.client(), "DELETE FROM fsbench.helper_job");
    scene.end_helper(Signal::TERM);
    let mut other = scene.bench.client();
    execute(
        &mut other,
        "SET application_name = 'pgfsbench-helper 9.9'; UPDATE fsbench.helper_session SET helper_version = '9.9', \
           (pid, backend_start) = (SELECT pid, backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid())",
    );
    let run = format!("SELECT * FROM fsbench.run(target => 'ext4', {SHORT})");
    let words = ["another version", "9.9", "Install the same version"];
    assert_refused(&mut scene.bench.client(), &run, "55000", &words);
    assert_eq!(scene.value("SELECT count(*) FROM fsbench.helper_job"), "0");
    assert_eq!(
        scene.value("SELECT count(*) FROM fsbench.prepared_data"),
        "0"
    );
    scene.nothing_is_left("a helper of another version");
}

#[test]
fn what_mkfs_says_is_the_reason_of_the_run_that_it_fails() {
    let test = "what_mkfs_says_is_the_reason_of_the_run_that_it_fails";
    // More inodes than fit.
    let Some(scene) = on_image(test, ", mkfs_options => '-N 4000000000'") else {
        return;
    };
    let run = scene.start_run(&format!("target => 'ext4', {SHORT}"));
    let told = scene.ending(&run);
    assert!(told.starts_with("failed 58000; mkfs.ext4 failed"), "{told}");
    assert!(told.contains("mke2fs") || told.contains("inodes"), "{told}");
    scene.nothing_is_left("mkfs has failed");
}

#[test]
fn what_the_configuration_or_the_kernel_does_not_allow_fails_the_run_at_once_with_its_words() {
    let test =
        "what_the_configuration_or_the_kernel_does_not_allow_fails_the_run_at_once_with_its_words";
    let Some(scene) = on_image(
        test,
        ", mkfs_options => '-O ^has_journal', mount_options => 'data=journal'",
    ) else {
        return;
    };
    let name = format!("/dev/disk/by-id/pgfsbench-{}", std::process::id());
    scene.value(&format!(
        "SELECT fsbench.create_target('disk', filesystem => 'ext4', device => '{name}')"
    ));
    // Ten minutes for a helper that is not there: what it refuses is not waited for.
    let patient = "options => '{\"wait_for_helper_ms\": 600000}'";
    let began = Instant::now();
    assert_refused(
        &mut scene.bench.client(),
        &format!("SELECT * FROM fsbench.run(target => 'disk', {patient}, {SHORT})"),
        "42501",
        &[
            "is not allowed by the helper's configuration",
            "HINT:",
            &format!("path = \"{name}\""),
        ],
    );
    assert!(began.elapsed() < LONG, "{:?}", began.elapsed());
    // A mount that fails, which comes after mkfs, leaves nothing either.
    let run = scene.start_run(&format!("target => 'ext4', {SHORT}"));
    let told = scene.ending(&run);
    assert!(told.starts_with("failed 58000; "), "{told}");
    assert!(told.contains("mount"), "{told}");
    scene.nothing_is_left("a mount that failed");
}

/// fio is the real one, on files in the target's own data directory.
#[test]
fn fio_runs_on_an_image_and_on_a_device() {
    let Some(bench) = Bench::with_extension("fio_runs_on_an_image_and_on_a_device", &[]) else {
        return;
    };
    let file = bench.lab.path("disk");
    let made = std::fs::File::create(&file).and_then(|file| file.set_len(1800 << 20));
    made.expect("a file");
    let device = attach(&file);
    let line = format!("[[device]]\npath = {device:?}\n");
    let usual = bench.usual("postgres");
    bench.lab.configure(&format!("{usual}{line}"));
    let mut client = bench.client();
    for storage in [
        format!("device => '{device}'"),
        "image_size => '1800MB', image_sparse => true".to_owned(),
    ] {
        let name = storage.split(['_', ' ']).next().unwrap_or_default();
        let create =
            format!("SELECT fsbench.create_target('{name}', filesystem => 'ext4', {storage})");
        row(&mut client, &create);
    }
    let serving = bench.serve_now();
    for target in ["device", "image"] {
        let options = r#"{"pattern": "randwrite", "size": "4MB", "jobs": 2, "fdatasync_every": 4}"#;
        let run = format!(
            "SELECT run_id FROM fsbench.run(target => '{target}', workload => 'io', duration => '3 s', options => '{options}')"
        );
        let run = row(&mut client, &run);
        assert_columns(
            &mut client,
            &format!(
                "FROM fsbench.result r JOIN fsbench.environment e USING (run_id) WHERE run_id = {run}"
            ),
            &[
                ("r.status", "done"),
                ("r.filesystem", "ext4"),
                (
                    "(SELECT string_agg(direction || ' ' || (operations > 0), ', ' ORDER BY direction) FROM fsbench.io_job j WHERE j.run_id = r.run_id)",
                    "sync true, write true",
                ),
                (
                    "(SELECT sum(operations) FROM fsbench.io_job j WHERE j.run_id = r.run_id AND direction = 'sync') <= r.device_flushes",
                    "t",
                ),
            ],
        );
    }
    drop(serving);
    detach(&device, &file.display().to_string());
    bench.lab.nothing_is_left_at_once();
}

/// The identity of a device becomes known in its first run: that makes no other target.
#[test]
fn a_device_that_nobody_had_seen_is_the_same_target_in_its_second_run() {
    let test = "a_device_that_nobody_had_seen_is_the_same_target_in_its_second_run";
    let Some(bench) = Bench::with_extension(test, &[]) else {
        return;
    };
    let file = bench.lab.path("disk");
    let bytes = 1800 << 20;
    let made = std::fs::File::create(&file).and_then(|file| file.set_len(bytes));
    made.expect("a file");
    let device = attach(&file);
    let line = format!("[[device]]\npath = {device:?}\n");
    bench
        .lab
        .configure(&format!("{}{line}", bench.usual("postgres")));
    let mut client = bench.client();
    let create =
        format!("SELECT fsbench.create_target('disk', filesystem => 'ext4', device => '{device}')");
    row(&mut client, &create);
    let serving = bench.serve_now();
    for _ in 0..2 {
        let run = format!("SELECT target FROM fsbench.run(target => 'disk', {SHORT})");
        assert_eq!(row(&mut client, &run), "disk");
        assert_columns(
            &mut client,
            "FROM fsbench.result ORDER BY run_id DESC LIMIT 1",
            &[
                ("target_version", "1"),
                (
                    "target_definition #> '{device_identity,bytes}'",
                    &bytes.to_string(),
                ),
            ],
        );
    }
    drop(serving);
    detach(&device, &file.display().to_string());
    bench.lab.nothing_is_left_at_once();
}
