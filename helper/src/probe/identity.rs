//! Which device this is: its number, and the marks that stay with it wherever it is plugged in.

use super::{contents, line};
use pgfsbench_core::helper::Marks;
use pgfsbench_core::refusal::{Kind, Refusal};
use pgfsbench_core::sys;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Tells a device from another one that has come in its place. The sequence number is the kernel's, and changes with the medium.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    pub major: u32,
    pub minor: u32,
    pub bytes: u64,
    pub sequence: Option<String>,
    pub serial: Option<String>,
    pub wwn: Option<String>,
    pub partition_uuid: Option<String>,
}

impl Identity {
    /// The marks that are compared with those in the configuration and in the target.
    pub fn marks(&self) -> Marks {
        Marks {
            serial: self.serial.clone(),
            wwn: self.wwn.clone(),
            partition_uuid: self.partition_uuid.clone(),
            bytes: Some(self.bytes),
        }
    }

    /// Whether what was recorded of a disk is about this one. Disks without a mark are told apart by their numbers: others may have the same size.
    pub fn is_same(&self, now: &Identity) -> bool {
        match now.marks().is_anonymous() {
            true => self == now,
            false => self.is_medium(now),
        }
    }

    /// True if this is the same medium, perhaps after a reboot.
    pub fn is_medium(&self, other: &Identity) -> bool {
        self.marks() == other.marks()
    }
}

/// The identity of the device with this number; `path` leads to it, for blkid.
pub fn identity(path: &Path, number: (u32, u32)) -> Result<Identity, Refusal> {
    let device = sysfs(number).canonicalize().map_err(|e| {
        let message = format!("block device {}:{} is not in /sys", number.0, number.1);
        Refusal::new(Kind::System, message).detail(format!("{e}."))
    })?;
    let mut identity = of_sysfs(&device, number).ok_or_else(|| {
        // A size of 0 would make one device of two that differ only in their sizes.
        let message = format!(
            "the size of block device {}:{} cannot be read",
            number.0, number.1
        );
        Refusal::new(Kind::System, message).detail("It is not in /sys, or no number.")
    })?;
    if device.join("partition").exists() {
        identity.partition_uuid = contents::blkid(path)?.1.remove("PART_ENTRY_UUID");
    }
    Ok(identity)
}

/// The sequence number of the disk that has this device number now; None if the kernel does not tell it.
pub fn sequence_of(number: (u32, u32)) -> Option<String> {
    let device = sysfs(number).canonicalize().ok()?;
    line(&disk_of(&device).join("diskseq"))
}

/// The identity by sysfs; None if the size cannot be read. A volume's UUID, from LVM or md, stands for a World Wide Name.
fn of_sysfs(device: &Path, (major, minor): (u32, u32)) -> Option<Identity> {
    let disk = disk_of(device);
    let first = |names: &[&str]| names.iter().find_map(|name| mark(&disk.join(name)));
    let sectors: u64 = line(&device.join("size"))?.parse().ok()?;
    Some(Identity {
        major,
        minor,
        bytes: sectors.checked_mul(512)?,
        sequence: line(&disk.join("diskseq")),
        serial: first(&["serial", "device/serial"])
            .or_else(|| vital_product_serial(&disk.join("device/vpd_pg80"))),
        wwn: first(&["wwid", "device/wwid", "device/wwn", "dm/uuid", "md/uuid"]),
        partition_uuid: None,
    })
}

/// A mark as it is written into a configuration: without control characters that a maker may have put there.
fn mark(path: &Path) -> Option<String> {
    clean(line(path)?.as_bytes())
}

/// SCSI's page 0x80: four bytes, the last two of which are the length, and the serial number.
fn vital_product_serial(path: &Path) -> Option<String> {
    let page = std::fs::read(path).ok()?;
    let length = usize::from(u16::from_be_bytes([*page.get(2)?, *page.get(3)?]));
    clean(page.get(4..)?.get(..length)?)
}

fn clean(bytes: &[u8]) -> Option<String> {
    let text: String = bytes.iter().map(|&byte| char::from(byte)).collect();
    sys::mark(&text)
}

pub fn sysfs((major, minor): (u32, u32)) -> PathBuf {
    format!("/sys/dev/block/{major}:{minor}").into()
}

/// The disk that a partition is on, or the device itself.
pub fn disk_of(device: &Path) -> PathBuf {
    match (device.join("partition").exists(), device.parent()) {
        (true, Some(disk)) => disk.to_owned(),
        _ => device.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn kernel(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    fn marks(files: &[(&str, &[u8])], device: &str) -> (Option<String>, Option<String>, u64) {
        let mut files = files.to_vec();
        let size = format!("{device}/size");
        if !files.iter().any(|(name, _)| *name == size) {
            files.push((&size, b"0\n"));
        }
        let root = kernel(&files);
        let identity = of_sysfs(&root.path().join(device), (8, 1)).unwrap();
        (identity.serial, identity.wwn, identity.bytes)
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn where_kernels_keep_the_marks() {
        let nvme: [(&str, &[u8]); 3] = [
            ("n/size", b"8\n"),
            ("n/wwid", b"eui.0025\n"),
            ("n/device/serial", b"S4  \n"),
        ];
        assert_eq!(marks(&nvme, "n"), (some("S4"), some("eui.0025"), 4096));
        let scsi: [(&str, &[u8]); 2] = [
            ("s/device/vpd_pg80", b"\0\x80\0\x08 WD-42\0 trailing"),
            ("s/device/wwid", b"t10.ATA     X  Y\n"),
        ];
        assert_eq!(marks(&scsi, "s"), (some("WD-42"), some("t10.ATA X Y"), 0));
        let virtio: [(&str, &[u8]); 1] = [("v/serial", b"disk-1")];
        assert_eq!(marks(&virtio, "v"), (some("disk-1"), None, 0));
        let volume: [(&str, &[u8]); 1] = [("d/dm/uuid", b"LVM-abc\n")];
        assert_eq!(marks(&volume, "d"), (None, some("LVM-abc"), 0));
        let nothing: [(&str, &[u8]); 2] = [("l/size", b"16\n"), ("l/serial", b"\n")];
        assert_eq!(marks(&nothing, "l"), (None, None, 8192));
        assert_eq!(marks(&[("u/serial", b"(null)\n")], "u").0, None);
        for page in [&b""[..], b"\0\x80", b"\0\x80\0\xff", b"\0\x80\0\0"] {
            assert_eq!(marks(&[("s/device/vpd_pg80", page)], "s").0, None);
        }
    }

    #[test]
    fn a_size_that_cannot_be_read_is_not_zero() {
        for text in [&b"\n"[..], b"-1\n", b"many\n", b"18446744073709551615\n"] {
            let root = kernel(&[("a/size", text), ("a/serial", b"S1\n")]);
            assert_eq!(of_sysfs(&root.path().join("a"), (8, 1)), None, "{text:?}");
        }
    }

    #[test]
    fn a_partition_has_the_marks_of_its_disk_and_its_own_size() {
        let files: [(&str, &[u8]); 4] = [
            ("a/serial", b"S1\n"),
            ("a/size", b"100\n"),
            ("a/a1/partition", b"1\n"),
            ("a/a1/size", b"10\n"),
        ];
        assert_eq!(marks(&files, "a/a1"), (some("S1"), None, 5120));
    }
}
