//! Devices: only those that the configuration names, only while unused, and only over contents that may be erased.

use super::disk::{Disk, MEGABYTES};
use super::lab::system;
use pgfsbench_core::helper::Filesystem;
use pgfsbench_tests::{program, skip};
use serde_json::Value;
use std::fs;

#[test]
fn devices_are_erased_only_if_nobody_uses_them() {
    let Some(disk) = Disk::new("devices_are_erased_only_if_nobody_uses_them") else {
        return;
    };
    an_empty_device_and_what_pgfsbench_wrote_may_be_erased(&disk);
    disk.start_anew();
    a_device_that_is_mounted_is_refused_even_if_it_may_be_wiped(&disk);
    disk.start_anew();
    what_there_is_is_described(&disk);
    disk.start_anew();
    a_device_that_is_swap_or_held_by_another_is_refused_even_if_it_may_be_wiped(&disk);
}

fn an_empty_device_and_what_pgfsbench_wrote_may_be_erased(disk: &Disk) {
    let known = disk.lab.filesystems();
    let mut sequence = vec!["ext4", "btrfs", "ext2", "xfs", "btrfs", "xfs", "ext3"];
    sequence.retain(|filesystem| known.contains(filesystem) || filesystem.starts_with("ext"));
    for filesystem in sequence {
        let arguments = [
            "prepare",
            "--target",
            "d",
            "--filesystem",
            filesystem,
            "--device",
            &disk.device,
        ];
        disk.lab.ok(&arguments);
        assert!(disk.lab.mounts()[0].contains(&format!(" {filesystem} ")));
        disk.lab.ok(&["release", "--target", "d"]);
        disk.assert_released();
        assert_eq!(
            disk.lab.list("state/made").len(),
            1,
            "only what is there is remembered"
        );
    }
    // Also what a killed helper has left.
    for step in ["check_device", "mkfs", "mount"] {
        let killed = disk
            .lab
            .run(&[&disk.prepare()[..], &["--stop-after", step]].concat());
        assert!(!killed.status.success());
        disk.lab.ok(&["cleanup"]);
        disk.assert_released();
        disk.succeeds();
    }
}

fn a_device_that_is_mounted_is_refused_even_if_it_may_be_wiped(disk: &Disk) {
    system("mkfs.ext4", &["-q", "-F", &disk.device]);
    let elsewhere = disk.lab.path("elsewhere");
    fs::create_dir_all(&elsewhere).expect("a directory");
    let elsewhere = elsewhere.display().to_string();
    system("mount", &[&disk.device, &elsewhere]);
    for wipe in [false, true] {
        disk.allow(wipe);
        disk.lab.refused(
            &disk.prepare(),
            &["is in use", &format!("It is mounted on {elsewhere}.")],
        );
    }
    assert_eq!(disk.lab.mounts().len(), 1);
    system("umount", &[&elsewhere]);
}

/// A device-mapper table over a device, which is gone when it is dropped.
struct Mapped(String);

impl Mapped {
    fn over(device: &str) -> Self {
        let name = format!("pgfsbench-test-{}", std::process::id());
        let table = format!("0 {} linear {device} 0", MEGABYTES << 11);
        system("dmsetup", &["create", &name, "--table", &table]);
        Self(name)
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        system("dmsetup", &["remove", "--retry", &self.0]);
    }
}

/// Swap space that no other process uses, until it is dropped: a device that is swap cannot be detached.
struct Swap<'a>(&'a str);

impl<'a> Swap<'a> {
    fn on(device: &'a str) -> Self {
        system("mkswap", &[device]);
        // With the lowest priority: the kernel does not use it.
        system("swapon", &["-p", "0", device]);
        Self(device)
    }
}

impl Drop for Swap<'_> {
    fn drop(&mut self) {
        system("swapoff", &[self.0]);
    }
}

fn a_device_that_is_swap_or_held_by_another_is_refused_even_if_it_may_be_wiped(disk: &Disk) {
    let test = "a_device_that_is_swap_or_held_by_another_is_refused_even_if_it_may_be_wiped";
    let swap = Swap::on(&disk.device);
    for wipe in [false, true] {
        disk.allow(wipe);
        disk.lab
            .refused(&disk.prepare(), &["is in use", "It is swap space."]);
    }
    drop(swap);
    let misc = fs::read_to_string("/proc/misc").unwrap_or_default();
    if program("dmsetup").is_none() || !misc.contains("device-mapper") {
        return skip(
            test,
            "what it says of dm needs dmsetup and the device mapper",
        );
    }
    disk.blank();
    let mapped = Mapped::over(&disk.device);
    for wipe in [false, true] {
        disk.allow(wipe);
        disk.refused(&["is in use", " holds it."]);
    }
    drop(mapped);
    disk.succeeds();
}

fn what_there_is_is_described(disk: &Disk) {
    let missing = "[[device]]\npath = \"/dev/disk/by-id/none\"\n";
    let device = format!("[[device]]\npath = {:?}\n", disk.device);
    disk.lab
        .configure(&format!("{}{device}{missing}", disk.lab.usual()));
    let described =
        || -> Value { serde_json::from_str(&disk.lab.ok(&["describe"])).expect("JSON") };
    let device = |of: &Value| {
        let device = &of["devices"][0];
        format!(
            "{} {} {}",
            device["usable"], device["written_by_pgfsbench"], device["contents"]
        )
    };
    let empty = described();
    assert_eq!(device(&empty), "true false \"nothing\"");
    assert_eq!(empty["devices"][0]["path"], disk.device.as_str());
    assert_eq!(empty["devices"][0]["bytes"], MEGABYTES << 20);
    assert_eq!(empty["devices"][1]["usable"], false);
    assert_eq!(
        empty["devices"][1]["why_not"]
            .as_str()
            .map(|w| w.contains("there is no device")),
        Some(true)
    );
    assert_eq!(empty["images"][0]["max_bytes"], 2u64 << 30);
    assert_eq!(empty["images"][0]["used_bytes"], 0);
    assert_eq!(empty["kernel_settings"], false);
    assert_eq!(empty["drop_caches"], false);
    assert!(empty["devices"][0]["queue"]["logical_block_size"].as_u64() >= Some(512));
    assert!(empty["devices"][0]["schedulers"].as_array().is_some());
    let filesystems = empty["filesystems"].as_array().expect("an array");
    assert_eq!(filesystems.len(), Filesystem::ALL.len());

    disk.lab.ok(&disk.prepare());
    let used = described();
    assert!(
        device(&used).starts_with("false true \"ext4, UUID "),
        "{used}"
    );
    assert!(
        used["devices"][0]["in_use"]
            .as_str()
            .is_some_and(|u| u.contains("bench@d")),
        "{used}"
    );
    disk.lab.ok(&["release", "--target", "d"]);
    assert!(device(&described()).starts_with("true true \"ext4, UUID "));
    disk.blank();
    disk.write(1 << 10, b"precious");
    let foreign = described();
    assert_eq!(
        device(&foreign),
        "false false \"data without a known signature\""
    );
    assert!(
        foreign["devices"][0]["why_not"]
            .as_str()
            .is_some_and(|w| w.contains("pgfsbench did not write that"))
    );
}
