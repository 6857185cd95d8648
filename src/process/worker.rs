//! The worker: does one [`Task`] in the work database, reports how far it is, and leaves.

use std::{fs::File, sync::atomic::Ordering::Acquire};

use pgfsbench_core::{environment::report_within, work_database};
use rustix::fs::syncfs;
use serde_json::{Value, json};

use super::frame::{self, Job, Role};
use crate::{
    bench::Task,
    board::{Board, TaskState},
    errors::{Fault, read_json, sqlstate},
    host::environment,
    pg::{
        guc,
        process::{self, Database},
        report, session, sql, utility, xact,
    },
    run::worker_slots,
    watch::{promises, surroundings, table_files},
    workload::{self, WorkerContext},
};

/// Main of the background worker; the argument is the number of a [`Task`].
pub fn main(task: i32, serial: u32) {
    let database = |job: &Job| database(Task(task), job);
    frame::run(Role::Worker, serial, database, |job| {
        let result = work(Task(task), job);
        // Statistics that are read after the task have its work.
        xact::report_statistics(true);
        result
    });
}

/// From here on the worker is missed when it ends.
fn database(task: Task, job: &Job) -> Result<Database, Fault> {
    job.board.run.worker.set_state(TaskState::Running);
    match is_of_role(task, job)? {
        true => workload::session_of_role(&job.board.run),
        false => Ok(Database::Work(job.board.run.work_database.load(Acquire))),
    }
}

fn is_of_role(task: Task, job: &Job) -> Result<bool, Fault> {
    let spec = job.board.specification(job.request)?;
    Ok(workload::of(&spec)?.is_of_role(task))
}

fn work(task: Task, job: &Job) -> Result<(), Fault> {
    let spec = job.board.specification(job.request)?;
    if !is_of_role(task, job)? {
        process::become_undisturbed_owner(job.request.owner.load(Acquire))?;
    }
    work_alone_where_no_parallel_worker_starts()?;
    if task == Task::CHECKPOINT {
        return checkpoint(job.board, job.request.extension_database.load(Acquire));
    }
    let context = WorkerContext {
        board: job.board,
        spec: &spec,
        serial: job.serial,
    };
    workload::of(&spec)?.work(task, &context)
}

/// An index that is built, or a query of the verification, would fail with its first parallel worker.
fn work_alone_where_no_parallel_worker_starts() -> Result<(), Fault> {
    let version = xact::transaction(|| worker_slots::number("server_version_num"))?;
    if !work_database::lets_parallel_workers_in(version) {
        for name in [
            "max_parallel_workers_per_gather",
            "max_parallel_maintenance_workers",
        ] {
            guc::apply(name, "0")?;
        }
    }
    Ok(())
}

fn checkpoint(board: &Board, extension_database: u32) -> Result<(), Fault> {
    utility::run(&["CHECKPOINT"])?;
    table_files::check()?;
    for directory in ["", "base", "pg_wal"] {
        let path = session::data_directory().join(directory);
        let synced = File::open(&path).and_then(|file| Ok(syncfs(file)?));
        synced.map_err(|e| {
            Fault::new(
                sqlstate::SYSTEM,
                format!(
                    "could not sync the filesystem of \"{}\": {e}",
                    path.display()
                ),
            )
        })?;
    }
    // Here is the database whose settings hold for the clients.
    let report = xact::transaction(|| report_before_clients(extension_database))?;
    let cell = &board.run.worker.report;
    let (report, is_cut) = report_within(report, cell.capacity());
    if is_cut {
        report::log(
            "the settings of the run are not stored: those of its database are too long".into(),
        );
    }
    cell.set(&report);
    Ok(())
}

/// The file of the run's largest table.
const LARGEST: &str = "SELECT pg_relation_filepath(relid) FROM pg_stat_user_tables \
    ORDER BY pg_relation_size(relid) DESC, relid LIMIT 1";

/// The worker's report before the clients: the promises of a COMMIT, the tables of the run, the file of the largest one, and
/// the settings that are unlike those of the home database.
fn report_before_clients(extension_database: u32) -> Result<Value, Fault> {
    let promises: Value = read_json("answer", &promises::read()?)?;
    let tables: Value = read_json("answer", &surroundings::tables()?)?;
    let file = sql::read(LARGEST, &[])?;
    let settings = environment::settings_unlike(extension_database)?;
    Ok(json!({"promises": promises, "tables": tables, "file": file, "settings": settings}))
}
