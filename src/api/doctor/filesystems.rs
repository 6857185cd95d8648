//! Gathers facts of filesystems for the report.

use std::{fs, path::Path};

use pgfsbench_core::doctor::{
    filesystems::{Facts, check as judge},
    helper::FilesystemSupport,
    report::Line,
};

use crate::host::tree;

/// A line for each filesystem.
pub fn check(seen: &[FilesystemSupport]) -> Vec<Line> {
    judge(&Facts {
        seen,
        known: &tree::text("/proc/filesystems").unwrap_or_default(),
        modules: &modules(),
        program: &program,
    })
}

/// The list of the running kernel's modules, where it can be read.
fn modules() -> String {
    let release = rustix::system::uname()
        .release()
        .to_string_lossy()
        .into_owned();
    let directory = Path::new("/lib/modules").join(release);
    ["modules.dep", "modules.builtin"]
        .map(|name| fs::read_to_string(directory.join(name)).unwrap_or_default())
        .concat()
}

fn program(name: &str) -> Option<String> {
    ["/usr/sbin", "/sbin", "/usr/bin", "/bin"]
        .iter()
        .map(|directory| Path::new(directory).join(name))
        .find(|path| path.exists())
        .map(|path| path.display().to_string())
}
