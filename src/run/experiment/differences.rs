//! In what, that nobody has declared, the runs of an experiment differ: within a block, where that withholds verdicts, and between blocks.

use std::collections::{BTreeMap, BTreeSet};

use pgfsbench_core::experiment::{
    state::State,
    undeclared::{self, Side},
};
use serde_json::Value;

use crate::{
    errors::Fault,
    store::{self, experiment as rows},
};

/// What differs, in words, by the numbers of targets.
#[derive(Default)]
pub struct Differences {
    /// From what a target is compared with, in the same block.
    pub within: BTreeMap<usize, String>,
    /// From the first of its own runs.
    pub changed: BTreeMap<usize, String>,
}

/// The differences of an experiment. In a transaction.
pub fn of(state: &State) -> Result<Differences, Fault> {
    let runs = rows::surroundings(state.experiment.experiment_id)?;
    let mut documents = Documents::default();
    let mut found = Differences::default();
    let reference = state.experiment.baseline.unwrap_or(0);
    for target in &state.targets {
        let of_target = || runs.iter().filter(|run| run.number == target.number);
        let mut within = BTreeSet::new();
        for run in of_target() {
            let is_beside = |other: &&rows::Surrounding| {
                other.block == run.block && other.number == reference && other.number != run.number
            };
            if let Some(other) = runs.iter().find(is_beside) {
                within.extend(documents.between(other, run)?);
            }
        }
        let mut changed = BTreeSet::new();
        if let Some(first) = of_target().next() {
            for run in of_target().filter(|run| run.mark != first.mark) {
                changed.extend(documents.between(first, run)?);
            }
        }
        if within.remove(ANOTHER_DEVICE) {
            found.within.insert(target.number, ANOTHER_DEVICE.into());
        } else if !within.is_empty() {
            found
                .within
                .insert(target.number, format!("differs: {}", joined(within)));
        }
        if !changed.is_empty() {
            found.changed.insert(target.number, joined(changed));
        }
    }
    Ok(found)
}

/// What a filesystem can do cannot be told from what its device can.
const ANOTHER_DEVICE: &str = "device confounded";

fn joined(names: BTreeSet<String>) -> String {
    names.into_iter().collect::<Vec<_>>().join(", ")
}

/// What is stored of runs, read once for all that are alike.
#[derive(Default)]
struct Documents {
    by_mark: BTreeMap<String, Option<Value>>,
    compared: BTreeMap<(String, String), Vec<String>>,
}

impl Documents {
    /// Names of what differs between two runs.
    fn between(
        &mut self,
        a: &rows::Surrounding,
        b: &rows::Surrounding,
    ) -> Result<Vec<String>, Fault> {
        let key = (a.mark.clone(), b.mark.clone());
        if let Some(known) = self.compared.get(&key) {
            return Ok(known.clone());
        }
        self.read(a)?;
        self.read(b)?;
        let document =
            |run: &rows::Surrounding| self.by_mark.get(&run.mark).and_then(Option::as_ref);
        let names = match (document(a), document(b)) {
            (Some(of_a), Some(of_b)) if is_on_another_device(of_a, of_b) => {
                vec![ANOTHER_DEVICE.into()]
            }
            (Some(of_a), Some(of_b)) => undeclared::between(
                Side {
                    document: of_a,
                    own: &a.own,
                },
                Side {
                    document: of_b,
                    own: &b.own,
                },
            ),
            _ => Vec::new(),
        };
        self.compared.insert(key, names.clone());
        Ok(names)
    }

    fn read(&mut self, run: &rows::Surrounding) -> Result<(), Fault> {
        if !self.by_mark.contains_key(&run.mark) {
            let document = store::document(run.run_id)?;
            self.by_mark.insert(run.mark.clone(), document);
        }
        Ok(())
    }
}

/// Whether two targets are on different devices: what the filesystem is on is another thing then.
fn is_on_another_device(a: &Value, b: &Value) -> bool {
    match (place_of(a), place_of(b)) {
        (Some(a), Some(b)) => a != b,
        _ => false,
    }
}

/// The storage of a run's filesystem; None if it is not known. Images are files of one place, whatever device they become.
fn place_of(run: &Value) -> Option<String> {
    let definition = &run["definition"];
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match definition["kind"].as_str() {
        Some("image") => Some("image".into()),
        Some(kind @ ("device" | "connection")) => text(&definition[kind]),
        _ => text(&run["environment"]["device"]),
    }
}
