//! `/proc/diskstats`: what a block device has done, as iostat shows it. A line is parsed by procfs-core; its parser of the
//! whole file gives up at the first line that it does not know.

use procfs_core::DiskStat;

/// Bytes of what the kernel calls a sector here, whatever the device's own are.
const SECTOR: u64 = 512;

/// Counters of one device since it came up. Times are milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskCounters {
    reads: u64,
    read_bytes: u64,
    read_ms: u64,
    writes: u64,
    write_bytes: u64,
    write_ms: u64,
    busy_ms: u64,
    weighted_ms: u64,
    /// Requests to flush and their time, where the kernel counts them (5.5 and later).
    flushes: Option<(u64, u64)>,
}

/// Figures of an interval, as iostat has them; `r/s`, `w/s`, `f/s`, `rkB/s` and `wkB/s` as numbers. A mean of no requests is None.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DiskFigures {
    pub reads: u64,
    pub writes: u64,
    pub flushes: Option<u64>,
    pub read_bytes: u64,
    pub write_bytes: u64,
    pub r_await_ms: Option<f64>,
    pub w_await_ms: Option<f64>,
    pub f_await_ms: Option<f64>,
    pub aqu_sz: Option<f64>,
    pub util_percent: Option<f64>,
}

/// The counters of a device that a mounted filesystem is on. None when it has no line, one that tells only a part (partitions of kernels
/// before 2.6.25), or one of zeros alone: a mount reads, so the kernel does not count there (NVMe multipath, some disks in memory).
pub fn parse_diskstats(text: &str, device: (u32, u32)) -> Option<DiskCounters> {
    let lines = lines(text).filter(|(number, _, _)| *number == device);
    let mut read = lines.filter_map(|(_, _, line)| parse_line(line));
    read.next().filter(DiskCounters::are_kept)
}

/// The counters of a disk that NVMe reaches over several paths, added up; None for any other device. The kernel may count with the paths
/// alone.
pub fn parse_paths(text: &str, device: (u32, u32)) -> Option<DiskCounters> {
    let (_, disk, _) = lines(text).find(|(number, _, _)| *number == device)?;
    let paths = lines(text).filter(|(_, name, _)| is_path_of(name, disk));
    let sum = paths
        .map(|(_, _, line)| parse_line(line))
        .reduce(|a, b| Some(a?.plus(&b?)));
    sum.flatten().filter(DiskCounters::are_kept)
}

/// Number, name and text of each line that has them.
fn lines(text: &str) -> impl Iterator<Item = ((u32, u32), &str, &str)> {
    text.lines().filter_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let number = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some((number, words.next()?, line))
    })
}

/// True for the path nvme2c34n1 of the disk nvme2n1.
fn is_path_of(path: &str, disk: &str) -> bool {
    let parts = || {
        let (subsystem, namespace) = disk.strip_prefix("nvme")?.split_once('n')?;
        let rest = path.strip_prefix("nvme")?.strip_prefix(subsystem)?;
        let (controller, of_path) = rest.strip_prefix('c')?.split_once('n')?;
        Some((controller, of_path == namespace))
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    parts().is_some_and(|(controller, is_same)| is_same && is_number(controller))
}

fn parse_line(line: &str) -> Option<DiskCounters> {
    let stat = DiskStat::from_line(line).ok()?;
    Some(DiskCounters {
        reads: stat.reads,
        read_bytes: stat.sectors_read.checked_mul(SECTOR)?,
        read_ms: stat.time_reading,
        writes: stat.writes,
        write_bytes: stat.sectors_written.checked_mul(SECTOR)?,
        write_ms: stat.time_writing,
        busy_ms: stat.time_in_progress,
        weighted_ms: stat.weighted_time_in_progress,
        flushes: stat.flushes.zip(stat.time_flushing),
    })
}

/// Bytes that a device has discarded since it came up; None where the kernel does not count that (before 4.18).
pub fn discarded_bytes(text: &str, (major, minor): (u32, u32)) -> Option<u64> {
    let mut all = text
        .lines()
        .filter_map(|line| DiskStat::from_line(line).ok());
    let is_it = |stat: &DiskStat| (stat.major as u32, stat.minor as u32) == (major, minor);
    // A device without any counts has unknown discards, not zero.
    let is_kept = |stat: &DiskStat| stat.reads > 0 || stat.writes > 0;
    all.find(is_it)
        .filter(is_kept)?
        .sectors_discarded?
        .checked_mul(SECTOR)
}

impl DiskCounters {
    /// True if any request was counted.
    fn are_kept(&self) -> bool {
        self.reads > 0 || self.writes > 0
    }

    /// Both together. Two devices that are busy at the same time are not busy for longer.
    fn plus(&self, other: &Self) -> Self {
        let flushes = self.flushes.zip(other.flushes);
        Self {
            reads: self.reads.saturating_add(other.reads),
            read_bytes: self.read_bytes.saturating_add(other.read_bytes),
            read_ms: self.read_ms.saturating_add(other.read_ms),
            writes: self.writes.saturating_add(other.writes),
            write_bytes: self.write_bytes.saturating_add(other.write_bytes),
            write_ms: self.write_ms.saturating_add(other.write_ms),
            busy_ms: self.busy_ms.max(other.busy_ms),
            weighted_ms: self.weighted_ms.saturating_add(other.weighted_ms),
            flushes: flushes.map(|(a, b)| (a.0.saturating_add(b.0), a.1.saturating_add(b.1))),
        }
    }

    /// True if any flush was counted. Kernels before 5.5 count none.
    pub fn has_flushed(&self) -> bool {
        self.flushes.is_some_and(|(flushes, _)| flushes > 0)
    }

    /// Bytes that it has read since it was attached.
    pub fn read_bytes(&self) -> u64 {
        self.read_bytes
    }

    /// Bytes that it has read and written since then.
    pub fn bytes(&self) -> u64 {
        self.read_bytes.saturating_add(self.write_bytes)
    }

    /// For how long it had something to do.
    pub fn busy_ms(&self) -> u64 {
        self.busy_ms
    }

    /// These counts with the flushes of another device: the kernel counts those of a partition with its disk.
    pub fn with_flushes_of(self, other: Option<Self>) -> Self {
        Self {
            flushes: other.and_then(|other| other.flushes),
            ..self
        }
    }

    /// The figures of the interval since `before`, this many milliseconds ago. None when the counters went back: the device was
    /// replaced by another one meanwhile.
    pub fn since(&self, before: &Self, interval_ms: f64) -> Option<DiskFigures> {
        let moved = |field: fn(&Self) -> u64| field(self).checked_sub(field(before));
        // 32-bit counters of milliseconds turn over after 49 days of work.
        let ms = |now: u64, before: u64| u64::from((now as u32).wrapping_sub(before as u32));
        let mean = |ms: u64, n: u64| (n > 0).then(|| ms as f64 / n as f64);
        let share = |ms: u64| (interval_ms > 0.0).then(|| ms as f64 / interval_ms);
        let (reads, writes) = (moved(|d| d.reads)?, moved(|d| d.writes)?);
        let flushed = self.flushes.zip(before.flushes);
        let flushed = flushed
            .and_then(|(now, before)| Some((now.0.checked_sub(before.0)?, ms(now.1, before.1))));
        Some(DiskFigures {
            reads,
            writes,
            flushes: flushed.map(|(flushes, _)| flushes),
            read_bytes: moved(|d| d.read_bytes)?,
            write_bytes: moved(|d| d.write_bytes)?,
            r_await_ms: mean(ms(self.read_ms, before.read_ms), reads),
            w_await_ms: mean(ms(self.write_ms, before.write_ms), writes),
            f_await_ms: flushed.and_then(|(flushes, ms)| mean(ms, flushes)),
            aqu_sz: share(ms(self.weighted_ms, before.weighted_ms)),
            util_percent: share(ms(self.busy_ms, before.busy_ms)).map(|share| share * 100.0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Linux 6.18.
    const RECORDED: &str = "   \
7       0 loop0 759522 2454 50545382 112520 2273574 4593371 496394432 2866638 0 518464 3193484 7293 0 4481489886 15721 664020 198604
 254       0 vda 4346094 495386 340545123 5384642 52417170 4975607 2658827912 14588913 0 2814720 21409090 5672535 81 1963832192 568124 22946999 867409
 253       0 zram0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
";
    /// Linux 4.15: neither discards nor flushes. The line of the partition is as long as that of the disk.
    const OF_4_15: &str = "   \
8       0 sda 1000 10 80000 500 2000 20 160000 4000 0 3000 4500
   8       1 sda1 900 10 72000 450 1900 20 152000 3900 0 2900 4350
";

    fn counters(text: &str, device: (u32, u32)) -> DiskCounters {
        parse_diskstats(text, device).unwrap()
    }

    #[test]
    fn discards_are_known_where_the_kernel_counts_them() {
        assert_eq!(discarded_bytes(RECORDED, (7, 0)), Some(4_481_489_886 * 512));
        assert_eq!(discarded_bytes(RECORDED, (253, 0)), None);
        assert_eq!(discarded_bytes(OF_4_15, (8, 0)), None);
        let odd = format!("8 0\nnonsense\n{RECORDED}");
        assert_eq!(discarded_bytes(&odd, (7, 0)), Some(4_481_489_886 * 512));
    }

    #[test]
    fn a_second_as_iostat_shows_it() {
        let before = counters(RECORDED, (254, 0));
        let now = counters(
            " 254 0 vda 4346194 495386 340547123 5384842 52417420 4975607 2658831912 14589413 3 2815220 21410090 5672535 81 1963832192 568124 22947039 867489",
            (254, 0),
        );
        let figures = now.since(&before, 1000.0).unwrap();
        assert_eq!((figures.reads, figures.writes), (100, 250));
        assert_eq!(
            (figures.read_bytes, figures.write_bytes),
            (2000 * 512, 4000 * 512)
        );
        assert_eq!(
            (figures.r_await_ms, figures.w_await_ms),
            (Some(2.0), Some(2.0))
        );
        assert_eq!((figures.flushes, figures.f_await_ms), (Some(40), Some(2.0)));
        assert_eq!(
            (figures.aqu_sz, figures.util_percent),
            (Some(1.0), Some(50.0))
        );
    }

    #[test]
    fn no_requests_have_no_mean() {
        let disk = counters(RECORDED, (7, 0));
        let figures = disk.since(&disk, 1000.0).unwrap();
        assert_eq!(
            (figures.reads, figures.writes, figures.flushes),
            (0, 0, Some(0))
        );
        assert_eq!(
            (figures.r_await_ms, figures.w_await_ms, figures.f_await_ms),
            (None, None, None)
        );
        assert_eq!(
            (figures.aqu_sz, figures.util_percent),
            (Some(0.0), Some(0.0))
        );
        assert_eq!(disk.since(&disk, 0.0).unwrap().util_percent, None);
    }

    #[test]
    fn an_old_kernel_counts_no_flushes() {
        let disk = counters(OF_4_15, (8, 1));
        assert_eq!(
            (disk.reads, disk.flushes, disk.has_flushed()),
            (900, None, false)
        );
        assert_eq!(disk.since(&disk, 1000.0).unwrap().flushes, None);
    }

    #[test]
    fn flushes_of_a_partition_are_those_of_its_disk() {
        let disk = counters(RECORDED, (254, 0));
        let partition = counters("254 1 vda1 9 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0", (254, 1));
        assert!(!partition.has_flushed() && disk.has_flushed());
        let both = partition.with_flushes_of(Some(disk));
        assert_eq!((both.flushes, both.writes), (disk.flushes, 0));
        assert_eq!(partition.with_flushes_of(None).flushes, None);
    }

    #[test]
    fn times_turn_over_and_a_new_device_is_seen() {
        let line = |ms: u64, writes: u64| {
            counters(
                &format!("8 0 sda 1 0 0 0 {writes} 0 0 {ms} 0 {ms} {ms} 0 0 0 0 0 0\n"),
                (8, 0),
            )
        };
        let figures = line(4, 10)
            .since(&line(u64::from(u32::MAX) - 5, 0), 100.0)
            .unwrap();
        assert_eq!(
            (figures.w_await_ms, figures.util_percent),
            (Some(1.0), Some(10.0))
        );
        assert_eq!(line(10, 3).since(&line(5, 7), 100.0), None);
    }

    #[test]
    fn what_is_no_line_of_the_device() {
        for text in [
            "",
            "8 0\n",
            "8 0 sda\n",
            "8 0 sda 1 2 3 4\n",
            "8 0 sda 1 2 3 4 5 6 7 8 9 10 x\n",
            "8 1 sda1 1 2 3 4 5 6 7 8 9 10 11\n",
            "\u{0}\n",
        ] {
            assert_eq!(parse_diskstats(text, (8, 0)), None, "{text:?}");
        }
    }

    /// Linux 5.14 with native multipath.
    const MULTIPATH: &str = " 259 11 nvme2n1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
 259 12 nvme2n1p1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
 259 10 nvme2c34n1 10 0 80 5 20 0 160 8 0 30 40 0 0 0 0 7 3
 259 13 nvme2c35n1 1 0 8 1 2 0 16 2 0 12 4 0 0 0 0 1 1
 259 14 nvme2c34n12 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9
 259 15 nvme22c1n1 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9
";

    #[test]
    fn the_paths_of_a_disk_count_for_it() {
        for head in [(259, 11), (259, 12)] {
            assert_eq!(parse_diskstats(MULTIPATH, head), None);
        }
        let sum = parse_paths(MULTIPATH, (259, 11)).unwrap();
        assert_eq!((sum.reads, sum.writes, sum.flushes), (11, 22, Some((8, 4))));
        assert_eq!((sum.read_bytes, sum.write_bytes), (88 * 512, 176 * 512));
        assert_eq!((sum.busy_ms, sum.weighted_ms), (30, 44));
        // A partition has a part of what went over the paths, and nothing tells which.
        assert_eq!(parse_paths(MULTIPATH, (259, 12)), None);
        for no_head in [(259, 10), (254, 0), (7, 0)] {
            assert_eq!(
                parse_paths(&format!("{MULTIPATH}{RECORDED}"), no_head),
                None
            );
        }
    }

    #[test]
    fn what_nobody_counts_is_not_zero() {
        assert_eq!(parse_diskstats(RECORDED, (253, 0)), None);
    }

    /// The short lines of partitions before Linux 2.6.25, a name with a blank, columns that a later kernel adds, and a line that was cut.
    #[test]
    fn an_odd_line_costs_that_line() {
        let text = format!(
            "\u{fffd}\n   8    2 sda2 10 80 20 160\n 8 x sdx 1\n8 16 a disk 1 2 3 4 5 6 7 8 9 10 11\n{RECORDED}\
             8 0 sda 1 2 3 4 5 6 7 8 9 10 x\n8 0 sda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19\n8 48 sdd 1 2"
        );
        assert_eq!(
            parse_diskstats(&text, (254, 0)),
            parse_diskstats(RECORDED, (254, 0))
        );
        assert_eq!(counters(&text, (8, 0)).flushes, Some((16, 17)));
        for odd in [(8, 2), (8, 16), (8, 48), (8, 64)] {
            assert_eq!(parse_diskstats(&text, odd), None, "{odd:?}");
        }
        // LXCFS leaves out what it does not know: neither discards nor flushes are zero.
        let lxcfs = "8 0 sda 1 0 8 0 2 0 16 0 0 0 0\n";
        assert_eq!(counters(lxcfs, (8, 0)).flushes, None);
    }

    /// The numbers of a line: sectors stay within what fits as bytes.
    fn numbers() -> impl Strategy<Value = Vec<u64>> {
        prop::collection::vec(0..=u64::MAX / SECTOR, 17)
    }

    proptest! {
        #[test]
        fn never_panics(text in "[0-9 a-z\n-]*") {
            parse_diskstats(&text, (8, 0));
            parse_diskstats(&format!("8 0 {text}"), (8, 0));
        }

        #[test]
        fn no_numbers_are_too_much(numbers in numbers(), others in numbers(), sectors: u64) {
            let line = |numbers: &[u64]| {
                let words: Vec<String> = numbers.iter().map(u64::to_string).collect();
                parse_diskstats(&format!("8 0 sda {}", words.join(" ")), (8, 0))
            };
            if let [Some(before), Some(now)] = [&numbers, &others].map(|numbers| line(numbers)) {
                now.since(&before, 1000.0);
            }
            // Sectors whose bytes are no number are no line.
            let too_many = [&numbers[..2], &[sectors | 1 << 63], &numbers[3..]].concat();
            prop_assert_eq!(line(&too_many), None);
        }
    }
}
