//! The finding about a run whose figure no ratio can be made of. Only an experiment knows by which figure it compares.

use super::{Finding, Severity};
use crate::texts::finding as text;

/// The finding of a run of an experiment whose metric is zero, or less.
pub fn not_positive(metric: &str, value: f64) -> Finding {
    Finding::new(Severity::Warning, text::not_positive(metric, value))
}
