//! The looks that max_duration leaves time for.

use super::{aside, declared, play};
use crate::experiment::state::State;
use crate::verdict::looks::Looks;

/// What max_duration leaves no time for, after so many blocks, if the runs that are left take as long as those so far did, with all that lies between them; None
/// if the last look will be reached.
pub fn no_time_for(state: &State, blocks: u32) -> Option<String> {
    let e = &state.experiment;
    let last = e.looks.last()?.blocks;
    let runs = state.runs.iter().filter(|made| made.outcome.is_some());
    let each = (e.elapsed_seconds / runs.count() as f64).max(e.run_seconds);
    let looks = Looks {
        looks: e.looks.clone(),
        ended: None,
    };
    let next = play(state, blocks, declared(state), &looks).runs_next(state, &aside(state))?;
    let of_block = next.iter().filter(|runs| **runs).count();
    let left = (e.max_seconds? - e.elapsed_seconds).max(0.0) / each;
    let reached = blocks + (left / of_block as f64) as u32;
    if reached >= last {
        return None;
    }
    let look = e.looks.iter().map(|look| look.blocks);
    Some(
        match look.filter(|at| (blocks + 1..=reached).contains(at)).max() {
            Some(at) => format!(
                "max_duration leaves time for the look after block {at}, and not for the last one, after block {last}"
            ),
            None => "max_duration leaves no time for another look".into(),
        },
    )
}
