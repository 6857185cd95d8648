//! Sizes and durations for people.

/// A share as percent.
pub fn format_share(share: f64) -> String {
    match share * 100.0 {
        p if p > 0.0 && p < 0.01 => "under 0.01 %".into(),
        p if p < 1.0 => format!("{p:.2} %"),
        p => format!("{p:.1} %"),
    }
}

/// A number with one digit behind the point, and none where it is zero.
pub fn format_tenths(number: f64) -> String {
    let text = format!("{number:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

/// A number with three digits.
pub fn format_figure(number: f64) -> String {
    match number.abs() {
        100.0.. => format!("{number:.0}"),
        10.0.. => format!("{number:.1}"),
        1.0.. => format!("{number:.2}"),
        _ => format!("{number:.3}"),
    }
}

/// A number of bytes as pg_size_pretty writes it: in the largest unit that gives at least 10, rounded half up.
pub fn format_bytes(bytes: u64) -> String {
    if bytes < 10 * 1024 {
        return format!("{bytes} bytes");
    }
    // Halves of the unit are kept to the end, so that rounding happens once.
    let mut halves = bytes / 512;
    let units = ["kB", "MB", "GB", "TB", "PB"];
    for unit in &units[..4] {
        if halves < 20 * 1024 - 1 {
            return format!("{} {unit}", halves.div_ceil(2));
        }
        halves /= 1024;
    }
    format!("{} {}", halves.div_ceil(2), units[4])
}

/// A short time, given in microseconds.
pub fn format_microseconds(us: f64) -> String {
    match us {
        us if us < 100.0 => format!("{us:.1} us"),
        us if us < 10_000.0 => format!("{us:.0} us"),
        us => format!("{:.1} ms", us / 1000.0),
    }
}

/// Ranges of numbers that [`format_ids`] shows.
const MOST_RANGES: usize = 20;

/// Numbers of runs in ascending order, as ranges: `3, 5 to 9, 12`; what is too much for a message is counted.
pub fn format_ids(ids: &[i64]) -> String {
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    for &id in ids {
        match ranges.last_mut() {
            Some((_, last)) if id == *last + 1 => *last = id,
            _ => ranges.push((id, id)),
        }
    }
    let shown = ranges.iter().take(MOST_RANGES);
    let mut texts: Vec<String> = shown
        .map(|&(first, last)| match last - first {
            0 => first.to_string(),
            1 => format!("{first}, {last}"),
            _ => format!("{first} to {last}"),
        })
        .collect();
    let further = ranges.iter().skip(MOST_RANGES);
    let further: i64 = further.map(|(first, last)| last - first + 1).sum();
    if further > 0 {
        texts.push(format!("and {further} more"));
    }
    texts.join(", ")
}

/// A duration in seconds with its two largest units: `250 ms`, `2.5 s`, `20 s`, `1 min 30 s`, `7 h 40 min`, `2 d 3 h`.
/// Less than 0 is 0; NaN is `unknown`.
pub fn format_seconds(seconds: f64) -> String {
    if seconds.is_nan() {
        return "unknown".into();
    }
    let us = (seconds.clamp(0.0, 1e13) * 1e6).round() as u64;
    let ms = (us + 500) / 1000;
    let tenths = (ms + 50) / 100;
    let whole = (ms + 500) / 1000;
    let minutes = (whole + 30) / 60;
    let hours = (minutes + 30) / 60;
    match () {
        () if us == 0 => "0 s".into(),
        () if ms == 0 => format!("{us} us"),
        () if ms < 1000 => format!("{ms} ms"),
        () if tenths < 600 && tenths.is_multiple_of(10) => format!("{} s", tenths / 10),
        () if tenths < 600 => format!("{}.{} s", tenths / 10, tenths % 10),
        () if whole < 3600 => two(whole / 60, "min", whole % 60, "s"),
        () if minutes < 48 * 60 => two(minutes / 60, "h", minutes % 60, "min"),
        () => two(hours / 24, "d", hours % 24, "h"),
    }
}

fn two(large: u64, unit: &str, small: u64, small_unit: &str) -> String {
    if small == 0 {
        format!("{large} {unit}")
    } else {
        format!("{large} {unit} {small} {small_unit}")
    }
}

/// A number and what is counted: `1 client`, `2 clients`. For nouns whose plural has an s, or es after an h.
pub fn format_count(n: u64, noun: &str) -> String {
    let plural = match noun {
        _ if n == 1 => "",
        noun if noun.ends_with(['h', 's']) => "es",
        _ => "s",
    };
    format!("{n} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of PostgreSQL's regression test dbsize.
    #[test]
    fn bytes_as_pg_size_pretty() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (10, "10 bytes"),
            (10239, "10239 bytes"),
            (10240, "10 kB"),
            (10485247, "10239 kB"),
            (10485248, "10 MB"),
            (10736893951, "10239 MB"),
            (10736893952, "10 GB"),
            (10994579406847, "10239 GB"),
            (10994579406848, "10 TB"),
            (11258449312612351, "10239 TB"),
            (11258449312612352, "10 PB"),
            (1_000_000_000, "954 MB"),
            (1_000_000_000_000_000, "909 TB"),
        ] {
            assert_eq!(format_bytes(bytes), text, "{bytes}");
        }
        assert_eq!(format_bytes(u64::MAX), "16384 PB");
    }

    #[test]
    fn counts() {
        let counted =
            [(0, "client"), (1, "client"), (2, "branch")].map(|(n, noun)| format_count(n, noun));
        assert_eq!(counted, ["0 clients", "1 client", "2 branches"]);
    }

    #[test]
    fn ids() {
        for (ids, text) in [
            (&[] as &[i64], ""),
            (&[7], "7"),
            (&[7, 8], "7, 8"),
            (&[1, 2, 3, 5, 9, 10, 11, 12], "1 to 3, 5, 9 to 12"),
        ] {
            assert_eq!(format_ids(ids), text);
        }
        let apart: Vec<i64> = (0..100).map(|n| 2 * n).collect();
        let text = format_ids(&apart);
        assert!(
            text.starts_with("0, 2, 4, ") && text.ends_with("38, and 80 more"),
            "{text}"
        );
    }

    #[test]
    fn seconds() {
        for (seconds, text) in [
            (0.0, "0 s"),
            (-5.0, "0 s"),
            (1e-6, "1 us"),
            (0.25, "250 ms"),
            (0.9999, "1 s"),
            (2.5, "2.5 s"),
            (20.0, "20 s"),
            (59.94, "59.9 s"),
            (59.96, "1 min"),
            (90.0, "1 min 30 s"),
            (3599.9, "1 h"),
            (27600.0, "7 h 40 min"),
            (2.0 * 86400.0, "2 d"),
            (51.2 * 3600.0, "2 d 3 h"),
            (f64::NAN, "unknown"),
        ] {
            assert_eq!(format_seconds(seconds), text, "{seconds}");
        }
        assert!(format_seconds(f64::INFINITY).contains(" d"));
    }
}
