use super::*;
use crate::helper::record::Record;
use crate::helper::{Filesystem, Layout};
use crate::refusal::check;
use proptest::prelude::*;

#[test]
fn requests_of_jobs() {
    let json = r#"{"storage": {"image": {"bytes": 1073741824}}, "filesystem": "xfs",
                   "mkfs_options": "-l size=128m", "mount_options": null}"#;
    let request = Request::of_job("prepare", "xfs-tuned", json).unwrap();
    let storage = Storage::Image {
        bytes: 1 << 30,
        sparse: true,
    };
    assert_eq!(
        request,
        Request::Prepare {
            target: Name::new("xfs-tuned").unwrap(),
            prepare: Box::new(Prepare {
                mkfs_options: Some("-l size=128m".into()),
                ..Prepare::new(storage, Filesystem::Xfs)
            })
        }
    );
    let json = r#"{"storage": {"device": {"path": "/dev/disk/by-id/wwn-0x5000-part1"}}, "filesystem": "ext4"}"#;
    assert!(Request::of_job("prepare", "a", json).is_ok());
    let known = json.replacen("\"}", "\", \"serial\": \"S1\", \"bytes\": 4096}", 1);
    let Ok(Request::Prepare { prepare, .. }) = Request::of_job("prepare", "a", &known) else {
        panic!("{known}");
    };
    let Storage::Device(device) = &prepare.storage else {
        panic!("{prepare:?}");
    };
    assert_eq!(device.marks().serial.as_deref(), Some("S1"));
    assert_eq!(device.marks().bytes, Some(4096));
    let again = serde_json::to_string(&prepare).unwrap();
    assert_eq!(serde_json::from_str::<Prepare>(&again).unwrap(), *prepare);
    let plan = Request::of_job("plan", "a", json).unwrap();
    assert!(matches!(plan, Request::Plan { .. }));
    assert_eq!(plan.target().map(Name::as_str), Some("a"));
    assert!(Request::of_job("release", "a", "{}").is_ok());
    let remount = Request::of_job("remount", "a", "{}").unwrap();
    assert!(matches!(remount, Request::Remount { .. }));
    assert_eq!(remount.target().map(Name::as_str), Some("a"));
    assert!(Request::of_job("remount", "../a", "{}").is_err());
    assert_eq!(Request::of_job("describe", "", "{}"), Ok(Request::Describe));
    assert_eq!(
        Request::of_job("drop_caches", "", "{}"),
        Ok(Request::DropCaches)
    );
}

#[test]
fn requests_of_power_cuts() {
    let json = r#"{"storage": {"image": {"bytes": 1073741824}}, "filesystem": "xfs",
                   "record": {"log_bytes": 67108864}}"#;
    let Ok(Request::Prepare { prepare, .. }) = Request::of_job("prepare", "a", json) else {
        panic!("{json}");
    };
    let record = Record {
        log_bytes: 64 << 20,
    };
    assert_eq!(prepare.record, Some(record));
    assert!(!prepare.is_logged());
    // Options are tried without a record.
    assert_eq!(prepare.on_trial_image().record, None);
    for (action, json) in [
        (
            "cut_stop",
            r#"{"seed": 7, "windows": [{"cuts": 300, "from_ns": 12345, "to_ns": 23456}]}"#,
        ),
        ("cut", r#"{"number": 1, "seed": 7, "entry": 9}"#),
        (
            "cut",
            r#"{"number": 1, "seed": 7, "entry": 9, "tear": "page"}"#,
        ),
        ("cut_again", "{}"),
        ("cut_end", "{}"),
        ("barriers_off", "{}"),
        ("fault", r#"{"on": "flush"}"#),
        ("fault", r#"{"on": "write", "lasting": true}"#),
    ] {
        let request = Request::of_job(action, "a", json).unwrap();
        assert_eq!(request.target().map(Name::as_str), Some("a"));
        let again = serde_json::to_string(&request).unwrap();
        assert_eq!(serde_json::from_str::<Request>(&again).unwrap(), request);
        assert!(Request::of_job(action, "../a", json).is_err(), "{action}");
    }
    for (action, json) in [
        (
            "cut_stop",
            r#"{"seed": 7, "windows": [{"cuts": 1001, "from_ns": 0, "to_ns": 1}]}"#,
        ),
        (
            "cut_stop",
            r#"{"seed": 7, "windows": [{"cuts": -1, "from_ns": 0, "to_ns": 1}]}"#,
        ),
        (
            "cut",
            r#"{"number": 1, "seed": 7, "entry": 9, "tear": "bit"}"#,
        ),
        ("cut", r#"{"number": 1, "seed": 7, "entry": 9, "x": 1}"#),
        ("fault", r#"{"on": "read"}"#),
    ] {
        let refusal = Request::of_job(action, "a", json).expect_err(json);
        check::style(&refusal);
    }
}

#[test]
fn everything_that_a_target_may_ask_for() {
    for json in [
        r#"{"storage": {"device": {"path": "/dev/disk/by-id/a"}}, "filesystem": "xfs",
            "log": {"device": {"path": "/dev/disk/by-id/b"}}, "ssd_state": "trimmed",
            "block_settings": {"scheduler": "none", "read_ahead_kb": 128, "nr_requests": 64},
            "kernel_settings": {"dirty_bytes": 268435456, "dirty_background_ratio": 5,
                                "dirty_expire_centisecs": 100, "dirty_writeback_centisecs": 50}}"#,
        r#"{"storage": {"image": {"bytes": 1073741824, "sparse": false}}, "filesystem": "ext4",
            "log": {"image": {"bytes": 134217728}}, "ssd_state": "as_is"}"#,
        r#"{"storage": {"image": {"bytes": 1073741824}}, "filesystem": "xfs",
            "log": {"devices": [{"path": "/dev/disk/by-id/b", "serial": "S"}, {"path": "/dev/disk/by-id/c"}]}}"#,
        r#"{"storage": {"image": {"bytes": 1073741824}}, "filesystem": "zfs", "log": {"devices": [{"path": "/dev/sdb1"}]}}"#,
        r#"{"storage": {"image": {"bytes": 1073741824}}, "filesystem": "ext4", "mkfs_options": "-O none,has_journal",
            "record": {"log_bytes": 4294967296}}"#,
        r#"{"storage": {"image": {"bytes": 1073741824}}, "filesystem": "ext2", "record": {"log_bytes": 67108864}}"#,
        r#"{"storage": {"image": {"bytes": 1073741824}}, "filesystem": "zfs", "mkfs_options": null,
            "pool_properties": "ashift=12", "dataset_properties": "recordsize=8K,compression=lz4"}"#,
    ] {
        let request = Request::of_job("prepare", "a", json).unwrap();
        let again = serde_json::to_string(&request).unwrap();
        assert_eq!(serde_json::from_str::<Request>(&again).unwrap(), request);
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let image = r#""storage": {"image": {"bytes": 1073741824, "sparse": false}}"#;
    let device = r#""storage": {"device": {"path": "/dev/sdb"}}"#;
    let images = r#""storage": {"images": {"count": 2, "bytes": 1073741824}}"#;
    for (storage, rest, words) in [
        (
            image,
            r#""filesystem": "btrfs", "log": {"image": {"bytes": 134217728}}"#,
            "btrfs takes no log",
        ),
        (
            image,
            r#""filesystem": "ext2", "log": {"image": {"bytes": 134217728}}"#,
            "ext2 takes no log",
        ),
        (
            image,
            r#""filesystem": "xfs", "log": {"image": {"bytes": 1048576}}"#,
            "too small",
        ),
        (
            device,
            r#""filesystem": "xfs", "log": {"device": {"path": "/dev/sdb"}}"#,
            "the log is on the device",
        ),
        (
            device,
            r#""filesystem": "xfs", "log": {"device": {"path": "/etc/passwd"}}"#,
            "invalid device path",
        ),
        (
            device,
            r#""filesystem": "zfs", "log": {"devices": [{"path": "/dev/sdc"}, {"path": "/dev/sdb"}]}"#,
            "the log is on the device",
        ),
        (
            device,
            r#""filesystem": "ext3", "log": {"devices": [{"path": "/dev/sdc"}, {"path": "/dev/../etc/passwd"}]}"#,
            "invalid device path",
        ),
        (
            device,
            r#""filesystem": "xfs", "log": {"devices": [{"path": "/dev/sdc"}, {"path": "/dev/sdc"}]}"#,
            "device \"/dev/sdc\" is given twice",
        ),
        (
            device,
            r#""filesystem": "xfs", "log": {"devices": []}"#,
            "a log on 0 devices",
        ),
        (
            device,
            r#""filesystem": "xfs", "log": {"devices": [{"path": "/dev/a"}, {"path": "/dev/b"}, {"path": "/dev/c"}, {"path": "/dev/d"}, {"path": "/dev/e"}]}"#,
            "a log on 5 devices",
        ),
        (
            image,
            r#""filesystem": "btrfs", "log": {"devices": [{"path": "/dev/sdb"}, {"path": "/dev/sdc"}]}"#,
            "btrfs takes no log",
        ),
        (
            image,
            r#""filesystem": "zfs", "log": {"image": {"bytes": 67108864}}"#,
            "too small",
        ),
        (
            image,
            r#""filesystem": "ext4", "ssd_state": "trimmed""#,
            "cannot be trimmed",
        ),
        (
            image,
            r#""filesystem": "jfs", "record": {"log_bytes": 67108864}"#,
            "cannot be recorded",
        ),
        (
            image,
            r#""filesystem": "xfs", "log": {"device": {"path": "/dev/sdb"}}, "record": {"log_bytes": 67108864}"#,
            "cannot be recorded",
        ),
        (
            device,
            r#""filesystem": "xfs", "log": {"image": {"bytes": 134217728}}, "record": {"log_bytes": 67108864}"#,
            "cannot be recorded",
        ),
        (
            device,
            r#""filesystem": "ext4", "mount_options": "noatime,barrier=0", "record": {"log_bytes": 67108864}"#,
            "cannot be recorded",
        ),
        (
            images,
            r#""filesystem": "xfs", "layout": "lvm-raid1", "record": {"log_bytes": 67108864}"#,
            "cannot be recorded",
        ),
        (
            image,
            r#""filesystem": "xfs", "record": {"log_bytes": 4096}"#,
            "too small",
        ),
        (
            image,
            r#""filesystem": "xfs", "record": {"log_bytes": 4294967297}"#,
            "too large",
        ),
        (
            image,
            r#""filesystem": "jfs", "record": {"log_bytes": 67108864}"#,
            "cannot be recorded",
        ),
        (
            image,
            r#""filesystem": "zfs", "mkfs_options": "-b 4096""#,
            "zfs takes no mkfs_options",
        ),
        (
            image,
            r#""filesystem": "zfs", "mount_options": "noatime""#,
            "zfs takes no mount_options",
        ),
        (
            image,
            r#""filesystem": "xfs", "pool_properties": "ashift=12""#,
            "xfs takes no pool_properties",
        ),
        (
            image,
            r#""filesystem": "zfs", "dataset_properties": "mountpoint=/etc""#,
            "\"mountpoint\"",
        ),
        (
            image,
            r#""filesystem": "xfs", "kernel_settings": {"dirty_ratio": 0}"#,
            "dirty_ratio = 0",
        ),
        (
            image,
            r#""filesystem": "xfs", "block_settings": {"nr_requests": 1}"#,
            "nr_requests = 1",
        ),
    ] {
        let json = format!("{{{storage}, {rest}}}");
        let refusal = Request::of_job("prepare", "a", &json).expect_err(rest);
        assert!(refusal.message.contains(words), "{refusal}");
        check::style(&refusal);
    }
}

/// A request for a new image.
fn image(bytes: u64) -> String {
    format!(r#"{{"storage": {{"image": {{"bytes": {bytes}}}}}, "filesystem": "ext4"}}"#)
}

#[test]
fn what_is_refused() {
    let device = |path: &str| {
        format!(r#"{{"storage": {{"device": {{"path": "{path}"}}}}, "filesystem": "ext4"}}"#)
    };
    for (action, target, request) in [
        ("prepare", "a", "{}".to_owned()),
        ("prepare", "a", "null".into()),
        ("prepare", "a", image(1 << 30).replace("ext4", "ntfs")),
        ("prepare", "a", image(1 << 30).replace("}}", "}, \"x\": 1}")),
        ("prepare", "a", image(1 << 20)),
        ("prepare", "a", image(u64::MAX)),
        ("prepare", "a", device("/dev/../etc/passwd")),
        ("prepare", "a", device("/etc/passwd")),
        ("prepare", "a", device("/dev//sda")),
        ("prepare", "a", device("/dev/sd a")),
        ("prepare", "a", device("/dev/sdä")),
        ("prepare", "a", device("/dev/sda\", \"serial\": \"\\n")),
        ("prepare", "a", device("/dev/sda\", \"serial\": \"")),
        ("prepare", "a", device("/dev/sda\", \"model\": \"x")),
        ("prepare", "a", " ".repeat(LONGEST_REQUEST + 1)),
        ("prepare", "../a", image(1 << 30)),
        ("plan", "a", "{}".into()),
        ("plan", "../a", image(1 << 30)),
        ("plan", "a", image(1 << 20)),
        ("release", "", "{}".into()),
        ("release", "-o", "{}".into()),
        ("release", "a b", "{}".into()),
        ("release", "a\n", "{}".into()),
        ("release", "ä", "{}".into()),
        ("release", "a'b", "{}".into()),
        ("release", &"x".repeat(64), "{}".into()),
        ("format", "a", "{}".into()),
    ] {
        let refusal = Request::of_job(action, target, &request).expect_err(&request);
        assert_eq!(refusal.kind, Kind::InvalidArgument);
        check::style(&refusal);
    }
}

proptest! {
    #[test]
    fn an_accepted_name_is_a_plain_file_name(text in "\\PC{0,3}|[a-zA-Z0-9_]{0,3}[a-z0-9./@ '\"\0\n-]{0,2}[a-z_.-]{0,3}") {
        if let Ok(name) = Name::new(text) {
            prop_assert!(!name.as_str().contains(['/', '@', ' ', '\0', '\n', '\'', '"']));
            prop_assert!(!name.as_str().starts_with(['.', '-']));
        }
    }

    #[test]
    fn an_accepted_path_stays_below_dev(text in "/dev/[a-z./ \\-]{0,12}") {
        if check_device_path(&text).is_ok() {
            prop_assert!(!text.contains("..") || text.split('/').all(|part| part != ".."));
            prop_assert!(text.starts_with("/dev/") && !text.contains(' '));
        }
    }

    #[test]
    fn never_panics(action in "prepare|plan|release|.*", target in "[a-z]{1,3}|\\PC*", at: prop::sample::Index, instead in "\\PC{0,2}") {
        // Damaged in one place.
        let mut request: Vec<char> = image(1 << 30).chars().collect();
        let at = at.index(request.len());
        request.splice(at..=at, instead.chars());
        let _ = Request::of_job(&action, &target, &request.into_iter().collect::<String>());
    }
}

#[test]
fn one_disk_can_fail_and_a_layout_hides_it() {
    let storage = Storage::Image {
        bytes: 1 << 30,
        sparse: true,
    };
    let of = |layout| Prepare {
        layout,
        ..Prepare::new(storage.clone(), Filesystem::Btrfs)
    };
    assert_eq!(of(None).check_can_fail(), Ok(()));
    for layout in [Layout::Raid1, Layout::BtrfsRaid1] {
        let refusal = of(Some(layout)).check_can_fail().unwrap_err();
        check::style(&refusal);
        assert_eq!(refusal.message, "fsync_error cannot be tried on a layout");
    }
}
