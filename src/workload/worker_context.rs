//! A worker's run, and how it reports its progress and its result.

use std::sync::atomic::Ordering::Relaxed;

use pgfsbench_core::spec::Spec;

use crate::{
    board::Board,
    errors::{Fault, sqlstate},
    pg::{points::point, utility},
};

/// The context of a worker's task.
pub struct WorkerContext<'a> {
    /// Shared memory.
    pub board: &'a Board,
    /// The run's specification.
    pub spec: &'a Spec,
    /// Serial number of the run that it belongs to.
    pub serial: u32,
}

impl WorkerContext<'_> {
    /// Reports that this many steps of the phase are done. An error if the run was cancelled.
    pub fn done(&self, steps: u64) -> Result<(), Fault> {
        self.board.run.done.store(steps, Relaxed);
        point!("worker at work in {}", self.board.run.phase().as_str());
        if self.board.run.stopped(self.serial) {
            return Err(Fault::new(sqlstate::CANCELED, "the run was canceled"));
        }
        Ok(())
    }

    /// Hands the result of the task to the coordinator: JSON.
    pub fn report(&self, text: &str) {
        self.board.run.worker.report.set(text);
    }

    /// Runs statements that may stand in no transaction, one after the other.
    pub fn run_each(&self, statements: &[&str]) -> Result<(), Fault> {
        for (done, statement) in (0..).zip(statements) {
            self.done(done)?;
            utility::run(&[statement])?;
        }
        Ok(())
    }
}
