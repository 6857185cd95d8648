//! The findings of a run in a few words.

use super::Severity;

/// The number of findings, and the heaviest of the worst severity: `7 (warning: noisy_neighbour)`.
pub fn summary(number: u32, worst: Option<Severity>, heaviest: &str) -> String {
    worst.map_or_else(
        || "none".into(),
        |worst| format!("{number} ({}: {heaviest})", worst.as_str()),
    )
}
