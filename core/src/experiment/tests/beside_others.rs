//! Runs that other programs disturb: recorded outcomes of a busy machine.

use proptest::prelude::*;

use super::{disturbed_by as disturbed, failed, live, made, measured, state};
use crate::experiment::{
    answer::{self, open::OpenReason},
    metric, neighbours, recommend,
    state::{ExperimentRun, Goal, Neighbours, Outcome, State},
    steps::{self, End, Next, Place},
};

/// The outcomes of a place, by its attempts.
fn outcomes(state: &State, block: u32, number: usize) -> Vec<Outcome> {
    let of_place = |made: &&ExperimentRun| made.block == block && made.number == number;
    let runs = state.runs.iter().filter(of_place);
    runs.map(|made| made.outcome.unwrap()).collect()
}

#[test]
fn of_three_disturbed_attempts_the_least_disturbed_one_counts() {
    let mut state = state(3, Goal::Baseline);
    // The last attempt has the least figure, the first one the most.
    let shares = [0.34, 0.11, 0.25];
    let (end, started) = live(&mut state, &|place| match (place.block, place.number) {
        (2, 1) => {
            let attempt = place.attempt as usize - 1;
            disturbed(place, [938.0, 5000.0, 7493.0][attempt], shares[attempt])
        }
        _ => measured(place, 100.0 + 100.0 * place.number as f64),
    });
    assert_ne!(end, End::MaxDuration);
    let tries = started.iter().filter(|p| p.block == 2 && p.number == 1);
    assert_eq!(tries.count(), 3);
    assert_eq!(
        outcomes(&state, 2, 1),
        [Outcome::Disturbed, Outcome::Measured, Outcome::Disturbed]
    );
    let counted = (state.runs.iter()).find(|m| m.attempt == 2).unwrap();
    assert_eq!(
        counted.why.as_deref(),
        Some(
            "it counts: of 3 attempts that others disturbed it was disturbed least (11 % of the processors' time)"
        )
    );
    // One place of three is no busy machine.
    assert_eq!(state.experiment.neighbours, Neighbours::Unexpected);
    assert_eq!(neighbours::busy(&state), None);
}

#[test]
fn an_attempt_that_nobody_disturbed_counts_at_once() {
    let mut state = state(3, Goal::Baseline);
    live(&mut state, &|place| match place {
        Place {
            block: 2,
            number: 1,
            attempt: 1,
            ..
        } => disturbed(place, 100.0, 0.2),
        _ => measured(place, 100.0 + 100.0 * place.number as f64),
    });
    assert_eq!(
        outcomes(&state, 2, 1),
        [Outcome::Disturbed, Outcome::Measured]
    );
}

#[test]
fn a_disturbed_attempt_is_better_than_none() {
    let mut state = state(3, Goal::Baseline);
    live(&mut state, &|place| match (place.block, place.number) {
        (2, 1) if place.attempt == 1 => disturbed(place, 100.0, 0.2),
        (2, 1) => failed(place, "53100"),
        _ => measured(place, 100.0 + 100.0 * place.number as f64),
    });
    assert_eq!(
        outcomes(&state, 2, 1),
        [Outcome::Measured, Outcome::Failed, Outcome::Failed]
    );
}

#[test]
fn where_most_attempts_of_a_block_are_disturbed_the_machine_is_taken_as_it_is() {
    let mut state = state(3, Goal::Best);
    state.experiment.max_blocks = 3;
    let (_, started) = live(&mut state, &|place| disturbed(place, 100.0, 0.3));
    // Three attempts of the first place, and one of each other.
    assert_eq!(started.len(), 3 * 3 + 2);
    assert_eq!(state.experiment.neighbours, Neighbours::Found);
    let of_block = |block: u32| started.iter().filter(|p| p.block == block).count();
    assert_eq!((of_block(1), of_block(2), of_block(3)), (5, 3, 3));
    let counted = state.runs.iter().filter(|m| m.outcome.unwrap().counts());
    assert_eq!(counted.count(), 9);
}

#[test]
fn a_block_of_two_needs_both_to_be_disturbed() {
    let mut state = state(2, Goal::Best);
    state.experiment.max_blocks = 3;
    // A neighbour for as long as one place takes.
    live(&mut state, &|place| match (place.block, place.position) {
        (1, 1) => disturbed(place, 100.0, 0.3),
        _ => measured(place, 100.0),
    });
    assert_eq!(state.experiment.neighbours, Neighbours::Unexpected);
    assert_eq!(state.runs.len(), 6 + 2);
}

#[test]
fn what_is_found_says_of_how_many_runs() {
    let mut state = state(3, Goal::Best);
    while !matches!(steps::next(&state, "boot", "v").next, Next::TakeAsItIs(..)) {
        match steps::next(&state, "boot", "v").next {
            Next::Start(place) => state.runs.push(ExperimentRun {
                run_id: Some(state.runs.len() as i64),
                ..disturbed(place, 100.0, 0.3)
            }),
            Next::Judge(index, outcome, why) => {
                state.runs[index].outcome = Some(outcome);
                state.runs[index].why = why;
            }
            Next::Count(index, outcome, _) => state.runs[index].outcome = Some(outcome),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(
        steps::next(&state, "boot", "v").next,
        Next::TakeAsItIs(
            1,
            "others disturbed 4 of 4 runs of block 1: from now on no run is made again for that"
                .into()
        )
    );
    assert_eq!(
        state.runs[0].why.as_deref(),
        Some("others used 30 % of the processors' time (noisy_neighbour)")
    );
}

#[test]
fn expected_neighbours_have_no_run_made_again() {
    let mut state = state(3, Goal::Best);
    state.experiment.neighbours = Neighbours::Expected;
    state.experiment.max_blocks = 3;
    let (_, started) = live(&mut state, &|place| disturbed(place, 100.0, 0.3));
    assert_eq!(started.len(), 9);
    assert!(
        (state.runs.iter()).all(|m| m.why.as_deref()
            == Some("it counts, though others used 30 % of the processors' time"))
    );
    let busy = neighbours::busy(&state).unwrap();
    assert_eq!((busy.disturbed, busy.runs, busy.expected), (9, 9, true));
}

#[test]
fn where_the_time_is_over_a_disturbed_attempt_completes_its_block() {
    let mut state = state(2, Goal::Best);
    for (position, number) in [(1, 0), (2, 1)] {
        let place = Place {
            block: 1,
            position,
            attempt: 1,
            number: state.experiment.run_order[0][number],
        };
        state.runs.push(ExperimentRun {
            outcome: Some(Outcome::Measured),
            ..measured(place, 5.0)
        });
    }
    let last = state.runs.last_mut().unwrap();
    (last.disturbed, last.cpu_others, last.outcome) = (true, Some(0.2), Some(Outcome::Disturbed));
    assert!(matches!(
        steps::next(&state, "boot", "v").next,
        Next::Start(place) if place.attempt == 2
    ));
    state.experiment.max_seconds = Some(65.0);
    assert!(matches!(
        steps::next(&state, "boot", "v").next,
        Next::Count(1, Outcome::Measured, _)
    ));
}

#[test]
fn attempts_of_another_start_of_the_machine_do_not_count() {
    let mut state = state(2, Goal::Best);
    let Next::Start(place) = steps::next(&state, "boot", "v").next else {
        panic!()
    };
    for attempt in 1..=3 {
        state.runs.push(ExperimentRun {
            attempt,
            outcome: Some(Outcome::Disturbed),
            ..disturbed(place, 5.0, 0.2)
        });
    }
    assert!(matches!(
        steps::next(&state, "boot", "v").next,
        Next::Count(0, ..)
    ));
    let Next::Start(again) = steps::next(&state, "another", "v").next else {
        panic!()
    };
    assert_eq!((again.number, again.attempt), (place.number, 4));
}

#[test]
fn what_the_disk_of_others_did_decides_where_nothing_is_known_of_processors() {
    let mut state = state(2, Goal::Best);
    let place = Place {
        block: 1,
        position: 1,
        attempt: 1,
        number: 0,
    };
    for device_others in [None, Some(0.6), Some(0.4)] {
        state.runs.push(ExperimentRun {
            device_others,
            outcome: Some(Outcome::Disturbed),
            ..made(place)
        });
    }
    let (least, _) = neighbours::least_disturbed(&state, &[0, 1, 2]).unwrap();
    assert_eq!(least, 2);
    state.runs[0].cpu_others = Some(0.9);
    let (least, _) = neighbours::least_disturbed(&state, &[0, 1, 2]).unwrap();
    assert_eq!(least, 0, "what is known of the processors comes first");
}

/// The first sentence of an answer, where it is read.
#[test]
fn the_answer_begins_with_the_busy_machine() {
    let mut state = state(3, Goal::Best);
    (state.experiment.max_blocks, state.experiment.looks) = (3, super::plan::looks(3));
    let value = |place: Place| {
        let noise = [938.0, 7493.0, 4000.0][(place.block as usize + place.number) % 3];
        disturbed(place, noise, 0.3)
    };
    live(&mut state, &value);
    state.experiment.status = "done".into();
    let rows = answer::rows(&state, metric::ALL[0], &[]);
    let begins =
        "busy machine: others disturbed 11 of 11 runs, and intervals are the wider for it; ";
    let line = answer::line(&state, &rows);
    assert!(line.starts_with(begins), "{line}");
    let advice = recommend::rows(&state, &rows, &[], &recommend::ThisServer::default());
    assert_eq!(advice[0].part, "choice");
    assert!(advice[0].says.starts_with(begins), "{advice:?}");
    let open = answer::open::of(&state, &rows);
    assert!(
        matches!(open.reasons[0], OpenReason::BusyMachine(busy) if busy.runs == 11),
        "{open:?}"
    );
}

proptest! {
    /// Whatever the figures are, the same attempt is chosen.
    #[test]
    fn figures_never_choose(values in any::<[u16; 3]>(), shares in any::<[u8; 3]>()) {
        let played = |values: [u16; 3]| {
            let mut state = state(3, Goal::Baseline);
            state.experiment.max_blocks = 3;
            live(&mut state, &|place| match (place.block, place.number) {
                (2, 1) => {
                    let attempt = place.attempt as usize - 1;
                    disturbed(place, 1.0 + f64::from(values[attempt]), f64::from(shares[attempt]))
                }
                _ => measured(place, 100.0),
            });
            outcomes(&state, 2, 1)
        };
        prop_assert_eq!(played(values), played([1, 2, 3]));
    }
}
