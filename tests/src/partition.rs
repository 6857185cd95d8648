//! Partitions of loop devices.

use crate::wait::{SHORT, pause};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// A partition that the kernel is told of, without a table on the disk. It outlives a loop device: it is dropped before that is detached, or it
/// appears on the next device of that number.
pub struct Partition {
    disk: String,
    number: u32,
    /// Node, where no other program makes one.
    node: Option<PathBuf>,
}

impl Partition {
    /// In 512-byte sectors.
    pub fn add(disk: &str, number: u32, start: u64, length: u64) -> Self {
        let (first, length) = (start.to_string(), length.to_string());
        let mut command = Command::new("addpart");
        command.args([disk, &number.to_string(), &first, &length]);
        let output = command.output().expect("addpart");
        assert!(output.status.success(), "{command:?}: {output:?}");
        let mut partition = Self {
            disk: disk.to_owned(),
            number,
            node: None,
        };
        let path = PathBuf::from(partition.path());
        let device = fs::read_to_string(partition.directory().join("dev"));
        let device = device.expect("the partition has a number");
        let (major, minor) = device.trim().split_once(':').expect("two numbers");
        let is_it = |node: fs::Metadata| {
            let number = node.rdev();
            format!("{}:{}", libc::major(number), libc::minor(number)) == device.trim()
        };
        if !fs::metadata(&path).is_ok_and(is_it) {
            // One that was left is another's by now.
            let _ = fs::remove_file(&path);
            let mut command = Command::new("mknod");
            command.arg(&path).args(["b", major, minor]);
            assert!(command.status().expect("mknod").success());
            partition.node = Some(path);
        }
        partition
    }

    /// The path of its node.
    pub fn path(&self) -> String {
        format!("{}p{}", self.disk, self.number)
    }

    fn directory(&self) -> PathBuf {
        let disk = self.disk.trim_start_matches("/dev/");
        Path::new("/sys/block")
            .join(disk)
            .join(format!("{disk}p{}", self.number))
    }
}

impl Drop for Partition {
    fn drop(&mut self) {
        // A process of another test that has just copied all mounts may hold it for a moment.
        let began = Instant::now();
        while self.directory().exists() && began.elapsed() < SHORT {
            let number = self.number.to_string();
            let _ = Command::new("delpart").args([&self.disk, &number]).output();
            if self.directory().exists() {
                pause(began);
            }
        }
        if let Some(node) = &self.node {
            let _ = fs::remove_file(node);
        }
        if self.directory().exists() && !std::thread::panicking() {
            panic!("{} is still in use after {SHORT:?}", self.path());
        }
    }
}
