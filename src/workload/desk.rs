//! The worker's desk: the run that it works for, and how it tells how far it is and what it has found.

use std::sync::atomic::Ordering::Relaxed;

use pgfsbench_core::spec::Spec;

use crate::{
    board::Board,
    errors::{Fault, sqlstate},
    pg::utility,
};

/// What a worker works with, whatever its task.
pub struct Desk<'a> {
    /// Shared memory.
    pub board: &'a Board,
    /// What is run.
    pub spec: &'a Spec,
    /// Serial number of the run that it belongs to.
    pub serial: u32,
}

impl Desk<'_> {
    /// So many steps of the phase are done; an error when there is no more to be done.
    pub fn done(&self, steps: u64) -> Result<(), Fault> {
        self.board.run.done.store(steps, Relaxed);
        if self.board.run.stopped(self.serial) {
            return Err(Fault::new(sqlstate::CANCELED, "the run was canceled"));
        }
        Ok(())
    }

    /// What the task has found, for the coordinator: JSON.
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
