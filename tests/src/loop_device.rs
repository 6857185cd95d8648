//! Loop devices of files.

use crate::as_server::server_owner;
use crate::wait::{SHORT, wait_until};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Why no file can be attached here.
pub fn lacks_loop_devices() -> Option<&'static str> {
    let is_root = server_owner().is_some();
    let has_them = Path::new("/dev/loop-control").exists();
    (!is_root || !has_them).then_some("needs root and loop devices")
}

/// Attaches a file to a free loop device, and gives the path of that. The caller detaches it.
pub fn attach(file: impl AsRef<Path>) -> String {
    let mut command = Command::new("losetup");
    command.args(["--find", "--show"]).arg(file.as_ref());
    let output = command.output().expect("losetup");
    assert!(output.status.success(), "{command:?}: {output:?}");
    let device = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    forget_partitions(&device);
    device
}

/// Forgets partitions that the kernel was told of: these stay when a loop device is detached. A test that was killed leaves them to the next user of
/// that device.
fn forget_partitions(device: &str) {
    for number in partitions(device) {
        // Programs that look at all devices have it open for a moment.
        wait_until("the partition is forgotten", SHORT, || {
            let mut command = Command::new("delpart");
            let output = command.args([device, &number]).output();
            output.expect("delpart").status.success().then_some(())
        });
        // Gone by now, unless a test has made it where no other program does.
        let _ = fs::remove_file(format!("{device}p{number}"));
    }
}

/// The numbers of the partitions that the kernel knows of.
fn partitions(device: &str) -> Vec<String> {
    let name = device.trim_start_matches("/dev/");
    let entries = fs::read_dir(Path::new("/sys/block").join(name)).expect("a disk");
    let directories = entries.map(|entry| entry.expect("an entry").path());
    directories
        .filter_map(|directory| fs::read_to_string(directory.join("partition")).ok())
        .map(|number| number.trim().to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Partition, for_images, program, skip};

    #[test]
    fn partitions_that_a_killed_test_has_left_are_forgotten() {
        let test = "partitions_that_a_killed_test_has_left_are_forgotten";
        if let Some(why) = lacks_loop_devices() {
            return skip(test, why);
        }
        if program("addpart").is_none() {
            return skip(test, "there is no addpart");
        }
        let file = tempfile::NamedTempFile::new_in(for_images()).expect("a file");
        file.as_file().set_len(4 << 20).expect("room");
        let device = attach(file.path());
        for (number, start) in [(1, 2048), (3, 4096)] {
            std::mem::forget(Partition::add(&device, number, start, 1024));
        }
        let mut left = partitions(&device);
        left.sort();
        forget_partitions(&device);
        let after = partitions(&device);
        let detached = Command::new("losetup").args(["--detach", &device]).status();
        assert_eq!(left, ["1", "3"]);
        assert_eq!(after, [""; 0]);
        assert!(detached.expect("losetup").success());
    }
}
