//! A short look at how long a flush takes where the WAL is: the same before the clients and after them, so that a change of the
//! device (burst credits used up, a neighbour) does not pass for one of the filesystem.
//!
//! It goes the server's own way to the kernel, by wal_sync_method: what a preloaded library makes of that, it makes of the probe.

use std::{
    fs::{self, OpenOptions},
    io,
    os::unix::fs::{FileExt, OpenOptionsExt},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use pgfsbench_core::{series, units};

use crate::pg::{
    process, session, sql,
    wal_sync::{self, Method},
    xact,
};

/// No name of a segment of WAL, so that the server leaves it alone.
const NAME: &str = "pgfsbench_flush_probe";
/// Bytes of a page of WAL.
const PAGE: usize = units::PAGE as usize;
/// Pages of the file, which are written in turn.
const PAGES: usize = 8;
/// How many flushes are timed.
const FLUSHES: usize = 30;
/// No more are begun after this time.
pub const PATIENCE: Duration = Duration::from_millis(1000);

fn path() -> PathBuf {
    session::data_directory().join("pg_wal").join(NAME)
}

/// The file that a process has left which was killed.
pub fn remove_left() {
    let _ = fs::remove_file(path());
}

/// The median duration of a flush in microseconds; None where it cannot be found out, which is no reason to give a run up.
pub fn median_us() -> Option<f64> {
    let path = path();
    // Also when an interrupt ends the run.
    let _removed = Removed(&path);
    let method = "SELECT current_setting('wal_sync_method')";
    let method = xact::transaction(|| sql::read(method, &[])).ok().flatten();
    let method = Method::of(method.as_deref().unwrap_or_default());
    series::median(&time(&path, method).ok()?)
}

/// The file goes with it.
struct Removed<'a>(&'a Path);

impl Drop for Removed<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.0);
    }
}

fn time(path: &Path, method: Method) -> io::Result<Vec<f64>> {
    // A link of that name is not followed.
    let nofollow = rustix::fs::OFlags::NOFOLLOW.bits() as i32;
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .custom_flags(nofollow)
        .open(path)?;
    let page = [1; PAGE];
    for index in 0..PAGES {
        file.write_all_at(&page, (index * PAGE) as u64)?;
    }
    // The timed writes change neither the size nor the place of the blocks, as in a segment that is used again.
    file.sync_all()?;
    drop(file);
    let file = wal_sync::open(path, method)?;
    let began = Instant::now();
    let mut timed = Vec::with_capacity(FLUSHES);
    while timed.len() < FLUSHES && began.elapsed() < PATIENCE {
        let offset = timed.len() % PAGES * PAGE;
        let start = Instant::now();
        let written = wal_sync::write(&file, &page, offset as i64)?;
        // A method without a sync of its own has it in the write.
        let start = if method.syncs_by_write() {
            start
        } else {
            written
        };
        wal_sync::sync(&file, method)?;
        timed.push(start.elapsed().as_secs_f64() * 1e6);
        process::check_interrupts();
    }
    Ok(timed)
}
