//! Messages and hints of findings: one function for each code.

pub mod array;
pub mod crash;
pub mod data;
pub mod filesystem;
pub mod flush;
pub mod limits;
pub mod machine;
pub mod power_cut;
pub mod scan;
pub mod server;
pub mod settings;
pub mod storage;
pub mod syncs_and_commits;
pub mod tpcc_like;
pub mod window;

use crate::{
    finding_row::{NOT_POSITIVE, Text},
    units::format_share as percent,
};

/// A figure of an experiment that no ratio can be made of.
pub fn not_positive(metric: &str, value: f64) -> Text {
    let message = format!("{metric} is {value}, of which no ratio can be made");
    let hint = "The run counts and has no value: its target is compared in the other blocks. Where all of its runs are so, compare by another metric.";
    Text::new(NOT_POSITIVE, message, hint)
}
