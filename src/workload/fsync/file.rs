//! The file, of the size of a segment: it is written and synced as WAL is.

use std::{
    fs::File,
    io,
    os::{fd::OwnedFd, unix::fs::FileExt},
    path::Path,
};

use pgfsbench_core::workload::fsync::{BLOCK_BYTES, Method};
use rustix::{
    fs::{Mode, OFlags},
    io::{Errno, pwrite, retry_on_intr},
};

use crate::{
    errors::Fault,
    pg::usage::{Wait, shown_as_waiting},
    random,
    run::wal_file::{WalFile, failed, sync_directory},
};

/// How much is written between two looks for a reason to give up.
const CHUNK: u64 = 1 << 20;
/// How much is written before it is synced: no sync is to take long.
const SYNCED: u64 = 16 << 20;

/// Blocks are aligned like this, as pg_test_fsync's and the server's own WAL buffers are.
const ALIGNMENT: usize = BLOCK_BYTES as usize;

/// The file, opened for a method.
pub struct Open {
    /// The descriptor.
    pub file: OwnedFd,
    /// Whether it is written past the page cache.
    pub direct: bool,
}

impl WalFile {
    /// Makes it of zeros, and has it on disk, itself and its name. `step` gets the bytes written so far.
    pub fn make(
        &self,
        bytes: u64,
        mut step: impl FnMut(u64) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let path = self.path();
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW;
        let opened = open(&path, flags | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR);
        let file = File::from(opened.map_err(|e| failed("create", &path, &e))?);
        let zeros = vec![0; CHUNK as usize];
        let mut done = 0;
        while done < bytes {
            step(done)?;
            let length = CHUNK.min(bytes - done);
            // Goes on after an interrupt, and after a part was written.
            file.write_all_at(&zeros[..length as usize], done)
                .map_err(|e| failed("write", &path, &e))?;
            done += length;
            if done % SYNCED == 0 || done == bytes {
                sync(&file, &path)?;
            }
        }
        step(done)?;
        sync_directory(&path)
    }

    /// Opens it for a method: past the page cache where each write is synced, as pg_test_fsync does, if the filesystem can.
    /// Nothing of it that is not on disk is left in the page cache.
    pub fn open(&self, method: Method) -> Result<Open, Fault> {
        let path = self.path();
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | flags_of(method);
        let opened = |flags| open(&path, flags, Mode::empty());
        let direct = method.syncs_each_write();
        let wanted = if direct {
            OFlags::DIRECT
        } else {
            OFlags::empty()
        };
        let (file, direct) = match opened(flags | wanted) {
            Err(e) if direct && e.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => {
                (opened(flags), false)
            }
            other => (other, direct),
        };
        let file = File::from(file.map_err(|e| failed("open", &path, &e))?);
        sync(&file, &path)?;
        Ok(Open {
            file: file.into(),
            direct,
        })
    }
}

fn flags_of(method: Method) -> OFlags {
    match method {
        Method::OpenDatasync => OFlags::DSYNC,
        Method::OpenSync => OFlags::SYNC,
        Method::Fdatasync | Method::Fsync | Method::None => OFlags::empty(),
    }
}

fn open(path: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
    Ok(retry_on_intr(|| rustix::fs::open(path, flags, mode))?)
}

fn sync(file: &File, path: &Path) -> Result<(), Fault> {
    retry_on_intr(|| rustix::fs::fsync(file)).map_err(|e| failed("sync", path, &e.into()))
}

/// The blocks that are written: random bytes, which nothing can compress, aligned for direct I/O.
pub struct Blocks {
    memory: Vec<u8>,
    from: usize,
}

impl Blocks {
    /// One block.
    pub fn new() -> Self {
        let mut memory = vec![0; 2 * ALIGNMENT];
        let from = memory.as_ptr().align_offset(ALIGNMENT);
        random::fill(&mut memory);
        Self { memory, from }
    }

    /// Writes the block this many times, one after the other from `offset` on, and has it on disk as the method says.
    #[inline]
    pub fn write(
        &self,
        file: &OwnedFd,
        method: Method,
        writes: u32,
        offset: u64,
    ) -> Result<(), Errno> {
        for n in 0..u64::from(writes) {
            self.write_one(file, offset + n * BLOCK_BYTES)?;
        }
        let sync: fn(&OwnedFd) -> Result<(), Errno> = match method {
            Method::Fdatasync => |file| rustix::fs::fdatasync(file),
            Method::Fsync => |file| rustix::fs::fsync(file),
            Method::OpenDatasync | Method::OpenSync | Method::None => return Ok(()),
        };
        shown_as_waiting(Wait::WalSync, || retry_on_intr(|| sync(file)))
    }

    #[inline]
    fn write_one(&self, file: &OwnedFd, offset: u64) -> Result<(), Errno> {
        let block = &self.memory[self.from..self.from + ALIGNMENT];
        let mut done = 0;
        while done < block.len() {
            // Zero bytes, or a part of a sector, can only mean that there is no room.
            let write = || pwrite(file, &block[done..], offset + done as u64);
            match shown_as_waiting(Wait::WalWrite, || retry_on_intr(write))? {
                0 => return Err(Errno::NOSPC),
                n => done += n,
            }
        }
        Ok(())
    }
}

/// A write or a sync that failed, as an error of the run.
pub fn write_failed(file: &WalFile, error: Errno) -> Fault {
    failed("write or sync", &file.path(), &error.into())
}
