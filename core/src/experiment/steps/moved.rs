//! Why an experiment ends later than it was reckoned before.

use crate::{
    experiment::state::{Outcome, State},
    texts::steps::{self as text, Later},
};

/// Why the end has moved since the run before the next one was started.
pub fn why_moved(state: &State) -> String {
    let last = (state.runs.iter().rev()).find(|made| made.outcome.is_some());
    let of_run = last.and_then(|made| {
        let target = state.targets.get(made.number);
        let target = target.map_or("", |target| target.name.as_str());
        let cause = if made.outcome.is_some_and(Outcome::is_repeated) {
            Later::Again(made.why.as_deref())
        } else {
            let planned = state.experiment.run_seconds;
            let took = made.seconds.filter(|took| *took > planned)?;
            Later::Long { took, planned }
        };
        Some(text::later(made.run_id, target, cause))
    });
    of_run.unwrap_or_else(text::other_work)
}
