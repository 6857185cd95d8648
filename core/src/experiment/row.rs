//! Rows of an experiment that is recorded: columns of `fsbench.experiment` and `fsbench.experiment_target`, as far as they are known then.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    arguments::{Checked, ExperimentArguments},
    plan::{self, Length},
};
use crate::{rows::Row, verdict::looks::Look};

/// Facts about the runs of an experiment that are not arguments.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    pub length: Length,
    /// Parameters of all of them.
    pub parameters: Value,
    /// From it follow the order of the targets and the seed of each block.
    pub seed: i64,
    /// Whether a disk is to be burnt in.
    pub burn_in: bool,
    /// Whether it is to be seen first how much WAL a checkpoint cycle takes.
    pub pilot_cycle: bool,
    /// Whether their windows have fewer checkpoint cycles than a verdict takes.
    pub too_short: bool,
    /// The budget that cycle, windows and blocks were chosen for.
    pub budget_seconds: Option<f64>,
}

/// The role that has asked for an experiment, and what identifies the request.
#[derive(Clone, Debug, Default)]
pub struct RequestedBy {
    pub role: String,
    /// Tells it from a copy of its row.
    pub mark: String,
    /// The experiment that it is to confirm.
    pub confirms: Option<i64>,
}

/// A row of `fsbench.experiment`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Recorded {
    pub experiment: String,
    pub status: &'static str,
    pub goal: &'static str,
    pub baseline_number: Option<usize>,
    pub control_number: Option<usize>,
    pub metric: &'static str,
    pub margin: f64,
    pub max_blocks: u32,
    pub looks: Vec<Look>,
    pub run_order: Vec<Vec<usize>>,
    pub seed: i64,
    pub parameters: Value,
    pub asked: ExperimentArguments,
    pub run_seconds: f64,
    pub cycle_seconds: f64,
    pub window_seconds: f64,
    pub max_seconds: Option<f64>,
    pub too_short: bool,
    pub burn_in: bool,
    pub rate_share: Option<f64>,
    pub neighbours: &'static str,
    pub power_cuts: Option<u32>,
    pub budget_seconds: Option<f64>,
    pub forced: bool,
    pub confirms: Option<i64>,
    pub requested_by: String,
    pub mark: String,
    pub pilot_cycle: bool,
}

impl Row for Recorded {
    const TABLE: &'static str = "experiment";
}

/// A row of `fsbench.experiment_target`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct OfTarget {
    pub target_number: usize,
    /// Name in the experiment.
    pub target: String,
    /// The target of `fsbench.target`.
    pub target_name: String,
    /// Values of factors.
    pub own: Map<String, Value>,
}

impl Row for OfTarget {
    const TABLE: &'static str = "experiment_target";
}

/// The rows of an experiment, and those of its targets; a control is the last of these.
pub fn recorded(
    arguments: &ExperimentArguments,
    checked: &Checked,
    runs: Runs,
    by: RequestedBy,
) -> (Recorded, Vec<OfTarget>) {
    let targets = targets(checked);
    let row = Recorded {
        experiment: checked.experiment.clone(),
        status: "recorded",
        goal: checked.goal.as_str(),
        baseline_number: checked.baseline,
        control_number: checked.control.then(|| targets.len() - 1),
        metric: checked.metric.name,
        margin: checked.margin,
        max_blocks: checked.max_blocks,
        looks: plan::looks(checked.max_blocks),
        run_order: plan::run_order(targets.len(), runs.seed),
        seed: runs.seed,
        parameters: runs.parameters,
        asked: arguments.clone(),
        run_seconds: runs.length.run_seconds(),
        cycle_seconds: runs.length.cycle_seconds,
        window_seconds: runs.length.window_seconds,
        max_seconds: checked.max_seconds,
        too_short: runs.too_short,
        burn_in: runs.burn_in,
        rate_share: arguments.rate_share,
        neighbours: checked.neighbours.as_str(),
        power_cuts: checked.power_cuts,
        budget_seconds: runs.budget_seconds,
        forced: arguments.run.force,
        confirms: by.confirms,
        requested_by: by.role,
        mark: by.mark,
        pilot_cycle: runs.pilot_cycle,
    };
    (row, targets)
}

fn targets(checked: &Checked) -> Vec<OfTarget> {
    let twin = checked.baseline.unwrap_or(0);
    let control = checked.candidates.get(twin).filter(|_| checked.control);
    let control = control.map(|twin| (twin, format!("{} (control)", twin.name)));
    let candidates = checked.candidates.iter().map(|c| (c, c.name.clone()));
    let targets = candidates.chain(control).enumerate();
    targets
        .map(|(target_number, (of, target))| OfTarget {
            target_number,
            target,
            target_name: of.target.clone(),
            own: of.own.clone(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::arguments;

    fn rows(baseline: Option<&str>, control: bool) -> (Recorded, Vec<OfTarget>) {
        let names = ["a", "b", "c"].map(|name| Some(name.to_owned()));
        let arguments = ExperimentArguments {
            experiment: Some("e".into()),
            targets: Some(names.into()),
            baseline: baseline.map(str::to_owned),
            control: Some(control),
            ..ExperimentArguments::default()
        };
        let checked = arguments::check(&arguments, &[]).unwrap();
        let runs = Runs {
            seed: 7,
            ..Runs::default()
        };
        recorded(&arguments, &checked, runs, RequestedBy::default())
    }

    #[test]
    fn each_target_has_a_row_and_a_place_in_each_block() {
        let (row, targets) = rows(Some("b"), false);
        assert_eq!((row.baseline_number, row.control_number), (Some(1), None));
        let names: Vec<&str> = targets.iter().map(|t| t.target.as_str()).collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert!(row.run_order.iter().all(|block| block.len() == 3));
        assert_eq!(row.run_order, plan::run_order(3, 7));
    }

    #[test]
    fn a_control_is_the_baseline_once_more_or_the_first_one() {
        for (baseline, twin) in [(Some("b"), "b"), (None, "a")] {
            let (row, targets) = rows(baseline, true);
            assert_eq!(row.control_number, Some(3));
            assert_eq!(targets[3].target, format!("{twin} (control)"));
            assert_eq!(targets[3].target_name, twin);
            assert!(row.run_order.iter().all(|block| block.len() == 4));
        }
    }
}
