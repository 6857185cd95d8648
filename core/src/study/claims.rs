//! The judgement of claims: what was claimed beforehand, and what the runs of this machine say of it.

use std::collections::BTreeMap;

use super::{
    definition::{By, Claim, Decision, Expected, Study},
    evidence::{self, Evidence, FEWEST, Knee, Spread},
    left_out::Here,
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

/// What an experiment leaves open, or withholds, other arithmetic on its runs does not decide either.
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
    let stands = row.reason.as_deref().is_none_or(evidence::stands);
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

    fn knee(verdict: &str, low: Option<f64>, high: Option<f64>) -> Knee {
        Knee {
            verdict: verdict.into(),
            degree: low.filter(|_| verdict == "knee").map(|low| low as u32),
            low,
            high,
            says: "x".into(),
        }
    }

    fn at_17() -> Decision {
        Decision {
            degree: Some(17),
            by: By::Knee,
            with: None,
            variant: "xfs".into(),
            ..decision(Expected::Knee, None)
        }
    }

    #[test]
    fn a_knee_is_where_its_interval_is() {
        for (knee, here) in [
            (knee("knee", Some(16.0), Some(21.0)), HOLDS),
            (knee("knee", Some(17.5), Some(21.0)), HOLDS),
            (knee("knee", Some(1.0), Some(4.0)), DOES_NOT_HOLD),
            (knee("still_rising", Some(32.0), None), DOES_NOT_HOLD),
            (knee("still_rising", Some(16.0), None), INCONCLUSIVE),
            (knee("flat", None, None), INCONCLUSIVE),
        ] {
            assert_eq!(by_knee(&at_17(), Some(&knee), 64).here, here, "{knee:?}");
        }
        assert_eq!(by_knee(&at_17(), None, 64).here, INCONCLUSIVE);
    }

    /// More workers than processors cannot tell how a filesystem scales.
    #[test]
    fn a_knee_at_the_number_of_processors_says_nothing() {
        for (knee, processors, here) in [
            (knee("knee", Some(32.0), Some(40.0)), 23, NOT_TESTED),
            (knee("knee", Some(23.0), Some(40.0)), 23, NOT_TESTED),
            (knee("knee", Some(21.0), Some(40.0)), 23, DOES_NOT_HOLD),
            (knee("still_rising", Some(32.0), None), 23, NOT_TESTED),
        ] {
            let outcome = by_knee(&at_17(), Some(&knee), processors);
            assert_eq!(outcome.here, here, "{knee:?}");
            assert_eq!(outcome.figures.is_some(), here != NOT_TESTED);
        }
        let why = by_knee(&at_17(), Some(&knee("knee", Some(32.0), Some(40.0))), 23).why;
        let said =
            "the knee is x, 32 by the medians: that is not below the number of processors, 23";
        assert_eq!(why, said);
    }

    /// As claims are judged: with everything that is known of the experiment.
    #[test]
    fn ranges_and_knees_decide_nothing_that_the_experiment_withholds() {
        let study = builtin::find("heron-2010").unwrap().unwrap();
        let asked = Asked {
            image_size: Some("4GB".into()),
            ..Asked::default()
        };
        let facts = Facts {
            kernel: "6.18.4".into(),
            processors: 64,
            ..Facts::default()
        };
        let here = Here {
            study: &study,
            asked: &asked,
            facts: &facts,
        };
        let claim = |decision: Decision| Claim {
            claim: "c".into(),
            says: "s".into(),
            seen: "s".into(),
            not_tested: None,
            decision: Some(decision),
            needs: Vec::new(),
        };
        let ranges = claim(Decision {
            by: By::Ranges,
            ..decision(Expected::More, None)
        });
        let of_knee = claim(Decision {
            degree: Some(2),
            variant: "ext4".into(),
            ..at_17()
        });
        for (status, reason, decides, why) in [
            ("done", None, true, ""),
            ("done", Some("max_blocks"), true, ""),
            (
                "done",
                Some("too_short"),
                false,
                "its experiment gives no verdict (too_short): ",
            ),
            (
                "done",
                Some("differs: kernel"),
                false,
                "its experiment gives no verdict (differs: kernel): ",
            ),
            (
                "done",
                Some("set_aside"),
                false,
                "its experiment gives no verdict (set_aside): ",
            ),
            (
                "running",
                Some("running"),
                false,
                "its experiment is running: ",
            ),
            ("paused", None, false, "its experiment is paused: "),
        ] {
            let found = Evidence {
                status: Some(status.into()),
                rows: vec![row(1, INCONCLUSIVE, (1.0, 0.9, 1.1), reason)],
                targets: vec!["heron-2010.xfs".into(), "heron-2010.ext4".into()],
                values: BTreeMap::from([("tps".into(), vec![vec![1.0; 3], vec![2.0; 3]])]),
                knees: BTreeMap::from([(1, knee("knee", Some(2.0), Some(4.0)))]),
                ..Evidence::default()
            };
            let evidence = BTreeMap::from([("cycles".to_owned(), found)]);
            for claim in [&ranges, &of_knee] {
                let outcome = outcome(&here, claim, &evidence);
                assert_eq!(outcome.here == HOLDS, decides, "{status} {reason:?}");
                assert!(decides || outcome.here == INCONCLUSIVE, "{}", outcome.here);
                assert!(outcome.why.starts_with(why), "{}", outcome.why);
                assert!(outcome.figures.is_some(), "they are shown");
            }
        }
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
