//! Why something is not done: the one error type of this package.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{sqlstate, wording};

/// The kinds of refusals: what a caller can do about them. Each has one SQLSTATE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// An argument is wrong, whatever the state of the server.
    InvalidArgument,
    /// A text of a language is wrong.
    Syntax,
    /// The server is not in a state in which this is done: not preloaded, busy, a standby, archiving.
    NotInThisState,
    /// Too few background worker slots.
    NoWorkerSlot,
    /// Not enough room on a disk.
    DiskFull,
    /// The user may not do this.
    NotAllowed,
    /// The user or a timeout has cancelled it.
    Cancelled,
    /// Data is not what it must be.
    WrongData,
    /// The operating system has failed.
    System,
    /// A bug.
    Internal,
}

impl Kind {
    /// The SQLSTATE with which the extension raises it.
    pub fn sqlstate(self) -> &'static str {
        match self {
            Self::InvalidArgument => sqlstate::INVALID_PARAMETER,
            Self::Syntax => sqlstate::SYNTAX_ERROR,
            Self::NotInThisState => sqlstate::NOT_IN_THIS_STATE,
            Self::NoWorkerSlot => sqlstate::NO_RESOURCES,
            Self::DiskFull => sqlstate::DISK_FULL,
            Self::NotAllowed => sqlstate::NOT_ALLOWED,
            Self::Cancelled => sqlstate::CANCELED,
            Self::WrongData => sqlstate::CORRUPTED,
            Self::System => sqlstate::SYSTEM,
            Self::Internal => sqlstate::INTERNAL,
        }
    }
}

/// An error in the form of PostgreSQL's: what, in which circumstances, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    pub kind: Kind,
    /// Lower case, one line, no period.
    pub message: String,
    /// The circumstances, with figures: full sentences.
    pub detail: Option<String>,
    /// Full sentences.
    pub hint: Option<String>,
}

impl Refusal {
    /// A refusal without DETAIL and HINT.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: wording::say("refused", || message.into()),
            detail: None,
            hint: None,
        }
    }

    /// A refusal of kind [`Kind::InvalidArgument`].
    pub fn argument(message: impl Into<String>) -> Self {
        Self::new(Kind::InvalidArgument, message)
    }

    pub fn detail(self, detail: impl Into<String>) -> Self {
        Self {
            detail: Some(wording::say("detail", || detail.into())),
            ..self
        }
    }

    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(wording::say("hint", || hint.into())),
            ..self
        }
    }
}

/// A text of the caller's in double quotes, fit for a message of one line: what cannot be seen is escaped, and what is longer
/// than 80 characters is cut.
pub fn quoted(text: &str) -> String {
    quoted_up_to(text, LONGEST_QUOTE)
}

/// [`quoted`], where what is longer than `most` characters is cut.
pub fn quoted_up_to(text: &str, most: usize) -> String {
    let beginning: String = text.chars().take(most).collect();
    let cut = text.chars().nth(most).is_some();
    let shown = crate::escape::one_line(&beginning);
    format!("\"{shown}{}\"", if cut { "..." } else { "" })
}

const LONGEST_QUOTE: usize = 80;

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}

#[cfg(test)]
pub(crate) mod check {
    use super::Refusal;

    /// Asserts that a refusal follows PostgreSQL's style guide, and has a DETAIL and a HINT.
    pub fn style(refusal: &Refusal) {
        let Refusal {
            message,
            detail,
            hint,
            ..
        } = refusal;
        assert!(
            message.starts_with(|c: char| c.is_lowercase() || c == '"'),
            "{message}"
        );
        assert!(
            !message.ends_with('.') && !message.contains('\n'),
            "{message}"
        );
        for text in [detail, hint] {
            let text = text
                .as_deref()
                .unwrap_or_else(|| panic!("no DETAIL or HINT: {message}"));
            assert!(
                text.ends_with('.') && text.starts_with(|c: char| !c.is_lowercase()),
                "{text}"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_step_by_step_shown_and_serialized() {
        let refusal = Refusal::new(Kind::DiskFull, "not enough room")
            .detail("1 GB is free.")
            .hint("Make room.");
        assert_eq!(refusal.to_string(), "not enough room");
        check::style(&refusal);
        let json = serde_json::to_string(&refusal).unwrap();
        assert!(json.contains(r#""kind":"disk_full""#), "{json}");
        assert_eq!(serde_json::from_str::<Refusal>(&json).unwrap(), refusal);
    }

    #[test]
    fn quoted_texts_stay_in_one_line() {
        assert_eq!(quoted("größe"), "\"größe\"");
        assert_eq!(quoted("a\nb\u{2028}"), "\"a\\nb\\u{2028}\"");
        assert_eq!(
            quoted(&"x".repeat(81)),
            format!("\"{}...\"", "x".repeat(80))
        );
    }
}
