//! The latency histogram: log-linear, 32 sub-buckets an octave, 1 ns to 73 minutes, mergeable.
//!
//! Values below 32 ns have a bucket each; above, a bucket is 1/32 to 1/64 of its value wide, so that a percentile read
//! from it is at most 1/64 off. 1216 counters are 9.7 kB and fit a client's slot in shared memory. [`AtomicHistogram`] is
//! what a client writes there, [`Histogram`] what everyone else computes with.

mod atomic;
mod summary;

pub use atomic::AtomicHistogram;
pub use summary::{Histogram, Measure, Row};

/// Sub-buckets of one octave.
const SUB: u64 = 32;
/// log2 of [`SUB`].
const SUB_BITS: u32 = 5;

/// Number of counters of a histogram: 38 groups of 32; the last one ends at 2^42 ns, about 73 minutes.
pub const BUCKETS: usize = 1216;

/// The bucket that counts a value of `ns` nanoseconds. Values of 2^42 ns and more are counted in the last bucket.
pub fn bucket_of(ns: u64) -> usize {
    if ns < SUB {
        return ns as usize;
    }
    let shift = ns.ilog2() - SUB_BITS;
    let index = (u64::from(shift) * SUB + (ns >> shift)) as usize;
    index.min(BUCKETS - 1)
}

/// The smallest value, in nanoseconds, that bucket `i` counts. `i` beyond the last bucket is taken as the last.
pub fn bucket_low(i: usize) -> u64 {
    let i = i.min(BUCKETS - 1) as u64;
    if i < SUB {
        return i;
    }
    let shift = i / SUB - 1;
    (SUB + i % SUB) << shift
}

/// The smallest value, in nanoseconds, above bucket `i` (exclusive end), which is the next bucket's [`bucket_low`]. The
/// last bucket's is 2^42, although it also counts everything larger.
pub fn bucket_high(i: usize) -> u64 {
    let i = i.min(BUCKETS - 1);
    let shift = (i as u64 / SUB).saturating_sub(1);
    bucket_low(i) + (1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_contiguous_and_grow() {
        assert_eq!(bucket_low(0), 0);
        for i in 0..BUCKETS {
            assert!(bucket_low(i) < bucket_high(i), "bucket {i}");
            assert_eq!(bucket_of(bucket_low(i)), i);
            assert_eq!(bucket_of(bucket_high(i) - 1), i);
            if i + 1 < BUCKETS {
                assert_eq!(bucket_high(i), bucket_low(i + 1), "bucket {i}");
            }
        }
        assert_eq!(bucket_high(BUCKETS - 1), 1 << 42);
    }

    #[test]
    fn a_bucket_is_at_most_a_32nd_of_its_value_wide() {
        for i in 32..BUCKETS {
            let width = bucket_high(i) - bucket_low(i);
            assert!(width * 32 <= bucket_low(i), "bucket {i}");
        }
    }

    #[test]
    fn larger_values_fold_to_the_last_bucket() {
        for ns in [1 << 42, 1 << 50, u64::MAX] {
            assert_eq!(bucket_of(ns), BUCKETS - 1);
        }
        assert_eq!(bucket_low(usize::MAX), bucket_low(BUCKETS - 1));
        assert_eq!(bucket_high(usize::MAX), 1 << 42);
    }
}
