//! The announcement of a study. Times are seconds.

use crate::{
    refusal::quoted,
    units::{format_bytes, format_count, format_seconds},
};

/// Why a question has no duration.
const ENDS_BY_ITSELF: &str = "so many transactions end its runs, or all scans";

/// Sizes of a study: its experiments, the fewest and the most runs, and the time of the most.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub variants: u64,
    pub experiments: u64,
    pub least: u64,
    pub most: u64,
    pub seconds: f64,
}

pub fn summary(study: &str, sizes: Sizes) -> String {
    let Sizes { least, most, .. } = sizes;
    let runs = match least == most {
        true => format!("{}, about", format_count(most, "run")),
        false => format!("{least} to {most} runs, at most about"),
    };
    format!(
        "study {study}: {} in {}, {runs} {}",
        format_count(sizes.variants, "variant"),
        format_count(sizes.experiments, "experiment"),
        format_seconds(sizes.seconds)
    )
}

/// Parts of the HINT.
#[derive(Clone, Debug)]
pub struct Hint<'a> {
    pub study: &'a str,
    /// Devices that each run erases.
    pub erased: Vec<&'a str>,
    /// Parts that are not tested, each with the reason.
    pub left: &'a [(String, String)],
    /// Questions that take no duration.
    pub without_duration: Vec<&'a str>,
    /// The sentence on the second pass.
    pub second_pass: Option<String>,
    /// Whether the experiments are started at once.
    pub starts: bool,
}

impl Hint<'_> {
    pub fn words(self) -> String {
        let erased = self.erased.iter();
        let erased = erased.map(|device| format!("Each run erases {}.", quoted(device)));
        let left = self.left.iter().map(|(name, why)| format!("{name}: {why}"));
        let left = left.collect::<Vec<_>>().join(" | ");
        let left = (!left.is_empty()).then(|| format!("Left out here: {left}."));
        let without = self.without_duration.join(", ");
        let without = (!without.is_empty())
            .then(|| format!("duration is not that of {without}: {ENDS_BY_ITSELF}."));
        let study = self.study;
        let next = match self.starts {
            true => format!(
                "See fsbench.experiments, and SELECT * FROM fsbench.study_claims('{study}')."
            ),
            false => {
                "It is only recorded: fsbench.resume_experiment() starts each of its experiments."
                    .to_owned()
            }
        };
        let parts = erased.chain(left).chain(without).chain(self.second_pass);
        let parts: Vec<String> = parts.chain([next]).collect();
        parts.join(" ")
    }
}

/// The parts of the second pass with the settings of today, and its time.
pub fn second_pass(parts: &str, seconds: f64) -> String {
    format!(
        "Beside the published figures are the settings of their time; with those of today, too: part => '{parts}', about {} more.",
        format_seconds(seconds)
    )
}

pub fn author(author: &str, year: impl std::fmt::Display, title: &str) -> String {
    format!("{author}, {year}: {title}")
}

pub fn filesystem(bytes: u64) -> String {
    format!("a filesystem of {}", format_bytes(bytes))
}

/// A claim with the reason against it, or how it is decided.
pub fn claim(says: &str, not_tested: Option<&str>, decided_by: &str) -> String {
    match not_tested {
        Some(why) => format!("{says}: not tested: {why}"),
        None => format!("{says}: {decided_by}"),
    }
}

pub fn settings_of_its_time() -> String {
    "with the settings of its time: what PostgreSQL did not do then is off".into()
}

/// `by_zeros`: files grow by zeros, and not by posix_fallocate.
pub fn extends(by_zeros: bool) -> String {
    match by_zeros {
        true => "with file_extend_method write_zeros: files grow alike on all filesystems",
        false => "with posix_fallocate, since this server has no file_extend_method: on a filesystem without fallocate, files grow more slowly",
    }
    .into()
}

pub fn without_duration() -> String {
    format!("without the duration: {ENDS_BY_ITSELF}")
}

pub fn run(target: &str, seconds: f64) -> String {
    format!("{target}: about {}", format_seconds(seconds))
}
