//! Knows which contents of devices are the helper's own: filesystems that it has made, by their UUIDs, and contents that it was
//! erasing when it was killed.

use super::{Journal, LONGEST};
use crate::place::Place;
use crate::probe::contents::{Contents, Signature};
use crate::probe::identity::Identity;
use crate::secure::{self, failed};
use pgfsbench_core::helper::Filesystem;
use pgfsbench_core::helper::layout::{MOST_LOGS, MOST_MEMBERS};
use pgfsbench_core::refusal::Refusal;
use rustix::fs::{AtFlags, Dir, fsync, unlinkat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::fd::OwnedFd;

/// A filesystem that the helper made on a device: the next run may erase it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MadeFilesystem {
    place: String,
    identity: Identity,
}

/// A device that is being erased. It is written before the first byte is erased, and removed when the new filesystem is recorded, or when
/// a release has emptied a member of an array.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Erasing {
    pub identity: Identity,
    pub boot: String,
    /// The new filesystem, of which a part may be there.
    pub filesystem: Filesystem,
    /// The type by which blkid would know it, if that is not the name of the filesystem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    pub uuid: String,
    /// The signatures that were there before, and may be erased.
    pub held: Vec<Signature>,
}

impl Erasing {
    /// One file for each device: a target whose devices have changed their order overwrites no record that another device still needs.
    fn file_name(&self, place: &str) -> String {
        let Identity {
            major,
            minor,
            bytes,
            sequence,
            serial,
            wwn,
            partition_uuid,
        } = &self.identity;
        let mut hasher = DefaultHasher::new();
        (bytes, serial, wwn, partition_uuid).hash(&mut hasher);
        // A device without a mark is known by its number.
        if self.identity.marks().is_anonymous() {
            (major, minor, sequence).hash(&mut hasher);
        }
        format!("{place}@{:016x}.json", hasher.finish())
    }

    /// True if a helper that was killed while it erased has left these contents: no signature, one of those to be erased, or the new filesystem.
    /// False for a filesystem that was made since.
    fn explains(&self, contents: &Contents, now: &Identity, boot: &str) -> bool {
        // Without a mark of its own it is the same only until the machine stops.
        let is_this_boot = !now.marks().is_anonymous() || self.boot == boot;
        let is_same = self.identity.is_same(now) && is_this_boot;
        let is_known = |signature: &Signature| {
            let kind = self.kind.as_deref().unwrap_or(self.filesystem.name());
            // Members of arrays have the UUID that the helper gives, whatever filesystem comes on them.
            let is_named =
                [PART_OF_MD, PART_OF_LVM].contains(&kind) || self.filesystem.takes_uuid();
            let is_new = signature.kind == kind
                && (!is_named || signature.uuid.as_ref() == Some(&self.uuid));
            let was_there = |held: &Signature| {
                held.kind == signature.kind && held.uuid.is_some() && held.uuid == signature.uuid
            };
            is_new || self.held.iter().any(was_there)
        };
        is_same
            && match contents {
                Contents::Table(_) | Contents::Partitions => false,
                Contents::Empty | Contents::Unknown(_) => true,
                Contents::Signature(_) | Contents::Several(_) => {
                    contents.signatures().iter().all(is_known)
                }
            }
    }
}

/// blkid's type of an external log of xfs. It has the UUID of its filesystem.
pub const LOG_OF_XFS: &str = "xfs_external_log";
/// blkid's type of an external journal of ext3 and ext4.
pub const JOURNAL_OF_EXT: &str = "jbd";

/// blkid's type of a member of a zfs pool.
pub const PART_OF_ZFS: &str = "zfs_member";

/// blkid's type of a member of LVM.
pub const PART_OF_LVM: &str = "LVM2_member";

/// blkid's type of a member of an array of md.
pub const PART_OF_MD: &str = "linux_raid_member";

/// By what the log with this signature is remembered.
pub fn claim_of_log(kind: &str, uuid: &str) -> String {
    match kind {
        LOG_OF_XFS => format!("{uuid}-1"),
        _ => uuid.to_owned(),
    }
}

/// By what a member of a filesystem is remembered. All members have its UUID, and so have the devices of a pool's log, which come after these.
pub fn claim_of_member(uuid: &str, member: usize) -> String {
    match member {
        0 => uuid.to_owned(),
        n => format!("{uuid}-{}", n + 1),
    }
}

/// The names by which something with this signature may be remembered.
fn claims(kind: &str, uuid: &str) -> Vec<String> {
    match kind {
        LOG_OF_XFS => vec![claim_of_log(kind, uuid)],
        _ => (0..MOST_MEMBERS + MOST_LOGS)
            .map(|member| claim_of_member(uuid, member))
            .collect(),
    }
}

/// The place of a file of `erasing`, without the part of the target.
fn place_of_name(name: &str) -> Option<Place> {
    let stem = name.strip_suffix(".json")?;
    let end = stem
        .match_indices('@')
        .nth(1)
        .map_or(stem.len(), |(at, _)| at);
    Place::of_key(&stem[..end])
}

impl Journal {
    /// True if the helper has written what the device holds.
    pub fn is_ours(&self, contents: &Contents, identity: &Identity) -> Result<bool, Refusal> {
        if let Contents::Signature(Signature {
            uuid: Some(uuid),
            kind,
            ..
        }) = contents
        {
            for claim in claims(kind, uuid) {
                if self.is_claimed(&claim, identity)? {
                    return Ok(true);
                }
            }
        }
        let boot = crate::probe::boot_id()?;
        for name in self.names(&self.erasing, "erasing")? {
            if let Some(erasing) = self.parsed::<Erasing>(&self.erasing, "erasing", &name)
                && erasing.explains(contents, identity, &boot)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Say that this is going to be erased for this place.
    pub fn begin_erasing(&self, place: &str, erasing: &Erasing) -> Result<(), Refusal> {
        let name = erasing.file_name(place);
        self.write_file(&self.erasing, &self.path.join("erasing"), &name, erasing)
    }

    /// The new filesystem is claimed: what was said before has no meaning any more, whichever place it was for.
    pub fn end_erasing(&self, identity: &Identity) -> Result<(), Refusal> {
        let path = self.path.join("erasing");
        for name in self.names(&self.erasing, "erasing")? {
            let erasing = self.parsed::<Erasing>(&self.erasing, "erasing", &name);
            let is_done = erasing.is_some_and(|e| e.identity.is_same(identity));
            if is_done && place_of_name(&name).is_some() {
                unlinkat(&self.erasing, &name, AtFlags::empty())
                    .map_err(|e| failed("remove", &path, e))?;
            }
        }
        fsync(&self.erasing).map_err(|e| failed("sync", &path, e))
    }

    /// The signatures that were on the device before are not the helper's any more: it was erased.
    pub fn forget_held(&self, identity: &Identity) -> Result<(), Refusal> {
        let path = self.path.join("erasing");
        for name in self.names(&self.erasing, "erasing")? {
            let erasing = self.parsed::<Erasing>(&self.erasing, "erasing", &name);
            if let Some(erasing) = erasing.filter(|e| e.identity.is_same(identity)) {
                let held = Vec::new();
                self.write_file(&self.erasing, &path, &name, &Erasing { held, ..erasing })?;
            }
        }
        Ok(())
    }

    /// Remember that a filesystem of this UUID on this device is ours.
    pub fn claim(&self, uuid: &str, place: &str, identity: &Identity) -> Result<(), Refusal> {
        let Some(name) = made_name(uuid) else {
            return Ok(());
        };
        let made = MadeFilesystem {
            place: place.to_owned(),
            identity: identity.clone(),
        };
        self.write_file(&self.made, &self.path.join("made"), &name, &made)
    }

    /// Forget what was on the device before: it has been erased.
    pub fn forget_older(&self, claims: &[String], identity: &Identity) -> Result<(), Refusal> {
        let path = self.path.join("made");
        let keep: Vec<_> = claims.iter().map(|claim| made_name(claim)).collect();
        for name in self.names(&self.made, "made")? {
            if keep.contains(&Some(name.clone())) {
                continue;
            }
            let made = self.parsed::<MadeFilesystem>(&self.made, "made", &name);
            if made.is_some_and(|made| made.identity.is_same(identity)) {
                match unlinkat(&self.made, &name, AtFlags::empty()) {
                    Ok(()) | Err(Errno::NOENT) => {}
                    Err(e) => return Err(failed("remove", &path, e)),
                }
            }
        }
        Ok(())
    }

    /// True if a filesystem of this UUID on this device is the helper's.
    fn is_claimed(&self, uuid: &str, identity: &Identity) -> Result<bool, Refusal> {
        let Some(name) = made_name(uuid) else {
            return Ok(false);
        };
        let made = self.parsed::<MadeFilesystem>(&self.made, "made", &name);
        Ok(made.is_some_and(|made| made.identity.is_medium(identity)))
    }

    fn names(&self, directory: &OwnedFd, called: &str) -> Result<Vec<String>, Refusal> {
        let path = self.path.join(called);
        let entries = Dir::read_from(directory).map_err(|e| failed("read", &path, e))?;
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|e| failed("read", &path, e))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if !name.starts_with('.') {
                names.push(name);
            }
        }
        Ok(names)
    }

    /// A file that cannot be believed counts as missing: then the contents are not the helper's.
    fn parsed<T: serde::de::DeserializeOwned>(
        &self,
        directory: &OwnedFd,
        called: &str,
        name: &str,
    ) -> Option<T> {
        let path = self.path.join(called).join(name);
        let text = secure::read_file(directory, name, &path, LONGEST).ok()??;
        serde_json::from_str(&text).ok()
    }
}

/// A UUID as the name of a file, if it is one: it comes from a device, that is, from anybody.
fn made_name(uuid: &str) -> Option<String> {
    let fits = (1..=64).contains(&uuid.len())
        && uuid.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
        && !uuid.starts_with('-');
    fits.then(|| format!("{}.json", uuid.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_one_filesystem_are_remembered_apart() {
        let uuid = "ab";
        let of_btrfs = claims("btrfs", uuid);
        assert_eq!(of_btrfs[..3], ["ab", "ab-2", "ab-3"]);
        assert_eq!(claims(LOG_OF_XFS, uuid), ["ab-1"]);
        assert!(of_btrfs.iter().all(|claim| made_name(claim).is_some()));
        for name in ["b@t.json", "b@t@log.json", "b@t@16.json"] {
            assert_eq!(place_of_name(name), Place::of_key("b@t"), "{name}");
        }
        for name in ["b@t", "b.json", "@t.json", "../b@t.json"] {
            assert_eq!(place_of_name(name), None, "{name}");
        }
    }

    #[test]
    fn only_a_uuid_becomes_a_file_name() {
        assert_eq!(made_name("AB-1"), Some("ab-1.json".into()));
        for uuid in ["", "../x", "a/b", "-", "x", &"a".repeat(65)] {
            assert_eq!(made_name(uuid), None, "{uuid}");
        }
    }

    fn identity(serial: Option<&str>) -> Identity {
        Identity {
            major: 8,
            minor: 1,
            bytes: 4096,
            sequence: Some("7".into()),
            serial: serial.map(str::to_owned),
            wwn: None,
            partition_uuid: None,
        }
    }

    fn signature(kind: &str, uuid: &str) -> Signature {
        Signature {
            kind: kind.into(),
            label: None,
            uuid: (!uuid.is_empty()).then(|| uuid.to_owned()),
        }
    }

    fn erasing(serial: Option<&str>) -> Erasing {
        Erasing {
            identity: identity(serial),
            boot: "b1".into(),
            filesystem: Filesystem::Ext4,
            kind: None,
            uuid: "new".into(),
            held: vec![signature("xfs", "old"), signature("swap", "")],
        }
    }

    #[test]
    fn what_a_killed_mkfs_has_left_is_ours_and_what_came_since_is_not() {
        let erasing = erasing(Some("S1"));
        let one = |kind: &str, uuid: &str| Contents::Signature(signature(kind, uuid));
        for (contents, is_ours) in [
            (Contents::Empty, true),
            (Contents::Unknown("data".into()), true),
            (one("ext4", "new"), true),
            (one("xfs", "old"), true),
            (one("ext4", "other"), false),
            (one("xfs", "other"), false),
            (one("swap", ""), false),
            (one("btrfs", "new"), false),
            (Contents::Table("gpt".into()), false),
            (Contents::Partitions, false),
            (
                Contents::Several(vec![signature("ext4", "new"), signature("xfs", "old")]),
                true,
            ),
            (
                Contents::Several(vec![signature("ext4", "new"), signature("zfs_member", "1")]),
                false,
            ),
        ] {
            let says = erasing.explains(&contents, &identity(Some("S1")), "b2");
            assert_eq!(says, is_ours, "{contents}");
        }
    }

    #[test]
    fn what_is_on_a_device_after_its_release_is_not_ours() {
        let root = tempfile::tempdir().unwrap();
        let journal = Journal::of_test(root.path());
        let marked = identity(Some("S1"));
        let erasing = erasing(Some("S1"));
        journal.begin_erasing("b@t", &erasing).unwrap();
        // Only files of root are believed.
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let old = Contents::Signature(signature("xfs", "old"));
        let data = Contents::Unknown("data".into());
        assert_eq!(journal.is_ours(&old, &marked), Ok(true));
        assert_eq!(journal.is_ours(&data, &marked), Ok(true));
        journal.forget_held(&marked).unwrap();
        assert_eq!(journal.is_ours(&old, &marked), Ok(false));
        assert_eq!(journal.is_ours(&data, &marked), Ok(true));
        journal.end_erasing(&identity(Some("S2"))).unwrap();
        assert_eq!(journal.is_ours(&data, &marked), Ok(true));
        journal.end_erasing(&marked).unwrap();
        for contents in [old, data, Contents::Signature(signature(PART_OF_MD, "new"))] {
            assert_eq!(journal.is_ours(&contents, &marked), Ok(false), "{contents}");
        }
    }

    #[test]
    fn each_device_of_a_target_has_a_record_of_its_own() {
        let name = |erasing: &Erasing| erasing.file_name("b@t");
        let (one, other) = (erasing(Some("S1")), erasing(Some("S2")));
        assert_ne!(name(&one), name(&other));
        assert_eq!(place_of_name(&name(&one)), Place::of_key("b@t"));
        let renumbered = |mut erasing: Erasing| {
            erasing.identity.minor += 1;
            erasing
        };
        // A device with a mark keeps its record at another number.
        assert_eq!(name(&one), name(&renumbered(one.clone())));
        let anonymous = erasing(None);
        assert_ne!(name(&anonymous), name(&renumbered(anonymous.clone())));
    }

    #[test]
    fn a_member_of_another_array_is_not_ours() {
        let erasing = Erasing {
            filesystem: Filesystem::Jfs,
            kind: Some(PART_OF_MD.into()),
            ..erasing(Some("S1"))
        };
        let explains = |uuid: &str| {
            let contents = Contents::Signature(signature(PART_OF_MD, uuid));
            erasing.explains(&contents, &identity(Some("S1")), "b1")
        };
        assert!(explains("new") && !explains("other"));
        // Each member of LVM has a UUID of its own.
        let of_lvm = Erasing {
            kind: Some(PART_OF_LVM.into()),
            ..erasing.clone()
        };
        let explains = |kind: &str, uuid: &str| {
            let contents = Contents::Signature(signature(kind, uuid));
            of_lvm.explains(&contents, &identity(Some("S1")), "b1")
        };
        assert!(explains(PART_OF_LVM, "new") && !explains(PART_OF_LVM, "other"));
        assert!(!explains(PART_OF_MD, "new"));
    }

    #[test]
    fn only_the_same_device_is_ours() {
        let data = Contents::Unknown("data".into());
        let marked = erasing(Some("S1"));
        assert!(!marked.explains(&data, &identity(Some("S2")), "b1"));
        let moved = Identity {
            minor: 9,
            sequence: Some("8".into()),
            ..identity(Some("S1"))
        };
        assert!(marked.explains(&data, &moved, "b2"));
        // Without a mark: the same number and sequence, and no reboot since.
        let anonymous = erasing(None);
        assert!(anonymous.explains(&data, &identity(None), "b1"));
        assert!(!anonymous.explains(&data, &identity(None), "b2"));
        let other = Identity {
            sequence: Some("8".into()),
            ..identity(None)
        };
        assert!(!anonymous.explains(&data, &other, "b1"));
    }
}
