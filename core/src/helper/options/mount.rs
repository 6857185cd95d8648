//! The mount options. Left out: what names another device (logdev, rtdev, journal_path, device), chooses what is mounted or
//! how the source is reached (subvol, loop, offset, bind, remount), gives rights (suid, dev, user), means something to
//! mount alone (X-mount, helper), and what stops the whole machine (errors=panic) or the server (ro).

use super::Value::{Flag, Levels, Maybe, Number, OneOf};
use super::{Filesystem, Table};

/// Options of every mount.
pub(super) const ALWAYS: [&str; 2] = ["nosuid", "nodev"];

pub(super) fn table(filesystem: Filesystem) -> Table {
    match filesystem {
        Filesystem::Ext2 => EXT2,
        Filesystem::Ext3 | Filesystem::Ext4 => EXT4,
        Filesystem::Xfs => XFS,
        Filesystem::Btrfs => BTRFS,
        Filesystem::F2fs => F2FS,
        Filesystem::Jfs => JFS,
        Filesystem::Nilfs2 => NILFS2,
        Filesystem::Reiserfs => REISERFS,
        // Properties instead.
        Filesystem::Zfs => &[],
    }
}

pub(super) const COMMON: Table = &[
    ("defaults", Flag),
    ("rw", Flag),
    ("nosuid", Flag),
    ("nodev", Flag),
    ("noexec", Flag),
    ("async", Flag),
    ("sync", Flag),
    ("dirsync", Flag),
    ("noatime", Flag),
    ("nodiratime", Flag),
    ("diratime", Flag),
    ("relatime", Flag),
    ("norelatime", Flag),
    ("strictatime", Flag),
    ("nostrictatime", Flag),
    ("lazytime", Flag),
    ("nolazytime", Flag),
];

/// Options that are given against each other, and that do not show it by a "no" before the name.
const EXCLUSIVE: &[&[&str]] = &[
    &["noatime", "relatime", "strictatime"],
    &["sync", "async"],
    &["dioread_lock", "dioread_nolock"],
    &["inode32", "inode64"],
];

/// True if two names are the same option, or its contrary.
pub(super) fn exclude(one: &str, other: &str) -> bool {
    let without = |name: &'_ str| -> Option<String> {
        let rest = name.strip_prefix("no")?;
        Some(rest.strip_prefix('_').unwrap_or(rest).to_owned())
    };
    let is_exclusive = |names: &&[&str]| names.contains(&one) && names.contains(&other);
    one == other
        || without(one).as_deref() == Some(other)
        || without(other).as_deref() == Some(one)
        || EXCLUSIVE.iter().any(is_exclusive)
}

const SWITCH: super::Value = OneOf(&["0", "1"]);
const DAX: super::Value = Maybe(&OneOf(&["always", "inode", "never"]));
const ERRORS: super::Value = OneOf(&["continue", "remount-ro"]);
const DATA: super::Value = OneOf(&["journal", "ordered", "writeback"]);

const EXT2: Table = &[
    ("acl", Flag),
    ("noacl", Flag),
    ("errors", ERRORS),
    ("reservation", Flag),
    ("noreservation", Flag),
    ("user_xattr", Flag),
    ("nouser_xattr", Flag),
];

const EXT4: Table = &[
    ("acl", Flag),
    ("noacl", Flag),
    ("auto_da_alloc", Maybe(&SWITCH)),
    ("noauto_da_alloc", Flag),
    ("barrier", Maybe(&SWITCH)),
    ("nobarrier", Flag),
    ("block_validity", Flag),
    ("noblock_validity", Flag),
    ("commit", Number),
    ("data", DATA),
    ("data_err", OneOf(&["ignore", "abort"])),
    ("dax", DAX),
    ("delalloc", Flag),
    ("nodelalloc", Flag),
    ("dioread_lock", Flag),
    ("dioread_nolock", Flag),
    ("discard", Flag),
    ("nodiscard", Flag),
    ("errors", ERRORS),
    ("init_itable", Maybe(&Number)),
    ("noinit_itable", Flag),
    ("inode_readahead_blks", Number),
    ("journal_async_commit", Flag),
    ("journal_checksum", Flag),
    ("nojournal_checksum", Flag),
    ("journal_ioprio", Number),
    ("max_batch_time", Number),
    ("min_batch_time", Number),
    ("mb_optimize_scan", SWITCH),
    ("nombcache", Flag),
    ("stripe", Number),
    ("user_xattr", Flag),
    ("nouser_xattr", Flag),
];

const XFS: Table = &[
    ("allocsize", Number),
    ("attr2", Flag),
    ("noattr2", Flag),
    ("barrier", Flag),
    ("nobarrier", Flag),
    ("dax", DAX),
    ("discard", Flag),
    ("nodiscard", Flag),
    ("filestreams", Flag),
    ("ikeep", Flag),
    ("noikeep", Flag),
    ("inode32", Flag),
    ("inode64", Flag),
    ("largeio", Flag),
    ("nolargeio", Flag),
    ("lifetime", Flag),
    ("nolifetime", Flag),
    ("logbsize", Number),
    ("logbufs", Number),
    ("noalign", Flag),
    ("noquota", Flag),
    ("sunit", Number),
    ("swidth", Number),
    ("swalloc", Flag),
    ("wsync", Flag),
];

const COMPRESSIONS: super::Value = Levels(&["zlib", "lzo", "zstd", "no", "none"]);

const BTRFS: Table = &[
    ("acl", Flag),
    ("noacl", Flag),
    ("autodefrag", Flag),
    ("noautodefrag", Flag),
    ("barrier", Flag),
    ("nobarrier", Flag),
    ("commit", Number),
    ("compress", Maybe(&COMPRESSIONS)),
    ("compress-force", Maybe(&COMPRESSIONS)),
    ("datacow", Flag),
    ("nodatacow", Flag),
    ("datasum", Flag),
    ("nodatasum", Flag),
    ("discard", Maybe(&OneOf(&["sync", "async"]))),
    ("nodiscard", Flag),
    ("flushoncommit", Flag),
    ("noflushoncommit", Flag),
    ("max_inline", Number),
    ("metadata_ratio", Number),
    ("space_cache", Maybe(&OneOf(&["v1", "v2"]))),
    ("nospace_cache", Flag),
    ("ssd", Flag),
    ("nossd", Flag),
    ("ssd_spread", Flag),
    ("nossd_spread", Flag),
    ("thread_pool", Number),
    ("treelog", Flag),
    ("notreelog", Flag),
];

const F2FS: Table = &[
    ("acl", Flag),
    ("noacl", Flag),
    ("active_logs", OneOf(&["2", "4", "6"])),
    ("alloc_mode", OneOf(&["default", "reuse"])),
    ("atgc", Flag),
    ("background_gc", OneOf(&["on", "off", "sync"])),
    ("barrier", Flag),
    ("nobarrier", Flag),
    ("checkpoint_merge", Flag),
    ("nocheckpoint_merge", Flag),
    (
        "compress_algorithm",
        Levels(&["lzo", "lz4", "zstd", "lzo-rle"]),
    ),
    ("compress_log_size", Number),
    ("compress_mode", OneOf(&["fs", "user"])),
    ("data_flush", Flag),
    ("discard", Flag),
    ("nodiscard", Flag),
    ("extent_cache", Flag),
    ("noextent_cache", Flag),
    ("fastboot", Flag),
    ("flush_merge", Flag),
    ("noflush_merge", Flag),
    ("fsync_mode", OneOf(&["posix", "strict", "nobarrier"])),
    ("gc_merge", Flag),
    ("nogc_merge", Flag),
    ("heap", Flag),
    ("no_heap", Flag),
    ("inline_data", Flag),
    ("noinline_data", Flag),
    ("inline_dentry", Flag),
    ("noinline_dentry", Flag),
    ("inline_xattr", Flag),
    ("noinline_xattr", Flag),
    ("mode", OneOf(&["adaptive", "lfs"])),
];

const JFS: Table = &[
    ("discard", Maybe(&Number)),
    ("nodiscard", Flag),
    ("errors", ERRORS),
    ("integrity", Flag),
    ("nointegrity", Flag),
];

const NILFS2: Table = &[
    ("barrier", Flag),
    ("nobarrier", Flag),
    ("discard", Flag),
    ("nodiscard", Flag),
    ("errors", ERRORS),
    ("order", OneOf(&["relaxed", "strict"])),
];

const REISERFS: Table = &[
    ("barrier", OneOf(&["none", "flush"])),
    ("commit", Number),
    ("data", DATA),
    ("hash", OneOf(&["r5", "rupasov", "tea", "detect"])),
    ("hashed_relocation", Flag),
    ("no_unhashed_relocation", Flag),
    ("noborder", Flag),
    ("notail", Flag),
];
