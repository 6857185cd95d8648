//! The environment of a run is stored as the system itself reports it, and the same machine and configuration are known again.

use crate::common::{QUICK, execute, row, run, server_on_disk, set};
use pgfsbench_tests::{SHOWN, Stop, TestServer, assert_columns, on_disk, on_tmpfs, skip};
use postgres::Client;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

fn file(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned())
}

#[test]
fn the_environment_is_what_the_system_tells_and_is_known_again() {
    // Where there may be a disk to tell of.
    let server = server_on_disk(&[]);
    let id = run(&mut server.connect("postgres"), QUICK);
    the_environment_is_what_the_system_tells(&server, &id);
    the_same_machine_and_configuration_are_known_again(&server, &id);
    disks_are_listed_as_the_system_lists_them(&server);
    a_setting_of_any_length_costs_a_run_only_its_settings(&server);
}

fn the_environment_is_what_the_system_tells(server: &TestServer, id: &str) {
    let mut client = server.connect("postgres");
    let mut stored = |expression: &str| {
        row(
            &mut client,
            &format!("SELECT {expression} FROM fsbench.environment WHERE run_id = {id}"),
        )
    };
    let number = file("/proc/sys/vm/dirty_ratio").unwrap_or_default();
    assert_eq!(stored("vm->>'dirty_ratio'"), number);
    let clock = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    assert_eq!(stored("clock_source"), file(clock).unwrap_or_default());
    let first = file("/proc/cmdline").unwrap_or_default();
    let first = first.split(' ').next().unwrap_or_default();
    assert!(stored("kernel_command_line").starts_with(first));
    let filesystem = rustix::fs::statvfs(server.data()).expect("statvfs");
    assert_eq!(stored("block_size_bytes"), filesystem.f_frsize.to_string());
    // The device of the data is the uppermost layer, where there is one of that number.
    let number = stored("st_dev");
    if fs::exists(format!("/sys/dev/block/{number}")).unwrap_or(false) {
        assert_eq!(stored("layers->0->>'device'"), number);
        assert_eq!(stored("layers->0->>'depth'"), "0");
        let scheduler = format!("/sys/dev/block/{number}/queue/scheduler");
        if let Some(scheduler) = file(&scheduler) {
            // Among several, the scheduler in use is in brackets; a single one stands without.
            let chosen = scheduler.split(['[', ']']).nth(1).unwrap_or(&scheduler);
            assert_eq!(stored("io_scheduler"), chosen);
        }
    }
    // A disk is known by what sysfs shows to everybody.
    if stored("layers->0->>'kind'") == "disk" {
        let serial = file(&format!("/sys/dev/block/{number}/serial"));
        let serial = serial.or_else(|| file(&format!("/sys/dev/block/{number}/device/serial")));
        if let Some(serial) = serial.filter(|serial| !serial.is_empty()) {
            assert_eq!(stored("layers->0->>'serial'"), serial);
        }
    }
    // Where the driver of ext4 tells what its journal holds.
    let event = file(&format!("/sys/dev/block/{number}/uevent")).unwrap_or_default();
    let name = event.lines().find_map(|line| line.strip_prefix("DEVNAME="));
    let options = name.and_then(|name| file(&format!("/proc/fs/ext4/{name}/options")));
    let mode = options.map(|text| {
        let mode = text.lines().find_map(|line| line.strip_prefix("data="));
        mode.unwrap_or("none").to_owned()
    });
    assert_eq!(stored("journal_mode"), mode.unwrap_or_default());
    // The machine's id is private.
    if let Some(id) = file("/etc/machine-id").filter(|id| id.len() > 8) {
        assert_eq!(
            stored(&format!("to_jsonb(environment)::text LIKE '%{id}%'")),
            "f"
        );
    }
    assert_eq!(
        stored("coalesce(host_fingerprint ~ '^[0-9a-f]{16}$', true)"),
        "t"
    );
}

fn the_same_machine_and_configuration_are_known_again(server: &TestServer, id: &str) {
    let mut client = server.connect("postgres");
    let stored = |client: &mut Client, id: &str| {
        let stored = "SELECT host_fingerprint, configuration_fingerprint FROM fsbench.result";
        row(client, &format!("{stored} WHERE run_id = {id}"))
    };
    let first = stored(&mut client, id);
    let mut fingerprints = |arguments: &str| {
        let id = run(&mut client, arguments);
        stored(&mut client, &id)
    };
    // The arguments of a run are no part of its environment.
    let larger = "scale => 2, clients => 2, transactions => 50, seed => 2";
    assert_eq!(fingerprints(larger), first);
    let other = fingerprints(&format!("{QUICK}, settings => '{{\"work_mem\": \"5MB\"}}'"));
    let parts = |text: &str| -> Vec<String> { text.split('|').map(str::to_owned).collect() };
    let (first, other) = (parts(&first), parts(&other));
    assert_eq!(first[0], other[0]);
    assert_ne!(first[1], other[1]);
}

fn disks_are_listed_as_the_system_lists_them(server: &TestServer) {
    let output = Command::new("lsblk")
        .args(["-b", "-J", "-d", "-o", "PATH,TYPE,SIZE"])
        .output();
    let told: Value = serde_json::from_slice(&output.expect("lsblk").stdout).expect("JSON");
    let mut client = server.connect("postgres");
    let disks = told["blockdevices"].as_array().expect("devices");
    // Devices in memory, floppies and those of a network are disks to it, too.
    let is_no_disk = |disk: &Value| {
        let path = disk["path"].as_str().unwrap_or_default();
        ["zram", "fd", "nbd"]
            .iter()
            .any(|kind| path.starts_with(&format!("/dev/{kind}")))
    };
    let is_disk = |disk: &&Value| {
        disk["type"] == "disk" && disk["size"].as_u64() > Some(0) && !is_no_disk(disk)
    };
    let disks: Vec<&Value> = disks.iter().filter(is_disk).collect();
    for disk in &disks {
        let path = disk["path"].as_str().expect("a path");
        // Not what lsblk says: it asks udev, which reads more of a disk than the kernel shows.
        let shown = |names: &[&str]| {
            let name = path.trim_start_matches("/dev/");
            let mut all = names.iter();
            all.find_map(|of| file(&format!("/sys/block/{name}/{of}")))
                .unwrap_or_default()
        };
        assert_columns(
            &mut client,
            &format!("FROM fsbench.device WHERE node = '{path}'"),
            &[
                ("size_bytes", &disk["size"].to_string()),
                ("coalesce(model, '')", &shown(&["device/model"])),
                ("coalesce(serial, '')", &shown(&["serial", "device/serial"])),
                ("contents IS NULL", "t"),
                ("usable", "f"),
            ],
        );
    }
    if disks.is_empty() {
        skip(
            "disks_are_listed_as_the_system_lists_them",
            "there is no disk",
        );
    }
}

/// Needs a server of its own, since its tables are moved while it is down.
#[test]
fn the_filesystem_of_a_run_is_that_of_its_tables() {
    let test = "the_filesystem_of_a_run_is_that_of_its_tables";
    let Some(memory) = on_tmpfs() else {
        return skip(test, "there is no tmpfs on /dev/shm");
    };
    let device = |path: &Path| fs::metadata(path).expect("metadata").dev();
    if device(memory) == device(on_disk()) {
        return skip(test, "there is no other filesystem than tmpfs");
    }
    let elsewhere = TempDir::with_prefix_in("pgfsbench-base.", memory).expect("a directory");
    fs::set_permissions(elsewhere.path(), fs::Permissions::from_mode(0o755)).expect("chmod");
    let server = server_on_disk(&[]);
    // template0 is in another tablespace, which new databases would take over.
    let mut client = server.connect("postgres");
    for statement in [
        "SET allow_in_place_tablespaces = on",
        "CREATE TABLESPACE other LOCATION ''",
        "ALTER DATABASE template0 SET TABLESPACE other",
    ] {
        execute(&mut client, statement);
    }
    drop(client);
    server.stop(Stop::Fast);
    let base = server.data().join("base");
    let moved = elsewhere.path().join("base");
    for (program, from, to) in [("mv", &base, &moved), ("ln", &moved, &base)] {
        let mut command = Command::new(program);
        if program == "ln" {
            command.arg("-s");
        }
        let status = command.args([from, to]).status().expect("it runs");
        assert!(status.success(), "{command:?}");
    }
    // Places of tables in the configuration file do not hold for runs.
    server.configure(&[
        ("default_tablespace", "other"),
        ("default_table_access_method", "no_method"),
    ]);
    server.start_again();
    let mut client = server.connect("postgres");
    let id = run(&mut client, &format!("{QUICK}, keep => true"));
    assert_eq!(
        row(
            &mut client,
            &format!(
                "SELECT filesystem, wal_filesystem = 'tmpfs', scope, durability LIKE 'not durable%', data_directory = current_setting('data_directory'), \
                   (SELECT spcname FROM pg_tablespace t JOIN pg_database ON dattablespace = t.oid WHERE datname = work_database) \
                 FROM fsbench.result WHERE run_id = {id}"
            ),
        ),
        "tmpfs|f|data only|t|t|pg_default"
    );
    drop(client);
    server.stop(Stop::Fast);
}

/// The worker reports settings of the work database together with the promises of a COMMIT, in a place of limited size.
fn a_setting_of_any_length_costs_a_run_only_its_settings(server: &TestServer) {
    let long = "f".repeat(20_000);
    let mut client = server.connect("postgres");
    set(server, &mut client, "backtrace_functions", &long);
    let of_home = "ALTER DATABASE postgres SET backtrace_functions = 'f'";
    execute(&mut client, of_home);
    let id = run(&mut client, QUICK);
    assert_columns(
        &mut client,
        &format!("FROM fsbench.environment WHERE run_id = {id}"),
        &[
            ("settings IS NULL", "t"),
            ("durability", SHOWN),
            ("durability_codes IS NOT NULL", "t"),
        ],
    );
    let log = server.log();
    let told = "the settings of the run are not stored";
    assert!(log.contains(told), "{log}");
}
