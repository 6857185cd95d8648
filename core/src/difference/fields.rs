//! The documents of runs as flat lists of names and texts.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Area, rules::OF_ONE_SERVER};

/// Stored values by area and name.
pub type Fields = BTreeMap<(Area, String), String>;

/// Columns of the environment that are no texts or numbers of their own, that differ from run to run, or that say once more
/// what others say.
const LEFT_OUT: &[&str] = &[
    "run_id",
    "settings",
    "storage",
    "vm",
    "geometry",
    "layers",
    "wal_layers",
    "durability_codes",
    "mount_options",
    "wal_mount_options",
    "data_directory",
    "wal_directory",
    "st_dev",
    "wal_st_dev",
    "server_version_num",
    "shared_buffers_bytes",
    "filesystem_free_bytes",
    "mkfs_command",
    "configuration_fingerprint",
];

/// The areas of columns of the environment. Columns that are not listed belong to the host.
const AREAS: &[(Area, &[&str])] = &[
    (Area::Durability, &["durability", "scope", "write_cache"]),
    (
        Area::Filesystem,
        &[
            "filesystem",
            "wal_filesystem",
            "block_size_bytes",
            "journal_mode",
            "data_attributes",
            "data_file_attributes",
            "pg_wal_attributes",
            "pg_wal_file_attributes",
            "fallocate",
            "filesystem_size_bytes",
        ],
    ),
    (Area::Settings, &["data_checksums"]),
    (Area::Mount, &["mount_point", "wal_mount_point"]),
    (
        Area::Device,
        &[
            "device",
            "wal_device",
            "device_model",
            "rotational",
            "fua",
            "discard_granularity_bytes",
            "discard_max_bytes",
            "logical_sector_bytes",
            "physical_sector_bytes",
            "io_scheduler",
            "nr_requests",
            "queue_depth",
            "read_ahead_kb",
        ],
    ),
    (
        Area::Version,
        &["server_version", "pgfsbench_version", "mkfs_version"],
    ),
    (
        Area::Kernel,
        &[
            "kernel",
            "kernel_command_line",
            "transparent_hugepage",
            "clock_source",
            "cpu_governor",
        ],
    ),
];

/// Parameters of the specification that say where and for whom a run was made, and not what was run.
const NO_PARAMETERS: &[&str] = &[
    "target",
    "stage",
    "label",
    "keep",
    "force",
    "chosen",
    "chosen_there",
    "within_ms",
];

/// All that is compared of a run.
pub fn of(document: &Value) -> Fields {
    let mut fields = Fields::new();
    flatten(&mut fields, Area::Target, "", &document["definition"]);
    // Older versions store a scale of 0 for a workload without tables.
    let is_nothing = |name: &str, value: &Value| name == "scale" && value == 0;
    for (name, value) in members(&document["used"]) {
        if !NO_PARAMETERS.contains(&name.as_str()) && !is_nothing(name, value) {
            flatten(&mut fields, Area::Parameters, name, value);
        }
    }
    of_environment(&mut fields, &document["environment"]);
    fields
}

fn of_environment(fields: &mut Fields, environment: &Value) {
    // WAL that is where the data are is no matter of its own.
    let is_apart = environment["st_dev"] != environment["wal_st_dev"];
    for (name, value) in members(environment) {
        if !LEFT_OUT.contains(&name.as_str()) && (is_apart || !name.starts_with("wal_")) {
            flatten(fields, area_of(name), name, value);
        }
    }
    flatten(fields, Area::Kernel, "vm", &environment["vm"]);
    flatten(
        fields,
        Area::Filesystem,
        "geometry",
        &environment["geometry"],
    );
    let of_target = &environment["storage"]["result"];
    for mark in ["serial", "wwn", "partition_uuid"] {
        flatten(fields, Area::Device, mark, &of_target[mark]);
    }
    let is_marked = [&of_target["serial"], &of_target["wwn"]]
        .iter()
        .any(|mark| mark.is_string());
    fields.extend(of_settings(&environment["settings"]));
    let places: &[&str] = if is_apart { &["", "wal_"] } else { &[""] };
    for place in places {
        let layers = &environment[format!("{place}layers")];
        let mut of_layers = |name: &str, text: Option<String>| {
            fields.extend(text.map(|text| ((Area::Device, format!("{place}layers{name}")), text)));
        };
        of_layers("", in_words(layers));
        // The helper reports the marks of its devices, too.
        if !is_marked {
            of_layers(".serial", marks(layers, "serial"));
            of_layers(".wwn", marks(layers, "wwn"));
        }
        let options = environment[format!("{place}mount_options")].as_str();
        let options = options
            .unwrap_or_default()
            .split(',')
            .filter(|option| !option.is_empty());
        fields.extend(options.map(|option| {
            let name = option.split('=').next().unwrap_or(option);
            ((Area::Mount, format!("{place}{name}")), option.to_owned())
        }));
    }
}

/// Settings of a server, but for those that only say where it is.
pub fn of_settings(settings: &Value) -> Fields {
    let mut fields = Fields::new();
    for (name, value) in members(settings) {
        if !OF_ONE_SERVER.contains(&name.as_str()) {
            flatten(&mut fields, Area::Settings, name, &value["setting"]);
        }
    }
    fields
}

fn area_of(column: &str) -> Area {
    let area = AREAS.iter().find(|(_, columns)| columns.contains(&column));
    area.map_or(Area::Host, |(area, _)| *area)
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

/// A value under its name, objects by their members; null is nothing.
fn flatten(fields: &mut Fields, area: Area, name: &str, value: &Value) {
    let text = match value {
        Value::Null => return,
        Value::Object(object) => {
            for (member, value) in object {
                let name = match name {
                    "" => member.clone(),
                    name => format!("{name}.{member}"),
                };
                flatten(fields, area, &name, value);
            }
            return;
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    fields.insert((area, name.to_owned()), text);
}

/// Serial numbers or WWNs of the disks below the data, sorted; None unless all disks have one.
fn marks(layers: &Value, name: &str) -> Option<String> {
    let layers = layers.as_array()?.iter();
    let disks = layers.filter(|layer| layer["kind"] == "disk");
    let marks: Option<BTreeSet<&str>> = disks.map(|disk| disk[name].as_str()).collect();
    let marks: Vec<&str> = marks?.into_iter().collect();
    (!marks.is_empty()).then(|| marks.join(", "))
}

/// The layers below the data in one line. Names and an order that the kernel gives anew at each boot do not count, nor the number
/// of paths to one disk.
fn in_words(layers: &Value) -> Option<String> {
    let mut rest = &layers.as_array()?[..];
    let mut trees = Vec::new();
    while !rest.is_empty() {
        let (words, further) = tree_in_words(rest, 0);
        trees.extend(words);
        rest = further;
    }
    (!trees.is_empty()).then(|| trees.join(" > "))
}

/// Deeper than this no machine stacks; the layers of an imported run may be anything.
const DEEPEST: usize = 32;

/// The first layer and those that are below it, and the layers after these.
fn tree_in_words(layers: &[Value], level: usize) -> (Option<String>, &[Value]) {
    let Some((layer, mut rest)) = layers.split_first() else {
        return (None, layers);
    };
    let depth = |layer: &Value| layer["depth"].as_u64();
    let is_below = |next: &Value| level < DEEPEST && depth(next) > depth(layer);
    let mut below = Vec::new();
    while rest.first().is_some_and(is_below) {
        let (words, further) = tree_in_words(rest, level + 1);
        below.extend(words);
        rest = further;
    }
    below.sort();
    if layer["kind"] == "multipath" {
        below.dedup();
    }
    let all: Vec<String> = layer_in_words(layer).into_iter().chain(below).collect();
    ((!all.is_empty()).then(|| all.join(" > ")), rest)
}

fn layer_in_words(layer: &Value) -> Option<String> {
    let text = |name: &str| layer[name].as_str().map(str::to_owned);
    let kind = text("kind")?;
    let name = text("name").filter(|_| kind == "filesystem");
    let direct = layer["direct_io"].as_bool().map(|direct| match direct {
        true => "direct I/O".to_owned(),
        false => "through the page cache".to_owned(),
    });
    let parts = [Some(kind), name, text("level"), text("model"), direct];
    Some(parts.into_iter().flatten().collect::<Vec<_>>().join(" "))
}
