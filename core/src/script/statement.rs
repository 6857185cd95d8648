//! A statement of a script, and the places in it where variables stand.

use std::sync::Arc;

use super::error::EvalError;
use super::token::Span;
use super::variables::{Names, Slot, Variables, begins_name, continues_name};

/// How variables get into statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Variables are parameters.
    Prepared,
    /// Texts replace variables.
    Simple,
}

/// Most uses of variables in a statement with parameters.
pub const MOST_PARAMETERS: usize = 255;

/// The use of the rows of a statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Store {
    #[default]
    Nothing,
    /// `\gset`: one row, into variables whose names begin with the prefix.
    One(String),
    /// `\aset`: the last row of each statement, if it has one.
    Last(String),
}

impl Store {
    /// `\gset` takes one row, no more and no less.
    pub fn check_rows(&self, count: u64) -> Result<(), EvalError> {
        match self {
            Self::One(_) if count != 1 => Err(EvalError::RowCount(count)),
            _ => Ok(()),
        }
    }
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The text as it stands in the script.
    pub text: Arc<str>,
    /// The text with `$1`, `$2`, … in place of variables.
    pub prepared: Arc<str>,
    /// The variable of each use, in their order: those of `$1`, `$2`, ….
    pub parameters: Vec<Slot>,
    /// Where the uses stand in [`Self::text`], with their colons.
    pub places: Vec<Span>,
    pub store: Store,
}

impl Statement {
    pub fn new(text: &str, names: &mut Names) -> Self {
        let places = uses(text);
        let (mut prepared, mut end) = (String::with_capacity(text.len()), 0);
        let mut parameters = Vec::with_capacity(places.len());
        for place in &places {
            parameters.push(names.intern(&text[place.start + 1..place.end]));
            prepared.push_str(&text[end..place.start]);
            prepared.push_str(&format!("${}", parameters.len()));
            end = place.end;
        }
        prepared.push_str(&text[end..]);
        Self {
            text: text.into(),
            prepared: prepared.into(),
            parameters,
            places,
            store: Store::Nothing,
        }
    }

    /// The uses of variables behind a minus sign: in a text with values, a negative one begins a comment there.
    pub fn behind_minus(&self) -> impl Iterator<Item = &str> {
        let is_behind = |place: &&Span| self.text[..place.start].ends_with('-');
        (self.places.iter())
            .filter(is_behind)
            .map(|place| &self.text[place.clone()])
    }

    /// Appends the text with the values of variables; those that are undefined stay as they stand.
    pub fn write_simple(&self, variables: &Variables, to: &mut String) {
        let mut end = 0;
        for (place, slot) in self.places.iter().zip(&self.parameters) {
            to.push_str(&self.text[end..place.start]);
            if !variables.write(*slot, to) {
                to.push_str(&self.text[place.clone()]);
            }
            end = place.end;
        }
        to.push_str(&self.text[end..]);
    }
}

/// Where `:name` stands, in quotes and comments too. Two and more colons in a row begin no name.
fn uses(text: &str) -> Vec<Span> {
    let bytes = text.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(colon) = bytes[at..].iter().position(|byte| *byte == b':') {
        let start = at + colon;
        let rest = &bytes[start + 1..];
        at = if rest.first().is_some_and(|byte| begins_name(*byte)) {
            let length = rest
                .iter()
                .take_while(|byte| continues_name(**byte))
                .count();
            found.push(start..start + 1 + length);
            start + 1 + length
        } else {
            start + 1 + rest.iter().take_while(|byte| **byte == b':').count()
        };
    }
    found
}
