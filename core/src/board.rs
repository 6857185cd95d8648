//! The shared memory of a run: one slot per client, the sampler's ring of per-second records, and the checkpointer's ring of its
//! checkpoints.
//!
//! All of it is plain atomics, and all bytes zero is the valid empty state, so that each type can be viewed over zeroed
//! shared memory. Nothing here is locked: each field says who writes it, and has one writer unless it says otherwise.
//! A slot belongs to one client for one run; the coordinator resets it before it starts the client and reads it to the end.

mod checkpoint_ring;
mod experiment_slots;
mod figures;
pub mod place;
#[cfg(debug_assertions)]
mod points;
mod ring;
mod text;
mod truncate;
mod waits;
mod work;

use std::sync::atomic::{
    AtomicI32, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use crate::hist::AtomicHistogram;

pub use checkpoint_ring::{CheckpointRing, EndedCheckpoints};
pub use experiment_slots::{EXPERIMENT_SLOTS, ExperimentSlot, ExperimentSlots};
pub use figures::{Figure, Figures, Kind, OF_WORK};
#[cfg(debug_assertions)]
pub use points::{HeldPoint, Points};
pub use ring::{Sample, SampleCell, SampleRing, second_after};
pub use text::TextCell;
pub use truncate::truncate_for_json;
pub use waits::Waits;
pub use work::{AtomicWork, Counts, Work};

/// The states of a client. They go one way: free, starting, ready, running, and then done or failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum ClientState {
    /// The slot is free.
    Free = 0,
    /// The coordinator has registered the worker, or it connects and prepares its statements.
    Starting = 1,
    /// The client waits for the start.
    Ready = 2,
    /// The client runs transactions.
    Running = 3,
    /// The client has finished as it should; its figures are complete.
    Done = 4,
    /// The client has given up; the reason is in the slot's `error` and `sqlstate`.
    Failed = 5,
}

impl ClientState {
    /// The state of this number; a number that is none is [`ClientState::Failed`].
    pub fn from_u32(n: u32) -> Self {
        match n {
            0 => Self::Free,
            1 => Self::Starting,
            2 => Self::Ready,
            3 => Self::Running,
            4 => Self::Done,
            _ => Self::Failed,
        }
    }

    /// True if the client will not run any more.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Failed)
    }
}

/// One client's slot, aligned so that two clients never write the same pair of cache lines.
///
/// In the measured window: every transaction that was due = `measured` + `skipped` + `failed`; `late` and `behind` are parts of
/// `measured`. Times are nanoseconds of the one monotonic clock that all processes of the server share.
#[repr(C, align(128))]
pub struct ClientSlot {
    /// Process id, 0 when there is none. Written by the client: first when it starts, last when it exits.
    pub pid: AtomicI32,
    /// A [`ClientState`]. Written by the coordinator (free, starting), then by the client.
    pub state: AtomicU32,
    /// Transactions committed, warm-up included. Written by the client.
    pub committed: AtomicU64,
    /// Transactions committed in the measured window. Written by the client.
    pub measured: AtomicU64,
    /// Transactions not started because they were already later than the latency limit, in the measured window. Written
    /// by the client.
    pub skipped: AtomicU64,
    /// Transactions that took longer than the latency limit, in the measured window. Written by the client.
    pub late: AtomicU64,
    /// Transactions that failed, in the measured window. Written by the client.
    pub failed: AtomicU64,
    /// Transactions that were started more than 10 s after they were due (`is_behind` of pacing), in the measured window. Written by
    /// the client.
    pub behind: AtomicU64,
    /// When the client had sent the server's statistics what it did before the window, or the start of the window when that is
    /// later; 0 before. Written by the client.
    pub reported_ns: AtomicU64,
    /// Start of the first measured transaction, 0 before. Written by the client.
    pub started_ns: AtomicU64,
    /// End of the last measured transaction, 0 before the client is done. Written by the client.
    pub finished_ns: AtomicU64,
    /// End of the latest transaction. Written by the client.
    pub last_end_ns: AtomicU64,
    /// The last window that the client has taken part in, of a run that has several; see `go` of the run. Written by the client.
    pub windows: AtomicU64,
    /// The last window that the client is ready for, in such a run. Written by the client.
    pub ready_for: AtomicU64,
    /// Longest latency in nanoseconds since the sampler last looked. TWO writers: the client raises it, the sampler takes
    /// it and leaves 0; see [`ClientSlot::raise_second_max`] and [`ClientSlot::take_second_max`].
    pub second_max_ns: AtomicU64,
    /// Index in the server's array of processes, plus 1; 0 before it has one. Written by the client, before the state `Ready`.
    pub procno: AtomicU32,
    /// Bits of [`Counts`]: what of `work` it counts. Written by the client, before the state `Ready`.
    pub counts: AtomicU32,
    /// Processor time of the process when it had run its last transaction, or made its last sync; 0 before. Written by the
    /// client, before the state `Done`.
    pub cpu_ns: AtomicU64,
    /// WAL and blocks of transactions in the measured window. Written by the client.
    pub work: AtomicWork,
    /// SQLSTATE of the error as PostgreSQL packs it, 0 for none. Written by the client, before the state `Failed`.
    pub sqlstate: AtomicU32,
    /// The error, as JSON. Written by the client, before the state `Failed`.
    pub error: TextCell<2048>,
    /// Latency of measured transactions; under a rate from the time when each was due. Written by the client.
    pub latency: AtomicHistogram,
    /// Latency of measured transactions from when each really started; under a rate only. Written by the client.
    pub service: AtomicHistogram,
    /// Duration of the COMMIT of measured transactions. Written by the client.
    pub commit: AtomicHistogram,
}

impl ClientSlot {
    /// A free, empty slot; the same as all bytes zero.
    pub const fn new() -> Self {
        Self {
            pid: AtomicI32::new(0),
            state: AtomicU32::new(ClientState::Free as u32),
            committed: AtomicU64::new(0),
            measured: AtomicU64::new(0),
            skipped: AtomicU64::new(0),
            late: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            behind: AtomicU64::new(0),
            reported_ns: AtomicU64::new(0),
            started_ns: AtomicU64::new(0),
            finished_ns: AtomicU64::new(0),
            last_end_ns: AtomicU64::new(0),
            windows: AtomicU64::new(0),
            ready_for: AtomicU64::new(0),
            second_max_ns: AtomicU64::new(0),
            procno: AtomicU32::new(0),
            counts: AtomicU32::new(0),
            cpu_ns: AtomicU64::new(0),
            work: AtomicWork::new(),
            sqlstate: AtomicU32::new(0),
            error: TextCell::new(),
            latency: AtomicHistogram::new(),
            service: AtomicHistogram::new(),
            commit: AtomicHistogram::new(),
        }
    }

    /// Makes the slot free and empty. By the coordinator, while no client owns the slot.
    pub fn reset(&self) {
        let Self {
            pid,
            state,
            procno,
            counts,
            work,
            sqlstate,
            error,
            latency,
            service,
            commit,
            ..
        } = self;
        pid.store(0, Relaxed);
        for word in [procno, counts, sqlstate] {
            word.store(0, Relaxed);
        }
        work.reset();
        for counter in self.counters() {
            counter.store(0, Relaxed);
        }
        error.clear();
        for histogram in [latency, service, commit] {
            histogram.reset();
        }
        state.store(ClientState::Free as u32, Release);
    }

    /// The client's state. A reader of the state sees everything written before it was set.
    pub fn state(&self) -> ClientState {
        ClientState::from_u32(self.state.load(Acquire))
    }

    /// Sets the state, after everything that belongs to it has been written.
    pub fn set_state(&self, state: ClientState) {
        self.state.store(state as u32, Release);
    }

    /// Fails the slot, after the error was written. For its client.
    pub fn fail(&self, sqlstate: u32) {
        self.sqlstate.store(sqlstate, Relaxed);
        self.set_state(ClientState::Failed);
    }

    /// Takes a latency into the current second's maximum. For the client. Mostly a plain load.
    #[inline]
    pub fn raise_second_max(&self, ns: u64) {
        if ns > self.second_max_ns.load(Relaxed) {
            self.second_max_ns.fetch_max(ns, Relaxed);
        }
    }

    /// The longest latency in nanoseconds since the last call, 0 for none. For the sampler.
    pub fn take_second_max(&self) -> u64 {
        self.second_max_ns.swap(0, Relaxed)
    }

    /// The counters of work that all of these clients have; none when there are no clients.
    pub fn all_count(slots: &[Self]) -> Counts {
        let of = |slot: &Self| Counts::from_bits(slot.counts.load(Acquire));
        let all = slots.iter().map(of).reduce(Counts::and);
        all.unwrap_or_default()
    }

    fn counters(&self) -> [&AtomicU64; 14] {
        let Self {
            committed,
            measured,
            skipped,
            late,
            failed,
            behind,
            started_ns,
            finished_ns,
            last_end_ns,
            cpu_ns,
            windows,
            ready_for,
            ..
        } = self;
        [
            committed,
            measured,
            skipped,
            late,
            failed,
            behind,
            started_ns,
            finished_ns,
            last_end_ns,
            cpu_ns,
            windows,
            ready_for,
            &self.reported_ns,
            &self.second_max_ns,
        ]
    }
}

impl Default for ClientSlot {
    fn default() -> Self {
        Self::new()
    }
}

/// Adds to a counter of which the caller is the only writer: a load and a store, no locked instruction.
#[inline]
pub fn add(counter: &AtomicU64, n: u64) {
    counter.store(counter.load(Relaxed).wrapping_add(n), Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hist::Histogram;

    #[test]
    fn states_are_their_numbers() {
        use ClientState::*;
        for state in [Free, Starting, Ready, Running, Done, Failed] {
            assert_eq!(ClientState::from_u32(state as u32), state);
        }
        assert_eq!(ClientState::from_u32(99), Failed);
        assert!(Done.is_over() && Failed.is_over() && !Running.is_over());
    }

    #[test]
    fn a_slot_fits_its_place() {
        assert_eq!(align_of::<ClientSlot>(), 128);
        assert_eq!(size_of::<ClientSlot>() % 128, 0);
        assert!(
            size_of::<ClientSlot>() < 32 * 1024,
            "{}",
            size_of::<ClientSlot>()
        );
    }

    #[test]
    fn reset_empties_everything() {
        let slot = ClientSlot::new();
        slot.pid.store(7, Relaxed);
        slot.counters().into_iter().for_each(|c| add(c, 3));
        slot.procno.store(4, Relaxed);
        slot.counts.store(Counts::ALL.bits(), Relaxed);
        slot.work.add(&Work {
            wal_bytes: 5,
            ..Work::default()
        });
        for h in [&slot.latency, &slot.service, &slot.commit] {
            h.record(5);
        }
        slot.error.set("deadlock detected");
        slot.fail(42);
        assert_eq!(
            (slot.state(), slot.error.get().as_str()),
            (ClientState::Failed, "deadlock detected")
        );
        slot.reset();
        assert_eq!(
            (slot.state(), slot.error.get().as_str()),
            (ClientState::Free, "")
        );
        assert_eq!(
            (slot.pid.load(Relaxed), slot.sqlstate.load(Relaxed)),
            (0, 0)
        );
        assert_eq!(
            (
                slot.procno.load(Relaxed),
                slot.counts.load(Relaxed),
                slot.work.get()
            ),
            (0, 0, Work::default())
        );
        assert!(slot.counters().iter().all(|c| c.load(Relaxed) == 0));
        let mut all = Histogram::new();
        for h in [&slot.latency, &slot.service, &slot.commit] {
            h.read_into(&mut all);
        }
        assert_eq!(all, Histogram::new());
    }

    #[test]
    fn what_one_client_does_not_count_is_not_known() {
        let slots = [ClientSlot::new(), ClientSlot::new()];
        assert_eq!(ClientSlot::all_count(&slots[..0]), Counts::default());
        slots[0].counts.store(Counts::ALL.bits(), Relaxed);
        assert_eq!(ClientSlot::all_count(&slots[..1]), Counts::ALL);
        slots[1].counts.store(Counts::WORK.bits(), Relaxed);
        assert_eq!(ClientSlot::all_count(&slots), Counts::WORK);
    }

    #[test]
    fn the_second_max_is_taken_once() {
        let slot = ClientSlot::new();
        [5, 9, 3]
            .into_iter()
            .for_each(|ns| slot.raise_second_max(ns));
        assert_eq!((slot.take_second_max(), slot.take_second_max()), (9, 0));
        slot.raise_second_max(2);
        assert_eq!(slot.take_second_max(), 2);
    }
}
