//! The choice, and what the other targets could cost.

use crate::texts::verdict::share_or_factor;

/// The reason against a target, whatever its figures are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Objection {
    ComparisonOnly,
    /// Power cuts lost or damaged data of the target.
    FailedPowerCuts,
    /// Others promise more, for these reasons.
    LessDurable(String),
}

impl Objection {
    fn words(&self) -> String {
        match self {
            Self::ComparisonOnly => "for comparison only".into(),
            Self::FailedPowerCuts => "power cuts lost or damaged its data".into(),
            Self::LessDurable(reasons) => format!("not as durable as others of these ({reasons})"),
        }
    }
}

pub fn not_over(status: &str) -> String {
    format!("no choice yet: the experiment is {status}; what is said below is as of its last look")
}

/// No run has a result: the reason of the last one, and the targets that had no run.
pub fn no_result(last: Option<&str>, never: &[&str]) -> String {
    let last = last.map(|why| format!("; of the last one it is said: {why}"));
    let never = match never {
        [] => String::new(),
        never => format!("; {} had no run at all", never.join(", ")),
    };
    format!(
        "no choice: none of its runs has come to a result that counts{}{never}; fsbench.experiment_log has all of them",
        last.unwrap_or_default()
    )
}

/// `why`: the words for an open answer.
pub fn open(why: Option<String>) -> String {
    let why = why.unwrap_or_else(|| "inconclusive".into());
    format!("no choice: {why}")
}

/// The targets that lead are none to choose.
pub fn unusable(ahead: &[&str], against: Option<Objection>) -> String {
    format!(
        "no choice: {} is ahead, and is {}; without it, another experiment tells which of the others is best",
        ahead.join(", "),
        against.map(|against| against.words()).unwrap_or_default()
    )
}

/// `superlative` says what the metric makes of the target; `circumstances` are words of [`super::regime`].
pub fn chosen(target: &str, superlative: &str, circumstances: &str) -> String {
    format!("{target}: {superlative} of these{circumstances}")
}

pub fn equivalent(targets: &[&str], circumstances: &str) -> String {
    format!(
        "{}: these are equivalent, the difference does not count{circumstances}",
        targets.join(", ")
    )
}

pub fn preferred(target: &str) -> String {
    format!(
        "{target} of these, by preference: the more durable first, then fewer stall seconds, then the first in the list"
    )
}

/// It is open which of the targets that are left is the best.
pub fn among(left: &[&str]) -> String {
    match left {
        [] => "no choice: none of them is left that could be chosen".into(),
        [only] => format!("no choice: it is open whether {only} is the best"),
        _ => format!(
            "no choice among {}: it is open which of them is best",
            left.join(", ")
        ),
    }
}

/// The target with which an open one was compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leader {
    Now,
    /// It led when the open target was given up.
    Before,
}

/// The most by which a target is worse, as a share.
pub fn at_most_worse(target: &str, most: f64, leader: Leader) -> String {
    let most = share_or_factor(most);
    let leader = match leader {
        Leader::Now => "the one that leads",
        Leader::Before => "the one that led when it was given up",
    };
    format!("{target} is at most {most} worse than {leader}")
}

/// The most by which the leading target is worse than another one, as a share.
pub fn leader_at_most_worse(leader: &str, most: f64, than: &str) -> String {
    let most = share_or_factor(most);
    format!("{leader}, which leads, is at most {most} worse than {than}")
}

/// The most that a change from the baseline would gain, as a share.
pub fn staying_costs(baseline: &str, instead_of: &str, most: f64) -> String {
    let most = share_or_factor(most);
    format!("staying with {baseline} instead of {instead_of} costs at most {most}")
}

/// The only target that is better than the baseline, with the answer on it.
pub fn better(target: &str, answer: &str, circumstances: &str) -> String {
    format!("{target}: {answer}{circumstances}")
}

pub fn all_set_aside(baseline: &str) -> String {
    format!(
        "no choice: all that was to be compared with {baseline} was set aside, since its runs failed"
    )
}

pub fn several_better(targets: &[&str], baseline: &str) -> String {
    format!(
        "{} are better than {baseline}; among themselves they were not ranked: goal \"best\" does that",
        targets.join(" and ")
    )
}

/// A target that is better than the baseline and none to choose, and the reason.
pub type Unusable<'a> = (&'a str, Objection);

pub fn stay(baseline: &str, unusable: &[Unusable<'_>], circumstances: &str) -> String {
    format!(
        "stay with {baseline}: {}{circumstances}",
        nothing_better(unusable)
    )
}

/// The baseline itself is none to choose.
pub fn nothing_to_stay_with(
    baseline: &str,
    unusable: &[Unusable<'_>],
    against: &Objection,
) -> String {
    let better = nothing_better(unusable);
    format!("no choice: {better}, and {baseline} is {}", against.words())
}

fn nothing_better(unusable: &[Unusable<'_>]) -> String {
    let but = |(target, against): &Unusable| format!("{target} is better, but {}", against.words());
    let but: Vec<String> = unusable.iter().map(but).collect();
    match but.is_empty() {
        true => "nothing that was compared with it is better by what counts".into(),
        false => format!("{}, and nothing else is by what counts", but.join("; ")),
    }
}
