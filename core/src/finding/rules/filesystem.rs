//! The filesystem: what it keeps from a commit's promise, and what makes it unlike others.

use super::super::{Code, Finding, RunFacts, Severity, StorageFacts, durability};
use crate::file_attributes::Attributes;
use crate::proc::{compressing_option, has_barriers_off};
use crate::sys::{Layer, LayerKind};
use crate::texts::finding::filesystem::{
    self as text, FileAttributes, Place, Setting, WithoutBarriers,
};

/// No journal adds more than this many times what the server wrote, beyond so many bytes: then others wrote, too.
const OTHERS_TIMES: u64 = 10;
/// The factor for a filesystem that writes data in place, once: its journal holds a few blocks for each sync.
const OTHERS_TIMES_IN_PLACE: u64 = 5;
const OTHERS_BYTES: u64 = 64 << 20;

/// Fewer bytes that were discarded are not told.
const DISCARDS: u64 = 16 << 20;

/// Share of free space below which filesystems search for it.
const FULL: f64 = 0.10;

/// A warning when the other filesystem is of another type, since the result then belongs to neither; else to be known.
pub fn wal_on_other_filesystem(facts: &RunFacts) -> Option<Finding> {
    let (data, wal) = (facts.data_place.as_ref()?, facts.wal_place.as_ref()?);
    (!data.is_same_filesystem(wal)).then(|| {
        let severity = if data.fs_type == wal.fs_type {
            Severity::Info
        } else {
            Severity::Warning
        };
        let text = text::wal_on_other_filesystem(
            [&data.fs_type, &data.mount_point],
            [&wal.fs_type, &wal.mount_point],
        );
        Finding::new(severity, text)
    })
}

impl StorageFacts {
    /// True if the filesystem is of this type.
    fn is(&self, filesystem: &str) -> bool {
        self.filesystem.as_deref() == Some(filesystem)
    }

    /// The mount option of this name, with its value.
    fn option(&self, name: &str) -> Option<&str> {
        let options = self.mount_options.as_deref()?.split(',');
        let mut named = options.filter(|option| option.split('=').next() == Some(name));
        named.next()
    }

    /// The attributes of the run's files; those of their directory where no file was looked at.
    fn attributes_in_force(&self) -> Option<(Attributes<'_>, Place)> {
        let of_files = self.file_attributes.as_deref();
        let of_files = of_files.map(|words| (Attributes(words), Place::Files));
        let of_directory = self.attributes.as_deref();
        of_files.or(of_directory.map(|words| (Attributes(words), Place::Directory)))
    }

    /// Layers of a kind.
    pub(super) fn layers_of(&self, kind: LayerKind) -> impl Iterator<Item = &Layer> {
        let all = self.layers.iter().flatten();
        all.filter(move |layer| layer.kind == kind)
    }

    /// The filesystem or disk in memory that the data are on.
    fn memory(&self) -> Option<String> {
        let mut codes = durability::of_storage(self).into_iter();
        codes.find_map(|code| match code {
            Code::InMemory { what } => Some(what),
            _ => None,
        })
    }

    /// True if a user has declared that the device keeps its cache when power is lost.
    fn is_protected(&self) -> bool {
        self.power_loss_protected == Some(true)
    }
}

/// Commits are in a cache that a power cut empties.
pub fn barriers_off(facts: &RunFacts) -> Option<Finding> {
    mounted_without_barriers(facts).or_else(|| flushes_off(facts))
}

/// The kernel drops the flushes of a device: its queue/write_cache denies a cache that is there.
fn flushes_off(facts: &RunFacts) -> Option<Finding> {
    // A checkpoint relies on the data's device, and a COMMIT on all of them.
    let places = [Some(&facts.storage), facts.wal_storage.as_ref()];
    let mut places = places.into_iter().flatten().chain(&facts.other_storage);
    let has = |storage: &&StorageFacts| {
        let codes = durability::of_storage(storage);
        codes
            .iter()
            .any(|code| matches!(code, Code::FlushesOff { .. }))
    };
    let storage = places.find(has)?;
    let codes = durability::of_storage(storage);
    let is_it = |code: &&Code| matches!(code, Code::FlushesOff { .. });
    let in_memory = |code: &&Code| {
        matches!(
            code,
            Code::FlushesOff {
                in_memory: true,
                ..
            }
        )
    };
    let code = codes
        .iter()
        .find(in_memory)
        .or_else(|| codes.iter().find(is_it))?;
    let is_protected = storage.is_protected() && !in_memory(&code);
    let text = text::flushes_off(code, is_protected);
    Some(Finding::new(unless_protected(is_protected), text))
}

/// The severity of a finding that a device with power-loss protection makes up for.
fn unless_protected(is_protected: bool) -> Severity {
    match is_protected {
        true => Severity::Info,
        false => Severity::Warning,
    }
}

fn mounted_without_barriers(facts: &RunFacts) -> Option<Finding> {
    let (storage, is_wal) = facts.commit_storage();
    let mounted = WithoutBarriers {
        is_uppermost: has_barriers_off(storage.mount_options.as_deref()?),
        is_wal,
        is_protected: storage.is_protected(),
    };
    let codes = durability::of_storage(storage);
    codes.contains(&Code::BarriersOff).then(|| {
        let severity = unless_protected(mounted.is_protected);
        Finding::new(severity, text::barriers_off(mounted))
    })
}

/// Seen with a replayed write log: jfs lost everything.
pub fn jfs_does_not_flush(facts: &RunFacts) -> Option<Finding> {
    let (storage, is_wal) = facts.commit_storage();
    let loses = durability::of_storage(storage).contains(&Code::JfsDoesNotFlush);
    (loses && !storage.is_protected())
        .then(|| Finding::new(Severity::Warning, text::jfs_does_not_flush(is_wal)))
}

/// A filesystem that acknowledges a sync without one.
pub fn sync_does_nothing(facts: &RunFacts) -> Option<Finding> {
    let (storage, _) = facts.commit_storage();
    let is_it = |code: &Code| matches!(code, Code::SyncDoesNothing { .. } | Code::ZfsDoesNotFlush);
    let code = durability::of_storage(storage).into_iter().find(is_it)?;
    let is_covered = code == Code::ZfsDoesNotFlush && storage.is_protected();
    (!is_covered).then(|| Finding::new(Severity::Warning, text::sync_does_nothing(&code)))
}

/// No disk is measured.
pub fn in_memory(facts: &RunFacts) -> Option<Finding> {
    let (of_commits, is_wal) = facts.commit_storage();
    let (what, is_wal) = match (facts.storage.memory(), of_commits.memory()) {
        (Some(what), _) => (what, false),
        (None, Some(what)) if is_wal => (what, true),
        _ => return None,
    };
    Some(Finding::new(
        Severity::Warning,
        text::in_memory(&what, is_wal),
    ))
}

/// A file that serves as a disk.
pub fn loop_device(facts: &RunFacts) -> Option<Finding> {
    let layer = facts.storage.layers_of(LayerKind::Loop).next()?;
    let name = layer.name.as_deref();
    Some(match layer.direct_io {
        Some(false) => Finding::new(Severity::Warning, text::loop_without_direct_io(name)),
        _ => Finding::new(Severity::Info, text::loop_device(name)),
    })
}

/// The device is told of free blocks while the run is on.
pub fn discard_mount_option(facts: &RunFacts) -> Option<Finding> {
    let option = facts
        .storage
        .option("discard")
        .filter(|option| *option != "discard=off")?;
    Some(Finding::new(
        Severity::Info,
        text::discard_mount_option(option),
    ))
}

/// The device is told of free blocks by something else than the filesystem: fstrim, also one that has returned already.
pub fn device_discards(facts: &RunFacts) -> Option<Finding> {
    let storage = &facts.storage;
    let bytes = storage
        .device_discard_bytes
        .filter(|&bytes| bytes > DISCARDS)?;
    let by_mount = storage
        .option("discard")
        .filter(|option| *option != "discard=off");
    by_mount
        .is_none()
        .then(|| Finding::new(Severity::Warning, text::device_discards(bytes)))
}

/// The previous contents of an SSD decide how fast it writes.
pub fn ssd_state_undeclared(facts: &RunFacts) -> Option<Finding> {
    let storage = &facts.storage;
    let is_ssd = storage.on_device? && !storage.rotational? && storage.discard_max_bytes? > 0;
    (is_ssd && storage.ssd_state.is_none())
        .then(|| Finding::new(Severity::Info, text::ssd_state_undeclared()))
}

/// A filesystem that others use has a device that others write to; a filesystem made for the run has no other users.
pub fn other_writers(facts: &RunFacts) -> Option<Finding> {
    let storage = &facts.storage;
    let (device, server) = (storage.device_write_bytes?, storage.server_write_bytes?);
    let others = device.saturating_sub(server);
    let is_in_place = ["ext2", "ext3", "ext4", "xfs"]
        .iter()
        .any(|name| storage.is(name));
    let times = match is_in_place && storage.option("data") != Some("data=journal") {
        true => OTHERS_TIMES_IN_PLACE,
        false => OTHERS_TIMES,
    };
    let are_there =
        !storage.made? && others > OTHERS_BYTES && device > times.saturating_mul(server);
    are_there.then(|| Finding::new(Severity::Warning, text::other_writers(device, server)))
}

/// ext4 writes its tables after the mount.
pub fn lazy_init(facts: &RunFacts) -> Option<Finding> {
    let storage = &facts.storage;
    // mke2fs takes the name alone for 1.
    let is_lazy = |option: &str| {
        let (name, value) = option.split_once('=').unwrap_or((option, "1"));
        ["lazy_itable_init", "lazy_journal_init"].contains(&name) && value != "0"
    };
    let asked = storage
        .mkfs_command
        .as_deref()
        .is_some_and(|command| command.split([' ', ',']).any(is_lazy));
    let is_ext = storage.is("ext4") || storage.is("ext3");
    // The kernel's thread serves all of them, and does not say which.
    (is_ext && (asked || storage.lazy_init == Some(true)))
        .then(|| Finding::new(Severity::Warning, text::lazy_init(asked)))
}

/// Reads write.
pub fn atime(facts: &RunFacts) -> Option<Finding> {
    let storage = &facts.storage;
    storage.mount_options.as_ref()?;
    let filesystem = storage.filesystem.as_deref()?;
    let attributes = storage.attributes_in_force();
    if storage.option("noatime").is_some()
        || attributes.is_some_and(|(attributes, _)| attributes.has("noatime"))
        || ["tmpfs", "ramfs", "overlay", "zfs"].contains(&filesystem)
    {
        return None;
    }
    let is_relative = storage.option("relatime").is_some();
    let severity = match is_relative {
        true => Severity::Info,
        false => Severity::Warning,
    };
    Some(Finding::new(severity, text::atime(is_relative)))
}

/// btrfs without what makes it btrfs.
pub fn btrfs_nodatacow(facts: &RunFacts) -> Option<Finding> {
    let storage = &facts.storage;
    let option = storage
        .option("nodatacow")
        .or_else(|| storage.option("nodatasum"))
        .map(Setting::MountOption);
    let attribute = storage
        .attributes_in_force()
        .filter(|(attributes, _)| attributes.has("nocow"))
        .map(|(_, place)| Setting::Attribute("nocow", place));
    let setting = option.or(attribute)?;
    storage
        .is("btrfs")
        .then(|| Finding::new(Severity::Warning, text::btrfs_nodatacow(setting)))
}

/// `chattr` or a property of btrfs has changed the files. Neither mkfs nor mount shows it.
pub fn file_attributes(facts: &RunFacts) -> Option<Finding> {
    let storage = &facts.storage;
    let (in_force, place) = storage.attributes_in_force()?;
    // The directory of a database keeps what it was made with, whatever the data directory is given later.
    let of_directory = storage.attributes.as_deref().map(Attributes);
    let not_inherited = (of_directory.into_iter().flat_map(Attributes::names))
        .filter(|name| INHERITED.contains(name) && !in_force.has(name))
        .collect();
    let mounted = storage
        .mount_options
        .as_deref()
        .and_then(compressing_option);
    let attributes = FileAttributes {
        telling: in_force.telling(),
        place,
        not_inherited,
        not_compressed: mounted.zip(in_force.forbids_compression()),
    };
    attributes
        .is_any()
        .then(|| Finding::new(Severity::Warning, text::file_attributes(&attributes)))
}

/// Attributes that btrfs gives to new files and directories.
const INHERITED: [&str; 3] = ["nocow", "compress", "nocompress"];

/// glibc writes into each block where the filesystem cannot allocate them.
pub fn fallocate_missing(facts: &RunFacts) -> Option<Finding> {
    let storage = &facts.storage;
    let is_asked = facts.server.extends_by_fallocate?;
    (is_asked && !storage.has_fallocate?).then(|| {
        let text = text::fallocate_missing(storage.filesystem.as_deref());
        Finding::new(Severity::Warning, text)
    })
}

/// A block that two files share is written elsewhere when one of them changes it, and its file is in pieces from then on.
pub fn cloned_data(facts: &RunFacts) -> Option<Finding> {
    (facts.storage.cloned?).then(|| Finding::new(Severity::Warning, text::cloned_data()))
}

/// pgbench's rows are mostly blanks.
pub fn compression(facts: &RunFacts) -> Option<Finding> {
    let storage = &facts.storage;
    let mounted = storage
        .mount_options
        .as_deref()
        .and_then(compressing_option);
    let property = storage
        .compression
        .as_deref()
        .filter(|value| *value != "off");
    let attributes = storage.attributes_in_force();
    let attribute =
        attributes.and_then(|(attributes, place)| Some((attributes.compressing()?, place)));
    let is_forbidden =
        attributes.is_some_and(|(attributes, _)| attributes.forbids_compression().is_some());
    let setting = match (attribute, mounted, property) {
        _ if is_forbidden => return None,
        (Some((attribute, place)), ..) => Setting::Attribute(attribute, place),
        (None, Some(option), _) => Setting::MountOption(option),
        (None, None, Some(value)) => Setting::Compression(value),
        _ => return None,
    };
    Some(Finding::new(Severity::Warning, text::compression(setting)))
}

/// Share of the lengths of its files that a filesystem takes at least, if it neither compresses nor leaves anything out.
const WHOLE: f64 = 0.9;
/// And that it takes at most, if it keeps nothing of what was overwritten.
const GROWN: f64 = 1.5;
/// Bytes that the filesystem's own tables may take in any case.
const TABLES: u64 = 64 << 20;

/// Files take less room than their length. Only on a filesystem that was made for the run, where no files of others are.
pub fn allocated_less(facts: &RunFacts) -> Option<Finding> {
    let storage = &facts.storage;
    storage.mkfs_command.as_ref()?;
    let (used, files) = (storage.used_bytes?, storage.files_bytes?);
    ((used as f64) < files as f64 * WHOLE)
        .then(|| Finding::new(Severity::Info, text::allocated_less(files, used)))
}

/// btrfs keeps an extent as long as a part of it is in use.
pub fn allocated_more(facts: &RunFacts) -> Option<Finding> {
    let storage = &facts.storage;
    storage.mkfs_command.as_ref()?;
    let (used, files) = (storage.used_bytes_at_end?, storage.files_bytes_at_end?);
    let has_grown = used as f64 > files as f64 * GROWN && used > files + TABLES;
    (storage.is("btrfs") && has_grown)
        .then(|| Finding::new(Severity::Info, text::allocated_more(files, used)))
}

/// A filesystem that is almost full searches for free blocks.
pub fn almost_full(facts: &RunFacts) -> Option<Finding> {
    let (size, before) = (facts.storage.size_bytes?, facts.storage.free_bytes?);
    let free = facts
        .storage
        .free_bytes_at_end
        .map_or(before, |end| end.min(before));
    let share = free as f64 / size.max(1) as f64;
    (size > 0 && share < FULL)
        .then(|| Finding::new(Severity::Warning, text::almost_full(free, size, share)))
}
