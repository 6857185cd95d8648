//! Windows: the coordinator opens one after the other, and each client takes part in those that are for it. The sampler watches
//! all of them.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use pgfsbench_core::board::{ClientSlot, ClientState};

use super::Run;
use crate::{
    board::{STOP_ALL, STOP_CLIENTS},
    errors::Fault,
    watch::observations,
};

impl Run {
    /// Launches the clients, and waits until all of them are there.
    pub fn have_clients(&mut self) -> Result<(), Fault> {
        self.processes.launch_clients()?;
        self.wait_until(|run| run.processes.clients_are(ClientState::Ready))
    }

    /// Has this many clients do their shares of the loading phase that is on at the same time. Gives the sum of what they have done.
    pub fn have_loaded(&mut self, loaders: u32) -> Result<u64, Fault> {
        self.have_clients()?;
        let slots = &self.client_slots()[..loaders as usize];
        let done = || -> u64 { slots.iter().map(|slot| slot.committed.load(Relaxed)).sum() };
        self.open_window(1);
        self.wait_for_window(1, slots, |run| run.board.run.done.store(done(), Relaxed))?;
        let done = done();
        self.dismiss_clients()?;
        Ok(done)
    }

    /// Launches the sampler if it is wanted, and waits until it is there: later it would miss what it is there to see.
    pub fn have_sampler(&mut self) -> Result<(), Fault> {
        if !self.spec.options.sample {
            return Ok(());
        }
        let server_pids = &self.board.run.server_pids;
        for (place, pid) in server_pids.iter().zip(observations::server_pids()?) {
            place.store(pid, Relaxed);
        }
        self.processes.launch_sampler()?;
        self.wait_until(|run| run.processes.sampler_is_there())
    }

    /// Has the sampler begin, with seconds that are counted from then on. The clients are there.
    pub fn begin_sampling(&self, from_ns: u64) {
        self.board.run.sampled_from_ns.store(from_ns, Release);
        self.processes.wake();
    }

    /// Waits until the sampler, which was told to end, has made its last record, and takes that.
    pub fn wait_for_sampler(&mut self) -> Result<(), Fault> {
        self.wait_until(|run| run.processes.sampler_is_done())?;
        self.take_samples();
        Ok(())
    }

    /// Opens a window; they are numbered from 1.
    pub fn open_window(&self, window: u32) {
        self.board.run.go.store(window, Release);
        self.processes.wake();
    }

    /// Waits until the clients of these slots are through with a window; `look` is called meanwhile.
    pub fn wait_for_window(
        &mut self,
        window: u32,
        slots: &[ClientSlot],
        look: impl Fn(&Self),
    ) -> Result<(), Fault> {
        let through = |slot: &ClientSlot| slot.windows.load(Acquire) == u64::from(window);
        self.wait_until(|run| {
            look(run);
            Ok(run.processes.clients_are(ClientState::Ready)? && slots.iter().all(through))
        })
    }

    /// The clients end, and their worker slots are free again.
    pub fn dismiss_clients(&mut self) -> Result<(), Fault> {
        self.dismiss(STOP_CLIENTS)
    }

    /// The sampler ends after its last record, in a run without clients.
    pub fn dismiss_sampler(&mut self) -> Result<(), Fault> {
        self.board.run.stop.store(STOP_ALL, Release);
        self.processes.wake();
        self.wait_for_sampler()?;
        self.board.run.stop.store(0, Release);
        Ok(())
    }

    /// The sampler ends, too, after its last record.
    pub fn dismiss_all(&mut self) -> Result<(), Fault> {
        self.dismiss(STOP_ALL)
    }

    fn dismiss(&mut self, stop: u32) -> Result<(), Fault> {
        self.board.run.stop.store(stop, Release);
        self.processes.wake();
        self.wait_until(|run| run.processes.clients_are(ClientState::Done))?;
        if stop == STOP_ALL {
            self.wait_for_sampler()?;
        }
        self.wait_until(|run| Ok(run.processes.clients_have_left()))?;
        self.board.run.go.store(0, Release);
        self.board.run.stop.store(0, Release);
        Ok(())
    }
}

/// Nanoseconds from the first start to the last end of the clients of these slots.
pub fn span_ns(slots: &[ClientSlot]) -> u64 {
    let starts = slots.iter().map(|slot| slot.started_ns.load(Acquire));
    let ends = slots.iter().map(|slot| slot.finished_ns.load(Acquire));
    let (from, to) = (starts.min(), ends.max());
    to.unwrap_or(0).saturating_sub(from.unwrap_or(0))
}
