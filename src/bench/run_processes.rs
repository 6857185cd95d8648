//! The processes of a run, as its coordinator sees them: launch them, see whether they live, end them.

use std::{
    sync::atomic::Ordering::{Acquire, Relaxed, Release},
    time::{Duration, Instant},
};

use pgfsbench_core::{
    board::{ClientSlot, ClientState},
    workload::mix::Order,
};

use crate::{
    board::{Board, STOP_ALL, TaskCell, TaskState},
    clock,
    errors::{self, Fault, sqlstate},
    pg::process::{self, Handle, Role, Status},
};

/// How long processes may take to end after they were told, before they are terminated.
const GRACE: Duration = Duration::from_secs(2);

/// How long to wait for a worker slot: one is free again a moment after its process has ended, and parallel queries of others
/// take some for a while.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long a client that has sent the server's statistics what it did before the window sends them no more, counted from the
/// start of the window or from then, whichever is later: in that time the coordinator reads them.
pub const QUIET_NS: u64 = 1_000_000_000;

/// The task that a worker is launched for. Each workload numbers its own, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task(pub i32);

impl Task {
    /// CHECKPOINT, and write out what the kernel holds back: of every workload.
    pub const CHECKPOINT: Self = Self(0);
}

/// Launches a process of the run; None when there is no slot for it.
fn launch(role: Role, label: &str, argument: i32, serial: u32) -> Option<Handle> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let launched = process::launch(role, label, argument, serial);
        if launched.is_some() || Instant::now() > deadline {
            return launched;
        }
        process::wait(Duration::from_millis(20));
    }
}

/// The processes of the active run.
pub struct RunProcesses {
    board: &'static Board,
    serial: u32,
    slots: &'static [ClientSlot],
    clients: Vec<Handle>,
    sampler: Option<Handle>,
    worker: Option<Handle>,
}

fn no_slot(what: &str, have: usize, need: usize) -> Fault {
    Fault::new(
        sqlstate::NO_RESOURCES,
        "could not register background process",
    )
    .detail(format!("{have} of {need} {what} could be started."))
    .hint("You may need to increase \"max_worker_processes\", or to ask for fewer clients.")
}

impl RunProcesses {
    /// No processes yet. The slots are those of the clients to come, which know the run by its serial number.
    pub fn new(board: &'static Board, serial: u32, slots: &'static [ClientSlot]) -> Self {
        Self {
            board,
            serial,
            slots,
            clients: Vec::new(),
            sampler: None,
            worker: None,
        }
    }

    /// Launches the worker for a task.
    pub fn launch_worker(&mut self, task: Task) -> Result<(), Fault> {
        self.board.run.worker.reset();
        self.worker = launch(Role::Worker, "", task.0, self.serial);
        if self.worker.is_none() {
            return Err(no_slot("workers", 0, 1));
        }
        Ok(())
    }

    /// Whether the worker has done its task; an error when it failed or died.
    pub fn worker_is_done(&self) -> Result<bool, Fault> {
        task_is_done("worker", &self.board.run.worker, self.worker.as_ref())
    }

    pub fn launch_sampler(&mut self) -> Result<(), Fault> {
        self.board.run.sampler.reset();
        self.sampler = launch(Role::Sampler, "", self.slots.len() as i32, self.serial);
        match self.sampler {
            Some(_) => Ok(()),
            None => Err(no_slot("samplers", 0, 1)),
        }
    }

    pub fn launch_clients(&mut self) -> Result<(), Fault> {
        for (index, slot) in self.slots.iter().enumerate() {
            slot.reset();
            slot.set_state(ClientState::Starting);
            let label = format!(" {index}");
            match launch(Role::Client, &label, index as i32, self.serial) {
                Some(handle) => self.clients.push(handle),
                None => return Err(no_slot("clients", index, self.slots.len())),
            }
        }
        Ok(())
    }

    /// Whether all clients have come that far; an error when one failed or died, or the sampler did.
    pub fn clients_are(&self, state: ClientState) -> Result<bool, Fault> {
        if let Some(sampler) = &self.sampler {
            task_is_done("sampler", &self.board.run.sampler, Some(sampler))?;
        }
        let mut all = true;
        for (index, (slot, handle)) in self.slots.iter().zip(&self.clients).enumerate() {
            // Asked before the state is read: a client that has ended well says so first.
            let stopped = handle.status() == Status::Stopped;
            match slot.state() {
                ClientState::Failed => return Err(client_fault(index, slot)),
                ClientState::Done => {}
                _ if stopped => {
                    return Err(Fault::new(
                        sqlstate::SYSTEM,
                        format!("client {index} could not start"),
                    )
                    .hint("See the server's log."));
                }
                reached => all &= reached >= state,
            }
        }
        Ok(all)
    }

    /// Whether all clients have ended, and their worker slots are free; they are forgotten then.
    pub fn clients_have_left(&mut self) -> bool {
        let left = |handle: &Handle| handle.status() == Status::Stopped;
        let all = self.clients.iter().all(left);
        if all {
            self.clients.clear();
        }
        all
    }

    /// Carries an order out for the clients that have not ended, and for which `is_on` holds.
    pub fn cut_off(&self, order: Order, is_on: impl Fn(&ClientSlot) -> bool) {
        let running = self.slots.iter().filter(|slot| !slot.state().is_over());
        for slot in running.filter(|slot| is_on(slot)) {
            let pid = slot.pid.load(Acquire);
            match order {
                Order::Cancel => process::cancel_statement(pid),
                Order::Terminate => process::terminate(pid),
            }
        }
    }

    /// Whether all clients have sent the server's statistics what they did before the window.
    pub fn have_reported(&self) -> bool {
        let has = |slot: &ClientSlot| slot.reported_ns.load(Acquire) != 0 || slot.state().is_over();
        self.slots.iter().all(has)
    }

    /// Whether a client may have sent them more by now: it has run its last transaction, or its time of keeping quiet is over.
    pub fn may_have_reported_again(&self) -> bool {
        let now = clock::now_ns();
        self.slots.iter().any(|slot| {
            let reported_ns = slot.reported_ns.load(Acquire);
            let is_over = slot.cpu_ns.load(Acquire) != 0 || slot.state().is_over();
            is_over || reported_ns != 0 && now >= reported_ns + QUIET_NS
        })
    }

    /// Wakes clients and sampler.
    pub fn wake(&self) {
        for slot in self.slots {
            process::wake(slot.pid.load(Acquire));
        }
        process::wake(self.board.run.sampler.pid.load(Acquire));
    }

    /// Whether the sampler is there; true when there is none.
    pub fn sampler_is_there(&self) -> Result<bool, Fault> {
        match &self.sampler {
            None => Ok(true),
            sampler => {
                let cell = &self.board.run.sampler;
                let is_done = task_is_done("sampler", cell, sampler.as_ref())?;
                Ok(is_done || cell.state() == TaskState::Running)
            }
        }
    }

    /// Whether the sampler has made its last record; true when there is none.
    pub fn sampler_is_done(&self) -> Result<bool, Fault> {
        match &self.sampler {
            None => Ok(true),
            sampler => task_is_done("sampler", &self.board.run.sampler, sampler.as_ref()),
        }
    }

    /// Tells everybody to end, waits until they have, and terminates those that take too long. Interrupts do not stop it.
    pub fn disband(&mut self) {
        self.board.run.stop.store(STOP_ALL, Release);
        self.wake();
        let handles = || {
            self.clients
                .iter()
                .chain(&self.sampler)
                .chain(&self.worker)
                .filter(|handle| handle.status() != Status::Stopped)
        };
        // A worker may be in the middle of a long statement that looks at no flag.
        if let Some(worker) = &self.worker {
            worker.terminate();
        }
        let deadline = Instant::now() + GRACE;
        let mut terminated = false;
        while handles().next().is_some() {
            if !terminated && Instant::now() > deadline {
                handles().for_each(Handle::terminate);
                terminated = true;
            }
            // An interrupt is an error here; that this process is to end is seen by the caller later.
            let _ = crate::pg::xact::catch(|| process::wait(Duration::from_millis(100)));
        }
        self.clients.clear();
        self.sampler = None;
        self.worker = None;
        for slot in self.slots {
            slot.pid.store(0, Relaxed);
        }
    }
}

fn task_is_done(name: &str, cell: &TaskCell, handle: Option<&Handle>) -> Result<bool, Fault> {
    // Asked before the state is read, as above.
    let stopped = handle.is_none_or(|handle| handle.status() == Status::Stopped);
    match cell.state() {
        TaskState::Done => Ok(true),
        TaskState::Failed => {
            Err(Fault::from_json(&cell.fault.get()).context(&format!("{name} failed")))
        }
        _ if stopped => Err(Fault::new(
            sqlstate::SYSTEM,
            format!("the {name} of the run could not start"),
        )
        .hint("See the server's log.")),
        _ => Ok(false),
    }
}

fn client_fault(index: usize, slot: &ClientSlot) -> Fault {
    let sqlstate = errors::unpack(slot.sqlstate.load(Acquire) as i32);
    // pg_cancel_backend on a client is no cancellation of the run by its owner.
    let sqlstate = if sqlstate == sqlstate::CANCELED {
        sqlstate::TERMINATED
    } else {
        &sqlstate
    };
    let fault = Fault {
        sqlstate: sqlstate.into(),
        ..Fault::from_json(&slot.error.get())
    };
    fault.context(&format!("client {index} failed"))
}
