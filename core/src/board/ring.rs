//! The sampler's records of each second, on their way to the coordinator, which stores them.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use super::{
    figures::{FIGURES, Figures},
    waits::{WAIT_WORDS, Waits},
};

/// One interval of about a second, over all clients. Latencies are nanoseconds, 0 when there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Number of the interval in the measured window, from 0.
    pub second: u32,
    /// Start in nanoseconds since the start of the phase.
    pub start_ns: u64,
    /// True length in nanoseconds.
    pub interval_ns: u64,
    /// Transactions committed in it.
    pub transactions: u64,
    /// Transactions skipped in it, being later than the latency limit.
    pub skipped: u64,
    /// Transactions in it that took longer than the latency limit.
    pub late: u64,
    /// Transactions that failed in it.
    pub failed: u64,
    /// Median latency.
    pub p50_ns: u64,
    /// 95th percentile of latency.
    pub p95_ns: u64,
    /// 99th percentile of latency.
    pub p99_ns: u64,
    /// Longest latency.
    pub max_ns: u64,
    /// Mean latency.
    pub mean_ns: u64,
    /// 99th percentile of the duration of COMMIT.
    pub commit_p99_ns: u64,
    /// Figures of server, clients and machine in it.
    pub figures: Figures,
    /// Waits of the clients in it.
    pub waits: Waits,
}

/// Words of a sample before its figures.
const OWN: usize = 13;
const WORDS: usize = OWN + FIGURES + WAIT_WORDS;

/// The rest of a second must be as long as this for a sample of its own.
const SHORTEST_NS: u64 = 500_000_000;
const SECOND_NS: u64 = 1_000_000_000;

/// The second that follows `second`, whose sample was taken at `elapsed_ns` of the window. One that comes late leaves out those
/// that are over by then: samples of a moment would tell nothing.
pub fn second_after(second: u32, elapsed_ns: u64) -> u32 {
    let current = elapsed_ns.saturating_add(SHORTEST_NS) / SECOND_NS;
    let current = u32::try_from(current).unwrap_or(u32::MAX);
    current.max(second.saturating_add(1))
}

impl Sample {
    /// The second of the window after the last one that this record covers.
    pub fn end(&self) -> u32 {
        let covered = (self.interval_ns as f64 / 1e9).round().max(1.0);
        self.second.saturating_add(covered as u32)
    }

    /// Transactions a second in this interval; 0 when it has no length.
    pub fn tps(&self) -> f64 {
        if self.interval_ns == 0 {
            0.0
        } else {
            self.transactions as f64 * 1e9 / self.interval_ns as f64
        }
    }

    fn to_words(self) -> [u64; WORDS] {
        let own: [u64; OWN] = [
            u64::from(self.second),
            self.start_ns,
            self.interval_ns,
            self.transactions,
            self.skipped,
            self.late,
            self.failed,
            self.p50_ns,
            self.p95_ns,
            self.p99_ns,
            self.max_ns,
            self.mean_ns,
            self.commit_p99_ns,
        ];
        let (figures, waits) = (self.figures.to_words(), self.waits.to_words());
        let mut words = own.into_iter().chain(figures).chain(waits);
        std::array::from_fn(|_| words.next().unwrap_or_default())
    }

    fn from_words(words: [u64; WORDS]) -> Self {
        let own: [u64; OWN] = std::array::from_fn(|i| words[i]);
        let [
            second,
            start_ns,
            interval_ns,
            transactions,
            skipped,
            late,
            failed,
            rest @ ..,
        ] = own;
        let [p50_ns, p95_ns, p99_ns, max_ns, mean_ns, commit_p99_ns] = rest;
        let second = second as u32;
        Self {
            second,
            start_ns,
            interval_ns,
            transactions,
            skipped,
            late,
            failed,
            p50_ns,
            p95_ns,
            p99_ns,
            max_ns,
            mean_ns,
            commit_p99_ns,
            figures: Figures::from_words(std::array::from_fn(|i| words[OWN + i])),
            waits: Waits::from_words(std::array::from_fn(|i| words[OWN + FIGURES + i])),
        }
    }
}

/// One [`Sample`] in shared memory. Written by the sampler only, while the cell is not in the coordinator's hands.
#[repr(C)]
pub struct SampleCell {
    words: [AtomicU64; WORDS],
}

impl SampleCell {
    const fn new() -> Self {
        Self {
            words: [const { AtomicU64::new(0) }; WORDS],
        }
    }
}

/// A queue of N samples with one producer (the sampler) and one consumer (the coordinator). All bytes zero is the empty
/// queue.
#[repr(C)]
pub struct SampleRing<const N: usize> {
    /// Samples pushed so far. Written by the sampler, after the cell.
    pushed: AtomicU64,
    /// Samples popped so far. Written by the coordinator, after it has read the cell.
    popped: AtomicU64,
    /// Samples lost because the ring was full. Written by the sampler.
    dropped: AtomicU64,
    cells: [SampleCell; N],
}

impl<const N: usize> SampleRing<N> {
    /// An empty ring.
    pub const fn new() -> Self {
        Self {
            pushed: AtomicU64::new(0),
            popped: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            cells: [const { SampleCell::new() }; N],
        }
    }

    /// Appends a sample. For the sampler. When the ring is full the sample is lost, counted as dropped, and false
    /// returned.
    pub fn push(&self, sample: &Sample) -> bool {
        let pushed = self.pushed.load(Relaxed);
        if pushed.wrapping_sub(self.popped.load(Acquire)) >= N as u64 {
            self.dropped.store(self.dropped.load(Relaxed) + 1, Relaxed);
            return false;
        }
        let cell = &self.cells[(pushed % N as u64) as usize];
        for (word, value) in cell.words.iter().zip(sample.to_words()) {
            word.store(value, Relaxed);
        }
        self.pushed.store(pushed + 1, Release);
        true
    }

    /// Takes the oldest sample. For the coordinator. None when the ring is empty.
    pub fn pop(&self) -> Option<Sample> {
        let popped = self.popped.load(Relaxed);
        if popped == self.pushed.load(Acquire) {
            return None;
        }
        let cell = &self.cells[(popped % N as u64) as usize];
        let sample = Sample::from_words(std::array::from_fn(|i| cell.words[i].load(Relaxed)));
        self.popped.store(popped + 1, Release);
        Some(sample)
    }

    /// Samples in the ring now.
    pub fn len(&self) -> usize {
        self.pushed
            .load(Acquire)
            .wrapping_sub(self.popped.load(Acquire)) as usize
    }

    /// True if the ring is empty now.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Samples lost because the ring was full.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Relaxed)
    }

    /// Empties the ring. By the coordinator, while no sampler runs.
    pub fn reset(&self) {
        for word in [&self.pushed, &self.popped, &self.dropped] {
            word.store(0, Release);
        }
    }
}

impl<const N: usize> Default for SampleRing<N> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(second: u32) -> Sample {
        let n = u64::from(second);
        Sample::from_words(std::array::from_fn(|i| n * 100 + i as u64)).with_second(second)
    }

    impl Sample {
        fn with_second(self, second: u32) -> Self {
            Self { second, ..self }
        }
    }

    #[test]
    fn words_hold_every_field() {
        let words = std::array::from_fn(|i| i as u64 + 1);
        assert_eq!(Sample::from_words(words).to_words(), words);
    }

    #[test]
    fn first_in_first_out_over_many_rounds() {
        let ring = SampleRing::<4>::new();
        for second in 0..50 {
            assert!(ring.push(&sample(2 * second)) && ring.push(&sample(2 * second + 1)));
            assert_eq!(
                (ring.pop(), ring.pop()),
                (Some(sample(2 * second)), Some(sample(2 * second + 1)))
            );
            assert_eq!(ring.pop(), None);
        }
    }

    #[test]
    fn a_full_ring_drops_and_counts() {
        let ring = SampleRing::<2>::new();
        assert_eq!(
            [1, 2, 3].map(|s| ring.push(&sample(s))),
            [true, true, false]
        );
        assert_eq!((ring.dropped(), ring.len()), (1, 2));
        assert_eq!(ring.pop(), Some(sample(1)));
        assert!(ring.push(&sample(4)));
        ring.reset();
        assert!(ring.is_empty() && ring.dropped() == 0 && ring.pop().is_none());
    }

    #[test]
    fn two_threads_lose_nothing() {
        let ring = SampleRing::<8>::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for second in 0..10_000 {
                    while !ring.push(&sample(second)) {
                        std::thread::yield_now();
                    }
                }
            });
            for second in 0..10_000 {
                let got = loop {
                    if let Some(got) = ring.pop() {
                        break got;
                    }
                    std::thread::yield_now();
                };
                assert_eq!(got, sample(second));
            }
        });
    }

    #[test]
    fn a_sample_that_comes_late_leaves_seconds_out_and_none_is_a_moment() {
        let ms = |ms: u64| ms * 1_000_000;
        // In time, and a little late.
        assert_eq!(second_after(0, ms(1_000)), 1);
        assert_eq!(second_after(3, ms(4_400)), 4);
        // So late that little is left of the next second: it goes with the one after it.
        assert_eq!(second_after(3, ms(4_600)), 5);
        // Seconds late.
        assert_eq!(second_after(3, ms(9_100)), 9);
        assert_eq!(second_after(3, ms(9_900)), 10);
        // It never goes back.
        assert_eq!(second_after(3, 0), 4);
        assert_eq!(second_after(u32::MAX, u64::MAX), u32::MAX);
    }

    #[test]
    fn tps_uses_the_true_length() {
        let s = Sample {
            transactions: 50,
            interval_ns: 500_000_000,
            ..Sample::default()
        };
        assert_eq!((s.tps(), Sample::default().tps()), (100.0, 0.0));
    }
}
