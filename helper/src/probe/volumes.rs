//! Devices of the device mapper, as sysfs tells of them, and what dmsetup tells of their sync.

use super::arrays::Sync;
use super::{entries, line, number_of};
use pgfsbench_core::refusal::{Kind, Refusal};
use std::path::{Path, PathBuf};

/// A device of the device mapper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    /// The name in the device mapper.
    pub name: String,
    /// The kernel's name of it, below /dev.
    pub node: PathBuf,
    pub number: (u32, u32),
    /// The numbers of the devices at the bottom of it.
    pub leaves: Vec<(u32, u32)>,
    /// True if another device stands on it.
    pub is_held: bool,
}

/// The directory of all block devices.
const BLOCKS: &str = "/sys/block";

/// The devices of LVM whose names begin with this.
pub fn of_group(prefix: &str) -> Result<Vec<Volume>, Refusal> {
    of_group_in(Path::new(BLOCKS), prefix)
}

fn of_group_in(blocks: &Path, prefix: &str) -> Result<Vec<Volume>, Refusal> {
    those_with(blocks, |name, uuid| {
        name.starts_with(prefix) && uuid.starts_with("LVM-")
    })
}

/// The device with this name and UUID in the device mapper.
pub fn of_uuid(name: &str, uuid: &str) -> Result<Option<Volume>, Refusal> {
    let is_it = |its_name: &str, its_uuid: &str| its_name == name && its_uuid == uuid;
    Ok(those_with(Path::new(BLOCKS), is_it)?.pop())
}

fn those_with(blocks: &Path, is_it: impl Fn(&str, &str) -> bool) -> Result<Vec<Volume>, Refusal> {
    let mut found = Vec::new();
    for directory in entries(blocks)? {
        let of = |name: &str| line(&directory.join("dm").join(name));
        let Some(name) = of("name") else {
            continue;
        };
        if !is_it(&name, &of("uuid").unwrap_or_default()) {
            continue;
        }
        let unreadable = || {
            let message = format!("could not read the numbers of volume {name}");
            Refusal::new(Kind::System, message).hint("Try again: it may have gone just now.")
        };
        let mut leaves = Vec::new();
        add_leaves(&directory, 0, &mut leaves)?.ok_or_else(unreadable)?;
        found.push(Volume {
            node: Path::new("/dev").join(directory.file_name().unwrap_or_default()),
            number: number_of(&directory).ok_or_else(unreadable)?,
            leaves,
            is_held: !entries(&directory.join("holders"))?.is_empty(),
            name,
        });
    }
    Ok(found)
}

/// A volume of RAID stands on volumes for data and metadata, which stand on the devices.
const DEEPEST: usize = 4;

/// None if a number cannot be read.
fn add_leaves(
    directory: &Path,
    depth: usize,
    leaves: &mut Vec<(u32, u32)>,
) -> Result<Option<()>, Refusal> {
    for slave in entries(&directory.join("slaves"))? {
        if slave.join("dm").is_dir() && depth < DEEPEST {
            if add_leaves(&slave, depth + 1, leaves)?.is_none() {
                return Ok(None);
            }
            continue;
        }
        match number_of(&slave) {
            Some(number) if leaves.contains(&number) => {}
            Some(number) => leaves.push(number),
            None => return Ok(None),
        }
    }
    Ok(Some(()))
}

/// The state of a volume of RAID, by the line that `dmsetup status` prints: "0 8192 raid raid5_ls 3 AAA 4096/4096 idle 0 0 -".
pub fn sync(status: &str) -> Result<Sync, Refusal> {
    let words: Vec<&str> = status.split_whitespace().collect();
    let [_, _, "raid", _, _, health, ratio, action, ..] = words[..] else {
        let message = "could not read the state of the volume";
        return Err(Refusal::new(Kind::System, message)
            .detail(format!("dmsetup printed {status:?}."))
            .hint("The kernel's log (dmesg) may say why the volume is not active."));
    };
    let progress = ratio.split_once('/');
    let progress = progress.and_then(|(done, all)| Some((done.parse().ok()?, all.parse().ok()?)));
    // D: failed; -: not there; a: there, and not in sync.
    let missing = health.chars().filter(|c| ['D', '-'].contains(c)).count() as u64;
    let is_whole = !health.is_empty() && health.chars().all(|c| c == 'A');
    let is_complete = progress.is_some_and(|(done, all): (u64, u64)| done == all);
    Ok(match action {
        "idle" if is_whole && is_complete => Sync::Done,
        "idle" if missing > 0 => Sync::Degraded(missing),
        _ => Sync::Running(progress),
    })
}

/// Sectors that differed in the last check, by the same line.
pub fn mismatches(status: &str) -> Result<u64, Refusal> {
    let count = status.split_whitespace().nth(8);
    count.and_then(|count| count.parse().ok()).ok_or_else(|| {
        Refusal::new(
            Kind::System,
            "could not read what a check of the volume has found",
        )
        .detail(format!("dmsetup printed {status:?}."))
        .hint("The kernel's log (dmesg) may say why the volume is not active.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const LVM: &str = "LVM-Zk1x0cHkq0";

    fn device(root: &Path, path: &str, number: &str, dm: Option<(&str, &str)>) {
        let directory = root.join(path);
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("dev"), number).unwrap();
        if let Some((name, uuid)) = dm {
            fs::create_dir_all(directory.join("dm")).unwrap();
            fs::write(directory.join("dm/name"), name).unwrap();
            fs::write(directory.join("dm/uuid"), uuid).unwrap();
        }
    }

    #[test]
    fn volumes_of_a_group_and_the_devices_below() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        device(root, "loop1", "7:1\n", None);
        device(
            root,
            "dm-0",
            "253:0\n",
            Some(("pgfsbench_1-data_rimage_0\n", LVM)),
        );
        device(root, "dm-0/slaves/loop1", "7:1\n", None);
        fs::create_dir_all(root.join("dm-0/holders/dm-1")).unwrap();
        device(root, "dm-1", "253:1\n", Some(("pgfsbench_1-data\n", LVM)));
        let on_dm = Some(("pgfsbench_1-data_rimage_0\n", LVM));
        device(root, "dm-1/slaves/dm-0", "253:0\n", on_dm);
        device(root, "dm-1/slaves/dm-0/slaves/loop1", "7:1\n", None);
        device(root, "dm-1/slaves/dm-0/slaves/loop2", "7:2\n", None);
        // Another group, and a device of this name that LVM has not made.
        device(root, "dm-2", "253:2\n", Some(("pgfsbench_2-data\n", LVM)));
        device(
            root,
            "dm-3",
            "253:3\n",
            Some(("pgfsbench_1-x\n", "CRYPT-1")),
        );
        let mut found = of_group_in(root, "pgfsbench_1-").unwrap();
        found.sort_by_key(|volume| volume.number);
        let facts: Vec<_> = found
            .iter()
            .map(|v| (v.name.as_str(), v.number, v.leaves.as_slice(), v.is_held))
            .collect();
        assert_eq!(
            facts,
            [
                ("pgfsbench_1-data_rimage_0", (253, 0), &[(7, 1)][..], true),
                ("pgfsbench_1-data", (253, 1), &[(7, 1), (7, 2)][..], false),
            ]
        );
        assert_eq!(found[1].node, Path::new("/dev/dm-1"));
        // A device below whose number cannot be read could be anything.
        fs::write(root.join("dm-1/slaves/dm-0/slaves/loop2/dev"), "?\n").unwrap();
        assert!(of_group_in(root, "pgfsbench_1-").is_err());
    }

    /// Lines by the kernel's documentation of the target raid.
    #[test]
    fn a_volume_is_in_sync_when_nothing_is_missing_or_going_on() {
        for (status, state) in [
            (
                "0 8192 raid raid5_ls 3 AAA 4096/4096 idle 0 0 -",
                Sync::Done,
            ),
            (
                "0 8192 raid raid1 2 aa 1024/4096 resync 0 0 -",
                Sync::Running(Some((1024, 4096))),
            ),
            (
                "0 8192 raid raid10 4 AAAa 1024/4096 recover 0 0 -",
                Sync::Running(Some((1024, 4096))),
            ),
            // Nothing has begun.
            (
                "0 8192 raid raid1 2 aa 0/4096 idle 0 0 -",
                Sync::Running(Some((0, 4096))),
            ),
            (
                "0 8192 raid raid6_zr 5 ADAA- 4096/4096 idle 0 0 -",
                Sync::Degraded(2),
            ),
            ("0 8192 raid raid1 2 AA ? frozen 0 0 -", Sync::Running(None)),
        ] {
            assert_eq!(sync(status), Ok(state), "{status}");
        }
        for status in [
            "",
            "0 8192 striped 2 7:1 7:2 1 AA",
            "Device does not exist.",
        ] {
            assert!(sync(status).is_err(), "{status}");
            assert!(mismatches(status).is_err(), "{status}");
        }
        let status = "0 8192 raid raid5_ls 3 AAA 4096/4096 idle 16 0 -";
        assert_eq!(mismatches(status), Ok(16));
    }
}
