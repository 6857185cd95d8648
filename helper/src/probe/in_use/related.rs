//! Devices related to a device: their users are users of the device.

use crate::probe::identity::{disk_of, sysfs};
use crate::probe::in_use::Number;
use crate::probe::{device_number, line, loops};
use std::path::Path;

/// The relation of another device to the device in question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    Itself,
    Partition,
    Disk,
    /// The device in which a loop device has its bytes, which other users do not know of.
    Below,
    /// A member of an array or a volume, which has it for itself: only a writer disturbs.
    Member,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    pub number: Number,
    pub which: Which,
    /// The kernel's.
    name: String,
}

impl Related {
    /// To begin a sentence with.
    pub fn subject(&self) -> String {
        match self.which {
            Which::Itself => "It".into(),
            Which::Partition => format!("Its partition {}", self.name),
            Which::Disk => format!("Its disk {}", self.name),
            Which::Below | Which::Member => format!("Device {}, which it is made of,", self.name),
        }
    }

    /// To go on with.
    pub fn object(&self) -> String {
        match self.which {
            Which::Itself => "it".into(),
            Which::Partition => format!("its partition {}", self.name),
            Which::Disk => format!("its disk {}", self.name),
            Which::Below | Which::Member => format!("device {}, which it is made of,", self.name),
        }
    }
}

/// The device itself, and all that its users may have in use.
pub fn to(number: Number) -> Vec<Related> {
    let mut found = Vec::new();
    add(&mut found, number, Which::Itself);
    // Devices that are found are looked at in turn.
    let mut next = 0;
    while let Some(Related { number, which, .. }) = found.get(next).cloned() {
        next += 1;
        let directory = sysfs(number).canonicalize().unwrap_or_default();
        if matches!(which, Which::Itself | Which::Below) {
            add_table(&mut found, number, which, &directory);
        }
        if let Some(below) = loops::backing_file(number).and_then(|file| device_number(&file)) {
            add(&mut found, below, Which::Below);
        }
        for member in numbers_in(&directory.join("slaves"), |_| true) {
            add(&mut found, member, Which::Member);
        }
    }
    found
}

/// The partitions of a disk, or the disk of a partition.
fn add_table(found: &mut Vec<Related>, number: Number, of: Which, directory: &Path) {
    let which = |which| match of {
        Which::Itself => which,
        _ => Which::Below,
    };
    for partition in numbers_in(directory, |entry| entry.join("partition").exists()) {
        add(found, partition, which(Which::Partition));
    }
    if let Some(disk) = number_of(&disk_of(directory)).filter(|disk| *disk != number) {
        add(found, disk, which(Which::Disk));
    }
}

fn add(found: &mut Vec<Related>, number: Number, which: Which) {
    if found.iter().any(|r| r.number == number) {
        return;
    }
    let directory = sysfs(number).canonicalize().unwrap_or_default();
    let name = directory.file_name().unwrap_or_default();
    found.push(Related {
        number,
        which,
        name: name.to_string_lossy().into_owned(),
    });
}

/// The numbers of the devices that have a directory here.
fn numbers_in(directory: &Path, is_one: impl Fn(&Path) -> bool) -> Vec<Number> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let directories = entries
        .map(|entry| entry.path())
        .filter(|path| is_one(path));
    directories.filter_map(|path| number_of(&path)).collect()
}

fn number_of(directory: &Path) -> Option<Number> {
    let text = line(&directory.join("dev"))?;
    let (major, minor) = text.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
