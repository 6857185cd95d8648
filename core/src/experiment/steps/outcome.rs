//! The outcome of a finished run, and which targets get no more runs because theirs fail.

use crate::{
    experiment::{
        metric::{self, Kind, Metric},
        state::{ExperimentRun, Outcome, State},
    },
    finding::{self, Finding},
    sqlstate,
    texts::steps as text,
    verdict::keeping::Scheduled,
};

/// A target is set aside after this many failed or invalid runs in a row.
const IN_A_ROW: usize = 3;

/// A target that is not run any more because its runs fail, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExcludedTarget {
    /// Number of the target.
    pub number: usize,
    /// The block of the last of them.
    pub block: u32,
    /// In words.
    pub why: String,
}

/// The outcome of a run that is over.
pub fn outcome(made: &ExperimentRun, metric: Metric) -> (Outcome, Option<String>) {
    match made.status.as_deref() {
        Some("done") => of_done(made, metric),
        Some(status) => {
            let error = made.error.clone().unwrap_or_else(|| status.to_owned());
            let cut_off = matches!(
                made.error_code.as_deref(),
                Some(sqlstate::TERMINATED | sqlstate::CRASHED)
            );
            let outcome = match cut_off {
                true => Outcome::Interrupted,
                false => Outcome::Failed,
            };
            (outcome, Some(error))
        }
        None => (Outcome::Interrupted, Some(text::row_is_gone())),
    }
}

fn of_done(made: &ExperimentRun, metric: Metric) -> (Outcome, Option<String>) {
    if !made.invalid.is_empty() {
        let why = text::invalid(&made.invalid);
        return (Outcome::Invalid, Some(why));
    }
    if let Kind::Latency(percentile) = metric.kind
        && let (Some(scheduled), Some(not_in_time)) = (made.scheduled, made.not_in_time)
        && (Scheduled {
            scheduled,
            not_in_time,
        })
        .behind(percentile)
    {
        let why = text::not_in_time(not_in_time, scheduled);
        return (Outcome::Behind, Some(why));
    }
    match (made.value, &made.found_none) {
        // It is over with a result: made again, it would have the same.
        (Some(value), _) => (Outcome::Measured, not_positive(value, metric)),
        (None, Some(says)) if metric.name == metric::SUSTAINABLE_RATE => {
            (Outcome::Behind, Some(says.clone()))
        }
        (None, _) => {
            let why = text::without_metric(metric.name);
            (Outcome::Failed, Some(why))
        }
    }
}

/// Why a figure is no value that a ratio can be made of.
fn not_positive(value: f64, metric: Metric) -> Option<String> {
    let is_positive = value > 0.0 && value.is_finite();
    (!is_positive).then(|| format!("{}: {} is {value}", finding::NOT_POSITIVE, metric.name))
}

/// The finding about a run that counts and has no value; None if it has one, or does not count.
pub fn without_value(made: &ExperimentRun, metric: Metric) -> Option<Finding> {
    let value = (made.value).filter(|_| made.outcome == Some(Outcome::Measured))?;
    not_positive(value, metric).map(|_| finding::not_positive(metric.name, value))
}

/// The targets whose runs failed so often in a row that they are not run any more.
pub fn excluded(state: &State) -> Vec<ExcludedTarget> {
    let mut excluded = Vec::new();
    for target in &state.targets {
        let mut in_a_row = 0;
        for made in state.runs.iter().filter(|m| m.number == target.number) {
            match made.outcome {
                Some(Outcome::Failed | Outcome::Invalid) => in_a_row += 1,
                // Those that do not count have gone well, too.
                Some(
                    Outcome::Measured
                    | Outcome::Behind
                    | Outcome::Disturbed
                    | Outcome::Pilot
                    | Outcome::BurnIn
                    | Outcome::PowerCut,
                ) => in_a_row = 0,
                Some(Outcome::Interrupted | Outcome::Repeated) | None => {}
            }
            if in_a_row == IN_A_ROW {
                let why = made.why.clone().unwrap_or_default();
                excluded.push(ExcludedTarget {
                    number: target.number,
                    block: made.block,
                    why: text::failed_in_a_row(IN_A_ROW, &why),
                });
                break;
            }
        }
    }
    excluded
}
