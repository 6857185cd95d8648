//! Faults of the machine around the helper: files that go or come, filesystems that are not mounted, a full disk, entries that
//! are not believed. They cost the affected job only.

use super::disk::Disk;
use super::lab::{Lab, go_on, on_image, system, wait_until_held};
use serde_json::Value;
use std::fs;
use std::process::Stdio;

#[test]
fn files_and_mounts_that_others_change_cost_the_job_alone() {
    let Some(lab) = Lab::new("files_and_mounts_that_others_change_cost_the_job_alone") else {
        return;
    };
    an_image_that_somebody_has_removed_is_detached_all_the_same(&lab);
    an_image_that_comes_in_between_is_somebody_elses(&lab);
    a_mount_that_loses_nosuid_is_undone(&lab);
    an_entry_that_is_not_believed_keeps_no_other_target_from_being_made(&lab);
}

fn an_image_that_somebody_has_removed_is_detached_all_the_same(lab: &Lab) {
    for verb in [&["release", "--target", "t"][..], &["cleanup"]] {
        lab.ok(&on_image("t", "ext4", "32MB"));
        fs::remove_file(lab.path("images/bench@t.img")).expect("remove");
        lab.ok(verb);
        lab.nothing_is_left_at_once();
    }
}

fn an_image_that_comes_in_between_is_somebody_elses(lab: &Lab) {
    let image = lab.path("images/bench@t.img");
    let (code, said) = lab.held_before("create_image", &on_image("t", "ext4", "32MB"), || {
        fs::write(&image, "precious").expect("write");
    });
    assert_eq!(code, Some(1));
    assert!(said.contains("is there already"), "{said}");
    lab.ok(&["cleanup"]);
    assert_eq!(fs::read_to_string(&image).expect("it is there"), "precious");
    fs::remove_file(&image).expect("remove");
    lab.nothing_is_left_at_once();
}

fn a_mount_that_loses_nosuid_is_undone(lab: &Lab) {
    let mount_point = lab.path("mnt/bench@t").display().to_string();
    for (option, lacking) in [("suid", "without nosuid"), ("dev", "without nodev")] {
        let (code, said) = lab.held_before("verify", &on_image("t", "ext4", "32MB"), || {
            let remount = format!("remount,bind,{option}");
            system("mount", &["-o", &remount, &mount_point]);
        });
        assert_eq!(code, Some(1));
        assert!(said.contains(lacking), "{said}");
        lab.nothing_is_left_at_once();
    }
}

#[test]
fn filesystems_that_are_full_or_not_mounted_cost_the_job_alone() {
    let Some(lab) = Lab::new("filesystems_that_are_full_or_not_mounted_cost_the_job_alone") else {
        return;
    };
    images_are_not_made_below_a_filesystem_that_is_not_mounted(&lab);
    lab.configure(&lab.usual());
    on_a_full_disk_nothing_is_begun_and_everything_is_released(&lab);
}

fn images_are_not_made_below_a_filesystem_that_is_not_mounted(lab: &Lab) {
    let images = lab.path("images").display().to_string();
    let mount = || {
        system(
            "mount",
            &["-t", "tmpfs", "-o", "mode=700", "tmpfs", &images],
        )
    };
    lab.configure(&format!("{}mount_point = {images:?}\n", lab.usual()));
    let words = ["is not mounted", &images, "Run: mount"];
    lab.refused(&on_image("t", "ext4", "32MB"), &words);
    assert!(lab.ok(&["describe"]).contains("is not mounted"));
    mount();
    // One that has gone with its filesystem is no image any more; one that is only out of sight is not forgotten.
    lab.killed(
        &on_image("t", "ext4", "32MB"),
        "--stop-after",
        "create_image",
    );
    system("umount", &[&images]);
    mount();
    lab.ok(&["cleanup"]);
    lab.ok(&on_image("t", "ext4", "32MB"));
    lab.ok(&["release", "--target", "t"]);
    lab.killed(
        &on_image("t", "ext4", "32MB"),
        "--stop-after",
        "create_image",
    );
    let elsewhere = lab.path("elsewhere").display().to_string();
    fs::create_dir(&elsewhere).expect("a directory");
    system("mount", &["--bind", &images, &elsewhere]);
    system("umount", &[&images]);
    lab.refused(&["cleanup"], &["is not mounted"]);
    assert_eq!(lab.list("state/journal"), ["bench@t.json"]);
    assert_eq!(lab.list("elsewhere"), ["bench@t.img"]);
    system("mount", &["--bind", &elsewhere, &images]);
    lab.ok(&["cleanup"]);
    assert_eq!(lab.list("elsewhere"), [""; 0]);
    system("umount", &[&images]);
    system("umount", &[&elsewhere]);
    lab.nothing_is_left_at_once();
}

fn an_entry_that_is_not_believed_keeps_no_other_target_from_being_made(lab: &Lab) {
    lab.ok(&on_image("x", "ext4", "1GB"));
    let entry = lab.path("state/journal/bench@x.json");
    let good = fs::read_to_string(&entry).expect("an entry");
    fs::write(&entry, "{}").expect("write");
    // The file that is there under its name counts.
    lab.refused(&on_image("t", "ext4", "1025MB"), &["1024 MB are in use"]);
    lab.ok(&on_image("t", "ext4", "32MB"));
    let described: Value = serde_json::from_str(&lab.ok(&["describe"])).expect("JSON");
    assert_eq!(described["not_believed"][0]["place"], "bench@x");
    assert_eq!(described["images"][0]["images"], 2);
    assert_eq!(described["prepared"][0]["target"], "t");
    lab.refused(&["cleanup"], &["bench@x:", "is not believed"]);
    assert_eq!(lab.list("state/journal"), ["bench@x.json"]);
    fs::write(&entry, good).expect("write");
    lab.ok(&["cleanup"]);
    lab.nothing_is_left_at_once();
}

fn on_a_full_disk_nothing_is_begun_and_everything_is_released(lab: &Lab) {
    let state = lab.path("state").display().to_string();
    fs::create_dir_all(&state).expect("a directory");
    let small = "mode=700,size=64k";
    system("mount", &["-t", "tmpfs", "-o", small, "tmpfs", &state]);
    lab.ok(&on_image("t", "ext4", "32MB"));
    let filler = lab.path("state/filler");
    while fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(&filler)
        .and_then(|mut f| std::io::Write::write_all(&mut f, &[1; 512]))
        .is_ok()
    {}
    lab.refused(&on_image("u", "ext4", "32MB"), &["No space left on device"]);
    assert_eq!(lab.list("images"), ["bench@t.img"]);
    assert_eq!(lab.loops().len(), 1);
    lab.ok(&["release", "--target", "t"]);
    lab.ok(&["cleanup"]);
    system("umount", &[&state]);
    lab.nothing_is_left_at_once();
}

#[test]
fn what_changes_nothing_does_not_wait_for_what_does() {
    let Some(disk) = Disk::new("what_changes_nothing_does_not_wait_for_what_does") else {
        return;
    };
    let held = [&disk.prepare()[..], &["--pause-before", "mkfs"]].concat();
    let mut helper = disk
        .lab
        .command(&held)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the helper runs");
    wait_until_held(&helper);
    // It holds the lock; these neither wait for it nor claim its device.
    let described: Value = serde_json::from_str(&disk.lab.ok(&["describe"])).expect("JSON");
    assert_eq!(described["devices"][0]["path"], disk.device.as_str());
    let mut plan = on_image("t", "ext4", "32MB");
    plan[0] = "plan";
    assert!(disk.lab.ok(&plan).contains("bench@t.img"));
    go_on(&helper);
    assert!(helper.wait().expect("it ends").success());
    disk.lab.ok(&["release", "--target", "d"]);
    disk.assert_released();
}
