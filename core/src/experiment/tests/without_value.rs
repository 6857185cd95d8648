//! Runs that count and have no value, and experiments that go on after their time was over.

use super::{live, measured, state};
use crate::{
    experiment::{
        answer,
        metric::{self, Metric},
        state::{ExperimentRun, Goal, Outcome, State},
        steps::{self, End, Next, Place},
    },
    finding::Severity,
};

fn search() -> Metric {
    metric::find(metric::SUSTAINABLE_RATE).unwrap()
}

/// An experiment of searches, in which these targets find no rate.
fn searching(targets: usize, goal: Goal, none: &'static [usize]) -> (State, End, Vec<Place>) {
    let mut state = state(targets, goal);
    state.experiment.metric = metric::SUSTAINABLE_RATE.into();
    let (end, started) = live(&mut state, &|place| match none.contains(&place.number) {
        true => ExperimentRun {
            value: None,
            found_none: Some("none: at 50.0 tps 12 % of the transactions miss 20 ms".into()),
            ..measured(place, 0.0)
        },
        false => measured(place, 100.0 * (1 + place.number) as f64),
    });
    (state, end, started)
}

#[test]
fn a_search_that_finds_no_rate_is_a_result() {
    let (state, end, started) = searching(3, Goal::Baseline, &[2]);
    assert_eq!(end, End::Decided);
    // Neither made again, nor set aside.
    let of = |number: usize| started.iter().filter(|p| p.number == number).count();
    assert_eq!((of(0), of(1), of(2)), (3, 3, 3));
    assert_eq!(steps::excluded(&state), []);
    let none = state.runs.iter().find(|made| made.number == 2).unwrap();
    assert_eq!(none.outcome, Some(Outcome::Behind));
    assert!(none.why.as_deref().unwrap().starts_with("none: at 50.0"));
    let rows = answer::rows(&state, search(), &[]);
    assert_eq!(rows[0].verdict, "more");
    assert_eq!(
        (rows[1].verdict.as_str(), rows[1].ratio),
        ("cannot keep the rate", None)
    );
    assert!(
        rows[1].says.starts_with(
            "cannot keep the rate: its searches have found none that stays under the latency limit"
        ),
        "{}",
        rows[1].says
    );
    // With goal best it counts as out.
    let (state, end, started) = searching(3, Goal::Best, &[0]);
    assert_eq!((end, started.len()), (End::Decided, 9));
    let rows = answer::rows(&state, search(), &[]);
    let verdicts: Vec<&str> = rows.iter().map(|row| row.verdict.as_str()).collect();
    assert_eq!(verdicts, ["cannot keep the rate", "out", "best"]);
}

#[test]
fn where_the_baseline_finds_no_rate_the_others_have_nothing_to_be_compared_with() {
    let (mut state, end, started) = searching(2, Goal::Baseline, &[0]);
    assert_eq!((end, started.len()), (End::Decided, 6));
    state.experiment.status = "done".into();
    let rows = answer::rows(&state, search(), &[]);
    assert_eq!(rows[0].reason, Some("no_reference".into()));
    // No run has failed: nothing is to be mended.
    let open = answer::open::of(&state, &rows);
    let says = open.reasons[0].says();
    assert_eq!(
        says,
        "nothing to compare with: the baseline cannot keep the rate"
    );
    let advice = open.advice("e").unwrap();
    assert!(
        advice.starts_with("-- a new experiment with a lower rate"),
        "{advice}"
    );
}

#[test]
fn a_search_that_says_nothing_has_failed() {
    let place = Place {
        block: 1,
        position: 1,
        attempt: 1,
        number: 0,
    };
    let made = ExperimentRun {
        value: None,
        ..measured(place, 0.0)
    };
    assert_eq!(steps::outcome(&made, search()).0, Outcome::Failed);
}

#[test]
fn a_figure_that_is_not_positive_is_no_value_and_is_not_measured_again() {
    let mut state = state(2, Goal::Baseline);
    let (end, started) = live(&mut state, &|place| {
        let value = match place {
            Place {
                block: 1..=3,
                number: 1,
                ..
            } => 0.0,
            _ => 100.0 * (1 + place.number) as f64,
        };
        measured(place, value)
    });
    // Three blocks do not count for it, and it is decided by the next three.
    assert_eq!((end, started.len()), (End::Decided, 12));
    assert!(started.iter().all(|place| place.attempt == 1));
    assert_eq!(steps::excluded(&state), []);
    let metric = metric::ALL[0];
    let rows = answer::rows(&state, metric, &[]);
    assert_eq!(
        (rows[0].verdict.as_str(), rows[0].blocks),
        ("more", Some(6))
    );
    let zero = state
        .runs
        .iter()
        .find(|made| made.value == Some(0.0))
        .unwrap();
    assert_eq!(
        (zero.outcome, zero.why.as_deref()),
        (Some(Outcome::Measured), Some("not_positive: tps is 0"))
    );
    let found = steps::without_value(zero, metric).unwrap();
    assert_eq!(
        (found.code.as_str(), found.severity),
        ("not_positive", Severity::Warning)
    );
    let other = state.runs.last().unwrap();
    assert_eq!(steps::without_value(other, metric), None);
    // One that does not count anyway has no finding of this.
    let repeated = ExperimentRun {
        outcome: Some(Outcome::Repeated),
        ..zero.clone()
    };
    assert_eq!(steps::without_value(&repeated, metric), None);
}

#[test]
fn one_that_is_extended_has_max_duration_once_more() {
    let mut state = state(2, Goal::Best);
    let e = &mut state.experiment;
    (e.max_seconds, e.max_duration_seconds) = (Some(65.0), Some(65.0));
    let end = Next::End(End::MaxDuration);
    assert_eq!(steps::next(&state, "b", "v").next, end);
    assert_eq!(
        state.experiment.max_seconds_when_extended(),
        Some(60.0 + 65.0)
    );
    state.experiment.max_seconds = state.experiment.max_seconds_when_extended();
    assert!(matches!(steps::next(&state, "b", "v").next, Next::Start(_)));
    state.experiment.max_duration_seconds = None;
    assert_eq!(state.experiment.max_seconds_when_extended(), None);
}
