//! Numbers from texts, as C's strtol and strtod read them, without their surprises of locale.

use std::num::ParseIntError;

/// A double from a decimal text without blanks; None when it is none, or is out of range: infinite, or so small that digits are lost.
pub fn decimal(text: &str) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    let digits = text.split(['e', 'E']).next().unwrap_or_default();
    let is_zero = !digits.bytes().any(|b| b.is_ascii_digit() && b != b'0');
    (is_zero || value.is_normal()).then_some(value)
}

/// Whether a text looks like an integer: blanks, a sign, digits. A sign alone does, too, as in pgbench.
pub fn looks_like_int(text: &str) -> bool {
    let text = after_blanks(text);
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    digits.bytes().all(|b| b.is_ascii_digit())
}

/// A bigint from a text that [`looks_like_int`].
pub fn int(text: &str) -> Result<i64, ParseIntError> {
    after_blanks(text).parse()
}

/// A double from the text of a variable: decimal or hexadecimal, infinity or NaN, after blanks.
pub fn double(text: &str) -> Option<f64> {
    let text = after_blanks(text);
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => (-1.0, &text[1..]),
        b'+' => (1.0, &text[1..]),
        _ => (1.0, text),
    };
    let lower = digits.to_ascii_lowercase();
    let value = match lower.as_str() {
        "inf" | "infinity" => f64::INFINITY,
        _ if is_nan(&lower) => f64::NAN,
        _ if lower.starts_with("0x") => hexadecimal(&lower[2..])?,
        _ if digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') => decimal(digits)?,
        _ => return None,
    };
    Some(sign * value)
}

/// Text of a number as C's atoi reads it: what follows the digits does not count.
pub fn leading_int(text: &str) -> i64 {
    let text = after_blanks(text);
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    let value = digits[..count]
        .parse()
        .unwrap_or(if count == 0 { 0 } else { i64::MAX });
    if text.starts_with('-') { -value } else { value }
}

fn after_blanks(text: &str) -> &str {
    text.trim_start_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c'])
}

fn is_nan(lower: &str) -> bool {
    let Some(rest) = lower.strip_prefix("nan") else {
        return false;
    };
    let tag = rest
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'));
    rest.is_empty()
        || tag.is_some_and(|tag| tag.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'))
}

/// The value of hexadecimal digits with an optional point and binary exponent.
fn hexadecimal(text: &str) -> Option<f64> {
    let (digits, exponent) = match text.split_once('p') {
        Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && part.is_empty() {
        return None;
    }
    let mut value = 0.0;
    for digit in whole.chars().chain(part.chars()) {
        value = value * 16.0 + f64::from(digit.to_digit(16)?);
    }
    let power = exponent.checked_sub(4 * i32::try_from(part.len()).ok()?)?;
    // In two steps, each of which a double can hold.
    let (half, rest) = (2f64.powi(power / 2), 2f64.powi(power - power / 2));
    let scaled = value * half * rest;
    let is_exact = scaled != 0.0 && scaled / rest / half == value;
    (value == 0.0 || scaled.is_normal() || is_exact).then_some(scaled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_variables_are_numbers_as_in_c() {
        for (text, value) in [
            ("0x10", Some(16.0)),
            ("-0x1.8p1", Some(-3.0)),
            ("0x1p-1074", Some(f64::from_bits(1))),
            ("0x1p-1100", None),
            (" 1e3", Some(1000.0)),
            (".5", Some(0.5)),
            ("5.", Some(5.0)),
            ("1e-400", None),
            ("1e400", None),
            ("1e-310", None),
            ("0e999", Some(0.0)),
            ("5 ", None),
            (".", None),
            ("0x", None),
            ("e5", None),
            ("--5", None),
            ("1_0", None),
        ] {
            assert_eq!(double(text), value, "{text}");
        }
        assert!(double("-nan(1)").is_some_and(f64::is_nan));
        assert_eq!(double("-INFINITY"), Some(f64::NEG_INFINITY));
    }

    #[test]
    fn what_follows_leading_digits_does_not_count() {
        assert_eq!(leading_int(" -5x"), -5);
        assert_eq!(leading_int("0.9"), 0);
        assert_eq!(leading_int("abc"), 0);
    }
}
