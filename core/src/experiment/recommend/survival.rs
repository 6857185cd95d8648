//! Failures of devices that a target's layout survives: by its definition, and by the layers below its filesystem where these were seen.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::{Facts, layout_options_of};
use crate::{
    helper::{
        Layout,
        layout::{MOST_LOGS, Maker},
    },
    sys::{Layer, LayerKind, failures_of_profile},
    texts::recommend::survives::{Failures, Log, Survival},
};

/// The failures that a target survives whose layout is over this number of devices.
pub fn of(f: &Facts, layout: Layout, members: usize) -> Survival {
    // A row that was forged may hold anything.
    let layers = f.layers.as_ref();
    let layers = layers.and_then(|layers| Vec::<Layer>::deserialize(layers).ok());
    let layers = layers.unwrap_or_default();
    Survival {
        layout: layout.name(),
        members,
        failures: failures(f, layout, members, &layers),
        most_on_one: most_on_one(layout, members, &layers),
        log: log(f),
    }
}

fn failures(f: &Facts, layout: Layout, members: usize, layers: &[Layer]) -> Failures {
    let Some(options) = layout_options_of(f, layout) else {
        return Failures::NotKnown;
    };
    let by_layout = layout.survives_with(&options, members);
    if by_layout == 0 {
        return Failures::Any(0);
    }
    let array = array_of(layout, layers);
    match layout.maker() {
        Maker::Md => {
            let level = array.and_then(|(array, _)| array.level.as_deref());
            match level.is_none_or(|level| level == layout.word()) {
                true => Failures::Any(by_layout),
                false => Failures::NotKnown,
            }
        }
        Maker::Btrfs => array.map_or(Failures::NotKnown, |(array, _)| of_btrfs(array, by_layout)),
        Maker::Lvm | Maker::Zfs => Failures::Any(by_layout),
    }
}

/// Failures that data and metadata of a btrfs both survive, but no more than the layout does.
fn of_btrfs(array: &Layer, by_layout: usize) -> Failures {
    let mut fewest = by_layout;
    let of_each = [
        ("data", array.level.as_deref()),
        ("metadata", array.array.metadata_level.as_deref()),
    ];
    for (blocks, profile) in of_each {
        let Some(profile) = profile else {
            return Failures::NotKnown;
        };
        match failures_of_profile(profile) {
            None => return Failures::NotKnown,
            Some(0) => {
                return Failures::Profile {
                    blocks,
                    profile: profile.to_owned(),
                };
            }
            Some(failures) => fewest = fewest.min(failures),
        }
    }
    Failures::Any(fewest)
}

/// The array that a layout of md, LVM or btrfs is, and the layers below it.
fn array_of(layout: Layout, layers: &[Layer]) -> Option<(&Layer, &[Layer])> {
    let kind = match layout.maker() {
        Maker::Md => LayerKind::Md,
        Maker::Lvm => LayerKind::Lvm,
        Maker::Btrfs => LayerKind::Btrfs,
        Maker::Zfs => return None,
    };
    let place = layers.iter().position(|layer| layer.kind == kind)?;
    let (array, rest) = (&layers[place], &layers[place + 1..]);
    let deeper = rest.iter().take_while(|below| below.depth > array.depth);
    Some((array, &rest[..deeper.count()]))
}

/// Most members that one disk or array below them may hold. None where not all members were seen.
fn most_on_one(layout: Layout, members: usize, layers: &[Layer]) -> Option<usize> {
    let (first, below) = match array_of(layout, layers) {
        // Between a volume and its members are the volumes that LVM makes for each of them.
        Some((array, below)) if layout.maker() == Maker::Lvm => {
            (array.depth.saturating_add(2), below)
        }
        Some((array, below)) => (array.depth.saturating_add(1), below),
        // A pool is no layer.
        None if layout.maker() == Maker::Zfs => (0, layers),
        None => return None,
    };
    // A member shares a device if it or a layer below it lies on one that stands below an earlier layer.
    let mut shares: Vec<bool> = Vec::new();
    let mut listed = BTreeSet::new();
    for layer in below.iter().filter(|layer| layer.depth >= first) {
        if layer.depth == first {
            shares.push(false);
        }
        // Version 1.0.0 lists a device below each member of a pool.
        let device = layer.device.as_deref();
        let is_again = device.is_some_and(|device| !listed.insert(device));
        let member = shares.last_mut()?;
        *member |= layer.shares_devices || is_again;
    }
    let is_seen = shares.len() == members && below.iter().all(is_seen);
    is_seen.then(|| 1 + shares.iter().filter(|shares| **shares).count())
}

fn is_seen(layer: &Layer) -> bool {
    layer.kind != LayerKind::Unknown
}

fn log(f: &Facts) -> Log {
    let devices = f
        .log_devices
        .and_then(|devices| usize::try_from(devices).ok());
    let is_zfs = f.filesystem.as_deref() == Some("zfs");
    match devices {
        Some(devices @ 2..=MOST_LOGS) => Log::Mirror(devices),
        None | Some(0) if !f.has_log_device => Log::Inside,
        _ if is_zfs => Log::OneDeviceOfPool,
        _ => Log::OneDevice,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{sys::Recorded, texts::recommend::survives::survives};
    use serde_json::{Value, json};

    fn facts(fields: Value) -> Facts {
        serde_json::from_value(fields).unwrap()
    }

    /// The failures that a layout over these members survives on these layers.
    fn says(layout: Layout, members: usize, fields: Value) -> String {
        let says = survives("t", &of(&facts(fields), layout, members));
        says.strip_prefix("t: ").unwrap().to_owned()
    }

    fn layer(depth: usize, kind: &str, device: &str) -> Value {
        json!({"depth": depth, "kind": kind, "name": device, "device": device})
    }

    fn sharing(layer: Value) -> Value {
        let mut layer = layer;
        layer["shares_devices"] = json!(true);
        layer
    }

    /// Layers of an array over two partitions, which are on one disk or on two.
    fn over_partitions(array: Value, on_one_disk: bool) -> Value {
        let (first, disk) = (layer(1, "partition", "8:1"), layer(2, "disk", "8:0"));
        match on_one_disk {
            true => json!([array, first, disk, sharing(layer(1, "partition", "8:2"))]),
            false => json!([
                array,
                first,
                disk,
                layer(1, "partition", "8:17"),
                layer(2, "disk", "8:16")
            ]),
        }
    }

    fn md(level: &str) -> Value {
        let mut md = layer(0, "md", "9:127");
        md["level"] = json!(level);
        md
    }

    fn btrfs(data: &str, metadata: Option<&str>) -> Value {
        let mut array = json!({"depth": 0, "kind": "btrfs", "name": "btrfs", "level": data});
        if let Some(metadata) = metadata {
            array["metadata_level"] = json!(metadata);
        }
        array
    }

    #[test]
    fn the_profile_of_metadata_counts_as_that_of_data() {
        let says = |data: &str, metadata: Option<&str>| {
            let layers = over_partitions(btrfs(data, metadata), false);
            says(Layout::BtrfsRaid1, 2, json!({"layers": layers}))
        };
        const BEGIN: &str = "btrfs-raid1 over 2 devices";
        let mirrored = format!("{BEGIN}, any 1 of which may fail");
        assert_eq!(says("raid1", Some("raid1")), mirrored);
        assert_eq!(says("raid1", Some("raid1c3")), mirrored);
        for weak in ["single", "dup", "raid0", "single+raid1"] {
            assert_eq!(
                says("raid1", Some(weak)),
                format!(
                    "{BEGIN}, with metadata of profile {weak}: the failure of one may lose the data"
                )
            );
        }
        assert_eq!(
            says("single+raid1", Some("raid1")),
            format!(
                "{BEGIN}, with data of profile single+raid1: the failure of one may lose the data"
            )
        );
        let not_known = format!("{BEGIN}; whether one may fail is not known");
        assert_eq!(says("raid1", None), not_known);
        assert_eq!(says("raid1", Some("raid9")), not_known);
        // A layout that loses data with any device says so without layers.
        assert_eq!(
            self::says(Layout::BtrfsRaid0, 2, json!({})),
            "btrfs-raid0 over 2 devices, and the failure of any one loses the data"
        );
        assert_eq!(self::says(Layout::BtrfsRaid1, 2, json!({})), not_known);
    }

    #[test]
    fn copies_and_the_level_in_the_kernel_count() {
        let says = |level: &str, options: Value| {
            let layers = over_partitions(md(level), false);
            let fields = json!({"layers": layers, "layout_options": options});
            says(Layout::Raid10, 2, fields)
        };
        const BEGIN: &str = "raid10 over 2 devices";
        let one = format!("{BEGIN}, any 1 of which may fail");
        assert_eq!(says("raid10", json!(null)), one);
        assert_eq!(says("raid10", json!({"copies": "f2"})), one);
        let not_known = format!("{BEGIN}; whether one may fail is not known");
        assert_eq!(says("raid0", json!({})), not_known);
        // Forged.
        assert_eq!(says("raid10", json!({"copies": "n99"})), not_known);
        assert_eq!(says("raid10", json!(7)), not_known);
        let copies = json!({"layout_options": {"copies": "n3"}, "layers": "?"});
        assert_eq!(
            self::says(Layout::Raid10, 4, copies),
            "raid10 over 4 devices, any 2 of which may fail if they share no disk"
        );
    }

    #[test]
    fn members_on_one_disk_are_named() {
        let says = |on_one_disk| {
            let layers = over_partitions(md("raid1"), on_one_disk);
            says(Layout::Raid1, 2, json!({"layers": layers}))
        };
        const BEGIN: &str = "raid1 over 2 devices, any 1 of which may fail";
        assert_eq!(says(false), BEGIN);
        let shared =
            format!("{BEGIN}; some are on one disk or array, whose failure takes up to 2 of them");
        assert_eq!(says(true), shared);
        // A member that was not seen.
        let mut layers = over_partitions(md("raid1"), false);
        let not_known = format!("{BEGIN} if they share no disk");
        layers.as_array_mut().unwrap().truncate(3);
        assert_eq!(
            self::says(Layout::Raid1, 2, json!({"layers": layers})),
            not_known
        );
        let hidden = json!([
            md("raid1"),
            layer(1, "loop", "7:1"),
            {"depth": 2, "kind": "unknown", "name": "the file of a loop device"},
            layer(1, "loop", "7:2"),
        ]);
        assert_eq!(
            self::says(Layout::Raid1, 2, json!({"layers": hidden})),
            not_known
        );
    }

    #[test]
    fn each_member_of_a_volume_has_two_volumes() {
        let volume = |number: usize| layer(1, "lvm", &format!("253:{number}"));
        let says = |second: Value, more: Vec<Value>| {
            let mut layers = vec![
                layer(0, "lvm", "253:4"),
                volume(0),
                layer(2, "partition", "8:1"),
                layer(3, "disk", "8:0"),
                sharing(volume(1)),
                volume(2),
                second,
            ];
            layers.extend(more);
            layers.push(sharing(volume(3)));
            says(Layout::LvmRaid1, 2, json!({"layers": layers}))
        };
        const BEGIN: &str = "lvm-raid1 over 2 devices, any 1 of which may fail";
        let other = vec![layer(3, "disk", "8:16")];
        assert_eq!(says(layer(2, "partition", "8:17"), other), BEGIN);
        let shared =
            format!("{BEGIN}; some are on one disk or array, whose failure takes up to 2 of them");
        let second = sharing(layer(2, "partition", "8:2"));
        assert_eq!(says(second, vec![]), shared);
    }

    #[test]
    fn members_of_a_pool_are_listed_each_with_its_own_layers() {
        let says = |second: Value, more: Vec<Value>| {
            let mut layers = vec![
                layer(0, "partition", "8:1"),
                layer(1, "disk", "8:0"),
                second,
            ];
            layers.extend(more);
            let fields = json!({"filesystem": "zfs", "layers": layers, "has_log_device": true});
            says(Layout::ZfsMirror, 2, fields)
        };
        const BEGIN: &str = "zfs-mirror over 2 devices, any 1 of which may fail";
        const LOG: &str = "; the failure of its log's device and a crash together lose commits";
        let second = || layer(0, "partition", "8:2");
        let on = |disk: &str| vec![layer(1, "disk", disk)];
        assert_eq!(says(second(), on("8:16")), format!("{BEGIN}{LOG}"));
        let shared = format!(
            "{BEGIN}; some are on one disk or array, whose failure takes up to 2 of them{LOG}"
        );
        assert_eq!(says(sharing(second()), vec![]), shared);
        // Version 1.0.0.
        assert_eq!(says(second(), on("8:0")), shared);
        let hidden = json!({"depth": 0, "kind": "unknown", "name": "a device of the target"});
        let not_known = format!("{BEGIN} if they share no disk{LOG}");
        assert_eq!(says(hidden, vec![]), not_known);
        assert_eq!(
            self::says(Layout::ZfsMirror, 2, json!({"filesystem": "zfs"})),
            format!("{BEGIN} if they share no disk")
        );
    }

    #[test]
    fn the_device_of_a_log_is_named() {
        let says = |fields: Value| {
            let mut fields = fields;
            fields["layers"] = over_partitions(md("raid1"), false);
            fields["filesystem"] = json!("xfs");
            says(Layout::Raid1, 2, fields)
        };
        const BEGIN: &str = "raid1 over 2 devices, any 1 of which may fail";
        let alone = format!("{BEGIN}; the failure of its log's device may lose the filesystem");
        assert_eq!(says(json!({"has_log_device": true})), alone);
        assert_eq!(says(json!({"log_devices": 1})), alone);
        assert_eq!(
            says(json!({"log_devices": 3})),
            format!(
                "{BEGIN}; its log is on 3 devices, any 2 of which may fail if they share no disk"
            )
        );
        assert_eq!(says(json!({})), BEGIN);
    }

    /// Layers as they are read from sysfs: images share the disk of their files.
    #[test]
    fn images_are_on_one_disk() {
        let tree = Recorded::of(
            "/sys/dev/block/9:1/dev\t9:1\n/sys/dev/block/9:1/md/level\traid1\n\
             /sys/dev/block/9:1/slaves/loop1/dev\t7:1\n/sys/dev/block/9:1/slaves/loop2/dev\t7:2\n\
             /sys/dev/block/7:1/uevent\tDEVNAME=loop1\n/sys/dev/block/7:1/loop/backing_file\t/images/1\n\
             /sys/dev/block/7:2/uevent\tDEVNAME=loop2\n/sys/dev/block/7:2/loop/backing_file\t/images/2\n\
             below:/images/1\text4 /images 8:0 rw\nbelow:/images/2\text4 /images 8:0 rw\n\
             /sys/dev/block/8:0/uevent\tDEVNAME=sda\n",
        );
        let layers = json!(crate::sys::layers(&tree, "9:1"));
        assert_eq!(
            says(Layout::Raid1, 2, json!({"layers": layers})),
            "raid1 over 2 devices, any 1 of which may fail; some are on one disk or array, whose failure takes up to 2 of them"
        );
    }
}
