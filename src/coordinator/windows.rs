//! Windows: the coordinator opens one after the other, and each client takes part in those that are for it.

use std::sync::atomic::Ordering::{Acquire, Release};

use pgfsbench_core::board::{ClientSlot, ClientState};

use super::Run;
use crate::errors::Fault;

impl Run {
    /// Launches the clients, and the sampler if it is wanted, and waits until all of them are there: one that came later would miss
    /// what it is there to see.
    pub(super) fn have_clients(&mut self, with_sampler: bool) -> Result<(), Fault> {
        self.crew.launch_clients(with_sampler)?;
        self.wait_until(|run| {
            Ok(run.crew.clients_are(ClientState::Ready)? && run.crew.sampler_is_there()?)
        })
    }

    /// Opens a window; they are numbered from 1.
    pub(super) fn open_window(&self, window: u32) {
        self.board.run.go.store(window, Release);
        self.crew.wake();
    }

    /// Waits until the clients of these slots are through with a window; `look` is called meanwhile.
    pub(super) fn wait_for_window(
        &mut self,
        window: u32,
        slots: &[ClientSlot],
        look: impl Fn(&Self),
    ) -> Result<(), Fault> {
        let through = |slot: &ClientSlot| slot.windows.load(Acquire) == u64::from(window);
        self.wait_until(|run| {
            look(run);
            Ok(run.crew.clients_are(ClientState::Ready)? && slots.iter().all(through))
        })
    }

    /// The clients end, and their worker slots are free again.
    pub(super) fn dismiss_clients(&mut self) -> Result<(), Fault> {
        self.board.run.stop.store(1, Release);
        self.crew.wake();
        self.wait_until(|run| run.crew.clients_are(ClientState::Done))?;
        self.wait_until(|run| Ok(run.crew.clients_have_left()))?;
        self.board.run.go.store(0, Release);
        self.board.run.stop.store(0, Release);
        Ok(())
    }
}

/// Nanoseconds from the first start to the last end of the clients of these slots.
pub(super) fn span_ns(slots: &[ClientSlot]) -> u64 {
    let starts = slots.iter().map(|slot| slot.started_ns.load(Acquire));
    let ends = slots.iter().map(|slot| slot.finished_ns.load(Acquire));
    let (from, to) = (starts.min(), ends.max());
    to.unwrap_or(0).saturating_sub(from.unwrap_or(0))
}
