//! Shared memory that outlives a target server whose postmaster was killed: PostgreSQL clears it away when the server is started
//! again on the same data, which this one never is.

use std::{fs, io, path::Path};

use crate::pg::sysv;

/// PG_DYNSHMEM_CONTROL_MAGIC of dsm.c.
const CONTROL_MAGIC: u32 = 0x9a50_3d32;
/// Directory of POSIX shared memory (dsm_impl.c: "/PostgreSQL.%u").
const POSIX: &str = "/dev/shm";
/// Bytes before the items of the control segment.
const HEADER: usize = 16;

/// Removes what a server of that data directory has left in shared memory. All its processes have ended.
pub fn remove_left(data: &Path) -> io::Result<()> {
    // A postmaster that has ended by itself has cleared it away, and its file.
    let Ok(text) = fs::read_to_string(data.join("postmaster.pid")) else {
        return Ok(());
    };
    let (Some(id), Some(postmaster)) = (segment_of(&text), postmaster_of(&text)) else {
        return Ok(());
    };
    let Some(control) = sysv::remove(id, data, postmaster)? else {
        return Ok(());
    };
    let name = |handle: u32| Path::new(POSIX).join(format!("PostgreSQL.{handle}"));
    if let Ok(bytes) = fs::read(name(control)) {
        for handle in handles(&bytes) {
            remove(&name(handle))?;
        }
        remove(&name(control))?;
    }
    Ok(())
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The number of the System V segment: the seventh line is its key and its number (LOCK_FILE_LINE_SHMEM_KEY of pidfile.h).
fn segment_of(postmaster_pid: &str) -> Option<i32> {
    let line = postmaster_pid.lines().nth(6)?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// The process that has written the file: the first line.
fn postmaster_of(postmaster_pid: &str) -> Option<i32> {
    let pid: i32 = postmaster_pid.lines().next()?.trim().parse().ok()?;
    // One that runs without a postmaster writes the negative of its number.
    Some(pid.abs())
}

/// Handles of the dynamic segments in a control segment: magic, number of items, most items; then items, each of which begins
/// with its handle and its reference count. How long an item is, differs between versions of PostgreSQL, and follows from the
/// length of the whole.
fn handles(control: &[u8]) -> Vec<u32> {
    let word = |at: usize| {
        let bytes = control.get(at..at + 4)?;
        Some(u32::from_ne_bytes(bytes.try_into().ok()?))
    };
    let (Some(CONTROL_MAGIC), Some(count), Some(most)) = (word(0), word(4), word(8)) else {
        return Vec::new();
    };
    let Some(length) = control
        .len()
        .checked_sub(HEADER)
        .and_then(|items| items.checked_div(most as usize))
    else {
        return Vec::new();
    };
    (0..count.min(most) as usize)
        .filter_map(|index| {
            let at = HEADER + index * length;
            let (handle, references) = (word(at)?, word(at + 4)?);
            (references > 0).then_some(handle)
        })
        .collect()
}
