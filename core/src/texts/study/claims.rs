//! Decisions on claims, and their reasons.

/// A degree of parallel scans at which a claim expects the knee.
pub fn decided_by_knee(variant: &str, question: &str, degree: u32) -> String {
    format!("knee of {variant} in question {question}: at {degree} workers")
}

/// The expected outcome of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expected {
    Same,
    More,
    Less,
    /// At least this many times as much.
    AtLeast(f64),
    /// At most this many times as much.
    AtMost(f64),
}

impl Expected {
    fn words(self) -> String {
        match self {
            Self::Same => "the same within the margin".into(),
            Self::More => "more".into(),
            Self::Less => "less".into(),
            Self::AtLeast(factor) => format!("at least {factor} times"),
            Self::AtMost(factor) => format!("at most {factor} times"),
        }
    }
}

/// A comparison of two variants by a metric, and the question whose runs decide it.
#[derive(Clone, Copy, Debug)]
pub struct Comparison<'a> {
    pub metric: &'a str,
    pub variant: &'a str,
    pub with: &'a str,
    pub question: &'a str,
    pub expected: Expected,
    /// Whether the experiment's interval decides, and not the ranges of its runs.
    pub by_interval: bool,
}

pub fn decided_by(comparison: Comparison<'_>) -> String {
    let Comparison {
        metric,
        variant,
        with,
        question,
        ..
    } = comparison;
    let expected = comparison.expected.words();
    let by = match comparison.by_interval {
        true => "interval",
        false => "ranges of the runs",
    };
    format!("{metric} of {variant}, compared with {with}: {expected}; {by} in question {question}")
}

pub fn undecidable() -> String {
    "nothing decides it".into()
}

pub fn dropped() -> String {
    "its experiment was dropped".into()
}

pub fn no_variant() -> String {
    "its experiment has no such variant".into()
}

pub fn nothing_yet() -> String {
    "its experiment says nothing of the two yet".into()
}

pub fn status(status: &str) -> String {
    format!("its experiment is {status}")
}

pub fn no_verdict(reason: &str) -> String {
    format!("its experiment gives no verdict ({reason})")
}

/// A reason, and what is said of the rest.
pub fn with(reason: &str, says: &str) -> String {
    format!("{reason}: {says}")
}

pub fn and_where(reason: &str, place: &str) -> String {
    format!("{reason}; {place}")
}

/// The ends of an interval, as ratios, on one side of a factor; and the words of the experiment.
pub fn interval([low, high]: [f64; 2], factor: f64, says: &str) -> String {
    let side = if low > factor { "above" } else { "below" };
    format!(
        "its interval, {low:.2} to {high:.2} times, is {side} {factor} times; its experiment: {says}"
    )
}

/// Runs of both, and how many of each are needed.
pub fn too_few_runs(runs: [usize; 2], needed: usize) -> String {
    let [this, other] = runs;
    format!("{this} and {other} runs, and {needed} of each are needed")
}

/// A target with the ends of the range of its runs.
pub type Range<'a> = (&'a str, [f64; 2]);

pub fn ranges(metric: &str, this: Range<'_>, other: Range<'_>, overlap: bool) -> String {
    let words = |(name, [low, high]): Range| format!("of {name}: {low:.4} to {high:.4}");
    let overlap = if overlap { ": the ranges overlap" } else { "" };
    format!("{metric} {}; {}{overlap}", words(this), words(other))
}

pub fn no_scans() -> String {
    "there are no scans yet".into()
}

/// Words on the knee, the degree that the medians give, and the number of processors where these end the curve.
pub fn knee(says: &str, by_medians: Option<u32>, processors: Option<u32>) -> String {
    let by_medians = by_medians.map_or(String::new(), |at| format!(", {at} by the medians"));
    let processors = processors.map_or(String::new(), |processors| {
        format!(": that is not below the number of processors, {processors}")
    });
    format!("the knee is {says}{by_medians}{processors}")
}
