//! Recording of everything that a target's filesystem writes, and power cuts that are made from the record.
//!
//! The order of requests: `prepare` with [`Record`]; `cut_stop`, once the server on the target has ended; then `cut` and `cut_end` for each cut; `release`. `fault` is for the time before
//! `cut_stop`. Times are nanoseconds of CLOCK_MONOTONIC on this machine.

use serde::{Deserialize, Serialize};

use crate::random::{Purpose, Stream};
use crate::refusal::Refusal;

/// Part of `prepare`: puts a recorder between the image and the filesystem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Size of the record at most, in bytes. A quarter of it is for the writes of servers that are started on a cut.
    pub log_bytes: u64,
}

/// The request of `cut_stop`: ends the recording, unmounts the filesystem, and chooses moments for cuts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CutStop {
    /// Number of cuts that are wanted.
    pub cuts: u32,
    pub seed: u64,
    /// No cut is earlier than this time.
    pub from_ns: u64,
}

/// The most cuts for which one `cut_stop` chooses moments: its answer has to fit a line.
pub const MOST_CUTS: u32 = 1000;

impl CutStop {
    pub fn check(&self) -> Result<(), Refusal> {
        if self.cuts <= MOST_CUTS {
            return Ok(());
        }
        Err(Refusal::argument("too many cuts")
            .detail(format!(
                "{} were asked for; {MOST_CUTS} are accepted.",
                self.cuts
            ))
            .hint("Ask for fewer."))
    }
}

/// The result of `cut_stop`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// Writes, flushes and discards that have reached the device.
    pub entries: u64,
    pub writes: u64,
    pub flushes: u64,
    pub discards: u64,
    /// Bytes of all writes.
    pub bytes: u64,
    /// Time of the first entry; 0 without any.
    pub first_ns: u64,
    /// Time of the end of the recording.
    pub end_ns: u64,
    /// True if the record was full: the device has failed with ENOSPC since.
    pub is_full: bool,
    /// Writes and flushes that were failed by `fault`.
    pub faults: u64,
    /// Moments for cuts, in their order.
    pub points: Vec<Point>,
}

/// A moment at which power may be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// Entries that have reached the device before.
    pub entry: u64,
    /// Time of the first entry that has not. A commit that was acknowledged earlier must survive.
    pub ns: u64,
    /// Writes since the last flush before the cut: any of them may be lost.
    pub unflushed: u64,
}

/// The request of `cut`: builds the device as this cut would have left it, and mounts it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cut {
    /// Number of the cut, which together with the seed decides what becomes of writes that were not flushed.
    pub number: u32,
    pub seed: u64,
    /// Entries that have reached the device before.
    pub entry: u64,
    #[serde(default)]
    pub tear: Tear,
}

/// The parts in which a write that was not flushed may be kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tear {
    /// As a whole only.
    #[default]
    None,
    /// Sectors of 512 bytes.
    Sector,
    /// Pages of 4096 bytes.
    Page,
}

impl Tear {
    /// Bytes of a part; None if writes stay whole.
    pub fn unit(self) -> Option<u64> {
        match self {
            Self::None => None,
            Self::Sector => Some(512),
            Self::Page => Some(4096),
        }
    }
}

/// The part of a cut's result that the recorder knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutMade {
    /// Time of the first entry that is lost.
    pub ns: u64,
    /// Entries up to the last flush: all of them are kept.
    pub flushed: u64,
    /// Later writes and discards that are kept as a whole.
    pub kept: u64,
    /// Later writes and discards that are lost.
    pub dropped: u64,
    /// Later writes of which a part is kept.
    pub torn: u64,
}

/// The result of `cut`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CutMounted {
    #[serde(flatten)]
    pub made: CutMade,
    /// False if the filesystem cannot be mounted: then `why_not` says what mount said, and `cut_end` is not needed.
    pub mounted: bool,
    pub why_not: Option<String>,
    /// Time that it took to build the device, to attach it and to mount it, in milliseconds.
    pub ms: f64,
}

/// The request of `fault`: lets the device fail from now on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    pub on: FaultOn,
    /// False: the next one only.
    #[serde(default)]
    pub lasting: bool,
}

/// The operations that fail with EIO.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultOn {
    Write,
    Flush,
}

/// The kinds of entries of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Write,
    /// Everything that was written before is durable.
    Flush,
    /// The range reads as zeros.
    Discard,
}

/// Share of the cuts that come right after a write: there is something to lose.
const AFTER_A_WRITE: f64 = 0.8;

/// Chooses moments for cuts, spread evenly over the entries that are not earlier than asked for. `entries` has kind and time of each entry. Fewer moments than asked for
/// come out if there are fewer entries.
pub fn choose(entries: &[(Kind, u64)], end_ns: u64, asked: &CutStop) -> Vec<Point> {
    let first = entries.partition_point(|(_, ns)| *ns < asked.from_ns);
    // The number of entries before the cut: at least one that is not earlier.
    let candidates = (entries.len() - first) as u64;
    let cuts = u64::from(asked.cuts).min(candidates);
    let mut stream = Stream::new(asked.seed, 0, Purpose::Cut);
    let mut chosen = Vec::with_capacity(cuts as usize);
    for cut in 0..cuts {
        let position = |n: u64| first + (n * candidates / cuts) as usize + 1;
        let all: Vec<usize> = (position(cut)..position(cut + 1)).collect();
        let is_after_write = |at: &&usize| entries[**at - 1].0 == Kind::Write;
        let after_writes: Vec<usize> = all.iter().filter(is_after_write).copied().collect();
        let from = match !after_writes.is_empty() && stream.unit() < AFTER_A_WRITE {
            true => &after_writes,
            false => &all,
        };
        chosen.push(from[stream.range(0, from.len() as i64 - 1) as usize]);
    }
    points(entries, end_ns, &chosen)
}

/// The moments after so many entries, in rising order.
fn points(entries: &[(Kind, u64)], end_ns: u64, chosen: &[usize]) -> Vec<Point> {
    let (mut unflushed, mut seen) = (0, 0);
    let points = chosen.iter().map(|&at| {
        for (kind, _) in &entries[seen..at] {
            match kind {
                Kind::Write | Kind::Discard => unflushed += 1,
                Kind::Flush => unflushed = 0,
            }
        }
        seen = at;
        Point {
            entry: at as u64,
            ns: entries.get(at).map_or(end_ns, |(_, ns)| *ns),
            unflushed,
        }
    });
    points.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nine writes and a flush, again and again, one entry a nanosecond from 1000 on.
    fn record(entries: u64) -> Vec<(Kind, u64)> {
        let kind = |i: u64| match i % 10 {
            9 => Kind::Flush,
            _ => Kind::Write,
        };
        (0..entries).map(|i| (kind(i), 1000 + i)).collect()
    }

    fn asked(cuts: u32, seed: u64, from_ns: u64) -> CutStop {
        CutStop {
            cuts,
            seed,
            from_ns,
        }
    }

    #[test]
    fn cuts_are_spread_over_the_record_and_most_have_something_to_lose() {
        let entries = record(10_000);
        let points = choose(&entries, 20_000, &asked(100, 1, 3000));
        assert_eq!(points.len(), 100);
        for (i, point) in points.iter().enumerate() {
            let stratum = 2000 + 80 * i as u64 + 1..2000 + 80 * (i as u64 + 1) + 1;
            assert!(stratum.contains(&point.entry), "{i}: {point:?}");
            assert_eq!(point.unflushed, point.entry % 10, "{point:?}");
            let ns = match point.entry {
                10_000 => 20_000,
                entry => 1000 + entry,
            };
            assert_eq!(point.ns, ns);
        }
        let after_write = points.iter().filter(|point| point.unflushed > 0).count();
        assert!(after_write >= 90, "{after_write}");
    }

    #[test]
    fn the_seed_decides_and_fewer_entries_are_all_chosen() {
        let entries = record(50);
        let choose = |cuts, seed, from| choose(&entries, 9999, &asked(cuts, seed, from));
        assert_eq!(choose(5, 7, 0), choose(5, 7, 0));
        assert_ne!(choose(5, 7, 0), choose(5, 8, 0));
        let all = choose(MOST_CUTS, 1, 1040);
        let entries: Vec<u64> = all.iter().map(|point| point.entry).collect();
        assert_eq!(entries, (41..=50).collect::<Vec<_>>());
        assert_eq!(all.last().map(|point| point.ns), Some(9999));
        assert_eq!(choose(5, 1, 5000), []);
        assert_eq!(choose(0, 1, 0), []);
    }

    #[test]
    fn too_many_cuts_are_refused() {
        assert_eq!(asked(MOST_CUTS, 1, 0).check(), Ok(()));
        let refusal = asked(MOST_CUTS + 1, 1, 0).check().unwrap_err();
        assert_eq!(refusal.message, "too many cuts");
    }
}
