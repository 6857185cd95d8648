//! Jobs of fio from typed values, and the job file that is written of them. No text from outside gets into a job file: each value is
//! written from a number, a flag or a word of a list.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::setting::{STEADY_SECONDS, Setting, Value};
use crate::units;

/// Most jobs of one job file.
pub const MOST_JOBS: usize = 64;
/// Most copies of all jobs together, and most memory for their blocks and logs.
pub const MOST_COPIES: u64 = 1_024;
pub const MOST_MEMORY_BYTES: u64 = 1 << 30;
/// Bytes of a line of a log.
const LOG_LINE_BYTES: u64 = 80;
/// Name of the log files that fio writes, before `_bw` or `_iops`.
pub const LOG: &str = "log";
/// The length of the windows over which fio averages what it logs.
pub const LOG_MS: u64 = 1_000;

/// Which operations a job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    Read,
    Randread,
    Write,
    Randwrite,
    /// Sequential reads and writes.
    Rw,
    Randrw,
}

impl Access {
    /// The five patterns of the study deckelmann-2009, in its order.
    pub const STUDY: [Self; 5] = [
        Self::Read,
        Self::Randread,
        Self::Write,
        Self::Randwrite,
        Self::Randrw,
    ];
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Read,
        Self::Randread,
        Self::Write,
        Self::Randwrite,
        Self::Rw,
        Self::Randrw,
    ];

    /// Name in fio.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Randread => "randread",
            Self::Write => "write",
            Self::Randwrite => "randwrite",
            Self::Rw => "rw",
            Self::Randrw => "randrw",
        }
    }

    /// The access of this name in fio.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "readwrite" => Some(Self::Rw),
            _ => Self::ALL.into_iter().find(|access| access.as_str() == name),
        }
    }

    /// Whether a job of it reads.
    pub fn reads(self) -> bool {
        !matches!(self, Self::Write | Self::Randwrite)
    }

    /// Whether a job of it writes.
    pub fn writes(self) -> bool {
        !matches!(self, Self::Read | Self::Randread)
    }
}

/// One job of a job file.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// The name under which its results are stored: lower-case letters, digits, `_` and `-`.
    pub name: String,
    pub access: Access,
    /// Copies of it that run at the same time, each on a file of its own.
    pub copies: u64,
    /// Bytes of each of these files.
    pub file_bytes: u64,
    /// How long it runs; None: until it is through its files, or as long as the run's duration allows.
    pub runtime_ms: Option<u64>,
    /// Whether it goes on until its time is over when it is through its files.
    pub time_based: bool,
    /// Time before it is measured.
    pub ramp_ms: u64,
    /// Whether it syncs after some of its writes.
    pub syncs: bool,
    /// Whether it waits until the jobs before it have ended.
    pub waits: bool,
    /// Other settings, in the order in which they are written.
    pub settings: Vec<Setting>,
}

impl Job {
    /// The setting of this name.
    pub fn setting(&self, name: &str) -> Option<&Value> {
        let mut settings = self.settings.iter();
        let found = settings.find(|setting| setting.name == name);
        found.map(|setting| &setting.value)
    }

    /// Seconds of the window in which fio has to find the job steady; None without such a criterion.
    pub fn steady_seconds(&self) -> Option<u64> {
        match self.setting(STEADY_SECONDS) {
            Some(Value::Number(seconds)) => Some(*seconds),
            _ => None,
        }
    }

    /// How long it takes, if `each_ms` is the time of a job without one.
    fn takes_ms(&self, each_ms: u64) -> u64 {
        self.runtime_ms.unwrap_or(each_ms) + self.ramp_ms
    }
}

/// The jobs that run at the same time, as places in the list.
fn groups(jobs: &[Job]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, job) in jobs.iter().enumerate() {
        match groups.last_mut() {
            Some(group) if !job.waits => group.push(index),
            _ => groups.push(vec![index]),
        }
    }
    groups
}

/// How many groups of jobs follow each other.
pub fn count_groups(jobs: &[Job]) -> u64 {
    groups(jobs).len() as u64
}

/// The first job that cannot be found steady, since it is shorter than the window for that, if `each_ms` is the time of a job without one.
pub fn too_short_to_be_steady(jobs: &[Job], each_ms: u64) -> Option<&Job> {
    let is_short = |job: &&Job| {
        let window_ms = job.steady_seconds().map(|seconds| seconds * 1000);
        window_ms > Some(job.runtime_ms.unwrap_or(each_ms))
    };
    jobs.iter().find(is_short)
}

/// How long all jobs take, if `each_ms` is the time of a job without one.
pub fn total_ms(jobs: &[Job], each_ms: u64) -> u64 {
    let longest = |group: &Vec<usize>| {
        let times = group.iter().map(|&index| jobs[index].takes_ms(each_ms));
        times.max().unwrap_or(0)
    };
    groups(jobs).iter().map(longest).sum()
}

/// The files of all jobs. Jobs that do not run at the same time share theirs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Files {
    /// How many files there are.
    pub copies: u64,
    /// Bytes of each.
    pub bytes: u64,
}

/// The files, by the place of a job among those that run at the same time.
pub fn files(jobs: &[Job]) -> Vec<Files> {
    let mut files: Vec<Files> = Vec::new();
    for (place, index) in groups(jobs)
        .into_iter()
        .flat_map(|group| group.into_iter().enumerate())
    {
        let (copies, bytes) = (jobs[index].copies, jobs[index].file_bytes);
        match files.get_mut(place) {
            Some(there) => {
                there.copies = there.copies.max(copies);
                there.bytes = there.bytes.max(bytes);
            }
            None => files.push(Files { copies, bytes }),
        }
    }
    files
}

/// Bytes of all files together.
pub fn file_bytes(jobs: &[Job]) -> u64 {
    let of = |files: &Files| files.copies.saturating_mul(files.bytes);
    files(jobs).iter().map(of).fold(0, u64::saturating_add)
}

/// Bytes of memory that fio takes for the blocks of all jobs.
pub fn buffer_bytes(jobs: &[Job]) -> u64 {
    let of = |job: &Job| {
        let largest = |name, otherwise| job.setting(name).map_or(otherwise, Value::largest);
        // The block size that fio takes by itself.
        let block = largest("bs", 4096).max(largest("bssplit", 0));
        let depth = largest("iodepth", 1);
        block.saturating_mul(depth).saturating_mul(job.copies)
    };
    jobs.iter().map(of).fold(0, u64::saturating_add)
}

/// Bytes that the logs of all jobs take: fio keeps them in memory, and a line a second of each log and direction.
pub fn log_bytes(jobs: &[Job], each_ms: u64) -> u64 {
    let of = |job: &Job| {
        let seconds = job.takes_ms(each_ms).div_ceil(LOG_MS);
        job.copies
            .saturating_mul(seconds)
            .saturating_mul(2 * 2 * LOG_LINE_BYTES)
    };
    jobs.iter().map(of).fold(0, u64::saturating_add)
}

/// The names that fio gives the files of this place; `$jobnum` and `$filenum` are fio's.
fn file_names(place: usize) -> String {
    format!("file{place}.$jobnum.$filenum")
}

/// The name of a job in the job file, which [`super::document`] expects in fio's answer.
pub fn name_in_file(index: usize) -> String {
    format!("j{index}")
}

/// Blocks by which files are made, in bytes.
const LARGE_BLOCK: u64 = 1 << 20;

/// The job file that makes the files, so that no job has to.
pub fn file_that_makes_files(jobs: &[Job]) -> String {
    let mut text = head();
    text += "create_only=1\n";
    for (place, files) in files(jobs).iter().enumerate() {
        let _ = write!(
            text,
            "[f{place}]\nnew_group=1\nfilename_format={}\nrw=read\nnumjobs={}\nsize={}\nbs={}\n",
            file_names(place),
            files.copies,
            files.bytes,
            // Larger blocks are faster. fio refuses a block that is larger than its file.
            files.bytes.min(LARGE_BLOCK)
        );
    }
    text
}

/// The job file that is measured. `each_ms` is the time of a job that has none; `seed` is the run's.
pub fn job_file(jobs: &[Job], each_ms: u64, seed: i64) -> String {
    let mut text = head();
    let _ = write!(
        text,
        "lat_percentiles=1\nclat_percentiles=0\nlog_avg_msec={LOG_MS}\nlog_unix_epoch=1\nwrite_bw_log={LOG}\nwrite_iops_log={LOG}\n\
         randseed={}\n",
        seed as u64
    );
    let places = groups(jobs)
        .into_iter()
        .flat_map(|group| group.into_iter().enumerate());
    for (place, index) in places {
        let job = &jobs[index];
        let _ = write!(
            text,
            "[{}]\nnew_group=1\nfilename_format={}\nrw={}\nnumjobs={}\nsize={}\nruntime={}ms\ntime_based={}\n",
            name_in_file(index),
            file_names(place),
            job.access.as_str(),
            job.copies,
            job.file_bytes,
            job.runtime_ms.unwrap_or(each_ms).max(1),
            u8::from(job.time_based)
        );
        if job.ramp_ms > 0 {
            let _ = writeln!(text, "ramp_time={}ms", job.ramp_ms);
        }
        if job.waits && index > 0 {
            text += "stonewall\n";
        }
        for setting in &job.settings {
            let _ = writeln!(text, "{setting}");
        }
    }
    text
}

/// Threads, so that one process is all of fio: the kernel kills it with the coordinator.
fn head() -> String {
    "[global]\nthread=1\ngroup_reporting=1\ndirectory=.\n".to_owned()
}

/// The jobs in a few words.
pub fn shown(jobs: &[Job]) -> String {
    let names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
    format!(
        "fio: {}, {}",
        names.join(" "),
        units::format_bytes(file_bytes(jobs))
    )
}
