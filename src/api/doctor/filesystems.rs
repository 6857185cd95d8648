//! The filesystems: which of them this machine can make and mount.

use std::{fs, path::Path};

use pgfsbench_core::{helper::Filesystem, quoting};

use super::{
    helper::Ready,
    report::{Line, MISSING, OK, Report, WARNING},
};

/// Each filesystem: by what the helper says, or by what anybody can see.
pub fn look(seen: Option<Vec<Ready>>) -> Vec<Line> {
    let known = fs::read_to_string("/proc/filesystems").unwrap_or_default();
    let modules = modules();
    let mut report = Report::new("filesystem");
    for filesystem in Filesystem::ALL {
        let by_helper = seen
            .iter()
            .flatten()
            .find(|ready| ready.filesystem == filesystem.name());
        let (kernel, program, version, package, allowed) = match by_helper {
            Some(r) => (
                r.kernel.as_str(),
                r.program.clone(),
                r.version.clone(),
                r.package.as_str(),
                r.allowed,
            ),
            None => (
                support(filesystem, &known, &modules),
                program(filesystem.mkfs_program()),
                None,
                filesystem.package(),
                true,
            ),
        };
        let (state, hint) = match (kernel, &program, allowed) {
            ("no", ..) if filesystem == Filesystem::Zfs => (
                MISSING,
                Some("Run apt-get install zfs-dkms zfsutils-linux, with the component contrib of Debian.".to_owned()),
            ),
            ("no", ..) => (
                MISSING,
                Some("Use a kernel that has it: on Debian those for clouds and small virtual machines often lack it, and linux-image-amd64 has it.".to_owned()),
            ),
            (_, None, _) => (MISSING, Some(format!("Run apt-get install {}.", quoting::shell(package)))),
            (.., false) => (
                WARNING,
                Some("Add it to filesystems in /etc/pgfsbench/helper.toml, and restart pgfsbench-helper.".to_owned()),
            ),
            _ => (OK, None),
        };
        let program =
            program.unwrap_or_else(|| format!("{} is missing", filesystem.mkfs_program()));
        let version = version.map_or(String::new(), |version| format!(", {version}"));
        let allowed = if allowed {
            ""
        } else {
            ", not allowed by the helper's configuration"
        };
        report.say(
            filesystem.name(),
            state,
            format!("kernel: {kernel}; {program}{version}; package {package}{allowed}"),
            hint,
        );
    }
    report.lines
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

fn support(filesystem: Filesystem, known: &str, modules: &str) -> &'static str {
    let name = filesystem.name();
    if known
        .lines()
        .any(|line| line.split_whitespace().last() == Some(name))
    {
        return "yes";
    }
    // Many kernels have ext2 and ext3 in the driver of ext4.
    let is_module = modules.lines().any(|line| {
        let file = line
            .split(':')
            .next()
            .unwrap_or_default()
            .rsplit('/')
            .next()
            .unwrap_or_default();
        file.split('.').next() == Some(name)
    });
    if is_module { "module" } else { "no" }
}

fn program(name: &str) -> Option<String> {
    ["/usr/sbin", "/sbin", "/usr/bin", "/bin"]
        .iter()
        .map(|directory| Path::new(directory).join(name))
        .find(|path| path.exists())
        .map(|path| path.display().to_string())
}
