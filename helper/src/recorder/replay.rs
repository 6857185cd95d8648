//! The contents of the disks after a power cut: everything that was flushed, and a random part of what was written since.

use super::extents::{Extents, Source};
use pgfsbench_core::helper::record::{Cut, Kind};
use pgfsbench_core::random::{Purpose, Stream};
use std::ops::Range;

/// In place of a position: the data are zeros, which the record does not hold.
pub const NOWHERE: u64 = u64::MAX;

/// A write, a discard or a flush that has reached a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub kind: Kind,
    /// The disk, counted from 0.
    pub disk: u8,
    /// First byte, with all disks joined end to end.
    pub offset: u64,
    pub bytes: u64,
    /// Position of a write's data in the file of the record, or [`NOWHERE`].
    pub position: u64,
    /// Time of arrival (CLOCK_MONOTONIC).
    pub ns: u64,
}

impl Entry {
    /// Puts a part of it, or all of it, on the device.
    fn put(&self, part: Range<u64>, device: &mut Extents) {
        match self.kind {
            Kind::Write if self.position != NOWHERE => {
                let position = self.position + (part.start - self.offset);
                device.put(part, Source::Record(position));
            }
            Kind::Write | Kind::Discard => device.put(part, Source::Zeros),
            Kind::Flush => {}
        }
    }

    /// The end of its data in the file of the record; 0 if none are there.
    pub fn end_of_data(&self) -> u64 {
        match self.kind {
            Kind::Write if self.position != NOWHERE => self.position + self.bytes,
            _ => 0,
        }
    }

    pub fn put_all(&self, device: &mut Extents) {
        self.put(self.offset..self.offset + self.bytes, device);
    }

    /// The parts of a write that a device takes one at a time.
    fn parts(&self, unit: u64) -> Vec<Range<u64>> {
        let end = self.offset + self.bytes;
        let mut parts = Vec::new();
        let mut at = self.offset;
        while at < end {
            let next = ((at / unit + 1) * unit).min(end);
            parts.push(at..next);
            at = next;
        }
        parts
    }
}

/// The positions of writes and discards that no flush of their disk follows, in rising order.
pub fn unflushed(entries: &[Entry], disks: usize) -> Vec<usize> {
    let (mut is_flushed, mut left) = (vec![false; disks], disks);
    let mut positions = Vec::new();
    for (position, entry) in entries.iter().enumerate().rev() {
        let of_disk = &mut is_flushed[usize::from(entry.disk)];
        match entry.kind {
            Kind::Flush if *of_disk => {}
            Kind::Flush => {
                *of_disk = true;
                left -= 1;
            }
            _ if !*of_disk => positions.push(position),
            _ => {}
        }
        if left == 0 {
            break;
        }
    }
    positions.reverse();
    positions
}

/// The fates of writes that were not flushed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Fates {
    pub kept: u64,
    pub dropped: u64,
    pub torn: u64,
}

/// Share of the kept writes that are torn, where writes are torn.
const TORN: f64 = 0.5;

/// Puts a random part of these entries, none of which was flushed, on the device. A quarter, a half or three quarters of them are kept.
pub fn survive<'a>(
    later: impl IntoIterator<Item = &'a Entry>,
    cut: &Cut,
    device: &mut Extents,
) -> Fates {
    let mut stream = Stream::new(cut.seed, cut.number, Purpose::Cut);
    let kept = stream.range(1, 3) as f64 / 4.0;
    let mut fates = Fates::default();
    for entry in later {
        if stream.unit() >= kept {
            fates.dropped += 1;
            continue;
        }
        let parts = match (entry.kind, cut.tear.unit()) {
            (Kind::Write, Some(unit)) => entry.parts(unit),
            _ => Vec::new(),
        };
        if parts.len() < 2 || stream.unit() >= TORN {
            entry.put_all(device);
            fates.kept += 1;
            continue;
        }
        tear(entry, &parts, &mut stream, device);
        fates.torn += 1;
    }
    fates
}

/// Puts at least one part on the device, and leaves out at least one.
fn tear(entry: &Entry, parts: &[Range<u64>], stream: &mut Stream, device: &mut Extents) {
    let count = parts.len() as i64;
    let present = stream.range(0, count - 1);
    let missing = (present + stream.range(1, count - 1)) % count;
    for (i, part) in (0..).zip(parts) {
        let is_random = stream.unit() < 0.5;
        if i == present || (i != missing && is_random) {
            entry.put(part.clone(), device);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgfsbench_core::helper::record::Tear;

    fn entry(kind: Kind, offset: u64, bytes: u64, position: u64) -> Entry {
        Entry {
            kind,
            disk: 0,
            offset,
            bytes,
            position,
            ns: 0,
        }
    }

    fn cut(number: u32, tear: Tear) -> Cut {
        Cut {
            number,
            seed: 7,
            entry: 0,
            tear,
        }
    }

    /// A hundred writes of 8 KiB side by side.
    fn pages() -> Vec<Entry> {
        let page = |i: u64| entry(Kind::Write, 8192 * i, 8192, 8192 * i);
        (0..100).map(page).collect()
    }

    /// The bytes of the record that are on a device of this size; none of it is anywhere but in its place.
    fn there(device: &Extents, bytes: u64) -> Vec<Range<u64>> {
        let pieces = device.pieces(0..bytes).into_iter();
        let of_record = pieces.filter_map(|(range, source)| match source? {
            Source::Record(position) => {
                assert_eq!(position, range.start);
                Some(range)
            }
            Source::Zeros => None,
        });
        of_record.collect()
    }

    #[test]
    fn a_flush_covers_what_was_written_to_its_disk_before() {
        let write = entry(Kind::Write, 0, 512, 0);
        let flush = entry(Kind::Flush, 0, 0, 0);
        let unflushed_of = |entries: &[Entry]| unflushed(entries, 2);
        assert!(unflushed_of(&[]).is_empty());
        assert_eq!(unflushed_of(&[write, write]), [0, 1]);
        assert_eq!(unflushed_of(&[write, flush, write, flush, write]), [4]);
        assert!(unflushed_of(&[write, flush]).is_empty());
        let on_other = |entry| Entry { disk: 1, ..entry };
        let [other, other_flush] = [write, flush].map(on_other);
        let all = [other, write, other, flush, write, other_flush, other];
        assert_eq!(unflushed_of(&all[..4]), [0, 2]);
        assert_eq!(unflushed_of(&all), [4, 6]);
    }

    #[test]
    fn whole_writes_are_kept_or_dropped_and_number_and_seed_decide() {
        let made = |number| {
            let mut device = Extents::default();
            let fates = survive(&pages(), &cut(number, Tear::None), &mut device);
            assert_eq!(fates.torn, 0);
            assert_eq!(fates.kept + fates.dropped, 100);
            let there = there(&device, 819_200);
            assert_eq!(there.len() as u64, fates.kept);
            assert!(there.iter().all(|page| page.end - page.start == 8192));
            there
        };
        let all: Vec<_> = (0..30).map(made).collect();
        assert_eq!(all[3], made(3));
        assert!(all.iter().any(|there| there.len() < 35));
        assert!(all.iter().any(|there| there.len() > 65));
    }

    #[test]
    fn a_torn_write_is_there_in_part() {
        for (tear, unit) in [(Tear::Page, 4096), (Tear::Sector, 512)] {
            let mut device = Extents::default();
            let fates = survive(&pages(), &cut(1, tear), &mut device);
            assert!(fates.torn > 5 && fates.kept > 5, "{fates:?}");
            let there = there(&device, 819_200);
            let of_page = |i: u64| -> u64 {
                let page = 8192 * i..8192 * (i + 1);
                let inside = there.iter().filter(|part| page.contains(&part.start));
                inside.map(|part| part.end - part.start).sum()
            };
            let whole = (0..100).filter(|i| of_page(*i) == 8192).count() as u64;
            let parts = (0..100).filter(|i| (unit..8192).contains(&of_page(*i)));
            assert_eq!((whole, parts.count() as u64), (fates.kept, fates.torn));
            assert!(there.iter().all(|part| part.start % unit == 0));
        }
    }

    #[test]
    fn parts_are_those_of_the_device() {
        let parts = entry(Kind::Write, 3584, 1536, 0).parts(4096);
        assert_eq!(parts, [3584..4096, 4096..5120]);
        // A write of one part, and a discard, are never torn.
        let one = [entry(Kind::Write, 4096, 4096, 0)];
        let discard = [entry(Kind::Discard, 0, 1 << 20, 0)];
        for number in 0..20 {
            for later in [&one, &discard] {
                let fates = survive(later, &cut(number, Tear::Page), &mut Extents::default());
                assert_eq!(fates.torn, 0);
            }
        }
    }

    #[test]
    fn a_later_write_covers_an_earlier_one() {
        let mut device = Extents::default();
        for entry in [
            entry(Kind::Write, 0, 4096, 0),
            entry(Kind::Flush, 0, 0, 0),
            entry(Kind::Discard, 512, 512, 0),
            entry(Kind::Write, 1024, 512, 9000),
            entry(Kind::Write, 2048, 512, NOWHERE),
        ] {
            entry.put_all(&mut device);
        }
        assert_eq!(
            device.pieces(0..4096),
            [
                (0..512, Some(Source::Record(0))),
                (512..1024, Some(Source::Zeros)),
                (1024..1536, Some(Source::Record(9000))),
                (1536..2048, Some(Source::Record(1536))),
                (2048..2560, Some(Source::Zeros)),
                (2560..4096, Some(Source::Record(2560))),
            ]
        );
    }
}
