//! Undeclared differences between two runs of an experiment. Targets differ in their definitions, in factors, and in what follows from these. Any
//! other difference may be the cause of the figures.

use serde_json::{Map, Value};

use crate::difference::{self, Area, Difference, Matters};

/// On different devices, the filesystem's part and the device's part cannot be separated.
pub const ANOTHER_DEVICE: &str = "device confounded";
/// Values that change from moment to moment.
const OF_THE_MOMENT: &[&str] = &["cpu_mhz_min", "cpu_mhz_max", "filesystem_size_bytes"];

/// A run: what is stored of it, as [`difference`] takes it, and the parameters that its target has of its own.
#[derive(Clone, Copy)]
pub struct ComparedRun<'a> {
    pub document: &'a Value,
    /// Values of factors.
    pub own: &'a Value,
}

/// Names of what differs, each once.
pub fn between(a: ComparedRun<'_>, b: ComparedRun<'_>) -> Vec<String> {
    let differences = difference::between(a.document, b.document);
    let mut names: Vec<String> = (differences.into_iter())
        .filter(|d| d.matters != Matters::Hardly && !is_declared(d, a, b))
        .map(|d| d.name)
        .collect();
    names.sort();
    names.dedup();
    names
}

fn is_declared(d: &Difference, a: ComparedRun<'_>, b: ComparedRun<'_>) -> bool {
    let name = d.name.as_str();
    let definitions = [a, b].map(|side| &side.document["definition"]);
    let is_other_filesystem = definitions[0] != definitions[1];
    let is_other_build = definitions[0]["bindir"] != definitions[1]["bindir"];
    // Each filesystem sees another queue, or none.
    let is_unknown = d.a.is_none() || d.b.is_none();
    match d.area {
        // Definitions are what is compared; the sentence has the promise of a commit.
        Area::Run | Area::Target | Area::Durability => true,
        Area::Filesystem | Area::Mount => is_other_filesystem || OF_THE_MOMENT.contains(&name),
        Area::Device => {
            // By the kernel's own name.
            let name = if name == "io_scheduler" {
                "scheduler"
            } else {
                name
            };
            // Below zfs are partitions of images, and no array.
            let is_on_zfs = |definition: &&Value| definition["filesystem"] == "zfs";
            let is_by_zfs = name == "layers" && definitions.iter().any(is_on_zfs);
            has_member(definitions, "block_settings", name)
                || (is_other_filesystem && (is_unknown || is_by_zfs))
        }
        Area::Settings => {
            let is_of_target = has_member(definitions, "settings", name)
                || has_member([a.own, b.own], "settings", name);
            // A setting that neither side sets depends on the build, which may not have it.
            let is_of_build = is_other_build && ![a, b].iter().any(|side| sets(*side, name));
            is_of_target || is_of_build || (name == "data_checksums" && is_other_filesystem)
        }
        Area::Parameters => is_own(name, [a.own, b.own]),
        Area::Version => match name {
            "mkfs_version" => is_other_filesystem,
            "server_version" => is_other_build,
            _ => false,
        },
        Area::Kernel => {
            // One of two of the kernel's settings is zero when the other one is set.
            let sets_it = |definition: &&Value| {
                let set = definition["kernel_settings"].as_object();
                set.is_some_and(|set| !set.is_empty())
            };
            name.starts_with("vm.") && definitions.iter().any(sets_it)
        }
        Area::Host => OF_THE_MOMENT.contains(&name),
    }
}

/// Whether a setting of a run's server was set by the user.
fn sets(side: ComparedRun<'_>, name: &str) -> bool {
    let source = &side.document["environment"]["settings"][name]["source"];
    !source.is_null() && !["default", "override"].iter().any(|s| source == s)
}

fn has_member(objects: [&Value; 2], object: &str, name: &str) -> bool {
    objects.iter().any(|o| o[object].get(name).is_some())
}

/// Whether a parameter follows from what one of two targets has of its own.
fn is_own(name: &str, own: [&Value; 2]) -> bool {
    let has = |object: &str, member: &str| has_member(own, object, member);
    match name.split_once('.') {
        Some((object @ ("settings" | "options"), member)) => has(object, member),
        // Size makes scale, transactions the bound, and so on.
        _ => plain(own[0]) != plain(own[1]),
    }
}

fn plain(own: &Value) -> Map<String, Value> {
    let mut own = own.as_object().cloned().unwrap_or_default();
    own.retain(|_, value| !value.is_object());
    own
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn document(filesystem: &str, environment: Value) -> Value {
        json!({
            "run": {"target": filesystem, "status": "done"},
            "definition": {"kind": "image", "filesystem": filesystem},
            "used": {"scale": 1, "clients": 2, "settings": {"wal_compression": "off"}},
            "environment": environment,
        })
    }

    fn names(a: (&Value, Value), b: (&Value, Value)) -> Vec<String> {
        between(
            ComparedRun {
                document: a.0,
                own: &a.1,
            },
            ComparedRun {
                document: b.0,
                own: &b.1,
            },
        )
    }

    #[test]
    fn filesystems_differ_in_what_makes_them() {
        let ext4 = document(
            "ext4",
            json!({
                "kernel": "6.1", "mkfs_version": "1.47", "filesystem": "ext4", "mount_options": "rw,noatime", "cpu_mhz_max": 1000,
                "block_size_bytes": 4096, "settings": {"max_wal_size": {"setting": "1024"}},
            }),
        );
        let xfs = document(
            "xfs",
            json!({
                "kernel": "6.1", "mkfs_version": "6.1.0", "filesystem": "xfs", "mount_options": "rw,logbsize=256k", "cpu_mhz_max": 2000,
                "block_size_bytes": 4096, "settings": {"max_wal_size": {"setting": "1024"}},
            }),
        );
        let none = || json!({});
        assert_eq!(names((&ext4, none()), (&xfs, none())), [""; 0]);
        // Undeclared differences.
        let mut other = xfs.clone();
        other["environment"]["kernel"] = json!("6.2");
        other["environment"]["settings"]["max_wal_size"]["setting"] = json!("2048");
        other["used"]["clients"] = json!(3);
        other["environment"]["io_scheduler"] = json!("none");
        let mut ext4_there = ext4.clone();
        ext4_there["environment"]["io_scheduler"] = json!("bfq");
        assert_eq!(
            names((&ext4_there, none()), (&other, none())),
            ["clients", "io_scheduler", "kernel", "max_wal_size"]
        );
        // A declared setting.
        other["definition"]["settings"] = json!({"max_wal_size": "2GB"});
        other["definition"]["block_settings"] = json!({"scheduler": "none"});
        assert_eq!(
            names(
                (&ext4_there, json!({"clients": 2})),
                (&other, json!({"clients": 3}))
            ),
            ["kernel"]
        );
    }

    #[test]
    fn zfs_has_other_layers_below_it() {
        let on = |filesystem: &str, kinds: &[&str]| {
            let layers = kinds.iter().enumerate();
            let layers = layers.map(|(depth, kind)| json!({"depth": depth, "kind": kind}));
            document(filesystem, json!({"layers": layers.collect::<Vec<_>>()}))
        };
        let none = || json!({});
        let of_image = ["loop", "filesystem", "disk"];
        let ext4 = on("ext4", &of_image);
        let zfs = on("zfs", &["partition", "loop", "filesystem", "disk"]);
        assert_eq!(names((&ext4, none()), (&zfs, none())), [""; 0]);
        let other = on("zfs", &of_image);
        assert_eq!(names((&zfs, none()), (&other, none())), ["layers"]);
        let crypt = on("xfs", &["loop", "filesystem", "crypt", "disk"]);
        assert_eq!(names((&ext4, none()), (&crypt, none())), ["layers"]);
    }

    /// Two builds are compared in what they are: their versions, and settings that only one of them has, or has otherwise by itself.
    #[test]
    fn builds_differ_in_what_makes_them() {
        let of_build = |bindir: Option<&str>, environment: Value| {
            let mut document = document("xfs", environment);
            if let Some(bindir) = bindir {
                document["definition"]["bindir"] = json!(bindir);
            }
            document
        };
        let by_itself = |setting: &str| json!({"setting": setting, "source": "default"});
        let of_15 = json!({"server_version": "PostgreSQL 15.20", "pgfsbench_version": "0.3.0", "kernel": "6.1",
            "settings": {"effective_io_concurrency": by_itself("1")}});
        let of_18 = json!({"server_version": "PostgreSQL 18.1", "pgfsbench_version": "0.3.0", "kernel": "6.1",
            "settings": {"effective_io_concurrency": by_itself("16"), "io_method": by_itself("worker")}});
        let (old, new) = (
            of_build(None, of_15.clone()),
            of_build(Some("/usr/lib/postgresql/18/bin"), of_18.clone()),
        );
        let none = || json!({});
        assert_eq!(names((&old, none()), (&new, none())), [""; 0]);
        // Undeclared, the server was another one by night.
        let new = of_build(None, of_18.clone());
        assert_eq!(
            names((&old, none()), (&new, none())),
            ["effective_io_concurrency", "io_method", "server_version"]
        );
        // A setting of the user does not depend on the build.
        let mut set = of_18;
        set["settings"]["io_method"]["source"] = json!("configuration file");
        set["pgfsbench_version"] = json!("0.4.0");
        let new = of_build(Some("/usr/lib/postgresql/18/bin"), set);
        assert_eq!(
            names((&old, none()), (&new, none())),
            ["io_method", "pgfsbench_version"]
        );
    }

    #[test]
    fn with_one_definition_the_filesystem_is_the_same() {
        let environment = |mount: &str, version: &str| json!({"filesystem": "ext4", "mount_options": mount, "mkfs_version": version, "settings": {}});
        let (a, b) = (
            document("ext4", environment("rw,noatime", "1.46")),
            document("ext4", environment("rw,barrier=0", "1.47")),
        );
        let own = |value: &str| json!({"settings": {"wal_compression": value}});
        let found = names((&a, own("off")), (&b, own("on")));
        assert_eq!(found, ["barrier", "mkfs_version", "noatime"]);
    }

    #[test]
    fn a_factor_is_declared() {
        let environment =
            |value: &str| json!({"settings": {"wal_compression": {"setting": value}}});
        let (a, mut b) = (
            document("ext4", environment("off")),
            document("ext4", environment("on")),
        );
        b["used"]["settings"]["wal_compression"] = json!("on");
        let own = |value: &str| json!({"settings": {"wal_compression": value}});
        assert_eq!(names((&a, own("off")), (&b, own("on"))), [""; 0]);
        assert_eq!(
            names((&a, json!({})), (&b, json!({}))),
            ["settings.wal_compression", "wal_compression"]
        );
    }
}
