//! Verdicts in words.

use crate::{
    units::format_tenths,
    verdict::{
        Estimate,
        best::{Ranked, Standing},
        compare::{Compared, Verdict},
    },
    wording,
};

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

/// A ratio above this is told as a ratio, not as a percentage.
const TIMES_FROM: f64 = 2.0;
/// An interval whose ends differ by more than this factor tells no size.
const WIDEST: f64 = 5.0;

/// The metric.
#[derive(Clone, Copy, Debug)]
pub struct Metric<'a> {
    /// Name, such as `tps`.
    pub name: &'a str,
    /// True if more of it is better.
    pub more_is_better: bool,
    /// The difference that does not count, as a share.
    pub margin: f64,
}

/// A target against the baseline of that name.
pub fn compared(compared: &Compared, baseline: &str, metric: Metric<'_>) -> String {
    wording::say(compared.verdict.as_str(), || {
        of_compared(compared, baseline, metric)
    })
}

fn of_compared(compared: &Compared, baseline: &str, metric: Metric<'_>) -> String {
    let size = compared.estimate.map(|e| Size::of_target(&e));
    match (compared.verdict, size, compared.estimate) {
        (Verdict::CannotKeepTheRate, ..) => compared.verdict.as_str().into(),
        (Verdict::Inconclusive(reason), size, _) => {
            let size = size.map(|s| format!(": {}", s.open(baseline, metric)));
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
                size.decided(baseline, metric),
                e.blocks
            )
        }
        _ => compared.verdict.as_str().into(),
    }
}

/// A target of the goal `best`; `against` is the name of the one that it is compared with.
pub fn ranked(ranked: &Ranked, against: &str, metric: Metric<'_>) -> String {
    wording::say(ranked.standing.as_str(), || {
        of_ranked(ranked, against, metric)
    })
}

fn of_ranked(ranked: &Ranked, against: &str, metric: Metric<'_>) -> String {
    let standing = ranked.standing.as_str();
    let Some(estimate) = ranked.estimate else {
        return standing.into();
    };
    let size = Size::behind(&estimate, metric);
    match ranked.standing {
        Standing::Out => format!(
            "{}, after {} blocks",
            size.decided(against, metric),
            estimate.blocks
        ),
        Standing::Equivalent => format!("{standing}: {size}, {}", does_not_count(metric)),
        _ => {
            let size = match size.is_too_wide() {
                true => size.open(against, metric),
                false => size.to_string(),
            };
            let worse = match estimate.low() > 0.0 {
                true => "; worse, whether it counts is open",
                false => "",
            };
            format!("{standing}: {size}{worse}")
        }
    }
}

/// A share of what another target does, as a percentage, or as a factor where it would be more than twice as much.
pub fn share_or_factor(share: f64) -> String {
    match 1.0 + share > TIMES_FROM {
        true => format!("a factor of {}", times(1.0 + share)),
        false => format!("{} %", format_tenths(share * 100.0)),
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

/// A ratio of a target to another one with its interval, told as a difference in percent unless it is large.
struct Size {
    ratio: f64,
    low: f64,
    high: f64,
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
        Self {
            ratio: mean.exp(),
            low: low.exp(),
            high: high.exp(),
        }
    }

    /// Whether the interval is so wide that it tells no size.
    fn is_too_wide(&self) -> bool {
        self.high > WIDEST * self.low
    }

    /// Whether it is told as a ratio.
    fn is_large(&self) -> bool {
        self.ratio.max(self.high) > TIMES_FROM
    }

    fn is_more(&self) -> bool {
        self.ratio >= 1.0
    }

    fn word(&self) -> &'static str {
        if self.is_more() { "more" } else { "less" }
    }

    /// The size, and the ends of the interval in the same direction, in percent.
    fn percents(&self) -> [f64; 3] {
        let percent = |ratio: f64| 100.0 * (ratio - 1.0);
        match self.is_more() {
            true => [self.ratio, self.low, self.high].map(percent),
            false => [self.ratio, self.high, self.low].map(|ratio| -percent(ratio)),
        }
    }

    fn share(&self) -> String {
        format!("{} %", rounded(self.percents()[0]))
    }

    /// An interval that has both signs says what each end means.
    fn interval(&self) -> String {
        if self.is_large() {
            return format!("({} to {})", times(self.low), times(self.high));
        }
        let [_, low, high] = self.percents();
        let other = if self.is_more() { "less" } else { "more" };
        match low < 0.0 && high > 0.0 {
            true => format!(
                "({} % {other} to {} % {})",
                end(-low),
                end(high),
                self.word()
            ),
            false => format!("({} to {})", end(low), end(high)),
        }
    }

    fn against(&self, baseline: &str, metric: Metric<'_>) -> String {
        let (name, interval) = (metric.name, self.interval());
        match self.is_large() {
            true => format!(
                "{} times the {name} of {baseline} {interval}",
                times(self.ratio)
            ),
            false => format!(
                "{} {} {name} than {baseline} {interval}",
                self.share(),
                self.word_of(metric)
            ),
        }
    }

    /// The size of what is open.
    fn open(&self, baseline: &str, metric: Metric<'_>) -> String {
        match self.is_too_wide() {
            true => format!(
                "too noisy: between {} and {} times the {} of {baseline}",
                times(self.low),
                times(self.high),
                metric.name
            ),
            false => self.against(baseline, metric),
        }
    }

    /// The size of what is decided: the direction is certain, even where the size is not.
    fn decided(&self, baseline: &str, metric: Metric<'_>) -> String {
        match self.is_too_wide() {
            true => format!(
                "{} {} than {baseline}, too noisy to tell how much (between {} and {} times)",
                self.word_of(metric),
                metric.name,
                times(self.low),
                times(self.high)
            ),
            false => self.against(baseline, metric),
        }
    }

    /// Fewer of what is counted, less of anything else.
    fn word_of(&self, metric: Metric<'_>) -> &'static str {
        match self.word() {
            "less" if is_counted(metric.name) => "fewer",
            word => word,
        }
    }
}

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.is_large() {
            true => write!(f, "{} times {}", times(self.ratio), self.interval()),
            false => write!(f, "{} {} {}", self.share(), self.word(), self.interval()),
        }
    }
}

/// A ratio with two digits.
fn times(ratio: f64) -> String {
    let digits = match ratio {
        9.95.. => 0,
        0.995.. => 1,
        _ => 2,
    };
    let text = format!("{ratio:.digits$}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
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

#[cfg(test)]
mod tests;
