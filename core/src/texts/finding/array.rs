//! Arrays below the filesystem.

use crate::{
    finding_row::Text,
    sys::Layer,
    units::{format_bytes, format_count},
};

/// The name of an array.
fn name(layer: &Layer) -> &str {
    layer.name.as_deref().unwrap_or("an array")
}

/// The name of an array, with its level.
pub fn with_level(layer: &Layer) -> String {
    let level = layer.level.as_deref().unwrap_or("parity");
    format!("{} ({level})", name(layer))
}

/// Work that an array does for itself.
pub fn work(action: &str, array: Option<&Layer>) -> String {
    format!("{action} of {}", array.map_or("an array", name))
}

/// The work of the arrays, as in "check of md0".
pub fn raid_resync(work: &str) -> Text {
    let message = format!("RAID is busy in the background: {work}");
    let hint = "Wait until /proc/mdstat, or for LVM lvs -a -o name,sync_percent, shows no resync, recovery or check, or until the balance of btrfs has ended, and run it again.";
    Text::new("raid_resync", message, hint)
}

pub fn raid_degraded(layer: &Layer, missing: u64) -> Text {
    let message = format!("{} lacks {missing} of its disks", name(layer));
    let hint = "Replace the disks, and run it again after the resync.";
    Text::new("raid_degraded", message, hint)
}

/// The name of the array, with its level.
pub fn raid_write_hole(array: &str) -> Text {
    let message = format!(
        "{array} has a write hole: a power cut and then a lost disk lose data that were not being written"
    );
    let hint = "On md, create the array with --consistency-policy=ppl (RAID 5) or with --write-journal, or compare it with arrays that have the hole, too.";
    Text::new("raid_write_hole", message, hint)
}

pub fn raid_without_bitmap(layer: &Layer) -> Text {
    let message = format!(
        "{} has no bitmap: writes cost less, and a crash is followed by a resync of the whole array",
        with_level(layer)
    );
    let hint = "mdadm gives a bitmap only to large members by default. Create the array with the --bitmap= of the array to be used later.";
    Text::new("raid_without_bitmap", message, hint)
}

/// The rate in transactions per second.
pub fn raid_at_rest(layer: &Layer, delay_ms: u64, rate: f64) -> Text {
    let message = format!(
        "at {rate} transactions per second, {} rests between writes (safe_mode_delay {delay_ms} ms), and the next write costs further flushes",
        with_level(layer)
    );
    let hint = "Latency at this rate includes the superblocks of the members. Use a higher rate, or write a longer time to md/safe_mode_delay of the array in /sys/block.";
    Text::new("raid_at_rest", message, hint)
}

/// The name of the array, with its level.
pub fn stripe_unknown(array: &str) -> Text {
    let message = format!("the filesystem does not know the stripes of {array}");
    let hint = "Let mkfs take them from the device, or give su and sw, or stride and stripe_width, for all targets alike. mkfs.xfs drops the device's stripes below about 1 GiB.";
    Text::new("stripe_unknown", message, hint)
}

/// Stripe unit of the filesystem, and chunk of the array of this name and level, in bytes.
pub fn stripe_mismatch(array: &str, unit: u64, chunk: u64) -> Text {
    let message = format!(
        "the filesystem has a stripe unit of {}, and {array} chunks of {}",
        format_bytes(unit),
        format_bytes(chunk)
    );
    let hint = "Give mkfs.xfs su, or mkfs.ext4 stride (in blocks), by the chunk of the array, for all targets alike.";
    Text::new("stripe_mismatch", message, hint)
}

/// A partition that begins at this byte of a device that writes units of these bytes.
pub fn misaligned_partition(layer: &Layer, start: u64, unit: u64) -> Text {
    let message = format!(
        "{} begins {} after the begin of a block or chunk of {}",
        name(layer),
        format_count(start % unit, "byte"),
        format_bytes(unit)
    );
    let hint = "Writes of one block touch two blocks of the device. Begin the partition at a multiple of 1 MiB, or of the chunk.";
    Text::new("misaligned", message, hint)
}

/// The kernel's alignment_offset of a device.
pub fn misaligned_device(layer: &Layer, offset: i64) -> Text {
    let message = format!(
        "{} does not begin at a physical block (alignment_offset {offset})",
        name(layer)
    );
    let hint = "Writes of one block touch two blocks of the disk. Begin the partition, or the data of the array, at a multiple of 1 MiB.";
    Text::new("misaligned", message, hint)
}
