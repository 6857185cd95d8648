//! The devices that targets are on, as far as they are known before there is a run: those whose differences will be in the verdicts.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::target::Row;

/// The storage of a target, as that of its runs will be told; None if it is not known. `row` is None for this server itself. `source` is what is mounted
/// where the directory of the target is, or the data of this server. `resolve` follows links in /dev, so that two names of one device are one place. Images are
/// files of one place, whatever device they become.
pub fn of_target(
    row: Option<&Row>,
    source: Option<String>,
    resolve: impl Fn(&str) -> String,
) -> Option<String> {
    let source = source.map(|source| resolve(&source));
    let Some(row) = row else {
        return source;
    };
    match row.image_size_bytes {
        Some(_) => Some("image".into()),
        None => (row.device.as_deref().map(&resolve))
            .or_else(|| row.devices.as_ref().map(|all| places(all.iter(), &resolve)))
            .or_else(|| row.connection.clone())
            .or(source),
    }
}

/// Several devices as one place, in any order.
fn places<'a>(paths: impl Iterator<Item = &'a String>, resolve: impl Fn(&str) -> String) -> String {
    let places: BTreeSet<String> = paths.map(|path| resolve(path)).collect();
    places.into_iter().collect::<Vec<_>>().join(" ")
}

/// Whether two runs are on different devices: what their filesystems are on is another thing then. `a` and `b` are documents of
/// runs, as [`crate::difference`] takes them. Disks are compared by their serial numbers, since the kernel's names of them change
/// at a boot, and by names where one run has no serial numbers.
pub fn are_runs_apart(a: &Value, b: &Value) -> bool {
    if let (Some(a), Some(b)) = (marks_of(a), marks_of(b)) {
        return a != b;
    }
    match (name_of(a), name_of(b)) {
        (Some(a), Some(b)) => a != b,
        _ => false,
    }
}

/// The storage of a run's filesystem by name; None if it is not known.
fn name_of(run: &Value) -> Option<String> {
    let definition = &run["definition"];
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match definition["kind"].as_str() {
        Some("image") => Some("image".into()),
        Some(kind @ ("device" | "connection")) => text(&definition[kind]).or_else(|| {
            let devices: Vec<String> =
                serde_json::from_value(definition["devices"].clone()).ok()?;
            Some(places(devices.iter(), str::to_owned))
        }),
        _ => text(&run["environment"]["device"]),
    }
}

/// Lasting marks of the storage below a run's filesystem: its place on its disks, and the marks of these. None for an image or a connection, and
/// unless each disk has marks.
fn marks_of(run: &Value) -> Option<BTreeSet<String>> {
    if let Some("image" | "connection") = run["definition"]["kind"].as_str() {
        return None;
    }
    let layers = run["environment"]["layers"].as_array()?;
    // A pool's log has no layer of its own among these.
    let log = run["environment"]["storage"]["log_layers"].as_array();
    let disks = layers.iter().chain(log.into_iter().flatten());
    let disks = disks.filter(|layer| layer["kind"] == "disk");
    let marks: Option<BTreeSet<String>> = disks
        .map(|disk| {
            let marks = ["wwn", "serial"].map(|name| disk[name].as_str().unwrap_or_default());
            (marks != ["", ""]).then(|| marks.join(" "))
        })
        .collect();
    let mut marks = marks.filter(|marks| !marks.is_empty())?;
    let uppermost = layers.iter().find(|layer| layer["kind"] != "filesystem")?;
    // Each run gives the volume of a layout another name, and a pool is no layer.
    let has_layout = !run["definition"]["layout"].is_null();
    marks.insert(match has_layout {
        true => place_on_disks(&Value::Null),
        false => place_on_disks(uppermost),
    });
    Some(marks)
}

/// Which part of its disks a device is: the number of a partition, or the name that a user has given to a volume.
fn place_on_disks(layer: &Value) -> String {
    let name = layer["name"].as_str().unwrap_or_default();
    let part = match layer["kind"].as_str() {
        Some("partition") => &name[name.trim_end_matches(|c: char| c.is_ascii_digit()).len()..],
        Some("lvm" | "crypt" | "dm" | "multipath") => name,
        _ => "",
    };
    format!("part {part}")
}

/// Whether two of these targets are on different devices.
pub fn are_different(places: &[Option<String>]) -> bool {
    let mut known = places.iter().flatten();
    let first = known.next();
    known.any(|place| Some(place) != first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_kind_of_target_has_its_place() {
        let on = |source: &str| Some(source.to_owned());
        let same = str::to_owned;
        let directory = Row {
            directory: Some("/srv/fast".into()),
            ..Row::default()
        };
        let image = Row {
            image_size_bytes: Some(1 << 30),
            ..Row::default()
        };
        let device = Row {
            device: Some("/dev/sdb".into()),
            ..Row::default()
        };
        let places = [
            of_target(None, on("/dev/sda1"), same),
            of_target(Some(&directory), on("/dev/sda1"), same),
        ];
        assert!(!are_different(&places), "the same disk");
        for other in [
            of_target(Some(&directory), on("/dev/sdc1"), same),
            of_target(Some(&image), None, same),
            of_target(Some(&device), None, same),
        ] {
            assert!(
                are_different(&[places[0].clone(), other.clone()]),
                "{other:?}"
            );
            assert!(!are_different(&[other.clone(), other]));
        }
        // Unknown storage does not count as different.
        assert!(!are_different(&[places[0].clone(), None]));
        assert!(!are_different(&[]));
    }

    #[test]
    fn two_names_of_one_device_are_one_place() {
        let device = |path: &str| Row {
            device: Some(path.into()),
            ..Row::default()
        };
        let resolve = |path: &str| path.replace("disk/by-id/ata-X", "sdb");
        let places = ["/dev/disk/by-id/ata-X", "/dev/sdb"]
            .map(|path| of_target(Some(&device(path)), None, resolve));
        assert!(!are_different(&places));
        let source = Some("/dev/disk/by-id/ata-X".to_owned());
        assert!(!are_different(&[
            places[0].clone(),
            of_target(None, source, resolve)
        ]));
    }

    fn disk(name: &str, serial: &str) -> Value {
        json!({"depth": 1, "kind": "disk", "name": name, "serial": serial, "wwn": format!("w{serial}")})
    }

    fn run(device: &str, partition: &str, disks: &[Value]) -> Value {
        let mut layers = vec![json!({"depth": 0, "kind": "partition", "name": partition})];
        layers.extend(disks.iter().cloned());
        json!({"definition": {"kind": "directory"}, "environment": {"device": device, "layers": layers}})
    }

    #[test]
    fn disks_whose_names_were_swapped_are_the_same() {
        let before = run("/dev/sda1", "sda1", &[disk("sda", "S1")]);
        let after = run("/dev/sdb1", "sdb1", &[disk("sdb", "S1")]);
        assert!(!are_runs_apart(&before, &after));
        let nvme = |number: u8| {
            let name = format!("nvme{number}n1");
            run(
                &format!("/dev/{name}p2"),
                &format!("{name}p2"),
                &[disk(&name, "S3")],
            )
        };
        assert!(!are_runs_apart(&nvme(0), &nvme(1)));
        // Another disk that has taken the name, another partition, another path to the disk.
        let other = run("/dev/sda1", "sda1", &[disk("sda", "S2")]);
        assert!(are_runs_apart(&before, &other));
        let other = run("/dev/sda2", "sda2", &[disk("sda", "S1")]);
        assert!(are_runs_apart(&before, &other));
        let twice = run("/dev/sda1", "sda1", &[disk("sda", "S1"), disk("sdc", "S1")]);
        assert!(!are_runs_apart(&before, &twice));
    }

    #[test]
    fn layouts_over_the_same_disks_are_on_the_same_devices() {
        let over = |uppermost: Value, second: &str| {
            let layers = [uppermost, disk("sda", "S1"), disk("sdb", second)];
            json!({"definition": {"kind": "device", "layout": "any"}, "environment": {"layers": layers}})
        };
        let named = |kind: &str, name: &str| json!({"depth": 0, "kind": kind, "name": name});
        let array = over(named("md", "md127"), "S2");
        for made in [
            named("lvm", "pgfsbench_1-data"),
            named("lvm", "pgfsbench_2-data"),
            named("partition", "sda1"),
        ] {
            assert!(!are_runs_apart(&array, &over(made.clone(), "S2")), "{made}");
            assert!(are_runs_apart(&array, &over(made, "S3")));
        }
    }

    #[test]
    fn without_serial_numbers_names_tell() {
        let by_name = |device: &str| run(device, "vda1", &[json!({"kind": "disk"})]);
        assert!(!are_runs_apart(
            &by_name("/dev/vda1"),
            &by_name("/dev/vda1")
        ));
        assert!(are_runs_apart(&by_name("/dev/vda1"), &by_name("/dev/vdb1")));
        let image =
            json!({"definition": {"kind": "image"}, "environment": {"device": "/dev/loop1"}});
        let other =
            json!({"definition": {"kind": "image"}, "environment": {"device": "/dev/loop2"}});
        assert!(!are_runs_apart(&image, &other));
        assert!(are_runs_apart(&image, &by_name("/dev/vda1")));
        let unknown = json!({"definition": {"kind": "directory"}, "environment": {}});
        assert!(!are_runs_apart(&unknown, &by_name("/dev/vda1")));
    }
}
