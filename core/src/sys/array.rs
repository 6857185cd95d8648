//! Arrays: software RAID (md), and btrfs over several devices.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Block, Tree, line, number};

/// Levels that compute parity: a write that a power cut interrupts leaves a stripe whose parity is wrong.
const WITH_PARITY: [&str; 3] = ["raid4", "raid5", "raid6"];
/// Work that an array does not do for itself.
const AT_REST: [&str; 5] = ["idle", "frozen", "none", "balance paused", "swap activate"];
/// Profiles of btrfs, as directories below allocation/data have their names.
const PROFILES: [&str; 9] = [
    "single", "dup", "raid0", "raid1", "raid1c3", "raid1c4", "raid10", "raid5", "raid6",
];

/// Facts of an array that other layers do not have; of btrfs only the members' number and the profile of the metadata.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Array {
    /// Members of the complete array.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raid_disks: Option<u64>,
    /// State of each member, by the name of its device: in_sync, spare, faulty, ...
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub members: BTreeMap<String, String>,
    /// Profile of the metadata; btrfs only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata_level: Option<String>,
    /// Sectors that a resync or check has done, and all of them, as in "1024 / 4096".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync_completed: Option<String>,
    /// Means by which the members agree after a crash: none, resync, bitmap, journal, ppl.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consistency_policy: Option<String>,
    /// Place of the write-intent bitmap: none, file, or sectors from the superblock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bitmap: Option<String>,
    /// Milliseconds without a write after which the members are marked as clean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub safe_mode_delay_ms: Option<u64>,
    /// Stripes that the cache of RAID 4, 5 and 6 holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stripe_cache_size: Option<u64>,
    /// Sectors that differed in the last check or repair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mismatch_sectors: Option<u64>,
}

/// True if a level computes parity.
pub fn has_parity(level: &str) -> bool {
    level.split('+').any(|level| WITH_PARITY.contains(&level))
}

/// True if an array of this level has each block on more than one member, or can compute it.
pub fn is_redundant(level: &str) -> bool {
    let is_one = |level: &str| has_parity(level) || level.starts_with("raid1");
    level.split('+').all(is_one)
}

/// Devices that may fail before a btrfs loses blocks of these profiles, which a plus joins: the fewest. None for a profile that is not known.
pub fn failures_of_profile(profiles: &str) -> Option<usize> {
    let of_one = |profile: &str| match profile {
        "single" | "dup" | "raid0" => Some(0),
        "raid1" | "raid10" | "raid5" => Some(1),
        "raid1c3" | "raid6" => Some(2),
        "raid1c4" => Some(3),
        _ => None,
    };
    let each: Option<Vec<usize>> = profiles.split('+').map(of_one).collect();
    each?.into_iter().min()
}

/// True for work that an array does for itself: resync, recover, check, reshape, balance, ...
pub fn is_work(action: &str) -> bool {
    !AT_REST.contains(&action)
}

/// Facts of an array of md, whose directory in sysfs this is.
pub(super) fn of_md(tree: &dyn Tree, directory: &str) -> Array {
    let md = format!("{directory}/md");
    let of = |name: &str| line(tree, &format!("{md}/{name}"));
    let count = |name: &str| number(tree, &format!("{md}/{name}"));
    let names = tree.list(&md).into_iter();
    let members = names.filter_map(|name| {
        let member = name.strip_prefix("dev-")?;
        Some((member.to_owned(), of(&format!("{name}/state"))?))
    });
    Array {
        raid_disks: count("raid_disks"),
        members: members.collect(),
        metadata_level: None,
        sync_completed: of("sync_completed").filter(|text| text != "none"),
        consistency_policy: of("consistency_policy"),
        bitmap: of("bitmap/location"),
        safe_mode_delay_ms: of("safe_mode_delay").as_deref().and_then(milliseconds),
        stripe_cache_size: count("stripe_cache_size"),
        mismatch_sectors: count("mismatch_cnt"),
    }
}

/// Milliseconds of a text in seconds, as in "0.201".
fn milliseconds(text: &str) -> Option<u64> {
    let ms = text.parse::<f64>().ok()? * 1000.0;
    (0.0..1e9).contains(&ms).then(|| ms.round() as u64)
}

/// A mounted btrfs, as sysfs shows it.
pub(super) struct Btrfs {
    directory: String,
    /// The numbers of its devices, by the order of their names.
    pub devices: Vec<String>,
}

impl Btrfs {
    /// The filesystem that is mounted by the device of this number.
    pub fn of(tree: &dyn Tree, mounted: &str) -> Option<Self> {
        const FILESYSTEMS: &str = "/sys/fs/btrfs";
        let name = Block::of(tree, mounted)?.name(tree)?;
        let of = |filesystem: String| {
            let directory = format!("{FILESYSTEMS}/{filesystem}");
            let devices = format!("{directory}/devices");
            let mut names = tree.list(&devices);
            names.sort();
            let numbers = names
                .iter()
                .filter_map(|name| line(tree, &format!("{devices}/{name}/dev")));
            names.contains(&name).then(|| Self {
                devices: numbers.collect(),
                directory,
            })
        };
        let found = tree.list(FILESYSTEMS).into_iter().find_map(of)?;
        found.devices.iter().any(|d| d == mounted).then_some(found)
    }

    /// Devices that the filesystem has and the kernel does not find.
    pub fn missing(&self, tree: &dyn Tree) -> Option<u64> {
        let devices = format!("{}/devinfo", self.directory);
        let flags: Vec<u64> = (tree.list(&devices).iter())
            .filter_map(|id| number(tree, &format!("{devices}/{id}/missing")))
            .collect();
        (!flags.is_empty()).then(|| flags.iter().filter(|flag| **flag > 0).count() as u64)
    }

    /// Profiles of its blocks of this kind, data or metadata; several while a balance converts them.
    pub fn profile(&self, tree: &dyn Tree, kind: &str) -> Option<String> {
        let found = tree.list(&format!("{}/allocation/{kind}", self.directory));
        let of_each = PROFILES
            .into_iter()
            .filter(|known| found.iter().any(|f| f == known));
        let profiles: Vec<&str> = of_each.collect();
        (!profiles.is_empty()).then(|| profiles.join("+"))
    }

    /// Path of the file that names the exclusive operation, such as a balance.
    pub fn action_path(&self) -> String {
        format!("{}/exclusive_operation", self.directory)
    }

    pub fn array(&self, tree: &dyn Tree) -> Array {
        Array {
            raid_disks: (self.missing(tree))
                .and_then(|missing| missing.checked_add(self.devices.len() as u64)),
            metadata_level: self.profile(tree, "metadata"),
            ..Array::default()
        }
    }
}
