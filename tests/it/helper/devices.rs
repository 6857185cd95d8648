//! Devices: only those that the configuration names, only while nobody uses them, and only over what may be erased.

use super::lab::{Lab, system};
use pgfsbench_tests::{LONG, Signal, wait_until};
use rustix::process::{Pid, kill_process};
use serde_json::Value;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Stdio;

const MEGABYTES: u64 = 320;

/// A loop device that plays a disk, and the configuration that allows it.
struct Disk {
    lab: Lab,
    device: String,
}

impl Disk {
    fn new(test: &str) -> Option<Self> {
        let lab = Lab::new(test)?;
        let file = lab.path("disk");
        File::create(&file)
            .and_then(|f| f.set_len(MEGABYTES << 20))
            .expect("a file");
        let device = system(
            "losetup",
            &["--find", "--show", &file.display().to_string()],
        );
        let disk = Self { lab, device };
        disk.allow(false);
        Some(disk)
    }

    fn allow(&self, wipe: bool) {
        let device = format!("[[device]]\npath = {:?}\nwipe = {wipe}\n", self.device);
        self.lab.configure(&format!("{}{device}", self.lab.usual()));
    }

    fn prepare(&self) -> Vec<&str> {
        vec![
            "prepare",
            "--target",
            "d",
            "--filesystem",
            "ext4",
            "--device",
            &self.device,
        ]
    }

    fn refused(&self, words: &[&str]) {
        let before = self.first_bytes();
        self.lab.refused(&self.prepare(), words);
        assert_eq!(self.lab.mounts(), [""; 0]);
        assert!(before == self.first_bytes(), "the device was written to");
    }

    fn succeeds(&self) {
        self.lab.ok(&self.prepare());
        assert_eq!(self.lab.mounts().len(), 1);
        self.lab.ok(&["release", "--target", "d"]);
        self.assert_released();
    }

    /// The device is the administrator's: it stays attached.
    fn assert_released(&self) {
        assert_eq!(self.lab.mounts(), [""; 0]);
        assert_eq!(self.lab.list("state/journal"), [""; 0]);
        assert_eq!(self.lab.loops(), [self.device.as_str()]);
    }

    fn first_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; 1 << 20];
        let device = File::open(&self.device).expect("the device");
        device.read_exact_at(&mut bytes, 0).expect("readable");
        bytes
    }

    fn write(&self, at: u64, bytes: &[u8]) {
        let device = OpenOptions::new()
            .write(true)
            .open(&self.device)
            .expect("the device");
        device.write_all_at(bytes, at).expect("writable");
        device.sync_all().expect("sync");
    }

    /// Zeros wherever somebody looks.
    fn blank(&self) {
        let zeros = vec![0; 2 << 20];
        self.write(0, &zeros);
        self.write((MEGABYTES - 2) << 20, &zeros);
    }
}

#[test]
fn an_empty_device_and_what_pgfsbench_wrote_may_be_erased() {
    let Some(disk) = Disk::new("an_empty_device_and_what_pgfsbench_wrote_may_be_erased") else {
        return;
    };
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

#[test]
fn a_device_that_is_not_listed_is_refused() {
    let Some(disk) = Disk::new("a_device_that_is_not_listed_is_refused") else {
        return;
    };
    disk.lab.configure(&disk.lab.usual());
    disk.refused(&[
        "is not allowed by the helper's configuration",
        &format!("path = \"{}\"", disk.device),
    ]);
    for path in [
        "/dev/../etc/passwd",
        "/etc/passwd",
        "/dev/loop0 /dev/loop1",
        "loop0",
    ] {
        let arguments = [
            "prepare",
            "--target",
            "d",
            "--filesystem",
            "ext4",
            "--device",
            path,
        ];
        disk.lab.refused(&arguments, &["invalid device path"]);
    }
    // Another name of the same device is not what the configuration says.
    disk.allow(false);
    let other = format!("/dev/./{}", disk.device.trim_start_matches("/dev/"));
    let arguments = [
        "prepare",
        "--target",
        "d",
        "--filesystem",
        "ext4",
        "--device",
        &other,
    ];
    disk.lab.refused(&arguments, &["invalid device path"]);
}

#[test]
fn a_device_that_is_mounted_is_refused_even_if_it_may_be_wiped() {
    let Some(disk) = Disk::new("a_device_that_is_mounted_is_refused_even_if_it_may_be_wiped")
    else {
        return;
    };
    system("mkfs.ext4", &["-q", "-F", &disk.device]);
    let elsewhere = disk.lab.path("elsewhere");
    fs::create_dir(&elsewhere).expect("a directory");
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

#[test]
fn what_somebody_else_wrote_is_erased_only_if_the_configuration_says_so() {
    let Some(disk) =
        Disk::new("what_somebody_else_wrote_is_erased_only_if_the_configuration_says_so")
    else {
        return;
    };
    let foreign: [(&dyn Fn(), &str); 3] = [
        (
            &|| {
                drop(system(
                    "mkfs.ext4",
                    &["-q", "-F", "-L", "precious", &disk.device],
                ))
            },
            "holds ext4, label \"precious\"",
        ),
        (
            &|| disk.write(4096, b"precious"),
            "holds data without a known signature",
        ),
        (
            &|| disk.write((MEGABYTES << 20) - 8, b"precious"),
            "holds data without a known signature",
        ),
    ];
    for (write, words) in foreign {
        disk.allow(false);
        disk.blank();
        write();
        disk.refused(&[words, "pgfsbench did not write that.", "wipe = true"]);
        disk.allow(true);
        disk.succeeds();
    }
}

#[test]
fn a_disk_with_a_partition_table_is_never_erased() {
    let Some(disk) = Disk::new("a_disk_with_a_partition_table_is_never_erased") else {
        return;
    };
    let mut table = [0u8; 512];
    // One Linux partition of a megabyte, after the first.
    table[450] = 0x83;
    table[454..458].copy_from_slice(&2048u32.to_le_bytes());
    table[458..462].copy_from_slice(&2048u32.to_le_bytes());
    table[510..].copy_from_slice(&[0x55, 0xaa]);
    disk.write(0, &table);
    for wipe in [false, true] {
        disk.allow(wipe);
        disk.refused(&["holds a partition table", "never erased"]);
    }
}

#[test]
fn a_path_to_something_else_is_refused() {
    let Some(disk) = Disk::new("a_path_to_something_else_is_refused") else {
        return;
    };
    // Something in /dev that is no block device, and a name there that leads out of it.
    let link = format!("/dev/pgfsbench-test-{}", std::process::id());
    let file = disk.lab.path("file");
    File::create(&file)
        .and_then(|mut f| f.write_all(b"precious"))
        .expect("a file");
    std::os::unix::fs::symlink(&file, &link).expect("symlink");
    for (path, words) in [
        (link.as_str(), "not below /dev"),
        ("/dev/null", "is not a block device"),
    ] {
        let device = format!("[[device]]\npath = {path:?}\nwipe = true\n");
        disk.lab.configure(&format!("{}{device}", disk.lab.usual()));
        let arguments = [
            "prepare",
            "--target",
            "d",
            "--filesystem",
            "ext4",
            "--device",
            path,
        ];
        let output = disk.lab.run(&arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(words), "{said}");
    }
    fs::remove_file(&link).expect("remove");
    assert_eq!(fs::read_to_string(&file).expect("it is there"), "precious");
    assert!(Path::new("/dev/null").exists());
}

/// Something happens to a device between the first look and mkfs, while the helper is held before its second look.
fn between_check_and_use(disk: &Disk, path: &str, happens: impl FnOnce()) -> String {
    let arguments = [
        "prepare",
        "--target",
        "d",
        "--filesystem",
        "ext4",
        "--device",
        path,
    ];
    let mut held = disk
        .lab
        .command(&[&arguments[..], &["--pause-before", "check_device"]].concat())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the helper runs");
    wait_until("the helper is held", LONG, || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", held.id())).ok()?;
        stat.contains(") T ").then_some(())
    });
    happens();
    let pid = Pid::from_raw(held.id() as i32).expect("a pid");
    kill_process(pid, Signal::CONT).expect("SIGCONT");
    let mut said = String::new();
    let mut stderr = held.stderr.take().expect("a pipe");
    stderr.read_to_string(&mut said).expect("UTF-8");
    assert_eq!(held.wait().expect("it ends").code(), Some(1), "{said}");
    assert_eq!(disk.lab.list("state/journal"), [""; 0]);
    said
}

#[test]
fn a_device_that_is_exchanged_between_check_and_use_is_not_written_to() {
    let Some(disk) =
        Disk::new("a_device_that_is_exchanged_between_check_and_use_is_not_written_to")
    else {
        return;
    };
    // A second disk, and a name that leads to the first and then to the second, as names of /dev do.
    let file = disk.lab.path("second");
    fs::copy(disk.lab.path("disk"), &file).expect("a copy");
    let second = system(
        "losetup",
        &["--find", "--show", &file.display().to_string()],
    );
    let link = format!("/dev/pgfsbench-exchange-{}", std::process::id());
    std::os::unix::fs::symlink(&disk.device, &link).expect("symlink");
    let device = format!("[[device]]\npath = {link:?}\nwipe = true\n");
    disk.lab.configure(&format!("{}{device}", disk.lab.usual()));

    let said = between_check_and_use(&disk, &link, || {
        fs::remove_file(&link).expect("remove");
        std::os::unix::fs::symlink(&second, &link).expect("symlink");
    });
    fs::remove_file(&link).expect("remove");
    assert!(
        said.contains("is not the one that was looked at before"),
        "{said}"
    );
    let untouched = fs::read(&file).expect("the second disk");
    assert!(untouched.iter().all(|&byte| byte == 0));
    assert!(disk.first_bytes().iter().all(|&byte| byte == 0));
}

#[test]
fn a_device_that_somebody_uses_or_writes_between_check_and_use_is_refused() {
    let Some(disk) =
        Disk::new("a_device_that_somebody_uses_or_writes_between_check_and_use_is_refused")
    else {
        return;
    };
    let said = between_check_and_use(&disk, &disk.device, || disk.write(0, b"precious"));
    assert!(
        said.contains("holds data without a known signature"),
        "{said}"
    );
    disk.blank();

    let elsewhere = disk.lab.path("elsewhere").display().to_string();
    fs::create_dir(&elsewhere).expect("a directory");
    let said = between_check_and_use(&disk, &disk.device, || {
        system("mkfs.ext4", &["-q", "-F", &disk.device]);
        system("mount", &[&disk.device, &elsewhere]);
    });
    assert!(
        said.contains("is in use") && said.contains(&elsewhere),
        "{said}"
    );
    system("umount", &[&elsewhere]);
}

#[test]
fn what_there_is_is_described() {
    let Some(disk) = Disk::new("what_there_is_is_described") else {
        return;
    };
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
    assert_eq!(empty["filesystems"].as_array().map(Vec::len), Some(8));

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
