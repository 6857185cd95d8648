//! A filesystem that is unmounted and mounted again: as it was, with nothing of it in memory; and cleared away whichever process dies.

use super::lab::{Lab, on_image, system};
use pgfsbench_tests::{LONG, wait_until};
use rustix::io::{Errno, ReadWriteFlags, preadv2};
use std::fs;
use std::io::IoSliceMut;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

const REMOUNT: [&str; 3] = ["remount", "--target", "t"];

/// With the options of prepare after the first ones.
fn prepared(lab: &Lab, filesystem: &str, size: &str, further: &[&str]) -> String {
    lab.ok(&[&on_image("t", filesystem, size)[..], further].concat());
    let mounts = lab.mounts();
    assert_eq!(mounts.len(), 1, "{mounts:?}");
    mounts[0].clone()
}

/// Whether its first page can be read without waiting for the disk.
fn is_cached(path: &Path) -> bool {
    let file = fs::File::open(path).expect("the file");
    let mut page = [0; 4096];
    let mut pages = [IoSliceMut::new(&mut page)];
    match preadv2(&file, &mut pages, 0, ReadWriteFlags::NOWAIT) {
        Ok(4096) => true,
        Err(Errno::AGAIN) => false,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_mounted_again_is_as_it_was() {
    let Some(lab) = Lab::new("what_is_mounted_again_is_as_it_was") else {
        return;
    };
    a_filesystem_is_mounted_again_as_it_was_and_nothing_of_it_is_cached(&lab);
    an_external_log_is_there_again(&lab);
    only_what_is_prepared_and_not_used_is_mounted_again(&lab);
}

fn a_filesystem_is_mounted_again_as_it_was_and_nothing_of_it_is_cached(lab: &Lab) {
    for filesystem in lab.filesystems() {
        let options = ["--mount-options", "noatime"];
        let before = prepared(lab, filesystem, "320MB", &options);
        assert!(before.contains("noatime"), "{before}");
        let file = lab.path("mnt/bench@t/pgfsbench/kept");
        fs::write(&file, vec![7; 1 << 20]).expect("write");
        // Another test may have all caches dropped.
        wait_until("it is in memory", LONG, || {
            fs::read(&file).expect("read");
            is_cached(&file).then_some(())
        });
        let said = lab.ok(&REMOUNT);
        for word in ["unmount_ms", "mount_ms", "noatime", "nosuid"] {
            assert!(said.contains(word), "no {word} in {said}");
        }
        assert_eq!(lab.mounts(), [before]);
        assert!(!is_cached(&file), "{filesystem}");
        assert_eq!(fs::read(&file).expect("read"), vec![7; 1 << 20]);
        assert!(lab.begun("t").expect("an entry").starts_with("\"ready\""));
        lab.ok(&["release", "--target", "t"]);
        lab.nothing_is_left_at_once();
    }
}

fn an_external_log_is_there_again(lab: &Lab) {
    for filesystem in ["ext4", "xfs"] {
        if !lab.has(filesystem) {
            continue;
        }
        let before = prepared(lab, filesystem, "320MB", &["--log-image", "64MB"]);
        lab.ok(&REMOUNT);
        assert_eq!(lab.mounts(), [before]);
        lab.ok(&["release", "--target", "t"]);
        lab.nothing_is_left_at_once();
    }
}

fn only_what_is_prepared_and_not_used_is_mounted_again(lab: &Lab) {
    lab.refused(&REMOUNT, &["is not prepared", "Prepare it first"]);
    let before = prepared(lab, "ext4", "32MB", &[]);
    let file = fs::File::create(lab.path("mnt/bench@t/open")).expect("a file");
    lab.refused(&REMOUNT, &["is in use", "ends no processes of others"]);
    // It is what it was.
    assert_eq!(lab.mounts(), std::slice::from_ref(&before));
    drop(file);
    lab.ok(&REMOUNT);
    assert_eq!(lab.mounts(), [before]);
    let mount_point = lab.path("mnt/bench@t").display().to_string();
    system("umount", &[&mount_point]);
    lab.refused(&REMOUNT, &["is not prepared"]);
    lab.ok(&["cleanup"]);
    lab.nothing_is_left_at_once();
}

#[test]
fn what_is_not_mounted_again_is_told_why() {
    let Some(lab) = Lab::new("what_is_not_mounted_again_is_told_why") else {
        return;
    };
    what_cannot_be_mounted_again_is_told_in_the_programs_words_and_cleared_away(&lab);
    options_that_are_not_in_force_any_more_are_told(&lab);
    a_forged_entry_mounts_nothing_that_a_request_could_not(&lab);
}

fn what_cannot_be_mounted_again_is_told_in_the_programs_words_and_cleared_away(lab: &Lab) {
    prepared(lab, "ext4", "32MB", &[]);
    let device = lab.loops().remove(0);
    let (code, said) = lab.held_before("mount_again", &REMOUNT, || {
        system("wipefs", &["--all", &device]);
    });
    assert_eq!(code, Some(1));
    for word in ["mount failed (exit code 32)", "wrong fs type", "dmesg"] {
        assert!(said.contains(word), "no {word} in {said}");
    }
    assert_eq!(lab.mounts(), [""; 0]);
    lab.ok(&["release", "--target", "t"]);
    lab.nothing_is_left_at_once();
}

fn options_that_are_not_in_force_any_more_are_told(lab: &Lab) {
    prepared(lab, "ext4", "32MB", &["--mount-options", "noatime"]);
    let path = lab.path("state/journal/bench@t.json");
    let entry = fs::read_to_string(&path).expect("the entry");
    assert!(entry.contains("noatime"), "{entry}");
    fs::write(&path, entry.replace("noatime", "relatime")).expect("write");
    lab.refused(&REMOUNT, &["is not mounted as it was before", "noatime"]);
    lab.ok(&["cleanup"]);
    lab.nothing_is_left_at_once();
}

fn a_forged_entry_mounts_nothing_that_a_request_could_not(lab: &Lab) {
    prepared(lab, "ext4", "32MB", &["--mount-options", "noatime"]);
    let path = lab.path("state/journal/bench@t.json");
    let entry = fs::read_to_string(&path).expect("the entry");
    let options = "[\"nosuid\",\"nodev\",\"noatime\"]";
    assert!(entry.contains(options), "{entry}");
    let before = lab.mounts();
    for forged in [
        "[\"suid\",\"dev\",\"noatime\"]",
        "[\"nosuid\",\"nodev\",\"suid\"]",
        "[\"nosuid\",\"nodev\",\"noatime,dev\"]",
        "[\"nosuid\",\"nodev\",\"X-mount.owner=0\"]",
        "[]",
    ] {
        fs::write(&path, entry.replace(options, forged)).expect("write");
        lab.refused(&REMOUNT, &["cannot be mounted again", "in the journal"]);
        assert_eq!(lab.mounts(), before, "it is what it was");
    }
    lab.ok(&["release", "--target", "t"]);
    lab.nothing_is_left_at_once();
}

#[test]
#[ignore = "`make soak` has it"]
fn killed_at_any_step_of_mounting_again_nothing_is_left() {
    let Some(lab) = Lab::new("killed_at_any_step_of_mounting_again_nothing_is_left") else {
        return;
    };
    for step in ["unmount", "mount_again"] {
        for when in ["--stop-before", "--stop-after"] {
            prepared(&lab, "ext4", "32MB", &[]);
            lab.killed(&REMOUNT, when, step);
            assert_eq!(
                lab.begun("t").expect("an entry"),
                "\"remounting\" \"make_directory\"",
                "{when} {step}"
            );
            // As the next start of the service does.
            lab.start();
            lab.nothing_is_left_at_once();
        }
    }
}

/// The kernel holds a file for a moment, and no process is to be seen that uses it: as when a process ends, and as a loop device does.
#[test]
fn a_filesystem_that_is_busy_for_a_moment_is_unmounted() {
    let Some(lab) = Lab::new("a_filesystem_that_is_busy_for_a_moment_is_unmounted") else {
        return;
    };
    prepared(&lab, "ext4", "32MB", &[]);
    let file = lab.path("mnt/bench@t/pgfsbench/file");
    fs::write(&file, vec![7; 1 << 20]).expect("write");
    let attached = Command::new("losetup")
        .args(["--find", "--show"])
        .arg(&file)
        .output();
    let device = String::from_utf8(attached.expect("losetup").stdout).expect("UTF-8");
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(500));
            let detached = Command::new("losetup").args(["-d", device.trim()]).status();
            assert!(detached.expect("losetup").success());
        });
        lab.ok(&["release", "--target", "t"]);
    });
    lab.nothing_is_left_at_once();
}
