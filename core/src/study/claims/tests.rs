use super::*;
use crate::{
    experiment::answer,
    study::{arguments::StudyArguments, builtin, not_tested::Facts},
};

fn row(number: usize, verdict: &str, ends: (f64, f64, f64), reason: Option<&str>) -> answer::Row {
    answer::Row {
        number,
        against: Some(0),
        ratio: Some(ends.0),
        low: Some(ends.1),
        high: Some(ends.2),
        verdict: verdict.into(),
        reason: reason.map(Into::into),
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
        by: DecidedBy::Interval,
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
                by: DecidedBy::Ranges,
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
        by: DecidedBy::Knee,
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
    let said = "the knee is x, 32 by the medians: that is not below the number of processors, 23";
    assert_eq!(why, said);
}

/// As claims are judged: with everything that is known of the experiment.
#[test]
fn ranges_and_knees_decide_nothing_that_the_experiment_withholds() {
    let study = builtin::find("heron-2010").unwrap().unwrap();
    let arguments = StudyArguments {
        image_size: Some("4GB".into()),
        ..StudyArguments::default()
    };
    let facts = Facts {
        kernel: "6.18.4".into(),
        processors: 64,
        ..Facts::default()
    };
    let here = StudyContext::new(&study, &arguments, &facts);
    let claim = |decision: Decision| Claim {
        claim: "c".into(),
        says: "s".into(),
        seen: "s".into(),
        not_tested: None,
        decision: Some(decision),
        needs: Vec::new(),
    };
    let ranges = claim(Decision {
        by: DecidedBy::Ranges,
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
            let coded = wording::without(|| outcome(&here, claim, &evidence));
            let outcome = outcome(&here, claim, &evidence);
            assert_eq!(
                (coded.here, coded.figures),
                (outcome.here, outcome.figures),
                "nothing reads a sentence"
            );
            assert_eq!(coded.why, coded.here);
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
        let arguments = StudyArguments {
            image_size: Some("4GB".into()),
            quick: Some(true),
            part: Some("all".into()),
            ..StudyArguments::default()
        };
        let here = StudyContext::new(&study, &arguments, &facts);
        let decide = || judge(&here, &BTreeMap::new());
        let (judged, coded) = (decide(), wording::without(decide));
        assert_eq!(judged.len(), study.claims.len());
        for (claim, coded) in judged.into_iter().zip(coded) {
            assert_eq!((coded.here, coded.why.as_str()), (NOT_TESTED, NOT_TESTED));
            assert_eq!(claim.here, NOT_TESTED, "{}", claim.claim);
            assert!(!claim.why.is_empty() && !claim.decided_by.is_empty());
        }
    }
}
