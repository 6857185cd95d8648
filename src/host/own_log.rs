//! The end of this server's own log, where it is a file that can be read.

use std::{
    fs::{self, File},
    io::{self, Read, Seek},
    path::Path,
};

use pgfsbench_core::target::server_log;
use rustix::process::getppid;

use crate::{errors::Fault, pg::session, pg::sql};

/// Bytes that are read.
const MOST: u64 = 256 << 10;
/// Without the logging collector a process writes to where the postmaster does: often a file, else a terminal or the system's journal.
const STANDARD_ERROR: &str = "/proc/self/fd/2";

/// The postmaster's last messages in the log; None where it is no file, or cannot be read. Lines that sessions write there do not count. In a
/// transaction, with the rights of a superuser.
pub fn end() -> Result<Option<String>, Fault> {
    let prefix = sql::read("SELECT current_setting('log_line_prefix')", &[])?.unwrap_or_default();
    let collected = sql::read("SELECT pg_current_logfile()", &[])?;
    let read = match collected {
        Some(path) => end_of(&session::data_directory().join(path)),
        None => end_of_standard_error(),
    };
    let Some(postmaster) = getppid() else {
        return Ok(None);
    };
    let postmaster = postmaster.as_raw_nonzero().get().unsigned_abs();
    let own = |log: String| server_log::lines_of_postmaster(&log, &prefix, postmaster);
    Ok(read.ok().map(own))
}

fn end_of_standard_error() -> io::Result<String> {
    let path = Path::new(STANDARD_ERROR);
    match fs::metadata(path)?.is_file() {
        true => end_of(path),
        false => Err(io::ErrorKind::Unsupported.into()),
    }
}

fn end_of(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let from = file.metadata()?.len().saturating_sub(MOST);
    file.seek(io::SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(MOST).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
