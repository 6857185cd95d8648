//! The filesystem and its devices.

use crate::{
    finding_row::Text,
    texts::durability::Code,
    units::{format_bytes, format_share},
};

/// Filesystem type and mount point of the data, and those of WAL.
pub fn wal_on_other_filesystem(data: [&str; 2], wal: [&str; 2]) -> Text {
    let ([data, data_at], [wal, wal_at]) = (data, wal);
    let message = format!("data is on {data} at {data_at}, WAL on {wal} at {wal_at}");
    let hint = "Latency of commits is that of the filesystem of WAL; compare only with runs of the same scope.";
    Text::new("wal_on_other_filesystem", message, hint)
}

const PROTECTED: &str = "The target's device is declared to keep its cache when power is lost.";

/// The kernel drops the flushes of a device.
pub fn flushes_off(code: &Code, is_protected: bool) -> Text {
    let hint = match is_protected {
        true => PROTECTED,
        false => {
            "A power cut loses commits that were reported: write \"write back\" to the file queue/write_cache of that device in /sys/block."
        }
    };
    Text::new("barriers_off", code.words(), hint)
}

/// A filesystem that is mounted with barriers off.
#[derive(Clone, Copy, Debug)]
pub struct WithoutBarriers {
    /// The filesystem of data or WAL itself, and none below it.
    pub is_uppermost: bool,
    pub is_wal: bool,
    pub is_protected: bool,
}

pub fn barriers_off(mounted: WithoutBarriers) -> Text {
    let which = match (mounted.is_uppermost, mounted.is_wal) {
        (true, false) => "the filesystem",
        (true, true) => "the filesystem of WAL",
        (false, false) => "a filesystem below the data",
        (false, true) => "a filesystem below WAL",
    };
    let hint = match mounted.is_protected {
        true => PROTECTED,
        false => {
            "A power cut loses commits that were reported: mount it with barriers, or declare power_loss_protected => true if the device has a capacitor."
        }
    };
    let message = format!("{which} is mounted with barriers off");
    Text::new("barriers_off", message, hint)
}

pub fn jfs_does_not_flush(is_wal: bool) -> Text {
    let of = if is_wal { " of WAL" } else { "" };
    let message = format!("jfs{of} does not flush the device's write cache");
    let hint = "A power cut loses commits that were reported: compare its latency only with others that do not flush.";
    Text::new("jfs_does_not_flush", message, hint)
}

pub fn sync_does_nothing(code: &Code) -> Text {
    let hint = "A power cut loses commits that were reported: mount or set it without that, and run it again.";
    Text::new("sync_does_nothing", code.words(), hint)
}

/// The data, or WAL alone, in the memory of this name.
pub fn in_memory(what: &str, is_wal: bool) -> Text {
    let (which, hint) = match is_wal {
        false => (
            "the data are",
            "Nothing waits for a disk, and a power cut loses everything: it says what the processor and the filesystem's code take.",
        ),
        true => (
            "WAL is",
            "No commit waits for a disk, and a power cut loses all WAL: put it on a disk.",
        ),
    };
    Text::new("in_memory", format!("{which} in memory ({what})"), hint)
}

fn loop_name(name: Option<&str>) -> &str {
    name.unwrap_or("a loop device")
}

pub fn loop_without_direct_io(name: Option<&str>) -> Text {
    let message = format!("{} has no direct I/O", loop_name(name));
    let hint = "The page cache of the filesystem below holds the data a second time: put the image where direct I/O is possible, not on tmpfs.";
    Text::new("loop_without_direct_io", message, hint)
}

pub fn loop_device(name: Option<&str>) -> Text {
    let message = format!("the data are on a loop device ({})", loop_name(name));
    let hint = "Its figures are not those of a disk: good for comparing filesystems, not for choosing hardware.";
    Text::new("loop_device", message, hint)
}

pub fn discard_mount_option(option: &str) -> Text {
    let message =
        format!("the filesystem discards blocks while the run is on (mount option {option})");
    let hint = "Compare only with targets that do too; fstrim between runs, or ssd_state => 'trimmed', does it beforehand.";
    Text::new("discard_mount_option", message, hint)
}

pub fn device_discards(bytes: u64) -> Text {
    let message = format!(
        "the device discarded {} while the run was measured, and no mount option asks for that",
        format_bytes(bytes)
    );
    let hint = "Keep fstrim and fstrim.timer away from runs. On xfs the device goes on after fstrim has returned: wait until the ninth number of /sys/block/DEVICE/stat is 0.";
    Text::new("device_discards", message, hint)
}

pub fn ssd_state_undeclared() -> Text {
    let message = "the state of the SSD was not declared";
    let hint =
        "Give the target ssd_state => 'trimmed', or 'as_is', the same for all that are compared.";
    Text::new("ssd_state_undeclared", message, hint)
}

/// Bytes that the device wrote, and those that this server wrote.
pub fn other_writers(device: u64, server: u64) -> Text {
    let message = format!(
        "the device wrote {}, and this server at most {} of it: others wrote, too",
        format_bytes(device),
        format_bytes(server)
    );
    let hint = "What is told of the device (bytes, flushes, write amplification) is not the run's alone: measure on a device or an image of its own.";
    Text::new("other_writers", message, hint)
}

/// The run's own ext4 initializes its tables by its mkfs options, or an ext4 of the machine does.
pub fn lazy_init(is_own: bool) -> Text {
    let message = match is_own {
        true => "ext4 initializes its tables in the background",
        false => {
            "an ext4 of this machine, perhaps another one, initializes its tables in the background"
        }
    };
    let hint = "Make it with -E lazy_itable_init=0,lazy_journal_init=0, or wait until the kernel's thread ext4lazyinit has ended.";
    Text::new("lazy_init", message, hint)
}

pub fn atime(is_relative: bool) -> Text {
    let message = match is_relative {
        true => "reads change access times now and then (mount option relatime)",
        false => "every read changes an access time (no mount option noatime or relatime)",
    };
    let hint = "Mount it with noatime, unless that is what is tested.";
    Text::new("atime", message, hint)
}

/// The place of an attribute or option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Files of the run, by chattr or a property.
    Files,
    /// The data directory, by chattr or a property.
    Directory,
}

impl Place {
    fn as_str(self) -> &'static str {
        match self {
            Self::Files => "files of the run",
            Self::Directory => "data directory",
        }
    }
}

/// A mount option, an attribute of files or a property of a filesystem.
#[derive(Clone, Copy, Debug)]
pub enum Setting<'a> {
    MountOption(&'a str),
    Attribute(&'a str, Place),
    Compression(&'a str),
}

impl Setting<'_> {
    fn words(self) -> String {
        match self {
            Self::MountOption(option) => format!("mount option {option}"),
            Self::Attribute(name, place) => format!("attribute {name} of the {}", place.as_str()),
            Self::Compression(value) => format!("property compression={value}"),
        }
    }
}

pub fn btrfs_nodatacow(by: Setting<'_>) -> Text {
    let message = format!("btrfs works without checksums of the data ({})", by.words());
    let hint = "Label it so: it is another filesystem than btrfs with copy on write and checksums.";
    Text::new("btrfs_nodatacow", message, hint)
}

/// Attributes of a run's files.
#[derive(Clone, Debug)]
pub struct FileAttributes<'a> {
    /// The attributes that change what a write costs.
    pub telling: Vec<&'a str>,
    pub place: Place,
    /// Attributes of the data directory that the files do not have.
    pub not_inherited: Vec<&'a str>,
    /// A mount option that compresses, and the attribute that forbids it.
    pub not_compressed: Option<(&'a str, &'a str)>,
}

impl FileAttributes<'_> {
    /// Whether the finding has anything to name.
    pub fn is_any(&self) -> bool {
        !self.telling.is_empty() || !self.not_inherited.is_empty() || self.not_compressed.is_some()
    }

    fn words(&self) -> Vec<String> {
        let place = self.place.as_str();
        let telling = self.telling.join(", ");
        let not_inherited = self.not_inherited.join(", ");
        let parts = [
            (!telling.is_empty()).then(|| format!("{telling} of the {place}")),
            (!not_inherited.is_empty()).then(|| {
                format!(
                    "{not_inherited} of the data directory, which the files of the run do not have"
                )
            }),
            self.not_compressed.map(|(option, attribute)| {
                format!("{attribute} of the {place}, for which mount option {option} does nothing")
            }),
        ];
        parts.into_iter().flatten().collect()
    }
}

pub fn file_attributes(attributes: &FileAttributes) -> Text {
    let message = format!(
        "attributes by chattr or a property: {}",
        attributes.words().join("; ")
    );
    let hint = "Compare only with runs whose files have the same: see data_file_attributes in fsbench.environment. lsattr and chattr, or btrfs property, show and change them; new files take them from their directory.";
    Text::new("file_attributes", message, hint)
}

pub fn fallocate_missing(filesystem: Option<&str>) -> Text {
    let filesystem = filesystem.unwrap_or("the filesystem");
    let message = format!(
        "{filesystem} has no fallocate: to extend a file, the server has a byte of each block written first"
    );
    let hint = "COPY and other bulk loads are slower for it. Set file_extend_method to write_zeros, where the server has that setting, for all targets alike.";
    Text::new("fallocate_missing", message, hint)
}

pub fn cloned_data() -> Text {
    let message = "the data share their blocks with those that they were cloned from";
    let hint = "Shared blocks are not fresh ones: the first change of each takes a new block. Compare only with others that were cloned, or leave out the option \"data\".";
    Text::new("cloned_data", message, hint)
}

pub fn compression(by: Setting<'_>) -> Text {
    let message = format!("the filesystem compresses ({})", by.words());
    let hint = "The rows of the workload are mostly blanks and compress better than yours: compare only with others that compress.";
    Text::new("compression", message, hint)
}

fn taken(files: u64, used: u64) -> String {
    format!(
        "files of {} took {}",
        format_bytes(files),
        format_bytes(used)
    )
}

/// Lengths of the files and the room that they took before the run. Bytes.
pub fn allocated_less(files: u64, used: u64) -> Text {
    let message = format!("{} before the clients began", taken(files, used));
    let hint = "The filesystem compresses, or leaves out what is zero: less was written than the server wrote. Compare only with others that do the same.";
    Text::new("allocated_less", message, hint)
}

/// Lengths of the files and the room that they took after the run. Bytes.
pub fn allocated_more(files: u64, used: u64) -> Text {
    let message = format!("{} after the run", taken(files, used));
    let hint = "Copy on write keeps what was overwritten while a part of it is in use: a longer run needs more room, and is slower.";
    Text::new("allocated_more", message, hint)
}

/// Free bytes of so many, and their share.
pub fn almost_full(free: u64, size: u64, share: f64) -> Text {
    let message = format!(
        "{} of {} were free at the end ({})",
        format_bytes(free),
        format_bytes(size),
        format_share(share)
    );
    let hint =
        "Filesystems slow down as they fill: use a larger device, and the same fill for all.";
    Text::new("almost_full", message, hint)
}
