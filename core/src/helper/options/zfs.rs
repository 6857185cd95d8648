//! The properties of a zfs pool and of the dataset in it. Left out: what says where it is mounted or whose it is
//! (mountpoint, canmount, altroot, cachefile, sharenfs), what reads a file or runs something (keylocation, compatibility),
//! and setuid and devices, which are always off.

use super::Value::{self, Number, OneOf};
use super::{Options, Table, find};
use crate::refusal::Refusal;

const SWITCH: Value = OneOf(&["on", "off"]);
const CACHE: Value = OneOf(&["all", "none", "metadata"]);

const POOL: Table = &[
    (
        "ashift",
        OneOf(&["0", "9", "10", "11", "12", "13", "14", "15", "16"]),
    ),
    ("autotrim", SWITCH),
    ("autoexpand", SWITCH),
    ("failmode", OneOf(&["wait", "continue"])),
];

const DATASET: Table = &[
    ("atime", SWITCH),
    ("relatime", SWITCH),
    (
        "checksum",
        OneOf(&[
            "on",
            "off",
            "fletcher2",
            "fletcher4",
            "sha256",
            "sha512",
            "skein",
            "edonr",
            "blake3",
            "noparity",
        ]),
    ),
    (
        "compression",
        OneOf(&[
            "on",
            "off",
            "lz4",
            "lzjb",
            "zle",
            "gzip",
            "gzip-1",
            "gzip-2",
            "gzip-3",
            "gzip-4",
            "gzip-5",
            "gzip-6",
            "gzip-7",
            "gzip-8",
            "gzip-9",
            "zstd",
            "zstd-1",
            "zstd-2",
            "zstd-3",
            "zstd-4",
            "zstd-5",
            "zstd-6",
            "zstd-7",
            "zstd-8",
            "zstd-9",
            "zstd-10",
            "zstd-11",
            "zstd-12",
            "zstd-13",
            "zstd-14",
            "zstd-15",
            "zstd-16",
            "zstd-17",
            "zstd-18",
            "zstd-19",
            "zstd-fast",
        ]),
    ),
    ("copies", OneOf(&["1", "2", "3"])),
    (
        "dnodesize",
        OneOf(&["legacy", "auto", "1k", "2k", "4k", "8k", "16k"]),
    ),
    ("dedup", SWITCH),
    ("logbias", OneOf(&["latency", "throughput"])),
    ("prefetch", CACHE),
    ("primarycache", CACHE),
    ("recordsize", Number),
    (
        "redundant_metadata",
        OneOf(&["all", "most", "some", "none"]),
    ),
    ("secondarycache", CACHE),
    ("special_small_blocks", Number),
    ("sync", OneOf(&["standard", "always", "disabled"])),
    ("xattr", OneOf(&["on", "off", "dir", "sa"])),
    ("acltype", OneOf(&["off", "posix"])),
];

/// The properties of a pool, one by one, as `name=value`; or which of them is not accepted.
pub fn pool_properties(text: &str) -> Result<Vec<String>, Refusal> {
    properties("pool", POOL, text)
}

/// The properties of a dataset, likewise.
pub fn dataset_properties(text: &str) -> Result<Vec<String>, Refusal> {
    properties("dataset", DATASET, text)
}

/// With commas or blanks between them.
fn properties(kind: &'static str, table: Table, text: &str) -> Result<Vec<String>, Refusal> {
    let what = Options {
        kind,
        filesystem: super::Filesystem::Zfs,
    };
    what.check_text(text)?;
    let mut names: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    for property in text.split([',', ' ']).filter(|p| !p.is_empty()) {
        let (name, given) = property.split_once('=').unwrap_or((property, ""));
        let value = find(table, name).ok_or_else(|| what.unknown(name, &[table]))?;
        what.check_value(name, given, value)?;
        if names.contains(&name) {
            return Err(
                Refusal::argument(format!("{kind} property \"{name}\" is given twice"))
                    .detail("Each has one value.")
                    .hint("Leave one of them out."),
            );
        }
        names.push(name);
        found.push(format!("{name}={given}"));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::check;
    use proptest::prelude::*;

    #[test]
    fn what_people_ask_for_is_accepted() {
        assert_eq!(pool_properties(""), Ok(vec![]));
        let pool = pool_properties(" ashift=12 autotrim=on,").unwrap();
        assert_eq!(pool, ["ashift=12", "autotrim=on"]);
        let dataset = "recordsize=8K,compression=lz4, logbias=throughput,primarycache=metadata";
        assert_eq!(
            dataset_properties(dataset).unwrap(),
            [
                "recordsize=8K",
                "compression=lz4",
                "logbias=throughput",
                "primarycache=metadata"
            ]
        );
    }

    #[test]
    fn what_reaches_further_is_refused_by_name() {
        for text in [
            "cachefile=/etc/passwd",
            "altroot=/",
            "compatibility=/etc/passwd",
            "failmode=panic",
            "ashift=12,ashift=9",
            "ashift",
            "ashift=",
            "feature@encryption=enabled",
            "-o",
            "ashift=12\nx",
        ] {
            check::style(&pool_properties(text).expect_err(text));
        }
        for text in [
            "mountpoint=/etc",
            "canmount=on",
            "keylocation=file:///etc/shadow",
            "encryption=on",
            "sharenfs=on",
            "setuid=on",
            "devices=on",
            "exec=on",
            "quota=1",
            "org.x:y=1",
            "recordsize=8K;reboot",
        ] {
            check::style(&dataset_properties(text).expect_err(text));
        }
    }

    /// Some that are accepted, some that are not: names of the list, and values that fit one of them.
    fn some_properties() -> impl Strategy<Value = String> {
        let names: Vec<&str> = POOL.iter().chain(DATASET).map(|(name, _)| *name).collect();
        let name = prop_oneof![9 => prop::sample::select(names), 1 => Just("mountpoint")];
        let value = "on|off|standard|always|disabled|latency|throughput|lz4|zstd|all|metadata|none|12|13|8K|16K|128K|1M|[a-z0-9K/ ;@.-]{1,8}";
        let property = (name, value).prop_map(|(name, value)| format!("{name}={value}"));
        prop::collection::vec(property, 1..3).prop_map(|all| all.join(","))
    }

    proptest! {
        #[test]
        fn accepted_properties_are_of_the_list(text in some_properties()) {
            for (accepted, table) in [(pool_properties(&text), POOL), (dataset_properties(&text), DATASET)] {
                for property in accepted.unwrap_or_default() {
                    let (name, value) = property.split_once('=').expect("name=value");
                    prop_assert!(find(table, name).is_some_and(|v| v.accepts(value)));
                    prop_assert!(!property.contains(['/', ' ', ';', '@']));
                }
            }
        }
    }
}
