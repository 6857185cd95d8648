//! Findings about a filesystem that was made for a run: what was asked for, and what came of it.

use super::{Finding, RunFacts, Severity};
use crate::texts::finding::storage as text;

pub use text::Unreleased;

/// Mount options that were asked for and that the kernel does not show.
pub fn mount_options_not_shown(facts: &RunFacts) -> Option<Finding> {
    let options = facts.storage.mount_options_not_shown.as_ref()?;
    (!options.is_empty())
        .then(|| Finding::new(Severity::Warning, text::mount_options_not_shown(options)))
}

/// Properties of zfs that were asked for and that it has otherwise.
pub fn properties_not_in_force(facts: &RunFacts) -> Option<Finding> {
    let properties = facts.storage.properties_not_in_force.as_ref()?;
    (!properties.is_empty())
        .then(|| Finding::new(Severity::Warning, text::properties_not_in_force(properties)))
}

/// The finding of a run that could not clear away at its end what was made for it.
pub fn not_released(target: &str, left: Unreleased) -> Finding {
    Finding::new(Severity::Warning, text::not_released(target, left))
}
