//! Jobs of fio on files in a directory of the run. fio is a process of its own, which ends with the coordinator.

mod fio;
mod run;

use pgfsbench_core::spec::Spec;

use super::{ClientContext, WorkerContext, Workload, no_such_task};
use crate::{
    bench::{Run, Task},
    board::outcome::Outcome,
    errors::{Fault, sqlstate},
};

pub struct Io;

impl Workload for Io {
    fn names(&self) -> &'static [&'static str] {
        &["io"]
    }

    fn carry_out(&self, run: &mut Run) -> Result<Outcome, Fault> {
        run::carry_out(run)
    }

    fn take_part(&self, _context: &ClientContext, _spec: &Spec) -> Result<(), Fault> {
        Err(Fault::new(
            sqlstate::INTERNAL,
            "no client takes part in workload \"io\"",
        ))
    }

    fn work(&self, task: Task, _context: &WorkerContext) -> Result<(), Fault> {
        Err(no_such_task(task))
    }
}
