//! Writing and syncing a file as the server does with WAL: by the C library, whose functions a preloaded library may replace.

use std::{
    ffi::CString,
    fs::File,
    io,
    os::{
        fd::{AsRawFd, FromRawFd},
        unix::ffi::OsStrExt,
    },
    path::Path,
    time::Instant,
};

/// The ways of wal_sync_method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Fdatasync,
    Fsync,
    OpenDatasync,
    OpenSync,
}

impl Method {
    /// By the setting; a way that is not known counts as fdatasync, the default on Linux.
    pub fn of(setting: &str) -> Self {
        match setting {
            "fsync" | "fsync_writethrough" => Self::Fsync,
            "open_datasync" => Self::OpenDatasync,
            "open_sync" => Self::OpenSync,
            _ => Self::Fdatasync,
        }
    }

    /// True if each write is a sync.
    pub fn syncs_by_write(self) -> bool {
        matches!(self, Self::OpenDatasync | Self::OpenSync)
    }
}

fn checked(result: isize) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

/// Opens a file for writing. A link is not followed.
pub fn open(path: &Path, method: Method) -> io::Result<File> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    let flags = match method {
        Method::OpenDatasync => libc::O_DSYNC,
        Method::OpenSync => libc::O_SYNC,
        Method::Fdatasync | Method::Fsync => 0,
    };
    let flags = flags | libc::O_RDWR | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    // SAFETY: the path ends with a zero; no other code has the descriptor.
    unsafe {
        let descriptor = libc::open(path.as_ptr(), flags);
        checked(descriptor as isize)?;
        Ok(File::from_raw_fd(descriptor))
    }
}

/// Writes a page, and gives the time then.
pub fn write(file: &File, page: &[u8], offset: i64) -> io::Result<Instant> {
    // SAFETY: the page is as long as it says.
    let written =
        unsafe { libc::pwrite(file.as_raw_fd(), page.as_ptr().cast(), page.len(), offset) };
    match checked(written)? {
        all if all == page.len() => Ok(Instant::now()),
        _ => Err(io::ErrorKind::WriteZero.into()),
    }
}

/// Syncs a file, where its writes have not done that.
pub fn sync(file: &File, method: Method) -> io::Result<()> {
    // SAFETY: system calls on a file that is open.
    let result = unsafe {
        match method {
            Method::Fdatasync => libc::fdatasync(file.as_raw_fd()),
            Method::Fsync => libc::fsync(file.as_raw_fd()),
            Method::OpenDatasync | Method::OpenSync => 0,
        }
    };
    checked(result as isize).map(|_| ())
}
