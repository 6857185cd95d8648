//! Recording of everything that a target's filesystem writes, and power cuts that are made from the record.
//!
//! The order of requests: `prepare` with [`Record`]; `cut_stop`, once the server on the target has ended; then `cut` and `cut_end` for each cut;
//! `release`. `barriers_off` is for the time before `cut_stop`. `fault` is for that time and for a cut, after which `cut_again` mounts the device as
//! the failed operation has left it. Times are nanoseconds of CLOCK_MONOTONIC on this machine.

use serde::{Deserialize, Serialize};

use crate::random::{Purpose, Stream};
use crate::refusal::{Kind as RefusalKind, Refusal};

/// Part of `prepare`: puts a recorder between the images and what is made on them, or dm-log-writes between the device and the filesystem.
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
    pub seed: u64,
    /// Windows in which the moments are.
    pub windows: Vec<Window>,
}

/// A part of the recorded time, and the number of cuts in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    pub cuts: u32,
    pub from_ns: u64,
    pub to_ns: u64,
}

/// The most windows of one `cut_stop`.
const MOST_WINDOWS: usize = 8;

/// The most cuts for which one `cut_stop` chooses moments: its answer has to fit a line.
pub const MOST_CUTS: u32 = 1000;

impl CutStop {
    pub fn check(&self) -> Result<(), Refusal> {
        let windows = self.windows.len();
        if windows > MOST_WINDOWS {
            return Err(Refusal::argument("too many windows")
                .detail(format!(
                    "{windows} were given; {MOST_WINDOWS} are accepted."
                ))
                .hint("Give fewer."));
        }
        let cuts: u64 = self
            .windows
            .iter()
            .map(|window| u64::from(window.cuts))
            .sum();
        if cuts <= MOST_CUTS.into() {
            return Ok(());
        }
        Err(Refusal::argument("too many cuts")
            .detail(format!("{cuts} were asked for; {MOST_CUTS} are accepted."))
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
    /// True if the record was full: the recorder has failed writes with ENOSPC since, or dm-log-writes has ended its log.
    pub is_full: bool,
    /// Writes and flushes that were failed by `fault`.
    pub faults: u64,
    /// Moments for cuts: those of the first window, then those of the next one, each in the order of time.
    pub points: Vec<Point>,
}

/// A moment at which power may be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// Entries that have reached the device before.
    pub entry: u64,
    /// Time of the first entry that has not, within the window. A commit that was acknowledged earlier must survive.
    pub ns: u64,
    /// Writes and discards that no flush of their disk follows before the cut: any of them may be lost.
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
    /// Entries before the first unflushed one. A cut keeps all of them.
    pub flushed: u64,
    /// Unflushed writes and discards that are kept as a whole.
    pub kept: u64,
    /// Unflushed writes and discards that are lost.
    pub dropped: u64,
    /// Unflushed writes of which a part is kept.
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

/// The result of `cut_end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CutEnded {
    /// Reads, writes, flushes and discards that the recorder has failed since the cut.
    pub failures: u64,
    /// Writes and flushes that were failed by `fault` since the cut.
    pub faults: u64,
    /// Time that it took to unmount and detach it, in milliseconds.
    pub ms: f64,
}

impl CutEnded {
    /// The error if the recorder has failed: the cut shows nothing then.
    pub fn refusal(&self) -> Option<Refusal> {
        let message = "the recorder failed while a power cut was judged";
        (self.failures > 0).then(|| {
            Refusal::new(RefusalKind::System, message)
                .detail(format!(
                    "It failed {} reads or writes of the filesystem. The filesystem that holds the record may be full, or its disk fails.",
                    self.failures
                ))
                .hint("Make room where the record is: in the helper's directory of images. Then start the run again.")
        })
    }
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

impl FaultOn {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::Flush, Self::Write];

    /// Name in the tables of results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Flush => "flush",
        }
    }
}

/// The kinds of entries of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Write,
    /// Everything that was written to this disk before is durable.
    Flush,
    /// The range reads as zeros.
    Discard,
}

/// An entry of a record as the choice of cuts needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    pub kind: Kind,
    /// Number of the disk, from 0.
    pub disk: u8,
    /// Time of arrival.
    pub ns: u64,
}

/// Share of the cuts that come right after a write: there is something to lose.
const AFTER_A_WRITE: f64 = 0.8;

/// Chooses moments for cuts in each window, spread evenly over its entries. A window with few entries has
/// several cuts at a moment: each of them loses other writes.
pub fn choose(entries: &[Moment], end_ns: u64, requested: &CutStop) -> Vec<Point> {
    let mut stream = Stream::new(requested.seed, 0, Purpose::Cut);
    let windows = requested.windows.iter();
    windows
        .flat_map(|window| {
            let chosen = positions(entries, *window, &mut stream);
            points(entries, window.to_ns.min(end_ns), &chosen)
        })
        .collect()
}

/// Numbers of entries before each cut of a window, in rising order.
fn positions(entries: &[Moment], window: Window, stream: &mut Stream) -> Vec<usize> {
    let until = |limit_ns: u64| entries.partition_point(|entry| entry.ns <= limit_ns);
    // The device is in the state after the entry `first` from the beginning of the window on.
    let first = until(window.from_ns);
    let candidates = until(window.to_ns).saturating_sub(first) as u64 + 1;
    let is_after_write = |at: usize| at > 0 && entries[at - 1].kind == Kind::Write;
    let mut chosen = Vec::with_capacity(window.cuts as usize);
    for cut in 0..u64::from(window.cuts) {
        let position = |n: u64| first + (n * candidates / u64::from(window.cuts)) as usize;
        let all = position(cut)..position(cut + 1).max(position(cut) + 1);
        let mut after_writes = all.clone().filter(|at| is_after_write(*at));
        let count = after_writes.clone().count();
        let draw = |count: usize, stream: &mut Stream| stream.range(0, count as i64 - 1) as usize;
        let drawn = match count > 0 && stream.unit() < AFTER_A_WRITE {
            true => after_writes.nth(draw(count, stream)),
            false => None,
        };
        chosen.push(drawn.unwrap_or_else(|| all.start + draw(all.len(), stream)));
    }
    chosen
}

/// The moments after so many entries, in rising order.
fn points(entries: &[Moment], end_ns: u64, chosen: &[usize]) -> Vec<Point> {
    let (mut unflushed, mut seen) = ([0; 1 << u8::BITS], 0);
    let points = chosen.iter().map(|&at| {
        for entry in &entries[seen..at] {
            let of_disk = &mut unflushed[usize::from(entry.disk)];
            match entry.kind {
                Kind::Write | Kind::Discard => *of_disk += 1,
                Kind::Flush => *of_disk = 0,
            }
        }
        seen = at;
        Point {
            entry: at as u64,
            ns: entries.get(at).map_or(end_ns, |entry| entry.ns).min(end_ns),
            unflushed: unflushed.iter().sum(),
        }
    });
    points.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nine writes and a flush, again and again, one entry a nanosecond from 1000 on.
    fn record(entries: u64) -> Vec<Moment> {
        let moment = |i: u64| Moment {
            kind: match i % 10 {
                9 => Kind::Flush,
                _ => Kind::Write,
            },
            disk: 0,
            ns: 1000 + i,
        };
        (0..entries).map(moment).collect()
    }

    fn requested(seed: u64, cuts: u32, from_ns: u64, to_ns: u64) -> CutStop {
        CutStop {
            seed,
            windows: vec![Window {
                cuts,
                from_ns,
                to_ns,
            }],
        }
    }

    #[test]
    fn cuts_are_spread_over_the_window_and_most_have_something_to_lose() {
        let entries = record(10_000);
        let points = choose(&entries, 20_000, &requested(1, 100, 2999, 10_998));
        assert_eq!(points.len(), 100);
        for (i, point) in points.iter().enumerate() {
            let stratum = 2000 + 80 * i as u64..2000 + 80 * (i as u64 + 1) + 1;
            assert!(stratum.contains(&point.entry), "{i}: {point:?}");
            assert_eq!(point.unflushed, point.entry % 10, "{point:?}");
            let ns = (1000 + point.entry).min(10_998);
            assert_eq!(point.ns, ns);
        }
        let after_write = points.iter().filter(|point| point.unflushed > 0).count();
        assert!((90..100).contains(&after_write), "{after_write}");
    }

    #[test]
    fn the_seed_decides_and_each_window_has_its_cuts() {
        let entries = record(50);
        let choose = |requested: &CutStop| choose(&entries, 9999, requested);
        let one = |seed| choose(&requested(seed, 5, 0, 9999));
        assert_eq!(one(7), one(7));
        assert_ne!(one(7), one(8));
        // Nothing was written in the second window: the device has the state of its beginning.
        let mut two = requested(1, 12, 1039, 1049);
        two.windows.push(Window {
            cuts: 3,
            from_ns: 2000,
            to_ns: 3000,
        });
        let points = choose(&two);
        let entries: Vec<u64> = points[..12].iter().map(|point| point.entry).collect();
        assert!(
            entries.is_sorted() && entries[0] == 40 && entries[11] == 50,
            "{entries:?}"
        );
        assert_eq!(points.len(), 15);
        assert!(
            points[12..]
                .iter()
                .all(|point| (point.entry, point.ns) == (50, 3000))
        );
        assert_eq!(choose(&requested(1, 0, 0, 9999)), []);
    }

    #[test]
    fn a_window_before_the_first_entry_keeps_nothing() {
        let points = choose(&record(5), 9999, &requested(1, 2, 0, 10));
        assert!(
            points
                .iter()
                .all(|point| (point.entry, point.unflushed, point.ns) == (0, 0, 10))
        );
        assert_eq!(choose(&[], 9999, &requested(1, 2, 0, 10)).len(), 2);
    }

    #[test]
    fn a_flush_is_of_one_disk() {
        let moment = |(kind, disk)| Moment { kind, disk, ns: 1 };
        let entries = [
            (Kind::Write, 0),
            (Kind::Write, 1),
            (Kind::Flush, 1),
            (Kind::Discard, 1),
            (Kind::Flush, 0),
        ];
        let entries = entries.map(moment);
        let unflushed = |at| points(&entries, 9, &[at])[0].unflushed;
        assert_eq!([0, 1, 2, 3, 4, 5].map(unflushed), [0, 1, 2, 1, 2, 1]);
    }

    #[test]
    fn too_many_cuts_are_refused() {
        assert_eq!(requested(1, MOST_CUTS, 0, 1).check(), Ok(()));
        let mut refused = requested(1, MOST_CUTS, 0, 1);
        refused.windows.push(Window {
            cuts: 1,
            ..Window::default()
        });
        assert_eq!(refused.check().unwrap_err().message, "too many cuts");
    }

    #[test]
    fn too_many_windows_are_refused() {
        let mut requested = CutStop::default();
        requested.windows.resize(MOST_WINDOWS, Window::default());
        assert_eq!(requested.check(), Ok(()));
        requested.windows.push(Window::default());
        assert_eq!(requested.check().unwrap_err().message, "too many windows");
    }

    #[test]
    fn a_recorder_that_fails_is_an_error() {
        let ended = |failures| CutEnded {
            failures,
            faults: 1,
            ms: 1.0,
        };
        assert_eq!(ended(0).refusal(), None);
        let refusal = ended(3).refusal().expect("an error");
        assert!(refusal.detail.expect("a detail").contains("failed 3 reads"));
    }
}
