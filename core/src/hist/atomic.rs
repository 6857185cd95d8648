//! A histogram in shared memory: one writer, any number of readers, no locks.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::{BUCKETS, Histogram, bucket_of};

/// A histogram that one process fills while others read it.
///
/// All bytes zero is the empty histogram, so it can be viewed over zeroed shared memory. There is ONE writer, the client
/// that owns the slot; therefore plain loads and stores, relaxed, and no locked instruction. A reader may see a value in
/// `counts` before it sees it in the sums: at most the one value that is being recorded is missing somewhere.
#[repr(C)]
pub struct AtomicHistogram {
    /// Number of values in each bucket. Written by the owner.
    counts: [AtomicU64; BUCKETS],
    /// Number of values. Written by the owner.
    count: AtomicU64,
    /// Sum of the values in nanoseconds, saturating. Written by the owner.
    sum_ns: AtomicU64,
    /// Sum of the squares in square microseconds, as the bits of an f64. Written by the owner.
    sum_sq_us2: AtomicU64,
    /// Bitwise complement of the smallest value, so that 0 means none. Written by the owner.
    min_inverted: AtomicU64,
    /// Largest value in nanoseconds. Written by the owner.
    max_ns: AtomicU64,
}

impl AtomicHistogram {
    pub const fn new() -> Self {
        Self {
            counts: [const { AtomicU64::new(0) }; BUCKETS],
            count: AtomicU64::new(0),
            sum_ns: AtomicU64::new(0),
            sum_sq_us2: AtomicU64::new(0),
            min_inverted: AtomicU64::new(0),
            max_ns: AtomicU64::new(0),
        }
    }

    /// Counts one value of `ns` nanoseconds. For the owner only: two writers would lose values.
    #[inline]
    pub fn record(&self, ns: u64) {
        // The extremes first, so that a reader rarely sees a value without them.
        raise(&self.min_inverted, !ns);
        raise(&self.max_ns, ns);
        add(&self.counts[bucket_of(ns)], 1);
        add(&self.sum_ns, ns);
        let us = ns as f64 / 1000.0;
        let squares = f64::from_bits(self.sum_sq_us2.load(Relaxed)) + us * us;
        self.sum_sq_us2.store(squares.to_bits(), Relaxed);
        add(&self.count, 1);
    }

    /// Number of values so far, without reading the buckets.
    pub fn count(&self) -> u64 {
        self.count.load(Relaxed)
    }

    /// Empties the histogram. By its owner, or by anyone while the owner does not run.
    pub fn reset(&self) {
        for bucket in &self.counts {
            bucket.store(0, Relaxed);
        }
        for word in [
            &self.count,
            &self.sum_ns,
            &self.sum_sq_us2,
            &self.min_inverted,
            &self.max_ns,
        ] {
            word.store(0, Relaxed);
        }
    }

    /// ADDS what has been counted so far to `into`; calling it for each client merges the clients. The number of values
    /// added is the sum of the buckets as they were read, so that `into` is consistent in itself.
    pub fn read_into(&self, into: &mut Histogram) {
        let mut added = 0;
        for (sum, bucket) in into.counts.iter_mut().zip(&self.counts) {
            let n = bucket.load(Relaxed);
            *sum += n;
            added += n;
        }
        if added == 0 {
            return;
        }
        let min_inverted = self.min_inverted.load(Relaxed);
        into.include_range(!min_inverted, self.max_ns.load(Relaxed), added);
        into.sum_ns = into.sum_ns.saturating_add(self.sum_ns.load(Relaxed));
        into.sum_sq_us2 += f64::from_bits(self.sum_sq_us2.load(Relaxed));
    }
}

impl Default for AtomicHistogram {
    fn default() -> Self {
        Self::new()
    }
}

fn add(word: &AtomicU64, n: u64) {
    word.store(word.load(Relaxed).saturating_add(n), Relaxed);
}

fn raise(word: &AtomicU64, to: u64) {
    if to > word.load(Relaxed) {
        word.store(to, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(from: &[&AtomicHistogram]) -> Histogram {
        let mut into = Histogram::new();
        from.iter().for_each(|h| h.read_into(&mut into));
        into
    }

    #[test]
    fn records_as_the_plain_histogram_does() {
        let atomic = AtomicHistogram::new();
        let mut plain = Histogram::new();
        for ns in [0, 1, 31, 32, 1_000, 123_456_789, u64::MAX, 77] {
            atomic.record(ns);
            plain.record(ns);
        }
        assert_eq!(read(&[&atomic]), plain);
        assert_eq!(atomic.count(), 8);
    }

    #[test]
    fn reading_several_merges_them() {
        let (a, b, empty) = (
            AtomicHistogram::new(),
            AtomicHistogram::new(),
            AtomicHistogram::new(),
        );
        a.record(1_000_000);
        b.record(3_000_000);
        let both = read(&[&a, &empty, &b]);
        assert_eq!(
            (both.count, both.min_ns, both.max_ns),
            (2, 1_000_000, 3_000_000)
        );
        assert_eq!(both.mean_ns(), Some(2_000_000.0));
    }

    #[test]
    fn reset_leaves_the_empty_state() {
        let h = AtomicHistogram::new();
        h.record(5);
        h.reset();
        assert_eq!(read(&[&h]), Histogram::new());
        h.record(9);
        assert_eq!(read(&[&h]).min_ns, 9);
    }
}
