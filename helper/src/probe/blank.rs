//! Finds out whether a device is empty, and makes it so: it has zeros wherever blkid, wipefs and the kernel look, and in samples all
//! over it.

use rustix::fd::AsFd;
use rustix::fs::{SeekFrom, fsync, seek};
use rustix::io::{Errno, pread, pwrite};
use std::io::{Error, ErrorKind, Result};
use std::ops::Range;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// From the start: boot sectors, partition tables, LVM, md 1.1 and 1.2, ZFS's labels L0 and L1, btrfs at 64 KiB, VMFS at 1 and
/// 2 MiB, the second headers of LUKS up to 4 MiB, ext's second superblock with blocks of 1 KiB at 8 MiB.
const START: u64 = 9 * MIB;
/// To the end: the second GPT, md 0.90 and 1.0, ZFS's labels L2 and L3, firmware RAIDs (Promise: 3087 sectors), bcachefs.
const END: u64 = 4 * MIB;
/// Copies elsewhere, 64 KiB at each: ext with blocks of 2 and 4 KiB, btrfs.
const COPIES: [u64; 9] = [
    32 * MIB,
    64 * MIB,
    128 * MIB,
    3 * 128 * MIB,
    5 * 128 * MIB,
    7 * 128 * MIB,
    9 * 128 * MIB,
    256 * GIB,
    GIB << 20,
];
const COPY: u64 = 64 * KIB;
/// In even distances, for what has no signature at all.
const SAMPLES: u64 = 256;
const SAMPLE: u64 = 4 * KIB;

/// The places that are read of a device of this size: offset and length.
fn places(size: u64) -> Vec<(u64, u64)> {
    let mut places = vec![(0, START), (size.saturating_sub(END), END)];
    places.extend(COPIES.map(|at| (at, COPY)));
    let distance = (size / SAMPLES).next_multiple_of(SAMPLE).max(SAMPLE);
    places.extend((0..SAMPLES).map(|i| (i * distance, SAMPLE)));
    places.retain(|(at, _)| *at < size);
    places
        .into_iter()
        .map(|(at, length)| (at, length.min(size - at)))
        .collect()
}

/// An error, and not true, if anything of it cannot be read, or if it has no size.
pub fn is_blank(file: impl AsFd) -> Result<bool> {
    let size = seek(&file, SeekFrom::End(0))?;
    if size == 0 {
        return Err(Error::new(ErrorKind::UnexpectedEof, "it has no medium"));
    }
    let mut buffer = vec![0; MIB as usize];
    for (mut at, length) in places(size) {
        let end = at + length;
        while at < end {
            let wanted = (end - at).min(MIB) as usize;
            let got = pread(&file, &mut buffer[..wanted], at)?;
            if got == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            if buffer[..got].iter().any(|&byte| byte != 0) {
                return Ok(false);
            }
            at += got as u64;
        }
    }
    Ok(true)
}

/// Writes zeros to every place that `is_blank` reads, except the bytes of `kept`. They are on the device when this returns.
pub fn make_blank(file: impl AsFd, kept: &Range<u64>) -> std::result::Result<(), Errno> {
    let zeros = vec![0; MIB as usize];
    for (from, length) in places(seek(&file, SeekFrom::End(0))?) {
        let to = from + length;
        for (mut at, end) in [(from, to.min(kept.start)), (from.max(kept.end), to)] {
            while at < end {
                let wanted = (end - at).min(MIB) as usize;
                match pwrite(&file, &zeros[..wanted], at)? {
                    0 => return Err(Errno::IO),
                    written => at += written as u64,
                }
            }
        }
    }
    fsync(&file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::os::unix::fs::FileExt;

    const SIZE: u64 = 2 * GIB;

    fn with_a_byte_at(at: u64) -> Result<bool> {
        let file = tempfile::tempfile().unwrap();
        file.set_len(SIZE).unwrap();
        file.write_all_at(b"x", at).unwrap();
        is_blank(&file)
    }

    #[test]
    fn known_places_are_read() {
        let end = SIZE;
        for (what, at) in [
            ("boot sector", 510),
            ("primary GPT", 512),
            ("ext", 1024 + 56),
            ("LVM, sector 3", 3 * 512 + 24),
            ("swap, pages of 4 KiB", 4086),
            ("md 1.2", 4096),
            ("iso9660 and JFS", 32 * KIB + 1),
            ("swap, pages of 64 KiB", 65526),
            ("reiserfs and btrfs", 64 * KIB + 52),
            ("ZFS L0, uberblocks", 128 * KIB),
            ("ZFS L1", 256 * KIB + 128 * KIB),
            ("VMFS", MIB + 512),
            ("VMFS 6", 2 * MIB),
            ("LUKS, second header", 4 * MIB),
            ("ext's copy, blocks of 1 KiB", 8193 * KIB + 56),
            ("ext's copy, blocks of 4 KiB", 128 * MIB + 56),
            ("btrfs's first copy", 64 * MIB + 64),
            ("ZFS L2", end - 512 * KIB + 128 * KIB),
            ("ZFS L3", end - 256 * KIB + 128 * KIB),
            ("md 0.90", (end & !(64 * KIB - 1)) - 64 * KIB),
            ("md 1.0", end - 8 * KIB),
            ("Promise RAID", end - 3087 * 512),
            ("Intel RAID", end - 1024),
            ("nilfs2's copy", end - 4096),
            ("second GPT", end - 512),
            ("last byte", end - 1),
        ] {
            assert!(!with_a_byte_at(at).unwrap(), "{what}");
        }
        let empty = tempfile::tempfile().unwrap();
        empty.set_len(SIZE).unwrap();
        assert!(is_blank(&empty).unwrap());
    }

    #[test]
    fn zeros_make_a_device_empty_except_for_what_is_kept() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(SIZE).unwrap();
        for (at, length) in places(SIZE) {
            file.write_all_at(&vec![b'x'; length as usize], at).unwrap();
        }
        let kept = 4096..8192;
        make_blank(&file, &kept).unwrap();
        assert!(!is_blank(&file).unwrap());
        let mut around = [0; 4098];
        file.read_exact_at(&mut around, kept.start - 1).unwrap();
        assert_eq!((around[0], around[4097]), (0, 0));
        assert!(around[1..4097].iter().all(|&byte| byte == b'x'));
        make_blank(&file, &(0..0)).unwrap();
        assert!(is_blank(&file).unwrap());
    }

    #[test]
    fn what_cannot_be_read_is_not_empty() {
        // No medium; and a file that was opened for writing alone.
        assert!(is_blank(tempfile::tempfile().unwrap()).is_err());
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(SIZE).unwrap();
        let blind = std::fs::OpenOptions::new()
            .write(true)
            .open(file.path())
            .unwrap();
        assert!(is_blank(&blind).is_err());
    }

    proptest! {
        #[test]
        fn places_lie_within_the_device(size in prop_oneof![1u64..4 * MIB, any::<u64>().prop_map(|n| n >> 3)]) {
            let size = size.max(1);
            for (at, length) in places(size) {
                prop_assert!(length > 0 && at + length <= size);
            }
            prop_assert!(places(size).iter().any(|(at, length)| at + length == size));
        }

        #[test]
        fn a_stretch_of_a_hundredth_of_the_device_is_seen(at in 0u64..SIZE - SIZE / 128) {
            // Any run of data twice as long as the distance of the samples.
            let distance = SIZE / SAMPLES;
            let hit = places(SIZE).iter().any(|(from, _)| (at..at + 2 * distance).contains(from));
            prop_assert!(hit);
        }
    }
}
