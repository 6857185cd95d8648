//! Findings about a filesystem that was made for a run: what was asked for, and what came of it.

use super::{Finding, NOT_RELEASED, RunFacts, Severity};

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

/// Remains at the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreleased {
    /// The filesystem that the helper has made for the run.
    ByHelper,
    /// The directory of the target's server, which this server removes.
    ByServer,
}

/// The finding of a run that could not clear away at its end what was made for it.
pub fn not_released(target: &str, left: Unreleased) -> Finding {
    let (what, hint) = match left {
        Unreleased::ByHelper => (
            "filesystem",
            "The figures are not affected. pgfsbench-helper releases it when it runs again; or run pgfsbench-helper release as root.",
        ),
        Unreleased::ByServer => (
            "server's directory",
            "At its next start this server removes the directory, if the filesystem allows that. The finding stays.",
        ),
    };
    Finding::new(
        NOT_RELEASED,
        Severity::Warning,
        format!("the {what} of target \"{target}\" was not cleared away at the end of the run"),
        hint,
    )
}
