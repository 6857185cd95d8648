//! Segments of WAL that are ready before the warm-up, as in a server that has run for a while. One that was just made creates each segment
//! when it is needed: it writes it in full, and syncs it, while all clients wait.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::atomic::Ordering::Relaxed,
};

use pgfsbench_core::units;

use super::Run;
use crate::{
    board::Phase,
    errors::{Fault, of_file},
    pg::{page_cache, session},
    random,
    run::{preflight, wal_file::sync_directory},
    watch::wal_segments,
};

/// Bytes that are written at once.
const PIECE: usize = 1 << 20;
/// Each page of WAL begins with two bytes by which the server knows its own.
const PAGE: usize = units::PAGE as usize;
/// Bytes that may be on their way to the disk at once, so that it has work while the next segment is written; of larger segments, one.
const AT_ONCE: u64 = 256 << 20;
/// Segments that may be on their way at once, each an open file.
const MOST_OPEN: u64 = 32;
/// Prefix of incomplete files. A server that starts after a crash removes these.
const UNFINISHED: &str = "xlogtemp.pgfsbench";

/// A segment to be, under a name of its own until it is on disk. That name goes with it.
struct Unfinished {
    path: PathBuf,
    file: File,
}

impl Run {
    /// Makes as many segments ready as the run is to find. A server without wal_recycle never has any.
    pub(super) fn fill_wal(&mut self) -> Result<(), Fault> {
        let segments = u64::from(self.spec.options.wal_segments);
        self.enter(Phase::FillWal, segments);
        let directory = session::data_directory().join("pg_wal");
        let (seen, piece) = (wal_segments::read()?, piece());
        if !seen.settings.recycles {
            return Ok(());
        }
        let paths = (1..=segments).map(|after| directory.join(seen.now.name(after)));
        let missing: Vec<PathBuf> = paths.filter(|path| !path.exists()).collect();
        let done = &self.board.run.done;
        done.store(segments - missing.len() as u64, Relaxed);
        let at_once = (AT_ONCE / seen.settings.segment_bytes).clamp(1, MOST_OPEN);
        for paths in missing.chunks(at_once as usize) {
            self.make_segments(paths, &piece, seen.settings.segment_bytes)?;
        }
        sync_directory(&directory.join(UNFINISHED))
    }

    /// Makes these segments, all together: if each were synced before the next is begun, the disk would be idle while that is written.
    fn make_segments(&mut self, paths: &[PathBuf], piece: &[u8], bytes: u64) -> Result<(), Fault> {
        let mut made = Vec::new();
        for (i, path) in paths.iter().enumerate() {
            let unfinished = path.with_file_name(format!("{UNFINISHED}.{i}"));
            made.push(self.write_segment(unfinished, piece, bytes)?);
        }
        for (segment, path) in made.into_iter().zip(paths) {
            self.check_interrupts()?;
            segment.sync()?;
            segment.become_one(path)?;
            self.board.run.done.fetch_add(1, Relaxed);
        }
        Ok(())
    }

    /// Writes a file as large as a segment, which is then on its way to the disk.
    fn write_segment(
        &mut self,
        path: PathBuf,
        piece: &[u8],
        bytes: u64,
    ) -> Result<Unfinished, Fault> {
        let directory = path.parent().unwrap_or(&path);
        preflight::check_file(directory, bytes, "a segment of WAL")?;
        let file = create(&path).map_err(|e| of_file("write", &path, &e))?;
        let mut segment = Unfinished { path, file };
        for _ in 0..bytes / PIECE as u64 {
            self.check_interrupts()?;
            segment.append(piece)?;
        }
        page_cache::start_writing(&segment.file);
        Ok(segment)
    }
}

impl Unfinished {
    fn append(&mut self, piece: &[u8]) -> Result<(), Fault> {
        let written = self.file.write_all(piece);
        written.map_err(|e| of_file("write", &self.path, &e))
    }

    fn sync(&self) -> Result<(), Fault> {
        let synced = self.file.sync_all();
        synced.map_err(|e| of_file("write", &self.path, &e))
    }

    /// Gives it the name of a segment, and no other. A link takes the place of nothing that the server has made meanwhile.
    fn become_one(self, path: &Path) -> Result<(), Fault> {
        match fs::hard_link(&self.path, path) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists => Err(of_file("create", path, &e)),
            _ => Ok(()),
        }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // A file that stays goes with the target, or when its server starts after a crash.
        let _ = fs::remove_file(&self.path);
    }
}

/// A new file. One of that name could be a link to a segment that is in use.
fn create(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).open(path)
}

/// Contents of a segment. As with WAL that was written once, a filesystem can neither leave out nor compress them. None of the pages passes for one
/// of WAL.
fn piece() -> Vec<u8> {
    let mut bytes = vec![0; PIECE];
    random::fill(&mut bytes);
    for page in bytes.chunks_mut(PAGE) {
        page[..2].fill(0);
    }
    bytes
}
