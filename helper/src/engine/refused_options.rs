//! Which mount option it is that a kernel does not take. It says only that one of them is bad, if not something else; so where a
//! mount has failed each of them is tried by itself on the new filesystem, which nobody uses yet.

use super::Tell;
use super::steps::Work;
use crate::exec;
use crate::plan::Step;
use pgfsbench_core::refusal::{Refusal, quoted};

/// Always there, and no option that was asked for.
const OURS: [&str; 2] = ["nosuid", "nodev"];

impl Work<'_> {
    pub(super) fn mount(&self, step: &Step, tell: Tell) -> Result<(), Refusal> {
        let Err(refusal) = self.run(step, tell) else {
            return Ok(());
        };
        let refused = self.refused_options(step, tell)?;
        let names: Vec<String> = refused.iter().map(|option| quoted(option)).collect();
        let (what, hint) = match names.len() {
            0 => return Err(refusal),
            1 => (
                "option",
                "Change the target's mount_options: leave it out, or give it another value.",
            ),
            _ => (
                "options",
                "Change the target's mount_options: leave them out, or give them other values.",
            ),
        };
        let fs = self.plan.filesystem;
        let message = format!(
            "this kernel does not take mount {what} {} of {fs}",
            names.join(", ")
        );
        let detail = format!(
            "Each option was tried by itself on kernel {}. {}",
            crate::probe::kernel::release(),
            refusal.detail.as_deref().unwrap_or("")
        );
        Err(Refusal {
            message,
            ..refusal.detail(detail).hint(hint)
        })
    }

    /// The options that the kernel refuses. Empty if it refuses the mount without them, too.
    fn refused_options(&self, step: &Step, tell: Tell) -> Result<Vec<String>, Refusal> {
        let asked = self.plan.mount_options.iter();
        let asked: Vec<&String> = asked.filter(|o| !OURS.contains(&o.as_str())).collect();
        if asked.is_empty() || !self.takes(step, &asked, None, tell)? {
            return Ok(Vec::new());
        }
        let mut refused = Vec::new();
        for option in &asked {
            if !self.takes(step, &asked, Some(option), tell)? {
                refused.push((*option).clone());
            }
        }
        Ok(refused)
    }

    /// True if it can be mounted with only this one of the options that were asked for, or with none of them.
    fn takes(
        &self,
        step: &Step,
        asked: &[&String],
        only: Option<&String>,
        tell: Tell,
    ) -> Result<bool, Refusal> {
        let mut tried = step.clone();
        let Step::Mount {
            options,
            mount_point,
            ..
        } = &mut tried
        else {
            return Ok(false);
        };
        options.retain(|option| Some(option) == only || !asked.contains(&option));
        let umount = exec::require("umount", "mount")?.display().to_string();
        let unmount = [umount, "-i".into(), mount_point.display().to_string()];
        let argv = tried.argv(&self.devices).expect("a step with a program");
        if !self.run_argv(step, &argv, tell)?.succeeded() {
            return Ok(false);
        }
        // If it cannot be unmounted, the clean-up does it.
        let outcome = self.run_argv(step, &unmount, tell)?;
        match outcome.succeeded() {
            true => Ok(true),
            false => Err(outcome.refusal()),
        }
    }
}
