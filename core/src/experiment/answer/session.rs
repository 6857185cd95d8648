//! Whether another session says the same.

use super::Row;
use crate::{
    experiment::{
        state::State,
        steps::{self, LookResults},
    },
    texts::answer as text,
    verdict::confirmed,
};

/// Whether two experiments were made in different sessions: on another boot, or another day.
pub fn is_another_session(a: &State, b: &State) -> bool {
    let boots = |state: &State| -> Vec<String> {
        state
            .runs
            .iter()
            .filter_map(|made| made.boot_id.clone())
            .collect()
    };
    let (of_a, of_b) = (boots(a), boots(b));
    let is_another_boot = !of_a.is_empty() && of_b.iter().all(|boot| !of_a.contains(boot));
    let day = |state: &State| {
        state
            .experiment
            .started_at
            .as_ref()
            .map(|at| at.chars().take(10).collect::<String>())
    };
    let is_another_day = day(a).is_some() && day(b).is_some() && day(a) != day(b);
    !of_b.is_empty() && (is_another_boot || is_another_day)
}

/// Adds to what is said of an experiment what another session, of which `theirs` is said, has confirmed. What may not be said of either confirms nothing.
pub fn confirm(answers: &mut [Row], state: &State, other: &State, theirs: &[Row]) {
    let both = [state, other].map(|state| {
        let blocks = steps::next(state, "", "").blocks;
        steps::replay_looks(
            state,
            blocks,
            steps::declared(state),
            &state.experiment.looks(),
        )
    });
    let is_like = state.targets.len() == other.targets.len()
        && state.experiment.metric == other.experiment.metric;
    // Who is best rests on all that were not set aside.
    let is_whole = |rows: &[Row]| {
        let mut rows = rows.iter();
        rows.all(|row| !row.is_inconclusive() || row.is_set_aside())
    };
    let are_whole = is_whole(answers) && is_whole(theirs);
    let is_said = |number: usize| {
        let mut theirs = theirs.iter();
        theirs.any(|row| row.number == number && !row.is_inconclusive())
    };
    for row in answers
        .iter_mut()
        .filter(|row| is_like && !row.is_inconclusive() && is_said(row.number))
    {
        let holds = match &both {
            [LookResults::Baseline(a), LookResults::Baseline(b)] => {
                match (&a[row.number], &b[row.number]) {
                    (Some(a), Some(b)) => confirmed::of_comparison(a, b),
                    _ => false,
                }
            }
            [LookResults::Best(a), LookResults::Best(b)] => are_whole && confirmed::of_best(a, b),
            _ => false,
        };
        if holds {
            row.says = text::confirmed(&row.says, &other.experiment.experiment);
        }
    }
}
