//! The blocks that max_duration leaves time for.

use super::{declared, excluded, replay_looks};
use crate::experiment::state::{ExperimentRun, Outcome, State};
use crate::{texts::steps as text, verdict::looks::Looks};

/// Seconds that the longest run took so far, or is planned to take: no run begins that could not end within max_duration.
pub(super) fn longest_run(state: &State) -> f64 {
    let others = (state.runs.iter()).filter(|m| !state.is_power_cut(m.block, m.position));
    let took = others.filter_map(|made| made.seconds);
    took.fold(state.experiment.run_seconds, f64::max)
}

/// The block at which max_duration will end the experiment, reckoned after this many blocks; None if it will not. The remaining runs are assumed to
/// take as long as those so far, pauses included.
pub fn ends_early(state: &State, blocks: u32) -> Option<String> {
    let e = &state.experiment;
    let last = e.looks.last()?.blocks;
    let looks = Looks {
        looks: e.looks.clone(),
        ended: None,
    };
    let next =
        replay_looks(state, blocks, declared(state), &looks).runs_next(state, &excluded(state))?;
    let of_block = next.iter().filter(|runs| **runs).count();
    let is_power_cut = |made: &&ExperimentRun| state.is_power_cut(made.block, made.position);
    let over = || {
        let over = state.runs.iter().filter(|made| made.outcome.is_some());
        over.filter(|made| !is_power_cut(made))
    };
    let cut = state.runs.iter().filter(is_power_cut);
    let cut_seconds: f64 = cut.filter_map(|made| made.seconds).sum();
    let of_next =
        over().filter(|made| made.block > blocks && made.outcome.is_some_and(Outcome::counts));
    let each = (e.elapsed_seconds - cut_seconds).max(0.0) / over().count().max(1) as f64;
    let until_last_begins = e.max_seconds? - e.elapsed_seconds - longest_run(state);
    let runs = (until_last_begins / each + 1.0).floor().max(0.0) + of_next.count() as f64;
    let reached = blocks.saturating_add((runs / of_block as f64) as u32);
    (reached < last).then(|| match reached > blocks {
        true => text::max_duration_ends_after(reached, last),
        false => text::max_duration_ends_within(blocks + 1),
    })
}
