//! Figures of devices that are not simply one disk: a partition, and a filesystem on several.

use crate::common::{row, run, server_in};
use crate::held::Held;
use pgfsbench_tests::{Partition, assert_columns, attach, lacks_loop_devices, program, skip};
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

const SHORT_RUN: &str = "scale => 1, clients => 1, transactions => 300, warmup => '0', seed => 1";

/// Loop devices and what is mounted from them; all gone when it is dropped.
struct Disks {
    place: TempDir,
    loops: Vec<String>,
    partition: Option<Partition>,
}

fn must(command: &mut Command) -> String {
    let output = command.output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

impl Disks {
    /// This many disks of 700 MB; None, and the test is skipped, if this machine cannot make them.
    fn new(test: &str, count: usize, programs: &[&str]) -> Option<Self> {
        if let Some(why) = lacks_loop_devices() {
            skip(test, why);
            return None;
        }
        if let Some(missing) = programs.iter().find(|name| program(name).is_none()) {
            skip(test, &format!("there is no {missing}"));
            return None;
        }
        let place = TempDir::with_prefix_in("pgfsbench-disks.", pgfsbench_tests::on_disk())
            .expect("a directory");
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).expect("chmod");
        fs::create_dir(place.path().join("mnt")).expect("a directory");
        let mut disks = Self {
            place,
            loops: Vec::new(),
            partition: None,
        };
        for number in 0..count {
            let image = disks.place.path().join(format!("image{number}"));
            let file = File::create(&image).expect("a file");
            file.set_len(700 << 20).expect("room");
            disks.loops.push(attach(&image));
        }
        Some(disks)
    }

    fn mounted(&self, device: &str) -> PathBuf {
        let directory = self.place.path().join("mnt");
        must(Command::new("mount").arg(device).arg(&directory));
        let _ = fs::remove_dir(directory.join("lost+found"));
        // As in /tmp: the servers' owner may write there, and cannot touch what is ours.
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o1777)).expect("chmod");
        directory
    }

    /// A partition that takes most of the first disk.
    fn partition(&mut self) -> String {
        let partition = Partition::add(&self.loops[0], 1, 2048, 1_400_000);
        self.partition.insert(partition).path()
    }
}

impl Drop for Disks {
    fn drop(&mut self) {
        let quietly = |command: &mut Command| {
            let _ = command.output();
        };
        quietly(
            Command::new("umount")
                .arg("--lazy")
                .arg(self.place.path().join("mnt")),
        );
        self.partition = None;
        for device in &self.loops {
            quietly(Command::new("losetup").args(["--detach", device]));
        }
    }
}

#[test]
fn a_partition_has_its_own_figures_and_the_flushes_of_its_disk() {
    let test = "a_partition_has_its_own_figures_and_the_flushes_of_its_disk";
    let Some(mut disks) = Disks::new(test, 1, &["addpart", "mkfs.ext4"]) else {
        return;
    };
    let partition = disks.partition();
    must(Command::new("mkfs.ext4").arg("-q").arg(&partition));
    let room = ("pgfsbench.reserved_space", "32MB");
    let server = server_in(&disks.mounted(&partition), None, &[room]);
    let mut client = server.connect("postgres");
    let run = run(&mut client, SHORT_RUN);
    assert_columns(
        &mut client,
        &format!("FROM fsbench.result WHERE run_id = {run}"),
        &[
            ("device_write_bytes > 0", "t"),
            ("device_flushes > 0", "t"),
            ("flushes_per_transaction BETWEEN 0.5 AND 3", "t"),
        ],
    );
    let others = format!(
        "SELECT count(*) FROM fsbench.finding WHERE run_id = {run} AND code = 'other_writers'"
    );
    assert_eq!(row(&mut client, &others), "0");

    // Another process writes to the filesystem during a run that writes little.
    let held = Held::in_window(
        &server,
        "scale => 1, clients => 1, transactions => 50, warmup => '0', rate => 25",
    );
    let other = disks.place.path().join("mnt/other");
    let mut file = File::create(&other).expect("a file");
    for _ in 0..128 {
        file.write_all(&[b'x'; 1 << 20]).expect("room");
    }
    file.sync_all().expect("sync");
    let run = held.end();
    let told = row(
        &mut client,
        &format!(
            "SELECT severity || ': ' || message FROM fsbench.finding WHERE run_id = {run} AND code = 'other_writers'"
        ),
    );
    assert!(told.starts_with("warning: the device wrote "), "{told}");
}

#[test]
fn a_filesystem_on_several_devices_has_no_figures_of_one_of_them() {
    let test = "a_filesystem_on_several_devices_has_no_figures_of_one_of_them";
    let Some(disks) = Disks::new(test, 2, &["mkfs.btrfs"]) else {
        return;
    };
    let filesystems = fs::read_to_string("/proc/filesystems").expect("filesystems");
    if !filesystems.contains("btrfs") {
        return skip(test, "the kernel has no btrfs");
    }
    must(
        Command::new("mkfs.btrfs")
            .args(["-q", "-f"])
            .args(&disks.loops),
    );
    let server = server_in(&disks.mounted(&disks.loops[0]), None, &[]);
    let mut client = server.connect("postgres");
    let run = run(&mut client, SHORT_RUN);
    assert_columns(
        &mut client,
        &format!("FROM fsbench.result r WHERE run_id = {run}"),
        &[
            (
                "num_nulls(device_read_bytes, device_write_bytes, device_flushes)",
                "3",
            ),
            (
                "(SELECT bool_and(device_writes IS NULL AND (cpu_idle_percent IS NOT NULL OR interval_ms < 20)) FROM fsbench.sample s WHERE s.run_id = r.run_id)",
                "t",
            ),
        ],
    );
}
