//! Writes to a file next to the WAL, in the manner of WAL, with each way to have them on disk.

mod file;
mod run;
mod writer;

use pgfsbench_core::spec::Spec;

use super::{ClientContext, WorkerContext, Workload, no_such_task};
use crate::{
    bench::{Run, Task},
    board::outcome::Outcome,
    errors::Fault,
};

/// The kind of its file.
const KIND: &str = "fsync";

pub struct Fsync;

impl Workload for Fsync {
    fn names(&self) -> &'static [&'static str] {
        &["fsync"]
    }

    fn carry_out(&self, run: &mut Run) -> Result<Outcome, Fault> {
        run::carry_out(run)
    }

    fn take_part(&self, context: &ClientContext, spec: &Spec) -> Result<(), Fault> {
        writer::write(context, spec)
    }

    fn work(&self, task: Task, _context: &WorkerContext) -> Result<(), Fault> {
        Err(no_such_task(task))
    }
}
