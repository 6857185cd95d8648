//! Undeclared differences between the runs of an experiment: within a block, where that withholds verdicts, and between blocks.

use std::collections::{BTreeMap, BTreeSet};

use pgfsbench_core::experiment::{
    answer::Cause,
    devices,
    state::State,
    undeclared::{self, ANOTHER_DEVICE, ComparedRun},
};
use serde_json::Value;

use crate::{
    errors::Fault,
    store::{self, experiment as rows},
};

/// Differences between targets, in words, by their numbers.
#[derive(Default)]
pub struct Differences {
    /// From another target in the same block, by the number of that one. Of two that differ each has the other.
    pub within: BTreeMap<usize, BTreeMap<usize, Cause>>,
    /// From the first of its own runs.
    pub changed: BTreeMap<usize, String>,
}

/// The differences of an experiment. In a transaction.
pub fn of(state: &State) -> Result<Differences, Fault> {
    let runs = rows::surroundings(state.experiment.experiment_id)?;
    let mut documents = Documents::default();
    let mut found = Differences::default();
    for ((one, other), names) in within_blocks(&runs, &mut documents)? {
        let words = match names.contains(ANOTHER_DEVICE) {
            true => Cause::AnotherDevice,
            false => Cause::Differs(joined(names)),
        };
        let mut add = |one, other| {
            let of_one = found.within.entry(one).or_default();
            of_one.insert(other, words.clone());
        };
        add(one, other);
        add(other, one);
    }
    for target in &state.targets {
        let of_target = || runs.iter().filter(|run| run.number == target.number);
        let mut changed = BTreeSet::new();
        if let Some(first) = of_target().next() {
            for run in of_target().filter(|run| run.mark != first.mark) {
                changed.extend(documents.between(first, run)?);
            }
        }
        if !changed.is_empty() {
            found.changed.insert(target.number, joined(changed));
        }
    }
    Ok(found)
}

/// Names of what differs between two targets in a block in which both have a run that counts, by their numbers, the lower one first.
fn within_blocks(
    runs: &[rows::RunSurroundings],
    documents: &mut Documents,
) -> Result<BTreeMap<(usize, usize), BTreeSet<String>>, Fault> {
    let mut found: BTreeMap<(usize, usize), BTreeSet<String>> = BTreeMap::new();
    for run in runs {
        let is_beside =
            |other: &&rows::RunSurroundings| other.block == run.block && other.number > run.number;
        for other in runs.iter().filter(is_beside) {
            let names = documents.between(run, other)?;
            if !names.is_empty() {
                let of_pair = found.entry((run.number, other.number)).or_default();
                of_pair.extend(names);
            }
        }
    }
    Ok(found)
}

fn joined(names: BTreeSet<String>) -> String {
    names.into_iter().collect::<Vec<_>>().join(", ")
}

/// Documents of runs, read once for all that are alike.
#[derive(Default)]
struct Documents {
    by_mark: BTreeMap<String, Option<Value>>,
    compared: BTreeMap<(String, String), Vec<String>>,
}

impl Documents {
    /// Names of what differs between two runs.
    fn between(
        &mut self,
        a: &rows::RunSurroundings,
        b: &rows::RunSurroundings,
    ) -> Result<Vec<String>, Fault> {
        let key = (a.mark.clone(), b.mark.clone());
        if let Some(known) = self.compared.get(&key) {
            return Ok(known.clone());
        }
        self.read(a)?;
        self.read(b)?;
        let document =
            |run: &rows::RunSurroundings| self.by_mark.get(&run.mark).and_then(Option::as_ref);
        let names = match (document(a), document(b)) {
            (Some(of_a), Some(of_b)) if devices::are_runs_apart(of_a, of_b) => {
                vec![ANOTHER_DEVICE.into()]
            }
            (Some(of_a), Some(of_b)) => undeclared::between(
                ComparedRun {
                    document: of_a,
                    own: &a.own,
                },
                ComparedRun {
                    document: of_b,
                    own: &b.own,
                },
            ),
            _ => Vec::new(),
        };
        self.compared.insert(key, names.clone());
        Ok(names)
    }

    fn read(&mut self, run: &rows::RunSurroundings) -> Result<(), Fault> {
        if !self.by_mark.contains_key(&run.mark) {
            let document = store::document(run.run_id)?;
            self.by_mark.insert(run.mark.clone(), document);
        }
        Ok(())
    }
}
