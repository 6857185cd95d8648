//! The files of this machine, for what reads them by way of the core's `Tree`.

use std::{fs, io::Read, path::Path};

use pgfsbench_core::sys::{Below, Tree};

use super::location::Location;

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

    fn link(&self, path: &str) -> Option<String> {
        fs::read_link(path)
            .ok()?
            .into_os_string()
            .into_string()
            .ok()
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn below(&self, path: &str) -> Option<Below> {
        let location = Location::of(Path::new(path).parent()?)?;
        let mount = location.mount()?;
        Some(Below {
            filesystem: mount.fs_type.clone(),
            mount_point: mount.mount_point.clone(),
            device: device_of(&location),
        })
    }
}

/// The number of the block device that a directory's filesystem is on, major:minor.
pub fn device_of(location: &Location) -> Option<String> {
    let (major, minor) = location.block_device()?;
    Some(format!("{major}:{minor}"))
}
