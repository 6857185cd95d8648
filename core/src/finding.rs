//! Findings: what can mislead about a run, each with a code, how bad it is, the figures, and what to do.
//!
//! [`judge`] is a pure function of [`RunFacts`]. Each rule looks at a few facts; a fact that is not known never makes a
//! finding, and never an error.

mod crash;
mod durability;
mod facts;
mod rules;
mod scan;
mod storage;
mod summary;
mod value;
mod weight;

use serde::{Deserialize, Serialize};

use crate::{rows::Row, spec::OwnFinding, texts};

pub use durability::{Class, Code, Device, Durability};
pub use facts::{
    CheckpointFacts, CrashFacts, FlushFacts, IoFacts, MachineFacts, Place, RunFacts, ScanFacts,
    ScanMade, ServerFacts, Statements, StorageFacts, WaitFacts, WalFacts, WalSyncFacts, XminHolder,
    XminHolderKind,
};
pub use rules::{device_reads, fits_memory, is_saturated};
pub use storage::{IMPORTED, NOT_RELEASED, Unreleased, not_released};
pub use summary::summary;
pub use value::{NOT_POSITIVE, not_positive};
pub use weight::{GROUPS, Group, weight};

/// Transactions that hold back vacuum by at least this many ids are old.
pub const OLD_XMIN_AGE: i64 = 10_000;

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

impl Row for Finding {
    const TABLE: &'static str = "finding";
}

impl Finding {
    pub fn new(
        code: &str,
        severity: Severity,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            code: code.into(),
            severity,
            weight: weight(code),
            message: texts::say(code, || message.into()),
            hint: texts::say(code, || hint.into()),
        }
    }
}

impl From<OwnFinding> for Finding {
    fn from(own: OwnFinding) -> Self {
        let severity = match own.is_warning {
            true => Severity::Warning,
            false => Severity::Info,
        };
        Self::new(own.code, severity, own.message, own.hint)
    }
}

/// All findings about a run, as [`sort`] sorts them.
pub fn judge(facts: &RunFacts) -> Vec<Finding> {
    let mut findings: Vec<Finding> = rules::ALL.iter().filter_map(|rule| rule(facts)).collect();
    let own = facts.workload.map(|workload| workload.findings(&facts.own));
    findings.extend(own.into_iter().flatten().map(Finding::from));
    sort(&mut findings);
    findings
}

/// The finding of that code that a run would have, by facts that are known beforehand.
pub fn foretell(facts: &RunFacts, code: &str) -> Option<Finding> {
    judge(facts).into_iter().find(|found| found.code == code)
}

/// Sorts findings: the worst first, of those that are as bad the heaviest, then by code.
pub fn sort(findings: &mut [Finding]) {
    findings.sort_by(|a, b| (b.severity, b.weight, &a.code).cmp(&(a.severity, a.weight, &b.code)));
}

/// True for a finding about something that is stored nowhere else: it cannot be judged again, and stays as it is.
pub fn is_of_the_moment(code: &str) -> bool {
    [NOT_RELEASED, IMPORTED, NOT_POSITIVE].contains(&code)
}

#[cfg(test)]
mod tests;
