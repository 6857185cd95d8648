//! The sentences about an experiment that was played.

use super::{live, measured, state};
use crate::experiment::{
    answer,
    limits::Limit,
    metric, recommend,
    state::{ExperimentRun, Goal, Outcome, State},
    steps::Place,
};
use crate::finding::{Code, Durability};
use serde_json::json;

#[test]
fn a_short_window_decides_nothing() {
    let mut state = state(2, Goal::Best);
    state.experiment.too_short = true;
    live(&mut state, &|place| {
        measured(place, 100.0 + 100.0 * place.number as f64)
    });
    for row in answer::rows(&state, metric::ALL[0], &[]) {
        assert_eq!(
            (row.verdict.as_str(), &row.reason),
            ("inconclusive", &Some(answer::Cause::TooShort))
        );
        assert!(row.says.contains("median"), "{}", row.says);
    }
}

#[test]
fn unequal_durability_and_undeclared_differences_are_said() {
    let mut state = state(2, Goal::Baseline);
    live(&mut state, &|place| {
        measured(place, 100.0 + 100.0 * place.number as f64)
    });
    let target_facts = |codes: &[Code], differs: Option<&str>| answer::TargetFacts {
        durability: Some(Durability::of_codes(codes.to_vec())),
        differs: differs.map(|why| (0, why.into())).into_iter().collect(),
        ..answer::TargetFacts::default()
    };
    let rows = answer::rows(
        &state,
        metric::ALL[0],
        &[
            target_facts(&[], None),
            target_facts(&[Code::BarriersOff], None),
        ],
    );
    assert!(
        rows[0].says.starts_with("2 times the tps of t0 (")
            && rows[0].says.contains("NOT equally durable"),
        "{}",
        rows[0].says
    );
    let line = answer::line(&state, &rows);
    assert!(
        line.starts_with("t1 more and NOT equally durable; "),
        "{line}"
    );
    let target_facts = [
        target_facts(&[], None),
        target_facts(&[], Some("differs: kernel")),
    ];
    let rows = answer::rows(&state, metric::ALL[0], &target_facts);
    assert!(
        rows[0]
            .says
            .starts_with("inconclusive (differs: kernel): 2.00 times t0"),
        "{}",
        rows[0].says
    );
    state.experiment.forced = true;
    assert_eq!(
        answer::rows(&state, metric::ALL[0], &target_facts)[0].verdict,
        "more"
    );
}

#[test]
fn metrics_that_were_not_declared_share_a_level_and_decide_nothing() {
    let mut state = state(2, Goal::Baseline);
    let value = |place: Place| {
        let noise = [1.0, 1.02, 0.99, 1.01][place.block as usize % 4];
        100.0 * noise * (1.0 + place.number as f64)
    };
    live(&mut state, &|place| measured(place, value(place)));
    for made in &mut state.runs {
        made.other_value = made.value;
    }
    let row = |state: &State, name: &str| {
        let rows = answer::rows(state, metric::find(name).unwrap(), &[]);
        rows[0].clone()
    };
    let declared = row(&state, "tps");
    let other = row(&state, "load_ms");
    assert_eq!(
        (other.verdict.as_str(), other.further_seconds),
        ("not declared", None)
    );
    // With the same figures, the level is divided by the number of undeclared metrics.
    let width = |row: &answer::Row| row.high.unwrap().ln() - row.ratio.unwrap().ln();
    let others = metric::not_declared("tps", false) as f64;
    assert!(others > 5.0, "{others}");
    assert!(width(&other) > width(&declared) * 1.5, "{other:?}");
    assert!(
        row(&state, "latency_p99_ms")
            .says
            .starts_with("inconclusive (closed_loop): 2.00 times t0"),
        "{other:?}"
    );
    // A metric that can be zero has no ratio.
    state
        .runs
        .iter_mut()
        .for_each(|made| made.other_value = Some(f64::from(made.block % 3)));
    let stalls = row(&state, "stall_seconds");
    assert_eq!(stalls.ratio, None);
    assert_eq!(
        stalls.says,
        "not declared, can be zero: median 1 (0 to 2) stall seconds, t0: median 1 (0 to 2)"
    );
}

#[test]
fn forced_checkpoints_and_limits_are_told() {
    let mut state = state(2, Goal::Baseline);
    let (_, _) = live(&mut state, &|place| {
        measured(place, 100.0 + f64::from(place.block % 2))
    });
    let of = |forced: f64| answer::TargetFacts {
        checkpoints: Some(answer::Checkpoints { forced, all: 3.0 }),
        ..answer::TargetFacts::default()
    };
    let mut rows = answer::rows(&state, metric::ALL[0], &[of(0.0), of(2.5)]);
    assert!(
        rows[0]
            .says
            .ends_with("; checkpoints forced by WAL: 2.5 of 3 a run (t0: 0 of 3 a run)"),
        "{}",
        rows[0].says
    );
    let line = answer::line(&state, &rows);
    assert!(line.contains("; checkpoints forced by WAL; "), "{line}");
    let facts = |number: usize, forced: f64| {
        let facts = json!({"number": number, "forced_checkpoints": forced, "checkpoints": 3.0});
        serde_json::from_value::<recommend::Facts>(facts).unwrap()
    };
    let advice = recommend::rows(
        &state,
        &rows,
        &[facts(0, 0.0), facts(1, 2.5)],
        &recommend::ThisServer::default(),
    );
    let regime: Vec<&str> = (advice.iter().filter(|a| a.part == "regime"))
        .map(|a| a.says.as_str())
        .collect();
    assert!(
        matches!(regime[..], [says] if says.starts_with("WAL forced checkpoints before their time (t0 0 of 3 a run, t1 2.5 of 3 a run): ")),
        "{regime:?}"
    );
    answer::name_limits(
        &mut rows,
        &state,
        &[Some(Limit::Device), Some(Limit::Device)],
    );
    assert!(
        rows[0]
            .says
            .ends_with("; both limited by what the device can do"),
        "{}",
        rows[0].says
    );
    let rows = answer::rows(&state, metric::ALL[0], &[of(0.0), of(0.0)]);
    assert!(!rows[0].says.contains("forced"), "{}", rows[0].says);
    assert!(!answer::line(&state, &rows).contains("forced"));
}

#[test]
fn another_session_confirms() {
    let mut first = state(3, Goal::Baseline);
    live(&mut first, &|place| {
        measured(place, 100.0 + 50.0 * place.number as f64)
    });
    let mut second = first.clone();
    second.experiment.experiment = "again".into();
    let answers = |of: &State| answer::rows(of, metric::ALL[0], &[]);
    assert!(
        !answer::is_another_session(&first, &second),
        "the same boot, and no day"
    );
    for made in &mut second.runs {
        made.boot_id = Some("another".into());
    }
    assert!(answer::is_another_session(&first, &second));
    let mut rows = answers(&first);
    answer::confirm(&mut rows, &first, &second, &answers(&second));
    assert!(
        rows[0].says.ends_with(", confirmed by \"again\""),
        "{}",
        rows[0].says
    );
    second
        .runs
        .iter_mut()
        .filter(|made| made.number == 1)
        .for_each(|made| made.value = Some(50.0));
    let mut rows = answers(&first);
    answer::confirm(&mut rows, &first, &second, &answers(&second));
    assert!(
        !rows[0].says.contains("confirmed") && rows[1].says.contains("confirmed"),
        "{rows:?}"
    );
}

#[test]
fn what_was_made_otherwise_than_usual_is_said() {
    let mut state = state(2, Goal::Baseline);
    state.experiment.cycle_seconds = Some(60.0);
    live(&mut state, &|place| {
        measured(place, 100.0 + 100.0 * place.number as f64)
    });
    let says = |state: &State| answer::rows(state, metric::ALL[0], &[])[0].says.clone();
    assert!(!says(&state).contains("checkpoint"), "{}", says(&state));
    state.experiment.cycle_is_given = true;
    state.experiment.raised_max_wal_size = Some("2624MB".into());
    assert!(
        says(&state)
            .ends_with("; with checkpoint_timeout 1 min; with max_wal_size raised to 2624MB"),
        "{}",
        says(&state)
    );
}

#[test]
fn each_two_targets_are_a_pair() {
    let mut state = state(6, Goal::Baseline);
    state.experiment.baseline = Some(2);
    let levels = [100.0, 200.0, 400.0, 200.0, 150.0, 70.0];
    live(&mut state, &|place| {
        let noise = [1.0, 1.001, 0.999][(place.block as usize + place.number) % 3];
        measured(place, levels[place.number] * noise)
    });
    let pairs = answer::pairs(&state, metric::ALL[0], &[]);
    let answers = |number: usize, against: usize| {
        let is_it = |row: &&answer::Row| row.number == number && row.against == Some(against);
        pairs.iter().find(is_it).map(|row| row.verdict.as_str())
    };
    assert_eq!(pairs.len(), 6 * 5 / 2);
    assert_eq!(answers(0, 2), Some("less"));
    assert_eq!(answers(3, 2), Some("less"));
    assert_eq!(answers(1, 0), Some("more"));
    assert_eq!(answers(3, 0), Some("more"));
    assert_eq!(answers(3, 1), Some("equivalent"));
    assert_eq!((answers(2, 0), answers(0, 1)), (None, None));
    // Declared pairs read as in the experiment's own rows.
    let declared = answer::rows(&state, metric::ALL[0], &[]);
    assert_eq!(pairs[..5], declared[..]);
    // Where there are many that were not declared one has to be surer.
    let width = |row: &answer::Row| (row.high.unwrap() / row.low.unwrap()).ln();
    assert!(width(&pairs[5]) > width(&declared[0]));
    // A difference of either target is a difference of the pair.
    let mut target_facts = vec![answer::TargetFacts::default(); 6];
    for other in 1..6 {
        target_facts[0]
            .differs
            .insert(other, "differs: kernel".into());
        target_facts[other]
            .differs
            .insert(0, "differs: kernel".into());
    }
    let pairs = answer::pairs(&state, metric::ALL[0], &target_facts);
    let withheld = pairs.iter().filter(|row| row.verdict == "inconclusive");
    assert_eq!(withheld.count(), 5);
}

#[test]
fn checksums_that_this_server_has_not_are_told() {
    let mut state = state(2, Goal::Baseline);
    live(&mut state, &|place| {
        measured(place, 100.0 + f64::from(place.block % 2))
    });
    let rows = answer::rows(&state, metric::ALL[0], &[]);
    let told = |theirs: [Option<bool>; 2], here: bool| {
        let facts = [0, 1].map(|number| recommend::Facts {
            number,
            data_checksums: theirs[number],
            ..recommend::Facts::default()
        });
        let here = recommend::ThisServer {
            data_checksums: here,
            ..recommend::ThisServer::default()
        };
        let advice = recommend::rows(&state, &rows, &facts, &here);
        let regime = advice.into_iter().find(|a| a.part == "regime");
        regime.map(|a| a.says)
    };
    let says = told([Some(true), Some(true)], false).unwrap();
    assert!(says.contains("had data checksums, which this server has not"));
    let says = told([Some(false), Some(false)], true).unwrap();
    assert!(says.contains("had no data checksums, which this server has"));
    for (theirs, here) in [
        ([Some(true), Some(true)], true),
        ([Some(false), Some(false)], false),
        // Where they are what is compared, all is said.
        ([Some(true), Some(false)], false),
        ([None, None], false),
    ] {
        assert_eq!(told(theirs, here), None);
    }
}

#[test]
fn the_line_counts_what_was_before_and_what_was_repeated() {
    let mut state = state(2, Goal::Baseline);
    live(&mut state, &|place| measured(place, 100.0));
    let counted = state.runs.len();
    let line = |state: &State| answer::line(state, &answer::rows(state, metric::ALL[0], &[]));
    assert!(line(&state).ends_with(&format!(" in {counted} runs")));
    for outcome in [Outcome::BurnIn, Outcome::Failed, Outcome::Repeated] {
        let run = ExperimentRun {
            outcome: Some(outcome),
            ..state.runs[0].clone()
        };
        state.runs.push(run);
    }
    let all = counted + 3;
    let end = format!(" in {all} runs, 1 of them before the first block, 2 repeated");
    assert!(line(&state).ends_with(&end), "{}", line(&state));
}

#[test]
fn small_buffers_and_figures_that_drift_are_told_with_the_choice() {
    let mut state = state(2, Goal::Best);
    live(&mut state, &|place| {
        measured(
            place,
            [100.0, 200.0][place.number] + f64::from(place.block % 2),
        )
    });
    state.experiment.status = "done".into();
    let drifts = answer::TargetFacts {
        warnings: answer::warning::listed("data_fits_ram, drift (2 of 3 runs)"),
        ..answer::TargetFacts::default()
    };
    let steady = answer::TargetFacts {
        warnings: answer::warning::listed("drifting_clock"),
        ..answer::TargetFacts::default()
    };
    let advice = |target_facts: [answer::TargetFacts; 2], buffers: f64| {
        let rows = answer::rows(&state, metric::ALL[0], &target_facts);
        let facts = [0, 1].map(|number| recommend::Facts {
            number,
            data_bytes: Some(486e6),
            memory_bytes: Some(24e9),
            shared_buffers_bytes: Some(buffers),
            ..recommend::Facts::default()
        });
        recommend::rows(&state, &rows, &facts, &recommend::ThisServer::default())
    };
    let of = |advice: &[recommend::Advice], part: &str| -> Vec<String> {
        let of_part = advice.iter().filter(|a| a.part == part);
        of_part.map(|a| a.says.clone()).collect()
    };
    let small = advice([drifts, steady.clone()], 128.0 * 1024.0 * 1024.0);
    let choice = of(&small, "choice").join(" ");
    assert!(
        choice.contains("with shared_buffers smaller than the data, with tps that were not steady"),
        "{choice}"
    );
    let regime = of(&small, "regime");
    assert!(regime[1].starts_with("shared_buffers (128 MB) are smaller than the data (463 MB): "));
    assert!(
        regime[2].starts_with("tps rose or fell within the windows (t0 in 2 of 3 runs), so that"),
        "{regime:?}"
    );
    let figures = of(&small, "figures");
    assert!(
        figures[1].starts_with("t1: 201 tps, the median of 3 runs (200 to 201)"),
        "{figures:?}"
    );
    let large = advice([steady.clone(), steady], 1e9);
    assert_eq!(of(&large, "regime").len(), 1);
    assert!(!of(&large, "choice").join(" ").contains("shared_buffers"));
}
