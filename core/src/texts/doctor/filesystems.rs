//! Filesystems that this machine can make.

use super::Text;
use crate::quoting;

/// A reason why a filesystem cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// The kernel has no zfs.
    Zfs,
    Kernel,
    Program,
    Permission,
}

/// Facts about a filesystem.
#[derive(Clone, Copy, Debug)]
pub struct Support<'a> {
    /// `yes`, `module` or `no`.
    pub kernel: &'a str,
    pub mkfs: &'a str,
    /// Path of the program.
    pub program: Option<&'a str>,
    pub version: Option<&'a str>,
    pub package: &'a str,
    /// Whether the helper's configuration allows it.
    pub allowed: bool,
}

pub fn support(facts: &Support, lack: Option<Lack>) -> Text {
    let program = match facts.program {
        Some(program) => program.to_owned(),
        None => format!("{} is missing", facts.mkfs),
    };
    let version = facts
        .version
        .map_or(String::new(), |version| format!(", {version}"));
    let allowed = match facts.allowed {
        true => "",
        false => ", not allowed by the helper's configuration",
    };
    let Support {
        kernel, package, ..
    } = facts;
    let text = Text::new(
        "filesystem",
        format!("kernel: {kernel}; {program}{version}; package {package}{allowed}"),
    );
    let hint = match lack {
        None => return text,
        Some(Lack::Zfs) => "Run apt-get install zfs-dkms zfsutils-linux, with the component contrib of Debian.".to_owned(),
        Some(Lack::Kernel) => "Use a kernel that has it: on Debian those for clouds and small virtual machines often lack it, and linux-image-amd64 has it.".to_owned(),
        Some(Lack::Program) => format!("Run apt-get install {}.", quoting::shell(package)),
        Some(Lack::Permission) => "Add it to filesystems in /etc/pgfsbench/helper.toml, and restart pgfsbench-helper.".to_owned(),
    };
    text.advise("filesystem", hint)
}
