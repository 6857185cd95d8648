//! The report: lines of a subject, each with what was seen and what to do.

/// A line of the report.
pub struct Line {
    /// server, machine, helper, or filesystem.
    pub subject: &'static str,
    /// What was looked at.
    pub item: String,
    /// ok, info, warning or missing.
    pub state: &'static str,
    /// What was seen.
    pub detail: Option<String>,
    /// What to do.
    pub hint: Option<String>,
}

pub const OK: &str = "ok";
pub const INFO: &str = "info";
pub const WARNING: &str = "warning";
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
