//! The options of each mkfs. Left out: what names a device, a file or a directory (external journals too, which need a
//! device of their own in the configuration), what reads or runs something else (mke2fs -c runs badblocks), what makes
//! something that is no filesystem (mke2fs -O journal_dev), and labels and identifiers, which are the helper's.

use super::Value::{Decimal, Features, Flag, Keys, Maybe, Number, OneOf};
use super::{Filesystem, Table};

pub(super) fn table(filesystem: Filesystem) -> Table {
    match filesystem {
        Filesystem::Ext2 | Filesystem::Ext3 | Filesystem::Ext4 => EXT,
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

const SWITCH: super::Value = OneOf(&["0", "1"]);

/// mke2fs rounds other sizes down to one of these, and says so only on its output.
const EXT_BLOCKS: super::Value = OneOf(&[
    "1024", "2048", "4096", "8192", "16384", "32768", "65536", "1k", "2k", "4k", "8k", "16k",
    "32k", "64k",
]);

const EXT: Table = &[
    ("-b", EXT_BLOCKS),
    ("-C", Number),
    ("-D", Flag),
    (
        "-E",
        Keys(&[
            ("stride", Number),
            ("stripe_width", Number),
            ("stripe-width", Number),
            ("resize", Number),
            ("lazy_itable_init", Maybe(&SWITCH)),
            ("lazy_journal_init", Maybe(&SWITCH)),
            ("packed_meta_blocks", Maybe(&SWITCH)),
            ("num_backup_sb", OneOf(&["0", "1", "2"])),
            ("desc_size", Number),
            ("nodiscard", Flag),
            ("discard", Flag),
        ]),
    ),
    ("-g", Number),
    ("-G", Number),
    ("-i", Number),
    ("-I", Number),
    ("-j", Flag),
    (
        "-J",
        Keys(&[
            ("size", Number),
            ("fast_commit_size", Number),
            ("location", Number),
        ]),
    ),
    ("-m", Decimal),
    ("-N", Number),
    (
        "-O",
        Features(&[
            "64bit",
            "bigalloc",
            "dir_index",
            "dir_nlink",
            "ext_attr",
            "extent",
            "extents",
            "extra_isize",
            "fast_commit",
            "filetype",
            "flex_bg",
            "has_journal",
            "huge_file",
            "inline_data",
            "large_dir",
            "large_file",
            "meta_bg",
            "metadata_csum",
            "metadata_csum_seed",
            "mmp",
            "none",
            "orphan_file",
            "resize_inode",
            "sparse_super",
            "sparse_super2",
            "uninit_bg",
        ]),
    ),
    (
        "-T",
        OneOf(&[
            "default",
            "small",
            "big",
            "huge",
            "news",
            "largefile",
            "largefile4",
        ]),
    ),
];

const XFS: Table = &[
    ("-b", Keys(&[("size", Number), ("log", Number)])),
    (
        "-d",
        Keys(&[
            ("agcount", Number),
            ("agsize", Number),
            ("su", Number),
            ("sw", Number),
            ("sunit", Number),
            ("swidth", Number),
            ("noalign", Flag),
        ]),
    ),
    (
        "-i",
        Keys(&[
            ("size", Number),
            ("perblock", Number),
            ("maxpct", Number),
            ("align", Maybe(&SWITCH)),
            ("attr", OneOf(&["0", "1", "2"])),
            ("projid32bit", Maybe(&SWITCH)),
            ("sparse", Maybe(&SWITCH)),
            ("nrext64", Maybe(&SWITCH)),
        ]),
    ),
    ("-K", Flag),
    (
        "-l",
        Keys(&[
            ("size", Number),
            ("internal", Maybe(&OneOf(&["1"]))),
            ("version", OneOf(&["1", "2"])),
            ("agnum", Number),
            ("su", Number),
            ("sunit", Number),
            ("lazy-count", SWITCH),
        ]),
    ),
    (
        "-m",
        Keys(&[
            ("crc", SWITCH),
            ("finobt", SWITCH),
            ("rmapbt", SWITCH),
            ("reflink", SWITCH),
            ("bigtime", SWITCH),
            ("inobtcount", SWITCH),
        ]),
    ),
    (
        "-n",
        Keys(&[
            ("size", Number),
            ("version", OneOf(&["2", "ci"])),
            ("ftype", SWITCH),
        ]),
    ),
    ("-s", Keys(&[("size", Number)])),
];

const PROFILES: super::Value = OneOf(&["single", "dup", "SINGLE", "DUP"]);
const CHECKSUMS: super::Value = OneOf(&["crc32c", "xxhash", "sha256", "blake2"]);
const BTRFS_FEATURES: super::Value = Features(&[
    "mixed-bg",
    "extref",
    "skinny-metadata",
    "no-holes",
    "free-space-tree",
    "block-group-tree",
    "quota",
]);

const BTRFS: Table = &[
    ("-d", PROFILES),
    ("--data", PROFILES),
    ("-m", PROFILES),
    ("--metadata", PROFILES),
    ("-M", Flag),
    ("--mixed", Flag),
    ("-n", Number),
    ("--nodesize", Number),
    ("-s", Number),
    ("--sectorsize", Number),
    ("-O", BTRFS_FEATURES),
    ("--features", BTRFS_FEATURES),
    ("-R", BTRFS_FEATURES),
    ("--runtime-features", BTRFS_FEATURES),
    ("--csum", CHECKSUMS),
    ("--checksum", CHECKSUMS),
    ("-K", Flag),
    ("--nodiscard", Flag),
];

const F2FS: Table = &[
    ("-a", SWITCH),
    ("-i", Flag),
    ("-o", Decimal),
    (
        "-O",
        Features(&[
            "extra_attr",
            "project_quota",
            "inode_checksum",
            "flexible_inline_xattr",
            "quota",
            "inode_crtime",
            "lost_found",
            "sb_checksum",
            "compression",
        ]),
    ),
    ("-s", Number),
    ("-t", SWITCH),
    ("-w", Number),
    ("-z", Number),
];

const JFS: Table = &[("-s", Number)];

const NILFS2: Table = &[
    // mkfs.nilfs2 takes "2048k" for 2048.
    ("-b", OneOf(&["1024", "2048", "4096"])),
    ("-B", OneOf(&["256", "512", "1024", "2048", "4096", "8192"])),
    ("-K", Flag),
    ("-O", Features(&["block_count", "none"])),
];

const REISERFS: Table = &[
    ("-b", Number),
    ("--block-size", Number),
    ("-h", OneOf(&["r5", "rupasov", "tea"])),
    ("--hash", OneOf(&["r5", "rupasov", "tea"])),
    ("--format", OneOf(&["3.5", "3.6"])),
    ("-s", Number),
    ("--journal-size", Number),
    ("-t", Number),
    ("--transaction-max-size", Number),
];
