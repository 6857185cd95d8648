//! Verdicts in words.

use super::Estimate;
use super::best::{Ranked, Standing};
use super::compare::{Compared, Verdict};

/// First words of the nouns of things that are counted.
const COUNTED: [&str; 8] = [
    "tps",
    "operations",
    "bytes",
    "flushes",
    "stall",
    "seconds",
    "failed",
    "missed",
];

/// The metric.
#[derive(Clone, Copy, Debug)]
pub struct Metric<'a> {
    /// Its name, such as `tps`.
    pub name: &'a str,
    /// True if more of it is better.
    pub more_is_better: bool,
    /// The difference that does not count, as a share.
    pub margin: f64,
}

/// A target against the baseline of that name.
pub fn compared(compared: &Compared, baseline: &str, metric: Metric<'_>) -> String {
    let size = compared.estimate.map(|e| Size::of_target(&e));
    match (compared.verdict, size, compared.estimate) {
        (Verdict::CannotKeepTheRate, ..) => compared.verdict.as_str().into(),
        (Verdict::Inconclusive(reason), size, _) => {
            let size = size.map(|s| format!(": {}", s.against(baseline, metric)));
            format!(
                "inconclusive ({}){}",
                reason.as_str(),
                size.unwrap_or_default()
            )
        }
        (Verdict::Equivalent, Some(size), _) => {
            format!("equivalent: {size}, {}", does_not_count(metric))
        }
        (Verdict::More | Verdict::Less, Some(size), Some(e)) => {
            let worth = match (compared.verdict == Verdict::More, metric.more_is_better) {
                (true, true) | (false, false) => "better",
                _ => "worse",
            };
            // More of what is better says it itself.
            let worth = if metric.more_is_better {
                String::new()
            } else {
                format!(", which is {worth}")
            };
            format!(
                "{}{worth}, after {} blocks",
                size.against(baseline, metric),
                e.blocks
            )
        }
        _ => compared.verdict.as_str().into(),
    }
}

/// A target of the goal `best`; `against` is the name of the one that it is compared with.
pub fn ranked(ranked: &Ranked, against: &str, metric: Metric<'_>) -> String {
    let standing = ranked.standing.as_str();
    let Some(estimate) = ranked.estimate else {
        return standing.into();
    };
    let size = Size::behind(&estimate, metric);
    match ranked.standing {
        Standing::Out => format!(
            "{}, after {} blocks",
            size.against(against, metric),
            estimate.blocks
        ),
        Standing::Equivalent => format!("{standing}: {size}, {}", does_not_count(metric)),
        _ if estimate.low() > 0.0 => {
            format!("{standing}: {size}; worse, whether it counts is open")
        }
        _ => format!("{standing}: {size}"),
    }
}

/// Whether a noun is that of things that are counted.
pub fn is_counted(noun: &str) -> bool {
    let first = noun.split(' ').next();
    first.is_some_and(|first| COUNTED.contains(&first))
}

fn does_not_count(metric: Metric<'_>) -> String {
    format!(
        "and less than {} % does not count",
        rounded(metric.margin * 100.0)
    )
}

/// A difference with its interval, in percent, in the direction in which it was measured.
struct Size {
    percent: f64,
    low: f64,
    high: f64,
    word: &'static str,
}

impl Size {
    /// From a mean of ln ratios of the target to something, and from its ends.
    fn of_target(e: &Estimate) -> Self {
        Self::new(e.mean, e.low(), e.high())
    }

    /// From a mean of ln ratios of the better one to the target: where less is better these were of -ln.
    fn behind(e: &Estimate, metric: Metric<'_>) -> Self {
        if metric.more_is_better {
            Self::new(-e.mean, -e.high(), -e.low())
        } else {
            Self::new(e.mean, e.low(), e.high())
        }
    }

    fn new(mean: f64, low: f64, high: f64) -> Self {
        let percent = |ln: f64| 100.0 * ln.exp_m1();
        if mean >= 0.0 {
            Self {
                percent: percent(mean),
                low: percent(low),
                high: percent(high),
                word: "more",
            }
        } else {
            Self {
                percent: -percent(mean),
                low: -percent(high),
                high: -percent(low),
                word: "less",
            }
        }
    }

    fn share(&self) -> String {
        format!("{} %", rounded(self.percent))
    }

    /// An interval that has both signs says what each end means.
    fn interval(&self) -> String {
        let other = if self.word == "more" { "less" } else { "more" };
        match self.low < 0.0 && self.high > 0.0 {
            true => format!(
                "({} % {other} to {} % {})",
                end(-self.low),
                end(self.high),
                self.word
            ),
            false => format!("({} to {})", end(self.low), end(self.high)),
        }
    }

    fn against(&self, baseline: &str, metric: Metric<'_>) -> String {
        format!(
            "{} {} {} than {baseline} {}",
            self.share(),
            self.word_of(metric),
            metric.name,
            self.interval()
        )
    }

    /// Fewer of what is counted, less of anything else.
    fn word_of(&self, metric: Metric<'_>) -> &'static str {
        match self.word {
            "less" if is_counted(metric.name) => "fewer",
            word => word,
        }
    }
}

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.share(), self.word, self.interval())
    }
}

/// One digit behind the point below ten, and none where it is zero.
fn rounded(percent: f64) -> String {
    let digits = if percent.abs() < 9.95 { 1 } else { 0 };
    let text = format!("{percent:.digits$}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" {
        "0".into()
    } else {
        text.into()
    }
}

/// Whole percents; below one percent with more digits.
fn end(percent: f64) -> String {
    if percent.abs() >= 1.0 {
        format!("{percent:.0}")
    } else {
        rounded(percent)
    }
}
