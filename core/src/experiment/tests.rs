//! An experiment played from its first run to its end, without a server.

mod answers;
mod arguments;
mod before;
mod beside_others;
mod excluded;
mod left_open;
mod withheld;
mod without_value;
mod without_words;

use serde_json::json;

use super::{
    answer, conditions,
    metric::{self, Kind},
    plan,
    state::{ExperimentRun, Goal, Neighbours, Outcome, State},
    steps::{self, End, Next, Place},
};

/// An experiment of so many targets; with a baseline when it is the goal.
fn state(targets: usize, goal: Goal) -> State {
    let rows: Vec<_> = (0..targets)
        .map(|number| json!({"target_number": number, "target": format!("t{number}"), "target_name": format!("t{number}")}))
        .collect();
    let state = json!({
        "experiment": {
            "experiment_id": 1, "experiment": "e", "status": "running", "goal": goal,
            "baseline_number": (goal == Goal::Baseline).then_some(0), "control_number": null, "metric": "tps", "margin": 0.05,
            "max_blocks": 12, "looks": plan::looks(12), "ended_by": null,
            "run_order": plan::run_order(targets, 7), "max_seconds": null, "elapsed_seconds": 60, "run_seconds": 10, "forced": false,
        },
        "targets": rows, "runs": [],
    });
    serde_json::from_value(state).unwrap()
}

#[test]
fn rows_that_contradict_each_other_are_told() {
    assert_eq!(state(3, Goal::Baseline).contradiction(), None);
    type Change = fn(&mut State);
    let odd: [(&str, Change); 8] = [
        ("not numbered", |s| s.targets.clear()),
        ("not numbered", |s| s.targets[1].number = 7),
        ("names number 3", |s| s.experiment.baseline = Some(3)),
        ("names number 9", |s| s.experiment.control = Some(9)),
        ("names number 5", |s| s.experiment.run_order[0][0] = 5),
        ("has none", |s| s.experiment.baseline = None),
        ("block 4000000000", |s| {
            s.runs.push(ExperimentRun {
                block: 4_000_000_000,
                ..ExperimentRun::default()
            });
        }),
        ("not in order", |s| s.experiment.looks.reverse()),
    ];
    for (words, change) in odd {
        let mut state = state(3, Goal::Baseline);
        change(&mut state);
        let why = state.contradiction().unwrap_or_default();
        assert!(why.contains(words), "{why}");
    }
}

/// The result of a run, by its place.
type Measure<'a> = &'a dyn Fn(Place) -> ExperimentRun;

fn measured(place: Place, value: f64) -> ExperimentRun {
    ExperimentRun {
        status: Some("done".into()),
        value: Some(value),
        ..made(place)
    }
}

/// A run from which others took this share of the processors.
fn disturbed_by(place: Place, value: f64, cpu_others: f64) -> ExperimentRun {
    ExperimentRun {
        disturbed: true,
        cpu_others: Some(cpu_others),
        ..measured(place, value)
    }
}

fn failed(place: Place, code: &str) -> ExperimentRun {
    ExperimentRun {
        status: Some("failed".into()),
        error_code: Some(code.into()),
        error: Some("it broke".into()),
        ..made(place)
    }
}

fn made(place: Place) -> ExperimentRun {
    ExperimentRun {
        block: place.block,
        position: place.position,
        attempt: place.attempt,
        number: place.number,
        boot_id: Some("boot".into()),
        versions: Some("v".into()),
        ..ExperimentRun::default()
    }
}

/// Does what is to be done until the end, and gives that; with all that is started.
fn live(state: &mut State, measure: Measure<'_>) -> (End, Vec<Place>) {
    let mut started = Vec::new();
    loop {
        match steps::next(state, "boot", "v").next {
            Next::Start(place) => {
                started.push(place);
                let run_id = Some(started.len() as i64);
                state.runs.push(ExperimentRun {
                    run_id,
                    ..measure(place)
                });
            }
            Next::Judge(index, outcome, why) => {
                state.runs[index].outcome = Some(outcome);
                state.runs[index].why = why;
            }
            Next::Count(index, outcome, why) => {
                state.runs[index].outcome = Some(outcome);
                state.runs[index].why = Some(why);
            }
            Next::TakeAsItIs(..) => state.experiment.neighbours = Neighbours::Found,
            Next::End(end) => return (end, started),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn what_is_decided_is_not_run_again() {
    let mut state = state(3, Goal::Baseline);
    // t1 is far ahead; t2 is within the margin, and noisy enough to take until the fourth block.
    let value = |place: Place| match place.number {
        1 => 200.0,
        2 => [100.0, 104.0, 97.0, 100.0, 100.0, 100.0][place.block as usize % 6],
        _ => 100.0,
    };
    let (end, started) = live(&mut state, &|place| measured(place, value(place)));
    assert_eq!(end, End::Decided);
    let of = |number: usize| started.iter().filter(|p| p.number == number).count();
    assert_eq!(of(1), 3);
    assert!(of(2) > 3 && of(2) == of(0), "{started:?}");
    let rows = answer::rows(&state, metric::ALL[0], &[]);
    let verdicts: Vec<&str> = rows.iter().map(|row| row.verdict.as_str()).collect();
    assert_eq!(verdicts, ["more", "equivalent"]);
    assert_eq!(rows[0].blocks, Some(3));
    let line = answer::line(&state, &rows);
    assert!(
        line.starts_with("t1 more, t2 equivalent; 1 min in "),
        "{line}"
    );
}

#[test]
fn goal_best_ends_when_the_others_are_out() {
    let mut state = state(3, Goal::Best);
    let (end, started) = live(&mut state, &|place| {
        measured(place, [300.0, 200.0, 100.0][place.number])
    });
    assert_eq!((end, started.len()), (End::Decided, 9));
    let rows = answer::rows(&state, metric::ALL[0], &[]);
    let verdicts: Vec<&str> = rows.iter().map(|row| row.verdict.as_str()).collect();
    assert_eq!(verdicts, ["best", "out", "out"]);
    assert!((rows[1].ratio.unwrap() - 2.0 / 3.0).abs() < 1e-9);
    assert!(
        rows[2].says.contains("67 % fewer tps than t0"),
        "{}",
        rows[2].says
    );
}

#[test]
fn each_block_runs_in_the_stored_order() {
    let mut state = state(4, Goal::Best);
    let (_, started) = live(&mut state, &|place| {
        measured(place, 100.0 + place.number as f64)
    });
    let order: Vec<usize> = started.iter().take(8).map(|p| p.number).collect();
    assert_eq!(order, state.experiment.run_order[..2].concat());
}

#[test]
fn a_failed_run_is_tried_again_once_and_three_in_a_row_set_a_target_aside() {
    let mut state = state(3, Goal::Baseline);
    let (end, started) = live(&mut state, &|place| match place.number {
        2 => failed(place, "53100"),
        number => measured(place, 100.0 + 50.0 * number as f64),
    });
    assert_eq!(end, End::Decided);
    let tries: Vec<(u32, u32)> = (started.iter().filter(|p| p.number == 2))
        .map(|p| (p.block, p.attempt))
        .collect();
    assert_eq!(tries, [(1, 1), (1, 2), (2, 1)]);
    let rows = answer::rows(&state, metric::ALL[0], &[]);
    assert_eq!(rows[1].reason, Some("set_aside".into()));
    assert!(rows[1].says.contains("it broke"), "{}", rows[1].says);
}

#[test]
fn a_baseline_that_fails_ends_the_experiment() {
    let mut state = state(2, Goal::Baseline);
    let (end, _) = live(&mut state, &|place| match place.number {
        0 => failed(place, "53100"),
        _ => measured(place, 100.0),
    });
    let End::NoReference(why) = end else {
        panic!("{end:?}")
    };
    assert!(why.contains("baseline \"t0\" is set aside"), "{why}");
}

#[test]
fn a_run_that_was_cut_off_is_made_again_and_is_no_failure() {
    let mut state = state(2, Goal::Baseline);
    let (end, started) = live(&mut state, &|place| match (place.block, place.attempt) {
        (1, 1..=4) if place.number == 1 => failed(place, "57P02"),
        _ => measured(place, 100.0 + 100.0 * place.number as f64),
    });
    assert_eq!((end, started.len()), (End::Decided, 10));
}

/// Whatever cuts each run off does not end by itself: then the experiment pauses, after each ten of one place.
#[test]
fn what_cuts_off_ten_runs_of_a_place_pauses_the_experiment_and_loses_no_block() {
    let mut state = state(2, Goal::Baseline);
    let (end, started) = live(&mut state, &|place| match place {
        Place {
            block: 2,
            number: 1,
            attempt: ..=20,
            ..
        } => failed(place, "57P02"),
        _ => measured(place, [100.0, 150.0][place.number]),
    });
    assert_eq!((end, started.len()), (End::Decided, 26));
    let pauses: Vec<u32> = (0..state.runs.len())
        .filter(|&index| {
            let mut then = state.clone();
            then.runs.truncate(index + 1);
            steps::often_interrupted(&then, index).is_some()
        })
        .map(|index| state.runs[index].attempt)
        .collect();
    assert_eq!(pauses, [10, 20]);
    let mut then = state.clone();
    let tenth = then
        .runs
        .iter()
        .position(|made| made.attempt == 10)
        .unwrap();
    then.runs.truncate(tenth + 1);
    assert_eq!(
        steps::often_interrupted(&then, tenth).unwrap(),
        "10 runs of \"t1\" in block 2 were cut off, the last one: it broke; once that is mended, resume_experiment goes on with it"
    );
}

#[test]
fn a_block_is_made_again_when_versions_or_settings_change_within_it() {
    let began = conditions::conditions("kernel 6.1, PostgreSQL 15.4", "a1");
    let mut state = state(2, Goal::Baseline);
    let first = Place {
        block: 1,
        position: 1,
        attempt: 1,
        number: state.experiment.run_order[0][0],
    };
    state.runs.push(ExperimentRun {
        run_id: Some(1),
        versions: Some(began.clone()),
        outcome: Some(Outcome::Measured),
        ..measured(first, 100.0)
    });
    let next = |boot: &str, now: &str| steps::next(&state, boot, now).next;
    assert!(matches!(next("boot", &began), Next::Start(_)));
    for (now, why) in [
        (
            conditions::conditions("kernel 6.1, PostgreSQL 15.4", "b2"),
            "settings of the server changed within its block",
        ),
        (
            conditions::conditions("kernel 6.2, PostgreSQL 15.4", "a1"),
            "kernel, server or extension changed within its block",
        ),
    ] {
        let Next::Repeat(1, message) = next("boot", &now) else {
            panic!("{now}");
        };
        assert!(message.starts_with(why), "{message}");
    }
    assert!(matches!(next("another", &began), Next::Repeat(1, _)));
    // An earlier version of pgfsbench had no mark of the settings.
    let unmarked = next("boot", "kernel 6.1, PostgreSQL 15.4");
    assert!(matches!(unmarked, Next::Start(_)), "{unmarked:?}");
}

#[test]
fn an_invalid_run_is_repeated_twice() {
    let mut state = state(2, Goal::Baseline);
    let (_, started) = live(&mut state, &|place| ExperimentRun {
        invalid: match (place.block, place.number) {
            (2, 1) if place.attempt < 3 => vec!["server_restarted".into()],
            _ => Vec::new(),
        },
        ..measured(place, 100.0 + 100.0 * place.number as f64)
    });
    let tries = started
        .iter()
        .filter(|p| p.block == 2 && p.number == 1)
        .count();
    assert_eq!((tries, started.len()), (3, 8));
}

#[test]
fn the_first_run_burns_a_disk_in_and_does_not_count() {
    let mut state = state(2, Goal::Baseline);
    state.experiment.burn_in = true;
    let (_, started) = live(&mut state, &|place| match place.block {
        0 => failed(place, "53100"),
        _ => measured(place, 100.0 + 100.0 * place.number as f64),
    });
    assert_eq!(
        (started[0].block, started[1].block, started.len()),
        (0, 1, 7)
    );
    assert_eq!(state.runs[0].outcome, Some(Outcome::BurnIn));
}

#[test]
fn blocks_before_a_lasting_step_in_flush_latency_are_made_again() {
    let mut state = state(2, Goal::Baseline);
    // Noisy enough to need more than three blocks; the disk slows down after the second one.
    let measure = |place: Place| {
        let noise = [100.0, 107.0, 96.0, 101.0, 99.0, 104.0][place.block as usize % 6];
        let is_slow = place.block > 2 || place.attempt > 1;
        ExperimentRun {
            flush_us: Some(if is_slow { 900.0 } else { 200.0 }),
            ..measured(place, if place.number == 1 { noise } else { 100.0 })
        }
    };
    let mut repeats = Vec::new();
    let mut started = 0;
    loop {
        match steps::next(&state, "boot", "v").next {
            Next::Start(place) => {
                started += 1;
                state.runs.push(ExperimentRun {
                    run_id: Some(started),
                    ..measure(place)
                });
            }
            Next::Judge(index, outcome, why) => {
                state.runs[index].outcome = Some(outcome);
                state.runs[index].why = why;
            }
            Next::RepeatBefore(block, why) => {
                repeats.push((block, why.clone()));
                for made in state.runs.iter_mut().filter(|made| made.block < block) {
                    made.outcome = Some(Outcome::Repeated);
                    made.why = Some(why.clone());
                }
            }
            Next::End(_) => break,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(
        repeats,
        [(
            3,
            "throttled: flushes take 4.5 times as long from block 3 on".to_owned()
        )]
    );
    let of_first = |attempt: u32| {
        let found = state
            .runs
            .iter()
            .find(|m| m.block == 1 && m.number == 0 && m.attempt == attempt);
        found.and_then(|made| made.outcome)
    };
    assert_eq!(
        (of_first(1), of_first(2)),
        (Some(Outcome::Repeated), Some(Outcome::Measured))
    );
}

#[test]
fn a_block_is_made_again_after_a_reboot() {
    let mut state = state(2, Goal::Best);
    let Next::Start(place) = steps::next(&state, "boot", "v").next else {
        panic!()
    };
    state.runs.push(ExperimentRun {
        outcome: Some(Outcome::Measured),
        run_id: Some(1),
        ..measured(place, 5.0)
    });
    let Next::Repeat(1, why) = steps::next(&state, "another", "v").next else {
        panic!()
    };
    assert!(why.contains("started again"), "{why}");
    state.runs[0].outcome = Some(Outcome::Repeated);
    let Next::Start(again) = steps::next(&state, "another", "v").next else {
        panic!()
    };
    assert_eq!((again.number, again.attempt), (place.number, 2));
}

#[test]
fn what_was_begun_is_found_or_awaited() {
    let mut state = state(2, Goal::Best);
    let Next::Start(place) = steps::next(&state, "b", "v").next else {
        panic!()
    };
    state.runs.push(ExperimentRun { ..made(place) });
    assert_eq!(steps::next(&state, "b", "v").next, Next::Find(0));
    state.runs[0].run_id = Some(9);
    state.runs[0].status = Some("running".into());
    assert_eq!(steps::next(&state, "b", "v").next, Next::Wait(9));
}

#[test]
fn no_run_begins_that_cannot_end_in_time() {
    let mut state = state(2, Goal::Best);
    state.experiment.max_seconds = Some(65.0);
    assert_eq!(
        steps::next(&state, "b", "v").next,
        Next::End(End::MaxDuration)
    );
    state.experiment.max_seconds = Some(70.0);
    assert!(matches!(steps::next(&state, "b", "v").next, Next::Start(_)));
}

#[test]
fn where_max_duration_will_end_it_is_told() {
    let mut state = state(2, Goal::Best);
    for block in 1..=3 {
        for number in 0..2 {
            let place = Place {
                block,
                position: number as u32 + 1,
                attempt: 1,
                number,
            };
            let value = 100.0 + f64::from(block * (number as u32 + 1) % 3 * 10);
            state.runs.push(ExperimentRun {
                outcome: Some(Outcome::Measured),
                ..measured(place, value)
            });
        }
    }
    // Six runs took 10 s each, and a block of two takes 20.
    let mut message = |max_seconds: Option<f64>| {
        state.experiment.max_seconds = max_seconds;
        steps::ends_early(&state, 3)
    };
    assert_eq!(message(None), None);
    assert_eq!(message(Some(60.0 + 9.0 * 20.0)), None);
    let mut look = |max_seconds: f64| message(Some(max_seconds)).unwrap_or_default();
    assert_eq!(
        look(60.0 + 9.0 * 20.0 - 1.0),
        "max_duration will end it after about block 11, and not after block 12"
    );
    assert!(look(80.0).contains("after about block 4, "));
    assert_eq!(look(79.0), "max_duration will end it within block 4");
    assert_eq!(look(10.0), "max_duration will end it within block 4");
    // After one that took 30 s the last one begins the earlier.
    state.runs[0].seconds = Some(30.0);
    state.experiment.max_seconds = Some(60.0 + 9.0 * 20.0);
    let message = steps::ends_early(&state, 3).unwrap_or_default();
    assert!(message.contains("after about block 11, "), "{message}");
    // The planned length says when the last block begins, not how long the others take.
    state.experiment.run_seconds = 30.0;
    assert_eq!(steps::ends_early(&state, 3).as_ref(), Some(&message));
    // The next block already has a run, which has taken its time.
    let place = Place {
        block: 4,
        position: 1,
        attempt: 1,
        number: 0,
    };
    state.runs.push(ExperimentRun {
        outcome: Some(Outcome::Measured),
        ..measured(place, 100.0)
    });
    state.experiment.elapsed_seconds += 10.0;
    assert_eq!(steps::ends_early(&state, 3), Some(message));
}

#[test]
fn under_a_rate_a_target_that_cannot_keep_it_has_no_value() {
    let mut made = measured(
        Place {
            block: 1,
            position: 1,
            attempt: 1,
            number: 0,
        },
        3.0,
    );
    (made.scheduled, made.not_in_time) = (Some(1000), Some(11));
    let p99 = metric::find("latency_p99_ms").unwrap();
    assert_eq!(p99.kind, Kind::Latency(Some(99.0)));
    assert_eq!(steps::outcome(&made, p99).0, Outcome::Behind);
    made.not_in_time = Some(10);
    assert_eq!(steps::outcome(&made, p99).0, Outcome::Measured);
}

#[test]
fn a_run_is_found_again_by_its_label() {
    let state = state(2, Goal::Baseline);
    let place = Place {
        block: 2,
        position: 1,
        attempt: 1,
        number: 1,
    };
    assert_eq!(Place::of(&place.made()), place);
    let label = place.label(&state);
    assert!(label.ends_with(", block 2, run 1: t1"), "{label}");
    let again = Place {
        attempt: 3,
        ..place
    };
    assert_eq!(again.label(&state), format!("{label}, attempt 3"));
}

#[test]
fn an_end_says_why() {
    assert_eq!(End::Decided.why(3), None);
    let message = |end: End| end.why(12).unwrap();
    assert_eq!(message(End::MaxBlocks), "12 blocks are made");
    assert!(message(End::MaxDuration).contains("max_duration"));
    assert_eq!(message(End::NoReference("x".into())), "x");
}
