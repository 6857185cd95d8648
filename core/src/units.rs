//! Sizes: parsed from text, turned into pgbench's scale and back, and written for people.

mod format;
mod scale;

pub use format::{
    format_bytes, format_count, format_figure, format_ids, format_microseconds, format_seconds,
    format_share, format_tenths,
};
pub use scale::{
    ACCOUNTS, MAX_SCALE, PAGE, TELLERS, accounts_per_page, bytes_for_scale, bytes_for_scale_at,
    rows_per_page, scale_for_size,
};

use crate::refusal::{Kind, Refusal, quoted};

/// A number that the server has given as text; what is none is a bug, and must not pass for 0.
pub fn whole_number(what: &str, text: Option<&str>) -> Result<i64, Refusal> {
    let text = text.unwrap_or_default();
    text.parse().map_err(|_| {
        Refusal::new(
            Kind::Internal,
            format!("{what} is no whole number: {}", quoted(text)),
        )
    })
}

/// Parses a size such as `8GB`, `512 MB`, `1.5TB`, `2x ram` or `50% ram` into bytes, rounded to whole ones; `memory_bytes`
/// is what `ram` stands for. Units are PostgreSQL's: B, kB, MB, GB and TB, each 1024 of the one before, in upper or lower
/// case; there is no default unit. Refuses (`InvalidArgument`) what is empty, not a number, not above zero, of an unknown
/// unit, or beyond a bigint.
pub fn parse_size(text: &str, memory_bytes: u64) -> Result<u64, Refusal> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Err(refuse(
            "size is empty",
            "The text holds no number and no unit.",
        ));
    }
    let end = trimmed.find(|c: char| !matches!(c, '0'..='9' | '.' | '+' | '-'));
    let (number, unit) = trimmed.split_at(end.unwrap_or(trimmed.len()));
    let shown = quoted(text);
    let Ok(number) = number.parse::<f64>() else {
        return Err(refuse(
            format!("invalid size {shown}"),
            "It does not begin with a number.",
        ));
    };
    if number <= 0.0 {
        return Err(refuse(
            format!("size {shown} is not above zero"),
            "A size is a positive number of bytes.",
        ));
    }
    let bytes = (number * unit_bytes(unit, &shown, memory_bytes)?).round();
    if bytes < 1.0 {
        return Err(refuse(
            format!("size {shown} is not above zero"),
            "It is less than half a byte.",
        ));
    }
    if bytes >= i64::MAX as f64 {
        return Err(refuse(
            format!("size {shown} is too large"),
            "The largest size is below 8388608 TB.",
        ));
    }
    Ok(bytes as u64)
}

fn unit_bytes(unit: &str, shown: &str, memory_bytes: u64) -> Result<f64, Refusal> {
    let words = unit.to_lowercase().replace('x', " x ").replace('%', " % ");
    let words: Vec<&str> = words.split_whitespace().collect();
    let bytes = match words.as_slice() {
        [] => {
            let message = format!("size {shown} has no unit");
            return Err(refuse(
                message,
                "A number alone could mean bytes, pages or a scale.",
            ));
        }
        ["b" | "bytes"] => 1.0,
        ["kb"] => 1024.0,
        ["mb"] => 1024f64.powi(2),
        ["gb"] => 1024f64.powi(3),
        ["tb"] => 1024f64.powi(4),
        ["x", "ram"] => memory_bytes as f64,
        ["%", "ram"] | ["%", "of", "ram"] => memory_bytes as f64 / 100.0,
        _ => {
            let message = format!("invalid size {shown}");
            return Err(refuse(
                message,
                format!("There is no unit {}.", quoted(unit.trim())),
            ));
        }
    };
    Ok(bytes)
}

fn refuse(message: impl Into<String>, detail: impl Into<String>) -> Refusal {
    let hint = "Write a number and one of the units B, kB, MB, GB, TB, \"x ram\" or \"% ram\", such as \"8GB\" or \"2x ram\".";
    Refusal::argument(message).detail(detail).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::check;
    use proptest::prelude::*;

    const GB: u64 = 1 << 30;

    #[test]
    fn what_is_no_number_is_not_0() {
        assert_eq!(whole_number("work_mem", Some("64")), Ok(64));
        for text in [None, Some(""), Some("8MB"), Some("99999999999999999999")] {
            let refused = whole_number("work_mem", text).expect_err("a bug");
            assert_eq!(refused.kind, Kind::Internal, "{text:?}");
            assert!(refused.message.starts_with("work_mem is no whole number"));
        }
    }

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("8GB", 8 * GB),
            ("512 MB", GB / 2),
            ("1.5TB", 1536 * GB),
            (" 10kb ", 10240),
            ("1 b", 1),
            ("8192 bytes", 8192),
            ("2x ram", 8 * GB),
            ("2 X RAM", 8 * GB),
            ("1.5xram", 6 * GB),
            ("50% ram", 2 * GB),
            ("25 % of ram", GB),
            ("0.5 kB", 512),
            (".5kB", 512),
        ] {
            assert_eq!(parse_size(text, 4 * GB), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_no_size() {
        for (text, message) in [
            ("", "size is empty"),
            ("  ", "size is empty"),
            ("8", "size \"8\" has no unit"),
            ("big", "invalid size \"big\""),
            ("NaN GB", "invalid size \"NaN GB\""),
            ("inf GB", "invalid size \"inf GB\""),
            ("1e3 GB", "invalid size \"1e3 GB\""),
            ("1-2GB", "invalid size \"1-2GB\""),
            ("8 GiB", "invalid size \"8 GiB\""),
            ("8 M", "invalid size \"8 M\""),
            ("8 PB", "invalid size \"8 PB\""),
            ("2x", "invalid size \"2x\""),
            ("50%", "invalid size \"50%\""),
            ("2 ram", "invalid size \"2 ram\""),
            ("8 GB 4 MB", "invalid size \"8 GB 4 MB\""),
            ("-1GB", "size \"-1GB\" is not above zero"),
            ("0GB", "size \"0GB\" is not above zero"),
            ("0.1B", "size \"0.1B\" is not above zero"),
            ("9999999999TB", "size \"9999999999TB\" is too large"),
        ] {
            let refusal = parse_size(text, 4 * GB).expect_err(text);
            assert_eq!(
                (refusal.kind, refusal.message.as_str()),
                (Kind::InvalidArgument, message)
            );
            check::style(&refusal);
        }
        assert!(parse_size("2x ram", 0).is_err(), "unknown memory");
    }

    proptest! {
        #[test]
        fn never_panics(text in "\\PC*", memory: u64) {
            if let Err(refusal) = parse_size(&text, memory) {
                prop_assert!(refusal.hint.is_some());
            }
        }

        #[test]
        fn whole_megabytes_are_exact(n in 1u64..1_000_000) {
            prop_assert_eq!(parse_size(&format!("{n} MB"), 0), Ok(n << 20));
        }
    }
}
