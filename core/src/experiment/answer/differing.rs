//! Undeclared differences on which a verdict rests.

use super::{Cause, TargetFacts, TargetResult, Withheld};
use crate::{experiment::state::State, texts::answer::compared_with};

/// Differences that withhold the verdict of a target, with the numbers of the targets that differ: from the one that it is compared with, or from any
/// where it is compared with all.
pub(super) fn of(
    own: &TargetFacts,
    against: Option<usize>,
    withheld: &Withheld,
) -> Option<(Vec<usize>, Cause)> {
    let counts = |number: usize| match against {
        Some(against) => number == against,
        None => !withheld
            .excluded
            .iter()
            .any(|excluded| excluded.number == number),
    };
    let found = || own.differs.iter().filter(|(number, _)| counts(**number));
    if withheld.forced {
        return None;
    }
    let is_elsewhere = found().find(|(_, why)| **why == Cause::AnotherDevice);
    let (_, why) = is_elsewhere.or_else(|| found().next())?;
    let with = found().filter(|(_, other)| *other == why);
    Some((with.map(|(number, _)| *number).collect(), why.clone()))
}

/// From which ones it differs, where the row names no other target.
pub(super) fn from_others(state: &State, base: &TargetResult, with: &[usize]) -> String {
    if base.against.is_some() || with.is_empty() {
        return String::new();
    }
    let names: Vec<&str> = with
        .iter()
        .map(|&i| state.targets[i].name.as_str())
        .collect();
    compared_with(&names)
}
