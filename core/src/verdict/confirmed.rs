//! Tells whether a second experiment, in another session and with the same declared factors, confirms the first.

use super::best::{Ranked, Standing};
use super::compare::{Compared, Verdict};

/// Goal `baseline`: the same verdict, or two verdicts whose intervals of direction lie on one side of 1. Nothing is confirmed by an inconclusive one, and none is;
/// that one cannot keep the rate is confirmed by that alone.
pub fn of_comparison(first: &Compared, second: &Compared) -> bool {
    let decided = |c: &Compared| {
        matches!(
            c.verdict,
            Verdict::Equivalent | Verdict::More | Verdict::Less
        )
    };
    if !decided(first) || !decided(second) {
        return first.verdict == Verdict::CannotKeepTheRate && second.verdict == first.verdict;
    }
    first.verdict == second.verdict || same_side(first, second)
}

fn same_side(first: &Compared, second: &Compared) -> bool {
    let (Some(a), Some(b)) = (first.estimate, second.estimate) else {
        return false;
    };
    (a.low() > 0.0 && b.low() > 0.0) || (a.high() < 0.0 && b.high() < 0.0)
}

/// Goal `best`: both ended with nothing open, and the best one of each is in the answer of the other. The targets are in the same order.
pub fn of_best(first: &[Ranked], second: &[Ranked]) -> bool {
    let best = |all: &[Ranked]| all.iter().position(|r| r.standing == Standing::Best);
    let holds =
        |best: usize, other: &[Ranked]| other.get(best).is_some_and(|r| r.standing.is_in_answer());
    match (best(first), best(second)) {
        (Some(a), Some(b)) => holds(a, second) && holds(b, first),
        _ => false,
    }
}
