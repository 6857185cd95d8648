//! Contents of a device: seen wherever they are, never taken for none if they cannot be read, and known as ours after a kill.

use super::disk::{Disk, MEGABYTES};
use super::lab::system;
use std::fs::OpenOptions;
use std::os::unix::fs::symlink;

#[test]
fn contents_of_a_device_are_seen_and_known() {
    let Some(disk) = Disk::new("contents_of_a_device_are_seen_and_known") else {
        return;
    };
    what_is_left_of_a_filesystem_is_seen_wherever_it_is(&disk);
    disk.start_anew();
    a_partition_table_counts_whatever_else_is_there(&disk);
    disk.start_anew();
    what_a_killed_helper_has_half_erased_is_ours_and_what_came_since_is_not(&disk);
    disk.start_anew();
    a_device_that_is_not_the_one_of_the_configuration_is_refused(&disk);
    disk.start_anew();
    a_device_that_cannot_be_read_is_not_empty(&disk);
}

fn what_is_left_of_a_filesystem_is_seen_wherever_it_is(disk: &Disk) {
    let end = MEGABYTES << 20;
    let unsigned = "holds data without a known signature";
    // The places of copies, which blkid alone does not look at, and of what has no signature.
    for at in [
        (64 << 20) + 64,
        (128 << 20) + 56,
        8193 << 10,
        4 << 20,
        end - (512 << 10) + (128 << 10),
        end - (64 << 10),
        end - 3087 * 512,
        end - 1,
    ] {
        disk.write(at, b"x");
        disk.refused(&[unsigned, "pgfsbench did not write that."]);
        disk.blank_all();
    }
    // Swap space, and a btrfs whose first superblock was zeroed.
    system("mkswap", &["-L", "precious", &disk.device]);
    disk.refused(&["holds swap, label \"precious\""]);
    disk.blank_all();
    if disk.lab.has("btrfs") {
        system("mkfs.btrfs", &["-q", "-f", &disk.device]);
        disk.write(64 << 10, &[0; 4096]);
        disk.refused(&[unsigned]);
        disk.blank_all();
    }
    disk.succeeds();
}

fn a_partition_table_counts_whatever_else_is_there(disk: &Disk) {
    // In the first block of an ext4, which leaves it alone.
    system("mkfs.ext4", &["-q", "-F", &disk.device]);
    disk.write_table();
    for wipe in [false, true] {
        disk.allow(wipe);
        disk.refused(&["holds a partition table", "never erased"]);
    }
    // Two filesystems at once are none that anybody may erase for the other's sake.
    disk.blank_all();
    disk.allow(false);
    disk.succeeds();
    disk.write(0, b"-rom1fs-");
    disk.refused(&[
        "several signatures at once",
        "romfs",
        "ext4",
        "pgfsbench did not write that.",
    ]);
    disk.allow(true);
    disk.succeeds();
}

fn a_device_that_cannot_be_read_is_not_empty(disk: &Disk) {
    // Behind the end of its file a loop device cannot be read.
    let file = OpenOptions::new()
        .write(true)
        .open(disk.lab.path("disk"))
        .expect("the file");
    for left in [MEGABYTES / 2, 0] {
        file.set_len(left << 20).expect("truncate");
        let words = ["could not read", "Input/output error"];
        disk.lab.refused(&disk.prepare(), &words);
    }
    file.set_len(MEGABYTES << 20).expect("truncate");
}

fn what_a_killed_helper_has_half_erased_is_ours_and_what_came_since_is_not(disk: &Disk) {
    let erasing = || disk.lab.list("state/erasing");
    let foreign = || {
        disk.blank_all();
        system("mkfs.ext4", &["-q", "-F", "-L", "mine", &disk.device]);
        disk.write(200 << 20, b"data");
        disk.allow(true);
    };
    for (when, step) in [
        ("--stop-before", "erase"),
        ("--stop-after", "wipe"),
        ("--stop-after", "mkfs"),
        ("--stop-after", "mount"),
    ] {
        foreign();
        disk.killed(when, step);
        disk.lab.ok(&["cleanup"]);
        disk.assert_released();
        // A preparation that was allowed and begun needs no further permission.
        disk.allow(false);
        disk.succeeds();
        assert_eq!(erasing(), [""; 0]);
    }
    // Before it was begun nothing is ours.
    foreign();
    disk.killed("--stop-before", "wipe");
    disk.lab.ok(&["cleanup"]);
    disk.allow(false);
    disk.refused(&["holds ext4, label \"mine\""]);
    // The helper leaves alone what a user makes on it afterwards.
    disk.allow(true);
    disk.killed("--stop-after", "wipe");
    disk.lab.ok(&["cleanup"]);
    let records = erasing();
    assert!(
        matches!(&records[..], [one] if one.starts_with("bench@d@")),
        "{records:?}"
    );
    system("mkfs.ext4", &["-q", "-F", "-L", "later", &disk.device]);
    disk.allow(false);
    disk.refused(&["holds ext4, label \"later\""]);
    // A record that is not believed makes nothing ours.
    disk.blank_all();
    disk.write(200 << 20, b"data");
    let record = format!("state/erasing/{}", records[0]);
    std::fs::write(disk.lab.path(&record), "{}").expect("write");
    disk.refused(&["holds data without a known signature"]);
}

fn a_device_that_is_not_the_one_of_the_configuration_is_refused(disk: &Disk) {
    for mark in ["serial", "wwn", "partition_uuid"] {
        disk.allow_with(&disk.device, &format!("wipe = true\n{mark} = \"S-1\""));
        disk.refused(&[
            "is not the one that was meant",
            &format!("it should have {mark} \"S-1\"; it has no {mark}"),
            "restart pgfsbench-helper",
        ]);
    }
    // One device has two names, one of which may be wiped.
    let link = format!("/dev/pgfsbench-twice-{}", std::process::id());
    symlink(&disk.device, &link).expect("symlink");
    disk.allow_with(
        &disk.device,
        &format!("[[device]]\npath = {link:?}\nwipe = true"),
    );
    let before = disk.first_bytes();
    disk.lab
        .refused(&disk.prepare(), &["names device", "twice", &link]);
    let described = disk.lab.ok(&["describe"]);
    std::fs::remove_file(&link).expect("remove");
    assert_eq!(described.matches("are the same device").count(), 2);
    assert!(before == disk.first_bytes());
    disk.succeeds();
}
