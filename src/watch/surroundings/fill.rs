//! Space that the data take of their filesystem, against the lengths of their files.

use pgfsbench_core::run::surroundings::Fill;
use rustix::fs::statvfs;

use crate::{host::lengths::lengths_below, pg::session};

/// Now, if it is wanted: only of a filesystem that was made for the run something follows from it, and a server that others use may
/// have very many files. None also where it cannot be found out.
pub fn read_if(wanted: bool) -> Option<Fill> {
    if !wanted {
        return None;
    }
    let directory = session::data_directory();
    let space = statvfs(&directory).ok()?;
    Some(Fill {
        used: space.f_blocks.checked_sub(space.f_bfree)? * space.f_frsize,
        files: lengths_below(&directory, &|_| true),
    })
}
