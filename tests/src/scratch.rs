//! The directory of the tests' files: a tmpfs of their own if this machine has the room, since a test waits for a disk most of its time,
//! and a filesystem on a device takes processor time. Tests of disks use `DISK`, or a `LoopFs`.

use crate::server::{run, server_owner};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use tempfile::TempDir;

/// Of the machine's disk.
pub const DISK: &str = "/tmp";

/// A filesystem in memory, whose files are memory.
const MEMORY: &str = "/dev/shm";

/// How large the tmpfs may become, as a part of the memory that is available; and how large it has to be.
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

/// The directory of images for loop devices: in memory where `scratch` is by itself.
pub fn for_images() -> &'static Path {
    let is_in_memory = given().is_none() && in_memory().is_some();
    Path::new(if is_in_memory { MEMORY } else { DISK })
}

/// A filesystem in memory, made at the first call; None where there is none.
fn in_memory() -> Option<&'static Path> {
    static MADE: OnceLock<Option<PathBuf>> = OnceLock::new();
    MADE.get_or_init(make_in_memory).as_deref()
}

/// A tmpfs; None where there is no root, or not enough memory.
fn make_in_memory() -> Option<PathBuf> {
    server_owner()?;
    let bytes = (available()? / SHARE).min(MOST);
    if bytes < LEAST || !crate::mounts().contains(&format!(" {MEMORY} tmpfs ")) {
        return None;
    }
    let mount_point = TempDir::with_prefix_in("pgfsbench-scratch.", DISK).ok()?;
    remove_at_our_end(mount_point.path())?;
    // Like /tmp: the servers' owner may write there, and cannot touch what is ours.
    let options = format!("size={bytes},mode=1777,noatime,nosuid,nodev");
    // Large pages, where the kernel has them, spare a page fault for each small one.
    let is_mounted = [",huge=within_size", ""].iter().any(|huge| {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("{options}{huge}"), "tmpfs"]);
        run(mount.arg(mount_point.path())).is_ok()
    });
    if !is_mounted {
        return None;
    }
    // From here on the process that waits for our end removes it.
    Some(mount_point.keep())
}

/// The tests do not learn that they are over, and may be killed: a process that reads until they have ended removes it all.
fn remove_at_our_end(mount_point: &Path) -> Option<()> {
    const SCRIPT: &str =
        "trap '' INT TERM HUP; cat > /dev/null; umount --lazy \"$1\"; rmdir \"$1\"";
    let mut shell = Command::new("setsid");
    shell.args(["sh", "-c", SCRIPT, "sh"]);
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
