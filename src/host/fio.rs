//! The program fio: where it is, and whether only root can have changed it. It runs with the rights of the server's user, which may read
//! and write everything of the server.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use pgfsbench_core::sys::fio;

use crate::{
    errors::{Fault, sqlstate},
    pg::settings,
};

const WRITABLE_BY_OTHERS: u32 = 0o022;
const EXECUTABLE: u32 = 0o111;

/// The real path of fio. Every directory on the way belongs to root and cannot be written by others: the path stays what it was when it was
/// checked.
pub fn find() -> Result<PathBuf, Fault> {
    let path = fio::place(settings::fio(), |place| Path::new(place).exists())?;
    let path = PathBuf::from(path);
    if !path.is_absolute() {
        return Err(refused(&path, "The path is not absolute."));
    }
    let real = fs::canonicalize(&path)
        .map_err(|e| refused(&path, &format!("It cannot be found: {e}.")))?;
    for place in real.ancestors() {
        let facts = fs::metadata(place)
            .map_err(|e| refused(place, &format!("It cannot be inspected: {e}.")))?;
        if facts.uid() != 0 {
            return Err(refused(
                place,
                &format!("It belongs to user {}.", facts.uid()),
            ));
        }
        if facts.mode() & WRITABLE_BY_OTHERS != 0 {
            return Err(refused(
                place,
                &format!("Its mode is {:o}.", facts.mode() & 0o7777),
            ));
        }
        if place == real && !(facts.is_file() && facts.mode() & EXECUTABLE != 0) {
            return Err(refused(place, "It is no program."));
        }
    }
    Ok(real)
}

fn refused(path: &Path, detail: &str) -> Fault {
    Fault::new(
        sqlstate::NOT_ALLOWED,
        format!("\"{}\" is not run", path.display()),
    )
    .detail(detail)
    .hint("The program fio and its directories have to belong to root, and no other user may write them. See the setting pgfsbench.fio.")
}
