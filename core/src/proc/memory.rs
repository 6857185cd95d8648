//! `/proc/meminfo` and `/proc/vmstat`: memory and paging at a moment. Own code, since procfs-core's parsers give up on the
//! whole file when one field is missing or new; here each is there or not.

/// Use of memory, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    pub free: Option<u64>,
    pub available: Option<u64>,
    pub cached: Option<u64>,
    pub dirty: Option<u64>,
    pub writeback: Option<u64>,
}

/// Counters of paging since the machine started, under the kernel's names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paging {
    /// Kilobytes.
    pub pgpgin: Option<u64>,
    /// Kilobytes.
    pub pgpgout: Option<u64>,
    /// Pages.
    pub pswpin: Option<u64>,
    /// Pages.
    pub pswpout: Option<u64>,
    pub pgmajfault: Option<u64>,
}

/// Parses what is needed of `/proc/meminfo`.
pub fn parse_memory(text: &str) -> Memory {
    let mut memory = Memory::default();
    for line in text.lines() {
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        let field = match name {
            "MemFree" => &mut memory.free,
            "MemAvailable" => &mut memory.available,
            "Cached" => &mut memory.cached,
            "Dirty" => &mut memory.dirty,
            "Writeback" => &mut memory.writeback,
            _ => continue,
        };
        // A line that cannot be read takes nothing from another one of that name.
        *field = field.or_else(|| bytes(value));
    }
    memory
}

/// RAM in bytes: MemTotal of `/proc/meminfo`. None if that line is not there or cannot be read.
pub fn parse_total(text: &str) -> Option<u64> {
    let totals = text.lines().filter_map(|l| l.strip_prefix("MemTotal:"));
    totals.filter_map(bytes).find(|&bytes| bytes > 0)
}

fn bytes(value: &str) -> Option<u64> {
    let kilobytes: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// Parses what is needed of `/proc/vmstat`.
pub fn parse_paging(text: &str) -> Paging {
    let mut paging = Paging::default();
    for line in text.lines() {
        let Some((name, value)) = line.split_once(' ') else {
            continue;
        };
        let field = match name {
            "pgpgin" => &mut paging.pgpgin,
            "pgpgout" => &mut paging.pgpgout,
            "pswpin" => &mut paging.pswpin,
            "pswpout" => &mut paging.pswpout,
            "pgmajfault" => &mut paging.pgmajfault,
            _ => continue,
        };
        *field = field.or_else(|| value.trim().parse().ok());
    }
    paging
}

/// Dirty memory, and the limit from which on the kernel makes writers wait, in pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirtyPages {
    /// Pages that are dirty or being written.
    pub pages: u64,
    /// From where on writers wait: the mean of both thresholds, which the kernel computes from vm.dirty_bytes and the like, and
    /// from the memory that can be dirty now.
    pub limit: u64,
}

impl DirtyPages {
    /// The share of the limit.
    pub fn share(self) -> f64 {
        self.pages as f64 / self.limit as f64
    }
}

/// Parses that of `/proc/vmstat`; None when some of it is missing.
pub fn parse_dirty(text: &str) -> Option<DirtyPages> {
    let value = |name: &str| {
        text.lines().find_map(|line| {
            let value = line.strip_prefix(name)?.strip_prefix(' ')?;
            value.trim().parse::<u64>().ok()
        })
    };
    let pages = value("nr_dirty")?.checked_add(value("nr_writeback")?)?;
    let both = value("nr_dirty_threshold")?.checked_add(value("nr_dirty_background_threshold")?)?;
    let limit = both / 2;
    (limit > 0).then_some(DirtyPages { pages, limit })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn memory_of_a_recorded_machine() {
        let memory = parse_memory(include_str!("meminfo.txt"));
        assert_eq!(memory.free.map(|b| b % 1024), Some(0));
        let all = [
            memory.free,
            memory.available,
            memory.cached,
            memory.dirty,
            memory.writeback,
        ];
        assert!(all.iter().all(Option::is_some), "{memory:?}");
    }

    #[test]
    fn names_are_whole() {
        let memory = parse_memory(
            "MemTotal: 9 kB\nMemFree:  8 kB\nSwapCached: 7 kB\nCached: 6 kB\nDirty: 0 kB\nWritebackTmp: 5 kB\n",
        );
        let kb = |n: u64| Some(n * 1024);
        assert_eq!(
            memory,
            Memory {
                free: kb(8),
                available: None,
                cached: kb(6),
                dirty: kb(0),
                writeback: None
            }
        );
    }

    #[test]
    fn paging_of_a_recorded_machine() {
        let text = "nr_free_pages 12\npgpgin 170272561\npgpgout 1329413956\npswpin 0\npswpout 3\n\
                    pgmajfault 80110\npgmajfault_x 1\npgpginx 5\n";
        assert_eq!(
            parse_paging(text),
            Paging {
                pgpgin: Some(170272561),
                pgpgout: Some(1329413956),
                pswpin: Some(0),
                pswpout: Some(3),
                pgmajfault: Some(80110),
            }
        );
        // A kernel without swap has no counters of it.
        assert_eq!(
            parse_paging("pgpgin 5\n"),
            Paging {
                pgpgin: Some(5),
                ..Paging::default()
            }
        );
    }

    #[test]
    fn dirty_pages_and_where_writers_wait() {
        let text = "nr_free_pages 7\nnr_dirty 12960\nnr_writeback 40\nnr_writeback_temp 9\nnr_dirtied 5\n\
                    nr_dirty_threshold 1067970\nnr_dirty_background_threshold 533330\npgpgin 3\n";
        let dirty = parse_dirty(text).unwrap();
        assert_eq!((dirty.pages, dirty.limit), (13_000, 800_650));
        assert!((dirty.share() - 0.01624).abs() < 0.0001);
        for name in ["nr_dirty ", "nr_writeback ", "nr_dirty_threshold "] {
            assert_eq!(parse_dirty(&text.replace(name, "x ")), None, "{name}");
        }
        let nothing = text.replace("1067970", "0").replace("533330", "0");
        assert_eq!(parse_dirty(&nothing), None);
    }

    #[test]
    fn what_is_neither() {
        for text in [
            "",
            "MemFree",
            "MemFree:",
            "MemFree: kB",
            "MemFree: -5 kB",
            "MemFree: 5 MB",
            "MemFree: 18446744073709551615 kB",
        ] {
            assert_eq!(parse_memory(text), Memory::default(), "{text:?}");
        }
        for text in ["", "pgpgin", "pgpgin ", "pgpgin x", "pgpgin 1 2"] {
            assert_eq!(parse_paging(text), Paging::default(), "{text:?}");
        }
    }

    /// gVisor has few fields, WSL 1 has no `MemAvailable`, a kernel of RHEL 4 begins with a table, and LXCFS may write what is none.
    #[test]
    fn an_odd_line_costs_that_line() {
        let kb = |n: u64| Some(n * 1024);
        let gvisor = "MemTotal:        2097152 kB\nMemFree:         2011112 kB\nMemAvailable:    2070020 kB\n\
                      Buffers:               0 kB\nCached:            58908 kB\nSwapCache:             0 kB\n";
        assert_eq!(parse_total(gvisor), kb(2_097_152));
        let memory = parse_memory(gvisor);
        assert_eq!(
            (memory.available, memory.dirty),
            (kb(2_070_020), None),
            "a missing field is not zero"
        );
        let wsl = "MemTotal:       16690656 kB\nMemFree:         8000000 kB\nHighTotal:             0 kB\n";
        assert_eq!(parse_total(wsl), kb(16_690_656));
        let rhel = "        total:    used:    free:  shared: buffers:  cached:\nMem:  1054973952 1040187392 14786560        0\n\
                    MemTotal:      1030248 kB\nMemFree:         14440 kB\nDirty:               5 kB\n";
        assert_eq!(
            (parse_total(rhel), parse_memory(rhel).dirty),
            (kb(1_030_248), kb(5))
        );
        let odd = "\u{fffd}\n:\nMemTotal: lots kB\nMemTotal: 8 kB\nMemFree: -1 kB\nDirty: 1 kB\nDirty: ? kB\nWriteback 7 kB\n";
        assert_eq!(parse_total(odd), kb(8));
        let memory = parse_memory(odd);
        assert_eq!(
            (memory.free, memory.dirty, memory.writeback),
            (None, kb(1), None)
        );
        for text in ["", "MemTotal: 0 kB\n", "MemTotal: 5\n", "MemTotal\n"] {
            assert_eq!(parse_total(text), None, "{text:?}");
        }
    }

    #[test]
    fn an_odd_line_of_vmstat_costs_that_line() {
        let text = "\u{fffd} 1\nnr_dirty ?\nnr_dirty 4\nnr_writeback 1\nnr_dirty_threshold 8 pages\nnr_dirty_threshold 80\n\
                    nr_dirty_background_threshold 40\npgpgin -1\npgpgout 7\npgmajfault 2\npgmajfault\n";
        let dirty = parse_dirty(text).unwrap();
        assert_eq!((dirty.pages, dirty.limit), (5, 60));
        let paging = parse_paging(text);
        assert_eq!(
            (paging.pgpgin, paging.pgpgout, paging.pgmajfault),
            (None, Some(7), Some(2))
        );
    }

    proptest! {
        #[test]
        fn never_panics(text in "(MemFree|Dirty|pgpgin|x)?[0-9: kB\n-]*") {
            parse_memory(&text);
            parse_paging(&text);
            parse_dirty(&text);
        }
    }
}
