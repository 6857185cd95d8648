//! The worker: does one [`Task`] in the work database, reports how far it is, and leaves.

use std::{
    fs::File,
    sync::atomic::{
        AtomicU32,
        Ordering::{Acquire, Relaxed, Release},
    },
};

use rustix::fs::syncfs;
use serde_json::{Value, json};

use crate::{
    bench::Task,
    board::{Board, Request, TaskState},
    errors::{self, Fault, read_json, sqlstate},
    pg::{
        process::{self, Database},
        session, shmem, utility, xact,
    },
    watch::{promises, surroundings},
    workload::{self, Desk},
};

/// The serial number of the run that this process belongs to. Written once, by it.
static SERIAL: AtomicU32 = AtomicU32::new(0);

/// Main of the background worker; the argument is the number of a [`Task`].
pub fn main(task: i32, serial: u32) {
    SERIAL.store(serial, Relaxed);
    let (Some(board), Some(request)) = (shmem::board(), shmem::active_request()) else {
        return;
    };
    if !board.run.is_current(serial) {
        return;
    }
    let cell = &board.run.worker;
    cell.pid.store(process::my_pid(), Release);
    cell.set_state(TaskState::Running);
    process::on_exit(leave);
    process::connect(Database::Work(board.run.work_database.load(Acquire)));
    if !board.run.is_current(serial) {
        return;
    }
    process::report_activity("pgfsbench worker");
    let result = work(Task(task), board, request);
    // What is read of the statistics once it is done has what it did.
    xact::report_statistics(true);
    if !board.run.is_current(serial) {
        return;
    }
    match result {
        Ok(()) => cell.set_state(TaskState::Done),
        Err(fault) => {
            fault.store(&cell.fault);
            cell.set_state(TaskState::Failed);
        }
    }
}

fn leave() {
    let Some(board) = shmem::board() else { return };
    if !board.run.is_current(SERIAL.load(Relaxed)) {
        return;
    }
    let cell = &board.run.worker;
    if cell.state() == TaskState::Running {
        let fault = errors::process_terminated();
        fault.store(&cell.fault);
        cell.set_state(TaskState::Failed);
    }
    cell.pid.store(0, Release);
    if let Some(request) = shmem::active_request() {
        process::wake(request.coordinator.load(Acquire));
    }
}

fn work(task: Task, board: &Board, request: &Request) -> Result<(), Fault> {
    let spec = board.specification(request)?;
    process::become_undisturbed_owner(request.owner.load(Acquire))?;
    if task == Task::CHECKPOINT {
        return checkpoint(board);
    }
    let desk = Desk {
        board,
        spec: &spec,
        serial: SERIAL.load(Relaxed),
    };
    workload::of(&spec)?.work(task, &desk)
}

fn checkpoint(board: &Board) -> Result<(), Fault> {
    utility::run(&["CHECKPOINT"])?;
    for directory in ["", "pg_wal"] {
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
    let report = xact::transaction(report_before_clients)?;
    board.run.worker.report.set(&report);
    Ok(())
}

/// What the worker reports before the clients, JSON: what a COMMIT promises, and the tables of the run.
fn report_before_clients() -> Result<String, Fault> {
    let promises: Value = read_json("answer", &promises::read()?)?;
    let tables: Value = read_json("answer", &surroundings::tables()?)?;
    Ok(json!({"promises": promises, "tables": tables}).to_string())
}
