//! Parallel count(*) at several degrees.

mod cache;
mod run;
mod scanner;
mod storage;
mod table;

use pgfsbench_core::spec::Spec;

use super::{ClientContext, WorkerContext, Workload, no_such_task};
use crate::{
    bench::{Run, Task},
    board::outcome::Outcome,
    errors::Fault,
    pg::{utility, xact},
};

/// Create the table and load it.
const LOAD: Task = Task(1);
/// Vacuum and analyze it.
const VACUUM: Task = Task(2);
/// Count the rows.
const VERIFY: Task = Task(3);
/// Create the table, for others to load.
const CREATE: Task = Task(4);
/// Let the table be scanned by as many workers as the run asks for.
const ALLOW_WORKERS: Task = Task(5);
/// Put it into the cache, or out of it.
const PREPARE: Task = Task(6);
/// Put the table into the cache, or out of it, and scan it.
const SCAN: Task = Task(7);

pub struct Scans;

impl Workload for Scans {
    fn names(&self) -> &'static [&'static str] {
        &["scan"]
    }

    fn carry_out(&self, run: &mut Run) -> Result<Outcome, Fault> {
        run::carry_out(run)
    }

    fn take_part(&self, context: &ClientContext, spec: &Spec) -> Result<(), Fault> {
        scanner::take_part(context, spec)
    }

    fn work(&self, task: Task, context: &WorkerContext) -> Result<(), Fault> {
        let (board, spec) = (context.board, context.spec);
        match task {
            LOAD => xact::transaction(|| {
                table::create(spec)?;
                table::reserve(spec, 1)?;
                table::load(spec, 0, 1, |rows| context.done(rows))
            }),
            VACUUM => {
                for (done, statement) in (0..).zip(table::vacuum(spec)?) {
                    context.done(done)?;
                    utility::run(&[&statement]).map_err(|fault| fault.context(&statement))?;
                }
                Ok(())
            }
            VERIFY => scanner::verify(board, spec),
            CREATE => {
                xact::transaction(|| table::create(spec))?;
                let loaders = table::own(spec).loaders.unwrap_or(1);
                xact::transaction(|| table::reserve(spec, loaders))
            }
            ALLOW_WORKERS => {
                xact::transaction(|| table::allow_workers(spec, table::own(spec).largest()))
            }
            PREPARE => scanner::prepare(board, spec),
            SCAN => scanner::scan(board, spec),
            other => Err(no_such_task(other)),
        }
    }
}
