//! The options one by one, what is chosen of them, and the jobs that follow from them.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    job::{self, Access, Job},
    job_file,
    setting::{self, Kind, Setting},
};
use crate::{
    refusal::{Refusal, quoted},
    spec::{Bound, Facts, Names, OwnOption, check, values},
    units,
};

/// The name of the pattern that stands for all five of deckelmann-2009.
pub const STUDY: &str = "study-3";
/// A pattern when no bound is given, and all of them together at most.
const QUICK_JOB_MS: u64 = 10_000;
const QUICK_JOBS_MS: u64 = 40_000;
/// The shortest time of a pattern: three seconds of the series.
const SHORTEST_JOB_MS: u64 = 3_000;
/// The study had eight jobs.
const CHOSEN_JOBS: u64 = 8;
/// A window that fits into each pattern of a quick look.
const CHOSEN_STEADY_SECONDS: u64 = 5;
/// All files together of a quick look, which has no time to write twice the RAM.
const CHOSEN_BYTES: u64 = 1 << 30;
const MOST_JOBS: u64 = 256;

const PATTERN: OwnOption = OwnOption {
    name: "pattern",
    depends_on_machine: false,
    check: |name, value| {
        let mut words = Access::STUDY.map(Access::as_str).to_vec();
        words.push(STUDY);
        values::word::<String>(name, value, &words).map(|word| json!(word))
    },
};
const BLOCK_SIZE: OwnOption = OwnOption {
    name: "block_size",
    depends_on_machine: false,
    check: |name, value| {
        let bytes = size(name, value)?;
        match (512..=16 << 20).contains(&bytes) {
            true => Ok(json!(format!("{bytes} B"))),
            false => Err(wrong_size(name, "It is not between 512 B and 16 MB.")),
        }
    },
};
const JOBS: OwnOption = OwnOption {
    name: "jobs",
    depends_on_machine: false,
    check: |name, value| Ok(json!(values::whole_number(name, value, 1, MOST_JOBS)?)),
};
const IO_DEPTH: OwnOption = OwnOption {
    name: "io_depth",
    depends_on_machine: false,
    check: |name, value| Ok(json!(values::whole_number(name, value, 1, 1024)?)),
};
const DIRECT: OwnOption = OwnOption {
    name: "direct",
    depends_on_machine: false,
    check: |name, value| Ok(json!(values::boolean(name, value)?)),
};
const ENGINE: OwnOption = OwnOption {
    name: "engine",
    depends_on_machine: false,
    check: |name, value| {
        values::word::<String>(name, value, setting::ENGINES).map(|word| json!(word))
    },
};
const FSYNC_EVERY: OwnOption = OwnOption {
    name: "fsync_every",
    depends_on_machine: false,
    check: every,
};
const FDATASYNC_EVERY: OwnOption = OwnOption {
    name: "fdatasync_every",
    depends_on_machine: false,
    check: every,
};
const SIZE: OwnOption = OwnOption {
    name: "size",
    depends_on_machine: false,
    check: |name, value| {
        // RAM is not known here: the text only has to be a size.
        size(name, value).map(|_| value.clone())
    },
};
const RATE: OwnOption = OwnOption {
    name: "rate",
    depends_on_machine: false,
    check: |name, value| Ok(json!(values::whole_number(name, value, 1, 1_000_000_000)?)),
};
const MIX: OwnOption = OwnOption {
    name: "mix",
    depends_on_machine: false,
    check: |name, value| Ok(json!(values::whole_number(name, value, 1, 99)?)),
};
const STEADY_STATE: OwnOption = OwnOption {
    name: "steady_state",
    depends_on_machine: false,
    check: |name, value| {
        let wrong = |detail: String| {
            Refusal::argument(format!("invalid value of option \"{name}\""))
                .detail(detail)
                .hint("Give a text such as \"iops_slope:0.3%\".")
        };
        let text = value
            .as_str()
            .ok_or_else(|| wrong(format!("It is {}.", values::kind(value))))?;
        setting::parse(Kind::Steadiness, Some(text))
            .map_err(|expected| wrong(format!("It takes {expected}.")))?;
        Ok(value.clone())
    },
};
const STEADY_SECONDS: OwnOption = OwnOption {
    name: "steady_state_seconds",
    depends_on_machine: false,
    check: |name, value| Ok(json!(values::whole_number(name, value, 1, 86_400)?)),
};
const JOB_FILE: OwnOption = OwnOption {
    name: "job_file",
    depends_on_machine: false,
    check: |name, value| match value.as_str() {
        Some(text) => job_file::parse(text).map(|_| value.clone()),
        None => Err(
            Refusal::argument(format!("invalid value of option \"{name}\""))
                .detail(format!("It is {}.", values::kind(value)))
                .hint("Give the lines of a job file as one text."),
        ),
    },
};

pub const OPTIONS: [OwnOption; 14] = [
    PATTERN,
    BLOCK_SIZE,
    JOBS,
    IO_DEPTH,
    DIRECT,
    ENGINE,
    FSYNC_EVERY,
    FDATASYNC_EVERY,
    SIZE,
    RATE,
    MIX,
    STEADY_STATE,
    STEADY_SECONDS,
    JOB_FILE,
];

fn every(name: &str, value: &Value) -> Result<Value, Refusal> {
    Ok(json!(values::whole_number(name, value, 0, 1_000_000_000)?))
}

/// A size as text; of RAM, 1 GB stands for it.
fn size(name: &str, value: &Value) -> Result<u64, Refusal> {
    let Some(text) = value.as_str() else {
        return Err(wrong_size(name, &format!("It is {}.", values::kind(value))));
    };
    units::parse_size(text, 1 << 30)
}

fn wrong_size(name: &str, detail: &str) -> Refusal {
    Refusal::argument(format!("invalid value of option \"{name}\""))
        .detail(detail)
        .hint("Give a text with a unit, such as \"8kB\" or \"2x ram\".")
}

/// The options of this workload. None: not given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct IoOptions {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_size: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io_depth: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direct: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fsync_every: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fdatasync_every: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mix: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steady_state: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steady_state_seconds: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_file: Option<String>,
}

impl IoOptions {
    /// With what was not given. The machine that is measured knows its own RAM: for a server reached by a connection, a size of RAM stays
    /// a text.
    pub(super) fn chosen(mut self, facts: &Facts, names: &mut Names) -> Result<Self, Refusal> {
        if self.job_file.is_some() {
            return self.alone();
        }
        if self.fsync_every > Some(0) && self.fdatasync_every > Some(0) {
            return Err(Refusal::argument(
                "options \"fsync_every\" and \"fdatasync_every\" exclude each other",
            )
            .detail("One histogram of fio has the times of both.")
            .hint("Leave one of them out."));
        }
        choose(&mut self.pattern, &PATTERN, facts, names, || STUDY.into());
        self.check_effects()?;
        choose(&mut self.block_size, &BLOCK_SIZE, facts, names, || {
            format!("{} B", units::PAGE)
        });
        choose(&mut self.jobs, &JOBS, facts, names, || CHOSEN_JOBS);
        self.check_rate()?;
        choose(&mut self.io_depth, &IO_DEPTH, facts, names, || 1);
        choose(&mut self.direct, &DIRECT, facts, names, || false);
        let is_deep = self.io_depth > Some(1);
        choose(&mut self.engine, &ENGINE, facts, names, || {
            if is_deep { "libaio" } else { "psync" }.into()
        });
        let engine = self.engine.as_deref().unwrap_or_default();
        if is_deep && !setting::ASYNCHRONOUS.contains(&engine) {
            return Err(Refusal::argument(format!(
                "option \"io_depth\" is above 1, and engine {} does one operation at a time",
                quoted(engine)
            ))
            .detail("Only asynchronous engines keep several operations going.")
            .hint(format!(
                "Use one of the engines {}, or leave out the option \"io_depth\".",
                setting::ASYNCHRONOUS.join(", ")
            )));
        }
        match (&self.steady_state, self.steady_state_seconds) {
            (None, Some(_)) => {
                return Err(Refusal::argument(
                    "option \"steady_state_seconds\" has no effect without \"steady_state\"",
                )
                .detail("The rule of pgfsbench for steadiness has no such window.")
                .hint("Give the option \"steady_state\" too, or leave it out."));
            }
            (Some(_), None) => choose(
                &mut self.steady_state_seconds,
                &STEADY_SECONDS,
                facts,
                names,
                || CHOSEN_STEADY_SECONDS,
            ),
            _ => {}
        }
        choose(&mut self.size, &SIZE, facts, names, || {
            format!("{CHOSEN_BYTES} B")
        });
        if let Some(text) = &self.size
            && !facts.by_connection
        {
            let bytes = units::parse_size(text, facts.memory_bytes)?;
            self.check_size(bytes)?;
            self.size = Some(format!("{bytes} B"));
        }
        Ok(self)
    }

    /// Refuses options that change nothing in any job of the pattern.
    fn check_effects(&self) -> Result<(), Refusal> {
        let accesses = self.accesses();
        let writes = accesses.iter().any(|access| access.writes());
        let mixes = accesses.contains(&Access::Randrw);
        let without_effect = [
            (
                self.mix.is_some() && !mixes,
                &MIX,
                "It does not mix reads and writes.",
            ),
            (
                self.fsync_every > Some(0) && !writes,
                &FSYNC_EVERY,
                "It writes nothing that could be synced.",
            ),
            (
                self.fdatasync_every > Some(0) && !writes,
                &FDATASYNC_EVERY,
                "It writes nothing that could be synced.",
            ),
        ];
        let found = without_effect
            .into_iter()
            .find(|(is_useless, ..)| *is_useless);
        found.map_or(Ok(()), |(_, option, detail)| {
            let pattern = self.pattern.as_deref().unwrap_or_default();
            Err(Refusal::argument(format!(
                "option \"{}\" has no effect with pattern {}",
                option.name,
                quoted(pattern)
            ))
            .detail(detail)
            .hint("Leave out the option, or use the pattern \"randrw\"."))
        })
    }

    /// Refuses a rate that the jobs cannot share: fio limits reads and writes of each job to a whole number.
    fn check_rate(&self) -> Result<(), Refusal> {
        let (copies, mix) = (self.jobs.unwrap_or(1), self.mix_percent());
        let shares = match self.accesses().contains(&Access::Randrw) {
            true => 100 / greatest_divisor(mix, 100),
            false => 1,
        };
        let step = copies * shares;
        let Some(rate) = self.rate.filter(|rate| rate % step != 0) else {
            return Ok(());
        };
        let below = rate / step * step;
        let hint = match below {
            0 => format!("Give {step}, or fewer jobs."),
            _ => format!("Give {below} or {}.", below + step),
        };
        Err(Refusal::argument(format!(
            "rate {rate} of the option \"rate\" cannot be shared by {}",
            units::format_count(copies, "job")
        ))
        .detail(match shares {
            1 => "Each job does a whole number of operations per second.".into(),
            _ => format!(
                "Each job does a whole number of reads per second, and of writes: {mix} % are reads."
            ),
        })
        .hint(hint))
    }

    /// Reads in randrw, in percent.
    fn mix_percent(&self) -> u64 {
        self.mix.unwrap_or(50)
    }

    /// A job file says everything.
    fn alone(self) -> Result<Self, Refusal> {
        let only = Self {
            job_file: self.job_file.clone(),
            ..Self::default()
        };
        if self == only {
            return Ok(self);
        }
        Err(
            Refusal::argument("option \"job_file\" excludes the other options of fio")
                .detail("The job file has settings of its own.")
                .hint("Write the other options into the job file, or leave it out."),
        )
    }

    fn check_size(&self, bytes: u64) -> Result<(), Refusal> {
        let least = self.block_bytes().saturating_mul(self.jobs.unwrap_or(1));
        if bytes >= least {
            return Ok(());
        }
        Err(
            Refusal::argument(format!("size {} is too small", units::format_bytes(bytes)))
                .detail("Each job has a file of its own, of at least one block.")
                .hint(format!("Give at least {}.", units::format_bytes(least))),
        )
    }

    fn block_bytes(&self) -> u64 {
        let text = self.block_size.as_deref().unwrap_or_default();
        units::parse_size(text, 0).unwrap_or(units::PAGE)
    }

    /// The jobs of these options.
    pub fn to_jobs(&self) -> Vec<Job> {
        if let Some(text) = &self.job_file {
            // It was checked when it was given.
            return job_file::parse(text).unwrap_or_default();
        }
        let accesses = self.accesses().into_iter();
        accesses.map(|access| self.job(access)).collect()
    }

    /// The patterns that follow each other.
    fn accesses(&self) -> Vec<Access> {
        let pattern = self.pattern.as_deref().unwrap_or_default();
        Access::parse(pattern).map_or(Access::STUDY.to_vec(), |one| vec![one])
    }

    fn job(&self, access: Access) -> Job {
        let copies = self.jobs.unwrap_or(1).max(1);
        let block = self.block_bytes();
        let text = self.size.as_deref().unwrap_or_default();
        let bytes = units::parse_size(text, 0).unwrap_or(0) / copies;
        let number = |name, n| Setting {
            name,
            value: setting::Value::Number(n),
        };
        let word = |name, given: &str, known: &[&'static str]| {
            let known = known.iter().find(|known| **known == given);
            known.map(|word| Setting {
                name,
                value: setting::Value::Word(word),
            })
        };
        let mut settings = vec![
            number("bs", block),
            number("iodepth", self.io_depth.unwrap_or(1)),
            number("direct", self.direct.unwrap_or(false).into()),
            // As in the study: the kernel is told nothing of what is to come, and has nothing of the files in memory at the start.
            number("invalidate", 1),
        ];
        settings.extend(word("fadvise_hint", "0", &["0"]));
        let engine = self.engine.as_deref().unwrap_or("psync");
        settings.extend(word("ioengine", engine, setting::ENGINES));
        let mix = self.mix_percent();
        if access == Access::Randrw {
            settings.push(number("rwmixread", mix));
        }
        let syncs = [
            ("fsync", self.fsync_every),
            ("fdatasync", self.fdatasync_every),
        ];
        let syncs = syncs.into_iter().filter(|_| access.writes());
        let syncs: Vec<Setting> = syncs
            .filter_map(|(name, every)| Some(number(name, every.filter(|n| *n > 0)?)))
            .collect();
        let criterion = self.steady_state.as_deref();
        let criterion =
            criterion.and_then(|text| setting::parse(Kind::Steadiness, Some(text)).ok());
        if let (Some(value), Some(seconds)) = (criterion, self.steady_state_seconds) {
            settings.extend([
                Setting {
                    name: setting::STEADY_STATE,
                    value,
                },
                number(setting::STEADY_SECONDS, seconds),
            ]);
        }
        if let Some(rate) = self.rate {
            settings.push(Setting {
                name: "rate_iops",
                value: rate_of(access, rate, copies, mix),
            });
        }
        Job {
            name: access.as_str().into(),
            access,
            copies,
            file_bytes: bytes / block * block,
            runtime_ms: None,
            time_based: true,
            ramp_ms: 0,
            syncs: !syncs.is_empty(),
            waits: true,
            settings: settings.into_iter().chain(syncs).collect(),
        }
    }

    /// Refuses a window for fio's steady state that is longer than a job.
    pub(super) fn check_steady(&self, bound: Bound) -> Result<(), Refusal> {
        let jobs = self.to_jobs();
        let each_ms = each_ms(&jobs, bound);
        let Some(job) = job::too_short_to_be_steady(&jobs, each_ms) else {
            return Ok(());
        };
        let seconds = |ms: u64| units::format_seconds(ms as f64 / 1000.0);
        Err(Refusal::argument(format!(
            "the window for a steady state is longer than job {}",
            quoted(&job.name)
        ))
        .detail(format!(
            "The window is {}, and the job takes {}.",
            seconds(job.steady_seconds().unwrap_or(0) * 1000),
            seconds(job.runtime_ms.unwrap_or(each_ms))
        ))
        .hint("Give a shorter window, or a longer time."))
    }

    /// Refuses jobs that would take the memory of the server.
    pub(super) fn check_memory(&self, bound: Bound) -> Result<(), Refusal> {
        let jobs = self.to_jobs();
        let copies: u64 = jobs.iter().map(|job| job.copies).sum();
        let each_ms = each_ms(&jobs, bound);
        let bytes = job::buffer_bytes(&jobs).saturating_add(job::log_bytes(&jobs, each_ms));
        if copies <= job::MOST_COPIES && bytes <= job::MOST_MEMORY_BYTES {
            return Ok(());
        }
        Err(Refusal::argument("the jobs of fio take too much memory")
            .detail(format!(
                "They are {}, and their blocks and logs take {}. At most {} and {} are allowed.",
                units::format_count(copies, "job"),
                units::format_bytes(bytes),
                job::MOST_COPIES,
                units::format_bytes(job::MOST_MEMORY_BYTES)
            ))
            .hint("Use fewer jobs, smaller blocks, fewer operations at the same time, or a shorter time."))
    }

    /// When everything ends. A job file may have times of its own, which leave no place for a duration.
    pub(super) fn bound(&self, given: Option<Bound>) -> Result<Bound, Refusal> {
        let jobs = self.to_jobs();
        let groups = job::count_groups(&jobs).max(1);
        let has_times = jobs.iter().any(|job| job.runtime_ms.is_some());
        let Some(Bound::DurationMs(ms)) = given else {
            let each = QUICK_JOB_MS
                .min(QUICK_JOBS_MS / groups)
                .max(SHORTEST_JOB_MS);
            let total = job::total_ms(&jobs, each);
            check_length(total)?;
            return Ok(Bound::DurationMs(total));
        };
        if has_times {
            return Err(Refusal::argument(
                "duration is given, and the job file has times of its own",
            )
            .detail("A job with a runtime runs as long as that says.")
            .hint("Leave out the argument \"duration\", or each runtime."));
        }
        if ms < groups * SHORTEST_JOB_MS {
            return Err(Refusal::argument(format!(
                "duration {} is too short for {}",
                units::format_seconds(ms as f64 / 1000.0),
                units::format_count(groups, "pattern")
            ))
            .detail(format!(
                "They share it, and each takes at least {}.",
                units::format_seconds(SHORTEST_JOB_MS as f64 / 1000.0)
            ))
            .hint(format!(
                "Give at least {}, or fewer patterns.",
                units::format_seconds((groups * SHORTEST_JOB_MS) as f64 / 1000.0)
            )));
        }
        check_length(job::total_ms(&jobs, ms / groups))?;
        Ok(Bound::DurationMs(ms))
    }
}

/// The time of a job that has none of its own.
fn each_ms(jobs: &[Job], bound: Bound) -> u64 {
    match bound {
        Bound::DurationMs(ms) => ms / job::count_groups(jobs).max(1),
        Bound::Transactions(_) => 0,
    }
}

/// Refuses jobs that take longer than any run may.
fn check_length(total_ms: u64) -> Result<(), Refusal> {
    if total_ms <= check::LONGEST_MS {
        return Ok(());
    }
    Err(Refusal::argument("the jobs of fio take too long")
        .detail(format!(
            "They take {} with their ramp times, and at most 30 days are allowed.",
            units::format_seconds(total_ms as f64 / 1000.0)
        ))
        .hint("Use fewer jobs one after the other, or shorter times."))
}

fn greatest_divisor(one: u64, other: u64) -> u64 {
    match other {
        0 => one,
        _ => greatest_divisor(other, one % other),
    }
}

/// fio limits reads and writes of each job one by one. The jobs share the rate without a rest: `check_rate` refuses other rates.
fn rate_of(access: Access, rate: u64, copies: u64, mix: u64) -> setting::Value {
    let of = |percent: u64| rate * percent / 100 / copies;
    match (access.reads(), access.writes()) {
        (true, true) => setting::Value::Each(of(mix), of(100 - mix)),
        _ => setting::Value::Number(of(100)),
    }
}

fn choose<T>(
    value: &mut Option<T>,
    option: &OwnOption,
    facts: &Facts,
    names: &mut Names,
    chosen: impl FnOnce() -> T,
) {
    if value.is_none() {
        *value = Some(chosen());
        names.add(option, facts);
    }
}
