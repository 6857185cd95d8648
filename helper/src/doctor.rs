//! What this machine can make and mount.

use crate::exec;
use crate::probe::kernel::{self, Support};
use pgfsbench_core::helper::Filesystem;
use std::path::Path;

/// The version of the program that makes a filesystem, in its own words.
pub fn version(filesystem: Filesystem) -> Option<String> {
    let program = exec::find(filesystem.mkfs_program())?.display().to_string();
    let outcome = exec::run(&[program, "-V".into()], exec::SHORT).ok()?;
    let line = outcome
        .output
        .lines()
        .find(|line| !line.trim().is_empty())?;
    Some(line.trim().chars().take(80).collect())
}

/// Prints a table of all filesystems, then what else is needed.
pub fn print() {
    println!("kernel {}", kernel::release());
    println!(
        "{:<10} {:<8} {:<26} {:<15} version",
        "filesystem", "kernel", "program", "package"
    );
    for fs in Filesystem::ALL {
        let support = match kernel::support(fs) {
            Ok(Support::Present) => "yes",
            Ok(Support::Module) => "module",
            Ok(Support::Missing) => "no",
            Err(_) => "?",
        };
        let program = match exec::find(fs.mkfs_program()) {
            Some(path) => path.display().to_string(),
            None => "missing".into(),
        };
        let version = version(fs).unwrap_or_else(|| "-".into());
        println!(
            "{:<10} {support:<8} {program:<26} {:<15} {version}",
            fs.name(),
            fs.package()
        );
    }
    for (name, package) in [
        ("losetup", "mount"),
        ("mount", "mount"),
        ("umount", "mount"),
        ("blkid", "util-linux"),
    ] {
        match exec::find(name) {
            Some(path) => println!("{name}: {}", path.display()),
            None => println!("{name}: missing; install the package {package}"),
        }
    }
    let loops = match Path::new("/dev/loop-control").exists() {
        true => "yes",
        false => "no: images cannot be attached here",
    };
    println!("loop devices: {loops}");
}
