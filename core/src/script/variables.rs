//! Variables: their names, and the values that one client has. Each name has a slot, so that a use needs no search.

use std::fmt::Write as _;

use super::error::EvalError;
use super::number;
use super::value::Value;

/// The number of a variable in [`Names`] and [`Variables`].
pub type Slot = u32;

/// Variables that exist in each run.
pub const SCALE: Slot = 0;
pub const CLIENT_ID: Slot = 1;
pub const DEFAULT_SEED: Slot = 2;
pub const RANDOM_SEED: Slot = 3;
const AUTOMATIC: [&str; 4] = ["scale", "client_id", "default_seed", "random_seed"];

/// Whether a text is a name for a variable: letters, digits and underscores, no digit first. Characters outside of ASCII count as letters.
pub fn is_name(text: &str) -> bool {
    text.bytes().next().is_some_and(begins_name) && text.bytes().all(continues_name)
}

pub fn begins_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || !byte.is_ascii()
}

pub fn continues_name(byte: u8) -> bool {
    begins_name(byte) || byte.is_ascii_digit()
}

/// The names of all variables of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Names(Vec<Box<str>>);

impl Default for Names {
    fn default() -> Self {
        Self(AUTOMATIC.map(Into::into).to_vec())
    }
}

impl Names {
    /// The slot of a name, which is made when the name is new.
    pub fn intern(&mut self, name: &str) -> Slot {
        self.find(name).unwrap_or_else(|| {
            self.0.push(name.into());
            (self.0.len() - 1) as Slot
        })
    }

    pub fn find(&self, name: &str) -> Option<Slot> {
        let found = self.0.iter().position(|known| **known == *name);
        found.map(|slot| slot as Slot)
    }

    /// Whether the variable exists in each run.
    pub fn is_automatic(slot: Slot) -> bool {
        (slot as usize) < AUTOMATIC.len()
    }

    pub fn name(&self, slot: Slot) -> &str {
        self.0.get(slot as usize).map_or("", |name| name)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The content of a variable.
#[derive(Clone, Debug, Default, PartialEq)]
enum Content {
    #[default]
    Undefined,
    Value(Value),
    /// A text from outside, and its value once an expression has used it.
    Text(String, Option<Value>),
}

/// Why a text has no value; the name is known to the caller only.
enum Fault {
    Undefined,
    Malformed,
    TooLarge,
    NoDigits,
}

/// The variables of one client.
#[derive(Clone, Debug, PartialEq)]
pub struct Variables(Vec<Content>);

impl Variables {
    pub fn new(count: usize) -> Self {
        Self(vec![Content::default(); count])
    }

    #[inline]
    pub fn set(&mut self, slot: Slot, value: Value) {
        self.0[slot as usize] = Content::Value(value);
    }

    /// Stores a text, which gets its type when an expression uses it. The memory of an older text is used again.
    pub fn set_text(&mut self, slot: Slot, text: &str) {
        match &mut self.0[slot as usize] {
            Content::Text(old, value) => {
                *value = None;
                old.clear();
                old.push_str(text);
            }
            other => *other = Content::Text(text.to_owned(), None),
        }
    }

    /// The value of a variable that holds a whole number.
    #[inline]
    pub fn integer(&self, slot: Slot) -> Option<i64> {
        match &self.0[slot as usize] {
            Content::Value(Value::Int(number)) => Some(*number),
            _ => None,
        }
    }

    pub fn is_defined(&self, slot: Slot) -> bool {
        self.0[slot as usize] != Content::Undefined
    }

    /// The value in an expression.
    #[inline]
    pub fn value(&mut self, slot: Slot, names: &Names) -> Result<Value, EvalError> {
        match &self.0[slot as usize] {
            Content::Value(value) | Content::Text(_, Some(value)) => Ok(*value),
            _ => self.value_of_text(slot, names),
        }
    }

    fn value_of_text(&mut self, slot: Slot, names: &Names) -> Result<Value, EvalError> {
        let (text, fault) = match &mut self.0[slot as usize] {
            Content::Text(text, value) => match typed(text) {
                Ok(found) => {
                    *value = Some(found);
                    return Ok(found);
                }
                Err(fault) => (text.clone(), fault),
            },
            _ => (String::new(), Fault::Undefined),
        };
        let name = names.name(slot).to_owned();
        Err(match fault {
            Fault::Undefined => EvalError::UndefinedVariable(name),
            Fault::Malformed => EvalError::MalformedVariable { name, value: text },
            Fault::TooLarge => EvalError::IntegerText(text),
            Fault::NoDigits => EvalError::NoDigits(text),
        })
    }

    /// Appends the text that stands for the variable in a statement; false when it is undefined.
    pub fn write(&self, slot: Slot, to: &mut String) -> bool {
        match &self.0[slot as usize] {
            Content::Undefined => return false,
            Content::Value(value) => {
                // A String takes whatever is written.
                let _ = write!(to, "{value}");
            }
            Content::Text(text, _) => to.push_str(text),
        }
        true
    }
}

/// The value of a text: null, a boolean or its beginning, a bigint, a double.
fn typed(text: &str) -> Result<Value, Fault> {
    let begins = |word: &str| {
        (word.as_bytes().get(..text.len()))
            .is_some_and(|part| part.eq_ignore_ascii_case(text.as_bytes()))
    };
    let is = |word: &str| word.eq_ignore_ascii_case(text);
    if text.is_empty() {
        Err(Fault::Malformed)
    } else if is("null") {
        Ok(Value::Null)
    } else if begins("true") || begins("yes") || is("on") {
        Ok(Value::Boolean(true))
    } else if begins("false") || begins("no") || is("of") || is("off") {
        Ok(Value::Boolean(false))
    } else if number::looks_like_int(text) {
        let has_digits = text.bytes().any(|byte| byte.is_ascii_digit());
        let fault = if has_digits {
            Fault::TooLarge
        } else {
            Fault::NoDigits
        };
        number::int(text).map(Value::Int).map_err(|_| fault)
    } else {
        number::double(text)
            .map(Value::Double)
            .ok_or(Fault::Malformed)
    }
}
