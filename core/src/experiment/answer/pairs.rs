//! All pairs of targets: not only each with what it was compared with.

use super::{Row, TargetFacts, rows, rows_at};
use crate::experiment::{
    metric::Metric,
    state::{Goal, State},
    steps,
};

/// A row for each two targets, `against` the one with the lower number. What the experiment was made to compare is said as it says that itself. The other
/// pairs were not declared: all of them together are wrong as rarely as one that was, so that their intervals are wider.
pub fn pairs(state: &State, metric: Metric, target_facts: &[TargetFacts]) -> Vec<Row> {
    let count = state.targets.len();
    let baseline = match state.experiment.goal {
        Goal::Baseline => state.experiment.baseline,
        Goal::Best => None,
    };
    let blocks = steps::next(state, "", "").blocks;
    // A play compares all with one of them, and divides its level among these; the rest is divided here.
    let others = count.saturating_sub(2 * usize::from(baseline.is_some()));
    let looks = state.experiment.looks().among(others.div_ceil(2));
    let mut pairs = match baseline {
        Some(_) => rows(state, metric, target_facts),
        None => Vec::new(),
    };
    for against in (0..count).filter(|number| Some(*number) != baseline) {
        let mut turned = state.clone();
        turned.experiment.goal = Goal::Baseline;
        turned.experiment.baseline = Some(against);
        turned.experiment.control = None;
        let found = rows_at(&turned, metric, target_facts, blocks, &looks);
        let is_new = |row: &Row| row.number > against && Some(row.number) != baseline;
        pairs.extend(found.into_iter().filter(is_new));
    }
    pairs
}
