//! The queue of a block device: that of the whole disk, for a partition too.

use super::identity::{disk_of, sysfs};
use super::{device_number, line};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Identifies a queue. A disk that replaces another one has another sequence number. A loop device keeps its queue when another file
/// is attached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Queue {
    pub major: u32,
    pub minor: u32,
    pub sequence: Option<String>,
}

const LOOP_MAJOR: u32 = 7;

/// The schedulers, block sizes and limits of a disk's queue; None for what the kernel does not tell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Limits {
    #[serde(skip)]
    pub schedulers: Vec<String>,
    pub logical_block_size: Option<u64>,
    pub physical_block_size: Option<u64>,
    pub minimum_io_size: Option<u64>,
    pub optimal_io_size: Option<u64>,
    pub discard_max_bytes: Option<u64>,
    pub rotational: Option<bool>,
}

impl Queue {
    /// The queue of the device, or of the disk that the partition is on.
    pub fn of_device(device: &Path) -> Option<Self> {
        let disk = disk_of(&sysfs(device_number(device)?).canonicalize().ok()?);
        let number = line(&disk.join("dev"))?;
        let (major, minor) = number.split_once(':')?;
        let major = major.parse().ok()?;
        Some(Self {
            major,
            minor: minor.parse().ok()?,
            sequence: line(&disk.join("diskseq")).filter(|_| major != LOOP_MAJOR),
        })
    }

    /// The directory of its settings; None if it is gone.
    pub fn directory(&self) -> Option<PathBuf> {
        let disk = sysfs((self.major, self.minor));
        let is_same = self.major == LOOP_MAJOR || line(&disk.join("diskseq")) == self.sequence;
        let directory = disk.join("queue");
        (is_same && directory.exists()).then_some(directory)
    }

    pub fn limits(&self) -> Option<Limits> {
        Some(limits(&self.directory()?))
    }
}

/// Limits of any loop device: an image's loop device will have the same.
pub fn limits_of_loops() -> Option<Limits> {
    let mut disks = std::fs::read_dir("/sys/block").ok()?.flatten();
    let disk = disks.find(|disk| disk.file_name().to_string_lossy().starts_with("loop"))?;
    Some(limits(&disk.path().join("queue")))
}

fn limits(directory: &Path) -> Limits {
    let number = |name: &str| -> Option<u64> { line(&directory.join(name))?.parse().ok() };
    Limits {
        schedulers: schedulers(&line(&directory.join("scheduler")).unwrap_or_default()),
        logical_block_size: number("logical_block_size"),
        physical_block_size: number("physical_block_size"),
        minimum_io_size: number("minimum_io_size"),
        optimal_io_size: number("optimal_io_size"),
        discard_max_bytes: number("discard_max_bytes"),
        rotational: number("rotational").map(|number| number == 1),
    }
}

/// Those that the kernel offers: "[none] mq-deadline kyber".
fn schedulers(text: &str) -> Vec<String> {
    text.split_whitespace()
        .map(|word| word.trim_matches(['[', ']']).to_owned())
        .collect()
}

/// The value of one of the files: of several words the one in brackets.
pub fn value(text: &str) -> String {
    let chosen = text
        .split_whitespace()
        .find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    chosen.unwrap_or(text.trim()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_odd_file_costs_that_file() {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("logical_block_size", "512\n"),
            ("physical_block_size", "many\n"),
            ("discard_max_bytes", "0\n"),
            ("rotational", "\n"),
            ("scheduler", "[none]\n"),
        ] {
            std::fs::write(root.path().join(name), text).unwrap();
        }
        let limits = limits(root.path());
        assert_eq!(
            (limits.logical_block_size, limits.physical_block_size),
            (Some(512), None)
        );
        // A missing value is not zero: a disk without it may be able to discard.
        assert_eq!(
            (limits.discard_max_bytes, limits.optimal_io_size),
            (Some(0), None)
        );
        assert_eq!(
            (limits.rotational, &limits.schedulers[..]),
            (None, &["none".to_owned()][..])
        );
    }

    #[test]
    fn what_is_offered_and_what_is_chosen() {
        assert_eq!(
            schedulers("none [mq-deadline] bfq"),
            ["none", "mq-deadline", "bfq"]
        );
        assert_eq!(schedulers("none\n"), ["none"]);
        assert_eq!(value("none [mq-deadline] bfq\n"), "mq-deadline");
        assert_eq!(value("none\n"), "none");
        assert_eq!(value("128\n"), "128");
    }
}
