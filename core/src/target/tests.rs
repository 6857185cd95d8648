use serde_json::json;

use super::*;
use crate::refusal::check::style;

const KERNEL: &str = "6.1.0-18-amd64";

fn image() -> Row {
    Row {
        target: "x".into(),
        filesystem: Some("ext4".into()),
        image_size_bytes: Some(1 << 30),
        ..Row::default()
    }
}

fn directory() -> Row {
    Row {
        directory: Some("/mnt/x".into()),
        ..Row::default()
    }
}

#[track_caller]
fn refused(row: &Row) -> String {
    let refusal = row.check(KERNEL).expect_err("it is refused");
    style(&refusal);
    refusal.message
}

#[test]
fn one_thing_defines_a_target() {
    assert_eq!(image().check(KERNEL), Ok(Kind::Image));
    assert_eq!(directory().check(KERNEL), Ok(Kind::Directory));
    let connection = Row {
        connection: Some("service=x".into()),
        ..Row::default()
    };
    assert_eq!(connection.check(KERNEL), Ok(Kind::Connection));
    assert!(refused(&Row::default()).starts_with("a target needs"));
    let both = Row {
        device: Some("/dev/x".into()),
        ..image()
    };
    assert_eq!(refused(&both), "device and image_size exclude each other");
}

#[test]
fn of_what_is_there_already_nothing_is_made() {
    let options = Row {
        mkfs_options: Some("-m 0".into()),
        ..directory()
    };
    assert_eq!(
        refused(&options),
        "mkfs_options cannot be given with a directory"
    );
    let settings = Row {
        connection: Some("service=x".into()),
        settings: Some(json!({})),
        ..Row::default()
    };
    assert_eq!(
        refused(&settings),
        "settings cannot be given with a connection"
    );
    let own_settings = Row {
        settings: Some(json!({})),
        ..directory()
    };
    assert_eq!(own_settings.check(KERNEL), Ok(Kind::Directory));
}

#[test]
fn what_is_made_says_what_of() {
    let none = Row {
        filesystem: None,
        ..image()
    };
    assert_eq!(refused(&none), "a filesystem is needed");
    let state = Row {
        ssd_state: Some("new".into()),
        ..image()
    };
    assert_eq!(refused(&state), "invalid ssd_state \"new\"");
    let two_logs = Row {
        log_device: Some("/dev/y".into()),
        log_size_bytes: Some(1 << 26),
        ..image()
    };
    assert_eq!(
        refused(&two_logs),
        "log_device and log_size exclude each other"
    );
    let three_logs = Row {
        log_devices: Some(vec!["/dev/y".into(), "/dev/z".into()]),
        ..two_logs
    };
    assert_eq!(
        refused(&three_logs),
        "log_device and log_devices exclude each other"
    );
    let of_directory = Row {
        log_devices: Some(vec!["/dev/y".into()]),
        ..directory()
    };
    assert_eq!(
        refused(&of_directory),
        "log_devices cannot be given with a directory"
    );
    let sparse = Row {
        image_size_bytes: None,
        device: Some("/dev/x".into()),
        image_sparse: Some(true),
        ..image()
    };
    assert_eq!(
        refused(&sparse),
        "image_sparse cannot be given with a device"
    );
}

#[test]
fn settings_have_the_names_that_are_put_back() {
    for (given, message) in [
        (json!([]), "block_settings is no JSON object"),
        (json!({"x": 1}), "\"x\" is no name in block_settings"),
        (
            json!({"scheduler": 1}),
            "invalid value of \"scheduler\" in block_settings",
        ),
        (
            json!({"nr_requests": "1"}),
            "invalid value of \"nr_requests\" in block_settings",
        ),
    ] {
        let row = Row {
            block_settings: Some(given),
            ..image()
        };
        assert_eq!(refused(&row), message);
    }
    let good = Row {
        block_settings: Some(json!({"scheduler": "none", "nr_requests": 64})),
        kernel_settings: Some(json!({"dirty_bytes": 1 << 20})),
        ..image()
    };
    assert_eq!(good.check(KERNEL), Ok(Kind::Image));
}

#[test]
fn the_helper_is_asked_for_what_was_given() {
    let request = Row {
        log_device: Some("/dev/y".into()),
        log_device_identity: Some(json!({"serial": "s"})),
        ..image()
    }
    .request();
    assert_eq!(
        json!(request.expect("typed")),
        json!({
            "storage": {"image": {"bytes": 1 << 30, "sparse": true}}, "filesystem": "ext4",
            "log": {"device": {"path": "/dev/y", "serial": "s"}},
        })
    );
    let mirrored = Row {
        log_devices: Some(vec!["/dev/y".into(), "/dev/z".into()]),
        log_device_identity: Some(json!([{"serial": "s"}, {"serial": "t"}])),
        ..image()
    };
    assert_eq!(
        json!(mirrored.request().expect("typed"))["log"],
        json!({"devices": [{"path": "/dev/y", "serial": "s"}, {"path": "/dev/z", "serial": "t"}]})
    );
}

#[test]
fn several_devices_are_asked_for_with_their_layout() {
    let images = Row {
        image_count: Some(4),
        layout: Some("raid10".into()),
        layout_options: Some(json!({"chunk": "256k"})),
        ..image()
    };
    assert_eq!(images.check(KERNEL), Ok(Kind::Image));
    assert_eq!(
        json!(images.request().expect("typed")),
        json!({
            "storage": {"images": {"count": 4, "bytes": 1 << 30, "sparse": true}}, "filesystem": "ext4",
            "layout": "raid10", "layout_options": {"chunk": "256k"},
        })
    );
    let devices = Row {
        image_size_bytes: None,
        image_count: None,
        devices: Some(vec!["/dev/a".into(), "/dev/b".into()]),
        device_identity: Some(json!([{"serial": "s"}])),
        layout: Some("raid1".into()),
        layout_options: None,
        initial_sync: Some("skip".into()),
        ..images.clone()
    };
    assert_eq!(devices.check(KERNEL), Ok(Kind::Device));
    let request = json!(devices.request().expect("typed"));
    assert_eq!(
        request["storage"],
        json!({"devices": [{"path": "/dev/a", "serial": "s"}, {"path": "/dev/b"}]})
    );
    assert_eq!(request["initial_sync"], "skip");
    for (row, message) in [
        (
            Row {
                layout: None,
                layout_options: None,
                ..images.clone()
            },
            "several devices need a layout",
        ),
        (
            Row {
                layout: Some("raid7".into()),
                ..images.clone()
            },
            "unknown layout \"raid7\"",
        ),
        (
            Row {
                layout_options: Some(json!({"level": 5})),
                ..images.clone()
            },
            "layout_options cannot be read",
        ),
        (
            Row {
                image_count: Some(-1),
                ..images.clone()
            },
            "image_count -1 is out of range",
        ),
        (
            Row {
                initial_sync: Some("never".into()),
                ..images
            },
            "invalid initial_sync \"never\"",
        ),
        (
            Row {
                image_count: Some(2),
                ..devices.clone()
            },
            "image_count cannot be given with a device",
        ),
        (
            Row {
                device: Some("/dev/c".into()),
                ..devices
            },
            "device and devices exclude each other",
        ),
        (
            Row {
                layout: Some("raid1".into()),
                ..directory()
            },
            "layout cannot be given with a directory",
        ),
    ] {
        assert_eq!(refused(&row), message);
    }
}
