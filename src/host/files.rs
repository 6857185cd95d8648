//! Attributes of the server's files, and whether their filesystem allocates blocks and takes writes: mount options do not tell.

use std::{
    fs::{self, File, OpenOptions},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use pgfsbench_core::file_attributes;
use rustix::{
    fs::{FallocateFlags, OFlags, fallocate, fgetxattr, ioctl_getflags},
    io::{self, Errno},
};

/// The property of btrfs.
const COMPRESSION: &str = "btrfs.compression";
/// Longer values of it are none.
const LONGEST: usize = 64;
/// The server extends a file by posix_fallocate() when it needs this many bytes or more at a time.
const BULK: u64 = 64 << 10;
/// pg_basebackup leaves files of such a name out. It is there for a moment only, on filesystems without files that have no name.
const NAME: &str = "pgsql_tmp_pgfsbench";

/// The attributes of a file or directory, in the words of [`file_attributes`]; None where the filesystem has none, or it cannot be opened.
pub fn attributes(path: &Path) -> Option<String> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags((OFlags::NONBLOCK | OFlags::NOFOLLOW).bits() as i32)
        .open(path)
        .ok()?;
    let flags = ioctl_getflags(&file).ok()?.bits();
    let mut value = [0; LONGEST];
    let length = fgetxattr(&file, COMPRESSION, &mut value[..]).unwrap_or(0);
    let property = std::str::from_utf8(&value[..length]).ok();
    let property = property.filter(|value| !value.is_empty());
    Some(file_attributes::in_words(flags, property))
}

/// Whether the filesystem of a directory has fallocate, by trying it; None where that fails for another reason. glibc's posix_fallocate() is
/// no such try: where the filesystem has none, it writes into each block.
pub fn has_fallocate(directory: &Path) -> Option<bool> {
    let file = nameless(directory).or_else(|| removed(directory))?;
    can_allocate(fallocate(&file, FallocateFlags::empty(), 0, BULK))
}

/// Whether the filesystem of a directory lets no file be made because it is read-only, or has stopped itself.
pub fn refuses_writes(directory: &Path) -> bool {
    let path = directory.join(NAME);
    let mut options = OpenOptions::new();
    let made = options.write(true).create_new(true).mode(0o600).open(&path);
    let _ = fs::remove_file(&path);
    let error = made.err().and_then(|error| Errno::from_io_error(&error));
    error.is_some_and(|error| STOPPED.contains(&error))
}

/// Errors of a filesystem to which nothing can be written.
const STOPPED: [Errno; 4] = [Errno::ROFS, Errno::IO, Errno::SHUTDOWN, Errno::UCLEAN];

fn can_allocate(tried: io::Result<()>) -> Option<bool> {
    match tried {
        Ok(()) => Some(true),
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => Some(false),
        Err(_) => None,
    }
}

fn nameless(directory: &Path) -> Option<File> {
    OpenOptions::new()
        .write(true)
        .mode(0o600)
        .custom_flags(OFlags::TMPFILE.bits() as i32)
        .open(directory)
        .ok()
}

/// A file that is removed while it is open.
fn removed(directory: &Path) -> Option<File> {
    let path = directory.join(NAME);
    // One that a process has left which was killed.
    let _ = fs::remove_file(&path);
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o600).open(&path);
    let _ = fs::remove_file(&path);
    file.ok()
}
