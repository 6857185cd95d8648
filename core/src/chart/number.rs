//! Numbers of an axis.

/// A number with three digits that count, in thousands, millions or milliards where it is large: `0.0123`, `4.51`, `451`, `4.51k`.
pub fn short(value: f64) -> String {
    if !value.is_finite() {
        return "unknown".into();
    }
    // Rounded first: 999.9 is 1k.
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    let (scaled, unit) = match rounded.abs() {
        v if v >= 1e15 => return format!("{rounded:.2e}"),
        v if v >= 1e12 => (rounded / 1e12, "T"),
        v if v >= 1e9 => (rounded / 1e9, "G"),
        v if v >= 1e6 => (rounded / 1e6, "M"),
        v if v >= 1e3 => (rounded / 1e3, "k"),
        v if v > 0.0 && v < 1e-4 => return format!("{rounded:.2e}"),
        _ => (rounded, ""),
    };
    let before = if scaled == 0.0 {
        0
    } else {
        scaled.abs().log10().floor() as i32
    };
    let digits = (2 - before).clamp(0, 6) as usize;
    let text = format!("{scaled:.digits$}");
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    format!("{text}{unit}")
}

/// The smallest of 1, 2, 2.5, 5 and 10 times a power of ten that is not below.
pub(super) fn round_up(value: f64) -> f64 {
    if !value.is_finite() || value <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(value.log10().floor());
    [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0]
        .map(|step| step * power)
        .into_iter()
        .find(|step| *step >= value * (1.0 - 1e-12))
        .unwrap_or(10.0 * power)
}
