//! What claims are judged by: the experiment of each question, as far as it is.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{definition::Study, plan::target_name};
use crate::experiment::answer;

/// The experiment of a question, as far as it is.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct Evidence {
    /// Its status; None when there is no such experiment any more.
    pub status: Option<String>,
    /// Of its declared metric: each variant with the baseline.
    pub rows: Vec<answer::Row>,
    /// Of its declared metric: each two variants.
    pub pairs: Vec<answer::Row>,
    /// Names of its targets, by number.
    pub targets: Vec<String>,
    /// Figures of the runs that count, by metric and number of target.
    pub values: BTreeMap<String, Vec<Vec<f64>>>,
    /// Knees of scans, by number of target.
    pub knees: BTreeMap<usize, Knee>,
    /// Whose disk it was: on an image, in a virtual machine.
    pub where_made: Option<String>,
    /// Runs that count.
    pub runs: usize,
}

impl Evidence {
    /// The number of a variant's target in an experiment.
    pub fn number_of(&self, study: &Study, variant: &str) -> Option<usize> {
        let name = target_name(&study.study, study.variant(variant)?);
        self.targets.iter().position(|target| *target == name)
    }
}

/// What `fsbench.knee` says of all scans of a target.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct Knee {
    pub verdict: String,
    pub degree: Option<u32>,
    pub low: Option<u32>,
    pub high: Option<u32>,
    pub says: String,
}
