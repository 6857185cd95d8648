//! A disk to be erased, and what may be on it.

use super::lab::Lab;
use pgfsbench_tests::{LONG, attach, wait_until};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::process::Command;

pub const MEGABYTES: u64 = 320;

/// A loop device that plays a disk, and the configuration that allows it.
pub struct Disk {
    pub lab: Lab,
    pub device: String,
}

/// To prepare target d with ext4 on a device.
pub fn on_device(path: &str) -> Vec<&str> {
    let words = ["prepare", "--target", "d", "--filesystem", "ext4"];
    [&words[..], &["--device", path]].concat()
}

impl Disk {
    pub fn new(test: &str) -> Option<Self> {
        let lab = Lab::new(test)?;
        let file = lab.path("disk");
        File::create(&file)
            .and_then(|f| f.set_len(MEGABYTES << 20))
            .expect("a file");
        let device = attach(&file);
        let disk = Self { lab, device };
        disk.allow(false);
        Some(disk)
    }

    pub fn allow(&self, wipe: bool) {
        self.allow_with(&self.device, &format!("wipe = {wipe}"));
    }

    /// With a device that is known by this path, and these further lines about it.
    pub fn allow_with(&self, path: &str, lines: &str) {
        let device = format!("[[device]]\npath = {path:?}\n{lines}\n");
        self.lab.configure(&format!("{}{device}", self.lab.usual()));
    }

    /// For the next part of a test: an empty disk again, of which nothing is known, with the usual configuration.
    pub fn start_anew(&self) {
        for records in ["state/made", "state/erasing"] {
            let _ = std::fs::remove_dir_all(self.lab.path(records));
        }
        self.blank_all();
        self.allow(false);
        self.assert_released();
    }

    pub fn prepare(&self) -> Vec<&str> {
        on_device(&self.device)
    }

    pub fn refused(&self, words: &[&str]) {
        let before = self.first_bytes();
        self.lab.refused(&self.prepare(), words);
        assert_eq!(self.lab.mounts(), [""; 0]);
        assert!(before == self.first_bytes(), "the device was written to");
    }

    /// To prepare it, up to a kill.
    pub fn killed(&self, when: &str, step: &str) {
        self.lab.killed(&self.prepare(), when, step);
    }

    pub fn succeeds(&self) {
        self.lab.ok(&self.prepare());
        assert_eq!(self.lab.mounts().len(), 1);
        self.lab.ok(&["release", "--target", "d"]);
        self.assert_released();
    }

    /// The device is the administrator's: it stays attached.
    pub fn assert_released(&self) {
        assert_eq!(self.lab.mounts(), [""; 0]);
        assert_eq!(self.lab.list("state/journal"), [""; 0]);
        assert_eq!(self.lab.loops(), [self.device.as_str()]);
    }

    pub fn first_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; 1 << 20];
        let device = File::open(&self.device).expect("the device");
        device.read_exact_at(&mut bytes, 0).expect("readable");
        bytes
    }

    pub fn write(&self, at: u64, bytes: &[u8]) {
        let device = OpenOptions::new()
            .write(true)
            .open(&self.device)
            .expect("the device");
        device.write_all_at(bytes, at).expect("writable");
        device.sync_all().expect("sync");
    }

    pub fn write_table(&self) {
        let mut table = [0u8; 512];
        // One Linux partition of a megabyte, after the first.
        table[450] = 0x83;
        table[454..458].copy_from_slice(&2048u32.to_le_bytes());
        table[458..462].copy_from_slice(&2048u32.to_le_bytes());
        table[510..].copy_from_slice(&[0x55, 0xaa]);
        self.write(0, &table);
    }

    /// Zeros everywhere: the file below has a hole in place of each block.
    pub fn blank_all(&self) {
        // A mount namespace of another test may have a copy of a mount of it for a moment.
        wait_until("no other holds the disk", LONG, || {
            let arguments = ["-f", "-z", &self.device];
            let blanked = Command::new("blkdiscard").args(arguments).output();
            blanked.expect("blkdiscard").status.success().then_some(())
        });
    }

    /// Zeros at each place.
    pub fn blank(&self) {
        let zeros = vec![0; 2 << 20];
        self.write(0, &zeros);
        self.write((MEGABYTES - 2) << 20, &zeros);
    }
}
