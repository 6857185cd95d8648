//! Options that kernels have had and have no more: those that the kernel's own documentation lists as removed. Others are found by
//! trying.

use super::Filesystem;
use crate::refusal::{Refusal, quoted};

/// The filesystem, its option, the version of Linux that is the first without it, and what there is instead.
const OPTIONS: &[(Filesystem, &str, Version, &str)] = &[
    (
        Filesystem::Xfs,
        "barrier",
        (4, 19),
        "Leave it out: xfs always flushes.",
    ),
    (
        Filesystem::Xfs,
        "nobarrier",
        (4, 19),
        "Leave it out: xfs always flushes.",
    ),
    (
        Filesystem::Xfs,
        "delaylog",
        (4, 0),
        "Leave it out: xfs always does that.",
    ),
    (Filesystem::Xfs, "nodelaylog", (4, 0), "Leave it out."),
    (Filesystem::Xfs, "ihashsize", (4, 0), "Leave it out."),
    (Filesystem::Xfs, "irixsgid", (4, 0), "Leave it out."),
    (Filesystem::Xfs, "osyncisdsync", (4, 0), "Leave it out."),
    (Filesystem::Xfs, "osyncisosync", (4, 0), "Leave it out."),
    (Filesystem::Btrfs, "inode_cache", (5, 11), "Leave it out."),
];

const FILESYSTEMS: &[(Filesystem, Version)] = &[(Filesystem::Reiserfs, (6, 13))];

/// Major and minor version of Linux.
type Version = (u32, u32);

/// Refuses what a kernel of this release has no more, and says since when. Of a release that is not understood nothing is known.
pub fn check_kernel(
    filesystem: Filesystem,
    mount_options: &str,
    release: &str,
) -> Result<(), Refusal> {
    let Some(version) = version(release) else {
        return Ok(());
    };
    let since = |(major, minor): Version| {
        format!("Linux has it no more since {major}.{minor}, and this is {release}.")
    };
    if let Some((_, gone)) = FILESYSTEMS
        .iter()
        .find(|(fs, gone)| *fs == filesystem && *gone <= version)
    {
        return Err(Refusal::argument(format!("{filesystem} is gone"))
            .detail(since(*gone))
            .hint("Choose another filesystem, or an older kernel."));
    }
    for option in mount_options.split(',').map(str::trim) {
        let name = option.split_once('=').map_or(option, |(name, _)| name);
        let is_it = |(fs, gone, since, _): &&(Filesystem, &str, Version, &str)| {
            *fs == filesystem && *gone == name && *since <= version
        };
        if let Some((_, _, gone, instead)) = OPTIONS.iter().find(is_it) {
            let message = format!("mount option {} of {filesystem} is gone", quoted(name));
            return Err(Refusal::argument(message)
                .detail(since(*gone))
                .hint(*instead));
        }
    }
    Ok(())
}

/// `6.1.0-13-amd64` is 6.1.
fn version(release: &str) -> Option<Version> {
    let mut numbers = release.split(['.', '-', '+']).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::check;

    #[test]
    fn what_is_gone_is_refused_with_since_when() {
        for (fs, options, release, since) in [
            (Filesystem::Xfs, "noatime,nobarrier", "6.18.44", "4.19"),
            (Filesystem::Xfs, "barrier", "4.19.0-13-amd64", "4.19"),
            (Filesystem::Xfs, "noatime, delaylog", "5.10", "4.0"),
            (Filesystem::Xfs, "ihashsize=1024", "6.1.0", "4.0"),
            (Filesystem::Btrfs, "inode_cache", "5.11-rc1", "5.11"),
            (Filesystem::Reiserfs, "", "6.13", "6.13"),
        ] {
            let refusal = check_kernel(fs, options, release).expect_err(options);
            check::style(&refusal);
            let detail = refusal.detail.unwrap();
            assert!(detail.contains(&format!("since {since},")), "{detail}");
            assert!(detail.contains(release), "{detail}");
        }
    }

    #[test]
    fn what_this_kernel_has_is_not() {
        for (fs, options, release) in [
            (Filesystem::Xfs, "nobarrier", "4.18.0-553.el8.x86_64"),
            (Filesystem::Xfs, "noatime,logbsize=256k", "6.18.44"),
            (Filesystem::Ext4, "nobarrier", "6.18.44"),
            (Filesystem::Btrfs, "nobarrier", "6.18.44"),
            (Filesystem::Btrfs, "inode_cache", "5.10.0"),
            (Filesystem::Reiserfs, "notail", "6.12.9"),
            (Filesystem::Xfs, "nobarrier", "unknown"),
        ] {
            assert_eq!(check_kernel(fs, options, release), Ok(()), "{options}");
        }
    }
}
