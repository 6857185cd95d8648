//! Each open result has a reason, with its values, and a next step.

use serde_json::json;

use super::{disturbed_by, live, measured, state};
use crate::experiment::{
    answer::{
        self,
        open::{self, Open, OpenReason},
    },
    metric, plan, recommend,
    state::{Goal, Neighbours, OthersSeen, State},
    steps::{self, End, Place},
};
use crate::verdict::Reason;

/// Figures with noise of about 10 %.
fn noisy(place: Place) -> f64 {
    let noise =
        [100.0, 112.0, 91.0, 104.0, 95.0, 108.0][(place.block as usize * (place.number + 1)) % 6];
    noise * (1.0 + 0.3 * place.number as f64)
}

/// An experiment of so many blocks that is over, of two targets.
fn ended(max_blocks: u32, measure: &dyn Fn(Place) -> f64) -> State {
    let mut state = state(2, Goal::Baseline);
    (state.experiment.max_blocks, state.experiment.looks) = (max_blocks, plan::looks(max_blocks));
    live(&mut state, &|place| measured(place, measure(place)));
    state.experiment.status = "done".into();
    state
}

fn open_of(state: &State) -> Open {
    open::of(state, &answer::rows(state, metric::ALL[0], &[]))
}

#[test]
fn noise_says_that_neighbours_could_not_be_seen() {
    for (seen, says) in [
        (OthersSeen::All, None),
        (
            OthersSeen::Least,
            Some(
                "only the least of what others did is known here: see the load of the machine from outside",
            ),
        ),
        (
            OthersSeen::Nothing,
            Some(
                "nothing of what others did is known here: see the load of the machine from outside",
            ),
        ),
    ] {
        let mut state = ended(3, &noisy);
        state.runs[0].others_seen = seen;
        let reasons = open_of(&state).reasons;
        assert!(
            matches!(reasons[0], OpenReason::Noise { .. }),
            "{reasons:?}"
        );
        assert_eq!(reasons.get(1).map(OpenReason::says).as_deref(), says);
    }
}

#[test]
fn noise_says_how_many_more_blocks_and_the_statement_makes_them() {
    let state = ended(3, &noisy);
    let rows = answer::rows(&state, metric::ALL[0], &[]);
    let open = open_of(&state);
    let Some(OpenReason::Noise { target, blocks }) = open.reasons.first() else {
        panic!("{open:?}")
    };
    assert_eq!(target, "t1");
    let look = open.next_blocks.expect("more blocks help");
    assert!(look >= 3 + blocks, "{look}");
    let next = format!("SELECT fsbench.extend_experiment('e', {look});");
    let says = open.reasons[0].says();
    assert_eq!(says, format!("noise: t1 needs about {blocks} more blocks"));
    // The line, the advice and the stored values say the same.
    let line = answer::line(&state, &rows);
    assert!(line.contains(&format!("; {says}; ")), "{line}");
    let advice = recommend::rows(&state, &rows, &[], &recommend::ThisServer::default());
    let of = |part: &str| -> Vec<&str> {
        let of_part = advice.iter().filter(|a| a.part == part);
        of_part.map(|a| a.says.as_str()).collect()
    };
    assert_eq!(
        (of("open"), of("next")),
        (vec![says.as_str()], vec![next.as_str()])
    );
    assert_eq!(
        serde_json::to_value(&open.reasons).unwrap(),
        json!([{"code": "noise", "target": "t1", "blocks": blocks}])
    );
    let there = recommend::of_other_host(advice, "db1");
    assert!(there.iter().all(|a| a.part != "next"), "{there:?}");
}

#[test]
fn what_ended_early_goes_on_with_the_look_after_the_one_that_it_took() {
    let mut state = state(2, Goal::Baseline);
    let (end, _) = live(&mut state, &|place| measured(place, noisy(place)));
    assert!(matches!(end, End::MaxBlocks | End::Decided));
    state.runs.retain(|made| made.block <= 5);
    let looks = state.experiment.looks().ended(5, Reason::MaxDuration);
    (state.experiment.looks, state.experiment.ended_by) = (looks.looks, looks.ended);
    state.experiment.status = "done".into();
    assert_eq!(steps::next(&state, "", "").blocks, 5);
    let rows = answer::rows(&state, metric::ALL[0], &[]);
    assert_eq!(rows[0].reason, Some("max_duration".into()));
    let open = open_of(&state);
    let look = open.next_blocks.unwrap_or(8);
    assert!(look >= 8, "{look}");
    for (ended_by, code) in [
        (Reason::MaxDuration, "max_duration"),
        (Reason::Cancelled, "cancelled"),
    ] {
        state.experiment.ended_by = Some(ended_by);
        let open = open_of(&state);
        let [OpenReason::EndedEarly { blocks, .. }] = open.reasons[..] else {
            panic!("{open:?}")
        };
        assert_eq!(
            open.reasons[0].says(),
            format!("{code}: t1 was not decided yet, and needs about {blocks} more blocks")
        );
        assert_eq!(
            serde_json::to_value(&open.reasons).unwrap(),
            json!([{"code": "ended_early", "target": "t1", "blocks": blocks, "ended_by": code}])
        );
    }
    // Before the first look the next step is that look.
    state.runs.retain(|made| made.block <= 2);
    state.experiment.looks = Vec::new();
    let open = open_of(&state);
    assert_eq!(
        open.reasons,
        [OpenReason::TooFewBlocks {
            blocks: 2,
            ended_by: Some(Reason::Cancelled)
        }]
    );
    assert_eq!(
        open.reasons[0].says(),
        "cancelled: too few blocks: 2 of the 3 that the first look takes"
    );
    assert_eq!(open.next_blocks, Some(3));
}

#[test]
fn windows_that_are_too_short_have_their_lengths_and_no_more_blocks() {
    let mut state = ended(3, &noisy);
    state.experiment.too_short = true;
    (
        state.experiment.window_seconds,
        state.experiment.cycle_seconds,
    ) = (Some(60.0), Some(300.0));
    let open = open_of(&state);
    assert_eq!(open.next_blocks, None);
    let advice = open.advice("e").unwrap();
    assert!(advice.starts_with("-- a new experiment with a duration of at least two"));
    let says: Vec<String> = open.reasons.iter().map(OpenReason::says).collect();
    assert_eq!(
        says,
        [
            "windows too short (1 min, and two checkpoint cycles are 10 min): a new experiment needs a longer duration, or a shorter cycle"
        ]
    );
}

#[test]
fn a_busy_machine_comes_first() {
    let mut state = state(2, Goal::Baseline);
    (state.experiment.max_blocks, state.experiment.looks) = (3, plan::looks(3));
    state.experiment.neighbours = Neighbours::Expected;
    live(&mut state, &|place| disturbed_by(place, noisy(place), 0.3));
    state.experiment.status = "done".into();
    let open = open_of(&state);
    assert!(
        matches!(open.reasons[..], [OpenReason::BusyMachine(busy), OpenReason::Noise { .. }] if (busy.disturbed, busy.runs) == (6, 6)),
        "{open:?}"
    );
    assert!(open.next_blocks.is_some());
    assert!(
        open.reasons[0]
            .says()
            .starts_with("busy machine, as expected: others disturbed 6 of 6 runs")
    );
}

#[test]
fn what_is_decided_or_still_on_has_none() {
    let decided = ended(3, &|place| [100.0, 200.0][place.number]);
    assert_eq!(open_of(&decided), Open::default());
    let mut on = ended(3, &noisy);
    on.experiment.status = "running".into();
    assert_eq!(open_of(&on), Open::default());
}

#[test]
fn more_blocks_than_there_can_be_are_no_next_step() {
    // A difference of a hundredth of the noise.
    let state = ended(3, &|place| {
        [100.0, 150.0, 70.0, 100.0][(place.block as usize + 2 * place.number) % 4]
    });
    let open = open_of(&state);
    assert!(
        matches!(open.reasons[..], [OpenReason::TooManyBlocks { .. }]),
        "{open:?}"
    );
    assert_eq!(open.next_blocks, None);
    assert!(
        open.advice("e")
            .unwrap()
            .starts_with("-- a new experiment with a longer cycle")
    );
}

#[test]
fn a_machine_that_is_too_busy_has_a_quieter_hour() {
    let mut state = state(2, Goal::Baseline);
    (state.experiment.max_blocks, state.experiment.looks) = (3, plan::looks(3));
    state.experiment.neighbours = Neighbours::Expected;
    let noisy =
        |place: Place| [100.0, 150.0, 70.0, 100.0][(place.block as usize + 2 * place.number) % 4];
    live(&mut state, &|place| disturbed_by(place, noisy(place), 0.3));
    state.experiment.status = "done".into();
    let open = open_of(&state);
    assert!(
        matches!(
            open.reasons[..],
            [OpenReason::BusyMachine(_), OpenReason::TooManyBlocks { .. }]
        ),
        "{open:?}"
    );
    let advice = open.advice("e").unwrap();
    assert!(advice.starts_with("SELECT fsbench.confirm_experiment('e'); -- in a quieter hour"));
}

#[test]
fn an_end_that_moved_has_a_reason() {
    let mut state = ended(3, &noisy);
    assert_eq!(steps::why_moved(&state), "other work came between two runs");
    let last = state.runs.last_mut().unwrap();
    (last.run_id, last.seconds) = (Some(7), Some(25.0));
    let name = ["t0", "t1"][last.number];
    assert_eq!(
        steps::why_moved(&state),
        format!("run 7 on {name} took 25 s, and 10 s were planned")
    );
    let last = state.runs.last_mut().unwrap();
    (last.outcome, last.why) = (Some(super::Outcome::Disturbed), Some("others".into()));
    assert_eq!(
        steps::why_moved(&state),
        format!("run 7 on {name} is made again: others")
    );
}
