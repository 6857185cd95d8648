//! Limits of I/O: bytes and requests a second that a cgroup may have on a device, and in how many seconds it had them.

use serde::{Deserialize, Serialize};

use super::{Cgroups, IoFelt, IoKind, Version};
use crate::{sys::Tree, units::format_bytes};

/// A second that had this share of a limit has reached it: the kernel deals it out in slices of 0.1 s.
const REACHED: f64 = 0.9;
/// A shorter interval is no second.
const SHORTEST_NS: u64 = 500_000_000;

/// All kinds, with the name in `io.max`, the name in `io.stat`, and the file of version 1.
const KINDS: [(IoKind, &str, &str, &str); 4] = [
    (
        IoKind::ReadBytes,
        "rbps",
        "rbytes",
        "blkio.throttle.read_bps_device",
    ),
    (
        IoKind::WriteBytes,
        "wbps",
        "wbytes",
        "blkio.throttle.write_bps_device",
    ),
    (
        IoKind::Reads,
        "riops",
        "rios",
        "blkio.throttle.read_iops_device",
    ),
    (
        IoKind::Writes,
        "wiops",
        "wios",
        "blkio.throttle.write_iops_device",
    ),
];

/// Limits on a device, a second. None: not limited.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct IoLimit {
    /// The number of the device, major:minor.
    pub device: String,
    /// The kernel's name of the device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writes: Option<u64>,
}

impl IoLimit {
    /// The limits on the device in words.
    pub fn in_words(&self) -> String {
        let bytes = |what: &str, most: Option<u64>| {
            most.map(|most| format!("{what} {}/s", format_bytes(most)))
        };
        let parts = [
            bytes("reading", self.read_bytes),
            bytes("writing", self.write_bytes),
            self.reads.map(|most| format!("{most} reads/s")),
            self.writes.map(|most| format!("{most} writes/s")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let name = self.name.as_deref().unwrap_or(&self.device);
        match parts.is_empty() {
            true => format!("I/O on {name}"),
            false => format!("I/O on {name} ({})", parts.join(", ")),
        }
    }
}

/// A limit of one level on a device, and what that level has done to the device so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IoCounters {
    level: usize,
    device: String,
    name: Option<String>,
    kind: IoKind,
    /// Bytes or requests a second.
    limit: u64,
    /// Bytes or requests; None where the kernel does not tell.
    done: Option<u64>,
}

impl Cgroups {
    /// All limits of I/O, and what was done under each so far.
    pub fn io_counters(&self, tree: &dyn Tree) -> Vec<IoCounters> {
        let Some(levels) = &self.io else {
            return Vec::new();
        };
        let mut all = Vec::new();
        for (level, directory) in levels.directories.iter().enumerate() {
            let read = |file: &str| tree.read(&format!("{directory}/{file}"));
            let limits = match levels.version {
                Version::One => limits_of_one(read),
                Version::Two => limits_of_two(&read("io.max").unwrap_or_default()),
            };
            if limits.is_empty() {
                continue;
            }
            let done = match levels.version {
                Version::One => done_of_one(read),
                Version::Two => read("io.stat").map(|text| done_of_two(&text)),
            };
            all.extend(limits.into_iter().map(|(device, kind, limit)| IoCounters {
                level,
                name: name_of(tree, &device),
                kind,
                limit,
                done: done.as_deref().map(|done| done_on(done, &device, kind)),
                device,
            }));
        }
        all
    }
}

/// Device, kind, and a number.
type Entry = (String, IoKind, u64);

/// Operations on a device. A device without a line has not been used yet.
fn done_on(done: &[Entry], device: &str, kind: IoKind) -> u64 {
    let mut entries = done.iter();
    let entry = entries.find(|(known, of, _)| known == device && *of == kind);
    entry.map_or(0, |(_, _, done)| *done)
}

fn name_of(tree: &dyn Tree, device: &str) -> Option<String> {
    let text = tree.read(&format!("/sys/dev/block/{device}/uevent"))?;
    let mut lines = text.lines();
    lines
        .find_map(|line| line.strip_prefix("DEVNAME="))
        .map(str::to_owned)
}

/// Lines such as `8:16 1048576`, in a file for each kind.
fn limits_of_one(read: impl Fn(&str) -> Option<String>) -> Vec<Entry> {
    let mut all = Vec::new();
    for (kind, _, _, file) in KINDS {
        let text = read(file).unwrap_or_default();
        all.extend(text.lines().filter_map(|line| {
            let (device, limit) = line.trim().split_once(' ')?;
            Some((device.to_owned(), kind, limit.trim().parse().ok()?))
        }));
    }
    all
}

/// Lines such as `8:16 Read 4096`.
fn done_of_one(read: impl Fn(&str) -> Option<String>) -> Option<Vec<Entry>> {
    let mut all = Vec::new();
    for (file, kinds) in [
        ("io_service_bytes", [IoKind::ReadBytes, IoKind::WriteBytes]),
        ("io_serviced", [IoKind::Reads, IoKind::Writes]),
    ] {
        // With the levels below, which the limit holds for, too.
        let text = read(&format!("blkio.throttle.{file}_recursive"));
        let text = text.or_else(|| read(&format!("blkio.throttle.{file}")))?;
        all.extend(text.lines().filter_map(|line| {
            let mut words = line.split_ascii_whitespace();
            let device = words.next()?.to_owned();
            let kind = match words.next()? {
                "Read" => kinds[0],
                "Write" => kinds[1],
                _ => return None,
            };
            Some((device, kind, words.next()?.parse().ok()?))
        }));
    }
    Some(all)
}

/// Lines such as `8:16 rbps=2097152 wbps=max riops=max wiops=120`.
fn limits_of_two(text: &str) -> Vec<Entry> {
    pairs(text, |(_, limit, _, _)| limit)
}

/// Lines such as `8:16 rbytes=4096 wbytes=0 rios=1 wios=0 dbytes=0 dios=0`.
fn done_of_two(text: &str) -> Vec<Entry> {
    pairs(text, |(_, _, done, _)| done)
}

fn pairs(
    text: &str,
    name: fn(&(IoKind, &'static str, &'static str, &'static str)) -> &'static str,
) -> Vec<Entry> {
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    let each = lines.flat_map(|(device, pairs)| {
        pairs.split_ascii_whitespace().filter_map(move |pair| {
            let (key, value) = pair.split_once('=')?;
            let known = KINDS.iter().find(|kind| name(kind) == key)?;
            Some((device.to_owned(), known.0, value.parse().ok()?))
        })
    });
    each.collect()
}

/// The smallest limits of each device.
pub(super) fn smallest(all: Vec<IoCounters>) -> Vec<IoLimit> {
    let mut limits: Vec<IoLimit> = Vec::new();
    for one in all {
        let place = limits.iter().position(|limit| limit.device == one.device);
        let place = place.unwrap_or_else(|| {
            limits.push(IoLimit {
                device: one.device.clone(),
                name: one.name.clone(),
                ..IoLimit::default()
            });
            limits.len() - 1
        });
        let limit = &mut limits[place];
        let field = match one.kind {
            IoKind::ReadBytes => &mut limit.read_bytes,
            IoKind::WriteBytes => &mut limit.write_bytes,
            IoKind::Reads => &mut limit.reads,
            IoKind::Writes => &mut limit.writes,
        };
        *field = Some(field.map_or(one.limit, |known| known.min(one.limit)));
    }
    limits
}

/// Counts the seconds in which a limit of I/O was reached.
#[derive(Clone, Debug, Default)]
pub struct IoWatch {
    last: Option<(u64, Vec<IoCounters>)>,
    felt: Vec<(usize, IoFelt)>,
}

impl IoWatch {
    /// Takes the counters of a moment, monotonic clock in nanoseconds. Once a second.
    pub fn see(&mut self, at_ns: u64, now: Vec<IoCounters>) {
        let Some((before_ns, before)) = self.last.take() else {
            self.last = Some((at_ns, now));
            return;
        };
        let ns = at_ns.saturating_sub(before_ns);
        if ns < SHORTEST_NS {
            self.last = Some((before_ns, before));
            return;
        }
        for one in &now {
            let is_it = |b: &&IoCounters| {
                (b.level, &b.device, b.kind) == (one.level, &one.device, one.kind)
            };
            let earlier = before.iter().find(is_it).and_then(|b| b.done);
            let done = one.done.zip(earlier);
            let Some(done) = done.and_then(|(now, earlier)| now.checked_sub(earlier)) else {
                continue;
            };
            let allowed = one.limit as f64 * ns as f64 / 1e9;
            self.count(one, done as f64 >= allowed * REACHED);
        }
        self.last = Some((at_ns, now));
    }

    fn count(&mut self, one: &IoCounters, is_reached: bool) {
        let known = self.felt.iter().position(|(level, felt)| {
            (*level, &felt.device, felt.kind) == (one.level, &one.device, one.kind)
        });
        let known = known.unwrap_or_else(|| {
            let felt = IoFelt {
                device: one.device.clone(),
                name: one.name.clone(),
                kind: one.kind,
                limit: one.limit,
                seconds: 0,
                reached: 0,
            };
            self.felt.push((one.level, felt));
            self.felt.len() - 1
        });
        let felt = &mut self.felt[known].1;
        felt.seconds += 1;
        felt.reached += u32::from(is_reached);
    }

    /// The limits that were reached in some second; None where no second was seen.
    pub fn felt(&self) -> Option<Vec<IoFelt>> {
        let (_, last) = self.last.as_ref()?;
        if self.felt.is_empty() && !last.is_empty() {
            return None;
        }
        let reached = self.felt.iter().filter(|(_, felt)| felt.reached > 0);
        Some(reached.map(|(_, felt)| felt.clone()).collect())
    }
}
