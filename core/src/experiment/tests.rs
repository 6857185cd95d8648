//! An experiment played from its first run to its end, without a server.

use serde_json::json;

use super::{
    answer, asked,
    metric::{self, Kind},
    plan,
    state::{Goal, Made, Outcome, State},
    steps::{self, End, Next, Place},
};
use crate::refusal::check;

/// An experiment of so many targets; with a baseline when it is the goal.
fn state(targets: usize, goal: Goal) -> State {
    let rows: Vec<_> = (0..targets)
        .map(|number| json!({"number": number, "name": format!("t{number}"), "target": format!("t{number}")}))
        .collect();
    let state = json!({
        "experiment": {
            "experiment_id": 1, "experiment": "e", "status": "running", "goal": goal,
            "baseline": (goal == Goal::Baseline).then_some(0), "control": null, "metric": "tps", "margin": 0.05,
            "max_blocks": 12, "looks": plan::looks(12), "ended_by": null,
            "run_order": plan::run_order(targets, 7), "max_seconds": null, "elapsed_seconds": 60, "run_seconds": 10, "forced": false,
        },
        "targets": rows, "runs": [],
    });
    serde_json::from_value(state).unwrap()
}

/// The result of a run, by its place.
type Measure<'a> = &'a dyn Fn(Place) -> Made;

fn measured(place: Place, value: f64) -> Made {
    Made {
        status: Some("done".into()),
        value: Some(value),
        ..made(place)
    }
}

fn failed(place: Place, code: &str) -> Made {
    Made {
        status: Some("failed".into()),
        error_code: Some(code.into()),
        error: Some("it broke".into()),
        ..made(place)
    }
}

fn made(place: Place) -> Made {
    Made {
        block: place.block,
        position: place.position,
        attempt: place.attempt,
        number: place.number,
        boot_id: Some("boot".into()),
        versions: Some("v".into()),
        ..Made::default()
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
                state.runs.push(Made {
                    run_id,
                    ..measure(place)
                });
            }
            Next::Judge(index, outcome, why) => {
                state.runs[index].outcome = Some(outcome);
                state.runs[index].why = why;
            }
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
        rows[2].says.contains("67 % less than t0"),
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
    assert_eq!(rows[1].reason.as_deref(), Some("set_aside"));
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

#[test]
fn an_invalid_run_is_repeated_twice() {
    let mut state = state(2, Goal::Baseline);
    let (_, started) = live(&mut state, &|place| Made {
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
fn a_disturbed_run_is_made_again_twice_and_counts_then() {
    let mut state = state(2, Goal::Baseline);
    let disturbed = |place: Place| Made {
        disturbed: place.block == 2 && place.number == 1,
        ..measured(place, 100.0 + 100.0 * place.number as f64)
    };
    let (end, started) = live(&mut state, &disturbed);
    assert_eq!((end, started.len()), (End::Decided, 8));
    let outcomes: Vec<_> = (state.runs.iter().filter(|m| m.block == 2 && m.number == 1))
        .map(|made| made.outcome.unwrap())
        .collect();
    assert_eq!(
        outcomes,
        [Outcome::Disturbed, Outcome::Disturbed, Outcome::Measured]
    );
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
                state.runs.push(Made {
                    run_id: Some(made.len() as i64),
                    // The first try of the second target fails.
                    ..match (place.number, made.iter().filter(|n| **n == 1).count()) {
                        (1, 1) => failed(place, "53100"),
                        (number, _) => Made {
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
    // One burns the disk in, one of each target counts for the rate, one was made again.
    assert_eq!(made.len(), if made[0] == 1 { 4 } else { 5 }, "{made:?}");
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
        state.runs.push(Made {
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
        asked::with_rate(asked::Asked {
            rate: Some(text.into()),
            ..asked::Asked::default()
        })
    };
    let taken = |text: &str| {
        let asked = given(text).unwrap();
        (asked.run.rate, asked.rate_share)
    };
    assert_eq!(taken("500"), (Some(500.0), None));
    assert_eq!(taken(" 70 % "), (None, Some(0.7)));
    assert_eq!(taken("100%"), (None, Some(1.0)));
    assert!(taken("NaN").0.unwrap().is_nan());
    for text in ["", "x", "%", "0%", "-5%", "101%", "NaN%", "7O%"] {
        check::style(&given(text).unwrap_err());
    }
}

#[test]
fn a_block_is_made_again_after_a_reboot() {
    let mut state = state(2, Goal::Best);
    let Next::Start(place) = steps::next(&state, "boot", "v").next else {
        panic!()
    };
    state.runs.push(Made {
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
    state.runs.push(Made { ..made(place) });
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
fn a_short_window_decides_nothing() {
    let mut state = state(2, Goal::Best);
    state.experiment.too_short = true;
    live(&mut state, &|place| {
        measured(place, 100.0 + 100.0 * place.number as f64)
    });
    for row in answer::rows(&state, metric::ALL[0], &[]) {
        assert_eq!(
            (row.verdict.as_str(), row.reason.as_deref()),
            ("inconclusive", Some("too_short"))
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
    let beside = |durability: &str, differs: Option<&str>| answer::Beside {
        durability: Some(durability.into()),
        differs: differs.map(str::to_owned),
        warnings: None,
    };
    let rows = answer::rows(
        &state,
        metric::ALL[0],
        &[
            beside("flushed", None),
            beside("not durable: barriers off", None),
        ],
    );
    assert!(
        rows[0].says.contains("more tps than t0") && rows[0].says.contains("NOT equally durable"),
        "{}",
        rows[0].says
    );
    let beside = [
        beside("flushed", None),
        beside("flushed", Some("differs: kernel")),
    ];
    let rows = answer::rows(&state, metric::ALL[0], &beside);
    assert!(
        rows[0]
            .says
            .starts_with("inconclusive (differs: kernel): 2.00 times t0"),
        "{}",
        rows[0].says
    );
    state.experiment.forced = true;
    assert_eq!(
        answer::rows(&state, metric::ALL[0], &beside)[0].verdict,
        "more"
    );
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
fn another_session_confirms() {
    let mut first = state(3, Goal::Baseline);
    live(&mut first, &|place| {
        measured(place, 100.0 + 50.0 * place.number as f64)
    });
    let mut second = first.clone();
    second.experiment.experiment = "again".into();
    let said = |of: &State| answer::rows(of, metric::ALL[0], &[]);
    assert!(
        !answer::is_another_session(&first, &second),
        "the same boot, and no day"
    );
    for made in &mut second.runs {
        made.boot_id = Some("another".into());
    }
    assert!(answer::is_another_session(&first, &second));
    let mut rows = said(&first);
    answer::confirm(&mut rows, &first, &second);
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
    let mut rows = said(&first);
    answer::confirm(&mut rows, &first, &second);
    assert!(
        !rows[0].says.contains("confirmed") && rows[1].says.contains("confirmed"),
        "{rows:?}"
    );
}

fn asked(arguments: serde_json::Value) -> Result<asked::Checked, crate::refusal::Refusal> {
    let mut given = json!({"experiment": "e", "targets": ["a", "b"]});
    let object = given.as_object_mut().unwrap();
    object.extend(arguments.as_object().unwrap().clone());
    let asked: asked::Asked = serde_json::from_value(given).unwrap();
    let made = asked::made_targets(&asked)?;
    asked::check(&asked, &made)
}

#[test]
fn wrong_arguments_are_refused_with_detail_and_hint() {
    for (arguments, message) in [
        (json!({"experiment": null}), "must not be null"),
        (json!({"experiment": " "}), "is empty"),
        (json!({"experiment": "a\nb"}), "is no name"),
        (json!({"targets": null}), "needs targets"),
        (json!({"targets": []}), "needs targets"),
        (json!({"targets": ["a"]}), "one target alone"),
        (json!({"targets": ["a", null]}), "null or empty"),
        (json!({"targets": ["a", "a"]}), "twice"),
        (json!({"goal": "fast"}), "goal \"fast\" does not exist"),
        (json!({"goal": "baseline"}), "needs a baseline"),
        (json!({"goal": "best", "baseline": "a"}), "has no baseline"),
        (json!({"baseline": "c"}), "is not among the targets"),
        (
            json!({"metric": "speed"}),
            "metric \"speed\" does not exist",
        ),
        (json!({"metric": "latency_p99_ms"}), "without a rate"),
        (json!({"metric": "stall_seconds"}), "can be zero"),
        (json!({"margin": 0}), "margin"),
        (json!({"margin": -0.1}), "margin"),
        (json!({"max_blocks": 2}), "under 3"),
        (json!({"max_blocks": 25}), "at most 24"),
        (json!({"max_blocks": 5}), "no look"),
        (json!({"max_duration_us": 0}), "max_duration"),
        (json!({"cycle_us": 29_000_000}), "cycle"),
        (json!({"filesystems": ["ext4"]}), "exclude each other"),
        (
            json!({"targets": null, "filesystems": ["ext4", "xfs"]}),
            "a device or an image_size",
        ),
        (
            json!({"device": "/dev/sdb"}),
            "means nothing without filesystems",
        ),
        (json!({"factors": {}}), "factors"),
        (json!({"factors": {"seed": [1, 2]}}), "cannot be a factor"),
        (json!({"factors": {"clients": [1]}}), "no two values"),
        (json!({"factors": {"clients": [1, 1]}}), "cannot be used"),
        (
            json!({"factors": {"clients": [1, 2]}, "run": {"clients": 4}}),
            "contradicts",
        ),
    ] {
        let refusal = asked(arguments.clone()).expect_err(&arguments.to_string());
        assert!(
            refusal.message.contains(message),
            "{arguments}: {}",
            refusal.message
        );
        check::style(&refusal);
    }
}

#[test]
fn factors_are_varied_one_at_a_time_or_in_a_grid() {
    let factors = json!({"targets": null, "factors": {"clients": [1, 8], "settings.wal_compression": ["off", "on"]}});
    let checked = asked(factors.clone()).unwrap();
    let names: Vec<&str> = checked.candidates.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "clients=1 wal_compression=off",
            "clients=8 wal_compression=off",
            "clients=1 wal_compression=on"
        ]
    );
    assert_eq!((checked.goal, checked.baseline), (Goal::Baseline, Some(0)));
    assert_eq!(
        checked.candidates[2].own["settings"]["wal_compression"],
        "on"
    );
    let mut grid = factors;
    grid["grid"] = json!(true);
    let checked = asked(grid).unwrap();
    assert_eq!((checked.candidates.len(), checked.goal), (4, Goal::Best));
}

#[test]
fn filesystems_make_targets_of_their_own() {
    let asked: asked::Asked = serde_json::from_value(
        json!({"experiment": "New disk!", "filesystems": ["ext4", "xfs"], "image_size": "1GB"}),
    )
    .unwrap();
    let made = asked::made_targets(&asked).unwrap();
    assert_eq!(made[0], ("ext4".into(), "new-disk.ext4".into()));
    let checked = asked::check(&asked, &made).unwrap();
    assert_eq!(checked.candidates[1].name, "xfs");
    assert_eq!(checked.candidates[1].target, "new-disk.xfs");
}

#[test]
fn it_is_announced() {
    let checked = asked(json!({"targets": ["ext4", "xfs", "btrfs"]})).unwrap();
    assert_eq!(
        plan::announced(&checked, 1270.0),
        "3 targets, which is best, metric tps, margin 5 %; 3 to 12 blocks, looks after 3, 4, 6, 8 and 12; a target that is decided is not \
         run again; 9 to 36 runs, about 3 h 11 min to 12 h 42 min"
    );
    let checked = asked(json!({"baseline": "a", "max_blocks": 3})).unwrap();
    assert_eq!(
        plan::announced(&checked, 10.0),
        "2 targets, each against a, metric tps, margin 5 %; 3 blocks, one look after 3; 6 runs, about 1 min"
    );
}
