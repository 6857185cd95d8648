//! Devices related to a device: their users are users of the device.

use crate::probe::identity::{disk_of, sysfs};
use crate::probe::in_use::Number;
use crate::probe::{entries, loops, number_of};
use pgfsbench_core::refusal::{Kind, Refusal};
use std::path::{Path, PathBuf};

/// The relation of another device to the device in question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
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
    pub relation: Relation,
    /// The kernel's.
    name: String,
}

impl Related {
    /// To begin a sentence with.
    pub fn subject(&self) -> String {
        match self.relation {
            Relation::Itself => "It".into(),
            Relation::Partition => format!("Its partition {}", self.name),
            Relation::Disk => format!("Its disk {}", self.name),
            Relation::Below | Relation::Member => {
                format!("Device {}, which it is made of,", self.name)
            }
        }
    }

    /// To go on with.
    pub fn object(&self) -> String {
        match self.relation {
            Relation::Itself => "it".into(),
            Relation::Partition => format!("its partition {}", self.name),
            Relation::Disk => format!("its disk {}", self.name),
            Relation::Below | Relation::Member => {
                format!("device {}, which it is made of,", self.name)
            }
        }
    }
}

/// The device itself, and all that its users may have in use. An error if one of them cannot be told: its users would not be seen.
pub fn to(number: Number) -> Result<Vec<Related>, Refusal> {
    let mut found = Vec::new();
    add(&mut found, number, Relation::Itself);
    // Devices that are found are looked at in turn.
    let mut next = 0;
    while let Some(Related {
        number, relation, ..
    }) = found.get(next).cloned()
    {
        next += 1;
        let directory = sysfs(number).canonicalize().unwrap_or_default();
        if matches!(relation, Relation::Itself | Relation::Below) {
            add_table(&mut found, number, relation, &directory)?;
        }
        if let Some(below) = loops::backing(number)?.and_then(|file| file.device()) {
            add(&mut found, below, Relation::Below);
        }
        for member in numbers_in(&directory.join("slaves"), |_| true)? {
            add(&mut found, member, Relation::Member);
        }
    }
    Ok(found)
}

/// The partitions of a disk, or the disk of a partition.
fn add_table(
    found: &mut Vec<Related>,
    number: Number,
    of: Relation,
    directory: &Path,
) -> Result<(), Refusal> {
    let relation = |relation| match of {
        Relation::Itself => relation,
        _ => Relation::Below,
    };
    for partition in numbers_in(directory, |entry| entry.join("partition").exists())? {
        add(found, partition, relation(Relation::Partition));
    }
    if let Some(disk) = number_of(&disk_of(directory)).filter(|disk| *disk != number) {
        add(found, disk, relation(Relation::Disk));
    }
    Ok(())
}

fn add(found: &mut Vec<Related>, number: Number, relation: Relation) {
    if found.iter().any(|r| r.number == number) {
        return;
    }
    let directory = sysfs(number).canonicalize().unwrap_or_default();
    let name = directory.file_name().unwrap_or_default();
    found.push(Related {
        number,
        relation,
        name: name.to_string_lossy().into_owned(),
    });
}

/// The numbers of the devices that have a directory here.
fn numbers_in(directory: &Path, is_one: impl Fn(&Path) -> bool) -> Result<Vec<Number>, Refusal> {
    let mut entries = entries(directory)?;
    entries.retain(|entry| is_one(entry));
    let number = |entry: PathBuf| {
        number_of(&entry).ok_or_else(|| {
            let message = format!("could not read the number of device {}", entry.display());
            Refusal::new(Kind::System, message)
                .detail("Its users cannot be seen without it.")
                .hint("Try again: the device may have gone just now.")
        })
    };
    entries.into_iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_device_whose_number_cannot_be_read_is_never_left_out() {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("sdb1", Some("8:17\n")),
            ("sdb2", Some("8\n")),
            ("sdb3", None),
        ] {
            let entry = root.path().join(name);
            fs::create_dir(&entry).unwrap();
            if let Some(text) = text {
                fs::write(entry.join("dev"), text).unwrap();
            }
        }
        let only = |name: &'static str| numbers_in(root.path(), |entry| entry.ends_with(name));
        assert_eq!(only("sdb1"), Ok(vec![(8, 17)]));
        for odd in ["sdb2", "sdb3"] {
            let refusal = only(odd).unwrap_err();
            assert!(refusal.message.starts_with("could not read the number"));
        }
        assert_eq!(
            numbers_in(&root.path().join("slaves"), |_| true),
            Ok(vec![])
        );
        // No directory, and there all the same.
        let file = root.path().join("sdb1/dev");
        assert!(numbers_in(&file, |_| true).is_err());
    }
}
