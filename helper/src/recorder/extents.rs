//! Ranges of a device whose bytes are not those of its image.

use std::collections::BTreeMap;
use std::ops::Range;

/// The place of a range's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// In the file of the record, from this position on.
    Record(u64),
    Zeros,
}

impl Source {
    /// The source of the bytes that follow these.
    fn after(self, bytes: u64) -> Self {
        match self {
            Self::Record(position) => Self::Record(position + bytes),
            Self::Zeros => Self::Zeros,
        }
    }
}

/// Ranges that do not overlap: the first byte of each, with its end and its source.
#[derive(Clone, Default)]
pub struct Extents(BTreeMap<u64, (u64, Source)>);

impl Extents {
    /// Replaces what was in this range.
    pub fn put(&mut self, range: Range<u64>, source: Source) {
        if range.is_empty() {
            return;
        }
        let before = self.0.range(..range.start).next_back();
        let first = before.map_or(range.start, |(start, _)| *start);
        while let Some((start, end, old)) = self.overlapping(first, &range) {
            self.0.remove(&start);
            if start < range.start {
                self.0.insert(start, (range.start, old));
            }
            if end > range.end {
                self.0
                    .insert(range.end, (end, old.after(range.end - start)));
            }
        }
        self.0.insert(range.start, (range.end, source));
    }

    /// The first of those from `first` on that overlap this range.
    fn overlapping(&self, first: u64, range: &Range<u64>) -> Option<(u64, u64, Source)> {
        let mut all = self.0.range(first..range.end);
        let (start, (end, source)) = all.find(|(_, (end, _))| *end > range.start)?;
        Some((*start, *end, *source))
    }

    /// This range in pieces, in their order; None for those that are the image's.
    pub fn pieces(&self, range: Range<u64>) -> Vec<(Range<u64>, Option<Source>)> {
        let before = self.0.range(..range.start).next_back();
        let first = before.map_or(range.start, |(start, _)| *start);
        let (mut at, mut pieces) = (range.start, Vec::new());
        for (&start, &(end, source)) in self.0.range(first..range.end.max(first)) {
            let (from, to) = (start.max(at), end.min(range.end));
            if from >= to {
                continue;
            }
            if at < from {
                pieces.push((at..from, None));
            }
            pieces.push((from..to, Some(source.after(from - start))));
            at = to;
        }
        if at < range.end {
            pieces.push((at..range.end, None));
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_overwritten_range_keeps_its_ends() {
        let mut extents = Extents::default();
        extents.put(10..20, Source::Record(100));
        extents.put(13..15, Source::Zeros);
        assert_eq!(
            extents.pieces(5..25),
            [
                (5..10, None),
                (10..13, Some(Source::Record(100))),
                (13..15, Some(Source::Zeros)),
                (15..20, Some(Source::Record(105))),
                (20..25, None),
            ]
        );
        assert_eq!(
            extents.pieces(16..18),
            [(16..18, Some(Source::Record(106)))]
        );
        extents.put(0..30, Source::Record(0));
        assert_eq!(extents.pieces(12..14), [(12..14, Some(Source::Record(12)))]);
        assert_eq!(extents.pieces(7..7), []);
    }

    proptest! {
        /// Against a table of single bytes.
        #[test]
        fn each_byte_has_its_last_source(puts in prop::collection::vec((0u64..64, 0u64..24, any::<bool>()), 0..40), from in 0u64..64, length in 0u64..64) {
            let (mut extents, mut bytes) = (Extents::default(), vec![None; 128]);
            for (i, (start, length, is_zero)) in puts.into_iter().enumerate() {
                let source = match is_zero {
                    true => Source::Zeros,
                    false => Source::Record(1000 * i as u64),
                };
                extents.put(start..start + length, source);
                for n in 0..length {
                    bytes[(start + n) as usize] = Some(source.after(n));
                }
            }
            let mut at = from;
            for (range, source) in extents.pieces(from..from + length) {
                prop_assert_eq!(range.start, at);
                prop_assert!(range.end > at);
                for n in range.clone() {
                    prop_assert_eq!(source.map(|s| s.after(n - range.start)), bytes[n as usize]);
                }
                at = range.end;
            }
            prop_assert_eq!(at, from + length);
        }
    }
}
