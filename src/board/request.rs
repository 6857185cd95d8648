//! A request: one asked-for run, from the call to its outcome.

use std::sync::atomic::{
    AtomicI32, AtomicI64, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use pgfsbench_core::board::TextCell;

/// The life of a request. It goes down this list, except that a queued one goes back to `Starting`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum RequestState {
    /// Nobody's. Next: the caller claims it, under the lock.
    Free = 0,
    /// The caller writes it.
    Filling = 1,
    /// The caller has written it. Next: the janitor.
    Submitted = 2,
    /// The janitor has launched a coordinator for it. Next: that coordinator.
    Starting = 3,
    /// A coordinator works on it. Next: the coordinator, or the janitor when it died.
    Working = 4,
    /// Its row stands as `queued`. Next: the janitor.
    Queued = 5,
    /// It is over and its outcome is there. Next: the caller, or the janitor when nobody waits.
    Ended = 6,
}

impl RequestState {
    fn from_u32(value: u32) -> Self {
        use RequestState::*;
        [Free, Filling, Submitted, Starting, Working, Queued, Ended]
            .get(value as usize)
            .copied()
            .unwrap_or(Free)
    }
}

/// What a coordinator is launched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Errand {
    /// Carry the run out.
    Run = 0,
    /// Store the row as `queued`, and leave.
    Enqueue = 1,
    /// Mark a queued row as cancelled, and leave.
    Withdraw = 2,
    /// Clear up after a coordinator that died.
    Recover = 3,
}

impl Errand {
    /// The errand of this number.
    pub fn from_u32(value: u32) -> Self {
        match value {
            1 => Self::Enqueue,
            2 => Self::Withdraw,
            3 => Self::Recover,
            _ => Self::Run,
        }
    }
}

/// Why a run is to be cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Cancel {
    /// It is not.
    No = 0,
    /// Somebody called `fsbench.cancel`.
    Asked = 1,
    /// The waiting statement was cancelled or timed out.
    Statement = 2,
    /// The waiting session ended.
    CallerGone = 3,
    /// The waiting session's client went away.
    ConnectionLost = 4,
    /// Whoever started it has not renewed its lease.
    LeaseOver = 5,
}

impl Cancel {
    fn from_u32(value: u32) -> Self {
        use Cancel::*;
        [No, Asked, Statement, CallerGone, ConnectionLost, LeaseOver]
            .get(value as usize)
            .copied()
            .unwrap_or(No)
    }

    /// The reason in words, as an error message's text.
    pub fn reason(self) -> &'static str {
        match self {
            Self::No => "not cancelled",
            Self::Asked => "canceled by fsbench.cancel()",
            Self::Statement => "the waiting statement was canceled or timed out",
            Self::CallerGone => "the waiting session ended",
            Self::ConnectionLost => "the connection of the waiting session was lost",
            Self::LeaseOver => "its lease has run out",
        }
    }
}

/// One asked-for run, from the call to its outcome.
#[repr(C)]
pub struct Request {
    state: AtomicU32,
    /// Its place in the order of requests; also tells one use of this cell from the next. Written by the caller, under the lock.
    pub ticket: AtomicU64,
    /// The database of the caller. Written by the caller.
    pub home: AtomicU32,
    /// The role that asked. Written by the caller.
    pub role: AtomicU32,
    /// The owner of the extension there, with whose rights the workers work. Written by the caller.
    pub owner: AtomicU32,
    /// The extension there, OID of its pg_extension row: one that was dropped and created again has other runs of the same
    /// numbers. Written by the caller.
    pub extension: AtomicU32,
    /// 1 when it is a run of the experiment that is on. Written by the caller.
    pub of_experiment: AtomicU32,
    /// Pid of the backend that waits for the outcome; 0 when nobody does. Written by the caller.
    pub waiter: AtomicI32,
    /// How long the run goes on without anybody renewing its lease, in milliseconds; 0 without a lease. Written by the caller.
    pub lease_ms: AtomicU64,
    /// Monotonic clock of the end of the lease. Written by the caller, and by whoever renews it.
    pub lease_until_ns: AtomicU64,
    /// [`Cancel`]. Written by whoever cancels; the first one counts.
    cancel: AtomicU32,
    /// [`Errand`] of the coordinator to come. Written by the janitor.
    errand: AtomicU32,
    /// Tells the janitor's launches apart, so that a late worker of an earlier one does nothing. Written by the janitor, under
    /// the lock.
    pub launch: AtomicU32,
    /// Pid of the coordinator (or recovery worker), 0 when none. Written by that worker, under the lock.
    pub coordinator: AtomicI32,
    /// The run's id, 0 until its row is committed. Written by the coordinator.
    pub run_id: AtomicI64,
    /// What its row said when it was queued, hashed: what the row says later must be the same. Written by the coordinator that
    /// has stored the row, before `run_id`.
    pub fingerprint: [AtomicU64; 2],
    /// Who cancelled, for the error message. Written by the first who cancels.
    pub cancelled_by: TextCell<64>,
}

impl Request {
    /// Where the request stands.
    pub fn state(&self) -> RequestState {
        RequestState::from_u32(self.state.load(Acquire))
    }

    /// Whether it is somebody's, written down, and not over.
    pub fn is_open(&self) -> bool {
        use RequestState::*;
        !matches!(self.state(), Free | Filling | Ended)
    }

    /// Whether it stands in the queue, or is just about to.
    pub fn waits_for_its_turn(&self) -> bool {
        match self.state() {
            RequestState::Queued | RequestState::Submitted => true,
            RequestState::Starting | RequestState::Working => {
                matches!(self.errand(), Errand::Enqueue | Errand::Withdraw)
            }
            RequestState::Free | RequestState::Filling | RequestState::Ended => false,
        }
    }

    /// Sets the state; only by the one whose turn it is.
    pub fn set_state(&self, state: RequestState) {
        self.state.store(state as u32, Release);
    }

    /// Moves from one state to the next, unless somebody else did.
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

    /// What the next coordinator is for.
    pub fn errand(&self) -> Errand {
        Errand::from_u32(self.errand.load(Acquire))
    }

    /// Says what the next coordinator is for. By the janitor.
    pub fn set_errand(&self, errand: Errand) {
        self.errand.store(errand as u32, Release);
    }

    /// Whether and why the run is to be cancelled.
    pub fn cancel(&self) -> Cancel {
        Cancel::from_u32(self.cancel.load(Acquire))
    }

    /// Asks for the run to be cancelled; false when somebody had already.
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

    /// Lets the lease, if there is one, last for its full length from now on.
    pub fn renew_lease(&self) {
        let ms = self.lease_ms.load(Acquire);
        if ms != 0 {
            self.lease_until_ns
                .store(crate::clock::now_ns() + ms * 1_000_000, Release);
        }
    }

    /// Clears everything but state, ticket and launch. By the caller that has just claimed it.
    pub fn reset(&self) {
        for word in [
            &self.home,
            &self.role,
            &self.owner,
            &self.extension,
            &self.of_experiment,
            &self.cancel,
            &self.errand,
        ] {
            word.store(0, Relaxed);
        }
        self.waiter.store(0, Relaxed);
        self.lease_ms.store(0, Relaxed);
        self.lease_until_ns.store(0, Relaxed);
        self.coordinator.store(0, Relaxed);
        self.run_id.store(0, Relaxed);
        self.cancelled_by.clear();
    }
}
