//! A lasting step in what a flush takes: the credits of a cloud's disk are used up, or a cache is full. What was measured before is
//! of another machine, so that its blocks are made again.

use std::collections::BTreeSet;

use super::state::{ExperimentRun, Outcome, State};
use crate::{texts::answer::open::throttled, wording};

/// By so many times flushes are slower, or faster, than in all blocks before.
const TIMES: f64 = 1.5;
/// So many blocks have to be on the other side: what does not last is noise.
const BLOCKS: usize = 2;

/// A step.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The first block after it.
    pub block: u32,
    /// Which many times as long flushes take since then, in the least.
    pub times: f64,
}

impl Step {
    /// In words.
    pub fn why(&self) -> String {
        wording::say("throttled", || throttled(self.times, self.block))
    }
}

/// The step, if there is one: on each target all flushes after it are slower than all before it, or on each all are faster.
pub fn step(state: &State) -> Option<Step> {
    let counted: Vec<(&ExperimentRun, f64)> = (state.runs.iter())
        .filter(|made| made.outcome.is_some_and(Outcome::counts))
        .filter_map(|made| Some((made, made.flush_us.filter(|us| *us > 0.0)?)))
        .collect();
    let blocks: BTreeSet<u32> = counted.iter().map(|(made, _)| made.block).collect();
    let blocks: Vec<u32> = blocks.into_iter().collect();
    (blocks.iter().enumerate().skip(1))
        .filter(|(i, _)| blocks.len() - i >= BLOCKS)
        .find_map(|(_, &block)| {
            let times = times_at(state, &counted, block)?;
            Some(Step { block, times })
        })
}

/// By how many times flushes differ from a block on, where that is so of all targets. Two at least have to tell it: one that changes alone is not
/// the disk.
fn times_at(state: &State, counted: &[(&ExperimentRun, f64)], block: u32) -> Option<f64> {
    let mut ratios = Vec::new();
    for target in &state.targets {
        let side = |is_after: bool| -> Vec<f64> {
            let of_target = counted
                .iter()
                .filter(|(made, _)| made.number == target.number);
            of_target
                .filter(|(made, _)| (made.block >= block) == is_after)
                .map(|(_, us)| *us)
                .collect()
        };
        let (before, after) = (side(false), side(true));
        if before.is_empty() || after.len() < BLOCKS {
            continue;
        }
        let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
        let slower = least(&after) / most(&before);
        let faster = most(&after) / least(&before);
        ratios.push((slower, faster));
    }
    if ratios.len() < 2 {
        return None;
    }
    let slower = ratios.iter().map(|r| r.0).fold(f64::INFINITY, f64::min);
    let faster = ratios.iter().map(|r| r.1).fold(0.0, f64::max);
    if slower >= TIMES {
        Some(slower)
    } else {
        (faster <= 1.0 / TIMES).then_some(faster)
    }
}

/// The step before which all blocks are to be made again: once in an experiment. A disk that goes on changing is told with the results.
pub fn to_be_repeated(state: &State) -> Option<Step> {
    if state.experiment.too_short || state.experiment.was_throttled {
        return None;
    }
    step(state)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Flush times of two targets, a pair a block.
    fn state(flushes: &[[f64; 2]]) -> State {
        let runs: Vec<_> = (1..)
            .zip(flushes)
            .flat_map(|(block, pair)| {
                (0..2).map(move |number| {
                    json!({"block": block, "position": number + 1, "attempt": 1, "target_number": number, "run_id": 1, "outcome": "measured",
                        "status": "done", "value": 100.0, "flush_us": pair[number]})
                })
            })
            .collect();
        let state = json!({
            "experiment": {
                "experiment_id": 1, "experiment": "e", "status": "running", "goal": "best", "metric": "tps", "margin": 0.05,
                "max_blocks": 12, "looks": [], "run_order": [], "run_seconds": 10, "forced": false,
            },
            "targets": [{"target_number": 0, "target": "a", "target_name": "a"}, {"target_number": 1, "target": "b", "target_name": "b"}],
            "runs": runs,
        });
        serde_json::from_value(state).unwrap()
    }

    #[test]
    fn a_step_that_lasts_is_seen_with_its_first_block() {
        let slow = state(&[
            [100.0, 300.0],
            [110.0, 330.0],
            [240.0, 800.0],
            [250.0, 700.0],
        ]);
        let found = step(&slow).unwrap();
        assert_eq!(found.block, 3);
        assert!((found.times - 700.0 / 330.0).abs() < 1e-9);
        assert_eq!(
            found.why(),
            "throttled: flushes take 2.1 times as long from block 3 on"
        );
        let fast = state(&[[240.0, 800.0], [100.0, 300.0], [110.0, 330.0]]);
        assert_eq!(step(&fast).unwrap().block, 2);
        assert!(step(&fast).unwrap().why().contains("only 0.46 times"));
    }

    #[test]
    fn what_does_not_last_or_is_of_one_target_alone_is_none() {
        for flushes in [
            &[[100.0, 300.0], [110.0, 330.0], [240.0, 800.0]][..],
            &[
                [100.0, 300.0],
                [110.0, 330.0],
                [240.0, 800.0],
                [120.0, 310.0],
            ],
            &[
                [100.0, 300.0],
                [110.0, 330.0],
                [240.0, 320.0],
                [250.0, 310.0],
            ],
            &[
                [100.0, 300.0],
                [140.0, 390.0],
                [149.0, 420.0],
                [130.0, 410.0],
            ],
            &[],
        ] {
            assert_eq!(step(&state(flushes)), None, "{flushes:?}");
        }
    }

    #[test]
    fn blocks_are_made_again_once() {
        let mut state = state(&[[100.0, 300.0], [240.0, 800.0], [250.0, 700.0]]);
        assert_eq!(to_be_repeated(&state).unwrap().block, 2);
        state.experiment.too_short = true;
        assert_eq!(to_be_repeated(&state), None);
        state.experiment.too_short = false;
        state.experiment.was_throttled = true;
        assert_eq!(to_be_repeated(&state), None);
    }
}
