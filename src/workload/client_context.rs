//! A client's place in a run: what it works with, and how it and the coordinator tell each other that something is to be done, or has been.

use std::{
    sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release},
    time::Duration,
};

use pgfsbench_core::board::{ClientSlot, ClientState, add};

use crate::{
    board::{Board, Request},
    errors::{Fault, sqlstate},
    pg::{process, utility, xact},
    workload::Progress,
};

/// Longest wait until a client looks for the next window again.
pub const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

/// The context of a client.
pub struct ClientContext<'a> {
    /// Number, from 0.
    pub index: u32,
    /// Serial number of the run that it belongs to.
    pub serial: u32,
    /// The only place where it writes.
    pub slot: &'a ClientSlot,
    /// Shared memory.
    pub board: &'a Board,
    /// The request of the run.
    pub request: &'a Request,
}

impl ClientContext<'_> {
    /// Whether there is no more to be done.
    pub fn stopped(&self) -> bool {
        self.board.run.stopped(self.serial)
    }

    /// The coordinator has a look.
    pub fn wake_coordinator(&self) {
        process::wake(self.request.coordinator.load(Acquire));
    }

    /// Tells that the client waits for its start.
    pub fn ready(&self) {
        self.slot.set_state(ClientState::Ready);
        self.wake_coordinator();
    }

    /// Is ready, and takes part in each window that the coordinator opens, until it has to end. Windows are numbered from 1.
    pub fn each_window(
        &self,
        take_part: impl FnMut(u32) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let wait = || {
            process::wait(BETWEEN_LOOKS);
            Ok(())
        };
        self.each_window_by(wait, take_part)
    }

    /// Loads this client's share in the one window of the load, if it is among this many loaders. `load` is called in a transaction, with the owner's
    /// rights; what it calls with the rows so far fails when the run is cancelled.
    pub fn load_share(
        &self,
        loaders: u32,
        load: impl Fn(Progress) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        process::become_undisturbed_owner(self.request.owner.load(Acquire))?;
        let mut progress = |rows| {
            self.slot.committed.store(rows, Relaxed);
            match self.stopped() {
                true => Err(Fault::new(sqlstate::CANCELED, "the run was canceled")),
                false => Ok(()),
            }
        };
        let load = |_| match self.index < loaders {
            true => xact::transaction(|| load(&mut progress)),
            false => Ok(()),
        };
        xact::catch(|| self.each_window(load)).and_then(|result| result)
    }

    /// Runs statements that may stand in no transaction, if it is among this many clients that do so at the same time: each takes the next statement.
    pub fn run_shares(&self, clients: u32, statements: &[&str]) -> Result<(), Fault> {
        process::become_undisturbed_owner(self.request.owner.load(Acquire))?;
        self.each_window(|_| {
            if self.index >= clients {
                return Ok(());
            }
            let next = || self.board.run.next_share.fetch_add(1, AcqRel) as usize;
            while let Some(statement) = statements.get(next()) {
                if self.stopped() {
                    return Err(Fault::new(sqlstate::CANCELED, "the run was canceled"));
                }
                utility::run(&[statement])?;
                add(&self.slot.committed, 1);
            }
            Ok(())
        })
    }

    /// Takes part in each window as [`Self::each_window`] does; `wait` waits for the next window.
    pub fn each_window_by(
        &self,
        wait: impl Fn() -> Result<(), Fault>,
        mut take_part: impl FnMut(u32) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.ready();
        let mut over = 0;
        while !self.stopped() {
            let window = self.board.run.go.load(Acquire);
            if window == 0 || window == over {
                wait()?;
                continue;
            }
            self.slot.set_state(ClientState::Running);
            take_part(window)?;
            over = window;
            self.slot.windows.store(u64::from(window), Release);
            self.wake_coordinator();
        }
        Ok(())
    }
}
