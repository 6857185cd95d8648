//! The files of this machine, for what reads them by way of the core's `Tree`.

use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use pgfsbench_core::sys::{FilesystemDevices, Tree};

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

    fn below(&self, path: &str) -> Option<FilesystemDevices> {
        Some(Location::of(&seen(path)?)?.below())
    }
}

/// A file or directory where this process may look at it, else the directory that it is in. None where it is not: the kernel tells the
/// path of another mount namespace, or the file is removed.
fn seen(path: &str) -> Option<PathBuf> {
    let path = PathBuf::from(path.strip_suffix(" (deleted)").unwrap_or(path));
    match fs::metadata(&path) {
        Ok(_) => Some(path),
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => Some(path.parent()?.to_owned()),
        Err(_) => None,
    }
}

/// The text of a file of /proc or /sys; None when it cannot be read. Bytes that are not UTF-8, which names of disks and
/// processes may have, cost no other line.
pub fn text(path: &str) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
