//! Stored facts and findings of a filesystem that was made for a run.

use super::machine::Machine;
use super::runs::{SHORT, create, on_image};
use super::scene::Scene;
use pgfsbench_tests::assert_columns;
use rustix::fs::{Mode, OFlags};

/// Codes among these that were found about a run.
fn found(scene: &Scene, run: &str, codes: &str) -> String {
    scene.value(&format!(
        "SELECT coalesce(string_agg(code || ' ' || severity, ', ' ORDER BY code), '') FROM fsbench.finding \
         WHERE run_id = {run} AND code = ANY ('{{{codes}}}')"
    ))
}

#[test]
fn how_a_filesystem_was_made_and_what_it_lies_on_is_stored() {
    let test = "how_a_filesystem_was_made_and_what_it_lies_on_is_stored";
    let Some(scene) = Scene::new(test, &[], "kernel_settings = true\n") else {
        return;
    };
    let machine = Machine::new();
    let further = r#", mount_options => 'noatime', block_settings => '{"read_ahead_kb": 72}',
        kernel_settings => '{"dirty_expire_centisecs": 2900}'"#;
    create(&scene, "ext4", further);
    let run = scene.start_run(&format!("target => 'ext4', {SHORT}"));
    assert_eq!(scene.ending(&run), "done");
    assert_columns(
        &mut scene.bench.client(),
        &format!("FROM fsbench.environment WHERE run_id = {run}"),
        &[
            ("mkfs_version <> ''", "t"),
            ("mkfs_command LIKE '%/mkfs.ext4 %'", "t"),
            ("geometry->>'features' LIKE '%extent%'", "t"),
            ("block_size_bytes = (geometry->>'block_bytes')::bigint", "t"),
            ("layers->0->>'kind'", "loop"),
            (
                "layers->0->>'direct_io' = (storage #>> '{result,direct_io}')",
                "t",
            ),
            ("layers->1->>'kind'", "filesystem"),
            (
                "layers->0->>'backing_file' = (storage #>> '{result,image}')",
                "t",
            ),
            ("configuration_fingerprint <> ''", "t"),
            (
                "(storage #>> '{asking_server,shared_buffers_bytes}')::bigint > 0",
                "t",
            ),
            ("journal_mode", "ordered"),
            ("(geometry->>'log_bytes')::bigint > 0", "t"),
        ],
    );
    // The server there has seen the settings in force, and they are what was asked for.
    assert_columns(
        &mut scene.bench.client(),
        &format!("FROM fsbench.environment WHERE run_id = {run}"),
        &[
            ("read_ahead_kb", "72"),
            ("vm->>'dirty_expire_centisecs'", "2900"),
            ("storage #>> '{result,block_settings,read_ahead_kb}'", "72"),
            (
                "storage #>> '{result,kernel_settings,dirty_expire_centisecs}'",
                "2900",
            ),
        ],
    );
    machine.assert_as_before("a run");
    let codes = "atime,barriers_off,discard_mount_option,btrfs_nodatacow,compression,ssd_state_undeclared,not_released,\
        allocated_less,allocated_more,dead_rows";
    assert_eq!(found(&scene, &run, codes), "");
    let has_direct_io = scene.value(&format!(
        "SELECT layers->0->'direct_io' FROM fsbench.environment WHERE run_id = {run}"
    ));
    // It is on where what the image lies on can do it.
    let probe = scene.bench.lab.path("images/probe");
    std::fs::write(&probe, "").expect("a file");
    let direct = OFlags::DIRECT | OFlags::RDWR;
    let can = rustix::fs::open(&probe, direct, Mode::empty()).is_ok();
    std::fs::remove_file(&probe).expect("it is ours");
    assert_eq!(has_direct_io, can.to_string());
    let told = match has_direct_io.as_str() {
        "true" => "loop_device info",
        _ => "loop_without_direct_io warning",
    };
    assert_eq!(
        found(&scene, &run, "loop_device,loop_without_direct_io"),
        told
    );
    // The server that has asked judges again by what only it knows.
    assert_eq!(
        scene.value(&format!(
            "SELECT count(*) FROM fsbench.finding f FULL JOIN fsbench.judge({run}) j USING (code, severity, message, hint) \
             WHERE f.run_id = {run} AND j.code IS NULL"
        )),
        "0"
    );
    // A repeated run has the same fingerprints.
    let again = scene.start_run(&format!("target => 'ext4', {SHORT}"));
    assert_eq!(scene.ending(&again), "done");
    assert_eq!(
        scene.value(&format!(
            "SELECT count(DISTINCT (configuration_fingerprint, host_fingerprint)) FROM fsbench.result \
             WHERE run_id IN ({run}, {again})"
        )),
        "1"
    );
}

#[test]
fn mount_options_that_mislead_are_told() {
    let test = "mount_options_that_mislead_are_told";
    let Some(scene) = on_image(
        test,
        ", mount_options => 'relatime,discard,barrier=0,data=journal', mkfs_options => '-E lazy_itable_init=1'",
    ) else {
        return;
    };
    let run = scene.start_run(&format!("target => 'ext4', {SHORT}"));
    assert_eq!(scene.ending(&run), "done");
    let codes = "atime,barriers_off,discard_mount_option,lazy_init,mount_options_not_shown";
    assert_eq!(
        found(&scene, &run, codes),
        "atime info, barriers_off warning, discard_mount_option info, lazy_init warning"
    );
    let mode = "SELECT journal_mode FROM fsbench.environment WHERE run_id = ";
    assert_eq!(scene.value(&format!("{mode}{run}")), "journal");
    if scene.bench.lab.has("btrfs") {
        create(
            &scene,
            "btrfs",
            ", mount_options => 'noatime,compress=zstd:1'",
        );
        let run = scene.start_run(&format!("target => 'btrfs', {SHORT}"));
        assert_eq!(scene.ending(&run), "done");
        let codes = "allocated_less,atime,compression,btrfs_nodatacow";
        assert_eq!(
            found(&scene, &run, codes),
            "allocated_less info, compression warning"
        );
        scene.value("SELECT fsbench.alter_target('btrfs', mount_options => 'noatime,nodatacow')");
        let plain = scene.start_run(&format!("target => 'btrfs', {SHORT}"));
        assert_eq!(scene.ending(&plain), "done");
        assert_eq!(found(&scene, &plain, codes), "btrfs_nodatacow warning");
        // Subvolumes have numbers of their own; the device is known all the same.
        assert_eq!(
            scene.value(&format!(
                "SELECT layers->0->>'kind' FROM fsbench.environment WHERE run_id = {run}"
            )),
            "loop"
        );
    }
}
