//! The filesystems: which of them this machine can make and mount.

use super::{
    helper::FilesystemSupport,
    report::{Line, MISSING, OK, Report, WARNING},
};
use crate::{
    helper::Filesystem,
    texts::doctor::filesystems::{self as texts, Lack, Support},
};

/// All that is found out of filesystems.
pub struct Facts<'a> {
    /// The helper's report of each.
    pub seen: &'a [FilesystemSupport],
    /// `/proc/filesystems`.
    pub known: &'a str,
    /// The list of the running kernel's modules; empty where it cannot be read.
    pub modules: &'a str,
    /// The path of a program; None when it is not there.
    pub program: &'a dyn Fn(&str) -> Option<String>,
}

/// Each filesystem: by what the helper says, or by what anybody can see.
pub fn check(facts: &Facts) -> Vec<Line> {
    let mut report = Report::new("filesystem");
    for filesystem in Filesystem::ALL {
        let by_helper = facts
            .seen
            .iter()
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
                support(filesystem, facts.known, facts.modules),
                (facts.program)(filesystem.mkfs_program()),
                None,
                filesystem.package(),
                true,
            ),
        };
        let lack = match (kernel, &program, allowed) {
            ("no", ..) if filesystem == Filesystem::Zfs => Some(Lack::Zfs),
            ("no", ..) => Some(Lack::Kernel),
            (_, None, _) => Some(Lack::Program),
            (.., false) => Some(Lack::Permission),
            _ => None,
        };
        let state = match lack {
            None => OK,
            Some(Lack::Permission) => WARNING,
            Some(_) => MISSING,
        };
        let support = Support {
            kernel,
            mkfs: filesystem.mkfs_program(),
            program: program.as_deref(),
            version: version.as_deref(),
            package,
            allowed,
        };
        report.say(filesystem.name(), state, texts::support(&support, lack));
    }
    report.lines
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::report::assert_decides_by_codes;

    const KNOWN: &str = "nodev\tproc\n\text4\n\text2\n";
    const MODULES: &str =
        "kernel/fs/xfs/xfs.ko: kernel/lib/libcrc32c.ko\nkernel/fs/btrfs/btrfs.ko.xz:\n";

    fn line(facts: &Facts, name: &str) -> Line {
        assert_decides_by_codes(|| check(facts));
        let lines = check(facts);
        assert_eq!(lines.len(), Filesystem::ALL.len());
        lines.into_iter().find(|line| line.item == name).unwrap()
    }

    fn anybody<'a>(program: &'a dyn Fn(&str) -> Option<String>) -> Facts<'a> {
        Facts {
            seen: &[],
            known: KNOWN,
            modules: MODULES,
            program,
        }
    }

    #[test]
    fn anybody_sees_the_kernel_its_modules_and_the_programs() {
        let all = |name: &str| Some(format!("/sbin/{name}"));
        let facts = anybody(&all);
        for (name, state, kernel) in [
            ("ext4", OK, "kernel: yes;"),
            ("xfs", OK, "kernel: module;"),
            ("btrfs", OK, "kernel: module;"),
            ("jfs", MISSING, "kernel: no;"),
        ] {
            let line = line(&facts, name);
            assert_eq!(line.state, state, "{name}");
            assert!(line.detail.unwrap().starts_with(kernel), "{name}");
        }
        let none = |_: &str| None;
        let line = line(&anybody(&none), "ext4");
        assert_eq!(line.state, MISSING);
        assert!(line.hint.unwrap().starts_with("Run apt-get install"));
    }

    #[test]
    fn an_odd_line_costs_that_line() {
        let known = "\u{fffd}\n\nnodev\n\text4 \n";
        let modules = "\u{fffd}:\n:\n/\nkernel/fs/xfs/xfs.ko\n";
        let support = |name| support(name, known, modules);
        assert_eq!(
            [Filesystem::Ext4, Filesystem::Xfs, Filesystem::Jfs].map(support),
            ["yes", "module", "no"]
        );
    }

    #[test]
    fn the_helper_knows_better() {
        let seen = [FilesystemSupport {
            filesystem: "xfs".into(),
            allowed: false,
            kernel: "yes".into(),
            program: Some("/sbin/mkfs.xfs".into()),
            version: Some("6.1".into()),
            package: "xfsprogs".into(),
        }];
        let none = |_: &str| None;
        let facts = Facts {
            seen: &seen,
            ..anybody(&none)
        };
        let line = line(&facts, "xfs");
        assert_eq!(line.state, WARNING);
        assert!(
            line.detail
                .unwrap()
                .ends_with("package xfsprogs, not allowed by the helper's configuration")
        );
    }
}
