//! The worker: does one [`Task`] in the work database, reports how far it is, and leaves.

use std::{
    fs::File,
    sync::atomic::{
        AtomicU32,
        Ordering::{Acquire, Relaxed, Release},
    },
};

use pgfsbench_core::spec::{Kind, Spec};
use rustix::fs::syncfs;
use serde_json::{Value, json};

use crate::{
    board::{Board, Request, TaskState},
    errors::{self, Fault, read_json, sqlstate, to_json_text},
    pg::{
        process::{self, Database},
        session, shmem, utility, xact,
    },
    watch::{promises, surroundings},
    workload::{
        maintenance, pgbench,
        scan::{scanner, table},
    },
};

/// What a worker is launched for; its argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Task {
    /// Create and load the tables.
    Load = 1,
    /// Vacuum and analyze them, and build their keys.
    Vacuum = 2,
    /// Read the balances into the task's report; of a run of scans, count the rows.
    Verify = 3,
    /// CHECKPOINT, and write out what the kernel holds back.
    Checkpoint = 4,
    /// Create the table of a run of scans, for others to load.
    Create = 5,
    /// Let the table be scanned by as many workers as the run asks for.
    AllowWorkers = 6,
    /// Put that table into the cache, or out of it.
    Prepare = 7,
    /// The same, and scan it.
    Scan = 8,
    /// Bulk load, index build, VACUUM and CHECKPOINT; what each took into the task's report.
    Maintain = 9,
}

impl Task {
    fn from_i32(number: i32) -> Option<Self> {
        use Task::*;
        [
            Load,
            Vacuum,
            Verify,
            Checkpoint,
            Create,
            AllowWorkers,
            Prepare,
            Scan,
            Maintain,
        ]
        .into_iter()
        .find(|task| *task as i32 == number)
    }
}

/// The serial number of the run that this process belongs to. Written once, by it.
static SERIAL: AtomicU32 = AtomicU32::new(0);

/// Main of the background worker; the argument is a [`Task`].
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
    let result = work(task, board, request);
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

fn work(task: i32, board: &Board, request: &Request) -> Result<(), Fault> {
    let task = Task::from_i32(task)
        .ok_or_else(|| Fault::new(sqlstate::INTERNAL, format!("there is no task {task}")))?;
    let spec = board.specification(request)?;
    process::become_undisturbed_owner(request.owner.load(Acquire))?;
    match task {
        Task::Load => load(board, &spec),
        Task::Vacuum => vacuum(board, &spec),
        Task::Verify if spec.workload.kind() == Kind::Scan => scanner::verify(&spec),
        Task::Verify => verify(board),
        Task::Checkpoint => checkpoint(board),
        Task::Create => xact::transaction(|| {
            table::create(&spec)?;
            table::reserve(&spec)
        }),
        Task::AllowWorkers => {
            let most = spec.options.degrees.last().copied().unwrap_or(1);
            xact::transaction(|| table::allow_workers(most))
        }
        Task::Prepare => scanner::prepare(board, &spec),
        Task::Scan => scanner::scan(board, &spec),
        Task::Maintain => maintain(board, &spec),
    }
}

fn stop_if_told(board: &Board) -> Result<(), Fault> {
    if board.run.stopped(SERIAL.load(Relaxed)) {
        return Err(Fault::new(sqlstate::CANCELED, "the run was canceled"));
    }
    Ok(())
}

fn load(board: &Board, spec: &Spec) -> Result<(), Fault> {
    let progress = |rows| {
        board.run.done.store(rows, Relaxed);
        stop_if_told(board)
    };
    xact::transaction(|| {
        if spec.workload.kind() == Kind::Scan {
            table::create(spec)?;
            table::reserve(spec)?;
            table::load(spec, 0, 1, progress)
        } else {
            pgbench::load(spec, progress)
        }
    })
}

fn vacuum(board: &Board, spec: &Spec) -> Result<(), Fault> {
    let statements = match spec.workload.kind() {
        Kind::Scan => table::VACUUM.iter().chain(&[]),
        Kind::Transactions | Kind::Fsync => pgbench::VACUUM.iter().chain(&pgbench::PRIMARY_KEYS),
    };
    for (done, statement) in statements.enumerate() {
        stop_if_told(board)?;
        board.run.done.store(done as u64, Relaxed);
        utility::run(&[statement])?;
    }
    Ok(())
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

fn verify(board: &Board) -> Result<(), Fault> {
    let balances = xact::transaction(pgbench::balances)?;
    let tables = xact::transaction(surroundings::tables)?;
    let mut report = json!(balances);
    report["tables"] = read_json("tables", &tables)?;
    board.run.worker.report.set(&report.to_string());
    Ok(())
}

fn maintain(board: &Board, spec: &Spec) -> Result<(), Fault> {
    let steps = maintenance::carry_out(spec, |done| {
        board.run.done.store(done, Relaxed);
        stop_if_told(board)
    })?;
    let report = to_json_text(&steps)?;
    board.run.worker.report.set(&report);
    Ok(())
}

/// What the worker reports before the clients, JSON: what a COMMIT promises, and the tables of the run.
pub fn report_before_clients() -> Result<String, Fault> {
    let promises: Value = read_json("answer", &promises::read()?)?;
    let tables: Value = read_json("answer", &surroundings::tables()?)?;
    Ok(json!({"promises": promises, "tables": tables}).to_string())
}
