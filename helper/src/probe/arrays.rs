//! Arrays of md, as sysfs tells of them.

use super::identity::sysfs;
use super::{entries, line, number_of};
use pgfsbench_core::refusal::{Kind, Refusal};
use std::path::{Path, PathBuf};

/// An array that the kernel has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// The kernel's name of it, below /dev.
    pub node: PathBuf,
    pub number: (u32, u32),
    /// None where the kernel does not tell it.
    pub uuid: Option<String>,
    /// The numbers of its members.
    pub members: Vec<(u32, u32)>,
}

/// The array that has the device with this number as a member; None if there is none.
pub fn over(member: (u32, u32)) -> Result<Option<Array>, Refusal> {
    over_in(&sysfs(member))
}

fn over_in(member: &Path) -> Result<Option<Array>, Refusal> {
    for holder in entries(&member.join("holders"))? {
        if !holder.join("md").is_dir() {
            continue;
        }
        let unreadable = || {
            let message = format!("could not read the numbers of array {}", holder.display());
            Refusal::new(Kind::System, message).hint("Try again: it may have gone just now.")
        };
        let members = entries(&holder.join("slaves"))?.into_iter();
        let members: Option<Vec<_>> = members.map(|slave| number_of(&slave)).collect();
        return Ok(Some(Array {
            node: Path::new("/dev").join(holder.file_name().unwrap_or_default()),
            number: number_of(&holder).ok_or_else(unreadable)?,
            uuid: line(&holder.join("md/uuid")),
            members: members.ok_or_else(unreadable)?,
        }));
    }
    Ok(None)
}

/// How far an array is from being in sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// Nothing is missing, and nothing is going on.
    Done,
    /// Sectors that are done, and all of them, where md tells them.
    Running(Option<(u64, u64)>),
    /// Members that are missing while nothing is going on.
    Degraded(u64),
}

/// The state of an array with copies or parity.
pub fn sync(array: &Path) -> Result<Sync, Refusal> {
    sync_in(&directory(array))
}

/// The directory of md about an array.
fn directory(array: &Path) -> PathBuf {
    let name = array.file_name().unwrap_or_default();
    Path::new("/sys/block").join(name).join("md")
}

fn sync_in(directory: &Path) -> Result<Sync, Refusal> {
    if !directory.is_dir() {
        let message = format!("there is no array in {}", directory.display());
        return Err(Refusal::new(Kind::System, message)
            .hint("The kernel's log (dmesg) may say why it has gone."));
    }
    let needed = |name: &str| {
        let file = directory.join(name);
        line(&file).ok_or_else(|| {
            let message = format!("could not read {}", file.display());
            Refusal::new(Kind::System, message)
                .hint("The kernel's log (dmesg) may say why the array is not active.")
        })
    };
    let action = needed("sync_action")?;
    // The sector from which on the members may differ. A sync that has not begun is told by nothing else.
    let differs = needed("resync_start")? != "none";
    let completed = line(&directory.join("sync_completed")).unwrap_or_default();
    let degraded = line(&directory.join("degraded"));
    let degraded = degraded.and_then(|n| n.parse().ok()).unwrap_or(0);
    Ok(match (action.as_str(), completed.as_str(), degraded) {
        ("idle", "none" | "", 0) if differs => Sync::Running(None),
        ("idle", "none" | "", 0) => Sync::Done,
        ("idle", "none" | "", missing) => Sync::Degraded(missing),
        (_, completed, _) => Sync::Running(progress(completed)),
    })
}

/// Has the kernel compare all copies and parity.
pub fn begin_check(array: &Path) -> Result<(), Refusal> {
    set_action(array, "check")
}

/// Keeps the kernel from a resync. raid0 and linear have none.
pub fn freeze(array: &Path) -> Result<(), Refusal> {
    match directory(array).join("sync_action").exists() {
        true => set_action(array, "frozen"),
        false => Ok(()),
    }
}

fn set_action(array: &Path, action: &str) -> Result<(), Refusal> {
    let file = directory(array).join("sync_action");
    std::fs::write(&file, action).map_err(|e| {
        let message = format!("could not write {}", file.display());
        Refusal::new(Kind::System, message)
            .detail(format!("{e}."))
            .hint("The kernel's log (dmesg) may say more.")
    })
}

/// Sectors that differed in the last check.
pub fn mismatches(array: &Path) -> Result<u64, Refusal> {
    let file = directory(array).join("mismatch_cnt");
    line(&file).and_then(|n| n.parse().ok()).ok_or_else(|| {
        let message = format!("could not read {}", file.display());
        Refusal::new(Kind::System, message)
            .hint("The kernel's log (dmesg) may say why the array is not active.")
    })
}

/// "1024 / 2048".
fn progress(text: &str) -> Option<(u64, u64)> {
    let (done, all) = text.split_once('/')?;
    Some((done.trim().parse().ok()?, all.trim().parse().ok()?))
}

/// The facts about an array that are stored with what is measured on it, by the names of the files in sysfs; none where md has no such file.
pub fn facts(array: &Path) -> serde_json::Map<String, serde_json::Value> {
    const FILES: [&str; 11] = [
        "level",
        "layout",
        "chunk_size",
        "raid_disks",
        "metadata_version",
        "consistency_policy",
        "bitmap/location",
        "stripe_cache_size",
        "safe_mode_delay",
        "degraded",
        "mismatch_cnt",
    ];
    let directory = directory(array);
    let fact = |file: &&str| {
        Some((
            (*file).replace('/', "_"),
            line(&directory.join(file))?.into(),
        ))
    };
    FILES.iter().filter_map(fact).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn an_array_is_found_by_its_member() {
        let root = tempfile::tempdir().unwrap();
        let member = root.path().join("7:1");
        let array = member.join("holders/md127");
        assert_eq!(over_in(&member), Ok(None));
        // Another holder, such as a volume.
        fs::create_dir_all(member.join("holders/dm-0")).unwrap();
        assert_eq!(over_in(&member), Ok(None));
        fs::create_dir_all(array.join("md")).unwrap();
        assert!(over_in(&member).is_err());
        fs::write(array.join("dev"), "9:127\n").unwrap();
        let uuid = "12345678-0000-4000-8000-000000000000\n";
        fs::write(array.join("md/uuid"), uuid).unwrap();
        for (slave, number) in [("loop1", "7:1\n"), ("loop2", "7:2\n")] {
            fs::create_dir_all(array.join("slaves").join(slave)).unwrap();
            fs::write(array.join("slaves").join(slave).join("dev"), number).unwrap();
        }
        let mut found = over_in(&member).unwrap().unwrap();
        found.members.sort_unstable();
        let wanted = Array {
            node: "/dev/md127".into(),
            number: (9, 127),
            uuid: Some("12345678-0000-4000-8000-000000000000".into()),
            members: vec![(7, 1), (7, 2)],
        };
        assert_eq!(found, wanted);
        // A member whose number cannot be read could be anything.
        fs::write(array.join("slaves/loop2/dev"), "7\n").unwrap();
        assert!(over_in(&member).is_err());
    }

    /// Texts of Linux 6.1.
    #[test]
    fn an_array_is_in_sync_when_nothing_is_missing_or_going_on() {
        let root = tempfile::tempdir().unwrap();
        let md = root.path().join("md");
        assert!(sync_in(&md).is_err());
        fs::create_dir(&md).unwrap();
        assert!(sync_in(&md).is_err());
        fs::write(md.join("sync_action"), "idle\n").unwrap();
        assert!(sync_in(&md).is_err());
        // Nothing has begun, though the members differ.
        fs::write(md.join("resync_start"), "0\n").unwrap();
        assert_eq!(sync_in(&md), Ok(Sync::Running(None)));
        fs::write(md.join("resync_start"), "none\n").unwrap();
        for (action, completed, degraded, state) in [
            ("idle", "none", "0", Sync::Done),
            (
                "resync",
                "262144 / 1046528",
                "0",
                Sync::Running(Some((262_144, 1_046_528))),
            ),
            (
                "recover",
                "0 / 1046528",
                "1",
                Sync::Running(Some((0, 1_046_528))),
            ),
            ("resync", "delayed", "0", Sync::Running(None)),
            ("idle", "none", "1", Sync::Degraded(1)),
            ("frozen", "none", "0", Sync::Running(None)),
            // md has set the action back, and has still something to do.
            (
                "idle",
                "1046528 / 1046528",
                "0",
                Sync::Running(Some((1_046_528, 1_046_528))),
            ),
        ] {
            for (file, text) in [
                ("sync_action", action),
                ("sync_completed", completed),
                ("degraded", degraded),
            ] {
                fs::write(md.join(file), format!("{text}\n")).unwrap();
            }
            assert_eq!(sync_in(&md), Ok(state), "{action} {completed} {degraded}");
        }
    }
}
