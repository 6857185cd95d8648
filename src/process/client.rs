//! A client of a run: a process that takes part in its workload. It writes its own slot of shared memory and nothing else.

use std::sync::atomic::Ordering::{Acquire, Relaxed};

use super::frame::{self, Job, Role};
use crate::{
    pg::{process::Database, shmem, usage},
    workload::{self, ClientContext},
};

/// Main of the background worker; the argument is its slot.
pub fn main(index: i32, serial: u32) {
    let index = index as u32;
    frame::run(Role::Client(index), serial, database, |job| {
        let slot = &shmem::clients()[index as usize];
        slot.procno.store(usage::procno() + 1, Relaxed);
        let spec = job.board.specification(job.request)?;
        let context = ClientContext {
            index,
            serial,
            slot,
            board: job.board,
            request: job.request,
        };
        workload::of(&spec)?.take_part(&context, &spec)
    });
}

fn database(job: &Job) -> Database {
    let spec = job.board.specification(job.request);
    match spec.is_ok_and(|spec| spec.workload.uses_database()) {
        true => Database::Work(job.board.run.work_database.load(Acquire)),
        false => Database::None,
    }
}
