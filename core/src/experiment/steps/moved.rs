//! Why an experiment ends later than it was reckoned before.

use crate::{
    experiment::state::{Outcome, State},
    units::format_seconds,
};

/// Why the end has moved since the run before the next one was started.
pub fn why_moved(state: &State) -> String {
    let last = (state.runs.iter().rev()).find(|made| made.outcome.is_some());
    let of_run = last.and_then(|made| {
        let name = state
            .targets
            .get(made.number)
            .map_or("", |t| t.name.as_str());
        let run = match made.run_id {
            Some(run_id) => format!("run {run_id} on {name}"),
            None => format!("a run on {name}"),
        };
        let why = made.why.as_deref().unwrap_or("its block is made again");
        if made.outcome.is_some_and(Outcome::is_repeated) {
            return Some(format!("{run} is made again: {why}"));
        }
        let planned = state.experiment.run_seconds;
        let took = made.seconds.filter(|took| *took > planned)?;
        Some(format!(
            "{run} took {}, and {} were planned",
            format_seconds(took),
            format_seconds(planned)
        ))
    });
    of_run.unwrap_or_else(|| "other work came between two runs".into())
}
