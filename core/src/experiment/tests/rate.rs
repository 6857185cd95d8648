//! The rate as a share of what the slowest target does.

use super::{failed, measured, state};
use crate::{
    experiment::{
        asked,
        state::{Goal, Made, Outcome},
        steps::{self, End, Next},
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
