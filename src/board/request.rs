//! A request: one asked-for run, from the call to its outcome.

use std::sync::atomic::{
    AtomicI32, AtomicI64, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use pgfsbench_core::{
    board::TextCell,
    run::request::{Cancel, CoordinatorTask, Lease, RequestState, waits_for_its_turn},
};

/// One asked-for run, from the call to its outcome.
#[repr(C)]
pub struct Request {
    state: AtomicU32,
    /// Place in the order of requests; also tells one use of this cell from the next. Written by the caller, under the lock.
    pub ticket: AtomicU64,
    /// The database of the caller. Written by the caller.
    pub extension_database: AtomicU32,
    /// The role that asked. Written by the caller.
    pub role: AtomicU32,
    /// The owner of the extension there, with whose rights the workers work. Written by the caller.
    pub owner: AtomicU32,
    /// The segment with the document of the run, 0 without; it goes with the statement of the caller. Written by the caller.
    pub document: AtomicU32,
    /// The extension there, OID of its pg_extension row: one that was dropped and created again has other runs of the same
    /// numbers. Written by the caller.
    pub extension: AtomicU32,
    /// The experiment of its database that it is a run of; 0 for none. Written by the caller.
    pub of_experiment: AtomicI64,
    /// Pid of the backend that waits for the outcome; 0 if none does. Written by the caller.
    pub waiter: AtomicI32,
    /// How long the run goes on without anybody renewing its lease, in milliseconds; 0 without a lease. Written by the caller.
    pub lease_ms: AtomicU64,
    /// Monotonic clock of the end of the lease. Written by the caller, and by sessions that renew it.
    pub lease_until_ns: AtomicU64,
    /// [`Cancel`]. Written by the process that cancels; the first one counts.
    cancel: AtomicU32,
    /// [`CoordinatorTask`] of the coordinator to come. Written by the janitor.
    task: AtomicU32,
    /// Tells the janitor's launches apart, so that a late worker of an earlier one does nothing. Written by the janitor, under
    /// the lock.
    pub launch: AtomicU32,
    /// Pid of the coordinator (or recovery worker), 0 when none. Written by that worker, under the lock.
    pub coordinator: AtomicI32,
    /// The run's id, 0 until its row is committed. Written by the coordinator.
    pub run_id: AtomicI64,
    /// Hash of its row when it was queued; the row must still be the same when its turn comes. Written by the coordinator that
    /// has stored the row, before `run_id`.
    pub fingerprint: [AtomicU64; 2],
    /// Name of the role that cancelled, for the error message. Written by the first who cancels.
    pub cancelled_by: TextCell<64>,
}

impl Request {
    /// State of the request.
    pub fn state(&self) -> RequestState {
        RequestState::from_u32(self.state.load(Acquire))
    }

    /// See [`RequestState::is_open`].
    pub fn is_open(&self) -> bool {
        self.state().is_open()
    }

    /// Whether it stands in the queue, or is just about to.
    pub fn waits_for_its_turn(&self) -> bool {
        waits_for_its_turn(self.state(), self.task())
    }

    /// Sets the state; only by the one whose turn it is.
    pub fn set_state(&self, state: RequestState) {
        self.state.store(state as u32, Release);
    }

    /// Moves from one state to the next, unless another process did.
    pub fn advance(&self, from: RequestState, to: RequestState) -> bool {
        self.state
            .compare_exchange(
                from as u32,
                to as u32,
                std::sync::atomic::Ordering::AcqRel,
                Acquire,
            )
            .is_ok()
    }

    /// The errand of the next coordinator.
    pub fn task(&self) -> CoordinatorTask {
        CoordinatorTask::from_u32(self.task.load(Acquire))
    }

    /// Says what the next coordinator is for. By the janitor.
    pub fn set_task(&self, task: CoordinatorTask) {
        self.task.store(task as u32, Release);
    }

    /// Whether and why the run is to be cancelled.
    pub fn cancel(&self) -> Cancel {
        Cancel::from_u32(self.cancel.load(Acquire))
    }

    /// Asks for the run to be cancelled; false when it was cancelled already.
    pub fn set_cancel(&self, why: Cancel, by: &str) -> bool {
        let first = self
            .cancel
            .compare_exchange(0, why as u32, std::sync::atomic::Ordering::AcqRel, Acquire)
            .is_ok();
        if first {
            self.cancelled_by.set(by);
        }
        first
    }

    /// Present state of the lease.
    pub fn lease(&self) -> Lease {
        Lease {
            ms: self.lease_ms.load(Acquire),
            until_ns: self.lease_until_ns.load(Acquire),
        }
    }

    /// Lets the lease, if there is one, last for its full length from now on.
    pub fn renew_lease(&self) {
        let ms = self.lease_ms.load(Acquire);
        if ms != 0 {
            let until_ns = Lease::renewed_until(ms, crate::clock::now_ns());
            self.lease_until_ns.store(until_ns, Release);
        }
    }

    /// Clears everything but state, ticket and launch. By the caller that has just claimed it.
    pub fn reset(&self) {
        for word in [
            &self.extension_database,
            &self.role,
            &self.owner,
            &self.document,
            &self.extension,
            &self.cancel,
            &self.task,
        ] {
            word.store(0, Relaxed);
        }
        self.of_experiment.store(0, Relaxed);
        self.waiter.store(0, Relaxed);
        self.lease_ms.store(0, Relaxed);
        self.lease_until_ns.store(0, Relaxed);
        self.coordinator.store(0, Relaxed);
        self.run_id.store(0, Relaxed);
        self.cancelled_by.clear();
    }
}
