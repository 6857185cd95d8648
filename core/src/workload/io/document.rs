//! The document that fio writes (`--output-format=json+`), read into figures of each job. fio writes notes before it, and may write
//! a whole document although it has failed; see the tests for the traps.

use std::{collections::BTreeMap, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};

use super::{
    failure::{self, Ended},
    job::{Job, name_in_file},
};
use crate::{
    helper::error_excerpt::error_excerpt,
    hist::{Histogram, bucket_of},
    refusal::{Kind, Refusal, quoted},
};

/// The largest document that is read, in bytes: each job has some 100 kB.
pub const MOST_BYTES: u64 = 64 << 20;

/// The direction of a job's operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    Read,
    Write,
    /// fsync() and fdatasync().
    Sync,
}

impl Direction {
    /// Name in the tables of results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Sync => "sync",
        }
    }
}

/// The figures of one direction of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Place of the job in the job file, from 0.
    pub job: usize,
    pub direction: Direction,
    pub operations: u64,
    /// None for syncs.
    pub bytes: Option<u64>,
    /// From the first to the last operation of the direction; of syncs, that of the writes.
    pub runtime_ms: u64,
    /// How long the operations took, from their submission to their completion.
    pub latency: Histogram,
    /// Processor time of the whole job, all copies together, in milliseconds.
    pub user_cpu_ms: Option<f64>,
    pub system_cpu_ms: Option<f64>,
    /// fio's own judgement of the whole job, if it was asked for.
    pub steady: Option<Steady>,
}

/// Whether fio found a job steady.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady {
    pub is_attained: bool,
    /// The figure of the last window, in percent; None if no window was complete.
    pub percent: Option<f64>,
}

#[derive(Deserialize)]
struct Document {
    #[serde(rename = "fio version")]
    version: String,
    jobs: Vec<JobResult>,
}

#[derive(Deserialize)]
struct JobResult {
    jobname: String,
    error: i64,
    read: Io,
    write: Io,
    sync: Sync,
    /// Running time of all copies together, in milliseconds.
    job_runtime: u64,
    /// Percent of that.
    usr_cpu: Option<f64>,
    sys_cpu: Option<f64>,
    steadystate: Option<SteadyState>,
}

#[derive(Deserialize)]
struct SteadyState {
    attained: i64,
    /// A number with a percent sign.
    criterion: String,
}

#[derive(Deserialize)]
struct Io {
    io_bytes: u64,
    /// Milliseconds.
    runtime: u64,
    total_ios: u64,
    lat_ns: Latency,
}

/// `total_ios` of syncs is 0 in fio 3.33, whatever there was: the number of latencies counts.
#[derive(Deserialize)]
struct Sync {
    lat_ns: Latency,
}

#[derive(Deserialize)]
struct Latency {
    min: u64,
    max: u64,
    mean: Option<f64>,
    stddev: Option<f64>,
    #[serde(rename = "N")]
    count: u64,
    #[serde(default)]
    bins: Bins,
}

/// Counts by the nanoseconds in the middle of each bin. A key that is repeated counts again.
#[derive(Default)]
struct Bins(BTreeMap<u64, u64>);

impl<'de> Deserialize<'de> for Bins {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Bins;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("counts by nanoseconds")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Bins, A::Error> {
                let mut bins = BTreeMap::new();
                while let Some((ns, n)) = map.next_entry::<u64, u64>()? {
                    let count: &mut u64 = bins.entry(ns).or_default();
                    *count = count.saturating_add(n);
                }
                Ok(Bins(bins))
            }
        }
        deserializer.deserialize_map(Each)
    }
}

/// The figures of a process of fio that has ended. It may write a whole document without an error, and fail.
pub fn of_ended(ended: &Ended, document: &[u8], jobs: &[Job]) -> Result<Vec<Measured>, Refusal> {
    ended.check()?;
    parse(document, jobs)
}

/// Reads the document of these jobs. Refuses one that is not complete, that belongs to other jobs, or that reports an error.
pub(in crate::workload) fn parse(bytes: &[u8], jobs: &[Job]) -> Result<Vec<Measured>, Refusal> {
    let document = document(bytes)?;
    if !document.version.starts_with("fio-3.") {
        return Err(
            unusable(format!("It is of version {}.", quoted(&document.version))).hint("Use fio 3."),
        );
    }
    let names: Vec<&str> = document
        .jobs
        .iter()
        .map(|job| job.jobname.as_str())
        .collect();
    let expected: Vec<String> = (0..jobs.len()).map(name_in_file).collect();
    if names != expected {
        return Err(unusable(format!(
            "It has the jobs {}; expected were {}.",
            quoted(&names.join(" ")),
            expected.join(" ")
        )));
    }
    let mut measured = Vec::new();
    for (index, (job, result)) in jobs.iter().zip(&document.jobs).enumerate() {
        if result.error != 0 {
            let number = i32::try_from(result.error).unwrap_or(0);
            let error = std::io::Error::from_raw_os_error(number);
            let (kind, hint) = failure::cause(&error.to_string())
                .unwrap_or((Kind::System, "See the kernel's messages (dmesg)."));
            return Err(Refusal::new(
                kind,
                format!("fio could not finish job {}: {error}", quoted(&job.name)),
            )
            .detail("The figures of a job that has failed are not stored.")
            .hint(hint));
        }
        result.add_to(&mut measured, index, job)?;
    }
    Ok(measured)
}

/// The one document, after whatever stands before the first line that is `{`.
fn document(bytes: &[u8]) -> Result<Document, Refusal> {
    let text = String::from_utf8_lossy(bytes);
    let mut start = 0;
    let begins = text.split_inclusive('\n').find_map(|line| {
        let at = start;
        start += line.len();
        (line.trim_end() == "{").then_some(at)
    });
    let Some(begins) = begins else {
        let said = error_excerpt(&text).trim_end_matches('.').to_owned();
        return Err(unusable(match said.is_empty() {
            true => "It is empty.".into(),
            false => format!("It holds no document: {said}."),
        }));
    };
    let text = without_words(&text[begins..]);
    let mut documents = serde_json::Deserializer::from_str(&text).into_iter::<Document>();
    let first = documents.next();
    let first = first.unwrap_or_else(|| Err(serde::de::Error::custom("it is empty")));
    let document =
        first.map_err(|e| unusable(format!("It is not complete, or not fio's: {e}.")))?;
    if !text[documents.byte_offset()..].trim().is_empty() {
        return Err(unusable("More follows after its end."));
    }
    Ok(document)
}

fn unusable(detail: impl Into<String>) -> Refusal {
    Refusal::new(Kind::System, "what fio has written cannot be used")
        .detail(detail)
        .hint("Repeat the run. If it fails again, use another version of fio.")
}

/// `nan` and `inf`, which are no JSON, as null. Texts stay as they are.
fn without_words(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    let mut in_text = false;
    while let Some(c) = rest.chars().next() {
        let word = ["-nan", "nan", "-inf", "inf"];
        let word = word
            .into_iter()
            .find(|word| !in_text && rest.starts_with(word));
        if let Some(word) = word {
            result += "null";
            rest = &rest[word.len()..];
            continue;
        }
        let length = match c {
            '\\' if in_text => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            _ => c.len_utf8(),
        };
        if c == '"' {
            in_text = !in_text;
        }
        result += &rest[..length];
        rest = &rest[length..];
    }
    result
}

impl JobResult {
    /// fio prints 0 for the figure of a window that was not complete.
    fn steady(&self, job: &Job) -> Option<Steady> {
        let asked_ms = job.steady_seconds()? * 1000;
        let state = self.steadystate.as_ref()?;
        let is_attained = state.attained != 0;
        let is_complete = is_attained || self.read.runtime.max(self.write.runtime) >= asked_ms;
        let percent = state.criterion.trim_end_matches('%').parse::<f64>().ok();
        Some(Steady {
            is_attained,
            percent: percent.filter(|percent| is_complete && percent.is_finite()),
        })
    }

    fn add_to(&self, all: &mut Vec<Measured>, index: usize, job: &Job) -> Result<(), Refusal> {
        let cpu = |percent: Option<f64>| {
            let percent = percent.filter(|percent| percent.is_finite() && *percent >= 0.0)?;
            (self.job_runtime > 0).then(|| percent / 100.0 * self.job_runtime as f64)
        };
        let steady = self.steady(job);
        let measured = |direction, operations, bytes, runtime_ms, latency| Measured {
            steady,
            job: index,
            direction,
            operations,
            bytes,
            runtime_ms,
            latency,
            user_cpu_ms: cpu(self.usr_cpu),
            system_cpu_ms: cpu(self.sys_cpu),
        };
        let each = [
            (Direction::Read, &self.read, job.access.reads()),
            (Direction::Write, &self.write, job.access.writes()),
        ];
        // A job that only writes has short reads of its syncs, and no reads.
        for (direction, io, _) in each.into_iter().filter(|(_, _, is_done)| *is_done) {
            let latency = io.lat_ns.histogram()?;
            all.push(measured(
                direction,
                io.total_ios,
                Some(io.io_bytes),
                io.runtime,
                latency,
            ));
        }
        if job.syncs {
            let latency = self.sync.lat_ns.histogram()?;
            let runtime = self.write.runtime;
            all.push(measured(
                Direction::Sync,
                latency.count(),
                None,
                runtime,
                latency,
            ));
        }
        Ok(())
    }
}

impl Latency {
    /// The histogram of these bins. A bin of fio is 1/64 of its value wide, a bucket here 1/32.
    fn histogram(&self) -> Result<Histogram, Refusal> {
        if self.count == 0 {
            return Ok(Histogram::new());
        }
        let counted = self
            .bins
            .0
            .values()
            .try_fold(0u64, |sum, n| sum.checked_add(*n));
        if counted != Some(self.count) {
            return Err(unusable(format!(
                "Its bins hold {} of {} latencies.",
                counted.unwrap_or(u64::MAX),
                self.count
            )));
        }
        let count = self.count as f64;
        let mean = self.mean.filter(|mean| mean.is_finite() && *mean >= 0.0);
        let mean = mean.ok_or_else(|| unusable("It has latencies without a mean."))?;
        // fio divides by one less than the number.
        let deviation = self
            .stddev
            .filter(|deviation| deviation.is_finite())
            .unwrap_or(0.0);
        let squares = deviation * deviation * (count - 1.0) + mean * mean * count;
        let counts = self.bins.0.iter();
        Ok(Histogram::from_parts(
            counts.map(|(ns, n)| (bucket_of(*ns), *n)),
            (mean * count).round() as u64,
            squares / 1e6,
            self.min,
            self.max,
        ))
    }
}
