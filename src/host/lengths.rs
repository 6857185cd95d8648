//! Lengths of files below a directory.

use std::{fs, path::Path};

/// Bytes of the files below a directory as they can be read now: files may come and go meanwhile. Links within it are not followed. `counts` decides
/// about each path relative to the directory; a directory that does not count is not entered.
pub fn lengths_below(directory: &Path, counts: &dyn Fn(&Path) -> bool) -> u64 {
    lengths_in(directory, Path::new(""), counts)
}

fn lengths_in(directory: &Path, relative: &Path, counts: &dyn Fn(&Path) -> bool) -> u64 {
    let entries = fs::read_dir(directory.join(relative));
    let length = |entry: fs::DirEntry| {
        let path = relative.join(entry.file_name());
        match entry.metadata() {
            _ if !counts(&path) => 0,
            Ok(seen) if seen.is_dir() => lengths_in(directory, &path, counts),
            Ok(seen) if seen.is_file() => seen.len(),
            _ => 0,
        }
    };
    entries.into_iter().flatten().flatten().map(length).sum()
}
