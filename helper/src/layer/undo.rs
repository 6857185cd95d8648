//! The tools of undoing: programs and own steps, each of them told, with the places at which tests kill the helper.

use crate::config::Config;
use crate::exec;
use crate::journal::Journal;
use crate::secure::failed;
use pgfsbench_core::helper::protocol::Report;
use pgfsbench_core::refusal::Refusal;
use rustix::io::Errno;
use signal_hook::consts::{SIGKILL, SIGSTOP};
use signal_hook::low_level;
use std::fs::File;
use std::path::Path;
use std::time::Instant;

/// Called for each step as it is taken.
pub type Tell<'a> = &'a mut dyn FnMut(Report);

/// For tests: be killed right before or after a step, or stop before it until SIGCONT.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Hook {
    #[arg(long, hide = true)]
    stop_before: Option<String>,
    #[arg(long, hide = true)]
    stop_after: Option<String>,
    #[arg(long, hide = true)]
    pause_before: Option<String>,
}

impl Hook {
    pub fn before(&self, step: &str) {
        raise_at(step, &self.pause_before, SIGSTOP);
        raise_at(step, &self.stop_before, SIGKILL);
    }

    pub fn after(&self, step: &str) {
        raise_at(step, &self.stop_after, SIGKILL);
    }
}

/// The signal goes to this thread, which so does nothing more; one for the process may be taken by another one, later.
fn raise_at(step: &str, at: &Option<String>, signal: i32) {
    if at.as_deref() == Some(step) {
        let _ = low_level::raise(signal);
    }
}

pub struct UndoContext<'a> {
    pub config: &'a Config,
    pub journal: &'a Journal,
    pub hook: &'a Hook,
    pub lock: &'a File,
    pub tell: Tell<'a>,
}

impl UndoContext<'_> {
    pub fn run(&mut self, step: &str, argv: &[String]) -> Result<(), Refusal> {
        self.hook.before(step);
        // Unmounting writes out the page cache; nothing else here takes long.
        let deadline = if step == "unmount" {
            exec::LONG
        } else {
            exec::SHORT
        };
        let outcome = exec::run_locked(argv, deadline, self.lock)?;
        (self.tell)(outcome.report(step));
        self.hook.after(step);
        match outcome.succeeded() {
            true => Ok(()),
            false => Err(outcome.refusal()),
        }
    }

    /// Undoes a step that takes no program. Reports nothing when there was nothing to do.
    pub fn own(
        &mut self,
        step: &str,
        verb: &str,
        path: &Path,
        act: impl FnOnce() -> Result<(), Errno>,
    ) -> Result<(), Refusal> {
        self.hook.before(step);
        let began = Instant::now();
        let outcome = act();
        if outcome == Err(Errno::NOENT) {
            return Ok(());
        }
        let refusal = outcome.err().map(|e| failed(verb, path, e));
        (self.tell)(Report {
            step: step.into(),
            argv: vec![format!("{verb} {}", path.display())],
            ms: began.elapsed().as_secs_f64() * 1000.0,
            exit_code: None,
            output: refusal
                .as_ref()
                .and_then(|r| r.detail.clone())
                .unwrap_or_default(),
        });
        self.hook.after(step);
        refusal.map_or(Ok(()), Err)
    }
}
