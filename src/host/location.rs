//! A directory and the filesystem that it is on.

use std::{
    fs,
    path::{Path, PathBuf},
};

use pgfsbench_core::{
    finding::Place,
    proc::{self, Mount},
    sys::FilesystemDevices,
};
use rustix::fs::{Dev, FileType, lstat, major, minor, stat, statvfs};

use crate::pg::session;

/// A directory and the filesystem that it is on.
pub struct Location {
    /// Links resolved.
    pub directory: String,
    /// The st_dev of the filesystem.
    pub device: Dev,
    mount: Option<Mount>,
}

impl Location {
    /// Finds out about a directory; None when it cannot be reached.
    pub fn of(path: &Path) -> Option<Self> {
        let directory = fs::canonicalize(path).ok()?.to_string_lossy().into_owned();
        let device = stat(directory.as_str()).ok()?.st_dev;
        let mounts = fs::read(proc::MOUNTINFO).unwrap_or_default();
        let mounts = proc::understood_mounts(&mounts);
        let mount =
            proc::mount_of(&mounts, &directory, Some((major(device), minor(device)))).cloned();
        Some(Self {
            directory,
            device,
            mount,
        })
    }

    /// Major and minor number of its device.
    pub fn number(&self) -> (u32, u32) {
        (major(self.device), minor(self.device))
    }

    /// Number of the block device that the filesystem is on. Files of some filesystems (btrfs) have a number that is no
    /// device's: there, what is mounted tells, which is one of several if there are several.
    pub fn block_device(&self) -> Option<(u32, u32)> {
        match self.number() {
            (0, _) => block_device(Path::new(self.mount()?.device_by_name()?)),
            number => Some(number),
        }
    }

    /// The number of that device, major:minor.
    pub fn device_number(&self) -> Option<String> {
        self.block_device().map(shown_number)
    }

    /// The filesystem and what it lies on.
    pub fn below(&self) -> FilesystemDevices {
        let Some(mount) = self.mount() else {
            return FilesystemDevices {
                devices: self.device_number().into_iter().collect(),
                ..FilesystemDevices::default()
            };
        };
        FilesystemDevices {
            filesystem: mount.fs_type.clone(),
            mount_point: mount.mount_point.clone(),
            options: mount.options.clone(),
            devices: self.devices(mount),
            upper: self.upper(mount),
        }
    }

    /// The numbers of its devices. bcachefs names all of them.
    fn devices(&self, mount: &Mount) -> Vec<String> {
        if mount.fs_type != "bcachefs" {
            return self.device_number().into_iter().collect();
        }
        let names = mount.source.split(':').map(Path::new);
        let numbers: Option<Vec<_>> = names.map(block_device).collect();
        numbers.into_iter().flatten().map(shown_number).collect()
    }

    /// The directory of overlay's upper layer that this one is kept in. The kernel tells the path as the process saw it that mounted: a
    /// container may have another directory of that name, or none. None unless both are the same one.
    fn upper(&self, mount: &Mount) -> Option<String> {
        let layer = Path::new(mount.option("upperdir")?);
        let inside = self
            .directory
            .strip_prefix(mount.mount_point.trim_end_matches('/'))?;
        let root = mount.root.trim_start_matches('/');
        let upper = layer.join(root).join(inside.trim_start_matches('/'));
        let is_same = layer.is_absolute() && is_kept_in(Path::new(&self.directory), &upper);
        is_same.then(|| upper.to_string_lossy().into_owned())
    }

    /// Device number, major:minor.
    pub fn st_dev(&self) -> String {
        format!("{}:{}", major(self.device), minor(self.device))
    }

    /// The mount there; None if it is not known.
    pub fn mount(&self) -> Option<&Mount> {
        self.mount.as_ref()
    }

    /// For the findings; None when the mount is not known.
    pub fn place(&self) -> Option<Place> {
        let mount = self.mount.as_ref()?;
        Some(Place {
            major: major(self.device),
            minor: minor(self.device),
            source: mount.source.clone(),
            fs_type: mount.fs_type.clone(),
            mount_point: mount.mount_point.clone(),
        })
    }

    /// Free bytes for the server, and the size of the filesystem.
    pub fn space(&self) -> Option<(u64, u64)> {
        space(Path::new(&self.directory))
    }
}

/// How often a directory and the one that it may be kept in are compared while files come and go in it.
const COMPARISONS: usize = 5;

/// True if a directory of overlay is kept in another one: overlay has the times and the owner of that one.
fn is_kept_in(directory: &Path, upper: &Path) -> bool {
    let marks = |path: &Path| {
        let stat = lstat(path).ok()?;
        let is_directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        is_directory.then_some([
            stat.st_mtime as i128,
            stat.st_mtime_nsec as i128,
            stat.st_ctime as i128,
            stat.st_ctime_nsec as i128,
            stat.st_uid.into(),
            stat.st_mode.into(),
        ])
    };
    let is_same = |_| marks(directory).is_some_and(|own| marks(upper) == Some(own));
    (0..COMPARISONS).any(is_same)
}

/// A number of a device as sysfs has it, major:minor.
pub fn shown_number((major, minor): (u32, u32)) -> String {
    format!("{major}:{minor}")
}

/// The number of the block device of a path.
pub fn block_device(path: &Path) -> Option<(u32, u32)> {
    let stat = stat(path).ok().filter(|_| path.is_absolute())?;
    let is_block = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
    is_block.then(|| (major(stat.st_rdev), minor(stat.st_rdev)))
}

/// Free bytes for an ordinary user on the filesystem of a path, and its size.
pub fn space(path: &Path) -> Option<(u64, u64)> {
    let fs = statvfs(path).ok()?;
    Some((fs.f_bavail * fs.f_frsize, fs.f_blocks * fs.f_frsize))
}

/// The place of the tables: the data directory, or the directory `base` in it where a symbolic link or a mount leads to
/// another filesystem.
pub fn data_location() -> Option<Location> {
    let directory = Location::of(&session::data_directory())?;
    let tables =
        Location::of(&tables_directory()).filter(|tables| !same_filesystem(tables, &directory));
    Some(tables.unwrap_or(directory))
}

/// The directory of the tables of the tablespace `pg_default`.
pub fn tables_directory() -> PathBuf {
    session::data_directory().join("base")
}

/// The directory of the WAL.
pub fn wal_location() -> Option<Location> {
    Location::of(&session::data_directory().join("pg_wal"))
}

/// Directories that commits and checkpoints write to besides `base` and `pg_wal`: of pg_control, and of the states of transactions.
const OTHERS: [&str; 6] = [
    "",
    "global",
    "pg_xact",
    "pg_multixact",
    "pg_commit_ts",
    "pg_twophase",
];

/// Those directories that are on other filesystems than tables and WAL, one a filesystem; None for what cannot be reached.
pub fn other_locations(data: Option<&Location>, wal: Option<&Location>) -> Vec<Option<Location>> {
    let known: Vec<&Location> = data.into_iter().chain(wal).collect();
    let mut others: Vec<Option<Location>> = Vec::new();
    for directory in OTHERS {
        let found = Location::of(&session::data_directory().join(directory));
        let is_same = |known: &Location| {
            found
                .as_ref()
                .is_some_and(|found| same_filesystem(known, found))
        };
        let is_known = known.iter().any(|known| is_same(known));
        if !is_known
            && !others
                .iter()
                .any(|other| other.as_ref().map_or(found.is_none(), is_same))
        {
            others.push(found);
        }
    }
    others
}

/// Whether both are on the same filesystem.
pub fn same_filesystem(a: &Location, b: &Location) -> bool {
    match (a.place(), b.place()) {
        (Some(a), Some(b)) => a.is_same_filesystem(&b),
        _ => a.device == b.device,
    }
}
