//! Verdicts that are withheld although the figures would decide, and results that stay open.

use std::collections::BTreeMap;

use super::{live, measured, state};
use crate::experiment::{
    answer::{self, Row, TargetFacts},
    metric, plan,
    state::{Goal, State},
    steps::Place,
    undeclared::ANOTHER_DEVICE,
};

/// Facts of this many targets, two of which differ.
fn differing(targets: usize, [a, b]: [usize; 2], why: &str) -> Vec<TargetFacts> {
    let mut target_facts = vec![TargetFacts::default(); targets];
    target_facts[a].differs = BTreeMap::from([(b, why.into())]);
    target_facts[b].differs = BTreeMap::from([(a, why.into())]);
    target_facts
}

fn rows(state: &State, target_facts: &[TargetFacts]) -> Vec<Row> {
    answer::rows(state, metric::ALL[0], target_facts)
}

fn verdicts(rows: &[Row]) -> Vec<&str> {
    rows.iter().map(|row| row.verdict.as_str()).collect()
}

/// Played with figures that do not change.
fn steady(goal: Goal, levels: &[f64]) -> State {
    let mut state = state(levels.len(), goal);
    live(&mut state, &|place| measured(place, levels[place.number]));
    state
}

#[test]
fn the_leader_on_another_device_is_not_named() {
    let mut state = steady(Goal::Best, &[200.0, 300.0, 100.0]);
    assert_eq!(verdicts(&rows(&state, &[])), ["out", "best", "out"]);
    let target_facts = differing(3, [0, 1], ANOTHER_DEVICE);
    let answers = rows(&state, &target_facts);
    assert_eq!(verdicts(&answers), ["inconclusive", "inconclusive", "out"]);
    assert!(
        answers[0]
            .says
            .starts_with("inconclusive (device confounded): 0.67 times t1 ("),
        "{}",
        answers[0].says
    );
    assert_eq!(
        answers[1].says,
        "inconclusive (device confounded): median 300 tps; as compared with t0"
    );
    // Targets that are not compared with each other may differ.
    let others = differing(3, [0, 2], "differs: kernel");
    assert_eq!(verdicts(&rows(&state, &others)), ["out", "best", "out"]);
    state.experiment.forced = true;
    assert_eq!(
        verdicts(&rows(&state, &target_facts)),
        ["out", "best", "out"]
    );
}

#[test]
fn another_device_weighs_more_than_a_setting() {
    let state = steady(Goal::Best, &[300.0, 200.0, 100.0]);
    let mut target_facts = differing(3, [0, 2], ANOTHER_DEVICE);
    target_facts[0].differs.insert(1, "differs: kernel".into());
    let answers = rows(&state, &target_facts);
    assert_eq!(answers[0].reason, Some(ANOTHER_DEVICE.into()));
    assert!(
        answers[0].says.ends_with("; as compared with t2"),
        "{}",
        answers[0].says
    );
}

#[test]
fn a_session_in_which_something_differed_confirms_nothing() {
    for (goal, levels) in [
        (Goal::Baseline, [100.0, 150.0]),
        (Goal::Best, [150.0, 100.0]),
    ] {
        let first = steady(goal, &levels);
        let mut second = first.clone();
        second.experiment.experiment = "again".into();
        let confirmed = |theirs: &[Row]| {
            let mut answers = rows(&first, &[]);
            answer::confirm(&mut answers, &first, &second, theirs);
            answers
                .iter()
                .filter(|row| row.says.contains("confirmed"))
                .count()
        };
        let count = rows(&first, &[]).len();
        assert_eq!(confirmed(&rows(&second, &[])), count);
        let target_facts = differing(2, [0, 1], ANOTHER_DEVICE);
        assert_eq!(confirmed(&rows(&second, &target_facts)), 0, "{goal:?}");
    }
}

#[test]
fn who_is_best_is_confirmed_by_none_that_does_not_say_it() {
    let state = steady(Goal::Best, &[200.0, 300.0, 100.0]);
    let confirmed = |theirs: &[Row]| {
        let mut answers = rows(&state, &[]);
        answer::confirm(&mut answers, &state, &state, theirs);
        answers
            .iter()
            .filter(|row| row.says.contains("confirmed"))
            .count()
    };
    assert_eq!(confirmed(&rows(&state, &[])), 3);
    // The last one is out there, too, but the one that leads is not named.
    let target_facts = differing(3, [0, 1], ANOTHER_DEVICE);
    assert_eq!(confirmed(&rows(&state, &target_facts)), 0);
}

#[test]
fn what_is_open_tells_how_many_blocks_it_would_take() {
    for goal in [Goal::Baseline, Goal::Best] {
        let mut state = state(2, goal);
        (state.experiment.max_blocks, state.experiment.looks) = (3, plan::looks(3));
        let second = [0.0, 99.0, 104.0, 97.0];
        live(&mut state, &|place| {
            let value = [100.0, second[place.block as usize]][place.number];
            measured(place, value)
        });
        let open = |target_facts: &[TargetFacts]| {
            let rows = rows(&state, target_facts);
            rows.into_iter().find(|row| row.ratio.is_some()).unwrap()
        };
        let row = open(&[]);
        assert_eq!(row.reason, Some("max_blocks".into()));
        // Two runs of ten seconds a block.
        let blocks = row.further_seconds.unwrap() / 20.0;
        assert!(blocks > 1.0, "{row:?}");
        assert!(
            row.says
                .ends_with(&format!("; about {blocks} more blocks would decide it")),
            "{}",
            row.says
        );
        // More of what is not comparable decides nothing.
        let target_facts = differing(2, [0, 1], "differs: kernel");
        assert_eq!(open(&target_facts).further_seconds, None);
    }
}

#[test]
fn no_more_blocks_are_offered_than_there_can_be() {
    let mut state = state(2, Goal::Baseline);
    (state.experiment.max_blocks, state.experiment.looks) = (3, plan::looks(3));
    let second = [0.0, 85.0, 120.0, 97.0];
    live(&mut state, &|place| {
        let value = [100.0, second[place.block as usize]][place.number];
        measured(place, value)
    });
    let row = &rows(&state, &[])[0];
    assert!(
        row.says
            .contains("more than the 24 blocks that an experiment can have"),
        "{row:?}"
    );
    assert_eq!(row.further_seconds, None);
}

#[test]
fn another_metric_is_shown_over_the_blocks_that_were_made() {
    let mut state = state(3, Goal::Baseline);
    let noise = [100.0, 107.0, 96.0, 101.0, 99.0, 104.0];
    let noisy = |place: Place| noise[place.block as usize % 6];
    live(&mut state, &|place| {
        let value = [100.0, 200.0, noisy(place)][place.number];
        measured(place, value)
    });
    let declared = rows(&state, &[]);
    assert_eq!(
        (declared[0].blocks, declared[1].verdict.as_str()),
        (Some(3), "equivalent")
    );
    assert!(declared[1].blocks > Some(3), "{declared:?}");
    // By this one the second target would have been open after three blocks.
    for made in &mut state.runs {
        let place = Place {
            block: made.block,
            position: 1,
            attempt: 1,
            number: made.number,
        };
        made.other_value = Some([100.0, noisy(place), noisy(place)][made.number]);
    }
    let shown = answer::rows(&state, metric::find("load_ms").unwrap(), &[]);
    assert_eq!(shown[1].blocks, declared[1].blocks);
    assert_eq!(shown[0].kept, Some(3));
}

#[test]
fn latency_that_was_not_declared_needs_runs_that_kept_the_rate() {
    let mut state = steady(Goal::Baseline, &[100.0, 150.0]);
    state.experiment.has_rate = true;
    for made in &mut state.runs {
        made.other_value = Some(3.0);
        (made.scheduled, made.not_in_time) = (Some(1000), Some(9 * made.number as u64));
    }
    let shown = |state: &State, name: &str| {
        let mut rows = answer::rows(state, metric::find(name).unwrap(), &[]);
        rows.remove(0)
    };
    assert!(shown(&state, "latency_p99_ms").ratio.is_some());
    let behind = shown(&state, "latency_p999_ms");
    assert_eq!(
        (behind.ratio, behind.says.as_str()),
        (None, "not declared: cannot keep the rate")
    );
    assert!(shown(&state, "load_ms").ratio.is_some());
}

#[test]
fn the_line_for_the_morning_begins_with_the_best() {
    let state = steady(Goal::Best, &[100.0, 101.0]);
    let line = answer::line(&state, &rows(&state, &[]));
    assert!(
        line.starts_with("t1 best, t0 equivalent to the best; "),
        "{line}"
    );
}
