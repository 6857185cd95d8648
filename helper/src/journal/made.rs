//! Knows which contents of devices are the helper's own: filesystems that it has made, by their UUIDs, and contents that it was
//! erasing when it was killed.

use super::{Journal, LONGEST};
use crate::place::Place;
use crate::probe::contents::{Contents, Signature};
use crate::probe::identity::Identity;
use crate::secure::{self, failed};
use pgfsbench_core::helper::Filesystem;
use pgfsbench_core::refusal::Refusal;
use rustix::fs::{AtFlags, Dir, fsync, unlinkat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::os::fd::OwnedFd;

/// A filesystem that the helper made on a device: the next run may erase it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Made {
    place: String,
    identity: Identity,
}

/// A device that is being erased. It is written before the first byte is erased, and removed when the new filesystem is recorded.
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
    /// True if a helper that was killed while it erased has left these contents: no signature, one of those to be erased, or the new filesystem.
    /// False for a filesystem that was made since.
    fn explains(&self, contents: &Contents, now: &Identity, boot: &str) -> bool {
        // Without a mark of its own it is the same only until it is taken away.
        let is_same = match now.marks().is_anonymous() {
            true => self.identity == *now && self.boot == boot,
            false => self.identity.is_medium(now),
        };
        let is_known = |signature: &Signature| {
            let kind = self.kind.as_deref().unwrap_or(self.filesystem.name());
            let is_new = signature.kind == kind
                && (!self.filesystem.takes_uuid() || signature.uuid.as_ref() == Some(&self.uuid));
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

/// The name of a log's file goes on with this.
const OF_LOG: &str = "@log";

/// blkid's type of an external log of xfs. It has the UUID of its filesystem.
pub const LOG_OF_XFS: &str = "xfs_external_log";
/// blkid's type of an external journal of ext3 and ext4.
pub const JOURNAL_OF_EXT: &str = "jbd";

/// blkid's type of a member of a zfs pool.
pub const PART_OF_ZFS: &str = "zfs_member";

/// By what something with this signature is remembered.
pub fn claim_name(kind: &str, uuid: &str) -> String {
    match kind {
        LOG_OF_XFS => format!("{uuid}-1"),
        _ => uuid.to_owned(),
    }
}

impl Journal {
    /// True if the helper has written what the device holds.
    pub fn is_ours(&self, contents: &Contents, identity: &Identity) -> Result<bool, Refusal> {
        if let Contents::Signature(Signature {
            uuid: Some(uuid),
            kind,
            ..
        }) = contents
            && self.is_claimed(&claim_name(kind, uuid), identity)?
        {
            return Ok(true);
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
        let of = match erasing.kind.as_deref() {
            Some(LOG_OF_XFS | JOURNAL_OF_EXT) => OF_LOG,
            _ => "",
        };
        let name = format!("{place}{of}.json");
        self.write_file(&self.erasing, &self.path.join("erasing"), &name, erasing)
    }

    /// The new filesystem is claimed: what was said before has no meaning any more, whichever place it was for.
    pub fn end_erasing(&self, identity: &Identity) -> Result<(), Refusal> {
        let path = self.path.join("erasing");
        for name in self.names(&self.erasing, "erasing")? {
            let erasing = self.parsed::<Erasing>(&self.erasing, "erasing", &name);
            let is_done = erasing.is_some_and(|e| e.identity.is_medium(identity));
            let place = name.trim_end_matches(".json").trim_end_matches(OF_LOG);
            if is_done && Place::of_key(place).is_some() {
                unlinkat(&self.erasing, &name, AtFlags::empty())
                    .map_err(|e| failed("remove", &path, e))?;
            }
        }
        fsync(&self.erasing).map_err(|e| failed("sync", &path, e))
    }

    /// Remember that a filesystem of this UUID on this device is ours.
    pub fn claim(&self, uuid: &str, place: &str, identity: &Identity) -> Result<(), Refusal> {
        let Some(name) = made_name(uuid) else {
            return Ok(());
        };
        let made = Made {
            place: place.to_owned(),
            identity: identity.clone(),
        };
        self.write_file(&self.made, &self.path.join("made"), &name, &made)
    }

    /// Forget what was on the device before: it has been erased.
    pub fn forget_older(&self, uuids: &[&str], identity: &Identity) -> Result<(), Refusal> {
        let path = self.path.join("made");
        let keep: Vec<_> = uuids.iter().map(|uuid| made_name(uuid)).collect();
        for name in self.names(&self.made, "made")? {
            if keep.contains(&Some(name.clone())) {
                continue;
            }
            let made = self.parsed::<Made>(&self.made, "made", &name);
            if made.is_some_and(|made| made.identity.is_medium(identity)) {
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
        let made = self.parsed::<Made>(&self.made, "made", &name);
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
