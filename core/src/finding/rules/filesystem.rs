//! The filesystem: what it keeps from a commit's promise, and what makes it unlike others.

use super::super::{Code, Finding, RunFacts, Severity, StorageFacts, durability};
use crate::file_attributes::Attributes;
use crate::proc::{compressing_option, has_barriers_off};
use crate::sys::{Layer, LayerKind};
use crate::units::{format_bytes, format_share};

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
        let severity = if data.fs_type == wal.fs_type { Severity::Info } else { Severity::Warning };
        let message = format!(
            "data is on {} at {}, WAL on {} at {}",
            data.fs_type, data.mount_point, wal.fs_type, wal.mount_point
        );
        let hint = "Latency of commits is that of the filesystem of WAL; compare only with runs of the same scope.";
        Finding::new("wal_on_other_filesystem", severity, message, hint)
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
    fn attributes_in_force(&self) -> Option<(Attributes<'_>, &'static str)> {
        let of_files = self.file_attributes.as_deref();
        let of_files = of_files.map(|words| (Attributes(words), "files of the run"));
        let of_directory = self.attributes.as_deref();
        of_files.or(of_directory.map(|words| (Attributes(words), "data directory")))
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
    let (severity, hint) = match storage.is_protected() && !in_memory(&code) {
        true => (
            Severity::Info,
            "The target's device is declared to keep its cache when power is lost.",
        ),
        false => (
            Severity::Warning,
            "A power cut loses commits that were reported: write \"write back\" to the file queue/write_cache of that device in /sys/block.",
        ),
    };
    Some(Finding::new("barriers_off", severity, code.words(), hint))
}

fn mounted_without_barriers(facts: &RunFacts) -> Option<Finding> {
    let (storage, is_wal) = facts.commit_storage();
    let which = match (has_barriers_off(storage.mount_options.as_deref()?), is_wal) {
        (true, false) => "the filesystem",
        (true, true) => "the filesystem of WAL",
        (false, false) => "a filesystem below the data",
        (false, true) => "a filesystem below WAL",
    };
    durability::of_storage(storage).contains(&Code::BarriersOff).then(|| {
        let (severity, hint) = match storage.is_protected() {
            true => (Severity::Info, "The target's device is declared to keep its cache when power is lost."),
            false => (
                Severity::Warning,
                "A power cut loses commits that were reported: mount it with barriers, or declare power_loss_protected => true if the device has a capacitor.",
            ),
        };
        let message = format!("{which} is mounted with barriers off");
        Finding::new("barriers_off", severity, message, hint)
    })
}

/// Seen with a replayed write log: jfs lost everything.
pub fn jfs_does_not_flush(facts: &RunFacts) -> Option<Finding> {
    let (storage, is_wal) = facts.commit_storage();
    let of = if is_wal { " of WAL" } else { "" };
    let loses = durability::of_storage(storage).contains(&Code::JfsDoesNotFlush);
    (loses && !storage.is_protected()).then(|| {
        let hint = "A power cut loses commits that were reported: compare its latency only with others that do not flush.";
        Finding::new("jfs_does_not_flush", Severity::Warning, format!("jfs{of} does not flush the device's write cache"), hint)
    })
}

/// A filesystem that acknowledges a sync without one.
pub fn sync_does_nothing(facts: &RunFacts) -> Option<Finding> {
    let (storage, _) = facts.commit_storage();
    let is_it = |code: &Code| matches!(code, Code::SyncDoesNothing { .. } | Code::ZfsDoesNotFlush);
    let code = durability::of_storage(storage).into_iter().find(is_it)?;
    let is_covered = code == Code::ZfsDoesNotFlush && storage.is_protected();
    (!is_covered).then(|| {
        let hint = "A power cut loses commits that were reported: mount or set it without that, and run it again.";
        Finding::new("sync_does_nothing", Severity::Warning, code.words(), hint)
    })
}

/// No disk is measured.
pub fn in_memory(facts: &RunFacts) -> Option<Finding> {
    let (of_commits, is_wal) = facts.commit_storage();
    let (which, what, hint) = match (facts.storage.memory(), of_commits.memory()) {
        (Some(what), _) => (
            "the data are",
            what,
            "Nothing waits for a disk, and a power cut loses everything: it says what the processor and the filesystem's code take.",
        ),
        (None, Some(what)) if is_wal => (
            "WAL is",
            what,
            "No commit waits for a disk, and a power cut loses all WAL: put it on a disk.",
        ),
        _ => return None,
    };
    Some(Finding::new(
        "in_memory",
        Severity::Warning,
        format!("{which} in memory ({what})"),
        hint,
    ))
}

/// A file that serves as a disk.
pub fn loop_device(facts: &RunFacts) -> Option<Finding> {
    let layer = facts.storage.layers_of(LayerKind::Loop).next()?;
    let name = layer.name.as_deref().unwrap_or("a loop device");
    if layer.direct_io == Some(false) {
        let hint = "The page cache of the filesystem below holds the data a second time: put the image where direct I/O is possible, not on tmpfs.";
        let message = format!("{name} has no direct I/O");
        return Some(Finding::new(
            "loop_without_direct_io",
            Severity::Warning,
            message,
            hint,
        ));
    }
    let hint = "Its figures are not those of a disk: good for comparing filesystems, not for choosing hardware.";
    Some(Finding::new(
        "loop_device",
        Severity::Info,
        format!("the data are on a loop device ({name})"),
        hint,
    ))
}

/// The array reads and writes for itself.
pub fn raid_resync(facts: &RunFacts) -> Option<Finding> {
    let is_busy = |layer: &&Layer| layer.busy_with().is_some();
    let busy = facts.storage.layers_of(LayerKind::Md).find(is_busy);
    let (name, action) = match (busy, facts.storage.resync_at_end) {
        (Some(layer), _) => (layer.name.as_deref().unwrap_or("md"), layer.busy_with()?),
        (None, Some(true)) => ("an array", "resync"),
        _ => return None,
    };
    let hint = "Wait until /proc/mdstat shows no resync, recovery or check, and run it again.";
    Some(Finding::new(
        "raid_resync",
        Severity::Warning,
        format!("RAID is busy in the background: {action} of {name}"),
        hint,
    ))
}

/// An array that lacks disks computes what they held.
pub fn raid_degraded(facts: &RunFacts) -> Option<Finding> {
    let missing = |layer: &&Layer| layer.degraded.is_some_and(|n| n > 0);
    let layer = facts.storage.layers_of(LayerKind::Md).find(missing)?;
    let message = format!(
        "{} lacks {} of its disks",
        layer.name.as_deref().unwrap_or("RAID"),
        layer.degraded?
    );
    Some(Finding::new(
        "raid_degraded",
        Severity::Warning,
        message,
        "Replace the disks, and run it again after the resync.",
    ))
}

/// Writes of less than a stripe have the array read first.
pub fn stripe_unknown(facts: &RunFacts) -> Option<Finding> {
    let unit = facts.storage.stripe_unit_bytes?;
    let has_parity = |layer: &&Layer| {
        let level = layer.level.as_deref();
        level.is_some_and(|level| ["raid4", "raid5", "raid6"].contains(&level))
    };
    let layer = facts.storage.layers_of(LayerKind::Md).find(has_parity)?;
    (unit == 0).then(|| {
        let message = format!("the filesystem does not know the stripes of {} ({})",
            layer.name.as_deref().unwrap_or("RAID"), layer.level.as_deref().unwrap_or("parity"));
        let hint = "Let mkfs take them from the device, or give su and sw, or stride and stripe_width, for all targets alike. mkfs.xfs drops the device's stripes below about 1 GiB.";
        Finding::new("stripe_unknown", Severity::Warning, message, hint)
    })
}

/// The device is told of free blocks while the run is on.
pub fn discard_mount_option(facts: &RunFacts) -> Option<Finding> {
    let option = facts
        .storage
        .option("discard")
        .filter(|option| *option != "discard=off")?;
    let message =
        format!("the filesystem discards blocks while the run is on (mount option {option})");
    let hint = "Compare only with targets that do too; fstrim between runs, or ssd_state => 'trimmed', does it beforehand.";
    Some(Finding::new(
        "discard_mount_option",
        Severity::Info,
        message,
        hint,
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
    by_mount.is_none().then(|| {
        let message = format!("the device discarded {} while the run was measured, and no mount option asks for that", format_bytes(bytes));
        let hint = "Keep fstrim and fstrim.timer away from runs. On xfs the device goes on after fstrim has returned: wait until the ninth number of /sys/block/DEVICE/stat is 0.";
        Finding::new("device_discards", Severity::Warning, message, hint)
    })
}

/// The previous contents of an SSD decide how fast it writes.
pub fn ssd_state_undeclared(facts: &RunFacts) -> Option<Finding> {
    let storage = &facts.storage;
    let is_ssd = storage.on_device? && !storage.rotational? && storage.discard_max_bytes? > 0;
    (is_ssd && storage.ssd_state.is_none()).then(|| {
        let hint = "Give the target ssd_state => 'trimmed', or 'as_is', the same for all that are compared.";
        Finding::new("ssd_state_undeclared", Severity::Info, "the state of the SSD was not declared", hint)
    })
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
    are_there.then(|| {
        let message = format!("the device wrote {}, and this server at most {} of it: others wrote, too", format_bytes(device), format_bytes(server));
        let hint = "What is told of the device (bytes, flushes, write amplification) is not the run's alone: measure on a device or an image of its own.";
        Finding::new("other_writers", Severity::Warning, message, hint)
    })
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
    let message = match asked {
        true => "ext4 initializes its tables in the background",
        false => {
            "an ext4 of this machine, perhaps another one, initializes its tables in the background"
        }
    };
    (is_ext && (asked || storage.lazy_init == Some(true))).then(|| {
        let hint = "Make it with -E lazy_itable_init=0,lazy_journal_init=0, or wait until the kernel's thread ext4lazyinit has ended.";
        Finding::new("lazy_init", Severity::Warning, message, hint)
    })
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
    let (severity, message) = match storage.option("relatime") {
        Some(_) => (
            Severity::Info,
            "reads change access times now and then (mount option relatime)",
        ),
        None => (
            Severity::Warning,
            "every read changes an access time (no mount option noatime or relatime)",
        ),
    };
    Some(Finding::new(
        "atime",
        severity,
        message,
        "Mount it with noatime, unless that is what is tested.",
    ))
}

/// btrfs without what makes it btrfs.
pub fn btrfs_nodatacow(facts: &RunFacts) -> Option<Finding> {
    let storage = &facts.storage;
    let option = storage
        .option("nodatacow")
        .or_else(|| storage.option("nodatasum"))
        .map(|option| format!("mount option {option}"));
    let attribute = storage
        .attributes_in_force()
        .filter(|(attributes, _)| attributes.has("nocow"))
        .map(|(_, whose)| format!("attribute nocow of the {whose}"));
    let what = option.or(attribute)?;
    storage.is("btrfs").then(|| {
        let message = format!("btrfs works without checksums of the data ({what})");
        let hint =
            "Label it so: it is another filesystem than btrfs with copy on write and checksums.";
        Finding::new("btrfs_nodatacow", Severity::Warning, message, hint)
    })
}

/// `chattr` or a property of btrfs has changed the files. Neither mkfs nor mount shows it.
pub fn file_attributes(facts: &RunFacts) -> Option<Finding> {
    let storage = &facts.storage;
    let (in_force, whose) = storage.attributes_in_force()?;
    let mut says = Vec::new();
    let telling = in_force.telling();
    if !telling.is_empty() {
        says.push(format!("{} of the {whose}", telling.join(", ")));
    }
    // The directory of a database keeps what it was made with, whatever the data directory is given later.
    let of_directory = storage.attributes.as_deref().map(Attributes);
    let not_inherited: Vec<&str> = (of_directory.into_iter().flat_map(Attributes::names))
        .filter(|name| INHERITED.contains(name) && !in_force.has(name))
        .collect();
    if !not_inherited.is_empty() {
        says.push(format!(
            "{} of the data directory, which the files of the run do not have",
            not_inherited.join(", ")
        ));
    }
    let mounted = storage
        .mount_options
        .as_deref()
        .and_then(compressing_option);
    if let (Some(option), Some(attribute)) = (mounted, in_force.forbids_compression()) {
        says.push(format!(
            "{attribute} of the {whose}, for which mount option {option} does nothing"
        ));
    }
    let hint = "Compare only with runs whose files have the same: see data_file_attributes in fsbench.environment. lsattr and chattr, or btrfs property, show and change them; new files take them from their directory.";
    (!says.is_empty()).then(|| {
        Finding::new(
            "file_attributes",
            Severity::Warning,
            format!("attributes by chattr or a property: {}", says.join("; ")),
            hint,
        )
    })
}

/// Attributes that btrfs gives to new files and directories.
const INHERITED: [&str; 3] = ["nocow", "compress", "nocompress"];

/// glibc writes into each block where the filesystem cannot allocate them.
pub fn fallocate_missing(facts: &RunFacts) -> Option<Finding> {
    let storage = &facts.storage;
    let is_asked = facts.server.extends_by_fallocate?;
    (is_asked && !storage.has_fallocate?).then(|| {
        let filesystem = storage.filesystem.as_deref().unwrap_or("the filesystem");
        let message = format!("{filesystem} has no fallocate: to extend a file, the server has a byte of each block written first");
        let hint = "COPY and other bulk loads are slower for it. Set file_extend_method to write_zeros, where the server has that setting, for all targets alike.";
        Finding::new("fallocate_missing", Severity::Warning, message, hint)
    })
}

/// A block that two files share is written elsewhere when one of them changes it, and its file is in pieces from then on.
pub fn cloned_data(facts: &RunFacts) -> Option<Finding> {
    facts.storage.cloned.filter(|cloned| *cloned).map(|_| {
        Finding::new(
            "cloned_data",
            Severity::Warning,
            "the data share their blocks with those that they were cloned from",
            "Shared blocks are not fresh ones: the first change of each takes a new block. Compare only with others that were cloned, or leave out the option \"data\".",
        )
    })
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
        attributes.and_then(|(attributes, whose)| Some((attributes.compressing()?, whose)));
    let is_forbidden =
        attributes.is_some_and(|(attributes, _)| attributes.forbids_compression().is_some());
    let what = match (attribute, mounted, property) {
        _ if is_forbidden => return None,
        (Some((attribute, whose)), ..) => format!("attribute {attribute} of the {whose}"),
        (None, Some(option), _) => format!("mount option {option}"),
        (None, None, Some(value)) => format!("property compression={value}"),
        _ => return None,
    };
    let hint = "The rows of the workload are mostly blanks and compress better than yours: compare only with others that compress.";
    Some(Finding::new(
        "compression",
        Severity::Warning,
        format!("the filesystem compresses ({what})"),
        hint,
    ))
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
    ((used as f64) < files as f64 * WHOLE).then(|| {
        let message = format!(
            "files of {} took {} before the clients began",
            format_bytes(files),
            format_bytes(used)
        );
        let hint = "The filesystem compresses, or leaves out what is zero: less was written than the server wrote. Compare only with others that do the same.";
        Finding::new("allocated_less", Severity::Info, message, hint)
    })
}

/// btrfs keeps an extent as long as a part of it is in use.
pub fn allocated_more(facts: &RunFacts) -> Option<Finding> {
    let storage = &facts.storage;
    storage.mkfs_command.as_ref()?;
    let (used, files) = (storage.used_bytes_at_end?, storage.files_bytes_at_end?);
    let has_grown = used as f64 > files as f64 * GROWN && used > files + TABLES;
    (storage.is("btrfs") && has_grown).then(|| {
        let message = format!(
            "files of {} took {} after the run",
            format_bytes(files),
            format_bytes(used)
        );
        let hint = "Copy on write keeps what was overwritten while a part of it is in use: a longer run needs more room, and is slower.";
        Finding::new("allocated_more", Severity::Info, message, hint)
    })
}

/// A filesystem that is almost full searches for free blocks.
pub fn almost_full(facts: &RunFacts) -> Option<Finding> {
    let (size, before) = (facts.storage.size_bytes?, facts.storage.free_bytes?);
    let free = facts
        .storage
        .free_bytes_at_end
        .map_or(before, |end| end.min(before));
    let share = free as f64 / size.max(1) as f64;
    (size > 0 && share < FULL).then(|| {
        let message = format!(
            "{} of {} were free at the end ({})",
            format_bytes(free),
            format_bytes(size),
            format_share(share)
        );
        let hint =
            "Filesystems slow down as they fill: use a larger device, and the same fill for all.";
        Finding::new("almost_full", Severity::Warning, message, hint)
    })
}
