//! The filesystems that the helper can make.

use serde::{Deserialize, Serialize};

use crate::refusal::{Refusal, quoted};

/// The only directories in which the helper looks for programs.
pub const DIRECTORIES: [&str; 4] = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"];

/// A filesystem that the helper can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Filesystem {
    Ext2,
    Ext3,
    Ext4,
    Xfs,
    Btrfs,
    F2fs,
    Jfs,
    Nilfs2,
    Reiserfs,
    Zfs,
}

impl Filesystem {
    /// All of them.
    pub const ALL: [Filesystem; 10] = [
        Self::Ext2,
        Self::Ext3,
        Self::Ext4,
        Self::Xfs,
        Self::Btrfs,
        Self::F2fs,
        Self::Jfs,
        Self::Nilfs2,
        Self::Reiserfs,
        Self::Zfs,
    ];

    /// The name, as the kernel and `mount -t` have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ext2 => "ext2",
            Self::Ext3 => "ext3",
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
            Self::F2fs => "f2fs",
            Self::Jfs => "jfs",
            Self::Nilfs2 => "nilfs2",
            Self::Reiserfs => "reiserfs",
            Self::Zfs => "zfs",
        }
    }

    /// The filesystem of this name, or a refusal that names all.
    pub fn of_name(name: &str) -> Result<Self, Refusal> {
        let found = Self::ALL.into_iter().find(|fs| fs.name() == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|fs| fs.name()).collect();
            Refusal::argument(format!("unknown filesystem {}", quoted(name)))
                .detail("The helper makes only filesystems whose options it knows.")
                .hint(format!("Known are {}.", names.join(", ")))
        })
    }

    /// The program that makes it.
    pub fn mkfs_program(self) -> &'static str {
        match self {
            Self::Ext2 => "mkfs.ext2",
            Self::Ext3 => "mkfs.ext3",
            Self::Ext4 => "mkfs.ext4",
            Self::Xfs => "mkfs.xfs",
            Self::Btrfs => "mkfs.btrfs",
            Self::F2fs => "mkfs.f2fs",
            Self::Jfs => "mkfs.jfs",
            Self::Nilfs2 => "mkfs.nilfs2",
            Self::Reiserfs => "mkfs.reiserfs",
            Self::Zfs => "zpool",
        }
    }

    /// The Debian package that has this program.
    pub fn package(self) -> &'static str {
        match self {
            Self::Ext2 | Self::Ext3 | Self::Ext4 => "e2fsprogs",
            Self::Xfs => "xfsprogs",
            Self::Btrfs => "btrfs-progs",
            Self::F2fs => "f2fs-tools",
            Self::Jfs => "jfsutils",
            Self::Nilfs2 => "nilfs-tools",
            Self::Reiserfs => "reiserfsprogs",
            Self::Zfs => "zfsutils-linux",
        }
    }

    /// The Debian package of the kernel's part of it, with what is to be known about it.
    pub fn kernel_package(self) -> &'static str {
        match self {
            Self::Zfs => {
                "zfs-dkms of contrib, which builds it for the running kernel and needs its headers"
            }
            _ => "linux-image-amd64; those for clouds and small virtual machines often lack it",
        }
    }

    /// Arguments that come before the user's: ask nothing, say what is made of it but not how far it is, and give it this UUID, by which the helper knows
    /// later what it has made. mkfs.jfs, mkfs.f2fs, mkfs.nilfs2 and zpool choose their own.
    pub fn own_arguments(self, uuid: &str) -> Vec<String> {
        let uuid_of_xfs = format!("uuid={uuid}");
        let arguments: &[&str] = match self {
            Self::Ext2 | Self::Ext3 | Self::Ext4 => &["-q", "-F", "-U", uuid],
            Self::Xfs => &["-f", "-m", &uuid_of_xfs],
            Self::Btrfs => &["-f", "-U", uuid],
            Self::F2fs => &["-q", "-f"],
            Self::Nilfs2 => &["-f"],
            Self::Jfs => &["-q"],
            Self::Reiserfs => &["-q", "-f", "-f", "-u", uuid],
            // A pool is made in other words.
            Self::Zfs => &[],
        };
        arguments.iter().map(|&a| a.to_owned()).collect()
    }

    /// True if mkfs takes a UUID as argument.
    pub fn takes_uuid(self) -> bool {
        !matches!(self, Self::F2fs | Self::Jfs | Self::Nilfs2 | Self::Zfs)
    }

    /// True if its journal or log can be on another device.
    pub fn takes_log(self) -> bool {
        matches!(self, Self::Ext3 | Self::Ext4 | Self::Xfs | Self::Zfs)
    }

    /// Below this size its mkfs refuses, or nothing of use fits.
    pub fn smallest_bytes(self) -> u64 {
        let megabytes = match self {
            Self::Ext2 | Self::Ext3 | Self::Ext4 | Self::Jfs => 16,
            Self::Xfs => 300,
            Self::Btrfs => 128,
            Self::F2fs => 100,
            Self::Nilfs2 => 129,
            Self::Reiserfs => 64,
            Self::Zfs => 256,
        };
        megabytes << 20
    }
}

impl std::fmt::Display for Filesystem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::check;

    #[test]
    fn names_lead_there_and_back() {
        for fs in Filesystem::ALL {
            assert_eq!(Filesystem::of_name(fs.name()), Ok(fs));
            assert_eq!(
                serde_json::to_string(&fs).unwrap(),
                format!("\"{}\"", fs.name())
            );
            assert!(fs.mkfs_program().starts_with("mkfs.") || fs == Filesystem::Zfs);
        }
        for name in ["", "EXT4", "ntfs", "zfs ", "xfs "] {
            check::style(&Filesystem::of_name(name).unwrap_err());
        }
    }
}
