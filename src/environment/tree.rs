//! The files of this machine, for what reads them by way of the core's `Tree`.

use std::{fs, io::Read, path::Path};

use pgfsbench_core::{
    proc::Mount,
    sys::{Below, Tree},
};
use rustix::fs::{major, minor, stat};

use super::Location;

/// No file that is read here is longer.
const LONGEST: u64 = 1 << 20;

/// This machine.
pub struct ThisMachine;

impl Tree for ThisMachine {
    fn read(&self, path: &str) -> Option<String> {
        let mut bytes = Vec::new();
        let file = fs::File::open(path).ok()?;
        file.take(LONGEST).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn list(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        entries
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect()
    }

    fn exists(&self, path: &str) -> bool {
        Path::new(path).exists()
    }

    fn below(&self, path: &str) -> Option<Below> {
        let location = Location::of(Path::new(path).parent()?)?;
        let mount = location.mount()?;
        Some(Below {
            filesystem: mount.fs_type.clone(),
            mount_point: mount.mount_point.clone(),
            device: number(&location, mount),
        })
    }
}

/// The number of the block device that a filesystem is on, major:minor. Some filesystems have a number of their own, and
/// only the mount names what they are on.
fn number(location: &Location, mount: &Mount) -> Option<String> {
    let is_device = |number: &String| Path::new(&format!("/sys/dev/block/{number}")).exists();
    Some(location.st_dev()).filter(is_device).or_else(|| {
        let source = mount.source.as_str();
        let device = stat(source)
            .ok()
            .filter(|_| source.starts_with('/'))?
            .st_rdev;
        Some(format!("{}:{}", major(device), minor(device))).filter(is_device)
    })
}

/// The same for a directory.
pub fn device_of(location: &Location) -> Option<String> {
    number(location, location.mount()?)
}
