//! The search: which rate to try next, cycle by cycle, and what has been found.
//!
//! 1. One cycle without a rate has given `free` transactions per second. The upper end is that, the first probe 0.7 times that.
//! 2. A probe is at most three cycles. It fails at once when there are more misses than q × what three cycles schedule; it passes after the first if its share of
//!    misses is ≤ q/5, else after the third.
//! 3. While nothing has passed the next probe is at half the upper end, at least at 0.1 times `free`; a fail there ends it: there is no such rate. Then at √(low·high), until high/low ≤ 1.06.
//! 4. The lower end is confirmed by a probe without the early pass: it stands if that passes, and the share over all its cycles is ≤ q. Otherwise it becomes the upper end,
//!    and the lower one the highest rate tried in [low/1.12, low) with a share ≤ q, or low/1.06; again. After 24 cycles in all it is not confirmed.

use super::estimate::{RESOLUTION, bootstrap, estimate};
use super::{Cycle, share_at};

const FIRST: f64 = 0.7;
const LEAST: f64 = 0.1;
const CYCLES_OF_A_PROBE: usize = 3;
/// A share of q with which one cycle is enough.
const EARLY: f64 = 0.2;
/// After a rate that was not confirmed, a lower one that kept so far is taken up again when it is within this factor.
const NEAR: f64 = 1.12;
const MOST_CYCLES: usize = 24;
/// A confirmation that begins with cycles left is made to its end.
pub const MOST_CYCLES_IN_ALL: usize = MOST_CYCLES + CYCLES_OF_A_PROBE - 1;
/// The cycle without a rate, and a probe at each of 0.7, 0.35, 0.175 and 0.1 of it that fails at once.
pub const FEWEST_CYCLES: usize = 5;
/// The factor by which both ends of the interval are widened.
const WIDER: f64 = 1.05;
const LEAST_SECONDS: f64 = 60.0;
/// Misses of a cycle at a share of exactly q.
const MISSES_OF_A_CYCLE: f64 = 20.0;

/// Seconds of a cycle at a rate: a checkpoint cycle, at least 60 s and 20/q transactions. 5 % of one are discarded before each probe.
pub fn cycle_seconds(checkpoint_cycle: f64, rate: f64, q: f64) -> f64 {
    checkpoint_cycle
        .max(LEAST_SECONDS)
        .max(MISSES_OF_A_CYCLE / q / rate)
}

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SearchResult {
    /// It has been sustained, twice.
    Rate(Sustained),
    /// A rate that was found, but not confirmed before the cycles were over.
    NotConfirmed(Sustained),
    /// No rate from 0.1 times what was done without one is sustained; the least that was tried, and the share of misses there.
    None { rate: f64, share: f64 },
}

/// A rate, and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sustained {
    /// The highest that was sustained.
    pub rate: f64,
    /// The rate at which the share of misses crosses q, from all cycles.
    pub estimate: f64,
    /// Interval.
    pub low: f64,
    /// Interval.
    pub high: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Search,
    Confirm,
    Over { none: bool, confirmed: bool },
}

/// A search that is on.
#[derive(Clone, Debug)]
pub struct Search {
    q: f64,
    free: f64,
    cycles: Vec<Cycle>,
    low: Option<f64>,
    high: f64,
    stage: Stage,
    rate: f64,
    /// The index of the first cycle of the present probe.
    probe: usize,
    probes: usize,
    seed: u64,
}

impl Search {
    /// `free` is the throughput of a cycle without a rate. The seed is that of the interval.
    pub fn new(free: f64, q: f64, seed: u64) -> Self {
        Self {
            q,
            free,
            cycles: Vec::new(),
            low: None,
            high: free,
            stage: Stage::Search,
            rate: FIRST * free,
            probe: 0,
            probes: 0,
            seed,
        }
    }

    /// The rate of the next cycle; None when the search is over.
    pub fn next(&self) -> Option<f64> {
        (!matches!(self.stage, Stage::Over { .. })).then_some(self.rate)
    }

    /// True if the next cycle is the first one of a probe: 5 % of a cycle are then discarded before it.
    pub fn begins_probe(&self) -> bool {
        self.probe == self.cycles.len()
    }

    /// True if the present probe is to confirm a rate that has passed one before.
    pub fn is_confirming(&self) -> bool {
        self.stage == Stage::Confirm
    }

    /// True if no rate has failed so far: what bounds the search is what can be done at all.
    pub fn nothing_failed(&self) -> bool {
        self.high == self.free
    }

    /// Probes, and cycles with the one without a rate.
    pub fn effort(&self) -> (usize, usize) {
        (self.probes, self.cycles.len() + 1)
    }

    /// A cycle at the rate of [`Self::next`] is over; `nominal` is what rate and length of a cycle make, `scheduled` what came of it.
    /// Gives whether the probe has passed, when it is over.
    pub fn record(&mut self, nominal: f64, scheduled: f64, misses: f64) -> Option<bool> {
        self.next()?;
        // In a short cycle at a low rate it may happen that nothing was due.
        let scheduled = if scheduled > 0.0 { scheduled } else { nominal };
        self.probes += usize::from(self.begins_probe());
        self.cycles.push(Cycle {
            rate: self.rate,
            scheduled,
            misses,
        });
        let passed = self.probe_result(nominal)?;
        self.probe = self.cycles.len();
        match self.stage {
            Stage::Confirm => return Some(self.confirmed(passed)),
            _ => self.searched(passed),
        }
        Some(passed)
    }

    fn probe_result(&self, nominal: f64) -> Option<bool> {
        let cycles = &self.cycles[self.probe..];
        let misses: f64 = cycles.iter().map(|c| c.misses).sum();
        let scheduled: f64 = cycles.iter().map(|c| c.scheduled).sum();
        if misses > self.q * nominal * CYCLES_OF_A_PROBE as f64 {
            return Some(false);
        }
        let early = self.stage == Stage::Search
            && cycles.len() == 1
            && misses <= self.q * EARLY * scheduled;
        (early || cycles.len() == CYCLES_OF_A_PROBE).then_some(true)
    }

    fn searched(&mut self, passed: bool) {
        if passed {
            self.low = Some(self.rate);
        } else {
            self.high = self.rate;
        }
        let least = LEAST * self.free;
        match self.low {
            None if self.high <= least * (1.0 + 1e-9) => self.over(true, false),
            None => self.rate = (self.high / 2.0).max(least),
            Some(low) if self.high / low > RESOLUTION => self.rate = (low * self.high).sqrt(),
            Some(low) => self.confirm(low),
        }
    }

    fn confirmed(&mut self, passed: bool) -> bool {
        if passed && share_at(&self.cycles, self.rate) <= self.q {
            self.over(false, true);
            return true;
        }
        let failed = self.rate;
        self.high = failed;
        let near = (self.cycles.iter().map(|c| c.rate))
            .filter(|&rate| (failed / NEAR..failed).contains(&rate))
            .filter(|&rate| share_at(&self.cycles, rate) <= self.q)
            .reduce(f64::max);
        let low = near.unwrap_or(failed / RESOLUTION);
        self.low = Some(low);
        if low < LEAST * self.free {
            self.over(true, false);
        } else {
            self.confirm(low);
        }
        false
    }

    fn confirm(&mut self, low: f64) {
        self.rate = low;
        if self.effort().1 < MOST_CYCLES {
            self.stage = Stage::Confirm;
        } else {
            self.over(false, false);
        }
    }

    fn over(&mut self, none: bool, confirmed: bool) {
        self.stage = Stage::Over { none, confirmed };
    }

    /// The result; None while the search is on.
    pub fn found(&self) -> Option<SearchResult> {
        let Stage::Over { none, confirmed } = self.stage else {
            return None;
        };
        if none {
            let least = self.cycles.iter().map(|c| c.rate).reduce(f64::min)?;
            let share = share_at(&self.cycles, least);
            return Some(SearchResult::None { rate: least, share });
        }
        let low = self.low?;
        let (least, most) = bootstrap(&self.cycles, self.q, self.seed)?;
        let sustained = Sustained {
            rate: low,
            estimate: estimate(&self.cycles, self.q)?,
            low: least.min(low) / WIDER,
            high: most.max(self.high) * WIDER,
        };
        Some(if confirmed {
            SearchResult::Rate(sustained)
        } else {
            SearchResult::NotConfirmed(sustained)
        })
    }
}
