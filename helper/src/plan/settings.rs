//! The steps that change settings, if the configuration, the kernel and other targets let them.

use crate::config::Config;
use crate::layer::{Facts, Step};
use crate::place::Place;
use crate::probe::queue::Limits;
use crate::settings;
use pgfsbench_core::helper::{BlockSettings, Prepare, line_that_allows};
use pgfsbench_core::refusal::{Kind, Refusal, quoted};

pub fn steps(config: &Config, request: &Prepare, facts: &Facts) -> Result<Vec<Step>, Refusal> {
    let mut steps = Vec::new();
    if let Some(requested) = request.block_settings.as_ref().filter(|s| !s.is_empty()) {
        if let Some(user) = &facts.queue_user {
            return Err(changed_by(user, "settings of the same disk's queue"));
        }
        for limits in facts.limits.iter().flatten() {
            check_offered(requested, limits)?;
        }
        steps.push(Step::SetQueue {
            values: settings::of_block(requested),
        });
    }
    if let Some(requested) = request.kernel_settings.as_ref().filter(|s| !s.is_empty()) {
        if !config.kernel_settings {
            return Err(Refusal::new(
                Kind::NotAllowed,
                "kernel settings are not allowed by the helper's configuration",
            )
            .detail("Those of vm are the whole machine's, not the target's alone.")
            .hint(format!(
                "Add to it {}.",
                line_that_allows("kernel_settings")
            )));
        }
        if let Some(user) = &facts.kernel_user {
            return Err(changed_by(user, "kernel settings"));
        }
        steps.push(Step::SetKernel {
            values: settings::of_kernel(requested),
        });
    }
    Ok(steps)
}

/// The step for the queue of an array of md: it has read-ahead of its own, and leaves the rest to its members.
pub fn step_of_array(request: &Prepare) -> Option<Step> {
    let mut values = settings::of_block(request.block_settings.as_ref()?);
    values.retain(|value| value.file == "read_ahead_kb");
    (!values.is_empty()).then_some(Step::SetArrayQueue { values })
}

/// The step after all that mkfs and mount do to a queue whose settings these steps change.
pub fn step_to_keep(steps: &[Step]) -> Option<Step> {
    steps.iter().find_map(|step| match step {
        Step::SetQueue { values } => Some(Step::KeepQueue {
            values: values.clone(),
        }),
        _ => None,
    })
}

/// Refuses a scheduler that the queue does not have.
pub fn check_offered(requested: &BlockSettings, limits: &Limits) -> Result<(), Refusal> {
    match &requested.scheduler {
        Some(name) if !limits.schedulers.contains(name) => Err(Refusal::new(
            Kind::NotInThisState,
            format!("there is no I/O scheduler {}", quoted(name)),
        )
        .detail(match limits.schedulers.is_empty() {
            true => "The device has none.".into(),
            false => format!("The kernel offers {} for it.", limits.schedulers.join(", ")),
        })
        .hint("Choose one of those, or load the module of the other.")),
        _ => Ok(()),
    }
}

/// The refusal of a setting that another target has changed. Two changes could not be put back in any order.
pub fn changed_by(user: &Place, what: &str) -> Refusal {
    Refusal::new(
        Kind::NotInThisState,
        format!("target \"{}\" has changed {what}", user.target),
    )
    .detail(format!(
        "It is a target of database \"{}\", and prepared; only one at a time may change them.",
        user.database
    ))
    .hint("Release it first; if it is not in use any more, run pgfsbench-helper cleanup.")
}
