//! Targets whose runs fail after a few blocks.

use super::{failed, live, measured, state};
use crate::{
    experiment::{
        answer, metric, recommend,
        state::{ExperimentRun, Goal, Outcome, State},
        steps::{self, End, Next, Place},
    },
    verdict::Reason,
};

fn verdicts(state: &State) -> Vec<(String, String)> {
    let rows = answer::rows(state, metric::ALL[0], &[]);
    (rows.into_iter())
        .map(|row| (row.target, row.verdict))
        .collect()
}

fn verdicts_of(of: &[(&str, &str)]) -> Vec<(String, String)> {
    (of.iter())
        .map(|(target, verdict)| ((*target).into(), (*verdict).into()))
        .collect()
}

#[test]
fn the_best_of_those_that_are_left_is_named() {
    let mut state = state(3, Goal::Best);
    let third = [0.0, 180.0, 210.0, 195.0];
    let (end, _) = live(&mut state, &|place| match (place.number, place.block) {
        (2, 4..) => failed(place, "53100"),
        (2, block) => measured(place, third[block as usize]),
        (number, _) => measured(place, [200.0, 100.0][number]),
    });
    assert_eq!(end, End::Decided);
    assert_eq!(
        verdicts(&state),
        verdicts_of(&[("t0", "best"), ("t1", "out"), ("t2", "inconclusive")])
    );
    let rows = answer::rows(&state, metric::ALL[0], &[]);
    assert!(rows[2].is_set_aside(), "{rows:?}");
    let line = answer::line(&state, &rows);
    assert!(
        line.starts_with("t0 best, t1 out, t2 set aside; "),
        "{line}"
    );
}

#[test]
fn where_no_run_has_counted_that_is_said() {
    let mut state = state(2, Goal::Best);
    live(&mut state, &|place| failed(place, "53100"));
    state.experiment.status = "done".into();
    state.experiment.too_short = true;
    let rows = answer::rows(&state, metric::ALL[0], &[]);
    let advice = recommend::rows(&state, &rows, &[], &recommend::ThisServer::default());
    assert_eq!(advice[0].part, "choice");
    assert!(
        advice[0]
            .says
            .starts_with("no choice: none of its runs has come to a result that counts"),
        "{advice:?}"
    );
}

#[test]
fn a_run_that_went_well_before_the_blocks_is_one_too() {
    let mut state = state(2, Goal::Best);
    let place = |block: u32, attempt: u32| Place {
        block,
        position: 1,
        attempt,
        number: 1,
    };
    let with = |made: ExperimentRun, outcome: Outcome| ExperimentRun {
        outcome: Some(outcome),
        ..made
    };
    for (place, outcome) in [
        (place(0, 1), Outcome::Failed),
        (place(0, 2), Outcome::Pilot),
        (place(1, 1), Outcome::Failed),
        (place(1, 2), Outcome::Failed),
    ] {
        state.runs.push(with(failed(place, "53100"), outcome));
        assert_eq!(steps::excluded(&state).len(), 0);
    }
    state
        .runs
        .push(with(failed(place(1, 3), "53100"), Outcome::Failed));
    assert_eq!(steps::excluded(&state).len(), 1);
    // The others have nothing to be compared with: it says which one is gone, and who had no run.
    // More blocks would have the same error.
    state.experiment.status = "done".into();
    state.experiment.ended_by = Some(Reason::NoReference);
    let rows = answer::rows(&state, metric::ALL[0], &[]);
    assert_eq!(rows[0].reason, Some("no_reference".into()));
    let open = answer::open::of(&state, &rows);
    assert_eq!(open.next_blocks, None);
    assert!(
        open.advice("e")
            .unwrap()
            .starts_with("-- a new experiment, once")
    );
    let says = open.reasons[0].says();
    assert!(
        says.starts_with("nothing to compare with: fewer than two targets are left: t1 was set"),
        "{says}"
    );
    let Next::End(End::NoReference(why)) = steps::next(&state, "boot", "v").next else {
        panic!("it goes on");
    };
    assert!(
        why.starts_with(
            "fewer than two targets are left: t1 was set aside (3 runs in a row failed"
        ),
        "{why}"
    );
    state.experiment.status = "done".into();
    let advice = recommend::rows(&state, &[], &[], &recommend::ThisServer::default());
    assert!(
        advice[0].says.contains("; t0 had no run at all; "),
        "{advice:?}"
    );
}

#[test]
fn what_was_out_against_one_that_fails_runs_again() {
    let mut state = state(3, Goal::Best);
    let third = [0.0, 270.0, 320.0, 285.0, 290.0, 300.0, 280.0];
    let (end, started) = live(&mut state, &|place| match (place.number, place.block) {
        (0, 4..) => failed(place, "53100"),
        (0, _) => measured(place, 300.0),
        (2, block) => measured(place, third[block as usize]),
        _ => measured(place, 100.0),
    });
    assert_eq!(end, End::Decided);
    assert_eq!(
        verdicts(&state),
        verdicts_of(&[("t0", "inconclusive"), ("t1", "out"), ("t2", "best")])
    );
    let blocks: Vec<u32> = (started.iter().filter(|place| place.number == 1))
        .map(|place| place.block)
        .collect();
    assert_eq!(blocks, [1, 2, 3, 5, 6]);
}

#[test]
fn a_baseline_that_fails_takes_no_block_with_it() {
    let mut state = state(3, Goal::Baseline);
    let third = [100.0, 107.0, 96.0, 101.0, 99.0, 104.0, 100.0];
    let (end, _) = live(&mut state, &|place| match (place.number, place.block) {
        (0, 5..) => failed(place, "53100"),
        (2, block) => measured(place, third[block as usize]),
        (number, _) => measured(place, [100.0, 200.0][number]),
    });
    assert!(matches!(end, End::NoReference(_)), "{end:?}");
    assert_eq!(steps::next(&state, "boot", "v").blocks, 5);
    state.experiment.ended_by = Some(Reason::NoReference);
    assert_eq!(
        verdicts(&state),
        verdicts_of(&[("t1", "more"), ("t2", "inconclusive")])
    );
}
