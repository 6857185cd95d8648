//! The report: lines of a subject, each with what was seen and what to do.

use crate::finding::{self, Finding, RunFacts, Severity};

/// A line of the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// server, machine, helper, or filesystem.
    pub subject: &'static str,
    /// The thing that was checked.
    pub item: String,
    /// ok, info, warning or missing.
    pub state: &'static str,
    /// The result of the check.
    pub detail: Option<String>,
    /// Advice.
    pub hint: Option<String>,
}

/// All is well.
pub const OK: &str = "ok";
/// To be known.
pub const INFO: &str = "info";
/// It can mislead, or get in the way.
pub const WARNING: &str = "warning";
/// Something cannot be done without it.
pub const MISSING: &str = "missing";

/// The lines of one subject.
pub struct Report {
    subject: &'static str,
    /// So far.
    pub lines: Vec<Line>,
}

impl Report {
    pub fn new(subject: &'static str) -> Self {
        Self {
            subject,
            lines: Vec::new(),
        }
    }

    /// A line that needs no advice.
    pub fn add(&mut self, item: impl Into<String>, state: &'static str, detail: impl Into<String>) {
        self.say(item, state, detail, None);
    }

    /// A line that says what a run would find of these facts by the rule of that code; where it would find nothing, that all is well.
    pub fn foretell(&mut self, item: &str, facts: &RunFacts, code: &str, well: impl Into<String>) {
        match finding::foretell(facts, code) {
            Some(finding) => self.find(item, finding),
            None => self.add(item, OK, well),
        }
    }

    /// A line that is a finding.
    pub fn find(&mut self, item: impl Into<String>, finding: Finding) {
        let state = match finding.severity {
            Severity::Info => INFO,
            Severity::Warning | Severity::Invalid => WARNING,
        };
        self.say(item, state, finding.message, Some(finding.hint));
    }

    /// A line; the advice is left out where all is well.
    pub fn say(
        &mut self,
        item: impl Into<String>,
        state: &'static str,
        detail: impl Into<String>,
        hint: Option<String>,
    ) {
        self.lines.push(Line {
            subject: self.subject,
            item: item.into(),
            state,
            detail: Some(detail.into()).filter(|text| !text.is_empty()),
            hint: hint.filter(|_| state != OK),
        });
    }
}
