//! The report: lines of a subject, each with what was seen and what to do.

use crate::{
    finding::{self, Finding, RunFacts, Severity},
    texts::doctor::Text,
};

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

/// Checks that no decision reads a sentence: each one is replaced by its code, and the same lines come out.
#[cfg(test)]
pub fn assert_decides_by_codes(check: impl Fn() -> Vec<Line>) {
    let told = check();
    let codes = crate::wording::without(&check);
    let is_code = |line: &Line| line.detail.as_ref().is_none_or(|code| !code.contains(' '));
    assert!(codes.iter().all(is_code), "{codes:?}");
    let decided = |line: Line| (line.subject, line.item, line.state, line.hint.is_some());
    let [told, codes] = [told, codes].map(|lines| lines.into_iter().map(decided));
    assert!(told.eq(codes));
}

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

    /// A line that says what a run would find of these facts by the rule of that code; where it would find nothing, that all is well.
    pub fn foretell(&mut self, item: &str, facts: &RunFacts, code: &str, well: Text) {
        match finding::foretell(facts, code) {
            Some(finding) => self.find(item, finding),
            None => self.say(item, OK, well),
        }
    }

    /// A line that is a finding.
    pub fn find(&mut self, item: impl Into<String>, finding: Finding) {
        let state = match finding.severity {
            Severity::Info => INFO,
            Severity::Warning | Severity::Invalid => WARNING,
        };
        let text = Text {
            detail: finding.message,
            hint: Some(finding.hint),
        };
        self.say(item, state, text);
    }

    /// A line; the advice is left out where all is well.
    pub fn say(&mut self, item: impl Into<String>, state: &'static str, text: Text) {
        self.lines.push(Line {
            subject: self.subject,
            item: item.into(),
            state,
            detail: Some(text.detail).filter(|detail| !detail.is_empty()),
            hint: text.hint.filter(|_| state != OK),
        });
    }
}
