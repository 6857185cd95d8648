//! The results of a scan and of a reading without the executor, and the rows that are stored of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{BlocksFrom, Scan, UnexpectedReads};
use crate::{rows, spec::Cache, units::PAGE};

/// Bytes of the table in the caches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Bytes of its files.
    #[serde(rename = "file_bytes")]
    pub bytes: u64,
    /// Bytes of them in the page cache, as the kernel says.
    pub cached_bytes: u64,
}

/// The report of a worker on one scan.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// When it began.
    pub started_at: String,
    /// From the text of the statement to its end.
    pub ms: f64,
    /// Part of it: parsing and planning.
    pub planning_ms: f64,
    /// Rows that it counted.
    pub rows: u64,
    /// Bytes of the table.
    pub bytes: u64,
    /// Workers of the plan.
    pub planned: u32,
    /// Workers that there were.
    pub launched: u32,
    /// Blocks found in shared buffers.
    pub hit: u64,
    /// Blocks read.
    pub read: u64,
    /// Time of the reads, of all processes; None where it was not measured.
    pub read_ms: Option<f64>,
    /// Blocks of each worker.
    pub worker_blocks: Vec<u64>,
    /// Blocks of the leader.
    pub leader_blocks: u64,
    /// The plan, JSON.
    pub plan: String,
    /// Contents of the caches before it.
    #[serde(flatten)]
    pub state: State,
    /// Bytes that the kernel read from storage for the processes of the scan; None if that is not known.
    pub process_read_bytes: Option<u64>,
    /// Bytes that the server's I/O workers read for others meanwhile; None if there were none.
    pub others_read_bytes: Option<u64>,
    /// Bytes that the device read meanwhile, for any process; None if that is not known.
    pub device_read_bytes: Option<u64>,
    /// Extents of the table's files; None where the filesystem has none.
    pub extents: Option<u64>,
}

impl Report {
    /// The origin of its blocks.
    pub fn blocks_from(&self) -> BlocksFrom {
        BlocksFrom {
            bytes: self.bytes,
            outside: self.read * PAGE,
            storage: self.process_read_bytes,
            device: self.device_read_bytes,
        }
    }

    /// Why it does not count as a scan with this many workers; None when all were there.
    fn workers_missing(&self, degree: u32) -> Option<String> {
        if self.planned != degree {
            Some(format!("{} workers were planned", self.planned))
        } else if self.launched != degree {
            Some(format!("{} workers could be started", self.launched))
        } else {
            None
        }
    }

    /// Blocks of the busiest process divided by the mean of all who share the table: the leader is one of them if it takes part.
    fn skew(&self, leads: bool) -> Option<f64> {
        let leader = leads.then_some(self.leader_blocks);
        let shares: Vec<u64> = self.worker_blocks.iter().copied().chain(leader).collect();
        let mean = shares.iter().sum::<u64>() as f64 / shares.len().max(1) as f64;
        let most = shares.into_iter().max().unwrap_or(0);
        (mean > 0.0).then(|| most as f64 / mean)
    }
}

/// How often processes were seen to wait for what; to work, under the name `none`.
pub type Waiting = BTreeMap<String, u64>;

/// A scan, and whether it counts.
#[derive(Clone, Debug)]
pub struct JudgedScan {
    scan: Scan,
    report: Report,
    waits: Waiting,
    /// Why it does not count.
    why_not: Option<String>,
    /// Whether it is made again: only the cache has spoiled it.
    pub is_spoiled: bool,
}

impl JudgedScan {
    /// Judges a scan: all its workers have to have been there, and the table where the cache should have it all the time. `tells` is whether
    /// what was read tells where it came from.
    pub fn judge(scan: Scan, report: Report, waits: Waiting, cache: Cache, tells: bool) -> Self {
        let missing = report.workers_missing(scan.degree);
        let wrong: Option<UnexpectedReads> = report.blocks_from().wrong(cache).filter(|_| tells);
        let spoiled = wrong.and_then(|wrong| wrong.why_not(cache));
        Self {
            scan,
            report,
            waits,
            is_spoiled: missing.is_none() && spoiled.is_some(),
            why_not: missing.or(spoiled),
        }
    }

    /// The row that is stored: its number, whether the leader takes part, and whether blocks that were not read from storage are known to
    /// have come from the page cache.
    pub fn to_row(&self, scan: usize, leads: bool, knows_cache: bool) -> Row {
        let (r, blocks) = (&self.report, self.report.blocks_from());
        let seconds = r.ms / 1000.0;
        let from_cache = blocks
            .read()
            .map(|read| blocks.outside.saturating_sub(read));
        Row {
            scan,
            degree: self.scan.degree,
            repeat: self.scan.repeat,
            started_at: r.started_at.clone(),
            workers_planned: r.planned,
            workers_launched: r.launched,
            used: self.why_not.is_none(),
            why_not: self.why_not.clone(),
            ms: r.ms,
            planning_ms: r.planning_ms,
            rows: r.rows,
            bytes: r.bytes,
            gb_per_second: r.bytes as f64 / 1e9 / seconds,
            rows_per_second: r.rows as f64 / seconds,
            buffers_hit: r.hit,
            buffers_read: r.read,
            io_ms: r.read_ms,
            worker_buffers: r.worker_blocks.clone(),
            leader_buffers: r.leader_blocks,
            skew: r.skew(leads),
            cached_bytes: r.state.cached_bytes,
            process_read_bytes: r.process_read_bytes,
            others_read_bytes: r.others_read_bytes,
            device_read_bytes: r.device_read_bytes,
            page_cache_bytes: from_cache.filter(|_| knows_cache),
            extents: r.extents,
            wait_events: self.waits.clone(),
            plan: serde_json::from_str(&r.plan).ok(),
        }
    }
}

/// A row of `fsbench.scan`; its columns say what they are.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    pub scan: usize,
    pub degree: u32,
    pub repeat: u32,
    pub started_at: String,
    pub workers_planned: u32,
    pub workers_launched: u32,
    pub used: bool,
    pub why_not: Option<String>,
    pub ms: f64,
    pub planning_ms: f64,
    pub rows: u64,
    pub bytes: u64,
    pub gb_per_second: f64,
    pub rows_per_second: f64,
    pub buffers_hit: u64,
    pub buffers_read: u64,
    pub io_ms: Option<f64>,
    pub worker_buffers: Vec<u64>,
    pub leader_buffers: u64,
    pub skew: Option<f64>,
    pub cached_bytes: u64,
    pub process_read_bytes: Option<u64>,
    pub others_read_bytes: Option<u64>,
    pub device_read_bytes: Option<u64>,
    pub page_cache_bytes: Option<u64>,
    pub extents: Option<u64>,
    pub wait_events: Waiting,
    pub plan: Option<Value>,
}

impl rows::Row for Row {
    const TABLE: &'static str = "scan";
}

/// A reading of the files without the executor, a row of `fsbench.scan_read`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Reading {
    pub readers: u32,
    pub block_bytes: u64,
    pub bytes: u64,
    pub ms: f64,
    pub gb_per_second: Option<f64>,
    pub cached_bytes: u64,
    pub device_read_bytes: Option<u64>,
}

impl Reading {
    /// With how fast it was.
    pub fn timed(self) -> Self {
        Self {
            gb_per_second: (self.ms > 0.0).then(|| self.bytes as f64 / 1e6 / self.ms),
            ..self
        }
    }
}

impl rows::Row for Reading {
    const TABLE: &'static str = "scan_read";
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCAN: Scan = Scan {
        degree: 2,
        repeat: 1,
    };

    /// A warm scan by two workers and the leader.
    fn report() -> Report {
        Report {
            ms: 500.0,
            rows: 1000,
            bytes: 100 * PAGE,
            planned: 2,
            launched: 2,
            read: 100,
            worker_blocks: vec![50, 30],
            leader_blocks: 20,
            process_read_bytes: Some(0),
            plan: "[1]".into(),
            ..Report::default()
        }
    }

    fn judged(report: Report, cache: Cache) -> JudgedScan {
        JudgedScan::judge(SCAN, report, Waiting::new(), cache, true)
    }

    #[test]
    fn a_scan_with_all_its_workers_counts() {
        let made = judged(report(), Cache::Warm);
        let row = made.to_row(7, true, true);
        assert!(row.used && !made.is_spoiled);
        assert_eq!((row.scan, row.degree, row.rows_per_second), (7, 2, 2000.0));
        assert_eq!(
            (row.skew, row.page_cache_bytes),
            (Some(1.5), Some(100 * PAGE))
        );
        assert_eq!(made.to_row(7, false, false).skew, Some(1.25));
        assert_eq!(made.to_row(7, false, false).page_cache_bytes, None);
        assert_eq!(row.plan, Some(serde_json::json!([1])));
    }

    #[test]
    fn missing_workers_say_more_than_the_cache_and_are_not_waited_for() {
        for (planned, launched, why) in [
            (1, 1, "1 workers were planned"),
            (2, 0, "0 workers could be started"),
        ] {
            let made = judged(
                Report {
                    planned,
                    launched,
                    process_read_bytes: Some(100 * PAGE),
                    ..report()
                },
                Cache::Warm,
            );
            assert!(!made.is_spoiled);
            assert_eq!(made.to_row(1, true, true).why_not.as_deref(), Some(why));
        }
    }

    #[test]
    fn what_the_cache_spoiled_is_made_again_if_it_can_be_told() {
        let cold = |tells| JudgedScan::judge(SCAN, report(), Waiting::new(), Cache::Cold, tells);
        assert!(cold(true).is_spoiled && cold(true).why_not.is_some());
        assert!(!cold(false).is_spoiled && cold(false).why_not.is_none());
    }

    #[test]
    fn a_reading_without_time_has_no_speed() {
        let reading = |ms| {
            let bytes = 3_000_000;
            Reading {
                bytes,
                ms,
                ..Reading::default()
            }
            .timed()
            .gb_per_second
        };
        assert_eq!((reading(1.0), reading(0.0)), (Some(3.0), None));
    }
}
