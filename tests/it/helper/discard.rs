//! Discards, on images and on devices.

use super::disk::{Disk, MEGABYTES};
use super::lab::{Lab, on_image};
use rustix::fs::{FallocateFlags, fallocate};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Allocated bytes of a file that is written out first: while ext4 allocates delayed blocks, these count for a moment neither as reserved nor as
/// allocated.
fn allocated(path: &Path) -> u64 {
    let file = fs::File::open(path).expect("the file");
    file.sync_all().expect("written out");
    file.metadata().expect("the file").blocks() * 512
}

#[test]
fn an_allocated_image_stays_allocated_and_a_sparse_one_does_not_grow() {
    let test = "an_allocated_image_stays_allocated_and_a_sparse_one_does_not_grow";
    let Some(lab) = Lab::new(test) else {
        return;
    };
    let image = lab.path("images/bench@t.img");
    for filesystem in lab.filesystems() {
        let wanted = on_image("t", filesystem, "320MB");
        lab.ok(&[&wanted[..], &["--allocated"]].concat());
        assert!(allocated(&image) >= 320 << 20, "{filesystem}");
        lab.ok(&["release", "--target", "t"]);
        for state in ["trimmed", "as_is"] {
            let result = lab.ok(&[&wanted[..], &["--ssd-state", state]].concat());
            let result: Value = serde_json::from_str(&result).expect("JSON");
            assert_eq!(result["ssd_state"], state);
            assert!(allocated(&image) < 200 << 20, "{filesystem} {state}");
            lab.ok(&["release", "--target", "t"]);
        }
        let both = ["--allocated", "--ssd-state", "trimmed"];
        lab.refused(&[&wanted[..], &both].concat(), &["cannot be trimmed"]);
    }
    lab.nothing_is_left_at_once();
}

#[test]
fn a_device_is_discarded_as_a_whole_or_not_at_all() {
    let Some(disk) = Disk::new("a_device_is_discarded_as_a_whole_or_not_at_all") else {
        return;
    };
    disk.allow(true);
    let file = disk.lab.path("disk");
    for filesystem in disk.lab.filesystems() {
        for (state, is_kept) in [("as_is", true), ("trimmed", false)] {
            disk.write(0, &[1; 1 << 20]);
            let below = fs::File::options().write(true).open(&file);
            let below = below.expect("the file");
            fallocate(&below, FallocateFlags::empty(), 0, MEGABYTES << 20).expect("room");
            assert!(allocated(&file) >= MEGABYTES << 20);
            let arguments = [
                "prepare",
                "--target",
                "d",
                "--filesystem",
                filesystem,
                "--device",
                &disk.device,
                "--ssd-state",
                state,
            ];
            disk.lab.ok(&arguments);
            let kept = allocated(&file);
            match is_kept {
                true => assert!(kept >= MEGABYTES << 20, "{filesystem}: {kept}"),
                false => assert!(kept < (MEGABYTES << 20) / 2, "{filesystem}: {kept}"),
            }
            disk.lab.ok(&["release", "--target", "d"]);
        }
    }
    disk.assert_released();
}
