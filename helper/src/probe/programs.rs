//! The programs that make filesystems: which are here, and of which version.

use crate::exec;
use crate::probe::kernel::{self, Support};
use pgfsbench_core::helper::Filesystem;
use serde::Serialize;
use std::path::PathBuf;

/// The things that a filesystem needs, and which of them are here.
#[derive(Serialize)]
pub struct Readiness {
    pub filesystem: Filesystem,
    /// True if the configuration allows it.
    pub allowed: bool,
    /// yes, module or no.
    pub kernel: &'static str,
    pub program: Option<PathBuf>,
    pub version: Option<String>,
    /// The Debian package of the program.
    pub package: &'static str,
    /// And of the kernel's part.
    pub kernel_package: &'static str,
}

/// Each filesystem, where these are allowed.
pub fn filesystems(allowed: &[Filesystem]) -> Vec<Readiness> {
    let readiness = |filesystem: Filesystem| Readiness {
        filesystem,
        allowed: allowed.contains(&filesystem),
        kernel: match kernel::support(filesystem) {
            Ok(Support::Present) => "yes",
            Ok(Support::Module) => "module",
            Ok(Support::Missing) | Err(_) => "no",
        },
        program: exec::find(filesystem.mkfs_program()),
        version: version(filesystem),
        package: filesystem.package(),
        kernel_package: filesystem.kernel_package(),
    };
    Filesystem::ALL.into_iter().map(readiness).collect()
}

/// The version of the program that makes a filesystem, in its own words.
pub fn version(filesystem: Filesystem) -> Option<String> {
    let program = exec::find(filesystem.mkfs_program())?.display().to_string();
    let argument = match filesystem {
        Filesystem::Zfs => "version",
        _ => "-V",
    };
    let outcome = exec::run(&[program, argument.into()], exec::SHORT).ok()?;
    let line = outcome
        .output
        .lines()
        .find(|line| !line.trim().is_empty())?;
    Some(line.trim().chars().take(80).collect())
}
