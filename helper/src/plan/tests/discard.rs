//! Plans that discard, and those that must not.

use super::settings::limits;
use super::*;
use crate::probe::queue::Limits;
use pgfsbench_core::helper::SsdState;

fn mkfs_line(fs: Filesystem, options: &str, ssd_state: Option<SsdState>, sparse: bool) -> String {
    let storage = Storage::Image {
        bytes: 1 << 30,
        sparse,
    };
    let request = Prepare {
        mkfs_options: Some(options.into()),
        ssd_state,
        ..Prepare::new(storage, fs)
    };
    let config = Config::parse(&CONFIG.replace(
        "\"jfs\"",
        "\"jfs\", \"nilfs2\", \"btrfs\", \"f2fs\", \"ext2\", \"ext3\"",
    ))
    .unwrap();
    match prepare(&config, &place(), &request, &facts()) {
        Ok(plan) => script(&plan, "/dev/loop3").join("; "),
        Err(refusal) => refusal.message,
    }
}

#[test]
fn as_it_is_nothing_is_discarded() {
    use Filesystem::*;
    for (fs, options, expected) in [
        (
            Ext4,
            "",
            "-E nodiscard,lazy_itable_init=0,lazy_journal_init=0 /dev",
        ),
        (Ext2, "", "-E nodiscard /dev"),
        (
            Ext4,
            "-E stride=4 -b 4096",
            "-E stride=4,nodiscard,lazy_itable_init=0,lazy_journal_init=0 -b 4096 /dev",
        ),
        (
            Ext4,
            "-E nodiscard",
            "-E nodiscard,lazy_itable_init=0,lazy_journal_init=0 /dev",
        ),
        (Ext4, "-E discard", "mkfs_options ask for discard"),
        (Xfs, "", "-K /dev"),
        (Btrfs, "", "-K /dev"),
        (Btrfs, "--nodiscard", "--nodiscard /dev"),
        (Nilfs2, "-B 1024", "-B 1024 -K /dev"),
        (F2fs, "", "-t 0 /dev"),
        (F2fs, "-t 0", "-t 0 /dev"),
        (F2fs, "-t 1", "mkfs_options ask for discard"),
        (Jfs, "", "mkfs.x -q /dev"),
    ] {
        let line = mkfs_line(fs, options, Some(SsdState::AsIs), true);
        assert!(line.contains(expected), "{fs} {options}: {line}");
    }
    // Allocated blocks stay allocated, unless discard is asked for.
    assert!(mkfs_line(Ext4, "", None, false).contains("-E nodiscard,"));
    assert!(mkfs_line(Ext4, "-E discard", None, false).contains("-E discard,"));
    assert!(!mkfs_line(Ext4, "", None, true).contains("discard"));
}

#[test]
fn nothing_is_left_for_the_kernel_to_write_after_the_mount_unless_that_is_asked_for() {
    use Filesystem::*;
    for (fs, options, expected) in [
        (Ext4, "", " -E lazy_itable_init=0,lazy_journal_init=0 /dev"),
        (Ext3, "", " -E lazy_itable_init=0,lazy_journal_init=0 /dev"),
        (
            Ext4,
            "-E lazy_itable_init -b 4096",
            " -E lazy_itable_init,lazy_journal_init=0 -b 4096 /dev",
        ),
        (
            Ext4,
            "-E stride=4 -E lazy_journal_init=1,lazy_itable_init=1",
            " -E stride=4 -E lazy_journal_init=1,lazy_itable_init=1 /dev",
        ),
    ] {
        let line = mkfs_line(fs, options, None, true);
        assert!(line.contains(expected), "{fs} {options}: {line}");
    }
    for fs in [Ext2, Xfs, Btrfs, F2fs, Jfs] {
        let line = mkfs_line(fs, "", None, true);
        assert!(!line.contains("lazy"), "{line}");
    }
}

#[test]
fn trimmed_it_is_discarded_before() {
    let on_device = Prepare {
        ssd_state: Some(SsdState::Trimmed),
        ..on_device("/dev/disk/by-id/a")
    };
    let mut facts = Facts {
        devices: vec![found(a_device(Contents::Empty), false)],
        limits: vec![Some(limits())],
        ..facts()
    };
    let plan = planned(&on_device, &facts).unwrap();
    let lines = script(&plan, "/dev/sdb");
    assert_eq!(lines[1], "/usr/sbin/wipefs --all /dev/sdb");
    assert_eq!(lines[2], "/usr/sbin/blkdiscard /dev/sdb");
    assert!(lines[3].starts_with("/usr/sbin/mkfs.x"));
    facts.limits = vec![Some(Limits {
        discard_max_bytes: Some(0),
        ..limits()
    })];
    let refusal = planned(&on_device, &facts).unwrap_err();
    assert_eq!(
        refusal.message,
        "device /dev/disk/by-id/a does not support discard"
    );
}
