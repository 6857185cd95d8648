//! The finding about a run whose figure no ratio can be made of. Only an experiment knows by which figure it compares.

use super::{Finding, NOT_POSITIVE, Severity};

/// The finding of a run of an experiment whose metric is zero, or less.
pub fn not_positive(metric: &str, value: f64) -> Finding {
    Finding::new(
        NOT_POSITIVE,
        Severity::Warning,
        format!("{metric} is {value}, of which no ratio can be made"),
        "The run counts and has no value: its target is compared in the other blocks. Where all of its runs are so, compare by another metric.",
    )
}
