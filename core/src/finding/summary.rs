//! The findings of a run in a few words, for a row that is to fit a terminal.

use super::Severity;

/// At most so many codes are named.
const NAMED: usize = 3;

/// The number of findings, and the worst of them as far as `room` characters allow: with their severity, without it where they are
/// not invalid, or the severity alone. `codes` are those of the worst severity.
pub fn summary(number: u32, worst: Option<Severity>, codes: &[String], room: usize) -> String {
    let Some(worst) = worst else {
        return "none".into();
    };
    let severity = worst.as_str();
    let named = codes.len().min(NAMED);
    (1..=named)
        .rev()
        .map(|n| format!("{number} ({severity}: {})", first(codes, n)))
        .chain(
            (named > 0 && worst != Severity::Invalid)
                .then(|| format!("{number}: {}", first(codes, 1))),
        )
        .find(|text| text.chars().count() <= room)
        .unwrap_or_else(|| format!("{number} ({severity})"))
}

/// The first codes. That one is not the only one, the number tells.
fn first(codes: &[String], n: usize) -> String {
    let more = n > 1 && codes.len() > n;
    codes[..n].join(", ") + if more { ", ..." } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(names: &str) -> Vec<String> {
        names.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn as_many_codes_as_there_is_room_for() {
        let warnings = codes("noisy_neighbour lock_waits atime too_short");
        for (room, told) in [
            (100, "7 (warning: noisy_neighbour, lock_waits, atime, ...)"),
            (51, "7 (warning: noisy_neighbour, lock_waits, ...)"),
            (44, "7 (warning: noisy_neighbour)"),
            (28, "7 (warning: noisy_neighbour)"),
            (27, "7: noisy_neighbour"),
            (18, "7: noisy_neighbour"),
            (17, "7 (warning)"),
            (0, "7 (warning)"),
        ] {
            assert_eq!(
                summary(7, Some(Severity::Warning), &warnings, room),
                told,
                "{room}"
            );
        }
    }

    #[test]
    fn what_is_invalid_is_never_told_without_that_word() {
        let invalid = codes("failed_transactions");
        let told = |room| summary(2, Some(Severity::Invalid), &invalid, room);
        assert_eq!(told(32), "2 (invalid: failed_transactions)");
        assert_eq!(told(31), "2 (invalid)");
    }

    #[test]
    fn none_and_few() {
        assert_eq!(summary(0, None, &[], 10), "none");
        let one = codes("atime");
        assert_eq!(
            summary(1, Some(Severity::Info), &one, 20),
            "1 (info: atime)"
        );
    }
}
