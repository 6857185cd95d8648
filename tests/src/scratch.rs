//! The directory of the tests' files: a tmpfs of their own if this machine has the room, since a test waits for a disk most of its time,
//! and a filesystem on a device takes processor time. Tests of disks use `on_disk`, or a `LoopFs`.

use crate::as_server::server_owner;
use crate::server::run;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use tempfile::TempDir;

/// Directories of the machine's disk: the first that is not in memory is taken.
const DISKS: [&str; 2] = ["/tmp", "/var/tmp"];

/// A filesystem in memory, whose files are memory.
const MEMORY: &str = "/dev/shm";

/// How large the tmpfs may become, as a part of the memory that is available; and how large it has to be.
const SHARE: u64 = 2;
const MOST: u64 = 12 << 30;
const LEAST: u64 = 6 << 30;

/// The directory that what tests make is made in. `PGFSBENCH_SCRATCH` names another one, in which it is.
pub fn scratch() -> &'static Path {
    given().or_else(in_memory).unwrap_or_else(|| on_disk())
}

fn given() -> Option<&'static Path> {
    static GIVEN: OnceLock<Option<PathBuf>> = OnceLock::new();
    let name = std::env::var_os("PGFSBENCH_SCRATCH");
    GIVEN.get_or_init(|| name.map(directory_in)).as_deref()
}

/// A directory on the machine's disk.
pub fn on_disk() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| {
        let disk = DISKS.into_iter().find(|directory| !is_tmpfs(directory));
        directory_in(disk.unwrap_or(DISKS[0]))
    })
}

/// A directory on the machine's tmpfs; None where it has none.
pub fn on_tmpfs() -> Option<&'static Path> {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    is_tmpfs(MEMORY).then(|| MADE.get_or_init(|| directory_in(MEMORY)).as_path())
}

/// The directory of images for loop devices: in memory where `scratch` is by itself.
pub fn for_images() -> &'static Path {
    let is_in_memory = given().is_none() && in_memory().is_some();
    on_tmpfs()
        .filter(|_| is_in_memory)
        .unwrap_or_else(|| on_disk())
}

fn is_tmpfs(directory: &str) -> bool {
    crate::mounts().contains(&format!(" {directory} tmpfs "))
}

/// One that is removed at our end.
fn directory_in(within: impl AsRef<Path>) -> PathBuf {
    let made = TempDir::with_prefix_in("pgfsbench-tests.", within).expect("a directory");
    clean_up_at_our_end(made.path()).expect("sh");
    // Like /tmp: the servers' owner may write there, and cannot touch what is ours.
    fs::set_permissions(made.path(), fs::Permissions::from_mode(0o1777)).expect("chmod");
    made.keep()
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
    if bytes < LEAST || !is_tmpfs(MEMORY) {
        return None;
    }
    let mount_point = TempDir::with_prefix_in("pgfsbench-scratch.", DISKS[0]).ok()?;
    clean_up_at_our_end(mount_point.path()).ok()?;
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
fn clean_up_at_our_end(directory: &Path) -> std::io::Result<()> {
    let mut shell = Command::new("setsid");
    shell.args(["sh", "-c", include_str!("clean_up.sh"), "sh"]);
    shell.arg(directory).current_dir("/");
    shell.stdin(Stdio::piped()).stdout(Stdio::null());
    let child = shell.stderr(Stdio::null()).spawn()?;
    // The input is open until this process ends.
    std::mem::forget(child);
    Ok(())
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
