//! Random numbers that are the same on every machine, for ever: one seed for a run, one stream per client and purpose.
//!
//! The generator is xoshiro256++ (Blackman and Vigna, 2019). How a stream's state follows from the seed, and how numbers
//! are mapped to ranges, is written here and not taken from a crate that may change it: two runs with one seed do the same
//! transactions. The tests hold literal numbers.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The purposes of streams. Each purpose of each client has an independent stream, so that a longer warm-up does not shift the
/// measured transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Purpose {
    /// The transactions of the measured window.
    Measure = 0,
    /// The transactions of the warm-up.
    Warmup = 1,
    /// When transactions are scheduled under a rate.
    Pacing = 2,
    /// The order in which the tests of a run are made, or its degrees measured.
    Order = 3,
    /// Bootstrap resamples.
    Resample = 4,
    /// The contents of rows.
    Payload = 5,
    /// Moments of power cuts, and the writes that survive one.
    Cut = 6,
}

/// One stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of a run's `seed`, client number (from 0) and purpose.
    ///
    /// With mix = the finalizer of splitmix64, key = mix(mix(seed) xor (client x 256 + purpose)); the state is the first
    /// four numbers of splitmix64 started at key. Under one seed no two (client, purpose) share a state, as mix is a
    /// bijection.
    pub fn new(seed: u64, client: u32, purpose: Purpose) -> Self {
        let word = (u64::from(client) << 8) | purpose as u64;
        let mut key = mix(mix(seed.wrapping_add(GOLDEN)) ^ word);
        let mut state = [0; 32];
        for bytes in state.chunks_exact_mut(8) {
            key = key.wrapping_add(GOLDEN);
            bytes.copy_from_slice(&mix(key).to_le_bytes());
        }
        Self(Xoshiro256PlusPlus::from_seed(state))
    }

    /// The next 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A whole number from `low` to `high`, both included, each equally likely; `low` when `high` is not above it. By
    /// multiplication with rejection (Lemire, "Fast Random Integer Generation in an Interval", 2019).
    #[inline]
    pub fn range(&mut self, low: i64, high: i64) -> i64 {
        if high <= low {
            return low;
        }
        let span = high.wrapping_sub(low).cast_unsigned();
        let Some(n) = span.checked_add(1) else {
            return self.bits().cast_signed();
        };
        let mut product = u128::from(self.bits()) * u128::from(n);
        if (product as u64) < n {
            let reject_below = n.wrapping_neg() % n;
            while (product as u64) < reject_below {
                product = u128::from(self.bits()) * u128::from(n);
            }
        }
        low.wrapping_add_unsigned((product >> 64) as u64)
    }

    /// A number from 0 (included) to 1 (excluded), a multiple of 2^-53.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Puts things in a random order, each equally likely (Fisher and Yates, from the last one down).
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for last in (1..things.len()).rev() {
            things.swap(last, self.range(0, last as i64) as usize);
        }
    }

    /// A number of the exponential distribution with the given mean: -mean x ln(1 - unit), as pgbench's getPoissonRand.
    /// The logarithm is the platform's, so the last digit may differ between machines.
    #[inline]
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }
}

/// 2^64 divided by the golden ratio: splitmix64's increment.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// splitmix64's finalizer (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn splitmix64_is_the_published_one() {
        // First outputs of splitmix64 from state 1234567.
        let mut key = 1_234_567u64;
        let out: Vec<u64> = (0..3)
            .map(|_| {
                key = key.wrapping_add(GOLDEN);
                mix(key)
            })
            .collect();
        assert_eq!(
            out,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn streams_are_frozen() {
        let first = |client, purpose| {
            let mut s = Stream::new(42, client, purpose);
            (s.bits(), s.range(1, 100_000), s.range(-5000, 5000))
        };
        assert_eq!(first(0, Purpose::Measure), FROZEN[0]);
        assert_eq!(first(0, Purpose::Warmup), FROZEN[1]);
        assert_eq!(first(0, Purpose::Pacing), FROZEN[2]);
        assert_eq!(first(1, Purpose::Measure), FROZEN[3]);
    }

    /// Computed apart from this code, from the published algorithms: never to be changed.
    const FROZEN: [(u64, i64, i64); 4] = [
        (16_917_435_633_991_974_622, 15_699, 2053),
        (11_674_170_523_451_819_816, 35_996, 2326),
        (3_468_534_233_608_480_037, 31_020, 107),
        (9_013_812_226_044_725_030, 10_544, 2554),
    ];

    #[test]
    fn streams_do_not_depend_on_each_other() {
        let take = |seed, client, purpose| {
            let mut s = Stream::new(seed, client, purpose);
            [s.bits(), s.bits()]
        };
        let purposes = [Purpose::Measure, Purpose::Warmup, Purpose::Pacing];
        let mut seen = std::collections::HashSet::new();
        for seed in [0, 1, u64::MAX] {
            for client in (0..300).chain([u32::MAX]) {
                for purpose in purposes {
                    assert!(
                        seen.insert(take(seed, client, purpose)),
                        "{seed} {client} {purpose:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn every_value_of_a_small_range_is_as_likely() {
        let mut s = Stream::new(7, 0, Purpose::Measure);
        let mut seen = [0u32; 6];
        for _ in 0..60_000 {
            seen[(s.range(-2, 3) + 2) as usize] += 1;
        }
        assert!(seen.iter().all(|n| n.abs_diff(10_000) < 500), "{seen:?}");
    }

    #[test]
    fn the_mean_of_unit_and_exponential() {
        let mut s = Stream::new(7, 0, Purpose::Pacing);
        let n = 100_000;
        let unit = (0..n).map(|_| s.unit()).sum::<f64>() / f64::from(n);
        let exponential = (0..n).map(|_| s.exponential(3.0)).sum::<f64>() / f64::from(n);
        assert!((unit - 0.5).abs() < 0.005, "{unit}");
        assert!((exponential - 3.0).abs() < 0.05, "{exponential}");
    }

    proptest! {
        #[test]
        fn ranges_hold(seed: u64, low: i64, high: i64) {
            let mut s = Stream::new(seed, 0, Purpose::Measure);
            for _ in 0..20 {
                let value = s.range(low, high);
                prop_assert!(value == low || (low..=high).contains(&value));
            }
        }

        #[test]
        fn unit_is_below_one_and_exponential_finite(seed: u64) {
            let mut s = Stream::new(seed, 0, Purpose::Measure);
            prop_assert!((0.0..1.0).contains(&s.unit()));
            let wait = s.exponential(1e9);
            prop_assert!(wait.is_finite() && wait >= 0.0);
        }
    }
}
