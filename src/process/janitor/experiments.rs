//! The janitor's part of experiments: it only knows which databases need a conductor, and launches it there.

use std::{
    sync::atomic::Ordering::{Acquire, Release},
    time::Duration,
};

use pgfsbench_core::board::ExperimentSlot;

use crate::{
    board::{Board, Request},
    clock,
    pg::{
        catalog,
        process::{self, Handle, Role, Status},
        shmem,
    },
};

/// When no worker slot is free, it is tried again after so long.
const NO_SLOT: Duration = Duration::from_secs(2);
/// After this many failures an experiment does not keep others waiting any more.
const PATIENCE: u32 = 3;

/// Whether a run may be begun: within a block of an experiment only its own may.
pub fn may_begin(board: &Board, request: &Request) -> bool {
    !board.experiment_slots.block_is_running() || request.of_experiment.load(Acquire) != 0
}

/// A run is begun: when it is the first one of a block, the block is.
pub fn begin(board: &Board, request: &Request) {
    if request.of_experiment.load(Acquire) != 0 {
        board.experiment_slots.in_block.store(1, Release);
    }
}

/// The conductor that was launched last, of which there is one at a time.
#[derive(Default)]
pub struct Conductor {
    launched: Option<(usize, Handle)>,
}

impl Conductor {
    /// Looks whether one is over, and whether one is wanted.
    pub fn see_to(&mut self, board: &Board) {
        if let Some((place, handle)) = &self.launched {
            if handle.status() != Status::Stopped {
                return;
            }
            let slot = &board.experiment_slots.places[*place];
            if slot.is_done.load(Acquire) == 0 {
                died(board, *place);
            } else if slot.is_idle.load(Acquire) == 1 {
                board.experiment_slots.give_back(*place);
            }
            self.launched = None;
        }
        let now = clock::now_ns();
        let due = |slot: &ExperimentSlot| is_due(board, slot, now);
        let Some(place) = board.experiment_slots.places.iter().position(due) else {
            return;
        };
        let slot = &board.experiment_slots.places[place];
        slot.is_done.store(0, Release);
        slot.is_idle.store(0, Release);
        match process::launch(Role::Conductor, "", place as i32, 0) {
            Some(handle) => self.launched = Some((place, handle)),
            None => {
                let later = now + NO_SLOT.as_nanos() as u64;
                slot.not_before_ns.store(later, Release);
            }
        }
    }
}

/// Handles a conductor that has ended too early: its database may be gone, or it was terminated.
fn died(board: &Board, place: usize) {
    let slot = &board.experiment_slots.places[place];
    let database = slot.database.load(Acquire);
    let is_gone = catalog::databases().is_ok_and(|all| all.iter().all(|d| d.oid != database));
    if is_gone {
        board.experiment_slots.let_go(place);
        slot.free();
        return;
    }
    slot.pause_after_failure(clock::now_ns());
    if slot.failures.load(Acquire) >= PATIENCE {
        board.experiment_slots.in_block.store(0, Release);
    }
    shmem::announce();
}

fn is_due(board: &Board, slot: &ExperimentSlot, now: u64) -> bool {
    let database = slot.database.load(Acquire);
    if database == 0 || now < slot.not_before_ns.load(Acquire) {
        return false;
    }
    let look_at = slot.look_at_ns.load(Acquire);
    let run = slot.waits_for.load(Acquire);
    slot.is_changed()
        || slot.failures.load(Acquire) > 0
        || (look_at != 0 && now >= look_at)
        || (run != 0 && is_over(board, database, run))
}

/// Whether no process works on a run any more, and nothing of it is left to be cleared up.
fn is_over(board: &Board, database: u32, run_id: i64) -> bool {
    let is_it = |request: &&Request| {
        request.is_open()
            && request.run_id.load(Acquire) == run_id
            && request.extension_database.load(Acquire) == database
    };
    !board.requests.iter().any(|request| is_it(&request))
}
