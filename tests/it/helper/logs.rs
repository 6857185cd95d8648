//! A log of xfs, or journal of ext4, that is elsewhere: on an image or a device of its own.

use super::disk::Disk;
use super::lab::{Lab, system};
use pgfsbench_tests::attach;
use serde_json::Value;
use std::fs::File;
use std::os::unix::process::ExitStatusExt;

const IMAGES: [&str; 6] = ["--target", "t", "--image", "320MB", "--log-image", "80MB"];

fn prepare<'a>(filesystem: &'a str, further: &[&'a str]) -> Vec<&'a str> {
    [&["prepare", "--filesystem", filesystem], further].concat()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// Asserts by the filesystem's own words that this device holds its log.
fn assert_log_is(filesystem: &str, device: &str, log: &str) {
    match filesystem {
        "xfs" => {
            let mounts = pgfsbench_tests::mounts();
            let mount = mounts
                .lines()
                .find(|l| l.starts_with(&format!("{device} ")));
            assert!(
                mount.is_some_and(|m| m.contains(&format!("logdev={log}"))),
                "{mount:?}"
            );
        }
        _ => {
            let uuid = system("blkid", &["-p", "-s", "UUID", "-o", "value", log]);
            let said = system("dumpe2fs", &["-h", device]);
            let line = said.lines().find(|l| l.starts_with("Journal UUID:"));
            assert!(line.is_some_and(|l| l.ends_with(&uuid)), "{uuid}: {said}");
        }
    }
}

#[test]
fn an_image_of_its_own_for_the_log() {
    let Some(lab) = Lab::new("an_image_of_its_own_for_the_log") else {
        return;
    };
    for filesystem in ["ext4", "ext3", "xfs"] {
        if !lab.has(filesystem) {
            continue;
        }
        let result = json(&lab.ok(&prepare(filesystem, &IMAGES)));
        let text = |v: &Value| v.as_str().expect("a text").to_owned();
        let (device, log) = (text(&result["device"]), text(&result["log"]["device"]));
        assert_eq!(result["log"]["image_bytes"], 80 << 20);
        let mut loops = lab.loops();
        loops.sort();
        let mut devices = [device.clone(), log.clone()];
        devices.sort();
        assert_eq!(loops, devices);
        assert_log_is(filesystem, &device, &log);
        assert_eq!(result["mount_options_not_shown"], Value::Array(vec![]));
        std::fs::write(lab.path("mnt/bench@t/file"), "x").expect("written");
        lab.ok(&["release", "--target", "t"]);
        lab.nothing_is_left_at_once();
    }
    let refused = prepare("btrfs", &IMAGES);
    lab.refused(&refused, &["btrfs takes no log elsewhere"]);
    // Both count: the configuration allows three images, of 2 GB in all.
    let other = prepare("ext4", &["--target", "u", "--image", "64MB"]);
    lab.ok(&prepare("ext4", &IMAGES));
    lab.ok(&other);
    let third = prepare("ext4", &["--target", "v", "--image", "64MB"]);
    lab.refused(&third, &["too many images"]);
    lab.ok(&["cleanup"]);
    lab.nothing_is_left_at_once();
}

#[test]
#[ignore = "`make soak` has it"]
fn killed_at_any_step_no_log_is_left() {
    let Some(lab) = Lab::new("killed_at_any_step_no_log_is_left") else {
        return;
    };
    let prepare = prepare("ext4", &IMAGES);
    for step in [
        "create_image",
        "attach",
        "make_journal",
        "mkfs",
        "mount",
        "ready",
    ] {
        let killed = lab.run(&[&prepare[..], &["--stop-after", step]].concat());
        assert_eq!(killed.status.signal(), Some(9), "{step}");
        lab.ok(&["cleanup"]);
        lab.nothing_is_left_at_once();
    }
    for step in ["unmount", "detach", "remove_image"] {
        lab.ok(&prepare);
        let killed = lab.run(&["release", "--target", "t", "--stop-after", step]);
        assert_eq!(killed.status.signal(), Some(9), "{step}");
        lab.ok(&["cleanup"]);
        lab.nothing_is_left_at_once();
    }
}

#[test]
fn a_device_of_its_own_for_the_log_is_checked_like_any_other() {
    let Some(disk) = Disk::new("a_device_of_its_own_for_the_log_is_checked_like_any_other") else {
        return;
    };
    if !disk.lab.has("xfs") {
        return;
    }
    let file = disk.lab.path("logdisk");
    File::create(&file)
        .and_then(|f| f.set_len(100 << 20))
        .expect("a file");
    let log = attach(&file);
    let wanted = |filesystem| {
        prepare(
            filesystem,
            &[
                "--target",
                "d",
                "--device",
                &disk.device,
                "--log-device",
                &log,
            ],
        )
    };
    let usual = disk.lab.usual();
    let line = |path: &str| format!("[[device]]\npath = {path:?}\n");
    disk.lab
        .configure(&format!("{usual}{}", line(&disk.device)));
    let words = ["is not allowed by the helper's configuration", &log];
    disk.lab.refused(&wanted("xfs"), &words);
    disk.lab
        .configure(&format!("{usual}{}{}", line(&disk.device), line(&log)));
    let before = disk.first_bytes();
    system("mkfs.ext4", &["-q", "-F", "-L", "precious", &log]);
    disk.lab.refused(
        &wanted("xfs"),
        &["holds ext4, label \"precious\"", "wipe = true"],
    );
    assert!(before == disk.first_bytes(), "the device was written to");
    system("wipefs", &["-q", "-a", &log]);
    let zeros = vec![0; 100 << 20];
    std::fs::write(&log, &zeros).expect("written");

    // pgfsbench may erase what it wrote, a log or a filesystem.
    for filesystem in ["xfs", "ext4", "xfs", "xfs", "ext4", "ext4"] {
        disk.lab.ok(&wanted(filesystem));
        assert_log_is(filesystem, &disk.device, &log);
        let other = [
            "prepare",
            "--target",
            "e",
            "--filesystem",
            "ext4",
            "--device",
            &log,
        ];
        disk.lab.refused(&other, &["is in use"]);
        disk.lab.ok(&["release", "--target", "d"]);
    }
    for (filesystem, step) in [
        ("ext4", "wipe"),
        ("ext4", "make_journal"),
        ("xfs", "mkfs"),
        ("ext4", "mount"),
    ] {
        let killed = disk
            .lab
            .run(&[&wanted(filesystem)[..], &["--stop-after", step]].concat());
        assert_eq!(killed.status.signal(), Some(9), "{step}");
        disk.lab.ok(&["cleanup"]);
        disk.lab.ok(&wanted(filesystem));
        disk.lab.ok(&["release", "--target", "d"]);
    }
    let other = [
        "prepare",
        "--target",
        "e",
        "--filesystem",
        "ext4",
        "--device",
        &log,
    ];
    disk.lab.ok(&other);
    disk.lab.ok(&["release", "--target", "e"]);
    // mkfs.xfs takes sectors of 512 bytes for such a log, whatever its device has.
    for device in [&log, &disk.device] {
        system("losetup", &["--sector-size", "4096", device]);
        disk.lab.ok(&wanted("xfs"));
        assert_log_is("xfs", &disk.device, &log);
        disk.lab.ok(&["release", "--target", "d"]);
    }
    assert_eq!(disk.lab.mounts(), [""; 0]);
    assert_eq!(disk.lab.list("state/journal"), [""; 0]);
}
