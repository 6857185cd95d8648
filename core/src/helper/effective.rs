//! Tells whether the mount options that were asked for are in force. Kernels show some under other names, others only when they are
//! not the default, and drop some silently.

use super::Filesystem;

/// The options asked for that are not in force, as far as the options shown by the kernel can tell; each with the option that is in
/// force in its place, where the kernel shows one: `compress=zstd:20 (in force: compress=zstd:15)`.
pub fn not_in_force(filesystem: Filesystem, requested: &[String], shown: &str) -> Vec<String> {
    let shown = MountShown {
        filesystem,
        options: shown.split(',').collect(),
    };
    requested
        .iter()
        .filter(|option| !shown.has_in_force(option))
        .map(|option| match shown.instead_of(option) {
            Some(other) => format!("{option} (in force: {other})"),
            None => option.clone(),
        })
        .collect()
}

/// Names of options of which a kernel has only the last one in force.
const RIVALS: [&[&str]; 3] = [
    &["nodatacow", "compress", "compress-force"],
    &["ssd", "nossd", "ssd_spread"],
    &["noatime", "relatime"],
];

struct MountShown<'a> {
    filesystem: Filesystem,
    options: Vec<&'a str>,
}

impl MountShown<'_> {
    fn has(&self, option: &str) -> bool {
        self.options.contains(&option)
    }

    /// The value of the option of this name.
    fn value(&self, name: &str) -> Option<&str> {
        let value = |option: &&str| option.strip_prefix(name)?.strip_prefix('=').map(str::len);
        self.options
            .iter()
            .find_map(|option| value(option).map(|length| &option[option.len() - length..]))
    }

    /// The shown option that has taken the place of one that is not in force: its name with another value, its contrary, or a rival.
    fn instead_of(&self, requested: &str) -> Option<&str> {
        let name_of = |option: &str| option.split('=').next().unwrap_or_default().to_owned();
        let name = name_of(requested);
        let takes_its_place = |other: &str| {
            let is_contrary = |one: &str, other: &str| one.strip_prefix("no") == Some(other);
            let are_rivals = |names: &&[&str]| names.contains(&&*name) && names.contains(&other);
            other == name
                || is_contrary(&name, other)
                || is_contrary(other, &name)
                || RIVALS.iter().any(are_rivals)
        };
        let mut shown = self.options.iter().copied();
        shown.find(|option| *option != requested && takes_its_place(&name_of(option)))
    }

    fn has_in_force(&self, option: &str) -> bool {
        if self.has(option) {
            return true;
        }
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (option, None),
        };
        match (name, value) {
            ("defaults", _) => true,
            ("async", _) => !self.has("sync"),
            ("diratime", _) => !self.has("nodiratime"),
            ("norelatime", _) => !self.has("relatime"),
            ("strictatime", _) => !self.has("relatime") && !self.has("noatime"),
            ("nostrictatime", _) => self.has("relatime") || self.has("noatime"),
            // Given with 0 or 1 by some, with "no" by others.
            ("barrier" | "auto_da_alloc", Some("0")) => self.switch(name, false),
            ("barrier" | "auto_da_alloc", Some("1")) => self.switch(name, true),
            ("compress" | "compress-force", value) => self.compression(name, value),
            ("dioread_lock", _) => self.has("nodioread_nolock"),
            ("discard", Some("sync")) => self.has("discard"),
            ("nodiscard", _) => !self.has("discard") && self.value("discard").is_none(),
            (_, Some(value)) => self.number_or_default(name, value),
            (_, None) => match name.strip_prefix("no") {
                Some(positive) if !STARTS_WITH_NO.contains(&name) => self.switch(positive, false),
                _ => self.switch(name, true),
            },
        }
    }

    /// Something that is either on or off, and perhaps only shown if it is not as usual.
    fn switch(&self, name: &str, on: bool) -> bool {
        let is_on = self.has(name) || self.value(name).is_some_and(|value| value != "0");
        let is_off = self.has(&format!("no{name}")) || self.value(name) == Some("0");
        match (is_on, is_off) {
            (true, _) => on,
            (_, true) => !on,
            _ => {
                ON_BY_DEFAULT.iter().any(|(filesystems, names)| {
                    filesystems.contains(&self.filesystem) && names.contains(&name)
                }) == on
            }
        }
    }

    /// "zstd" is shown as "zstd:3".
    fn compression(&self, name: &str, value: Option<&str>) -> bool {
        match (value, self.value(name)) {
            (Some("no" | "none"), shown) => shown.is_none(),
            (None, shown) => shown.is_some(),
            (Some(_), None) => false,
            (Some(value), Some(shown)) => shown.split(':').next() == Some(value) || shown == value,
        }
    }

    /// 64m is shown as 65536k; what is as usual is not shown.
    fn number_or_default(&self, name: &str, value: &str) -> bool {
        match self.value(name) {
            Some(shown) => is_same_value(value, shown),
            None => DEFAULTS.iter().any(|(filesystems, defaults)| {
                filesystems.contains(&self.filesystem) && defaults.contains(&(name, value))
            }),
        }
    }
}

/// True if both are the same text or the same number: 8K and 8192.
pub fn is_same_value(requested: &str, shown: &str) -> bool {
    requested == shown
        || number(requested).is_some_and(|requested| number(shown) == Some(requested))
}

/// Bytes, with a unit or without.
fn number(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_shl(shift)
}

use Filesystem::{Btrfs, Ext2, Ext3, Ext4, F2fs, Jfs, Nilfs2, Reiserfs, Xfs};

/// Names in which "no" negates nothing that is shown without it.
const STARTS_WITH_NO: [&str; 11] = [
    "noatime",
    "nodiratime",
    "nosuid",
    "nodev",
    "noexec",
    "nombcache",
    "notail",
    "noborder",
    "noalign",
    "noquota",
    "norecovery",
];

/// A table for some filesystems.
type Of<T> = (&'static [Filesystem], &'static [T]);

/// Options that are on by default.
const ON_BY_DEFAULT: [Of<&'static str>; 8] = [
    (&[Ext2], &["acl", "user_xattr", "reservation"]),
    (
        &[Ext3, Ext4],
        &[
            "acl",
            "user_xattr",
            "auto_da_alloc",
            "barrier",
            "block_validity",
            "delalloc",
            "dioread_nolock",
            "init_itable",
        ],
    ),
    // With its metadata's checksums, which mkfs turns on.
    (&[Ext4], &["journal_checksum"]),
    (&[Xfs], &["attr2", "barrier", "inode64"]),
    (
        &[Btrfs],
        &["acl", "barrier", "datacow", "datasum", "treelog"],
    ),
    (&[F2fs], &["barrier", "acl", "extent_cache"]),
    (&[Jfs], &["integrity"]),
    (&[Nilfs2], &["barrier"]),
];

/// Values that are not shown because they are the usual ones.
const DEFAULTS: [Of<(&'static str, &'static str)>; 6] = [
    (&[Ext2, Ext3, Ext4], &[("errors", "continue")]),
    (
        &[Ext3, Ext4],
        &[
            ("commit", "5"),
            ("commit", "0"),
            ("data", "ordered"),
            ("data_err", "ignore"),
            ("init_itable", "10"),
            ("inode_readahead_blks", "32"),
            ("journal_ioprio", "3"),
            ("max_batch_time", "15000"),
            ("min_batch_time", "0"),
            ("stripe", "0"),
        ],
    ),
    (
        &[Btrfs],
        &[
            ("commit", "30"),
            ("max_inline", "2048"),
            ("metadata_ratio", "0"),
        ],
    ),
    (
        &[Reiserfs],
        &[("barrier", "flush"), ("commit", "30"), ("data", "ordered")],
    ),
    (&[Jfs], &[("errors", "remount-ro")]),
    (&[Nilfs2], &[("errors", "remount-ro"), ("order", "relaxed")]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::helper::options::mount_options;
    use crate::proc::parse_mountinfo;
    use proptest::prelude::*;

    fn missing(filesystem: Filesystem, requested: &str, shown: &str) -> String {
        let requested = mount_options(filesystem, requested).unwrap();
        let line = format!(
            "42 27 7:0 / /mnt {}",
            shown.replacen(" - ", &format!(" - {filesystem} /dev/loop0 "), 1)
        );
        let mounts = parse_mountinfo(&format!("{line}\n")).mounts;
        not_in_force(filesystem, &requested, &mounts[0].options).join(",")
    }

    /// Options that were asked for, and the ones that kernel 6.18 showed.
    #[test]
    fn recorded_lines_are_judged() {
        for (fs, requested, shown, expected) in [
            (Ext4, "defaults", "rw,nosuid,nodev,relatime - rw", ""),
            (
                Ext4,
                "noatime,barrier=0,commit=30,data=writeback,discard",
                "rw,nosuid,nodev,noatime - rw,discard,nobarrier,commit=30,data=writeback",
                "",
            ),
            (
                Ext4,
                "barrier=1,commit=5,delalloc,acl,relatime,auto_da_alloc,data=ordered,nodiscard,stripe=16,init_itable=10",
                "rw,nosuid,nodev,relatime - rw,stripe=16,data=ordered",
                "",
            ),
            (
                Xfs,
                "noatime,logbsize=256k,logbufs=8,allocsize=64m,discard,largeio,swalloc,inode32,ikeep,noquota",
                "rw,nosuid,nodev,noatime - rw,swalloc,discard,largeio,inode32,allocsize=65536k,logbufs=8,logbsize=256k,noquota",
                "ikeep",
            ),
            (
                Xfs,
                "attr2,inode64,noikeep,nodiscard,nolargeio,logbsize=32768,nolazytime,strictatime",
                "rw,nosuid,nodev - rw,inode64,logbufs=8,logbsize=32k,noquota",
                "",
            ),
            (
                Xfs,
                "wsync,filestreams,dirsync,nodiratime,noalign,logbufs=2",
                "rw,nosuid,nodev,nodiratime,relatime - rw,dirsync,wsync,noalign,filestreams,inode64,logbufs=2,logbsize=32k,noquota",
                "",
            ),
            (
                Btrfs,
                "compress=zstd,nodatacow,discard=async,space_cache=v2,commit=30",
                "rw,nosuid,nodev,relatime - rw,nodatasum,nodatacow,discard=async,space_cache=v2,subvolid=5,subvol=/",
                "compress=zstd (in force: nodatacow)",
            ),
            (
                Btrfs,
                "nodatacow,compress=zstd,noatime",
                "rw,nosuid,nodev,noatime - rw,compress=zstd:3,discard=async,space_cache=v2,subvolid=5,subvol=/",
                "nodatacow (in force: compress=zstd:3)",
            ),
            (
                Btrfs,
                "compress=zstd:20,max_inline=999999",
                "rw,nosuid,nodev,relatime - rw,max_inline=4096,compress=zstd:15,discard=async,space_cache=v2,subvolid=5,subvol=/",
                "compress=zstd:20 (in force: compress=zstd:15),max_inline=999999 (in force: max_inline=4096)",
            ),
            (
                Btrfs,
                "compress=zlib:20,commit=0",
                "rw,nosuid,nodev,relatime - rw,compress=zlib:9,discard=async,space_cache=v2,subvolid=5,subvol=/",
                "compress=zlib:20 (in force: compress=zlib:9),commit=0",
            ),
            (
                Btrfs,
                "compress=lzo:3",
                "rw,nosuid,nodev,relatime - rw,compress=lzo,discard=async,space_cache=v2,subvolid=5,subvol=/",
                "compress=lzo:3 (in force: compress=lzo)",
            ),
            (
                Ext4,
                "data=journal,dioread_nolock",
                "rw,nosuid,nodev,relatime - rw,nodioread_nolock,nodelalloc,data=journal",
                "dioread_nolock (in force: nodioread_nolock)",
            ),
            (
                Btrfs,
                "compress-force=zlib:9,autodefrag,nobarrier,noacl,flushoncommit,max_inline=0,metadata_ratio=3,notreelog,ssd,nodatasum,discard",
                "rw,nosuid,nodev,relatime - rw,nodatasum,nobarrier,max_inline=0,compress-force=zlib:9,ssd,notreelog,flushoncommit,discard,noacl,space_cache=v2,autodefrag,metadata_ratio=3,subvolid=5,subvol=/",
                "",
            ),
            (
                Btrfs,
                "discard=sync,compress",
                "rw,nosuid,nodev,relatime - rw,compress=zlib:3,discard,space_cache=v2,subvolid=5,subvol=/",
                "",
            ),
            (
                Btrfs,
                "commit=17,noflushoncommit,noautodefrag,max_inline=2048,compress=none,nodiscard",
                "rw,nosuid,nodev,relatime - rw,discard=async,space_cache=v2,commit=17,subvolid=5,subvol=/",
                "nodiscard (in force: discard=async)",
            ),
            // And kernel 6.1.
            (
                Jfs,
                "errors=remount-ro,integrity,nodiscard",
                "rw,nosuid,nodev,relatime - rw",
                "",
            ),
            (
                Jfs,
                "nointegrity,errors=continue",
                "rw,nosuid,nodev,relatime - rw,nointegrity,errors=continue",
                "",
            ),
            (
                Jfs,
                "discard",
                "rw,nosuid,nodev,relatime - rw,discard=64",
                "",
            ),
            (
                Reiserfs,
                "notail,barrier=flush,data=writeback,commit=30,noatime",
                "rw,nosuid,nodev,noatime - rw,notail,data=writeback",
                "",
            ),
            (
                Ext2,
                "acl,user_xattr,reservation",
                "rw,nosuid,nodev,relatime - rw,errors=continue,user_xattr,acl",
                "",
            ),
            (
                Ext2,
                "noacl,errors=continue,nouser_xattr,noreservation",
                "rw,nosuid,nodev,relatime - rw,errors=continue,nouser_xattr,noacl,noreservation",
                "",
            ),
            (
                Ext3,
                "barrier=1,commit=9,data=journal,dioread_lock",
                "rw,nosuid,nodev,relatime - rw,nodioread_nolock,commit=9,data=journal",
                "",
            ),
            (
                Ext4,
                "strictatime,nodelalloc,noauto_da_alloc,lazytime,noblock_validity",
                "rw,nosuid,nodev - rw,lazytime,noblock_validity,nodelalloc,noauto_da_alloc",
                "",
            ),
            (
                Ext4,
                "noinit_itable,auto_da_alloc=0,commit=0,nobarrier,journal_checksum",
                "rw,nosuid,nodev,relatime - rw,nobarrier,noauto_da_alloc,noinit_itable",
                "",
            ),
            (
                Ext4,
                "dioread_nolock,block_validity,nombcache,sync,norelatime,diratime",
                "rw,nosuid,nodev,relatime - rw,sync,nombcache",
                "norelatime (in force: relatime)",
            ),
            (
                F2fs,
                "nobarrier,noacl,fsync_mode=strict,background_gc=off,nodiscard,noextent_cache,noinline_data",
                "rw,nosuid,nodev,relatime - rw,lazytime,background_gc=off,nodiscard,no_heap,user_xattr,inline_xattr,noacl,noinline_data,inline_dentry,flush_merge,nobarrier,noextent_cache,mode=adaptive,active_logs=6,alloc_mode=reuse,checkpoint_merge,fsync_mode=strict,discard_unit=block,memory=normal",
                "",
            ),
            (
                Nilfs2,
                "barrier,order=relaxed,errors=remount-ro,nodiscard",
                "rw,nosuid,nodev,relatime - rw",
                "",
            ),
            (
                Nilfs2,
                "nobarrier,order=strict,discard",
                "rw,nosuid,nodev,relatime - rw,order=strict",
                "nobarrier,discard",
            ),
            (
                F2fs,
                "barrier,extent_cache,heap,atgc,discard,nogc_merge,nolazytime",
                "rw,nosuid,nodev,relatime - rw,lazytime,background_gc=on,discard,no_heap,user_xattr,inline_xattr,acl,inline_data,inline_dentry,flush_merge,extent_cache,mode=adaptive,atgc,memory=normal",
                "heap,nolazytime (in force: lazytime)",
            ),
        ] {
            assert_eq!(missing(fs, requested, shown), expected, "{fs} {requested}");
        }
    }

    #[test]
    fn what_is_not_in_force_is_named() {
        for (fs, requested, shown, expected) in [
            (
                Ext4,
                "noatime",
                "rw,nosuid,nodev,relatime - rw",
                "noatime (in force: relatime)",
            ),
            (Ext4, "barrier=0", "rw,nosuid,nodev - rw", "barrier=0"),
            (
                Ext4,
                "barrier=1",
                "rw,nosuid,nodev - rw,nobarrier",
                "barrier=1 (in force: nobarrier)",
            ),
            (Ext4, "nodelalloc", "rw,nosuid,nodev - rw", "nodelalloc"),
            (Ext4, "commit=30", "rw,nosuid,nodev - rw", "commit=30"),
            (
                Ext4,
                "commit=5",
                "rw,nosuid,nodev - rw,commit=30",
                "commit=5 (in force: commit=30)",
            ),
            (
                Xfs,
                "logbsize=256k",
                "rw,nosuid,nodev - rw,logbsize=32k",
                "logbsize=256k (in force: logbsize=32k)",
            ),
            (Xfs, "noatime", "rw,nosuid - rw,noatime", "nodev"),
            (
                Reiserfs,
                "barrier=none",
                "rw,nosuid,nodev - rw",
                "barrier=none",
            ),
            (
                F2fs,
                "nobarrier",
                "rw,nosuid,nodev - rw,barrier",
                "nobarrier (in force: barrier)",
            ),
            (
                Btrfs,
                "compress=lzo",
                "rw,nosuid,nodev - rw,compress=zstd:3",
                "compress=lzo (in force: compress=zstd:3)",
            ),
            (Jfs, "nointegrity", "rw,nosuid,nodev - rw", "nointegrity"),
        ] {
            assert_eq!(missing(fs, requested, shown), expected, "{fs} {requested}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_as_asked_is_in_force(
            fs in prop::sample::select(Filesystem::ALL.to_vec()), text in "[a-z_]{1,12}(=[a-z0-9:]{1,6})?",
        ) {
            let requested = vec![text.clone()];
            let shown = format!("rw,{text},x");
            prop_assert!(not_in_force(fs, &requested, &shown).is_empty());
        }

        #[test]
        fn never_panics(fs in prop::sample::select(Filesystem::ALL.to_vec()), requested in any::<String>(), shown in any::<String>()) {
            let _ = not_in_force(fs, &[requested], &shown);
        }
    }
}
