//! Power cuts in a guest: of a disk that the kernel's dm-log-writes records, and of images that the recorder serves.

use super::boot::{GuestScript, missing};
use pgfsbench_tests::skip;

#[test]
fn dm_log_writes_shows_what_a_disk_loses_in_a_power_cut_in_a_guest() {
    let expected = [
        "recorder: writes to images can be recorded, and cut at any moment; dm-log-writes: also those to devices",
        "commits kept, 3 cuts",
        "pages kept, 3 cuts",
        "fsync_off failed, 3 cuts",
        "commits acknowledged before cuts: t",
        "1 of dm-log-writes removed",
        "0 devices, 0 files and 0 processes are left",
        "the disk is usable again: true",
    ];
    let guest = GuestScript("ext4+cuts", 1800, "tests/lab/log-writes.sql");
    guest.tells(
        "dm_log_writes_shows_what_a_disk_loses_in_a_power_cut_in_a_guest",
        &expected,
    );
}

/// Arrays of md keep what was committed, and so do filesystems that this machine's kernel may lack, unless they send no flushes.
#[test]
#[ignore = "`make soak` has it"]
fn arrays_and_other_filesystems_keep_commits_in_a_guest() {
    let test = "arrays_and_other_filesystems_keep_commits_in_a_guest";
    // The script makes filesystems of these, too.
    if let Some(why) = missing("xfs nilfs2 reiserfs") {
        skip(test, &why);
        return;
    }
    let expected = [
        "raid1: commits kept, pages kept, barriers_off failed, fsync_off failed",
        "raid5: commits kept, pages kept, fsync_off failed",
        "f2fs: commits kept, pages kept, barriers_off failed, fsync_off failed",
        "f2fs-nobarrier: commits failed, pages failed, barriers_off failed, fsync_off failed",
        "nilfs2: commits kept, pages kept, barriers_off failed, fsync_off failed",
        "reiserfs: commits kept, pages kept, fsync_off failed",
        "something to lose: f2fs, f2fs-nobarrier, nilfs2, raid1, raid5, reiserfs",
        "0 arrays, 0 devices, 0 files and 0 processes are left",
    ];
    let guest = GuestScript("f2fs+cuts", 5400, "tests/lab/power-cuts.sql");
    guest.tells(test, &expected);
}

/// A cleanup removes all that a killed helper has made, at each step.
#[test]
#[ignore = "`make soak` has it"]
fn a_helper_that_is_killed_leaves_nothing_of_a_record_in_a_guest() {
    let guest = GuestScript("ext4+cuts", 900, "tests/lab/record-kills.sh");
    let test = "a_helper_that_is_killed_leaves_nothing_of_a_record_in_a_guest";
    let Some(facts) = guest.facts(test) else {
        return;
    };
    assert_eq!(facts.len(), 17, "{facts:#?}");
    for fact in facts {
        assert!(fact.ends_with(": nothing is left"), "{fact}");
    }
}
