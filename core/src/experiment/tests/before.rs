//! Pilots before the first block: the rate as a share of the slowest target's, and the WAL of a checkpoint cycle.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{failed, measured, state};
use crate::{
    experiment::{
        arguments,
        state::{ExperimentRun, Goal, Outcome, State},
        steps::{self, End, Next},
        wal::{Fixed, WalUse},
    },
    refusal::check,
};

#[test]
fn a_share_becomes_a_rate_by_a_run_of_each_target() {
    let mut state = state(3, Goal::Best);
    state.experiment.burn_in = true;
    state.experiment.rate_share = Some(0.7);
    state.experiment.has_rate = true;
    let mut made = Vec::new();
    loop {
        match steps::next(&state, "boot", "v").next {
            Next::Start(place) => {
                assert_eq!(place.block, 0);
                made.push(place.number);
                state.runs.push(ExperimentRun {
                    run_id: Some(made.len() as i64),
                    // The first try of the second target fails; three of the third are cut off, which are none.
                    ..match (
                        place.number,
                        made.iter().filter(|n| **n == place.number).count(),
                    ) {
                        (1, 1) => failed(place, "53100"),
                        (2, 1..=3) => failed(place, "57P02"),
                        (number, _) => ExperimentRun {
                            tps: Some(1000.0 + 100.0 * number as f64),
                            ..measured(place, 5.0)
                        },
                    }
                });
            }
            Next::Judge(index, outcome, why) => {
                state.runs[index].outcome = Some(outcome);
                state.runs[index].why = why;
            }
            Next::Rate { rate, why } => {
                assert_eq!(rate, 700.0);
                assert!(why.starts_with("700.0 tps, 70 % of the 1000.0"), "{why}");
                state.experiment.rate = Some(rate);
                break;
            }
            other => panic!("{other:?}"),
        }
    }
    // One burns the disk in, whatever becomes of it; one of each target counts for the rate, and the others were made again.
    let again = match made[0] {
        0 => 4,
        _ => 3,
    };
    assert_eq!(made.len(), 1 + 3 + again, "{made:?}");
    let outcomes: Vec<_> = state.runs.iter().map(|run| run.outcome).collect();
    assert_eq!(outcomes[0], Some(Outcome::BurnIn));
    let pilots = outcomes.iter().filter(|o| **o == Some(Outcome::Pilot));
    assert_eq!(pilots.count(), 3);
    assert!(
        matches!(steps::next(&state, "boot", "v").next, Next::Start(place) if place.block == 1)
    );
}

#[test]
fn where_no_target_does_anything_there_is_no_rate() {
    let mut state = state(2, Goal::Best);
    state.experiment.rate_share = Some(0.5);
    for _ in 0..4 {
        let Next::Start(place) = steps::next(&state, "boot", "v").next else {
            panic!()
        };
        state.runs.push(ExperimentRun {
            outcome: Some(Outcome::Failed),
            ..failed(place, "53100")
        });
    }
    assert!(matches!(
        steps::next(&state, "boot", "v").next,
        Next::End(End::NoReference(_))
    ));
}

#[test]
fn a_rate_is_a_number_or_a_share() {
    let given = |text: &str| {
        arguments::with_rate(arguments::ExperimentArguments {
            rate: Some(text.into()),
            ..arguments::ExperimentArguments::default()
        })
    };
    let taken = |text: &str| {
        let arguments = given(text).unwrap();
        (arguments.run.rate, arguments.rate_share)
    };
    assert_eq!(taken("500"), (Some(500.0), None));
    assert_eq!(taken(" 70 % "), (None, Some(0.7)));
    assert_eq!(taken("100%"), (None, Some(1.0)));
    assert!(taken("NaN").0.unwrap().is_nan());
    for text in ["", "x", "%", "0%", "-5%", "101%", "NaN%", "7O%"] {
        check::style(&given(text).unwrap_err());
    }
}

/// WAL of a window of a minute.
fn wal(bytes: f64) -> WalUse {
    WalUse {
        bytes,
        seconds: 60.0,
        forced: 0,
        segment_bytes: 1 << 24,
        max_bytes: 1 << 30,
        completion: 0.5,
        recycles: true,
        room_bytes: None,
    }
}

/// Makes what comes before the first block, each run with this WAL; gives what is fixed then, and the runs.
fn until_wal_is_fixed(state: &mut State, bytes: f64) -> (Fixed, Vec<Value>) {
    let mut made = Vec::new();
    loop {
        match steps::next(state, "boot", "v").next {
            Next::Start(place) => {
                assert_eq!(place.block, 0);
                let all =
                    json!({"duration_us": 180_000_000, "warmup_us": 60_000_000, "clients": 4});
                made.push(steps::parameters(state, place, &all));
                state.runs.push(ExperimentRun {
                    run_id: Some(made.len() as i64),
                    tps: Some(1000.0),
                    wal: Some(wal(bytes)),
                    ..measured(place, 5.0)
                });
            }
            Next::Judge(index, outcome, why) => {
                state.runs[index].outcome = Some(outcome);
                state.runs[index].why = why;
            }
            Next::Rate { rate, .. } => state.experiment.rate = Some(rate),
            Next::Wal(fixed) => return (fixed, made),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_checkpoint_cycle_tells_how_much_wal_all_runs_find_ready() {
    let mut state = state(2, Goal::Best);
    state.experiment.pilot_cycle = true;
    state.experiment.cycle_seconds = Some(60.0);
    let (fixed, made) = until_wal_is_fixed(&mut state, 1e8);
    let cycle = json!({"duration_us": 60_000_000, "warmup_us": 0, "clients": 4});
    assert_eq!(made, [cycle.clone(), cycle], "one of each target");
    let numbers: BTreeSet<usize> = state.runs.iter().map(|made| made.number).collect();
    assert_eq!(numbers.len(), 2);
    assert!((state.runs.iter()).all(|made| made.outcome == Some(Outcome::Pilot)));
    assert_eq!(fixed.segments, 9, "{fixed:?}");
    // Then the first block begins; its runs are of full length.
    state.experiment.wal_segments = Some(fixed.segments);
    let Next::Start(place) = steps::next(&state, "boot", "v").next else {
        panic!()
    };
    assert_eq!(place.block, 1);
    let all = json!({"duration_us": 180_000_000});
    assert_eq!(steps::parameters(&state, place, &all), all);
}

#[test]
fn a_run_that_is_made_anyway_tells_it_too() {
    let mut burnt_in = state(2, Goal::Best);
    burnt_in.experiment.pilot_cycle = true;
    burnt_in.experiment.burn_in = true;
    burnt_in.experiment.cycle_seconds = Some(60.0);
    let (fixed, made) = until_wal_is_fixed(&mut burnt_in, 1e8);
    assert_eq!((fixed.segments, made.len()), (9, 2));
    assert_eq!(made[0]["duration_us"], 180_000_000, "of full length");
    assert_eq!(made[1]["duration_us"], 60_000_000, "of the other target");
    // Runs without a rate are scaled to the WAL that the rate would have made.
    let mut shared = state(2, Goal::Best);
    shared.experiment.pilot_cycle = true;
    shared.experiment.rate_share = Some(0.5);
    shared.experiment.cycle_seconds = Some(60.0);
    let (fixed, made) = until_wal_is_fixed(&mut shared, 1e8);
    assert_eq!((fixed.segments, made.len()), (5, 2));
}

#[test]
fn cycles_that_fail_twice_leave_the_runs_without() {
    let mut state = state(2, Goal::Best);
    state.experiment.pilot_cycle = true;
    for _ in 0..4 {
        let Next::Start(place) = steps::next(&state, "boot", "v").next else {
            panic!()
        };
        state.runs.push(ExperimentRun {
            outcome: Some(Outcome::Failed),
            ..failed(place, "53100")
        });
    }
    let Next::Wal(fixed) = steps::next(&state, "boot", "v").next else {
        panic!()
    };
    assert_eq!((fixed.segments, fixed.max_bytes), (0, None));
}

#[test]
fn a_control_has_no_cycle_of_its_own() {
    let mut state = state(3, Goal::Best);
    state.experiment.pilot_cycle = true;
    state.experiment.control = Some(2);
    state.experiment.cycle_seconds = Some(60.0);
    let (_, made) = until_wal_is_fixed(&mut state, 1e8);
    assert_eq!(made.len(), 2);
}

/// Makes everything before the first block; gives number and parameters of each run. Runs of these numbers fail that often.
fn until_the_first_block(state: &mut State, fails: &[(usize, usize)]) -> Vec<(usize, Value)> {
    let mut made: Vec<(usize, Value)> = Vec::new();
    let all = json!({"workload": "tpcb", "clients": 4, "options": {"data": "copied"}, "settings": {"fsync": "on"}});
    loop {
        match steps::next(state, "boot", "v").next {
            Next::Start(place) if place.block > 0 => return made,
            Next::Start(place) => {
                let tries = made.iter().filter(|(number, _)| *number == place.number);
                let is_failed = fails.contains(&(place.number, tries.count() + 1));
                made.push((place.number, steps::parameters(state, place, &all)));
                let id = Some(made.len() as i64);
                state.runs.push(ExperimentRun {
                    run_id: id,
                    // A run that lost commits is called invalid.
                    invalid: vec!["power_cut_failed".into()],
                    seconds: Some(5000.0),
                    ..match is_failed {
                        true => failed(place, "55000"),
                        false => measured(place, 5.0),
                    }
                });
            }
            Next::Judge(index, outcome, why) => {
                state.runs[index].outcome = Some(outcome);
                state.runs[index].why = why;
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn the_power_of_each_target_is_cut_once_before_the_first_block() {
    let mut state = state(3, Goal::Best);
    state.experiment.control = Some(2);
    state.experiment.power_cuts = Some(40);
    let made = until_the_first_block(&mut state, &[(1, 1)]);
    let numbers: Vec<usize> = made.iter().map(|(number, _)| *number).collect();
    assert_eq!(
        numbers,
        [0, 1, 1],
        "not of the control, and once more after a failure"
    );
    let of_cuts =
        json!({"workload": "power-cut", "options": {"cuts": 40}, "settings": {"fsync": "on"}});
    assert!(
        made.iter().all(|(_, parameters)| *parameters == of_cuts),
        "{made:?}"
    );
    let outcomes: Vec<_> = state
        .runs
        .iter()
        .map(|made| made.outcome.unwrap())
        .collect();
    assert_eq!(
        outcomes,
        [Outcome::PowerCut, Outcome::Failed, Outcome::PowerCut]
    );
    // These runs tell nothing about the length of others.
    state.experiment.max_seconds = Some(71.0);
    assert!(matches!(
        steps::next(&state, "boot", "v").next,
        Next::Start(_)
    ));
    // Factors of a target count as far as they are settings.
    let Next::Start(place) = steps::next(&state, "boot", "v").next else {
        panic!()
    };
    let own = json!({"clients": 8, "settings": {"wal_sync_method": "fsync"}});
    assert_eq!(steps::own_parameters(&state, place, &own), own);
    let cut = steps::Place::of(&state.runs[0]);
    assert_eq!(
        steps::own_parameters(&state, cut, &own),
        json!({"settings": {"wal_sync_method": "fsync"}})
    );
}

#[test]
fn power_cuts_that_fail_twice_or_take_too_long_are_left_out() {
    let mut state = state(2, Goal::Best);
    state.experiment.power_cuts = Some(40);
    let made = until_the_first_block(&mut state.clone(), &[(0, 1), (0, 2)]);
    let numbers: Vec<usize> = made.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, [0, 0, 1]);
    state.experiment.max_seconds = Some(71.0);
    assert!(until_the_first_block(&mut state, &[]).is_empty());
}
