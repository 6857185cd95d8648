//! The helper is asked by functions of SQL, outside of runs: targets are prepared and released, planned, and described.

use super::bench::{Bench, Serving};
use super::disk::Disk;
use super::lab::{detach, system};
use crate::common::{assert_refused, execute, row, rows, server};
use pgfsbench_tests::{LONG, SHOWN, assert_columns, attach, refusal, wait_until};
use postgres::{Client, NoTls};
use std::sync::{Arc, Mutex};

/// A target of them, and what prepares it.
pub const CREATE: &str = "SELECT fsbench.create_target('t', filesystem => 'ext4', image_size => '64MB', mount_options => 'noatime')";
pub const PREPARE: &str = "SELECT * FROM fsbench.prepare_target('t')";
pub const JOBS: &str =
    "SELECT action, status, coalesce(error, '') FROM fsbench.helper_job ORDER BY job_id";

/// A server with the target, and a helper that serves.
pub fn served(test: &str) -> Option<(Bench, Serving, Client)> {
    let bench = Bench::with_extension(test, &[])?;
    let mut client = bench.client();
    execute(&mut client, CREATE);
    let serving = bench.serve_now();
    Some((bench, serving, client))
}

/// Asserts that no process that asks is left.
pub fn assert_nobody_asks(client: &mut Client) {
    wait_until("the helper workers have ended", LONG, || {
        let workers =
            "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'fsbench helper worker'";
        (row(client, workers) == "0").then_some(())
    });
}

#[test]
fn a_target_is_prepared_looked_at_and_released() {
    let Some((bench, _serving, mut client)) = served("a_target_is_prepared_looked_at_and_released")
    else {
        return;
    };
    let mount_point = bench.lab.path("mnt/bench@t").display().to_string();
    execute(
        &mut client,
        "SELECT fsbench.alter_target('t', mkfs_options => '-m 1')",
    );
    assert_columns(
        &mut client,
        "FROM fsbench.prepare_target('t')",
        &[
            ("target", "t"),
            ("directory", &format!("{mount_point}/pgfsbench")),
            ("mount_point", &mount_point),
            ("device LIKE '/dev/loop%'", "t"),
            ("filesystem", "ext4"),
            ("mount_options LIKE '%noatime%'", "t"),
            ("mount_options_not_shown", "{}"),
            ("mkfs_options", "-m 1"),
            ("mkfs_version LIKE 'mke2fs%'", "t"),
        ],
    );
    assert_eq!(bench.lab.mounts().len(), 1);
    // It belongs to the one who looks at it.
    let hint = "Call fsbench.release_target() first.";
    for statement in [
        "SELECT * FROM fsbench.run(target => 't', scale => 1, clients => 1, transactions => 1)",
        "SELECT fsbench.start(target => 't', scale => 1, clients => 1, transactions => 1)",
        "SELECT fsbench.alter_target('t', mount_options => 'relatime')",
        "SELECT fsbench.drop_target('t')",
    ] {
        let words = ["target \"t\" is prepared already", hint];
        assert_refused(&mut client, statement, "55006", &words);
    }
    assert_refused(
        &mut client,
        PREPARE,
        "55000",
        &["target \"t\" is prepared already", "Release it first."],
    );
    assert_eq!(
        row(
            &mut client,
            "SELECT detail LIKE 'it is mounted on /%' FROM fsbench.doctor() WHERE item = 'target t'"
        ),
        "t"
    );
    // As after a reboot: a target whose mount is gone is in nobody's way, and its rest is removed on request.
    let release = "SELECT fsbench.release_target('t')";
    system("umount", &[&mount_point]);
    execute(
        &mut client,
        "SELECT fsbench.alter_target('t', mount_options => 'relatime')",
    );
    assert_eq!(bench.lab.loops().len(), 1);
    assert_eq!(row(&mut client, release), "t");
    bench.lab.nothing_is_left_at_once();
    assert_eq!(row(&mut client, release), "f");
    // A ROLLBACK of the caller does not undo it.
    execute(&mut client, "BEGIN");
    execute(&mut client, PREPARE);
    execute(&mut client, "ROLLBACK");
    assert_eq!(bench.lab.mounts().len(), 1);
    assert_eq!(row(&mut client, release), "t");
    bench.lab.nothing_is_left_at_once();
    assert_eq!(
        rows(&mut client, JOBS),
        [
            "prepare|done|",
            "prepare|failed|target \"t\" is prepared already",
            "release|done|",
            "release|done|",
            "prepare|done|",
            "release|done|"
        ]
    );
    assert_nobody_asks(&mut client);
    execute(&mut client, "SELECT fsbench.drop_target('t')");
}

fn a_plan_shows_every_step_of_a_run_and_changes_nothing(bench: &Bench, client: &mut Client) {
    // Steps that depend on the filesystem stand between these.
    let planned = rows(client, "SELECT who, action FROM fsbench.plan('t')");
    let mut left = planned.iter();
    for step in [
        "helper|create image",
        "helper|attach",
        "helper|mkfs",
        "helper|mount",
        "helper|make directory",
        "coordinator|make directory",
        "coordinator|copy the data",
        "coordinator|sync",
        "coordinator|write settings",
        "coordinator|ask for shared memory",
        "coordinator|start the server",
        "server|create extension",
        "server|take the work database",
        "server|warm up",
        "server|measure",
        "server|verify",
        "server|store",
        "coordinator|collect",
        "coordinator|stop the server",
        "helper|unmount",
        "helper|detach",
        "helper|remove image",
    ] {
        assert!(
            left.any(|s| s == step),
            "no `{step}` in its place: {planned:?}"
        );
    }
    assert_eq!(
        row(
            client,
            "SELECT array_agg(step) = array_agg(n::int) FROM (SELECT step, row_number() OVER () AS n FROM fsbench.plan('t')) p"
        ),
        "t"
    );
    let crash = r#"SELECT who, action FROM fsbench.plan('t', options => '{"crash": true}')"#;
    let planned = rows(client, crash);
    let crashed = planned
        .iter()
        .position(|step| step == "coordinator|crash the server");
    let crashed = crashed.expect("a crash");
    assert_eq!(
        planned[crashed - 1..][..6],
        [
            "server|open the work database",
            "coordinator|crash the server",
            "helper|unmount",
            "helper|mount",
            "coordinator|start the server",
            "server|verify",
        ]
    );
    assert_eq!(planned[crashed + 5], "coordinator|collect");
    bench.lab.nothing_is_left_at_once();
    let mount_point = bench.lab.path("mnt/bench@t").display().to_string();
    for (action, words) in [
        ("mkfs", "/mkfs.ext4 "),
        ("mount", " -o nosuid,nodev,"),
        ("mount", ",noatime /dev/loopN "),
        ("initdb", "/initdb --auth=peer "),
        (
            "initdb",
            &format!(" -D {mount_point}/pgfsbench/pgfsbench-<random>/data"),
        ),
        ("write settings", "shared_preload_libraries = 'pgfsbench'"),
        ("start the server", "/postgres -D "),
        ("unmount", &format!("/umount -i {mount_point}")),
    ] {
        let command = row(
            client,
            &format!(
                "SELECT command FROM fsbench.plan('t', options => '{{\"data\": \"loaded\"}}') WHERE action = '{action}'"
            ),
        );
        assert!(command.contains(words), "no `{words}` in: {command}");
    }
    assert_nobody_asks(client);
}

#[test]
fn devices_are_shown_as_the_helper_sees_them() {
    let Some(disk) = Disk::new("devices_are_shown_as_the_helper_sees_them") else {
        return;
    };
    let bench = Bench {
        lab: disk.lab,
        server: server(&[]),
    };
    let device = disk.device;
    let bytes = || {
        let mut bytes = vec![0; 1 << 20];
        let file = std::fs::File::open(&device).expect("the device");
        std::os::unix::fs::FileExt::read_exact_at(&file, &mut bytes, 0).expect("readable");
        bytes
    };
    let before = bytes();
    let notices = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&notices);
    let mut talker = bench
        .server
        .config("postgres", "postgres")
        .notice_callback(move |notice| {
            let text = format!(
                "{}: {}",
                notice.message(),
                notice.hint().unwrap_or_default()
            );
            sink.lock().expect("one thread").push(text);
        })
        .connect(NoTls)
        .expect("a session");
    bench.lab.configure(&format!(
        "{}[[device]]\npath = {device:?}\n[[device]]\npath = \"/dev/disk/by-id/none\"\n",
        bench.usual("postgres")
    ));
    let mut client = bench.client();
    let seen = |from: &str, usable: &str, contents: &str, why_not: &str, hint: &str| {
        assert_columns(
            &mut bench.client(),
            &format!("FROM {from} WHERE path = '{device}'"),
            &[
                ("usable", usable),
                ("size_bytes", "335544320"),
                ("regexp_replace(contents, 'UUID .*', 'UUID')", SHOWN),
                (&format!("coalesce(contents, '') LIKE '{contents}'"), "t"),
                ("why_not", SHOWN),
                (&format!("coalesce(why_not, '') LIKE '{why_not}'"), "t"),
                ("hint", SHOWN),
                (&format!("coalesce(hint, '') LIKE '{hint}'"), "t"),
            ],
        );
    };
    // Before it has looked, nobody says that anything may be erased.
    assert_eq!(
        row(
            &mut client,
            "SELECT count(*) FROM fsbench.device WHERE usable OR contents IS NOT NULL"
        ),
        "0"
    );
    let _serving = bench.serve_now();
    // The doctor tells of each filesystem what the helper found: kernel, program and its version.
    let version = std::process::Command::new("mkfs.ext4").arg("-V").output();
    let version = String::from_utf8_lossy(&version.expect("mkfs.ext4").stderr).into_owned();
    let version = version.lines().next().expect("a line").trim().to_owned();
    let detail = row(
        &mut client,
        "SELECT state || ' ' || detail FROM fsbench.doctor() WHERE subject = 'filesystem' AND item = 'ext4'",
    );
    assert!(detail.starts_with("ok kernel: yes; /"), "{detail}");
    assert!(
        detail.contains("/mkfs.ext4, ") && detail.contains(&version),
        "{detail}"
    );
    seen("fsbench.device", "t", "nothing", "", "");
    assert_columns(
        &mut client,
        "FROM fsbench.device WHERE path = '/dev/disk/by-id/none'",
        &[
            ("usable", "f"),
            ("size_bytes", ""),
            ("contents", ""),
            ("why_not LIKE 'there is no device%'", "t"),
            ("why_not", SHOWN),
        ],
    );
    execute(
        &mut talker,
        &format!("SELECT fsbench.create_target('t', filesystem => 'ext4', device => '{device}')"),
    );
    // It says what will be erased, and writes nothing.
    assert_eq!(
        *notices.lock().expect("one thread"),
        [format!(
            "target \"t\" is recorded: ext4 on device \"{device}\" (320 MB, holds nothing): \
             Nothing is written yet. The first run erases the device."
        )]
    );
    assert!(bytes() == before, "create_target has written to the device");
    // The identity that is known by now is the one that it has to have when it is used.
    assert_eq!(
        row(
            &mut client,
            "SELECT device_identity FROM fsbench.target WHERE target = 't'"
        ),
        "{\"bytes\": 335544320}"
    );
    execute(&mut client, PREPARE);
    let looked = "fsbench.describe_devices()";
    seen(
        looked,
        "f",
        "ext4, UUID %",
        "device /dev/loop%is in use%prepared target \"t\" of database \"bench\" on it.",
        "Call fsbench.release_target(%",
    );
    assert_columns(
        &mut client,
        &format!("FROM fsbench.doctor() WHERE item = 'device {device}'"),
        &[("state", "warning"), ("detail LIKE '%is in use%'", "t")],
    );
    assert_eq!(row(&mut client, "SELECT fsbench.release_target('t')"), "t");
    seen(looked, "t", "ext4, UUID %", "", "");
    // Contents of others are told with the line that would let them be erased.
    system("blkdiscard", &["-f", "-z", &device]);
    system("mkswap", &[&device]);
    seen(looked, "f", "swap%", "%", "%wipe = true%");
    assert_nobody_asks(&mut client);
}

/// The last part creates the extension anew.
#[test]
fn targets_are_prepared_planned_and_seen() {
    let Some((bench, _serving, mut client)) = served("targets_are_prepared_planned_and_seen")
    else {
        return;
    };
    what_is_prepared_is_to_be_seen(&bench, &mut client);
    a_plan_shows_every_step_of_a_run_and_changes_nothing(&bench, &mut client);
    an_extension_that_was_created_again_hears_what_is_mounted(&bench, &mut client);
}

fn what_is_prepared_is_to_be_seen(bench: &Bench, client: &mut Client) {
    let prepared = "SELECT target, mount_point, run_id, seen_at <= clock_timestamp() FROM fsbench.prepared_target";
    let seen = |client: &mut Client, wanted: &[String]| {
        wait_until("the helper has looked", LONG, || {
            (rows(client, prepared) == wanted).then_some(())
        });
    };
    seen(client, &[]);
    execute(client, PREPARE);
    let mount_point = bench.lab.path("mnt/bench@t").display().to_string();
    let there = [format!("t|{mount_point}||t")];
    // At once, by the job, and as soon as the helper has looked again.
    assert_eq!(rows(client, prepared), there);
    let looked = "SELECT seen_at > (SELECT max(ended_at) FROM fsbench.helper_job WHERE action = 'prepare') FROM fsbench.helper_description";
    wait_until("the helper has looked", LONG, || {
        (rows(client, looked) == ["t"]).then_some(())
    });
    assert_eq!(rows(client, prepared), there);
    execute(client, "SELECT fsbench.release_target('t')");
    assert_eq!(rows(client, prepared), Vec::<String>::new());
    seen(client, &[]);
}

#[test]
fn the_device_of_a_log_is_known_again_like_any_other() {
    let test = "the_device_of_a_log_is_known_again_like_any_other";
    let Some(bench) = Bench::with_extension(test, &[]) else {
        return;
    };
    let lab = &bench.lab;
    let file = lab.path("logdisk");
    let sized = |megabytes: u64| {
        let file = std::fs::File::create(&file).expect("a file");
        file.set_len(megabytes << 20).expect("its size");
    };
    sized(100);
    let log = attach(&file);
    let line = format!("[[device]]\npath = {log:?}\n");
    lab.configure(&format!("{}{line}", bench.usual("postgres")));
    let mut client = bench.client();
    let create = format!(
        "SELECT fsbench.create_target('t', filesystem => 'ext4', image_size => '320MB', log_device => '{log}')"
    );
    let identity = "SELECT log_device_identity FROM fsbench.target WHERE target = 't'";
    // Before anybody has looked at it, it is known from its first use on.
    execute(&mut client, &create);
    assert_eq!(row(&mut client, identity), "");
    execute(&mut client, "SELECT fsbench.drop_target('t')");
    let _serving = bench.serve_now();
    execute(&mut client, &create);
    assert_eq!(row(&mut client, identity), "{\"bytes\": 104857600}");
    execute(&mut client, PREPARE);
    execute(&mut client, "SELECT fsbench.release_target('t')");
    // Another disk at the same place is not erased.
    sized(200);
    system("losetup", &["--set-capacity", &log]);
    let words = ["bytes", "104857600"];
    let refusal = refusal(&mut client, PREPARE);
    let said = format!("{} {:?}", refusal.message(), refusal.detail());
    for word in words {
        assert!(said.contains(word), "no {word} in {said}");
    }
    // A user who means it says so, once the helper has looked again: known is what it saw last.
    execute(&mut client, "SELECT fsbench.describe_devices()");
    execute(
        &mut client,
        &format!("SELECT fsbench.alter_target('t', log_device => '{log}')"),
    );
    execute(&mut client, PREPARE);
    execute(&mut client, "SELECT fsbench.release_target('t')");
    detach(&log, &file.display().to_string());
    bench.lab.nothing_is_left_at_once();
}

fn an_extension_that_was_created_again_hears_what_is_mounted(bench: &Bench, client: &mut Client) {
    execute(client, "SELECT * FROM fsbench.prepare_target('t')");
    execute(
        client,
        "DROP EXTENSION pgfsbench; CREATE EXTENSION pgfsbench",
    );
    let is_told = "SELECT count(*) = 1 FROM fsbench.prepared_target WHERE target = 't'";
    bench.server.wait_for("postgres", is_told, LONG);
    let serves =
        "SELECT count(*) = 1 FROM fsbench.helper_session JOIN pg_stat_activity USING (pid)";
    bench.server.wait_for("postgres", serves, LONG);
}

#[test]
fn a_study_leaves_out_what_the_helper_does_not_allow() {
    let Some(bench) =
        Bench::with_extension("a_study_leaves_out_what_the_helper_does_not_allow", &[])
    else {
        return;
    };
    if !bench.lab.has("xfs") {
        return;
    }
    let mut client = bench.client();
    let left_out = "SELECT item, says FROM fsbench.study_plan('smith-2011', image_size => '64GB') \
        WHERE part = 'left out' AND item ~ 'dirty$' AND says ~ 'kernel_settings' ORDER BY 1";
    assert_eq!(rows(&mut client, left_out), [""; 0], "nobody has served");
    for (lines, variants) in [
        ("", &["ext3-dirty", "xfs-dirty"][..]),
        ("kernel_settings = true\n", &[]),
    ] {
        let usual = bench.usual("postgres");
        bench.lab.configure(&format!("{lines}{usual}"));
        let serving = bench.serve_now();
        let allowed = !lines.is_empty();
        let seen = format!(
            "SELECT (description ->> 'kernel_settings')::boolean = {allowed} FROM fsbench.helper_description"
        );
        bench.server.wait_for("postgres", &seen, LONG);
        let found = rows(&mut client, left_out);
        let names: Vec<_> = found
            .iter()
            .filter_map(|row| row.split('|').next())
            .collect();
        assert_eq!(names, variants, "{lines}");
        drop(serving);
    }
}
