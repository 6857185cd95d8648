//! Reads the geometry of a filesystem from the output of mkfs: block sizes, journal or log, stripes. Words that are not understood
//! are left out; the output itself is kept with the steps.

use serde::{Deserialize, Serialize};

use super::Filesystem;

/// The geometry of a filesystem; None for what it does not have or does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Geometry {
    /// Bytes of a block.
    pub block_bytes: Option<u64>,
    /// Bytes of an inode.
    pub inode_bytes: Option<u64>,
    /// Bytes of a node of btrfs's trees; None for others.
    pub node_bytes: Option<u64>,
    /// Allocation groups of xfs.
    pub allocation_groups: Option<u64>,
    /// Bytes of the journal or log.
    pub log_bytes: Option<u64>,
    /// True if the log is on another device.
    pub log_is_external: Option<bool>,
    /// Bytes of a stripe on one disk; 0 for no stripes.
    pub stripe_unit_bytes: Option<u64>,
    /// Bytes of a whole stripe; 0 for none.
    pub stripe_width_bytes: Option<u64>,
    /// The features, in the words of mkfs, separated by blanks.
    #[serde(default)]
    pub features: Option<String>,
}

/// From what mkfs.xfs, mkfs.btrfs or mkfs.nilfs2 printed, or dumpe2fs -h of ext2, ext3 and ext4. None where nothing is known.
pub fn geometry(filesystem: Filesystem, text: &str) -> Option<Geometry> {
    let geometry = match filesystem {
        Filesystem::Xfs => of_xfs(text),
        Filesystem::Btrfs => of_btrfs(text),
        Filesystem::Nilfs2 => of_nilfs2(text),
        Filesystem::Ext2 | Filesystem::Ext3 | Filesystem::Ext4 => of_ext(text),
        _ => return None,
    };
    (geometry != Geometry::default()).then_some(geometry)
}

fn of_xfs(text: &str) -> Geometry {
    // Each line belongs to what the last line with a name said.
    let mut section = "";
    let mut of = Vec::new();
    for line in text.lines() {
        let Some((name, rest)) = line.split_once('=') else {
            continue;
        };
        if !name.trim().is_empty() {
            section = name.trim();
        }
        of.push((section, rest));
    }
    let word = |section: &str, key: &str| {
        of.iter()
            .filter(|(of, _)| *of == section)
            .find_map(|(_, line)| {
                let words = line.split([' ', ',']).filter(|w| !w.is_empty());
                words.map(|w| w.split_once('=')).find_map(|pair| {
                    let (name, value) = pair?;
                    (name == key).then(|| value.parse::<u64>().ok())?
                })
            })
    };
    let block = word("data", "bsize");
    let in_blocks = |section, key| word(section, key)?.checked_mul(block?);
    let log = of.iter().find(|(section, _)| *section == "log");
    // Sizes and counts are no features.
    const SIZES: [&str; 5] = ["isize=", "agcount=", "agsize=", "sectsz=", "blks"];
    let features: Vec<&str> = of
        .iter()
        .filter(|(section, _)| *section == "meta-data")
        .flat_map(|(_, line)| line.split([' ', ',']))
        .filter(|word| word.contains('=') && !SIZES.iter().any(|size| word.starts_with(size)))
        .collect();
    Geometry {
        block_bytes: block,
        inode_bytes: word("meta-data", "isize"),
        allocation_groups: word("meta-data", "agcount"),
        log_bytes: word("log", "blocks")
            .zip(word("log", "bsize"))
            .and_then(|(n, b)| n.checked_mul(b)),
        log_is_external: log.map(|(_, line)| !line.trim_start().starts_with("internal")),
        stripe_unit_bytes: in_blocks("data", "sunit"),
        stripe_width_bytes: in_blocks("data", "swidth"),
        node_bytes: None,
        features: (!features.is_empty()).then(|| features.join(" ")),
    }
}

fn of_btrfs(text: &str) -> Geometry {
    let number = |name: &str| field(text, name)?.parse().ok();
    Geometry {
        block_bytes: number("Sector size"),
        node_bytes: number("Node size"),
        // Older versions call them so.
        features: field(text, "Features")
            .or_else(|| field(text, "Incompat features"))
            .map(|features| features.replace(',', "")),
        ..Geometry::default()
    }
}

fn of_nilfs2(text: &str) -> Geometry {
    let words = text.split_ascii_whitespace();
    let mut sizes = words.filter_map(|word| word.strip_prefix("Blocksize:")?.parse().ok());
    Geometry {
        block_bytes: sizes.next(),
        ..Geometry::default()
    }
}

fn of_ext(text: &str) -> Geometry {
    let number = |name: &str| field(text, name)?.parse::<u64>().ok();
    let block = number("Block size");
    let in_blocks = |name| number(name).unwrap_or(0).checked_mul(block?);
    let has_journal = field(text, "Filesystem features")
        .map(|features| features.split(' ').any(|f| f == "has_journal"));
    Geometry {
        block_bytes: block,
        inode_bytes: number("Inode size"),
        log_bytes: match has_journal {
            Some(true) => field(text, "Total journal size").and_then(size),
            Some(false) => Some(0),
            None => None,
        },
        log_is_external: has_journal.map(|_| field(text, "Journal device").is_some()),
        stripe_unit_bytes: in_blocks("RAID stride"),
        stripe_width_bytes: in_blocks("RAID stripe width"),
        features: field(text, "Filesystem features").map(str::to_owned),
        ..Geometry::default()
    }
}

/// `Name:   value`.
fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
        .map(str::trim)
}

/// 8M, 4096k.
fn size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match &text[digits.len()..] {
        "" => 0,
        "k" => 10,
        "M" => 20,
        "G" => 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_shl(shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MKFS_XFS: &str = "\
meta-data=/dev/loop0             isize=512    agcount=8, agsize=65536 blks
         =                       sectsz=512   attr=2, projid32bit=1
         =                       crc=1        finobt=1, sparse=1, rmapbt=0
         =                       reflink=1    bigtime=1 inobtcount=1 nrext64=0
data     =                       bsize=4096   blocks=524288, imaxpct=25
         =                       sunit=16     swidth=64 blks
naming   =version 2              bsize=4096   ascii-ci=0, ftype=1
log      =internal log           bsize=4096   blocks=16384, version=2
         =                       sectsz=512   sunit=16 blks, lazy-count=1
realtime =none                   extsz=4096   blocks=0, rtextents=0
Discarding blocks...Done.
";
    const DUMPE2FS: &str = "\
Filesystem volume name:   <none>
Filesystem features:      has_journal ext_attr resize_inode dir_index filetype extent
Errors behavior:          Continue
Block count:              409600
Block size:               1024
RAID stride:              16
RAID stripe width:        64
Inode size:\t          256
Journal inode:            8
Total journal size:       8M
Total journal blocks:     8192
";
    const MKFS_BTRFS: &str = "\
btrfs-progs v6.2
Label:              (null)
Node size:          16384
Sector size:        4096
Filesystem size:    400.00MiB
Incompat features:  extref, skinny-metadata
";

    #[test]
    fn recorded_outputs() {
        let xfs = geometry(Filesystem::Xfs, MKFS_XFS).unwrap();
        assert_eq!(
            xfs,
            Geometry {
                block_bytes: Some(4096),
                inode_bytes: Some(512),
                node_bytes: None,
                allocation_groups: Some(8),
                log_bytes: Some(64 << 20),
                log_is_external: Some(false),
                stripe_unit_bytes: Some(64 << 10),
                stripe_width_bytes: Some(256 << 10),
                features: Some(
                    "attr=2 projid32bit=1 crc=1 finobt=1 sparse=1 rmapbt=0 reflink=1 bigtime=1 inobtcount=1 nrext64=0"
                        .into()
                ),
            }
        );
        let nilfs2 = geometry(
            Filesystem::Nilfs2,
            "mkfs.nilfs2 (nilfs-utils 2.2.9)\nStart writing file system initial data to the device\n       Blocksize:2048  Device:/dev/loop3  Device Size:268435456\n",
        );
        assert_eq!(nilfs2.unwrap().block_bytes, Some(2048));
        let external = MKFS_XFS.replace("internal log ", "/dev/loop1   ");
        let external = geometry(Filesystem::Xfs, &external).unwrap();
        assert_eq!(external.log_is_external, Some(true));
        let ext = geometry(Filesystem::Ext4, DUMPE2FS).unwrap();
        assert_eq!(
            ext,
            Geometry {
                block_bytes: Some(1024),
                inode_bytes: Some(256),
                log_bytes: Some(8 << 20),
                log_is_external: Some(false),
                stripe_unit_bytes: Some(16 << 10),
                stripe_width_bytes: Some(64 << 10),
                features: Some(
                    "has_journal ext_attr resize_inode dir_index filetype extent".into()
                ),
                ..Geometry::default()
            }
        );
        let external = DUMPE2FS
            .replace(
                "Journal inode:            8",
                "Journal device:\t          0x0701",
            )
            .replace("Total journal size:       8M\n", "");
        let external = geometry(Filesystem::Ext4, &external).unwrap();
        assert_eq!(
            (external.log_is_external, external.log_bytes),
            (Some(true), None)
        );
        let plain = DUMPE2FS.replace("has_journal ", "").replace("RAID", "Raid");
        let plain = geometry(Filesystem::Ext2, &plain).unwrap();
        assert_eq!(
            (plain.log_bytes, plain.stripe_unit_bytes),
            (Some(0), Some(0))
        );
        let btrfs = geometry(Filesystem::Btrfs, MKFS_BTRFS).unwrap();
        assert_eq!(
            (
                btrfs.node_bytes,
                btrfs.block_bytes,
                btrfs.features.as_deref()
            ),
            (Some(16384), Some(4096), Some("extref skinny-metadata"))
        );
        for fs in Filesystem::ALL {
            assert_eq!(geometry(fs, "nothing of it\n"), None);
        }
    }

    proptest! {
        #[test]
        fn never_panics(fs in prop::sample::select(Filesystem::ALL.to_vec()), cut in 0..700usize, text in "([A-Za-z -]{0,9}[=:][ a-z0-9=,MG]{0,30}\n){0,6}") {
            let _ = geometry(fs, &text);
            let _ = geometry(Filesystem::Xfs, MKFS_XFS.get(..cut).unwrap_or(MKFS_XFS));
            let _ = geometry(fs, &DUMPE2FS.replace("64", "18446744073709551615"));
        }
    }
}
