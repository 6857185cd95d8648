//! Values of expressions, their conversions, and their texts.

use std::fmt::{self, Write as _};

use super::error::EvalError;

/// The value of an expression or of a variable that has its type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    Null,
    Boolean(bool),
    Int(i64),
    Double(f64),
}

/// 2^63: the first double that is too large for a bigint.
const TOO_LARGE: f64 = 9_223_372_036_854_775_808.0;

impl Value {
    /// The name of the type, as pgbench's messages have it.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean(_) => "boolean",
            Self::Int(_) => "int",
            Self::Double(_) => "double",
        }
    }

    /// The value as a bigint. Doubles are rounded half to even.
    #[inline]
    pub fn to_int(self) -> Result<i64, EvalError> {
        match self {
            Self::Int(value) => Ok(value),
            Self::Double(value) => round(value),
            _ => Err(self.cannot_become("int")),
        }
    }

    #[inline]
    pub fn to_double(self) -> Result<f64, EvalError> {
        match self {
            Self::Double(value) => Ok(value),
            Self::Int(value) => Ok(value as f64),
            _ => Err(self.cannot_become("double")),
        }
    }

    /// The value as a boolean: numbers are none.
    #[inline]
    pub fn to_boolean(self) -> Result<bool, EvalError> {
        match self {
            Self::Boolean(value) => Ok(value),
            _ => Err(self.cannot_become("boolean")),
        }
    }

    /// Whether `\if` and CASE take the value as true: numbers other than zero are, NULL is not.
    #[inline]
    pub fn is_true(self) -> bool {
        match self {
            Self::Null => false,
            Self::Boolean(value) => value,
            Self::Int(value) => value != 0,
            Self::Double(value) => value != 0.0,
        }
    }

    #[cold]
    fn cannot_become(self, to: &'static str) -> EvalError {
        EvalError::Coercion {
            from: self.type_name(),
            to,
        }
    }
}

fn round(value: f64) -> Result<i64, EvalError> {
    let rounded = value.round_ties_even();
    if (-TOO_LARGE..TOO_LARGE).contains(&rounded) {
        Ok(rounded as i64)
    } else {
        Err(EvalError::DoubleToInt(rounded))
    }
}

/// The text that replaces a variable in a statement.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Null => f.write_str("NULL"),
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Double(value) => write_double(f, value),
        }
    }
}

/// Significant digits of a double's text.
const DIGITS: i32 = 15;

/// C's `%.15g`, with PostgreSQL's words for values that are no numbers.
fn write_double(f: &mut fmt::Formatter<'_>, value: f64) -> fmt::Result {
    if value.is_nan() {
        return f.write_str("NaN");
    }
    if value.is_infinite() {
        return f.write_str(if value > 0.0 { "Infinity" } else { "-Infinity" });
    }
    let mut text = Short::default();
    write!(text, "{:.*e}", DIGITS as usize - 1, value.abs())?;
    let (mantissa, exponent) = text.as_str().split_once('e').ok_or(fmt::Error)?;
    let exponent: i32 = exponent.parse().map_err(|_| fmt::Error)?;
    if value.is_sign_negative() {
        f.write_char('-')?;
    }
    let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
    if !(-4..DIGITS).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return write!(f, "{mantissa}e{sign}{:02}", exponent.abs());
    }
    write_fixed(f, mantissa, exponent)
}

/// Moves the point of `mantissa` (one digit before it) by `exponent` places.
fn write_fixed(f: &mut fmt::Formatter<'_>, mantissa: &str, exponent: i32) -> fmt::Result {
    let (first, rest) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if exponent < 0 {
        f.write_str("0.")?;
        for _ in 0..-exponent - 1 {
            f.write_char('0')?;
        }
        return write!(f, "{first}{rest}");
    }
    let whole = exponent as usize;
    f.write_str(first)?;
    if rest.len() <= whole {
        return write!(f, "{rest}{}", &ZEROS[..whole - rest.len()]);
    }
    write!(f, "{}.{}", &rest[..whole], &rest[whole..])
}

const ZEROS: &str = "000000000000000";

/// A short text on the stack.
#[derive(Default)]
struct Short {
    bytes: [u8; 32],
    length: usize,
}

impl Short {
    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }
}

impl fmt::Write for Short {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        let place = self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?;
        place.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_have_fifteen_digits() {
        for (value, text) in [
            (0.1 + 0.2, "0.3"),
            (-0.0, "-0"),
            (1e15, "1e+15"),
            (1e14, "100000000000000"),
            (123_456_789_012_345.6, "123456789012346"),
            (999_999_999_999_999.5, "1e+15"),
            (1e-4, "0.0001"),
            (1.5e-5, "1.5e-05"),
            (1e-300, "1e-300"),
            (-1234.5, "-1234.5"),
            (f64::MAX, "1.79769313486232e+308"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(Value::Double(value).to_string(), text);
        }
    }
}
