//! The judgement of claims: what was claimed beforehand, and what the runs of this machine say of it.

use std::collections::BTreeMap;

use super::{
    definition::{By, Claim, Decision, Expected, Study},
    evidence::{Evidence, Knee},
    left_out::Here,
};

/// Fewest runs of each of two whose ranges are compared: if nothing differed, all of one would be above all of the other in one of twenty.
const FEWEST: usize = 3;

/// Reasons for which a verdict is open though its interval stands.
const INTERVAL_STANDS: &[&str] = &[
    "too_noisy",
    "max_blocks",
    "max_duration",
    "cancelled",
    "interrupted",
];

/// A claim, judged.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
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

/// What came out of the arithmetic.
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
pub fn judge(here: &Here<'_>, evidence: &BTreeMap<String, Evidence>) -> Vec<Judged> {
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

fn outcome(here: &Here<'_>, claim: &Claim, evidence: &BTreeMap<String, Evidence>) -> Outcome {
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
        (By::Knee, _) => by_knee(decision, found.knees.get(&this)),
        (By::Ranges, Some(other)) => by_ranges(decision, found, this, other),
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
    let running = ["queued", "running", "paused", "recorded"];
    let on = found
        .status
        .as_deref()
        .filter(|status| running.contains(status));
    let is_settled = row.verdict != INCONCLUSIVE;
    let stands = row
        .reason
        .as_deref()
        .is_none_or(|reason| INTERVAL_STANDS.contains(&reason));
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
        // What the experiment asks may be open where the claim is not.
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

/// What an interval (ratio, low and high) says. `is_equivalent`: it was shown to be within the margin.
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
    let none: &[f64] = &[];
    let of = |number: usize| -> &[f64] {
        let values = found
            .values
            .get(&decision.metric)
            .and_then(|v| v.get(number));
        values.map_or(none, Vec::as_slice)
    };
    let (a, b) = (of(this), of(other));
    let name = |number: usize| found.targets[number].as_str();
    if a.len() < FEWEST || b.len() < FEWEST {
        let why = format!(
            "{} and {} runs, and {FEWEST} of each are needed",
            a.len(),
            b.len()
        );
        return Outcome::without_figures(INCONCLUSIVE, why);
    }
    let ends = |values: &[f64]| {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (low, high)
    };
    let ((a_low, a_high), (b_low, b_high)) = (ends(a), ends(b));
    let say = |low: f64, high: f64| format!("{low:.4} to {high:.4}");
    let why = format!(
        "{} of {}: {}; of {}: {}",
        decision.metric,
        name(this),
        say(a_low, a_high),
        name(other),
        say(b_low, b_high)
    );
    let factor = decision.factor.unwrap_or(1.0);
    let (is_so, is_contrary) = match decision.expected {
        Expected::Less => (a_high < factor * b_low, a_low > factor * b_high),
        _ => (a_low > factor * b_high, a_high < factor * b_low),
    };
    let figures = (a_low > 0.0 && b_low > 0.0)
        .then(|| (median(a) / median(b), a_low / b_high, a_high / b_low));
    let (here, why) = match (is_so, is_contrary) {
        (true, _) => (HOLDS, why),
        (_, true) => (DOES_NOT_HOLD, why),
        _ => (INCONCLUSIVE, format!("{why}: the ranges overlap")),
    };
    Outcome { here, figures, why }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let n = sorted.len();
    (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0
}

fn by_knee(decision: &Decision, knee: Option<&Knee>) -> Outcome {
    let (Some(knee), Some(degree)) = (knee, decision.degree) else {
        return Outcome::without_figures(INCONCLUSIVE, "there are no scans yet");
    };
    let figures = match (knee.degree, knee.low, knee.high) {
        (Some(at), Some(low), Some(high)) => Some((f64::from(at), f64::from(low), f64::from(high))),
        _ => None,
    };
    let here = match (knee.verdict.as_str(), knee.low, knee.high) {
        ("knee", Some(low), Some(high)) if (low..=high).contains(&degree) => HOLDS,
        ("knee", Some(_), Some(_)) => DOES_NOT_HOLD,
        ("still_rising", Some(low), _) if low > degree => DOES_NOT_HOLD,
        _ => INCONCLUSIVE,
    };
    Outcome {
        here,
        figures,
        why: format!("the knee is {}", knee.says),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        experiment::answer,
        study::{asked::Asked, builtin, left_out::Facts},
    };

    fn row(
        number: usize,
        verdict: &str,
        ends: (f64, f64, f64),
        reason: Option<&str>,
    ) -> answer::Row {
        answer::Row {
            number,
            against: Some(0),
            ratio: Some(ends.0),
            low: Some(ends.1),
            high: Some(ends.2),
            verdict: verdict.into(),
            reason: reason.map(str::to_owned),
            says: "as said".into(),
            blocks: Some(6),
            kept: Some(6),
            ..answer::Row::default()
        }
    }

    fn decision(expected: Expected, factor: Option<f64>) -> Decision {
        Decision {
            question: "cycles".into(),
            variant: "ext4".into(),
            with: Some("xfs".into()),
            metric: "tps".into(),
            expected,
            factor,
            by: By::Interval,
            degree: None,
        }
    }

    #[test]
    fn an_interval_decides_what_was_declared() {
        let low = (0.6, 0.55, 0.65);
        let near = (1.01, 0.98, 1.03);
        for (expected, factor, figures, equivalent, settled, here) in [
            (Expected::Less, None, low, false, true, HOLDS),
            (Expected::Less, Some(0.7), low, false, true, HOLDS),
            (Expected::Less, Some(0.6), low, false, true, INCONCLUSIVE),
            (Expected::Less, Some(0.5), low, false, true, DOES_NOT_HOLD),
            (Expected::More, None, low, false, true, DOES_NOT_HOLD),
            (Expected::More, Some(1.25), low, false, true, DOES_NOT_HOLD),
            (Expected::Same, None, low, false, true, DOES_NOT_HOLD),
            (Expected::Same, None, near, true, true, HOLDS),
            (Expected::Same, None, near, false, false, INCONCLUSIVE),
            (
                Expected::Same,
                None,
                (1.04, 1.01, 1.07),
                false,
                true,
                INCONCLUSIVE,
            ),
            (Expected::More, None, near, true, true, DOES_NOT_HOLD),
            (Expected::More, None, near, false, false, INCONCLUSIVE),
            (Expected::More, Some(1.25), near, true, true, DOES_NOT_HOLD),
        ] {
            let decision = decision(expected, factor);
            assert_eq!(
                decide(&decision, figures, 0.05, equivalent, settled),
                here,
                "{decision:?} {figures:?}"
            );
        }
    }

    /// The baseline is on the other side as well.
    #[test]
    fn a_claim_of_the_baseline_is_turned() {
        let study = builtin::find("heron-2010").unwrap().unwrap();
        let found = Evidence {
            status: Some("done".into()),
            rows: vec![row(1, "less", (0.5, 0.4, 0.625), None)],
            targets: vec!["heron-2010.xfs".into(), "heron-2010.ext4".into()],
            runs: 12,
            ..Evidence::default()
        };
        let straight = by_interval(&study, &decision(Expected::Less, None), &found, 1, 0);
        assert_eq!(
            (straight.here, straight.figures),
            (HOLDS, Some((0.5, 0.4, 0.625)))
        );
        let turned = Decision {
            variant: "xfs".into(),
            with: Some("ext4".into()),
            ..decision(Expected::More, Some(1.5))
        };
        let outcome = by_interval(&study, &turned, &found, 0, 1);
        assert_eq!(
            (outcome.here, outcome.figures),
            (HOLDS, Some((2.0, 1.6, 2.5)))
        );
    }

    #[test]
    fn a_verdict_that_is_withheld_or_open_decides_nothing() {
        let study = builtin::find("heron-2010").unwrap().unwrap();
        let far = (0.5, 0.4, 0.625);
        for (reason, status, here) in [
            ("too_short", "done", INCONCLUSIVE),
            ("differs: kernel", "done", INCONCLUSIVE),
            ("noise_floor", "done", INCONCLUSIVE),
            ("running", "running", INCONCLUSIVE),
            ("max_blocks", "running", INCONCLUSIVE),
        ] {
            let found = Evidence {
                status: Some(status.into()),
                rows: vec![row(1, "inconclusive", far, Some(reason))],
                targets: vec!["heron-2010.xfs".into(), "heron-2010.ext4".into()],
                ..Evidence::default()
            };
            let outcome = by_interval(&study, &decision(Expected::Less, Some(0.7)), &found, 1, 0);
            assert_eq!(outcome.here, here, "{reason}");
        }
    }

    #[test]
    fn an_open_experiment_that_is_over_may_decide_the_size_of_a_claim() {
        let study = builtin::find("heron-2010").unwrap().unwrap();
        let found = Evidence {
            status: Some("done".into()),
            rows: vec![row(1, "inconclusive", (1.0, 0.8, 1.25), Some("max_blocks"))],
            targets: vec!["heron-2010.xfs".into(), "heron-2010.ext4".into()],
            ..Evidence::default()
        };
        let of = |factor| {
            let outcome = by_interval(&study, &decision(Expected::Less, factor), &found, 1, 0);
            (outcome.here, outcome.why)
        };
        assert_eq!(of(None), (INCONCLUSIVE, "as said".into()));
        let why = "its interval, 0.80 to 1.25 times, is above 0.25 times; its experiment: as said";
        assert_eq!(of(Some(0.25)), (DOES_NOT_HOLD, why.into()));
    }

    #[test]
    fn ranges_decide_when_they_are_apart() {
        let of = |a: &[f64], b: &[f64], expected, factor| {
            let found = Evidence {
                targets: vec!["a".into(), "b".into()],
                values: BTreeMap::from([("tps".into(), vec![a.to_vec(), b.to_vec()])]),
                ..Evidence::default()
            };
            by_ranges(
                &Decision {
                    by: By::Ranges,
                    ..decision(expected, factor)
                },
                &found,
                0,
                1,
            )
        };
        let (high, low, both) = ([40.0, 44.0, 50.0], [2.0, 4.0, 5.0], [3.0, 20.0, 41.0]);
        assert_eq!(of(&high, &low, Expected::More, None).here, HOLDS);
        assert_eq!(of(&high, &low, Expected::More, Some(5.0)).here, HOLDS);
        assert_eq!(
            of(&high, &low, Expected::More, Some(9.0)).here,
            INCONCLUSIVE
        );
        assert_eq!(of(&high, &low, Expected::Less, None).here, DOES_NOT_HOLD);
        assert_eq!(of(&high, &both, Expected::More, None).here, INCONCLUSIVE);
        assert_eq!(
            of(&high[..2], &low, Expected::More, None).here,
            INCONCLUSIVE
        );
        let figures = of(&high, &low, Expected::More, None).figures;
        assert_eq!(figures, Some((11.0, 8.0, 25.0)));
    }

    #[test]
    fn a_knee_is_where_its_interval_is() {
        let decision = Decision {
            degree: Some(17),
            by: By::Knee,
            expected: Expected::Knee,
            ..decision(Expected::Knee, None)
        };
        let knee = |verdict: &str, low, high| Knee {
            verdict: verdict.into(),
            degree: low,
            low,
            high,
            says: "x".into(),
        };
        assert_eq!(
            by_knee(&decision, Some(&knee("knee", Some(16), Some(21)))).here,
            HOLDS
        );
        assert_eq!(
            by_knee(&decision, Some(&knee("knee", Some(1), Some(4)))).here,
            DOES_NOT_HOLD
        );
        assert_eq!(
            by_knee(&decision, Some(&knee("flat", None, None))).here,
            INCONCLUSIVE
        );
        assert_eq!(by_knee(&decision, None).here, INCONCLUSIVE);
    }

    /// With nothing measured each claim is accounted for, and none is decided.
    #[test]
    fn without_runs_nothing_holds() {
        let facts = Facts {
            kernel: "6.18.4".into(),
            server_version_num: 150_000,
            memory_bytes: 1 << 34,
            processors: 2,
            ..Facts::default()
        };
        for study in builtin::all().unwrap() {
            let asked = Asked {
                image_size: Some("4GB".into()),
                quick: Some(true),
                part: Some("all".into()),
                ..Asked::default()
            };
            let judged = judge(
                &Here {
                    study: &study,
                    asked: &asked,
                    facts: &facts,
                },
                &BTreeMap::new(),
            );
            assert_eq!(judged.len(), study.claims.len());
            for claim in judged {
                assert_eq!(claim.here, NOT_TESTED, "{}", claim.claim);
                assert!(!claim.why.is_empty() && !claim.decided_by.is_empty());
            }
        }
    }
}
