//! A run that searches for the highest rate at which a percentile of latency stays under a limit: which cycle comes next, what the
//! cycles of a probe come to, and what is stored of it. How the search goes stands in [`crate::verdict::rate::search`].

use serde::Serialize;
use serde_json::Value;

use crate::{
    hist::Histogram,
    refusal::Refusal,
    rows,
    spec::{Bound, FEWEST_PERCENT, MOST_PERCENT, Spec},
    units::{format_count, format_seconds},
    verdict::rate::search::{MOST_CYCLES_IN_ALL, Search, SearchResult, Sustained, cycle_seconds},
};

/// Share of a cycle that is discarded before each probe.
const DISCARDED: f64 = 0.05;

/// The percentile that a limit is about, as an argument of SQL's: NaN and infinity come as text.
pub fn percentile(given: Option<&Value>) -> Result<f64, Refusal> {
    let number = given.and_then(Value::as_f64);
    number
        .filter(|p| (FEWEST_PERCENT..=MOST_PERCENT).contains(p))
        .ok_or_else(|| {
            Refusal::argument(match given {
                None => "percentile must not be null".into(),
                Some(value) => match (number, value.as_str()) {
                    (Some(number), _) => format!("percentile {number} is out of range"),
                    (None, text) => {
                        format!("percentile {} is out of range", text.unwrap_or_default())
                    }
                },
            })
            .detail(format!(
                "It must be between {FEWEST_PERCENT} and {MOST_PERCENT}: the share of transactions, in percent, that stays under the limit."
            ))
            .hint("The 99th percentile is 99.")
        })
}

/// A row of `fsbench.probe`; its columns say what they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Probe {
    pub number: usize,
    pub purpose: &'static str,
    pub rate: Option<f64>,
    pub kept: Option<bool>,
    pub latency_ms: Option<f64>,
    pub latency_max_ms: Option<f64>,
    pub tps: Option<f64>,
    pub scheduled: u64,
    pub misses: u64,
    pub skipped: u64,
    pub late: u64,
    pub failed: u64,
    pub started_at: String,
    pub seconds: f64,
    pub cycle_scheduled: Vec<u64>,
    pub cycle_misses: Vec<u64>,
}

impl rows::Row for Probe {
    const TABLE: &'static str = "probe";
}

/// Columns of `fsbench.run_log`: what such a run has found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sustainable {
    pub sustainable_rate: Option<f64>,
    pub sustainable_rate_low: Option<f64>,
    pub sustainable_rate_high: Option<f64>,
    pub sustainable_rate_estimate: Option<f64>,
    pub sustainable_rate_says: Option<String>,
}

/// A cycle that is to be made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Next {
    /// The probe that it belongs to; 0 for the cycle without a rate.
    pub probe: usize,
    /// Transactions per second of all clients; None: as fast as it goes.
    pub rate: Option<f64>,
    /// Seconds at the start that are not counted.
    pub discarded_seconds: f64,
    pub seconds: f64,
}

/// Counts of the clients in one cycle.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Transactions that were committed.
    pub measured: u64,
    pub skipped: u64,
    /// Committed transactions that took longer than the limit.
    pub late: u64,
    pub failed: u64,
    /// Latency of the committed ones.
    pub latency: Histogram,
    /// Microseconds since 1970.
    pub started_us: i64,
    /// How long it took until the last transaction had ended.
    pub seconds: f64,
}

impl Counts {
    fn scheduled(&self) -> u64 {
        self.measured + self.skipped + self.failed
    }

    fn misses(&self) -> u64 {
        self.late + self.skipped + self.failed
    }
}

/// Such a run.
#[derive(Clone, Debug)]
pub struct RateSearch {
    percentile: f64,
    limit_ms: f64,
    /// Seconds of a cycle, as given or of a checkpoint cycle.
    cycle_seconds: f64,
    /// Whether the caller has given them.
    is_given: bool,
    seed: u64,
    /// None until the cycle without a rate is over.
    search: Option<Search>,
    free: f64,
    /// The probe that is on: its row, and the latencies so far.
    open: Option<(Probe, Histogram)>,
    probes: Vec<Probe>,
}

impl RateSearch {
    /// The search that a run is to make; None of a run that makes none.
    pub fn of(spec: &Spec) -> Option<Self> {
        let (percentile, limit_ms) = (spec.searched_percentile()?, spec.latency_limit_ms?);
        let Bound::DurationMs(ms) = spec.bound else {
            return None;
        };
        Some(Self {
            percentile,
            limit_ms,
            cycle_seconds: ms as f64 / 1000.0,
            is_given: !spec.chosen.iter().any(|name| name == "duration"),
            seed: spec.seed as u64,
            search: None,
            free: 0.0,
            open: None,
            probes: Vec::new(),
        })
    }

    /// Most cycles that any search makes.
    pub fn most_cycles() -> u64 {
        MOST_CYCLES_IN_ALL as u64
    }

    /// Cycles that are over.
    pub fn cycles(&self) -> u64 {
        self.search.as_ref().map_or(0, |s| s.effort().1 as u64)
    }

    fn q(&self) -> f64 {
        1.0 - self.percentile / 100.0
    }

    /// The next cycle; None when the search is over.
    pub fn next(&self) -> Option<Next> {
        let Some(search) = &self.search else {
            return Some(Next {
                probe: 0,
                rate: None,
                discarded_seconds: 0.0,
                seconds: self.cycle_seconds,
            });
        };
        let rate = search.next()?;
        let seconds = match self.is_given {
            true => self.cycle_seconds,
            false => cycle_seconds(self.cycle_seconds, rate, self.q()),
        };
        let begins = search.begins_probe();
        Some(Next {
            probe: search.effort().0 + usize::from(begins),
            rate: Some(rate),
            discarded_seconds: if begins { DISCARDED * seconds } else { 0.0 },
            seconds,
        })
    }

    /// The cycle of [`Self::next`] is over. False when nothing was committed in the one without a rate: there is nothing to search from.
    pub fn record(&mut self, counts: &Counts) -> bool {
        let Some(next) = self.next() else {
            return true;
        };
        let Some(search) = &mut self.search else {
            self.free = counts.measured as f64 / counts.seconds.max(next.seconds);
            let mut probe = Probe {
                purpose: "free",
                ..Probe::default()
            };
            let mut latency = Histogram::new();
            add(&mut probe, &mut latency, counts);
            self.close(probe, &latency, None);
            self.search = Some(Search::new(self.free, self.q(), self.seed));
            return counts.measured > 0;
        };
        let (mut probe, mut latency) = self.open.take().unwrap_or_else(|| {
            let probe = Probe {
                number: next.probe,
                purpose: match search.is_confirming() {
                    true => "confirm",
                    false => "search",
                },
                rate: next.rate,
                ..Probe::default()
            };
            (probe, Histogram::new())
        });
        add(&mut probe, &mut latency, counts);
        let nominal = next.rate.unwrap_or_default() * next.seconds;
        match search.record(nominal, counts.scheduled() as f64, counts.misses() as f64) {
            Some(kept) => self.close(probe, &latency, Some(kept)),
            None => self.open = Some((probe, latency)),
        }
        true
    }

    fn close(&mut self, mut probe: Probe, latency: &Histogram, kept: Option<bool>) {
        let done = probe.scheduled - probe.skipped - probe.failed;
        probe.kept = kept;
        probe.tps = (probe.seconds > 0.0).then(|| done as f64 / probe.seconds);
        // Skipped and failed transactions count as infinitely late.
        let of_all = latency.percentile_among(self.percentile / 100.0, probe.scheduled);
        probe.latency_ms = of_all.map(|ns| ns / 1e6);
        probe.latency_max_ms = latency.max().map(|ns| ns as f64 / 1e6);
        self.probes.push(probe);
    }

    /// The probes, the cycle without a rate first.
    pub fn probes(&self) -> &[Probe] {
        &self.probes
    }

    /// The result of the search; empty while it is on.
    pub fn found(&self) -> Sustainable {
        let Some((search, found)) = self.search.as_ref().and_then(|s| Some((s, s.found()?))) else {
            return Sustainable::default();
        };
        let says = Some(self.in_words(search, &found));
        match found {
            SearchResult::Rate(found) | SearchResult::NotConfirmed(found) => Sustainable {
                sustainable_rate: Some(found.rate),
                sustainable_rate_low: Some(found.low),
                sustainable_rate_high: Some(found.high),
                sustainable_rate_estimate: Some(found.estimate),
                sustainable_rate_says: says,
            },
            SearchResult::None { rate, .. } => Sustainable {
                sustainable_rate_high: Some(rate),
                sustainable_rate_says: says,
                ..Sustainable::default()
            },
        }
    }

    fn in_words(&self, search: &Search, found: &SearchResult) -> String {
        let (percentile, limit) = (self.percentile, self.limit_ms);
        let kept = |found: &Sustained| {
            let rate = tps(found.rate);
            format!("at {rate} tps {percentile} % of the transactions take at most {limit} ms")
        };
        let bound = |found: &Sustained| match search.nothing_failed() {
            true => format!(
                "every rate that was tried keeps the limit, up to the {} tps that it does without a rate",
                tps(self.free)
            ),
            false => format!(
                "the limit is reached at {} to {} tps",
                tps(found.low),
                tps(found.high)
            ),
        };
        let text = match found {
            SearchResult::Rate(found) => format!("{}; {}", kept(found), bound(found)),
            SearchResult::NotConfirmed(found) => format!(
                "not confirmed after {}: {}; {}",
                format_count(self.cycles(), "cycle"),
                kept(found),
                bound(found)
            ),
            SearchResult::None { rate, share } => {
                let longest = (self.probes.iter())
                    .filter(|probe| probe.rate == Some(*rate))
                    .filter_map(|probe| probe.latency_max_ms)
                    .fold(0.0, f64::max);
                format!(
                    "none: at {} tps, of {} without a rate, {:.2} % of the transactions miss {limit} ms; the longest took {}",
                    tps(*rate),
                    tps(self.free),
                    share * 100.0,
                    format_seconds(longest / 1000.0)
                )
            }
        };
        match self.is_given {
            true => format!(
                "{text} (cycles of {} as given, not checkpoint cycles)",
                format_seconds(self.cycle_seconds)
            ),
            false => text,
        }
    }
}

fn add(probe: &mut Probe, latency: &mut Histogram, counts: &Counts) {
    if probe.cycle_scheduled.is_empty() {
        probe.started_at = rows::timestamp(counts.started_us);
    }
    probe.scheduled += counts.scheduled();
    probe.misses += counts.misses();
    probe.skipped += counts.skipped;
    probe.late += counts.late;
    probe.failed += counts.failed;
    probe.seconds += counts.seconds;
    probe.cycle_scheduled.push(counts.scheduled());
    probe.cycle_misses.push(counts.misses());
    latency.merge(&counts.latency);
}

/// A rate for people.
fn tps(rate: f64) -> String {
    match rate {
        100.0.. => format!("{rate:.0}"),
        _ => format!("{rate:.1}"),
    }
}

#[cfg(test)]
mod tests;
