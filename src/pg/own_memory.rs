//! How much memory this process has to itself.

use std::{fs, path::Path};

use rustix::param::page_size;

use crate::errors::{Fault, of_file, sqlstate};

const STATM: &str = "/proc/self/statm";

/// Bytes of its data and stack, also of those that it has not touched yet: what malloc has been asked for is known before it is
/// filled. Shared memory is not among them.
pub fn bytes() -> Result<u64, Fault> {
    let text = fs::read_to_string(STATM).map_err(|e| of_file("read", Path::new(STATM), &e))?;
    let pages: Option<u64> = text
        .split_whitespace()
        .nth(5)
        .and_then(|pages| pages.parse().ok());
    pages
        .map(|pages| pages.saturating_mul(page_size() as u64))
        .ok_or_else(|| {
            Fault::new(
                sqlstate::SYSTEM,
                format!("unexpected contents of \"{STATM}\""),
            )
        })
}
