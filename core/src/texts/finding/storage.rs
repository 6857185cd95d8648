//! A filesystem that was made for a run.

use crate::finding_row::{NOT_RELEASED, Text};

pub fn mount_options_not_shown(options: &[String]) -> Text {
    let options = options.join(", ");
    let message = format!("mount options asked for, but not shown by the kernel: {options}");
    let hint = "The kernel has changed or dropped them: give values that it takes, and of options that exclude each other only one.";
    Text::new("mount_options_not_shown", message, hint)
}

pub fn properties_not_in_force(properties: &[String]) -> Text {
    let properties = properties.join(", ");
    let message = format!("properties asked for, but not in force: {properties}");
    let hint = "See the result of the job in fsbench.helper_job for those that are.";
    Text::new("properties_not_in_force", message, hint)
}

/// Remains at the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreleased {
    /// The filesystem that the helper has made for the run.
    ByHelper,
    /// The directory of the target's server, which this server removes.
    ByServer,
}

pub fn not_released(target: &str, left: Unreleased) -> Text {
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
    let message =
        format!("the {what} of target \"{target}\" was not cleared away at the end of the run");
    Text::new(NOT_RELEASED, message, hint)
}
