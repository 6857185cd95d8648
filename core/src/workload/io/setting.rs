//! Settings of a job: the allow-list, with the type of each value. A value is parsed to a number, a flag or a word of a list, and
//! written anew from that.

use std::fmt;

/// The kind of a setting's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// 0 or 1; the name alone is 1.
    Flag,
    /// A whole number in a range.
    Number(u64, u64),
    /// Bytes, with or without a unit.
    Bytes(u64, u64),
    /// A whole number for reads, and another for writes if a comma follows.
    NumberEach(u64, u64),
    /// Bytes for reads, and others for writes if a comma follows.
    BytesEach(u64, u64),
    /// Microseconds, or a time with a unit; written as microseconds.
    Microseconds(u64),
    /// One of these words.
    Word(&'static [&'static str]),
    /// Sizes of blocks, each with its share in percent.
    Split,
    /// A distribution of random places, with its parameter.
    Distribution,
    /// A figure of a window of seconds, and the percentage by which it may vary.
    Steadiness,
}

const BLOCK: (u64, u64) = (512, 16 << 20);
const MOST_BYTES: u64 = 1 << 50;

/// Settings that a job file from outside may have, beside those that make a [`super::job::Job`] what it is.
pub const ALLOWED: &[(&str, Kind)] = &[
    ("bs", Kind::BytesEach(BLOCK.0, BLOCK.1)),
    ("io_size", Kind::Bytes(1, MOST_BYTES)),
    ("iodepth", Kind::Number(1, 1024)),
    ("direct", Kind::Flag),
    ("fsync", Kind::Number(0, 1_000_000_000)),
    ("fdatasync", Kind::Number(0, 1_000_000_000)),
    ("end_fsync", Kind::Flag),
    ("rwmixread", Kind::Number(0, 100)),
    ("random_distribution", Kind::Distribution),
    ("percentage_random", Kind::NumberEach(0, 100)),
    ("bssplit", Kind::Split),
    ("rate_iops", Kind::NumberEach(1, 1_000_000_000)),
    ("thinktime", Kind::Microseconds(3_600_000_000)),
    ("invalidate", Kind::Flag),
    (
        "fadvise_hint",
        Kind::Word(&["0", "1", "none", "sequential", "random"]),
    ),
    (
        "fallocate",
        Kind::Word(&["none", "posix", "keep", "native", "truncate", "0", "1"]),
    ),
    ("randseed", Kind::Number(0, u64::MAX)),
    ("norandommap", Kind::Flag),
    ("buffer_compress_percentage", Kind::Number(0, 100)),
    ("dedupe_percentage", Kind::Number(0, 100)),
    ("refill_buffers", Kind::Flag),
    ("ioengine", Kind::Word(ENGINES)),
    (STEADY_STATE, Kind::Steadiness),
    (STEADY_SECONDS, Kind::Number(1, 86_400)),
];

/// The criterion by which fio ends a job as steady, and the seconds of the window that it looks at.
pub const STEADY_STATE: &str = "steadystate";
pub const STEADY_SECONDS: &str = "steadystate_duration";

/// Figures of a window: the largest deviation from the mean, or the slope per second, of operations or bytes per second.
const STEADY_FIGURES: &[&str] = &["iops", "iops_slope", "bw", "bw_slope"];

/// The engines that work on files, and load nothing.
pub const ENGINES: &[&str] = &[
    "sync", "psync", "pvsync2", "libaio", "io_uring", "mmap", "posixaio", "null",
];

/// The engines that keep several operations going at the same time.
pub const ASYNCHRONOUS: &[&str] = &["libaio", "io_uring", "posixaio"];

/// A setting whose value was parsed.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    pub name: &'static str,
    pub value: Value,
}

/// The value of a setting.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A flag, a number, bytes or microseconds.
    Number(u64),
    /// For reads, and for writes.
    Each(u64, u64),
    Word(&'static str),
    /// Sizes with shares in percent.
    Split(Vec<(u64, u64)>),
    /// The name of a distribution, and its parameter in thousandths.
    Distribution(&'static str, Option<u64>),
    /// A figure, and thousandths of a percent.
    Steadiness(&'static str, u64),
}

impl Value {
    /// The largest number in it.
    pub fn largest(&self) -> u64 {
        match self {
            Self::Number(n) => *n,
            Self::Each(read, write) => *read.max(write),
            Self::Split(parts) => parts.iter().map(|(bytes, _)| *bytes).max().unwrap_or(0),
            Self::Word(_) | Self::Distribution(..) | Self::Steadiness(..) => 0,
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.value)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(n) => write!(f, "{n}"),
            Self::Each(read, write) => write!(f, "{read},{write}"),
            Self::Word(word) => f.write_str(word),
            Self::Split(parts) => {
                let parts: Vec<String> = parts
                    .iter()
                    .map(|(bytes, percent)| format!("{bytes}/{percent}"))
                    .collect();
                f.write_str(&parts.join(":"))
            }
            Self::Distribution(name, None) => f.write_str(name),
            Self::Distribution(name, Some(n)) => {
                write!(f, "{name}:{}.{:03}", n / 1000, n % 1000)
            }
            Self::Steadiness(name, n) => write!(f, "{name}:{}.{:03}%", n / 1000, n % 1000),
        }
    }
}

/// The setting of this name, as the allow-list has it.
pub fn find(name: &str) -> Option<(&'static str, Kind)> {
    let name = match name {
        "blocksize" => "bs",
        "ss" => STEADY_STATE,
        "ss_dur" => STEADY_SECONDS,
        _ => name,
    };
    ALLOWED.iter().find(|(known, _)| *known == name).copied()
}

/// Parses a value; Err says what it should be. None: the name stands alone.
pub fn parse(kind: Kind, text: Option<&str>) -> Result<Value, String> {
    let given = text.ok_or("a value");
    match kind {
        Kind::Flag => match text.unwrap_or("1") {
            "0" => Ok(Value::Number(0)),
            "1" => Ok(Value::Number(1)),
            _ => Err("0 or 1".into()),
        },
        Kind::Number(least, most) => whole(given?, least, most).map(Value::Number),
        Kind::Bytes(least, most) => bytes_within(given?, least, most).map(Value::Number),
        Kind::NumberEach(least, most) => each(given?, |text| whole(text, least, most)),
        Kind::BytesEach(least, most) => each(given?, |text| bytes_within(text, least, most)),
        Kind::Microseconds(most) => microseconds(given?)
            .filter(|us| *us <= most)
            .map(Value::Number)
            .ok_or_else(|| "a time of at most an hour, such as 100us".into()),
        Kind::Word(words) => {
            let given = given?;
            let word = words.iter().find(|word| **word == given);
            word.map(|word| Value::Word(word))
                .ok_or_else(|| format!("one of {}", words.join(", ")))
        }
        Kind::Split => split(given?),
        Kind::Distribution => distribution(given?),
        Kind::Steadiness => steadiness(given?),
    }
}

fn whole(text: &str, least: u64, most: u64) -> Result<u64, String> {
    digits(text)
        .filter(|n| (least..=most).contains(n))
        .ok_or_else(|| format!("a whole number between {least} and {most}"))
}

/// Digits only: neither a sign nor a base.
fn digits(text: &str) -> Option<u64> {
    let is_plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    is_plain.then(|| text.parse().ok()).flatten()
}

fn bytes_within(text: &str, least: u64, most: u64) -> Result<u64, String> {
    bytes(text)
        .filter(|n| (least..=most).contains(n))
        .ok_or_else(|| {
            format!("a whole number of bytes between {least} and {most}, such as 8k or 2g")
        })
}

/// A size as fio reads it by default: each unit is 1024 of the one before.
pub fn bytes(text: &str) -> Option<u64> {
    let end = text.bytes().position(|b| !b.is_ascii_digit());
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let power = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 1,
        "m" | "mb" | "mib" => 2,
        "g" | "gb" | "gib" => 3,
        "t" | "tb" | "tib" => 4,
        _ => return None,
    };
    digits(number)?.checked_mul(1024u64.pow(power))
}

/// A time in microseconds; a number alone is microseconds.
fn microseconds(text: &str) -> Option<u64> {
    time(text, 1)
}

/// A time in milliseconds; a number alone is seconds.
pub fn milliseconds(text: &str) -> Option<u64> {
    time(text, 1_000_000).map(|us| us.div_ceil(1000))
}

fn time(text: &str, usual_us: u64) -> Option<u64> {
    let end = text.bytes().position(|b| !b.is_ascii_digit());
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let us = match unit {
        "" => usual_us,
        "us" | "usec" => 1,
        "ms" | "msec" => 1_000,
        "s" | "sec" => 1_000_000,
        "m" | "min" => 60_000_000,
        "h" | "hr" => 3_600_000_000,
        _ => return None,
    };
    digits(number)?.checked_mul(us)
}

fn each(text: &str, one: impl Fn(&str) -> Result<u64, String>) -> Result<Value, String> {
    match text.split_once(',') {
        None => one(text).map(Value::Number),
        Some((read, write)) => Ok(Value::Each(one(read.trim())?, one(write.trim())?)),
    }
}

/// Sizes and shares, such as `4k/50:8k/50`. Each share is written, and they add up to 100.
fn split(text: &str) -> Result<Value, String> {
    let expected = || "sizes with shares that add up to 100, such as 4k/30:8k/70".to_owned();
    let part = |part: &str| {
        let (size, percent) = part.split_once('/')?;
        let size = bytes(size).filter(|n| (BLOCK.0..=BLOCK.1).contains(n))?;
        Some((size, digits(percent).filter(|n| (1..=100).contains(n))?))
    };
    let parts: Option<Vec<(u64, u64)>> = text.split(':').map(part).collect();
    let parts = parts
        .filter(|parts| parts.len() <= 64)
        .ok_or_else(expected)?;
    match parts.iter().map(|(_, percent)| percent).sum::<u64>() {
        100 => Ok(Value::Split(parts)),
        _ => Err(expected()),
    }
}

/// `random`, `zipf:1.2`, `pareto:0.2` or `normal:20`. Zones name places of the file, which are not needed here.
fn distribution(text: &str) -> Result<Value, String> {
    let expected = || "random, zipf:N, pareto:N or normal:N".to_owned();
    let (name, parameter) = match text.split_once(':') {
        None => (text, None),
        Some((name, parameter)) => (name, Some(thousandths(parameter).ok_or_else(expected)?)),
    };
    match (name, parameter) {
        ("random", None) => Ok(Value::Distribution("random", None)),
        // fio takes no theta of 1.
        ("zipf", Some(n)) if n != 1000 && n > 0 => Ok(Value::Distribution("zipf", Some(n))),
        ("pareto", Some(n)) if (1..1000).contains(&n) => Ok(Value::Distribution("pareto", Some(n))),
        ("normal", Some(n)) if (1..=100_000).contains(&n) => {
            Ok(Value::Distribution("normal", Some(n)))
        }
        _ => Err(expected()),
    }
}

/// A figure and a percentage, such as `iops_slope:0.3%`. fio takes absolute figures too, which say nothing of another target.
fn steadiness(text: &str) -> Result<Value, String> {
    let parsed = || {
        let (name, percent) = text.split_once(':')?;
        let name = STEADY_FIGURES.iter().find(|known| **known == name)?;
        let percent = thousandths(percent.strip_suffix('%')?)?;
        (1..=100_000)
            .contains(&percent)
            .then_some(Value::Steadiness(name, percent))
    };
    parsed().ok_or_else(|| {
        format!(
            "one of {} with a percentage, such as iops_slope:0.3%",
            STEADY_FIGURES.join(", ")
        )
    })
}

fn thousandths(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let scale = 10u64.pow(3u32.checked_sub(part.len() as u32)?);
    let whole = digits(whole).filter(|n| *n < 1_000_000)?;
    Some(whole * 1000 + digits(part)? * scale)
}
