//! A finding: a row of the table `finding`, with its severity and its weight. Rules make it: those of the room `finding`, and those of each
//! workload about its own results.

mod weight;

use serde::{Deserialize, Serialize};

use crate::{rows::Row, wording};

pub use weight::{GROUPS, Group, weight};

/// The code of the finding about a filesystem that could not be released.
pub const NOT_RELEASED: &str = "not_released";
/// The code of the finding that `fsbench.import()` gives to runs of other databases.
pub const IMPORTED: &str = "imported";
/// The code of the finding about a figure that no ratio can be made of.
pub const NOT_POSITIVE: &str = "not_positive";

/// The weight of a finding against a run; ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// To be known; to be expected in such a run.
    Info,
    /// The result can mislead.
    Warning,
    /// The result says nothing about the filesystem.
    Invalid,
}

impl Severity {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Invalid => "invalid",
        }
    }
}

/// One thing that can mislead about a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// For programs: lower case and underscores; never renamed.
    pub code: String,
    pub severity: Severity,
    /// The order among findings that are as severe: see [`weight()`].
    pub weight: i16,
    /// With figures: lower case, one line, no period.
    pub message: String,
    /// Advice: full sentences.
    pub hint: String,
}

/// The words of a finding; the room `texts` makes them.
#[derive(Clone, Debug)]
pub struct Text {
    code: &'static str,
    message: String,
    hint: String,
}

impl Text {
    /// The fields of [`Finding`].
    pub fn new(code: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            code,
            message: wording::say(code, || message.into()),
            hint: wording::say(code, || hint.into()),
        }
    }
}

impl Row for Finding {
    const TABLE: &'static str = "finding";
}

impl Finding {
    pub fn new(severity: Severity, text: Text) -> Self {
        Self {
            code: text.code.into(),
            severity,
            weight: weight(text.code),
            message: text.message,
            hint: text.hint,
        }
    }
}

/// Sorts findings: the worst first, of those that are as bad the heaviest, then by code.
pub fn sort(findings: &mut [Finding]) {
    findings.sort_by(|a, b| (b.severity, b.weight, &a.code).cmp(&(a.severity, a.weight, &b.code)));
}

/// True for a finding about something that is stored nowhere else: it cannot be judged again, and stays as it is.
pub fn is_of_the_moment(code: &str) -> bool {
    [NOT_RELEASED, IMPORTED, NOT_POSITIVE].contains(&code)
}
