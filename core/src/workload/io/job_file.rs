//! Job files from outside: parsed line by line into jobs of typed values. A line that the allow-list does not have is refused with
//! its number and its option. fio never sees the text.

use super::{
    job::{Access, Job, MOST_JOBS},
    setting::{self, Kind, STEADY_SECONDS, STEADY_STATE, Setting, Value},
};
use crate::refusal::{Refusal, quoted};

/// Bytes of the largest job file.
pub const MOST_BYTES: usize = 65_536;
/// The longest name of a job.
const LONGEST_NAME: usize = 40;
/// The longest time of a job.
const LONGEST_MS: u64 = 7 * 24 * 3_600_000;
/// Most copies of a job.
const MOST_COPIES: u64 = 256;

/// One section, with what it has from `[global]`.
#[derive(Clone, Default)]
struct Section {
    access: Option<Access>,
    copies: Option<u64>,
    size: Option<u64>,
    runtime_ms: Option<u64>,
    time_based: bool,
    ramp_ms: u64,
    waits: bool,
    settings: Vec<Setting>,
}

/// Parses a job file.
pub fn parse(text: &str) -> Result<Vec<Job>, Refusal> {
    if text.len() > MOST_BYTES {
        return Err(Refusal::argument("the job file is too large")
            .detail(format!(
                "It has {} bytes, and at most {MOST_BYTES} are read.",
                text.len()
            ))
            .hint("Leave out jobs, or give them in several runs."));
    }
    let mut global = Section::default();
    let mut jobs: Vec<(String, Section)> = Vec::new();
    let mut in_global = true;
    for (line, number) in text.split('\n').zip(1..) {
        let line = line.strip_suffix('\r').unwrap_or(line).trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = line.strip_prefix('[') {
            let name = name.strip_suffix(']').filter(|name| is_name(name));
            let name = name.ok_or_else(|| wrong_name(number, line))?;
            in_global = name == "global";
            if !in_global {
                if jobs.len() == MOST_JOBS || jobs.iter().any(|(known, _)| known == name) {
                    return Err(wrong_name(number, line));
                }
                jobs.push((name.to_owned(), global.clone()));
            }
            continue;
        }
        let section = match jobs.last_mut() {
            Some((_, section)) if !in_global => section,
            _ => &mut global,
        };
        section.read(line, number)?;
    }
    if jobs.is_empty() {
        return Err(Refusal::argument("the job file has no job")
            .detail("A job begins with its name in brackets.")
            .hint("Write at least one section beside [global]."));
    }
    jobs.into_iter()
        .map(|(name, section)| section.finish(name))
        .collect()
}

fn is_name(name: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-';
    !name.is_empty() && name.len() <= LONGEST_NAME && name.bytes().all(is_plain)
}

fn wrong_name(number: usize, line: &str) -> Refusal {
    Refusal::argument(format!("line {number} of the job file begins no job: {}", quoted(line)))
        .detail(format!(
            "A job file has at most {MOST_JOBS} jobs, each with a name of its own: at most {LONGEST_NAME} lower-case letters, digits, _ and -."
        ))
        .hint("Write a name such as [random-reads].")
}

/// The option and the line of a refusal.
struct OptionLine<'a> {
    number: usize,
    name: &'a str,
}

impl OptionLine<'_> {
    fn invalid(&self, expected: &str) -> Refusal {
        Refusal::argument(format!(
            "line {} of the job file: invalid value of {}",
            self.number,
            quoted(self.name)
        ))
        .detail(format!("It takes {expected}."))
        .hint("Correct the line.")
    }

    fn number(&self, value: Option<&str>, least: u64, most: u64) -> Result<u64, Refusal> {
        match setting::parse(Kind::Number(least, most), value) {
            Ok(Value::Number(n)) => Ok(n),
            Ok(_) => Err(self.invalid("a number")),
            Err(expected) => Err(self.invalid(&expected)),
        }
    }

    fn flag(&self, value: Option<&str>) -> Result<bool, Refusal> {
        let value = setting::parse(Kind::Flag, value);
        let value = value.map_err(|expected| self.invalid(&expected))?;
        Ok(value == Value::Number(1))
    }

    fn milliseconds(&self, value: Option<&str>) -> Result<u64, Refusal> {
        let ms = value.and_then(setting::milliseconds);
        ms.filter(|ms| *ms <= LONGEST_MS)
            .ok_or_else(|| self.invalid("a time of at most a week, such as 60 or 500ms"))
    }
}

impl Section {
    fn read(&mut self, line: &str, number: usize) -> Result<(), Refusal> {
        let (name, value) = match line.split_once('=') {
            None => (line, None),
            Some((name, value)) => (name.trim(), Some(value.trim())),
        };
        let at = OptionLine { number, name };
        match name {
            "rw" | "readwrite" => {
                let access = value.and_then(Access::parse);
                let known: Vec<&str> = Access::ALL.iter().map(|access| access.as_str()).collect();
                let expected = || at.invalid(&format!("one of {}", known.join(", ")));
                self.access = Some(access.ok_or_else(expected)?);
            }
            "numjobs" => self.copies = Some(at.number(value, 1, MOST_COPIES)?),
            "size" => {
                let size = value
                    .and_then(setting::bytes)
                    .filter(|bytes| *bytes >= 4096);
                let expected = || at.invalid("at least 4096 bytes, such as 1g");
                self.size = Some(size.filter(|n| *n < 1 << 50).ok_or_else(expected)?);
            }
            "runtime" => self.runtime_ms = Some(at.milliseconds(value)?.max(1)),
            "ramp_time" => self.ramp_ms = at.milliseconds(value)?,
            "time_based" => self.time_based = at.flag(value)?,
            "stonewall" => self.waits = at.flag(value)?,
            _ => {
                let (known, kind) = setting::find(name).ok_or_else(|| not_allowed(&at))?;
                let value =
                    setting::parse(kind, value).map_err(|expected| at.invalid(&expected))?;
                self.settings.retain(|setting| setting.name != known);
                self.settings.push(Setting { name: known, value });
            }
        }
        Ok(())
    }

    fn finish(self, name: String) -> Result<Job, Refusal> {
        let lacks = |what: &str, hint: &str| {
            Refusal::argument(format!(
                "job {} of the job file has no {what}",
                quoted(&name)
            ))
            .detail("In a job file, pgfsbench chooses nothing.")
            .hint(format!("Write {hint}."))
        };
        let access = self
            .access
            .ok_or_else(|| lacks("rw", "rw=randread, for example"))?;
        let file_bytes = self
            .size
            .ok_or_else(|| lacks("size", "size=1g, for example"))?;
        let has = |name| self.settings.iter().any(|setting| setting.name == name);
        match (has(STEADY_STATE), has(STEADY_SECONDS)) {
            (true, false) => {
                return Err(lacks(
                    STEADY_SECONDS,
                    "steadystate_duration=30, for example",
                ));
            }
            (false, true) => {
                return Err(lacks(
                    STEADY_STATE,
                    "steadystate=iops_slope:0.3%, for example",
                ));
            }
            _ => {}
        }
        let is_on = |setting: &&Setting| {
            matches!(setting.name, "fsync" | "fdatasync") && setting.value != Value::Number(0)
        };
        let syncs = self.settings.iter().filter(is_on).count();
        if syncs > 1 {
            return Err(Refusal::argument(format!(
                "job {} of the job file has both fsync and fdatasync",
                quoted(&name)
            ))
            .detail("One histogram of fio has the times of both.")
            .hint("Leave one of them out."));
        }
        Ok(Job {
            syncs: access.writes() && syncs > 0,
            name,
            access,
            copies: self.copies.unwrap_or(1),
            file_bytes,
            runtime_ms: self.runtime_ms,
            time_based: self.time_based,
            ramp_ms: self.ramp_ms,
            waits: self.waits,
            settings: self.settings,
        })
    }
}

/// Everything that is not on the list. Names of files are among them: pgfsbench names the files of a run.
fn not_allowed(at: &OptionLine) -> Refusal {
    let mut known: Vec<&str> = setting::ALLOWED.iter().map(|(name, _)| *name).collect();
    known.extend([
        "rw",
        "numjobs",
        "size",
        "runtime",
        "ramp_time",
        "time_based",
        "stonewall",
    ]);
    known.sort_unstable();
    let hint = match nearest(at.name, &known) {
        Some(name) => format!("Write {name}, or leave the line out."),
        None => format!("Leave the line out. Allowed are {}.", known.join(", ")),
    };
    Refusal::argument(format!(
        "line {} of the job file: option {} is not allowed",
        at.number,
        quoted(at.name)
    ))
    .detail("Many options of fio read, write or run something that the caller did not name. The run has files of its own.")
    .hint(hint)
}

/// The name that differs from this one by a slip of the keyboard: one letter in four at most.
fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let name = name.to_ascii_lowercase();
    let differ = |other: &&str| differing_letters(&name, other);
    let nearest = known.iter().min_by_key(|other| differ(other))?;
    let most = (name.len() / 4).clamp(1, 3);
    (differ(nearest) <= most).then_some(*nearest)
}

/// Letters that are added, removed or replaced from one word to the other (Levenshtein).
fn differing_letters(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.bytes().enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, b) in other.bytes().enumerate() {
            let replaced = before + usize::from(a != b);
            before = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(before + 1);
        }
    }
    row[other.len()]
}
