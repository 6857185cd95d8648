//! A client of a run: a process that takes part in its workload. It writes its own slot of shared memory and nothing else.

use std::sync::atomic::Ordering::{Acquire, Relaxed};

use super::frame::{self, Job, Role};
use crate::{
    errors::Fault,
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

/// A run of scripts says whose sessions its clients are; the others take the owner's rights later.
fn database(job: &Job) -> Result<Database, Fault> {
    let spec = job.board.specification(job.request)?;
    if !spec.workload.uses_database() {
        return Ok(Database::None);
    }
    let area = &job.board.run;
    match workload::of(&spec)?.has_clients_of_role() {
        true => workload::session_of_role(area),
        false => Ok(Database::Work(area.work_database.load(Acquire))),
    }
}
