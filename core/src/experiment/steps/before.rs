//! Before the first block: runs that do not count. One burns the disk in; one of each target tells what it does without a rate, or, in a
//! checkpoint cycle, how much WAL that takes. Then the power of each target is cut, if the experiment asks for that.

use serde_json::Value;

use super::{End, Next, Place, excluded, start};
use crate::{
    experiment::{
        arguments,
        state::{Experiment, ExperimentRun, Outcome, State},
        wal,
    },
    texts::steps as text,
    workload::power_cut_seconds,
};

/// A run from which the rate or the WAL of the others follows is tried again once.
const TRIES_OF_PILOT: usize = 2;

/// The next step before the first block; None when all are done.
pub fn next(state: &State) -> Option<Next> {
    burn_in(state)
        .or_else(|| pilots(state))
        .or_else(|| pilot_cycles(state))
        .or_else(|| power_cuts(state))
}

/// The parameters of the run of a place. One that is to tell how much WAL a checkpoint cycle takes is that long, without a warm-up.
pub fn parameters(state: &State, place: Place, of_all: &Value) -> Value {
    let e = &state.experiment;
    if let Some(cuts) = cuts_at(state, place) {
        return arguments::of_power_cuts(of_all, cuts);
    }
    let is_burn_in = e.burn_in && state.runs.iter().all(|made| made.outcome.is_none());
    let mut parameters = of_all.clone();
    if let Some(members) = parameters.as_object_mut()
        && let Some(seconds) = e.cycle_seconds
        && place.block == 0
        && e.pilot_cycle
        && e.rate_share.is_none()
        && !is_burn_in
    {
        members.remove("transactions");
        members.insert("duration_us".into(), ((seconds * 1e6) as i64).into());
        members.insert("warmup_us".into(), 0.into());
    }
    parameters
}

/// The parameters that the run of a place has of its own, of those for all runs of its target.
pub fn own_parameters(state: &State, place: Place, own: &Value) -> Value {
    match (cuts_at(state, place), own) {
        (Some(_), Value::Object(own)) => Value::Object(arguments::own_of_power_cuts(own)),
        _ => own.clone(),
    }
}

/// The power cuts of the run of a place; None for other runs.
fn cuts_at(state: &State, place: Place) -> Option<u32> {
    let is_power_cut = state.is_power_cut(place.block, place.position);
    state.experiment.power_cuts.filter(|_| is_power_cut)
}

/// Before the first block a run of each target that cuts its power: later runs know then what it has shown. One that has failed is tried again once. Without
/// the time for it the experiment goes on.
fn power_cuts(state: &State) -> Option<Next> {
    let e = &state.experiment;
    let seconds = power_cut_seconds(e.power_cuts?);
    if e.max_seconds
        .is_some_and(|most| e.elapsed_seconds + seconds > most)
    {
        return None;
    }
    let gone = excluded(state);
    let is_open = |number: &usize| {
        e.control != Some(*number) && !gone.iter().any(|excluded| excluded.number == *number)
    };
    (0..state.targets.len()).filter(is_open).find_map(|number| {
        let position = state.position_of_power_cut(number);
        let before = (state.runs.iter()).filter(|m| m.block == 0 && m.number == number);
        let tries = (before.clone())
            .filter(|made| made.position == position && made.outcome != Some(Outcome::Interrupted));
        let is_done = (tries.clone()).any(|made| made.outcome == Some(Outcome::PowerCut));
        if is_done || tries.count() >= TRIES_OF_PILOT {
            return None;
        }
        let last = before.map(|made| made.attempt).max();
        Some(Next::Start(Place {
            block: 0,
            position,
            attempt: last.unwrap_or(0) + 1,
            number,
        }))
    })
}

/// The outcome of a run before the first block.
pub fn outcome(
    state: &State,
    index: usize,
    outcome: Outcome,
    why: Option<String>,
) -> (Outcome, Option<String>) {
    let made = &state.runs[index];
    let e = &state.experiment;
    // A power cut that loses commits is a result, and no failure of the run.
    if state.is_power_cut(made.block, made.position) {
        return match made.status.as_deref() {
            Some("done") => (Outcome::PowerCut, None),
            _ => (outcome, why),
        };
    }
    if e.burn_in && state.runs[..index].iter().all(|m| m.outcome.is_none()) {
        return (Outcome::BurnIn, why);
    }
    // Whatever its findings say: nothing is compared with it.
    let is_done = made.status.as_deref() == Some("done");
    match e.rate_share {
        Some(_) if outcome != Outcome::Measured => (outcome, why),
        Some(_) => (Outcome::Pilot, made.tps.map(text::pilot)),
        None if is_done => (Outcome::Pilot, Some(text::pilot_cycle())),
        None => (outcome, why),
    }
}

/// Before the first block one run that does not count burns the disk in, whatever becomes of it.
fn burn_in(state: &State) -> Option<Next> {
    let is_done = state
        .runs
        .iter()
        .any(|made| made.block == 0 && made.outcome.is_some());
    let first = state.experiment.run_order.first()?.first()?;
    (state.experiment.burn_in && !is_done).then(|| {
        start(
            state,
            Place {
                block: 0,
                position: 1,
                attempt: 1,
                number: *first,
            },
        )
    })
}

/// Before the first block a run without a rate of each target, when the rate is a share of what the slowest does; then that rate.
fn pilots(state: &State) -> Option<Next> {
    let e = &state.experiment;
    let share = e.rate_share.filter(|_| e.rate.is_none())?;
    for (position, &number) in (1..).zip(e.run_order.first()?) {
        // It is another target once more.
        if e.control == Some(number) {
            continue;
        }
        if let Some(next) = try_pilot(state, position, number) {
            return Some(next);
        }
    }
    let pilots = (state.runs.iter()).filter(|made| made.outcome == Some(Outcome::Pilot));
    let slowest = pilots
        .filter_map(|made| Some((made.tps?, made.number)))
        .filter(|(tps, _)| *tps > 0.0)
        .min_by(|a, b| a.0.total_cmp(&b.0));
    Some(match slowest {
        None => Next::End(End::NoReference(text::no_pilot())),
        Some((tps, number)) => {
            let name = &state.targets[number].name;
            Next::Rate {
                rate: share * tps,
                why: text::rate(share, tps, name),
            }
        }
    })
}

/// A run of a target before the first block, unless it has one or was tried often enough. One that was cut off is no try.
fn try_pilot(state: &State, position: u32, number: usize) -> Option<Next> {
    let before = |made: &&ExperimentRun| made.block == 0 && made.number == number;
    let tries = || {
        let runs = state.runs.iter().filter(before);
        let is_try = |made: &&ExperimentRun| {
            !matches!(made.outcome, Some(Outcome::BurnIn | Outcome::Interrupted))
        };
        runs.filter(is_try)
    };
    let is_done = tries().any(|made| made.outcome == Some(Outcome::Pilot));
    if is_done || tries().count() >= TRIES_OF_PILOT {
        return None;
    }
    let last = state.runs.iter().filter(before).map(|made| made.attempt);
    let attempt = last.max().unwrap_or(0) + 1;
    Some(start(
        state,
        Place {
            block: 0,
            position,
            attempt,
            number,
        },
    ))
}

/// The WAL that it would have been at the rate of the others, where it had none itself.
fn at_rate(mut seen: wal::WalUse, made: &ExperimentRun, e: &Experiment) -> wal::WalUse {
    if let (Some(_), Some(rate), Some(tps)) = (e.rate_share, e.rate, made.tps)
        && tps > rate
    {
        seen.bytes *= rate / tps;
    }
    seen
}

/// A run of one checkpoint cycle of each target, since the fastest writes the most, unless it had one of full length; then how much WAL all runs are to find ready.
fn pilot_cycles(state: &State) -> Option<Next> {
    let e = &state.experiment;
    if !e.pilot_cycle || e.wal_segments.is_some() {
        return None;
    }
    let before = || state.runs.iter().filter(|made| made.block == 0);
    let is_over =
        |made: &&ExperimentRun| matches!(made.outcome, Some(Outcome::Pilot | Outcome::BurnIn));
    let has_told = |number: usize| {
        let mut over = before().filter(is_over);
        over.any(|made| made.number == number && made.wal.is_some())
    };
    for (position, &number) in (1..).zip(e.run_order.first()?) {
        // It is another target once more.
        if e.control == Some(number) || has_told(number) {
            continue;
        }
        if let Some(next) = try_pilot(state, position, number) {
            return Some(next);
        }
    }
    let seen = before().filter(is_over);
    let seen: Vec<wal::WalUse> = seen
        .filter_map(|made| Some(at_rate(made.wal.clone()?, made, e)))
        .collect();
    Some(Next::Wal(wal::fix(
        &seen,
        e.cycle_seconds,
        e.max_wal_is_given,
    )))
}
