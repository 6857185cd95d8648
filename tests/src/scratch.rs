//! The directory of the tests' files: a filesystem in memory if this machine has the room, since a test waits for the disk most of its
//! time; and since it is an ext4 on a block device, all that is told of filesystem and device is told of it, too.
//! Tests of the machine's own disk use `DISK`.

use crate::server::{program, run, server_owner};
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use tempfile::TempDir;

/// Of the machine's disk.
pub const DISK: &str = "/tmp";

/// A filesystem in memory, whose files are memory.
const MEMORY: &str = "/dev/shm";

/// How large it may become, as a part of the memory that is available; and how large it has to be.
const SHARE: u64 = 2;
const MOST: u64 = 12 << 30;
const LEAST: u64 = 6 << 30;

/// The directory that what tests make is made in. `PGFSBENCH_SCRATCH` names another one.
pub fn scratch() -> &'static Path {
    given().or_else(in_memory).unwrap_or(Path::new(DISK))
}

fn given() -> Option<&'static Path> {
    static GIVEN: OnceLock<Option<PathBuf>> = OnceLock::new();
    let given = GIVEN.get_or_init(|| std::env::var_os("PGFSBENCH_SCRATCH").map(PathBuf::from));
    given.as_deref()
}

/// The directory of images for loop devices: in memory if `scratch` may be, but not in there, since of loop devices on a loop device
/// one that does not write stops all that open any.
pub fn for_images() -> &'static Path {
    let is_in_memory = given().is_none() && in_memory().is_some();
    Path::new(if is_in_memory { MEMORY } else { DISK })
}

/// A filesystem in memory, made at the first call; None where there is none.
fn in_memory() -> Option<&'static Path> {
    static MADE: OnceLock<Option<PathBuf>> = OnceLock::new();
    MADE.get_or_init(make_in_memory).as_deref()
}

/// An ext4 in memory; None where there is no root, no loop device, or not enough memory.
fn make_in_memory() -> Option<PathBuf> {
    server_owner()?;
    let bytes = (available()? / SHARE).min(MOST);
    let has_room = bytes >= LEAST && crate::mounts().contains(&format!(" {MEMORY} tmpfs "));
    if !has_room || !Path::new("/dev/loop-control").exists() {
        return None;
    }
    let image = TempDir::with_prefix_in("pgfsbench-image.", MEMORY).ok()?;
    let mount_point = TempDir::with_prefix_in("pgfsbench-scratch.", DISK).ok()?;
    remove_at_our_end(image.path(), mount_point.path())?;
    let file = image.path().join("image");
    File::create_new(&file).ok()?.set_len(bytes).ok()?;
    // The space of files that were removed is given back to the memory.
    let mut mkfs = Command::new(program("mkfs.ext4")?);
    run(mkfs.args(["-q", "-m", "0"]).arg(&file)).ok()?;
    let mut mount = Command::new(program("mount")?);
    mount.args(["-o", "loop,discard,noatime"]).arg(&file);
    run(mount.arg(mount_point.path())).ok()?;
    // From here on the process that waits for our end removes them.
    let (_, mount_point) = (image.keep(), mount_point.keep());
    // Like /tmp: the servers' owner may write there, and cannot touch what is ours.
    fs::set_permissions(&mount_point, fs::Permissions::from_mode(0o1777)).expect("chmod");
    Some(mount_point)
}

/// The tests do not learn that they are over, and may be killed: a process that reads until they have ended removes it all.
fn remove_at_our_end(image: &Path, mount_point: &Path) -> Option<()> {
    const SCRIPT: &str = "trap '' INT TERM HUP; cat > /dev/null; \
        umount --lazy \"$2\"; rm -rf --one-file-system \"$1\"; rmdir \"$2\"";
    let mut shell = Command::new("setsid");
    shell.args(["sh", "-c", SCRIPT, "sh"]).arg(image);
    shell.arg(mount_point).current_dir("/");
    shell.stdin(Stdio::piped()).stdout(Stdio::null());
    let child = shell.stderr(Stdio::null()).spawn().ok()?;
    // It is open until this process ends.
    std::mem::forget(child);
    Some(())
}

/// Bytes of memory that are to be had.
fn available() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes << 10)
}
