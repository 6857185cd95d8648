//! Findings about a filesystem that was made for a run: what was asked for, and what came of it.

use super::{Finding, RunFacts, Severity};

/// The code of [`not_released`].
pub const NOT_RELEASED: &str = "not_released";
/// The code of the finding that `fsbench.import()` gives to runs of other databases.
pub const IMPORTED: &str = "imported";

/// Mount options that were asked for and that the kernel does not show.
pub fn mount_options_not_shown(facts: &RunFacts) -> Option<Finding> {
    let options = facts.storage.mount_options_not_shown.as_ref()?;
    (!options.is_empty()).then(|| {
        Finding::new(
            "mount_options_not_shown",
            Severity::Warning,
            format!("mount options asked for, but not shown by the kernel: {}", options.join(", ")),
            "The kernel has changed or dropped them: give values that it takes, and of options that exclude each other only one.",
        )
    })
}

/// Properties of zfs that were asked for and that it has otherwise.
pub fn properties_not_in_force(facts: &RunFacts) -> Option<Finding> {
    let properties = facts.storage.properties_not_in_force.as_ref()?;
    (!properties.is_empty()).then(|| {
        Finding::new(
            "properties_not_in_force",
            Severity::Warning,
            format!(
                "properties asked for, but not in force: {}",
                properties.join(", ")
            ),
            "See the result of the job in fsbench.helper_job for those that are.",
        )
    })
}

/// The finding of a run whose filesystem could not be cleared away at its end.
pub fn not_released(target: &str) -> Finding {
    Finding::new(
        NOT_RELEASED,
        Severity::Warning,
        format!("the filesystem of target \"{target}\" was not cleared away"),
        "Nothing is wrong with the figures. It is released when pgfsbench-helper runs again; or run pgfsbench-helper release as root.",
    )
}
