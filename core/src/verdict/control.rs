//! The noise floor of a machine, by one target that is in the experiment twice. It only withholds verdicts; it makes nothing equivalent.

use super::Reason;
use super::best::{Ranked, Standing};
use super::compare::{Compared, Verdict};

/// A difference below this many times what the control shows does not count.
const TIMES: f64 = 2.0;

/// Goal `baseline`: `control` is the baseline under another name. If its verdict is `more` or `less`, each other `more` or `less` with |x| ≤ 2·|x of the
/// control| becomes inconclusive.
pub fn of_comparison(all: &mut [Compared], control: usize) {
    let Some(floor) = (all.get(control))
        .filter(|c| c.verdict.is_direction())
        .and_then(|c| Some(c.estimate?.mean.abs() * TIMES))
    else {
        return;
    };
    for (i, compared) in all.iter_mut().enumerate() {
        let small = compared.estimate.is_some_and(|e| e.mean.abs() <= floor);
        if i != control && compared.verdict.is_direction() && small {
            compared.verdict = Verdict::Inconclusive(Reason::NoiseFloor);
        }
    }
}

/// Goal `best`: two names of one target. If one is out against the other, or not equivalent to it with its low end above 0, every `out`
/// with x ≤ 2·|x of the twins| becomes open, and what leads is no more than leading.
pub fn of_best(all: &mut [Ranked], twins: [usize; 2]) {
    let Some(floor) = difference(all, twins[0], twins[1])
        .or_else(|| difference(all, twins[1], twins[0]))
        .map(|x| x.abs() * TIMES)
    else {
        return;
    };
    let mut opened = false;
    for ranked in all.iter_mut() {
        let small = ranked.estimate.is_some_and(|e| e.mean <= floor);
        if ranked.standing == Standing::Out && small {
            ranked.standing = Standing::Open(Reason::NoiseFloor);
            opened = true;
        }
    }
    let best = all.iter_mut().find(|r| r.standing == Standing::Best);
    if let Some(best) = best.filter(|_| opened) {
        best.standing = Standing::Leading;
    }
}

/// By how much one twin is worse than the other, if it is.
fn difference(all: &[Ranked], one: usize, other: usize) -> Option<f64> {
    let ranked = all.get(one).filter(|r| r.against == Some(other))?;
    let estimate = ranked.estimate?;
    let worse = match ranked.standing {
        Standing::Out => true,
        Standing::Open(_) => estimate.low() > 0.0,
        _ => false,
    };
    worse.then_some(estimate.mean)
}
