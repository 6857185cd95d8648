//! Tests that are killed leave nothing on the machine: no server, mount, loop device or file.

use crate::directory_target::shared_memory_of;
use pgfsbench_tests::{
    LONG, LoopFs, Partition, TestServer, attach, for_images, lacks_loop_devices, mounts, on_disk,
    program, scratch, skip, wait_until,
};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The other test starts and kills it.
#[test]
#[ignore = "it waits until it is killed"]
fn one_that_is_killed() {
    let server = TestServer::start(&[]);
    let _filesystem = LoopFs::ext4(64).expect("a filesystem");
    let file = for_images().join("disk");
    let made = File::create(&file).and_then(|file| file.set_len(64 << 20));
    made.expect("a file");
    let device = attach(&file);
    let _partition = Partition::add(&device, 1, 2048, 4096);
    let on_disk = on_disk();
    fs::write(on_disk.join("file"), "x").expect("a file");
    let memory = shared_memory_of(&server.data(), server.postmaster());
    let (_, files) = memory.expect("it has shared memory");
    let directories = [scratch(), for_images(), on_disk];
    let said = directories.map(|path| path.display().to_string());
    println!("\nit has {}", [&said[..], &files].concat().join(" "));
    server.wait_for("postgres", "SELECT false", LONG);
}

#[test]
fn a_suite_that_is_killed_leaves_nothing() {
    let test = "a_suite_that_is_killed_leaves_nothing";
    if let Some(why) = lacks_loop_devices() {
        return skip(test, why);
    }
    if program("addpart").is_none() {
        return skip(test, "there is no addpart");
    }
    if let Err(why) = LoopFs::ext4(64) {
        return skip(test, &why);
    }
    let name = "killed_suite::one_that_is_killed";
    let mut killed = Command::new(std::env::current_exe().expect("a program"))
        .args(["--ignored", "--exact", name, "--nocapture"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the tests");
    let output = killed.stdout.take().expect("a pipe");
    let places: Vec<PathBuf> = BufReader::new(output)
        .lines()
        .map(|line| line.expect("a line"))
        .find(|line| line.starts_with("it has "))
        .expect("it holds what tests hold")
        .split(' ')
        .skip(2)
        .map(PathBuf::from)
        .collect();
    let left = || left_in(&places);
    let held = left();
    for kind in [
        "file ",
        "process postgres ",
        "mount ",
        "loop device ",
        "partition ",
    ] {
        assert!(
            held.iter().any(|trace| trace.starts_with(kind)),
            "no {kind}in {held:#?}"
        );
    }
    killed.kill().expect("it is ours");
    killed.wait().expect("it ends");
    // Once the device is detached, only these tell.
    let is_left = |trace: &String| {
        let partition = trace.strip_prefix("partition ");
        partition.is_some_and(|path| Path::new(path).exists())
    };
    wait_until("nothing is left", LONG, || {
        (left().is_empty() && !held.iter().any(is_left)).then_some(())
    });
}

/// The existing files and directories of these, and all that is in them or leads there.
fn left_in(places: &[PathBuf]) -> Vec<String> {
    let is_in = |path: &str| {
        places
            .iter()
            .any(|directory| Path::new(path).starts_with(directory))
    };
    let mut left = Vec::new();
    for place in places {
        if place.exists() {
            left.push(format!("file {}", place.display()));
        }
    }
    for mount in mounts().lines() {
        let place = mount.split(' ').nth(1).unwrap_or_default();
        if is_in(place) {
            left.push(format!("mount {place}"));
        }
    }
    for process in entries("/proc") {
        let cwd = fs::read_link(process.join("cwd")).unwrap_or_default();
        if is_in(&cwd.to_string_lossy()) {
            let name = fs::read_to_string(process.join("comm")).unwrap_or_default();
            left.push(format!("process {} in {}", name.trim(), cwd.display()));
        }
    }
    for device in entries("/sys/block") {
        let file = fs::read_to_string(device.join("loop/backing_file")).unwrap_or_default();
        if is_in(&file) {
            left.push(format!("loop device {}", device.display()));
            let partitions = entries(&device).filter(|entry| entry.join("partition").exists());
            left.extend(partitions.map(|partition| format!("partition {}", partition.display())));
        }
    }
    left
}

fn entries(directory: impl AsRef<Path>) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.path())
}
