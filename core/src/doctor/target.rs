//! A target: whether the helper that serves can make it, told before the night.

use super::{
    filesystems,
    helper::{Description, Images, Place},
    report,
};
use crate::{
    helper::{
        Filesystem, Layout,
        layout::{self, Maker},
        line_that_allows, missing_line,
    },
    quoting,
    refusal::{Kind, Refusal, quoted},
    target::Row,
    units::format_bytes,
};

const RESTART: &str = "and, where systemd does not do that, restart pgfsbench-helper.";
const LOOK_AGAIN: &str = "SELECT * FROM fsbench.describe_devices() has the helper look again.";

/// Why it cannot be made; None where the helper has described itself as one that can. `place` is where it finds the database.
pub fn refusal(helper: &Description, target: &Row, place: &Place) -> Option<Refusal> {
    let what = target.filesystem.as_deref().and_then(|name| {
        no_filesystem(helper, name)
            .or_else(|| no_driver(helper, target))
            .or_else(|| not_allowed(helper, target))
            .or_else(|| no_place(helper, target, place))
    });
    what.map(|refusal| Refusal {
        message: format!(
            "target {} cannot be made: {}",
            quoted(&target.target),
            refusal.message
        ),
        ..refusal
    })
}

fn refused(message: String, detail: String, hint: String) -> Refusal {
    Refusal {
        kind: Kind::NotInThisState,
        message,
        detail: Some(detail),
        hint: Some(hint),
    }
}

fn no_filesystem(helper: &Description, name: &str) -> Option<Refusal> {
    // A helper that has told nothing of filesystems is an old one.
    let seen = (helper.filesystems.iter()).find(|ready| ready.filesystem == name)?;
    let lines = filesystems::check(&filesystems::Facts {
        seen: std::slice::from_ref(seen),
        known: "",
        modules: "",
        program: &|_| None,
    });
    let line = lines.into_iter().find(|line| line.item == name)?;
    let is_there = seen.program.is_some() && seen.kernel != "no";
    let message = match is_there {
        true => format!("the helper's configuration does not allow {name}"),
        false => format!("this machine has no {name}"),
    };
    (line.state != report::OK).then(|| {
        refused(
            message,
            format!(
                "The helper sees: {}.",
                line.detail.as_deref().unwrap_or("nothing of it")
            ),
            match (line.hint.unwrap_or_default(), is_there) {
                // The hint of the helper's configuration has the restart already.
                (hint, true) => hint,
                (hint, false) => format!("{hint} Then restart pgfsbench-helper."),
            },
        )
    })
}

/// Why a layout cannot be made, that of the log included: the machine lacks the kernel's driver, or its program.
fn no_driver(helper: &Description, target: &Row) -> Option<Refusal> {
    let layout = target.layout.as_deref();
    let layout = layout.and_then(|name| Layout::of_name(name).ok());
    let filesystem = target.filesystem.as_deref();
    let of_log = filesystem.and_then(|name| {
        let devices = target.log_devices.as_ref().map_or(0, Vec::len);
        layout::of_log(Filesystem::of_name(name).ok()?, devices)
    });
    layout.into_iter().chain(of_log).find_map(|layout| {
        let driver = match layout.maker() {
            Maker::Md => "md",
            Maker::Lvm => "lvm",
            Maker::Btrfs | Maker::Zfs => return None,
        };
        let missing = helper.no_layouts.get(driver)?;
        Some(refused(
            format!("this machine makes no layout {}", quoted(layout.name())),
            format!("The helper says: {}.", missing.why_not),
            missing.hint.clone().unwrap_or_default(),
        ))
    })
}

fn not_allowed(helper: &Description, target: &Row) -> Option<Refusal> {
    let has_kernel_settings = target.kernel_settings.is_some();
    let name = missing_line(
        has_kernel_settings,
        target.drop_caches,
        &helper.not_allowed(),
    )?;
    Some(refused(
        format!("the helper's configuration does not allow {name}"),
        "The helper does only what root has allowed.".into(),
        format!(
            "Have root add to the helper's configuration {}.",
            line_that_allows(name)
        ),
    ))
}

fn no_place(helper: &Description, target: &Row, place: &Place) -> Option<Refusal> {
    let images = target
        .image_size_bytes
        .unwrap_or(0)
        .saturating_mul(target.members() as u64);
    let needed = images.saturating_add(target.log_size_bytes.unwrap_or(0));
    let of_devices = [&target.device, &target.log_device];
    let members = target.devices.iter().chain(&target.log_devices).flatten();
    (of_devices.into_iter().flatten().chain(members))
        .find_map(|path| no_device(helper, path, place))
        .or_else(|| match needed {
            0 => None,
            needed => no_room(helper, needed, place),
        })
}

fn no_device(helper: &Description, path: &str, place: &Place) -> Option<Refusal> {
    let Some(device) = helper.devices.iter().find(|device| device.path == path) else {
        return Some(refused(
            format!(
                "the helper's configuration does not name device {}",
                quoted(path)
            ),
            "The helper erases only devices that root has named, by the same path.".into(),
            format!(
                "Have root run: pgfsbench-helper setup{} --allow-device={}; {RESTART}",
                place.setup_options(),
                quoting::shell(path)
            ),
        ));
    };
    // While a target is prepared, the contents of the device may be a run's.
    let is_idle = helper.prepared.is_empty();
    (is_idle && !device.usable).then(|| {
        refused(
            format!("device {} cannot be used", quoted(path)),
            device.why_not.clone().unwrap_or_default(),
            [device.hint.as_deref(), Some(LOOK_AGAIN)]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(" "),
        )
    })
}

/// An image takes its whole room, sparse or not.
fn no_room(helper: &Description, needed: u64, place: &Place) -> Option<Refusal> {
    if helper.images.is_empty() {
        return Some(refused(
            "the helper's configuration allows no images".into(),
            "It names no directory for them.".into(),
            format!(
                "Have root run: pgfsbench-helper setup{} --allow-images=DIRECTORY --max=SIZE; {RESTART}",
                place.setup_options()
            ),
        ));
    }
    if !helper.loop_devices {
        return Some(refused(
            "this machine has no loop devices".into(),
            "An image is attached to one.".into(),
            "Load the kernel module loop, or give a device.".into(),
        ));
    }
    let is_idle = helper.prepared.is_empty();
    let fits = |images: &Images| {
        let is_allowed = images.max_bytes.is_none_or(|most| needed <= most);
        let has_room = images.free_bytes.is_none_or(|free| needed <= free);
        images.why_not.is_none() && is_allowed && (has_room || !is_idle)
    };
    if helper.images.iter().any(fits) {
        return None;
    }
    let says = |images: &Images| {
        let directory = images.directory.as_deref().unwrap_or("a directory");
        match (&images.why_not, images.max_bytes, images.free_bytes) {
            (Some(why), ..) => format!("{directory}: {why}"),
            (None, Some(most), Some(free)) => format!(
                "{directory}: {} are allowed for all images together, {} are free",
                format_bytes(most),
                format_bytes(free)
            ),
            _ => format!("{directory}: not known"),
        }
    };
    let places: Vec<String> = helper.images.iter().map(says).collect();
    Some(refused(
        format!("there is no place for an image of {}", format_bytes(needed)),
        format!("{}.", places.join("; ")),
        format!(
            "Give a smaller image_size, make room, or have root raise max_bytes in the helper's configuration and restart it. {LOOK_AGAIN}"
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn helper(more: &Value) -> Description {
        let mut all = json!({
            "loop_devices": true, "kernel_settings": false, "drop_caches": false,
            "filesystems": [
                {"filesystem": "ext4", "allowed": true, "kernel": "yes", "program": "/sbin/mkfs.ext4", "version": "1.47", "package": "e2fsprogs"},
                {"filesystem": "xfs", "allowed": true, "kernel": "yes", "program": null, "version": null, "package": "xfsprogs"},
                {"filesystem": "jfs", "allowed": true, "kernel": "no", "program": null, "version": null, "package": "jfsutils"},
            ],
            "images": [{"directory": "/images", "max_bytes": 16_u64 << 30, "used_bytes": 0, "free_bytes": 8_u64 << 30}],
            "devices": [
                {"path": "/dev/disk/by-id/good", "usable": true},
                {"path": "/dev/disk/by-id/full", "usable": false, "why_not": "it holds ext4", "hint": "Set wipe = true."},
            ],
        });
        for (name, value) in more.as_object().unwrap() {
            all[name] = value.clone();
        }
        serde_json::from_value(all).unwrap()
    }

    fn bench() -> Place {
        Place("bench".into(), "5433".into(), "/run/postgresql".into())
    }

    fn row(what: &Value) -> Row {
        let mut row = json!({"target": "t", "filesystem": "ext4"});
        for (name, value) in what.as_object().unwrap() {
            row[name] = value.clone();
        }
        serde_json::from_value(row).unwrap()
    }

    #[test]
    fn a_layout_without_its_driver_is_told() {
        let more = json!({"no_layouts": {"md": {"why_not": "mdadm is not installed", "hint": "Install the package mdadm."}}});
        let of =
            |layout: &str| json!({"image_size_bytes": 1 << 20, "image_count": 4, "layout": layout});
        let (message, hint) = said(&more, &of("raid10")).unwrap();
        assert!(
            message.ends_with("this machine makes no layout \"raid10\""),
            "{message}"
        );
        assert_eq!(hint, "Install the package mdadm.");
        assert_eq!(said(&more, &of("lvm-stripe")), None);
        let paths = ["/dev/disk/by-id/good", "/dev/disk/by-id/good"];
        let mirrored = json!({"image_size_bytes": 1 << 20, "log_devices": paths});
        let (message, _) = said(&more, &mirrored).unwrap();
        assert!(
            message.ends_with("this machine makes no layout \"raid1\""),
            "{message}"
        );
        assert_eq!(said(&more, &of("btrfs-raid1")), None);
    }

    /// The message, and the hint.
    fn said(more: &Value, what: &Value) -> Option<(String, String)> {
        let refusal = refusal(&helper(more), &row(what), &bench())?;
        assert!(refusal.detail.is_some());
        let message = refusal.message;
        let message = message.strip_prefix("target \"t\" cannot be made: ");
        Some((message.unwrap().to_owned(), refusal.hint.unwrap()))
    }

    #[test]
    fn what_can_be_made_is_not_refused() {
        let as_it_is = json!({});
        assert_eq!(
            said(&as_it_is, &json!({"image_size_bytes": 8_u64 << 30})),
            None
        );
        assert_eq!(
            said(&as_it_is, &json!({"device": "/dev/disk/by-id/good"})),
            None
        );
        // One usable directory of images is enough.
        let places = json!({"images": [{"directory": "/a", "why_not": "gone"}, {"directory": "/b", "max_bytes": 1_u64 << 40, "free_bytes": 1_u64 << 40}]});
        assert_eq!(
            said(&places, &json!({"image_size_bytes": 1_u64 << 39})),
            None
        );
        // A directory is not made, and needs no helper.
        let directory: Row =
            serde_json::from_value(json!({"target": "t", "directory": "/x"})).unwrap();
        assert_eq!(refusal(&helper(&as_it_is), &directory, &bench()), None);
    }

    #[test]
    fn what_a_run_has_made_there_is_nobody_elses() {
        let on = json!({"prepared": [{"target": "x", "mount_point": "/m"}]});
        assert_eq!(said(&on, &json!({"device": "/dev/disk/by-id/full"})), None);
        assert_eq!(said(&on, &json!({"image_size_bytes": 12_u64 << 30})), None);
    }

    #[test]
    fn each_thing_that_is_missing_is_named_with_its_remedy() {
        let image = json!({"image_size_bytes": 1_u64 << 30});
        let with = |name: &str, value: Value| {
            let mut what = image.clone();
            what[name] = value;
            what
        };
        let forbidden = json!({"filesystems": [{"filesystem": "ext4", "allowed": false, "kernel": "yes", "program": "/sbin/mkfs.ext4", "version": "1.47", "package": "e2fsprogs"}]});
        for (more, what, message, hint) in [
            (
                forbidden,
                image.clone(),
                "the helper's configuration does not allow ext4",
                "Add it to filesystems",
            ),
            (
                json!({}),
                with("filesystem", json!("xfs")),
                "this machine has no xfs",
                "apt-get install xfsprogs",
            ),
            (
                json!({}),
                with("filesystem", json!("jfs")),
                "this machine has no jfs",
                "Use a kernel that has it",
            ),
            (
                json!({}),
                with("kernel_settings", json!({"dirty_bytes": 1})),
                "the helper's configuration does not allow kernel_settings",
                "kernel_settings = true",
            ),
            (
                json!({}),
                with("drop_caches", json!(true)),
                "the helper's configuration does not allow drop_caches",
                "drop_caches = true",
            ),
            (
                json!({"images": []}),
                image.clone(),
                "the helper's configuration allows no images",
                "--database=bench --port=5433 --allow-images=DIRECTORY",
            ),
            (
                json!({"loop_devices": false}),
                image.clone(),
                "this machine has no loop devices",
                "module loop",
            ),
            (
                json!({}),
                json!({"image_size_bytes": 12_u64 << 30}),
                "there is no place for an image of 12 GB",
                "describe_devices()",
            ),
            (
                json!({}),
                json!({"image_size_bytes": 17_u64 << 30}),
                "there is no place for an image of 17 GB",
                "raise max_bytes",
            ),
            (
                json!({}),
                json!({"device": "/dev/sdx"}),
                "the helper's configuration does not name device \"/dev/sdx\"",
                "setup --database=bench --port=5433 --allow-device=/dev/sdx",
            ),
            (
                json!({}),
                json!({"device": "/dev/disk/by-id/full"}),
                "device \"/dev/disk/by-id/full\" cannot be used",
                "Set wipe = true. SELECT",
            ),
            (
                json!({}),
                json!({"device": "/dev/disk/by-id/good", "log_device": "/dev/sdy"}),
                "the helper's configuration does not name device \"/dev/sdy\"",
                "--allow-device=/dev/sdy",
            ),
            (
                json!({}),
                json!({"device": "/dev/disk/by-id/good", "log_devices": ["/dev/sdy", "/dev/sdz"]}),
                "the helper's configuration does not name device \"/dev/sdy\"",
                "--allow-device=/dev/sdy",
            ),
        ] {
            let (said, remedy) = said(&more, &what).unwrap();
            assert_eq!(said, message);
            assert!(remedy.contains(hint), "{remedy}");
            // Once is enough.
            assert!(remedy.matches("restart").count() < 2, "{remedy}");
        }
    }
}
