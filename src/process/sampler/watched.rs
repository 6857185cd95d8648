//! Whom the sampler watches: the clients of a run of transactions, the writers of one that syncs a file, or, in a run of scans,
//! whoever scans or reads the table at that moment.

use std::sync::atomic::Ordering::{Acquire, Relaxed};

use pgfsbench_core::{
    board::{ClientSlot, ClientState, Waits},
    spec::Kind,
};

use crate::{
    board::RunArea,
    clock,
    pg::{scan, usage},
};

/// Those of one run.
pub struct Watched<'a> {
    run: &'a RunArea,
    slots: &'a [ClientSlot],
    kind: Kind,
}

impl<'a> Watched<'a> {
    /// Those of a run of that kind, which has these slots.
    pub fn new(run: &'a RunArea, slots: &'a [ClientSlot], kind: Kind) -> Self {
        Self { run, slots, kind }
    }

    /// Who counts transactions and what they cost.
    pub fn counting(&self) -> &'a [ClientSlot] {
        match self.kind {
            Kind::Transactions => self.slots,
            Kind::Fsync | Kind::Scan => &[],
        }
    }

    /// Who is there from the start of the window to its end, so that its processor time can be told. Whoever scans is a process
    /// of its own each time.
    pub fn staying(&self) -> &'a [ClientSlot] {
        match self.kind {
            Kind::Transactions | Kind::Fsync => self.slots,
            Kind::Scan => &[],
        }
    }

    /// Counts what each waits for now, while it is at work.
    pub fn look(&self, waits: &mut Waits) {
        for slot in self.slots.iter().filter(|slot| self.is_at_work(slot)) {
            let place = slot.procno.load(Relaxed).checked_sub(1);
            let wait = place.and_then(|place| usage::wait_of(place, slot.pid.load(Relaxed)));
            if let Some(event) = wait {
                waits.add(event);
            }
        }
        if self.kind == Kind::Scan && self.run.scanning.load(Acquire) == 1 {
            let leader = self.run.worker.pid.load(Acquire);
            scan::each_wait(leader, |event| waits.add(event));
        }
    }

    fn is_at_work(&self, slot: &ClientSlot) -> bool {
        if slot.state() != ClientState::Running {
            return false;
        }
        match self.kind {
            Kind::Transactions => true,
            // In each window only some take part, and those that do wait for one another before they begin.
            Kind::Fsync | Kind::Scan => {
                let window = u64::from(self.run.go.load(Acquire));
                let began = self.run.measure_start_ns.load(Acquire);
                let is_in_it = slot.windows.load(Acquire) != window;
                let has_begun = self.kind == Kind::Scan || began != 0 && clock::now_ns() >= began;
                is_in_it && has_begun
            }
        }
    }
}
