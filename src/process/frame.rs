//! The frame of the processes that a run launches in addition to its coordinator: worker, sampler and clients. Each has a place in shared memory, and
//! works as long as the run is the one that it was launched for. However it ends, it leaves its place empty, with its outcome for the coordinator.

use std::sync::atomic::{
    AtomicI32, AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};

use pgfsbench_core::board::{ClientSlot, ClientState, place};

use crate::{
    board::{Board, Request, TaskCell, TaskState},
    errors::{self, Fault},
    pg::{
        points::point,
        process::{self, Database},
        report, shmem, xact,
    },
};

/// The serial number of the run that this process belongs to. Written once, by it.
static SERIAL: AtomicU32 = AtomicU32::new(0);
/// The slot of this process, if it is a client. Written once, by it.
static INDEX: AtomicU32 = AtomicU32::new(0);
/// The role of this process, as a number. Written once, by it.
static ROLE: AtomicU32 = AtomicU32::new(0);

/// The role of a process in its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Worker,
    Sampler,
    /// With its slot.
    Client(u32),
}

/// The place in shared memory where a process of a run reports its state.
enum Place {
    Task(&'static TaskCell),
    Client(&'static ClientSlot),
}

/// The run that a process works for.
#[derive(Clone, Copy)]
pub struct Job {
    pub board: &'static Board,
    pub request: &'static Request,
    pub serial: u32,
}

impl Job {
    /// Whether the run works on a user's own data, so that words of a statement's error may have values.
    fn is_on_own(&self) -> bool {
        let spec = self.board.specification(self.request);
        // Words are hidden where it cannot be read.
        !spec.is_ok_and(|spec| !spec.is_on_own())
    }
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Self::Worker => "pgfsbench worker",
            Self::Sampler => "pgfsbench sampler",
            Self::Client(_) => "pgfsbench client",
        }
    }

    fn remember(self) {
        let (role, index) = match self {
            Self::Worker => (0, 0),
            Self::Sampler => (1, 0),
            Self::Client(index) => (2, index),
        };
        INDEX.store(index, Relaxed);
        ROLE.store(role, Relaxed);
    }

    fn remembered() -> Self {
        match ROLE.load(Relaxed) {
            0 => Self::Worker,
            1 => Self::Sampler,
            _ => Self::Client(INDEX.load(Relaxed)),
        }
    }

    /// None for a slot that does not exist.
    fn place(self, board: &'static Board) -> Option<Place> {
        Some(match self {
            Self::Worker => Place::Task(&board.run.worker),
            Self::Sampler => Place::Task(&board.run.sampler),
            Self::Client(index) => Place::Client(shmem::clients().get(index as usize)?),
        })
    }
}

impl Place {
    fn pid(&self) -> &AtomicI32 {
        match self {
            Self::Task(cell) => &cell.pid,
            Self::Client(slot) => &slot.pid,
        }
    }

    /// Whether it is still to be said how the process ended. A task that has not begun is not missed.
    fn is_open(&self) -> bool {
        match self {
            Self::Task(cell) => cell.state() == TaskState::Running,
            Self::Client(slot) => !slot.state().is_over(),
        }
    }

    fn end(&self, result: &Result<(), Fault>) {
        match (self, result) {
            (Self::Task(cell), Ok(())) => cell.set_state(TaskState::Done),
            (Self::Task(cell), Err(fault)) => {
                fault.store(&cell.fault);
                cell.set_state(TaskState::Failed);
            }
            (Self::Client(slot), Ok(())) => slot.set_state(ClientState::Done),
            (Self::Client(slot), Err(fault)) => {
                fault.store(&slot.error);
                slot.fail(errors::pack(&fault.sqlstate) as u32);
            }
        }
    }
}

/// Runs the main of a process of the run with that serial number: nothing is done for a run that is over. `database` is asked before the
/// process connects; without an answer the process ends with that fault.
pub fn run(
    role: Role,
    serial: u32,
    database: impl FnOnce(&Job) -> Result<Database, Fault>,
    work: impl FnOnce(&Job) -> Result<(), Fault>,
) {
    SERIAL.store(serial, Relaxed);
    role.remember();
    let (Some(board), Some(request)) = (shmem::board(), shmem::active_request()) else {
        return;
    };
    let Some(place) = role.place(board).filter(|_| board.run.is_current(serial)) else {
        return;
    };
    let job = Job {
        board,
        request,
        serial,
    };
    place.pid().store(process::my_pid(), Release);
    process::on_exit(leave);
    match database(&job) {
        Ok(database) => process::connect(database),
        Err(fault) => return place.end(&Err(fault)),
    }
    if !board.run.is_current(serial) {
        return;
    }
    process::report_activity(role.name());
    let is_on_own = job.is_on_own();
    if is_on_own {
        // A CONTEXT tells that a function of the user may have chosen the words.
        report::remember_codes();
    }
    // An error that it does not catch itself, such as a cancel before a client begins, is reported in its own words, too.
    let result = xact::catch(|| {
        point!("{} in {}", role.name(), board.run.phase().as_str());
        work(&job)
    });
    let result = result.and_then(|result| result);
    let result = result.map_err(|fault| match is_on_own {
        true => fault.without_values(),
        false => fault,
    });
    if result.is_err() {
        xact::abort();
    }
    if board.run.is_current(serial) {
        place.end(&result);
    }
}

/// The serial number of the run that this process belongs to.
pub fn serial() -> u32 {
    SERIAL.load(Relaxed)
}

/// Called when the process ends, however that comes.
fn leave() {
    let Some(board) = shmem::board() else { return };
    let Some(place) = Role::remembered().place(board) else {
        return;
    };
    if !board.run.is_current(serial()) {
        return;
    }
    let end = || place.end(&Err(errors::process_terminated()));
    place::leave(place.pid(), process::my_pid(), || place.is_open(), end);
    if let Some(request) = shmem::active_request() {
        process::wake(request.coordinator.load(Acquire));
    }
}
