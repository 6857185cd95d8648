//! Lines of the report of `doctor()`: one function for each line, from its values.

pub mod filesystems;
pub mod helper;
pub mod machine;
pub mod server;

use crate::wording;

/// The words of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The result of the check; empty where its name says all.
    pub detail: String,
    /// Advice, for the case that all is not well.
    pub hint: Option<String>,
}

impl Text {
    fn new(code: &str, detail: impl Into<String>) -> Self {
        Self {
            detail: wording::say(code, || detail.into()),
            hint: None,
        }
    }

    fn advise(self, code: &str, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(wording::say(code, || hint.into())),
            ..self
        }
    }
}

/// A value that needs no words.
pub fn value(value: &str) -> Text {
    Text::new("value", value)
}
