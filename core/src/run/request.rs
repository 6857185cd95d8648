//! A request: one run, from the call to its outcome. Its states, whose turn it is, and when it is unwanted.

/// The life of a request. It goes down this list, except that a queued one goes back to `Starting`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum RequestState {
    /// Free. Next: the caller claims it, under the lock.
    Free = 0,
    /// The caller writes it.
    Filling = 1,
    /// The caller has written it. Next: the janitor.
    Submitted = 2,
    /// The janitor has launched a coordinator for it. Next: that coordinator.
    Starting = 3,
    /// A coordinator works on it. Next: the coordinator, or the janitor when it died.
    Working = 4,
    /// The row of the run has the status `queued`. Next: the janitor.
    Queued = 5,
    /// It is over and its outcome is there. Next: the caller, or the janitor if no session waits.
    Ended = 6,
}

impl RequestState {
    /// The state of this number; of one that is none, [`RequestState::Free`].
    pub fn from_u32(value: u32) -> Self {
        use RequestState::*;
        [Free, Filling, Submitted, Starting, Working, Queued, Ended]
            .get(value as usize)
            .copied()
            .unwrap_or(Free)
    }

    /// Whether it belongs to a caller, is complete, and is not over.
    pub fn is_open(self) -> bool {
        use RequestState::*;
        !matches!(self, Free | Filling | Ended)
    }

    /// Whether a coordinator has been launched for it, and is not done.
    fn has_coordinator(self) -> bool {
        matches!(self, Self::Starting | Self::Working)
    }
}

/// The errand that a coordinator is launched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum CoordinatorTask {
    /// Carry the run out.
    Run = 0,
    /// Store the row as `queued`, and leave.
    Enqueue = 1,
    /// Mark a queued row as cancelled, and leave.
    Withdraw = 2,
    /// Clear up after a coordinator that died.
    Recover = 3,
}

impl CoordinatorTask {
    /// The errand of this number.
    pub fn from_u32(value: u32) -> Self {
        match value {
            1 => Self::Enqueue,
            2 => Self::Withdraw,
            3 => Self::Recover,
            _ => Self::Run,
        }
    }

    /// Whether it takes the area of the run that is on, of which there is one.
    pub fn takes_the_run_area(self) -> bool {
        matches!(self, Self::Run | Self::Recover)
    }
}

/// Whether a request of that state and errand stands in the queue, or is just about to.
pub fn waits_for_its_turn(state: RequestState, task: CoordinatorTask) -> bool {
    matches!(state, RequestState::Queued | RequestState::Submitted)
        || state.has_coordinator() && !task.takes_the_run_area()
}

/// Whether it is being carried out, or cleared up after.
pub fn is_carried_out(state: RequestState, task: CoordinatorTask) -> bool {
    state.has_coordinator() && task.takes_the_run_area()
}

/// Whether it is just being taken out of the queue.
pub fn is_withdrawn(state: RequestState, task: CoordinatorTask) -> bool {
    state.has_coordinator() && task == CoordinatorTask::Withdraw
}

/// Why a run is to be cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Cancel {
    /// It is not.
    No = 0,
    /// A session called `fsbench.cancel`.
    Requested = 1,
    /// The waiting statement was cancelled or timed out.
    Statement = 2,
    /// The waiting session ended.
    CallerGone = 3,
    /// The waiting session's client went away.
    ConnectionLost = 4,
    /// The server that started it has not renewed its lease.
    LeaseOver = 5,
}

impl Cancel {
    /// The reason of this number; of one that is none, [`Cancel::No`].
    pub fn from_u32(value: u32) -> Self {
        use Cancel::*;
        [
            No,
            Requested,
            Statement,
            CallerGone,
            ConnectionLost,
            LeaseOver,
        ]
        .get(value as usize)
        .copied()
        .unwrap_or(No)
    }

    /// The reason in words, as an error message's text.
    pub fn reason(self) -> &'static str {
        match self {
            Self::No => "not cancelled",
            Self::Requested => "canceled by fsbench.cancel()",
            Self::Statement => "the waiting statement was canceled or timed out",
            Self::CallerGone => "the waiting session ended",
            Self::ConnectionLost => "the connection of the waiting session was lost",
            Self::LeaseOver => "its lease has run out",
        }
    }
}

/// The time that a run goes on without a waiting session: as long as its lease is renewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Length of the lease in milliseconds; 0: the run has no lease.
    pub ms: u64,
    /// Monotonic clock of its end.
    pub until_ns: u64,
}

impl Lease {
    /// When it ends if it is renewed at that time.
    pub fn renewed_until(ms: u64, now_ns: u64) -> u64 {
        now_ns.saturating_add(ms.saturating_mul(1_000_000))
    }

    /// Whether it was not renewed in time.
    pub fn is_over(self, now_ns: u64) -> bool {
        self.ms != 0 && now_ns > self.until_ns
    }
}

/// Whether a run is unwanted: `waiter` is whether the session that waits for it is still there, None when no session waits. A waiting session needs
/// no lease.
pub fn unwanted(waiter: Option<bool>, lease: Lease, now_ns: u64) -> Cancel {
    match waiter {
        Some(false) => Cancel::CallerGone,
        None if lease.is_over(now_ns) => Cancel::LeaseOver,
        _ => Cancel::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_in_shared_memory_are_read_as_they_are_written() {
        for n in 0..7 {
            assert_eq!(RequestState::from_u32(n) as u32, n);
        }
        for n in 0..4 {
            assert_eq!(CoordinatorTask::from_u32(n) as u32, n);
        }
        for n in 0..6 {
            assert_eq!(Cancel::from_u32(n) as u32, n);
        }
        assert_eq!(RequestState::from_u32(7), RequestState::Free);
        assert_eq!(
            (CoordinatorTask::from_u32(9), Cancel::from_u32(9)),
            (CoordinatorTask::Run, Cancel::No)
        );
    }

    #[test]
    fn who_waits_needs_no_lease_and_who_is_gone_has_cancelled() {
        let over = Lease { ms: 1, until_ns: 5 };
        assert_eq!(unwanted(Some(true), over, 6), Cancel::No);
        assert_eq!(unwanted(Some(false), over, 0), Cancel::CallerGone);
        assert_eq!(unwanted(None, over, 5), Cancel::No);
        assert_eq!(unwanted(None, over, 6), Cancel::LeaseOver);
        let none = Lease { ms: 0, until_ns: 0 };
        assert_eq!(unwanted(None, none, u64::MAX), Cancel::No);
    }

    proptest! {
        #[test]
        fn a_lease_lasts_for_its_length(ms in 1u64..u64::MAX, now in any::<u64>(), later in any::<u64>()) {
            let lease = Lease { ms, until_ns: Lease::renewed_until(ms, now) };
            prop_assert!(!lease.is_over(now));
            if later.saturating_sub(now) / 1_000_000 < ms {
                prop_assert!(!lease.is_over(later));
            }
        }

        /// A request is carried out, or waits, and never both.
        #[test]
        fn it_waits_or_is_carried_out(state in 0u32..7, task in 0u32..4) {
            let (state, task) = (RequestState::from_u32(state), CoordinatorTask::from_u32(task));
            let (waits, is_on) = (waits_for_its_turn(state, task), is_carried_out(state, task));
            prop_assert!(!(waits && is_on));
            prop_assert_eq!(waits || is_on, state.is_open());
        }
    }
}
