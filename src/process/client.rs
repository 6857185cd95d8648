//! A client of a run: a process that takes part in its workload. It writes its own slot of shared memory and nothing else.

use std::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};

use pgfsbench_core::board::{ClientSlot, ClientState};

use crate::{
    errors::{self, Fault},
    pg::{
        process::{self, Database},
        shmem, usage,
    },
    workload::{self, Post},
};

/// The slot of this process. Written once, by it.
static INDEX: AtomicU32 = AtomicU32::new(0);

/// The serial number of the run that this process belongs to. Written once, by it.
static SERIAL: AtomicU32 = AtomicU32::new(0);

/// Main of the background worker; the argument is its slot.
pub fn main(index: i32, serial: u32) {
    INDEX.store(index as u32, Relaxed);
    SERIAL.store(serial, Relaxed);
    let Some(board) = shmem::board() else { return };
    let Some(request) = shmem::active_request().filter(|_| board.run.is_current(serial)) else {
        return;
    };
    let slot = &shmem::clients()[index as usize];
    slot.pid.store(process::my_pid(), Release);
    process::on_exit(leave);
    let spec = board.specification(request);
    let uses_database = spec
        .as_ref()
        .is_ok_and(|spec| spec.workload.uses_database());
    process::connect(match uses_database {
        true => Database::Work(board.run.work_database.load(Acquire)),
        false => Database::None,
    });
    if !board.run.is_current(serial) {
        return;
    }
    process::report_activity("pgfsbench client");
    slot.procno.store(usage::procno() + 1, Relaxed);
    let post = Post {
        index: index as u32,
        serial,
        slot,
        board,
        request,
    };
    let result = spec.and_then(|spec| workload::of(&spec)?.take_part(&post, &spec));
    if !board.run.is_current(serial) {
        return;
    }
    match result {
        Ok(()) => slot.set_state(ClientState::Done),
        Err(fault) => fail(slot, &fault),
    }
}

fn fail(slot: &ClientSlot, fault: &Fault) {
    slot.fail(errors::pack(&fault.sqlstate) as u32, &fault.message);
}

/// Called when the process ends, however that comes.
fn leave() {
    let (Some(board), Some(slot)) = (
        shmem::board(),
        shmem::clients().get(INDEX.load(Relaxed) as usize),
    ) else {
        return;
    };
    if !board.run.is_current(SERIAL.load(Relaxed)) {
        return;
    }
    if !slot.state().is_over() {
        fail(slot, &errors::process_terminated());
    }
    slot.pid.store(0, Release);
    if let Some(request) = shmem::active_request() {
        process::wake(request.coordinator.load(Acquire));
    }
}
