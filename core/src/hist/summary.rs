//! A histogram to compute with: merged, subtracted, stored, asked for percentiles.

use serde::{Deserialize, Serialize, Serializer};

use super::{BUCKETS, bucket_high, bucket_low, bucket_of};
use crate::rows;

/// Counts per bucket, and the exact count, sum, sum of squares, minimum and maximum of the values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// Number of values in each bucket; always [`BUCKETS`] of them.
    #[serde(with = "sparse")]
    pub(super) counts: Vec<u64>,
    /// Number of values.
    pub count: u64,
    /// Sum of the values in nanoseconds, saturating.
    pub sum_ns: u64,
    /// Sum of the squares of the values in square microseconds.
    pub sum_sq_us2: f64,
    /// Smallest value in nanoseconds, 0 when empty.
    pub min_ns: u64,
    /// Largest value in nanoseconds, 0 when empty.
    pub max_ns: u64,
}

/// The part of a transaction that a histogram measures.
#[derive(Clone, Copy, Debug, Default)]
pub enum Measure {
    /// All of it, under a rate from the time when it was due.
    #[default]
    Latency,
    /// Latency from its real start.
    Service,
    /// Time of the COMMIT.
    Commit,
    /// Reads of a job of the workload `io`, each from its submission to its completion.
    Read,
    /// Writes of such a job.
    Write,
    /// Syncs of such a job.
    Sync,
    /// One of its commands, by its number from 1.
    Command(usize),
}

impl Serialize for Measure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Latency => serializer.serialize_str("latency"),
            Self::Service => serializer.serialize_str("service"),
            Self::Commit => serializer.serialize_str("commit"),
            Self::Read => serializer.serialize_str("read"),
            Self::Write => serializer.serialize_str("write"),
            Self::Sync => serializer.serialize_str("sync"),
            Self::Command(number) => serializer.collect_str(&format_args!("command {number}")),
        }
    }
}

/// A row of `fsbench.histogram`; its columns say what they are.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    pub transaction: String,
    pub measure: Measure,
    pub transactions: u64,
    pub sum_ms: f64,
    pub sum_squares_ms: f64,
    pub min_ms: Option<f64>,
    pub max_ms: Option<f64>,
    pub buckets: Vec<usize>,
    pub counts: Vec<u64>,
}

impl rows::Row for Row {
    const TABLE: &'static str = "histogram";
}

impl Histogram {
    /// The row that is stored: what was measured of which transaction.
    pub fn to_row(&self, transaction: &str, measure: Measure) -> Row {
        let (buckets, counts) = self.nonzero().unzip();
        Row {
            transaction: transaction.into(),
            measure,
            transactions: self.count(),
            sum_ms: self.sum_ns as f64 / 1e6,
            sum_squares_ms: self.sum_sq_us2 / 1e6,
            min_ms: self.min().map(|ns| ns as f64 / 1e6),
            max_ms: self.max().map(|ns| ns as f64 / 1e6),
            buckets,
            counts,
        }
    }

    /// An empty histogram.
    pub fn new() -> Self {
        Self {
            counts: vec![0; BUCKETS],
            count: 0,
            sum_ns: 0,
            sum_sq_us2: 0.0,
            min_ns: 0,
            max_ns: 0,
        }
    }

    /// A histogram from stored counts, `(bucket, values)`, and the exact sums that were stored with them. Buckets beyond the last are counted in the
    /// last.
    pub fn from_parts(
        counts: impl IntoIterator<Item = (usize, u64)>,
        sum_ns: u64,
        sum_sq_us2: f64,
        min_ns: u64,
        max_ns: u64,
    ) -> Self {
        let mut h = Self {
            sum_ns,
            sum_sq_us2,
            min_ns,
            max_ns,
            ..Self::new()
        };
        for (bucket, n) in counts {
            h.counts[bucket.min(BUCKETS - 1)] += n;
            h.count += n;
        }
        h
    }

    /// Counts one value of `ns` nanoseconds.
    pub fn record(&mut self, ns: u64) {
        self.counts[bucket_of(ns)] += 1;
        self.include_range(ns, ns, 1);
        self.sum_ns = self.sum_ns.saturating_add(ns);
        let us = ns as f64 / 1000.0;
        self.sum_sq_us2 += us * us;
    }

    /// Adds another histogram's values. Associative and commutative, but for the rounding of `sum_sq_us2`.
    pub fn merge(&mut self, other: &Histogram) {
        for (sum, n) in self.counts.iter_mut().zip(&other.counts) {
            *sum += n;
        }
        if other.count > 0 {
            self.include_range(other.min_ns, other.max_ns, other.count);
        }
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.sum_sq_us2 += other.sum_sq_us2;
    }

    /// The values that were recorded between two readings of one growing histogram, `earlier` being the first. Minimum and
    /// maximum of the difference are exact when they are new extremes, else the edges of its outermost buckets.
    pub fn since(&self, earlier: &Histogram) -> Histogram {
        let mut diff = Histogram::new();
        for (i, (now, before)) in self.counts.iter().zip(&earlier.counts).enumerate() {
            diff.counts[i] = now.saturating_sub(*before);
            diff.count += diff.counts[i];
        }
        let first = diff.counts.iter().position(|n| *n > 0);
        let last = diff.counts.iter().rposition(|n| *n > 0);
        let (Some(first), Some(last)) = (first, last) else {
            return diff;
        };
        let new_min = earlier.count == 0 || self.min_ns < earlier.min_ns;
        let new_max = earlier.count == 0 || self.max_ns > earlier.max_ns;
        diff.min_ns = if new_min {
            self.min_ns
        } else {
            bucket_low(first).max(self.min_ns)
        };
        diff.max_ns = if new_max {
            self.max_ns
        } else {
            (bucket_high(last) - 1).min(self.max_ns)
        };
        diff.sum_ns = self.sum_ns.saturating_sub(earlier.sum_ns);
        diff.sum_sq_us2 = (self.sum_sq_us2 - earlier.sum_sq_us2).max(0.0);
        diff
    }

    /// The value in nanoseconds that `fraction` (0 to 1) of all values do not exceed: the middle of the bucket that holds
    /// the ceil(fraction x count)-th value (nearest rank), within the exact minimum and maximum; at most 1/64 off below
    /// 73 minutes. None when empty, or when `fraction` is NaN or not within 0 to 1.
    pub fn percentile(&self, fraction: f64) -> Option<f64> {
        if self.count == 0 || !(0.0..=1.0).contains(&fraction) {
            return None;
        }
        self.at_rank((fraction * self.count as f64).ceil() as u64)
    }

    /// The percentile among this many values, where each value that is not in here counts as infinite. None when the percentile is infinite.
    pub fn percentile_among(&self, fraction: f64, all: u64) -> Option<f64> {
        if all <= self.count || !(0.0..=1.0).contains(&fraction) {
            return self.percentile(fraction);
        }
        let rank = (fraction * all as f64).ceil() as u64;
        self.at_rank(rank).filter(|_| rank <= self.count)
    }

    /// The value of this rank, from 1; the first and the last one beyond. None when empty.
    fn at_rank(&self, rank: u64) -> Option<f64> {
        let rank = rank.min(self.count).max(1);
        let mut below = 0;
        let bucket = self.counts.iter().position(|n| {
            below += n;
            below >= rank
        })?;
        let middle = (bucket_low(bucket) as f64 + (bucket_high(bucket) - 1) as f64) / 2.0;
        Some(middle.max(self.min_ns as f64).min(self.max_ns as f64))
    }

    /// Arithmetic mean in nanoseconds, exact. None when empty.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }

    /// Standard deviation of the population in nanoseconds, sqrt(sum of squares / n - mean^2), as pgbench computes it.
    /// None when empty.
    pub fn stddev_ns(&self) -> Option<f64> {
        let mean_us = self.mean_ns()? / 1000.0;
        let variance = self.sum_sq_us2 / self.count as f64 - mean_us * mean_us;
        Some(variance.max(0.0).sqrt() * 1000.0)
    }

    /// Smallest value in nanoseconds. None when empty.
    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min_ns)
    }

    /// Largest value in nanoseconds. None when empty.
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max_ns)
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// `(bucket, values)` of each bucket that is not empty, in ascending order: how a histogram is stored.
    pub fn nonzero(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.counts
            .iter()
            .copied()
            .enumerate()
            .filter(|(_, n)| *n > 0)
    }

    /// Takes `n` values between `min` and `max` into the count and the extremes.
    pub(super) fn include_range(&mut self, min: u64, max: u64, n: u64) {
        self.min_ns = if self.count == 0 {
            min
        } else {
            self.min_ns.min(min)
        };
        self.max_ns = self.max_ns.max(max);
        self.count += n;
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

/// Counts are serialized as `[[bucket, values], …]` of the buckets that are not empty.
mod sparse {
    use super::BUCKETS;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(counts: &[u64], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(counts.iter().enumerate().filter(|(_, n)| **n > 0))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u64>, D::Error> {
        let mut counts = vec![0; BUCKETS];
        for (bucket, n) in Vec::<(usize, u64)>::deserialize(deserializer)? {
            *counts
                .get_mut(bucket)
                .ok_or_else(|| D::Error::custom(format!("no bucket {bucket}")))? = n;
        }
        Ok(counts)
    }
}

#[cfg(test)]
mod tests;
