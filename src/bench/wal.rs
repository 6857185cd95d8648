//! Segments of WAL that are ready before the warm-up, as in a server that has run for a while. One that was just made creates each segment
//! when it is needed: it writes it in full, and syncs it, while all clients wait.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    sync::atomic::Ordering::Relaxed,
};

use pgfsbench_core::units;

use super::Run;
use crate::{
    board::Phase,
    errors::{Fault, of_file},
    pg::session,
    random,
    run::wal_file::sync_directory,
    watch::wal_segments,
};

/// Bytes that are written at once.
const PIECE: usize = 1 << 20;
/// Each page of WAL begins with two bytes by which the server knows its own.
const PAGE: usize = units::PAGE as usize;
/// A file that is not complete; a server that starts removes those of this name.
const UNFINISHED: &str = "xlogtemp.pgfsbench";

impl Run {
    /// Makes as many segments ready as the run is to find. A server without wal_recycle never has any.
    pub(super) fn fill_wal(&mut self) -> Result<(), Fault> {
        let segments = u64::from(self.spec.options.wal_segments);
        self.enter(Phase::FillWal, segments);
        let directory = session::data_directory().join("pg_wal");
        let unfinished = directory.join(UNFINISHED);
        let (seen, piece) = (wal_segments::look()?, piece());
        if !seen.settings.recycles {
            return Ok(());
        }
        for after in 1..=segments {
            let path = directory.join(seen.now.name(after));
            if !path.exists() {
                self.write_segment(&unfinished, &piece, seen.settings.segment_bytes)?;
                // A link takes the place of nothing that the server has made meanwhile.
                match fs::hard_link(&unfinished, &path) {
                    Err(e) if e.kind() != io::ErrorKind::AlreadyExists => {
                        return Err(of_file("create", &path, &e));
                    }
                    _ => {}
                }
                fs::remove_file(&unfinished).map_err(|e| of_file("remove", &unfinished, &e))?;
            }
            self.board.run.done.store(after, Relaxed);
        }
        sync_directory(&unfinished)
    }

    /// Writes a file as large as a segment, and has it on disk.
    fn write_segment(&mut self, path: &Path, piece: &[u8], bytes: u64) -> Result<(), Fault> {
        let failed = |e: io::Error| of_file("write", path, &e);
        let mut file = create(path).map_err(failed)?;
        for _ in 0..bytes / PIECE as u64 {
            self.look_around()?;
            file.write_all(piece).map_err(failed)?;
        }
        file.sync_all().map_err(failed)
    }
}

fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.open(path)
}

/// What a segment is filled with: nothing that a filesystem could leave out or compress, as WAL that was written once. No page of it
/// passes for one of WAL.
fn piece() -> Vec<u8> {
    let mut bytes = vec![0; PIECE];
    random::fill(&mut bytes);
    for page in bytes.chunks_mut(PAGE) {
        page[..2].fill(0);
    }
    bytes
}
