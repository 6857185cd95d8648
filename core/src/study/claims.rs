//! The judgement of claims: what was claimed beforehand, and what the runs of this machine say of it.

use std::collections::BTreeMap;

use crate::{experiment::answer::Cause, texts::study::claims as text, wording};

use super::{
    definition::{Claim, DecidedBy, Decision, Expected, Study},
    evidence::{Evidence, FEWEST, Knee, Spread},
    not_tested::StudyContext,
};

/// A claim, judged.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedClaim {
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
    fn new(here: &'static str, figures: Option<(f64, f64, f64)>, why: String) -> Self {
        let why = wording::say(here, || why);
        Self { here, figures, why }
    }

    fn without_figures(here: &'static str, why: String) -> Self {
        Self::new(here, None, why)
    }
}

/// All claims of a study, in their order. `evidence` is by question.
pub fn judge(here: &StudyContext<'_>, evidence: &BTreeMap<String, Evidence>) -> Vec<JudgedClaim> {
    (here.study.claims.iter())
        .map(|claim| {
            let outcome = outcome(here, claim, evidence);
            let figures = outcome.figures;
            JudgedClaim {
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
    if decision.by == DecidedBy::Knee {
        let degree = decision.degree.unwrap_or(0);
        return text::decided_by_knee(variant, question, degree);
    }
    let expected = match (decision.expected, decision.factor) {
        (Expected::More, Some(factor)) => text::Expected::AtLeast(factor),
        (Expected::Less, Some(factor)) => text::Expected::AtMost(factor),
        (Expected::More, None) => text::Expected::More,
        (Expected::Less, None) => text::Expected::Less,
        _ => text::Expected::Same,
    };
    text::decided_by(text::Comparison {
        metric,
        variant,
        with: decision.with.as_deref().unwrap_or(""),
        question,
        expected,
        by_interval: decision.by == DecidedBy::Interval,
    })
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
        return Outcome::without_figures(NOT_TESTED, text::undecidable());
    };
    let Some(found) = evidence.get(&decision.question) else {
        return Outcome::without_figures(NOT_TESTED, text::dropped());
    };
    let number = |variant: &str| found.number_of(here.study, variant);
    let (Some(this), other) = (
        number(&decision.variant),
        decision.with.as_deref().and_then(number),
    ) else {
        return Outcome::without_figures(NOT_TESTED, text::no_variant());
    };
    let mut outcome = match (decision.by, other) {
        (DecidedBy::Knee, _) => {
            let outcome = by_knee(decision, found.knees.get(&this), here.facts.processors);
            unless_withheld(found, this, None, outcome)
        }
        (DecidedBy::Ranges, Some(other)) => {
            let outcome = by_ranges(decision, found, this, other);
            unless_withheld(found, this, Some(other), outcome)
        }
        (DecidedBy::Interval, Some(other)) => by_interval(here.study, decision, found, this, other),
        _ => Outcome::without_figures(NOT_TESTED, text::no_variant()),
    };
    if found.runs > 0
        && let Some(where_made) = &found.where_made
    {
        outcome.why = text::and_where(&outcome.why, where_made);
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
        Some(why) if outcome.here != NOT_TESTED => {
            let why = text::with(&why, &outcome.why);
            Outcome::new(INCONCLUSIVE, outcome.figures, why)
        }
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
            return Outcome::without_figures(INCONCLUSIVE, text::nothing_yet());
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
    let interval = figures.filter(|_| decision.expected != Expected::Same);
    let why = match (on.filter(|_| !is_settled), interval) {
        (Some(status), _) => text::with(&text::status(status), &row.says),
        // The experiment's question may be open where the claim is decided.
        (None, Some((_, low, high))) if !is_settled && here != INCONCLUSIVE => {
            let factor = decision.factor.unwrap_or(1.0);
            text::interval([low, high], factor, &row.says)
        }
        _ => row.says.clone(),
    };
    Outcome::new(here, figures, why)
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
        let why = text::too_few_runs([count(this), count(other)], FEWEST);
        return Outcome::without_figures(INCONCLUSIVE, why);
    };
    let factor = decision.factor.unwrap_or(1.0);
    let (is_so, is_contrary) = match decision.expected {
        Expected::Less => (a.high < factor * b.low, a.low > factor * b.high),
        _ => (a.low > factor * b.high, a.high < factor * b.low),
    };
    let here = match (is_so, is_contrary) {
        (true, _) => HOLDS,
        (_, true) => DOES_NOT_HOLD,
        _ => INCONCLUSIVE,
    };
    let range =
        |number: usize, spread: Spread| (found.targets[number].as_str(), [spread.low, spread.high]);
    let (this, other) = (range(this, a), range(other, b));
    let why = text::ranges(&decision.metric, this, other, here == INCONCLUSIVE);
    Outcome::new(here, a.ratio(b), why)
}

fn by_knee(decision: &Decision, knee: Option<&Knee>, processors: u32) -> Outcome {
    let (Some(knee), Some(degree)) = (knee, decision.degree) else {
        return Outcome::without_figures(INCONCLUSIVE, text::no_scans());
    };
    let why = |processors| text::knee(&knee.says, knee.degree, processors);
    if knee.is_of_processors(processors) {
        return Outcome::without_figures(NOT_TESTED, why(Some(processors)));
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
    Outcome::new(here, figures, why(None))
}

#[cfg(test)]
mod tests;
