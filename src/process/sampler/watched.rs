//! The processes that the sampler watches: the clients that are at work at that moment, and processes that scan a table.

use std::sync::atomic::Ordering::{Acquire, Relaxed};

use pgfsbench_core::{
    board::{ClientSlot, ClientState, Waits},
    spec::ClientsDo,
};

use crate::{
    board::RunArea,
    clock,
    pg::{scan, usage},
};

/// The watched processes of one run.
pub struct Watched<'a> {
    run: &'a RunArea,
    slots: &'a [ClientSlot],
    clients_do: ClientsDo,
}

impl<'a> Watched<'a> {
    /// The watched processes of a run with these slots, whose clients do this work.
    pub fn new(run: &'a RunArea, slots: &'a [ClientSlot], clients_do: ClientsDo) -> Self {
        Self {
            run,
            slots,
            clients_do,
        }
    }

    /// Clients that count transactions and their cost.
    pub fn counting(&self) -> &'a [ClientSlot] {
        match self.clients_do {
            ClientsDo::Transactions => self.slots,
            ClientsDo::Parts | ClientsDo::Visits => &[],
        }
    }

    /// Clients that are there from the start of the window to its end, so that their processor time is known. A visitor is a
    /// process of its own each time.
    pub fn staying(&self) -> &'a [ClientSlot] {
        match self.clients_do {
            ClientsDo::Transactions | ClientsDo::Parts => self.slots,
            ClientsDo::Visits => &[],
        }
    }

    /// Counts what each waits for now, while it is at work.
    pub fn sample(&self, waits: &mut Waits) {
        for slot in self.slots.iter().filter(|slot| self.is_at_work(slot)) {
            let place = slot.procno.load(Relaxed).checked_sub(1);
            let wait = place.and_then(|place| usage::wait_of(place, slot.pid.load(Relaxed)));
            if let Some(event) = wait {
                waits.add(event);
            }
        }
        if self.run.worker_is_measured.load(Acquire) == 1 {
            let leader = self.run.worker.pid.load(Acquire);
            scan::each_wait(leader, |event| waits.add(event));
        }
    }

    fn is_at_work(&self, slot: &ClientSlot) -> bool {
        if slot.state() != ClientState::Running {
            return false;
        }
        match self.clients_do {
            ClientsDo::Transactions => true,
            // In each window only some take part, and those that do wait for one another before they begin.
            ClientsDo::Parts | ClientsDo::Visits => {
                let window = u64::from(self.run.go.load(Acquire));
                let began = self.run.measure_start_ns.load(Acquire);
                let is_in_it = slot.windows.load(Acquire) != window;
                let has_begun =
                    self.clients_do == ClientsDo::Visits || began != 0 && clock::now_ns() >= began;
                is_in_it && has_begun
            }
        }
    }
}
