//! The end of this server's own log, where it is a file that can be read.

use std::{
    fs::{self, File},
    io::{self, Read, Seek},
    path::Path,
};

use crate::{errors::Fault, pg::session, pg::sql};

/// Bytes that are read.
const MOST: u64 = 256 << 10;
/// Without the logging collector a process writes to where the postmaster does: often a file, else a terminal or the system's journal.
const STANDARD_ERROR: &str = "/proc/self/fd/2";

/// The end of the log; None where it is no file, or cannot be read. In a transaction, with the rights of a superuser.
pub fn end() -> Result<Option<String>, Fault> {
    let collected = sql::read("SELECT pg_current_logfile()", &[])?;
    let read = match collected {
        Some(path) => end_of(&session::data_directory().join(path)),
        None => end_of_standard_error(),
    };
    Ok(read.ok())
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
