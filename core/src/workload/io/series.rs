//! The seconds of a run: fio logs bandwidth and operations per second of each copy of a job, averaged over windows of a second.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{
    document::Direction,
    job::{Job, LOG, LOG_MS},
};
use crate::{rows, series};

/// A row of `fsbench.io_second`; its columns say what they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    pub second: u32,
    pub job: String,
    pub direction: &'static str,
    pub operations: f64,
    pub bytes: f64,
}

impl rows::Row for Row {
    const TABLE: &'static str = "io_second";
}

/// The log files of a run. fio numbers the copies of all jobs from 1.
pub fn log_files(jobs: &[Job]) -> impl Iterator<Item = (usize, [String; 2])> {
    let of_copies = jobs
        .iter()
        .enumerate()
        .flat_map(|(index, job)| (0..job.copies).map(move |_| index));
    of_copies.zip(1..).map(|(index, number)| {
        let name = |what| format!("{LOG}_{what}.{number}.log");
        (index, [name("bw"), name("iops")])
    })
}

/// One line of a log: the average of the window that ended then.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Line {
    /// Milliseconds since 1970.
    ended_ms: u64,
    value: u64,
    direction: Direction,
}

/// The lines of a log, `ms, value, direction, ...`. A line that a full disk has cut off is none.
fn lines(text: &str) -> impl Iterator<Item = Line> {
    text.lines().filter_map(|line| {
        let mut fields = line.split(',').map(str::trim);
        let mut number = || fields.next()?.parse::<u64>().ok();
        let (ended_ms, value) = (number()?, number()?);
        let direction = match number()? {
            0 => Direction::Read,
            1 => Direction::Write,
            _ => return None,
        };
        Some(Line {
            ended_ms,
            value,
            direction,
        })
    })
}

/// Operations and bytes of a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Done {
    operations: f64,
    bytes: f64,
}

/// The seconds of all jobs.
#[derive(Clone, Debug, Default)]
pub struct Seconds(BTreeMap<(usize, u32, Direction), Done>);

/// The logs of one copy of a job.
#[derive(Clone)]
pub struct Logs {
    pub job: usize,
    /// Bandwidth in kB per second.
    pub bandwidth: String,
    /// Operations per second.
    pub operations: String,
}

impl Seconds {
    /// From all logs, which are read twice, one after the other: together they would not fit into memory.
    /// `start_ms`: when the measured window began, in milliseconds since 1970.
    pub fn read<E, L: Iterator<Item = Result<Logs, E>>>(
        start_ms: u64,
        logs: impl Fn() -> L,
    ) -> Result<Self, E> {
        // The first window of a job gives its place; windows follow each other, however late fio closed one.
        let mut first: BTreeMap<usize, u64> = BTreeMap::new();
        for log in logs() {
            let log = log?;
            for line in lines(&log.operations).chain(lines(&log.bandwidth)) {
                let ended = first.entry(log.job).or_insert(line.ended_ms);
                *ended = line.ended_ms.min(*ended);
            }
        }
        let second = |job: usize, ended_ms: u64| {
            let first = *first.get(&job)?;
            let middle = first.checked_sub(start_ms)?.saturating_sub(LOG_MS / 2);
            let windows = (ended_ms.saturating_sub(first) + LOG_MS / 2) / LOG_MS;
            u32::try_from(middle / LOG_MS + windows).ok()
        };
        let mut seconds = BTreeMap::new();
        let share = LOG_MS as f64 / 1000.0;
        for log in logs() {
            let log = log?;
            for (text, is_bytes) in [(&log.operations, false), (&log.bandwidth, true)] {
                for line in lines(text) {
                    let Some(second) = second(log.job, line.ended_ms) else {
                        continue;
                    };
                    let done: &mut Done = seconds
                        .entry((log.job, second, line.direction))
                        .or_default();
                    match is_bytes {
                        true => done.bytes += line.value as f64 * 1024.0 * share,
                        false => done.operations += line.value as f64 * share,
                    }
                }
            }
        }
        Ok(Self(seconds))
    }

    /// The rows that are stored.
    pub fn to_rows(&self, jobs: &[Job]) -> Vec<Row> {
        let row = |(&(job, second, direction), done): (&(usize, u32, Direction), &Done)| {
            Some(Row {
                second,
                job: jobs.get(job)?.name.clone(),
                direction: direction.as_str(),
                operations: done.operations,
                bytes: done.bytes,
            })
        };
        self.0.iter().filter_map(row).collect()
    }

    /// Operations of all jobs in the seconds from one to before another. None: no job was logged in one of them, as while fio starts
    /// and ends, and in the last part of a second of each job.
    pub fn operations(&self, from: u32, to: u32) -> Option<f64> {
        let spans = self.spans();
        let is_logged = |second: u32| {
            spans
                .values()
                .any(|(first, last)| (*first..=*last).contains(&second))
        };
        if from >= to || !(from..to).all(is_logged) {
            return None;
        }
        let of = self
            .0
            .iter()
            .filter(|((_, second, _), _)| (from..to).contains(second));
        Some(of.map(|(_, done)| done.operations).sum())
    }

    /// The first and the last second of each job.
    fn spans(&self) -> BTreeMap<usize, (u32, u32)> {
        let mut spans = BTreeMap::new();
        for &(job, second, _) in self.0.keys() {
            let (_, last) = spans.entry(job).or_insert((second, second));
            *last = second;
        }
        spans
    }

    /// Operations of a job in each second from its first to its last; a second without any is 0.
    fn of_job(&self, job: usize) -> Vec<f64> {
        let of = |(key, _): &(&(usize, u32, Direction), &Done)| key.0 == job;
        let mut seconds: BTreeMap<u32, f64> = BTreeMap::new();
        for ((_, second, _), done) in self.0.iter().filter(of) {
            *seconds.entry(*second).or_default() += done.operations;
        }
        let Some((first, last)) = self.spans().remove(&job) else {
            return Vec::new();
        };
        let value = |second| seconds.get(&second).copied().unwrap_or(0.0);
        (first..=last).map(value).collect()
    }

    /// Whether a job was steady.
    pub fn steadiness(&self, job: usize) -> Steadiness {
        let seconds = self.of_job(job);
        let drift = series::drift(&seconds).map(|drift| drift.ratio);
        let stalls = (!seconds.is_empty()).then(|| series::stalls(&seconds).stall_seconds);
        Steadiness {
            drift_ratio: drift,
            stall_seconds: stalls,
            steady: drift
                .zip(stalls)
                .map(|(ratio, stalls)| (ratio - 1.0).abs() <= series::DRIFT_SHARE && stalls == 0),
        }
    }
}

/// The steadiness of a job by its seconds. None: too few of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Steadiness {
    /// Operations of the last third, divided by those of the first.
    pub drift_ratio: Option<f64>,
    /// Seconds below a tenth of the median.
    pub stall_seconds: Option<u32>,
    /// No drift beyond 10 %, and no stall.
    pub steady: Option<bool>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::io::{IoOptions, job::Access};

    fn jobs(names: [&str; 2]) -> Vec<Job> {
        let own = IoOptions {
            jobs: Some(2),
            size: Some("1 GB".into()),
            ..IoOptions::default()
        };
        let jobs = own.to_jobs().into_iter().zip(names);
        jobs.map(|(job, name)| Job {
            name: name.into(),
            access: Access::Rw,
            ..job
        })
        .collect()
    }

    fn of(logs: &[Logs], start_ms: u64) -> Seconds {
        let given = || logs.iter().map(|log| Ok::<Logs, ()>(log.clone()));
        Seconds::read(start_ms, given).expect("logs")
    }

    #[test]
    fn a_log_that_cannot_be_read_is_an_error() {
        let logs = || [Ok(log(0, "", "1000, 1, 0, 0, 0")), Err("gone")].into_iter();
        assert_eq!(Seconds::read(0, logs).err(), Some("gone"));
    }

    fn log(job: usize, bandwidth: &str, operations: &str) -> Logs {
        Logs {
            job,
            bandwidth: bandwidth.into(),
            operations: operations.into(),
        }
    }

    #[test]
    fn each_copy_has_two_files() {
        let files: Vec<_> = log_files(&jobs(["a", "b"])).collect();
        assert_eq!(files.len(), 4);
        assert_eq!(
            files[2],
            (1, ["log_bw.3.log".to_owned(), "log_iops.3.log".to_owned()])
        );
    }

    #[test]
    fn copies_add_up_and_jitter_moves_no_window() {
        let start = 1_795_881_642_000;
        let line = |ms: u64, value: u64, direction| {
            format!("{}, {value}, {direction}, 0, 0\n", start + ms)
        };
        let logs = [
            log(
                0,
                &line(1_000, 8, 0),
                &[line(1_000, 100, 0), line(2_030, 100, 0), line(3_001, 90, 1)].concat(),
            ),
            log(
                0,
                "",
                &[line(1_004, 11, 0), line(1_996, 11, 0), "17958816\n".into()].concat(),
            ),
            log(1, "", &line(4_400, 5, 0)),
        ];
        let seconds = of(&logs, start);
        let rows = seconds.to_rows(&jobs(["a", "b"]));
        let shown: Vec<_> = rows
            .iter()
            .map(|row| {
                (
                    row.job.as_str(),
                    row.second,
                    row.direction,
                    row.operations,
                    row.bytes,
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                ("a", 0, "read", 111.0, 8192.0),
                ("a", 1, "read", 111.0, 0.0),
                ("a", 2, "write", 90.0, 0.0),
                ("b", 3, "read", 5.0, 0.0),
            ]
        );
        assert_eq!(
            (seconds.operations(0, 2), seconds.operations(2, 4)),
            (Some(222.0), Some(95.0))
        );
    }

    #[test]
    fn a_second_without_a_running_job_is_unknown_and_a_stalled_one_is_zero() {
        // fio starts late, the second at 5 s is between two jobs, and nothing is done in that at 3 s.
        let text = "2000, 7, 0, 0, 0\n3000, 8, 0, 0, 0\n5000, 9, 0, 0, 0\n";
        let seconds = of(&[log(0, "", text), log(1, "", "7000, 5, 0, 0, 0\n")], 0);
        let each: Vec<_> = (0..8).map(|n| seconds.operations(n, n + 1)).collect();
        let expected = [
            None,
            Some(7.0),
            Some(8.0),
            Some(0.0),
            Some(9.0),
            None,
            Some(5.0),
            None,
        ];
        assert_eq!(each, expected);
        assert_eq!(
            (seconds.operations(1, 3), seconds.operations(4, 6)),
            (Some(15.0), None)
        );
        assert_eq!(seconds.operations(6, u32::MAX), None);
    }

    #[test]
    fn a_job_is_steady_by_the_rule_of_runs() {
        let steadiness = |values: &[u64]| {
            let lines = values.iter().zip(1..).filter(|(value, _)| **value > 0);
            let text: String = lines
                .map(|(value, second)| format!("{}, {value}, 0, 0, 0\n", second * 1000))
                .collect();
            of(&[log(0, "", &text)], 0).steadiness(0)
        };
        assert_eq!(
            steadiness(&[100; 9]),
            Steadiness {
                drift_ratio: Some(1.0),
                stall_seconds: Some(0),
                steady: Some(true)
            }
        );
        assert_eq!(steadiness(&[100; 5]).steady, None);
        // A second in which nothing ended has no line.
        let stalled = steadiness(&[100, 100, 100, 0, 100, 100, 100, 100, 100]);
        assert_eq!(
            (stalled.stall_seconds, stalled.steady),
            (Some(1), Some(false))
        );
        assert_eq!(
            steadiness(&[100, 100, 100, 90, 90, 90, 80, 80, 80]).steady,
            Some(false)
        );
        assert_eq!(Seconds::default().steadiness(0), Steadiness::default());
    }
}
