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
        request,
        json!({
            "storage": {"image": {"bytes": 1 << 30, "sparse": true}}, "filesystem": "ext4",
            "log": {"device": {"path": "/dev/y", "serial": "s"}},
        })
    );
}
