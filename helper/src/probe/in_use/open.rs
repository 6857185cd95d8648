//! Open descriptors of this machine's processes.

use super::related::{Related, Relation};
use pgfsbench_core::refusal::{Kind, Refusal, quoted};
use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, statx};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// A process, other than this, that has one of these devices open, in a sentence.
pub fn user(related: &[Related]) -> Result<Option<String>, Refusal> {
    for process in processes(Path::new("/proc"))? {
        match open_by(&process, related) {
            Ok(None) => {}
            Ok(Some(one)) => {
                return Ok(Some(format!(
                    "Process {} has {} open.",
                    named(&process),
                    one.object()
                )));
            }
            // It has ended.
            Err(e) if is_gone(&e) => {}
            Err(e) => return Err(descriptors_not_readable(&process, &e)),
        }
    }
    Ok(None)
}

/// The directories of all processes in /proc, without that of this one.
pub fn processes(proc: &Path) -> Result<Vec<PathBuf>, Refusal> {
    let own = std::process::id().to_string();
    let mut processes = crate::probe::entries(proc)?;
    processes.retain(|process| {
        let name = process.file_name().unwrap_or_default().to_string_lossy();
        name.bytes().all(|b| b.is_ascii_digit()) && *name != *own
    });
    Ok(processes)
}

/// The directories of a process's threads. When the first thread has ended, only the others show descriptors and mounts.
pub fn threads(process: &Path) -> io::Result<Vec<PathBuf>> {
    std::fs::read_dir(process.join("task"))?
        .map(|thread| Ok(thread?.path()))
        .collect()
}

/// Number and name of a process.
pub fn named(process: &Path) -> String {
    let number = process.file_name().unwrap_or_default().to_string_lossy();
    let name = crate::probe::line(&process.join("comm")).unwrap_or_default();
    format!("{number} ({})", quoted(&name))
}

/// True if a process has ended.
pub fn is_gone(error: &io::Error) -> bool {
    const ESRCH: i32 = rustix::io::Errno::SRCH.raw_os_error();
    error.kind() == ErrorKind::NotFound || error.raw_os_error() == Some(ESRCH)
}

/// A process that cannot be looked at may have the device open.
fn descriptors_not_readable(process: &Path, error: &io::Error) -> Refusal {
    not_readable(process, error, "open", "descriptors")
}

/// The refusal where a process cannot be looked at.
pub fn not_readable(process: &Path, error: &io::Error, state: &str, what: &str) -> Refusal {
    let message = format!("could not see who has devices {state}");
    Refusal::new(Kind::System, message)
        .detail(format!(
            "The {what} of process {} cannot be read: {error}.",
            named(process)
        ))
        .hint("Run pgfsbench-helper with the capability CAP_SYS_PTRACE, as its systemd unit does.")
}

/// The devices that this process has open. Each thread may have descriptors of its own.
fn open_by<'a>(process: &Path, related: &'a [Related]) -> io::Result<Option<&'a Related>> {
    for thread in threads(process)? {
        let found = match open_by_thread(&thread, related) {
            Err(error) if is_gone(&error) => continue,
            found => found?,
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

fn open_by_thread<'a>(process: &Path, related: &'a [Related]) -> io::Result<Option<&'a Related>> {
    for descriptor in std::fs::read_dir(process.join("fd"))? {
        let descriptor = descriptor?;
        let Some(number) = device_behind(&descriptor.path()) else {
            continue;
        };
        let Some(one) = related.iter().find(|r| r.number == number) else {
            continue;
        };
        let info = process.join("fdinfo").join(descriptor.file_name());
        if one.relation != Relation::Member || may_write(&info) {
            return Ok(Some(one));
        }
    }
    Ok(None)
}

/// The number of the block device that a descriptor is of. Nothing is asked of network filesystems, which might not answer.
fn device_behind(descriptor: &Path) -> Option<(u32, u32)> {
    let flags = AtFlags::STATX_DONT_SYNC | AtFlags::NO_AUTOMOUNT;
    let stat = statx(CWD, descriptor, flags, StatxFlags::TYPE).ok()?;
    let is_block = FileType::from_raw_mode(stat.stx_mode.into()) == FileType::BlockDevice;
    is_block.then_some((stat.stx_rdev_major, stat.stx_rdev_minor))
}

/// True if it cannot be read: then it might.
fn may_write(info: &Path) -> bool {
    const ACCESS_MODE: u32 = 0o3;
    let text = std::fs::read_to_string(info).unwrap_or_default();
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    flags.is_none_or(|flags| flags & ACCESS_MODE != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_that_a_process_gives_itself_is_shown_harmlessly() {
        let proc = tempfile::tempdir().unwrap();
        let process = proc.path().join("7");
        std::fs::create_dir(&process).unwrap();
        std::fs::write(process.join("comm"), "x\u{1b}[2J\nok\n").unwrap();
        assert_eq!(named(&process), r#"7 ("x\u{1b}[2J")"#);
        std::fs::write(process.join("comm"), "").unwrap();
        assert_eq!(named(&process), r#"7 ("")"#);
    }
}
