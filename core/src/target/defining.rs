//! `create_target` and `alter_target`: the name of a target, arguments that are taken back, and what is said of one that is recorded.

use serde_json::{Map, Value};

use super::{
    Kind, Row,
    device::Device,
    parameter::{self, FOUND_OUT},
};
use crate::{
    refusal::{Refusal, quoted},
    units::format_bytes,
};

const LONGEST_NAME: usize = 63;

/// Refuses what is no name of a target: names of files and directories are made of it.
pub fn check_name(name: &str) -> Result<(), Refusal> {
    let first = |c: char| c.is_ascii_alphanumeric();
    let further = |c: char| first(c) || "_.+-".contains(c);
    if name.starts_with(first) && name.chars().all(further) && name.len() <= LONGEST_NAME {
        return Ok(());
    }
    Err(Refusal::argument(format!("{} is no name of a target", quoted(name)))
        .detail("Names begin with a letter or a digit, and consist of letters, digits and _ . + - (ASCII), 63 at most.")
        .hint("Use a name like \"xfs-tuned\"."))
}

/// Makes the column of an argument NULL again.
pub fn take_back(columns: &mut Map<String, Value>, argument: &str) -> Result<(), Refusal> {
    let column = parameter::named(argument).map_or(argument, |parameter| parameter.column);
    if !columns.contains_key(column) || FOUND_OUT.contains(&column) {
        return Err(Refusal::argument(format!(
            "{} is no argument that can be reset",
            quoted(argument)
        ))
        .detail("The argument reset takes names of arguments of fsbench.create_target().")
        .hint("See the columns of fsbench.target."));
    }
    let was = columns.insert(column.into(), Value::Null);
    // Another parameter may have the devices to which the identity belongs.
    if was.is_none_or(|was| was.is_null()) {
        return Ok(());
    }
    let identity = match column {
        "device" | "devices" => "device_identity",
        "log_device" | "log_devices" => "log_device_identity",
        _ => return Ok(()),
    };
    columns.insert(identity.into(), Value::Null);
    Ok(())
}

/// The recorded definition, and the next steps of a run there. `device` has the facts about its device.
pub fn recorded(row: &Row, kind: Kind, device: Option<&Device>) -> (String, String) {
    let filesystem = row.filesystem.as_deref().unwrap_or("");
    let (what, hint) = match kind {
        Kind::Directory => (
            format!(
                "directory {}",
                quoted(row.directory.as_deref().unwrap_or(""))
            ),
            "Nothing is written yet. Each run puts a server of its own there, and removes it again.",
        ),
        Kind::Connection => (
            "another server".to_owned(),
            "It is not asked yet. Runs are carried out by that server, in its own data directory; it needs pgfsbench of the same version.",
        ),
        Kind::Image => (
            match (row.layout.as_deref(), row.members()) {
                (Some(layout), count) => format!(
                    "{filesystem} on {layout} of {count} images of {}",
                    format_bytes(row.image_size_bytes.unwrap_or(0))
                ),
                (None, _) => format!(
                    "{filesystem} on an image of {}",
                    format_bytes(row.image_size_bytes.unwrap_or(0))
                ),
            },
            "Nothing is made yet. Each run has pgfsbench-helper make it, and remove it again.",
        ),
        Kind::Device if row.devices.is_some() => (
            format!(
                "{filesystem} on {} of {} devices",
                row.layout.as_deref().unwrap_or("one"),
                row.members()
            ),
            "Nothing is written yet. A run erases all of these devices, if the configuration of pgfsbench-helper allows each; SELECT * FROM fsbench.describe_devices() looks again.",
        ),
        Kind::Device => (
            format!(
                "{filesystem} on device {} ({})",
                quoted(row.device.as_deref().unwrap_or("")),
                device.map_or_else(not_seen, Device::in_words)
            ),
            match device.is_some_and(|device| device.usable) {
                true => "Nothing is written yet. The first run erases the device.",
                false => {
                    "Nothing is written yet. A run erases the device, if the configuration of pgfsbench-helper allows that; SELECT * FROM fsbench.describe_devices() looks again."
                }
            },
        ),
    };
    let log = external_log(row).unwrap_or_default();
    let inside = inside_log(row).unwrap_or_default();
    (
        format!("target {} is recorded: {what}{log}", quoted(&row.target)),
        format!("{hint}{inside}"),
    )
}

/// The external log of a filesystem, in words.
fn external_log(row: &Row) -> Option<String> {
    let on_file = |bytes| {
        format!(
            ", with an external log of {} on a file of its own",
            format_bytes(bytes)
        )
    };
    let on_device = |path: &str| format!(", with an external log on device {}", quoted(path));
    let on_devices = |paths: &Vec<String>| match &paths[..] {
        [path] => on_device(path),
        several => format!(
            ", with an external log on {} devices, each of which holds all of it",
            several.len()
        ),
    };
    let file = row.log_size_bytes.map(on_file);
    let device = row.log_device.as_deref().map(on_device);
    file.or(device).or(row.log_devices.as_ref().map(on_devices))
}

/// Where the size of the log inside a filesystem is set, for a caller who may have meant that by log_size.
fn inside_log(row: &Row) -> Option<&'static str> {
    row.log_size_bytes?;
    Some(match row.filesystem.as_deref() {
        Some("xfs") => {
            " The size of a log inside the filesystem is set by mkfs_options => '-l size=64m'."
        }
        Some("zfs") => return None,
        _ => " The size of a journal inside the filesystem is set by mkfs_options => '-J size=64'.",
    })
}

fn not_seen() -> String {
    "not seen yet: what it is and holds is known when pgfsbench-helper, whose configuration has to name it, has looked at it".into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::check::style;
    use serde_json::to_value;

    #[test]
    fn log_size_is_said_to_be_an_external_log() {
        let mut row = Row {
            target: "t".into(),
            filesystem: Some("xfs".into()),
            image_size_bytes: Some(8 << 30),
            ..Row::default()
        };
        let said = |row: &Row| recorded(row, Kind::Image, None);
        assert!(!said(&row).0.contains("log") && !said(&row).1.contains("log"));
        row.log_size_bytes = Some(64 << 20);
        let (message, hint) = said(&row);
        let words =
            "xfs on an image of 8192 MB, with an external log of 64 MB on a file of its own";
        assert!(message.ends_with(words), "{message}");
        assert!(hint.ends_with("mkfs_options => '-l size=64m'."), "{hint}");
        row.filesystem = Some("ext4".into());
        assert!(said(&row).1.ends_with("mkfs_options => '-J size=64'."));
        row.log_size_bytes = None;
        row.log_device = Some("/dev/x".into());
        let (message, hint) = said(&row);
        assert!(message.ends_with("with an external log on device \"/dev/x\""));
        let mirrored = Row {
            log_device: None,
            log_devices: Some(vec!["/dev/x".into(), "/dev/y".into()]),
            ..row.clone()
        };
        assert!(
            said(&mirrored)
                .0
                .ends_with("with an external log on 2 devices, each of which holds all of it")
        );
        assert!(!hint.contains("mkfs_options"), "{hint}");
    }

    #[test]
    fn names_are_fit_for_files() {
        let longest = "x".repeat(LONGEST_NAME);
        for name in ["a", "9", "xfs-tuned", "a_b.c+d-2", &longest] {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
        let longer = "x".repeat(LONGEST_NAME + 1);
        for name in ["", ".", "..", "-a", "a/b", "a b", "a\n", "ä", &longer] {
            style(&check_name(name).expect_err(name));
        }
    }

    #[test]
    fn what_an_argument_gave_is_taken_back() {
        let row = Row {
            device: Some("/dev/x".into()),
            device_identity: Some(Value::from(1)),
            image_size_bytes: Some(1),
            ..Row::default()
        };
        let Value::Object(all) = to_value(row).unwrap() else {
            panic!("a row is an object")
        };
        let mut columns = all.clone();
        take_back(&mut columns, "device").unwrap();
        assert!(columns["device"].is_null() && columns["device_identity"].is_null());
        columns.insert("log_devices".into(), Value::from(["/dev/y"].as_slice()));
        columns.insert("log_device_identity".into(), Value::from(2));
        take_back(&mut columns, "log_device").unwrap();
        assert_eq!(columns["log_device_identity"], 2, "that of the log_devices");
        take_back(&mut columns, "log_devices").unwrap();
        assert!(columns["log_devices"].is_null() && columns["log_device_identity"].is_null());
        take_back(&mut columns, "image_size").unwrap();
        assert!(columns["image_size_bytes"].is_null());
        for argument in ["target", "mount_point", "device_identity", "nothing"] {
            let mut columns = all.clone();
            style(&take_back(&mut columns, argument).unwrap_err());
            assert_eq!(columns, all);
        }
    }

    #[test]
    fn each_kind_says_what_a_run_does_there() {
        let row = Row {
            target: "t".into(),
            filesystem: Some("xfs".into()),
            device: Some("/dev/x".into()),
            image_size_bytes: Some(1 << 31),
            directory: Some("/d".into()),
            ..Row::default()
        };
        let device = Device {
            usable: true,
            ..Device::default()
        };
        let said = |kind, device| recorded(&row, kind, device);
        let (what, hint) = said(Kind::Device, Some(&device));
        assert!(what.starts_with("target \"t\" is recorded: xfs on device \"/dev/x\" ("));
        assert!(hint.ends_with("The first run erases the device."));
        let (what, hint) = said(Kind::Device, None);
        assert!(what.contains("not seen yet") && hint.contains("describe_devices()"));
        let (what, _) = said(Kind::Image, None);
        assert_eq!(what, "target \"t\" is recorded: xfs on an image of 2048 MB");
        let array = Row {
            device: None,
            devices: Some(vec!["/dev/x".into(), "/dev/y".into()]),
            image_count: Some(2),
            layout: Some("raid1".into()),
            ..row.clone()
        };
        let (what, _) = recorded(&array, Kind::Image, None);
        assert!(
            what.ends_with(": xfs on raid1 of 2 images of 2048 MB"),
            "{what}"
        );
        let (what, hint) = recorded(&array, Kind::Device, None);
        assert!(what.ends_with(": xfs on raid1 of 2 devices"), "{what}");
        assert!(hint.contains("erases all of these devices"));
        let (what, _) = said(Kind::Directory, None);
        assert!(what.ends_with("directory \"/d\""));
        let (what, hint) = said(Kind::Connection, None);
        assert!(what.ends_with("another server") && hint.starts_with("It is not asked yet."));
    }
}
