//! `doctor`: prints which filesystems this machine can make and mount.

use crate::config::Config;
use crate::exec;
use crate::layer;
use crate::output::say;
use crate::probe::kernel;
use crate::probe::{loops, programs};
use crate::recorder;
use pgfsbench_core::helper::Filesystem;
use pgfsbench_core::refusal::Refusal;
use std::path::Path;

/// Prints a table of all filesystems, then what else is needed. A configuration that the service would not accept is an error.
pub fn print(config: &Path) -> Result<(), Refusal> {
    say!("kernel {}", kernel::release());
    say!(
        "{:<10} {:<8} {:<26} {:<15} version",
        "filesystem",
        "kernel",
        "program",
        "package"
    );
    for ready in programs::filesystems(&Filesystem::ALL) {
        let name = ready.filesystem.name();
        let program = ready
            .program
            .map_or("missing".into(), |path| path.display().to_string());
        let version = ready.version.unwrap_or_else(|| "-".into());
        say!(
            "{name:<10} {:<8} {program:<26} {:<15} {version}",
            ready.kernel,
            ready.package
        );
        if ready.kernel == "no" {
            say!(
                "{:<10} its kernel module: package {}",
                "",
                ready.kernel_package
            );
        }
    }
    for (name, package) in [
        ("losetup", "mount"),
        ("mount", "mount"),
        ("umount", "mount"),
        ("blkid", "util-linux"),
    ] {
        match exec::find(name) {
            Some(path) => say!("{name}: {}", path.display()),
            None => say!("{name}: missing; install the package {package}"),
        }
    }
    let loops = match Path::new(loops::CONTROL).exists() {
        true => "yes",
        false => "no: images cannot be attached here",
    };
    say!("loop devices: {loops}");
    match recorder::why_not() {
        None => match layer::no_log_writes()? {
            None => say!("power cuts: yes, on images (recorder) and devices (dm-log-writes)"),
            Some(why_not) => say!("power cuts: yes, on images; on devices: no: {why_not}"),
        },
        Some(why_not) => say!("power cuts: no: {why_not}; modprobe fuse"),
    }
    if !config.exists() {
        say!(
            "configuration: there is no {}; run pgfsbench-helper setup",
            config.display()
        );
        return Ok(());
    }
    let found = Config::load(config)?;
    crate::probe::user::ids(&found.server_user)
        .map_err(|refusal| refusal.hint("Put server_user right in the helper's configuration."))?;
    let names: Vec<&str> = found.database.iter().map(|d| d.name.as_str()).collect();
    say!(
        "configuration: {}, for {}",
        config.display(),
        match names.is_empty() {
            true => "no database; run pgfsbench-helper setup --database NAME".into(),
            false => format!("database {}", names.join(", ")),
        }
    );
    Ok(())
}
