//! The extents of a file: in how many pieces the filesystem keeps it.

use std::{fs::File, io};

use rustix::ioctl::{Updater, ioctl, opcode};

/// The request of FS_IOC_FIEMAP and its answer, without room for the extents themselves: then it only counts them.
#[repr(C)]
struct Fiemap {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
}

const FS_IOC_FIEMAP: rustix::ioctl::Opcode = opcode::read_write::<Fiemap>(b'f', 11);
/// Has the kernel write the file first: blocks that it has not allocated yet are in no extent.
const FIEMAP_FLAG_SYNC: u32 = 1;

/// How many extents a file has. Fails where the filesystem has none.
pub fn count(file: &File) -> io::Result<u64> {
    let mut map = Fiemap {
        start: 0,
        length: u64::MAX,
        flags: FIEMAP_FLAG_SYNC,
        mapped_extents: 0,
        extent_count: 0,
        reserved: 0,
    };
    // SAFETY: the opcode is that of this structure, which the kernel reads and writes within its size, as it has no room for extents.
    unsafe { ioctl(file, Updater::<FS_IOC_FIEMAP, Fiemap>::new(&mut map)) }?;
    Ok(u64::from(map.mapped_extents))
}
