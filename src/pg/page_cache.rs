//! The kernel's page cache: which part of a file is in it, and what of it is written to the disk.

use std::{fs::File, io, os::fd::AsRawFd, ptr};

/// A file is checked in pieces of this many bytes, which takes little memory.
const PIECE: u64 = 1 << 30;
/// The smallest page that kernels have, of which all others are multiples.
const SMALLEST_PAGE: u64 = 4096;

/// Bytes of a file that are in the page cache, in whole pages. The kernel tells that only to who may write the file.
pub fn cached_bytes(file: &File) -> io::Result<u64> {
    let length = file.metadata()?.len();
    let page = rustix::param::page_size() as u64;
    let mut cached = 0;
    let mut from = 0;
    while from < length {
        let bytes = PIECE.min(length - from);
        let mut pages = vec![0u8; bytes.div_ceil(SMALLEST_PAGE) as usize];
        // SAFETY: a mapping of its own, that is not read and is unmapped again; the vector has a byte for each page of it, or more.
        unsafe {
            let address = libc::mmap(
                ptr::null_mut(),
                bytes as usize,
                libc::PROT_READ,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                from as libc::off_t,
            );
            if address == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            let looked = libc::mincore(address, bytes as usize, pages.as_mut_ptr());
            let error = io::Error::last_os_error();
            libc::munmap(address, bytes as usize);
            if looked != 0 {
                return Err(error);
            }
        }
        let in_it = pages[..bytes.div_ceil(page) as usize].iter();
        cached += in_it.filter(|&&state| state & 1 == 1).count() as u64 * page;
        from += bytes;
    }
    Ok(cached.min(length))
}

/// Has the kernel begin to write a file to the disk, and does not wait until that is done. A hint: the sync that has to follow tells whether it was written.
pub fn start_writing(file: &File) {
    // SAFETY: a system call on a file that is open; it takes no memory of ours.
    unsafe {
        libc::sync_file_range(file.as_raw_fd(), 0, 0, libc::SYNC_FILE_RANGE_WRITE);
    }
}
