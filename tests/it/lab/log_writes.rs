//! Power cuts of a disk in a guest, which the kernel's dm-log-writes records.

use super::made_by_helper::{facts, said_in_guest};

#[test]
#[ignore = "`make soak` has it"]
fn dm_log_writes_shows_what_a_disk_loses_in_a_power_cut_in_a_guest() {
    let Some(said) = said_in_guest(
        "dm_log_writes_shows_what_a_disk_loses_in_a_power_cut_in_a_guest",
        "ext4+cuts",
        1800,
        "tests/lab/log-writes.sql",
    ) else {
        return;
    };
    let expected = [
        "recorder: writes to images can be recorded, and cut at any moment; dm-log-writes: also those to devices",
        "commits passed, 8 cuts",
        "pages passed, 8 cuts",
        "fsync_off failed, 8 cuts",
        "full_page_writes_off failed, 8 cuts",
        "commits acknowledged before cuts: t; cuts with something to lose: t",
        "1 of dm-log-writes removed",
        "0 devices, 0 files and 0 processes are left",
        "the disk is usable again: true",
    ];
    assert_eq!(facts(&said), expected, "{said}");
}

/// A cleanup removes all that a killed helper has made, at each step.
#[test]
#[ignore = "`make soak` has it"]
fn a_helper_that_is_killed_leaves_nothing_of_dm_log_writes_in_a_guest() {
    let Some(said) = said_in_guest(
        "a_helper_that_is_killed_leaves_nothing_of_dm_log_writes_in_a_guest",
        "ext4+cuts",
        900,
        "tests/lab/log-writes-kills.sh",
    ) else {
        return;
    };
    let facts = facts(&said);
    assert_eq!(facts.len(), 10, "{said}");
    for fact in facts {
        assert!(fact.ends_with(": nothing is left"), "{fact}: {said}");
    }
}
