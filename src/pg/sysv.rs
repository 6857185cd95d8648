//! System V shared memory that a killed server has left behind.

use std::{io, mem::MaybeUninit, os::unix::fs::MetadataExt, path::Path};

/// PGShmemMagic of pg_shmem.h.
const MAGIC: i32 = 679_834_894;

/// PGShmemHeader of pg_shmem.h, at the beginning of each segment; the same in all versions from 9.4 to 18.
#[repr(C)]
#[derive(Clone, Copy)]
struct Header {
    magic: i32,
    _creator: i32,
    _total_size: usize,
    _free_offset: usize,
    dsm_control: u32,
    _index: usize,
    device: u64,
    inode: u64,
}

/// Removes the segment of this number, if no process uses it and it says by itself that it belongs to the server of that data
/// directory; gives the handle of the control segment of its dynamic shared memory then. PostgreSQL tells its own segments in
/// the same way when a server starts again. One that was killed before it could write that down is known by its maker, the
/// `postmaster`.
pub fn remove(id: i32, data: &Path, postmaster: i32) -> io::Result<Option<u32>> {
    let data = std::fs::metadata(data)?;
    let mut about = MaybeUninit::<libc::shmid_ds>::zeroed();
    // SAFETY: a structure to write to.
    if unsafe { libc::shmctl(id, libc::IPC_STAT, about.as_mut_ptr()) } != 0 {
        // There is none any more, or it is another user's.
        return Ok(None);
    }
    // SAFETY: filled by the call.
    let about = unsafe { about.assume_init() };
    if about.shm_nattch != 0 || about.shm_segsz < size_of::<Header>() {
        return Ok(None);
    }
    // SAFETY: attached for reading where the kernel likes, copied while it is attached, and at least as long as the header, of
    // which any bytes are a valid value.
    let header = unsafe {
        let address = libc::shmat(id, std::ptr::null(), libc::SHM_RDONLY);
        if address as isize == -1 {
            return Err(io::Error::last_os_error());
        }
        let header: Header = std::ptr::read_unaligned(address.cast());
        libc::shmdt(address);
        header
    };
    let is_its = header.magic == MAGIC && header.device == data.dev() && header.inode == data.ino();
    let is_unwritten = header.magic == 0 && header.inode == 0 && about.shm_cpid == postmaster;
    if !is_its && !is_unwritten {
        return Ok(None);
    }
    // SAFETY: removes the segment; no memory of this process is concerned.
    if unsafe { libc::shmctl(id, libc::IPC_RMID, std::ptr::null_mut()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Some(header.dsm_control))
}
