//! The judgement of claims: what was claimed beforehand, and what the runs of this machine say of it.

use std::collections::BTreeMap;

use crate::experiment::answer::Cause;

use super::{
    definition::{By, Claim, Decision, Expected, Study},
    evidence::{Evidence, FEWEST, Knee, Spread},
    not_tested::StudyContext,
};

/// A claim, judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    pub claim: String,
    pub says: String,
    pub seen: String,
    pub decided_by: String,
    pub here: &'static str,
    pub estimate: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub why: String,
}

/// It is so.
const HOLDS: &str = "holds";
/// It is certainly not so.
const DOES_NOT_HOLD: &str = "does not hold";
/// It may be so or not.
const INCONCLUSIVE: &str = "inconclusive";
/// Nothing was made by which it could be known.
const NOT_TESTED: &str = "not tested";

/// Result of the arithmetic.
struct Outcome {
    here: &'static str,
    /// Ratio of the variant to what it is compared with, with its ends; of a knee degrees.
    figures: Option<(f64, f64, f64)>,
    why: String,
}

impl Outcome {
    fn without_figures(here: &'static str, why: impl Into<String>) -> Self {
        Self {
            here,
            figures: None,
            why: why.into(),
        }
    }
}

/// All claims of a study, in their order. `evidence` is by question.
pub fn judge(here: &StudyContext<'_>, evidence: &BTreeMap<String, Evidence>) -> Vec<Judged> {
    (here.study.claims.iter())
        .map(|claim| {
            let outcome = outcome(here, claim, evidence);
            let figures = outcome.figures;
            Judged {
                claim: claim.claim.clone(),
                says: claim.says.clone(),
                seen: claim.seen.clone(),
                decided_by: decided_by(claim),
                here: outcome.here,
                estimate: figures.map(|f| f.0),
                low: figures.map(|f| f.1),
                high: figures.map(|f| f.2),
                why: outcome.why,
            }
        })
        .collect()
}

/// The decision in words, as it was declared.
pub fn decided_by(claim: &Claim) -> String {
    let Some(decision) = &claim.decision else {
        return "nothing".into();
    };
    let Decision {
        question,
        variant,
        metric,
        ..
    } = decision;
    if decision.by == By::Knee {
        let degree = decision.degree.unwrap_or(0);
        return format!("knee of {variant} in question {question}: at {degree} workers");
    }
    let with = decision.with.as_deref().unwrap_or("");
    let factor = |word: &str| match decision.factor {
        Some(factor) => format!("{word} {factor} times"),
        None => word.to_owned(),
    };
    let expected = match decision.expected {
        Expected::More if decision.factor.is_some() => factor("at least"),
        Expected::Less if decision.factor.is_some() => factor("at most"),
        Expected::More => "more".into(),
        Expected::Less => "less".into(),
        _ => "the same within the margin".into(),
    };
    let by = match decision.by {
        By::Interval => "interval",
        _ => "ranges of the runs",
    };
    format!("{metric} of {variant}, compared with {with}: {expected}; {by} in question {question}")
}

fn outcome(
    here: &StudyContext<'_>,
    claim: &Claim,
    evidence: &BTreeMap<String, Evidence>,
) -> Outcome {
    if let Some(why) = here.claim(claim) {
        return Outcome::without_figures(NOT_TESTED, why.to_string());
    }
    let Some(decision) = &claim.decision else {
        return Outcome::without_figures(NOT_TESTED, "nothing decides it");
    };
    let Some(found) = evidence.get(&decision.question) else {
        return Outcome::without_figures(NOT_TESTED, "its experiment was dropped");
    };
    let number = |variant: &str| found.number_of(here.study, variant);
    let (Some(this), other) = (
        number(&decision.variant),
        decision.with.as_deref().and_then(number),
    ) else {
        return Outcome::without_figures(NOT_TESTED, "its experiment has no such variant");
    };
    let mut outcome = match (decision.by, other) {
        (By::Knee, _) => {
            let outcome = by_knee(decision, found.knees.get(&this), here.facts.processors);
            unless_withheld(found, this, None, outcome)
        }
        (By::Ranges, Some(other)) => {
            let outcome = by_ranges(decision, found, this, other);
            unless_withheld(found, this, Some(other), outcome)
        }
        (By::Interval, Some(other)) => by_interval(here.study, decision, found, this, other),
        _ => Outcome::without_figures(NOT_TESTED, "its experiment has no such variant"),
    };
    if found.runs > 0
        && let Some(where_made) = &found.where_made
    {
        outcome.why = format!("{}; {where_made}", outcome.why);
    }
    outcome
}

/// Other arithmetic cannot decide a pair that its experiment leaves open or withholds.
fn unless_withheld(
    found: &Evidence,
    this: usize,
    with: Option<usize>,
    outcome: Outcome,
) -> Outcome {
    match found.undecided(this, with) {
        Some(why) if outcome.here != NOT_TESTED => Outcome {
            here: INCONCLUSIVE,
            why: format!("{why}: {}", outcome.why),
            ..outcome
        },
        _ => outcome,
    }
}

fn by_interval(
    study: &Study,
    decision: &Decision,
    found: &Evidence,
    this: usize,
    other: usize,
) -> Outcome {
    // The row is of whichever of the two is not the baseline.
    let of = |number: usize| found.rows.iter().find(|row| row.number == number);
    let (row, turned) = match (of(this), of(other)) {
        (Some(row), None) => (row, false),
        (None, Some(row)) => (row, true),
        _ => {
            return Outcome::without_figures(
                INCONCLUSIVE,
                "its experiment says nothing of the two yet",
            );
        }
    };
    let figures = row.ratio.zip(row.low.zip(row.high));
    let figures = figures.map(|(ratio, (low, high))| match turned {
        true => (1.0 / ratio, 1.0 / high, 1.0 / low),
        false => (ratio, low, high),
    });
    let on = found.on();
    let is_settled = row.verdict != INCONCLUSIVE;
    let stands = row.reason.as_ref().is_none_or(Cause::figures_stand);
    let here = match (figures, is_settled || (stands && on.is_none())) {
        (Some(figures), true) => {
            let margin = study
                .question(&decision.question)
                .map_or(0.05, |q| q.margin);
            decide(
                decision,
                figures,
                margin,
                row.verdict == "equivalent",
                is_settled,
            )
        }
        _ => INCONCLUSIVE,
    };
    let why = match (on.filter(|_| !is_settled), side(decision, figures)) {
        (Some(status), _) => format!("its experiment is {status}: {}", row.says),
        // The experiment's question may be open where the claim is decided.
        (None, Some(side)) if !is_settled && here != INCONCLUSIVE => {
            format!("{side}; its experiment: {}", row.says)
        }
        _ => row.says.clone(),
    };
    Outcome { here, figures, why }
}

/// On which side of the size of a claim an interval is, in words.
fn side(decision: &Decision, figures: Option<(f64, f64, f64)>) -> Option<String> {
    let (_, low, high) = figures.filter(|_| decision.expected != Expected::Same)?;
    let factor = decision.factor.unwrap_or(1.0);
    let side = if low > factor { "above" } else { "below" };
    Some(format!(
        "its interval, {low:.2} to {high:.2} times, is {side} {factor} times"
    ))
}

/// Judges an interval (ratio, low and high). `is_equivalent`: it was shown to be within the margin.
fn decide(
    decision: &Decision,
    figures: (f64, f64, f64),
    margin: f64,
    is_equivalent: bool,
    is_settled: bool,
) -> &'static str {
    let (_, low, high) = match decision.expected {
        // Less is more of the inverse.
        Expected::Less => (1.0 / figures.0, 1.0 / figures.2, 1.0 / figures.1),
        _ => figures,
    };
    match (decision.expected, decision.factor) {
        (Expected::Same, _) => {
            let outside = low > 1.0 + margin || high < 1.0 / (1.0 + margin);
            match (is_equivalent, outside) {
                (true, _) => HOLDS,
                (_, true) => DOES_NOT_HOLD,
                _ => INCONCLUSIVE,
            }
        }
        (expected, Some(factor)) => {
            let factor = match expected {
                Expected::Less => 1.0 / factor,
                _ => factor,
            };
            if low >= factor {
                HOLDS
            } else if high < factor || (is_equivalent && factor > 1.0 + margin) {
                DOES_NOT_HOLD
            } else {
                INCONCLUSIVE
            }
        }
        (_, None) if is_equivalent => DOES_NOT_HOLD,
        (_, None) if low > 1.0 && is_settled => HOLDS,
        (_, None) if high < 1.0 => DOES_NOT_HOLD,
        _ => INCONCLUSIVE,
    }
}

fn by_ranges(decision: &Decision, found: &Evidence, this: usize, other: usize) -> Outcome {
    let spread = |number: usize| found.spread(&decision.metric, number);
    let (Some(a), Some(b)) = (spread(this), spread(other)) else {
        let count = |number: usize| found.values_of(&decision.metric, number).len();
        let why = format!(
            "{} and {} runs, and {FEWEST} of each are needed",
            count(this),
            count(other)
        );
        return Outcome::without_figures(INCONCLUSIVE, why);
    };
    let name = |number: usize| found.targets[number].as_str();
    let say = |spread: Spread| format!("{:.4} to {:.4}", spread.low, spread.high);
    let why = format!(
        "{} of {}: {}; of {}: {}",
        decision.metric,
        name(this),
        say(a),
        name(other),
        say(b)
    );
    let factor = decision.factor.unwrap_or(1.0);
    let (is_so, is_contrary) = match decision.expected {
        Expected::Less => (a.high < factor * b.low, a.low > factor * b.high),
        _ => (a.low > factor * b.high, a.high < factor * b.low),
    };
    let (here, why) = match (is_so, is_contrary) {
        (true, _) => (HOLDS, why),
        (_, true) => (DOES_NOT_HOLD, why),
        _ => (INCONCLUSIVE, format!("{why}: the ranges overlap")),
    };
    Outcome {
        here,
        figures: a.ratio(b),
        why,
    }
}

fn by_knee(decision: &Decision, knee: Option<&Knee>, processors: u32) -> Outcome {
    let (Some(knee), Some(degree)) = (knee, decision.degree) else {
        return Outcome::without_figures(INCONCLUSIVE, "there are no scans yet");
    };
    let measured = (knee.degree).map_or_else(String::new, |at| format!(", {at} by the medians"));
    let why = format!("the knee is {}{measured}", knee.says);
    if knee.is_of_processors(processors) {
        let why = format!("{why}: that is not below the number of processors, {processors}");
        return Outcome::without_figures(NOT_TESTED, why);
    }
    let ends = (knee.low.map(f64::floor), knee.high.map(f64::ceil));
    let figures = match (knee.degree, ends) {
        (Some(at), (Some(low), Some(high))) => Some((f64::from(at), low, high)),
        _ => None,
    };
    let degree = f64::from(degree);
    let here = match (knee.verdict.as_str(), ends) {
        ("knee", (Some(low), Some(high))) if (low..=high).contains(&degree) => HOLDS,
        ("knee", (Some(_), Some(_))) => DOES_NOT_HOLD,
        ("still_rising", (Some(low), _)) if low > degree => DOES_NOT_HOLD,
        _ => INCONCLUSIVE,
    };
    Outcome { here, figures, why }
}

#[cfg(test)]
mod tests;
