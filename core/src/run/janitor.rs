//! The janitor's decisions: from the state of a request to one action. The janitor launches coordinators, one run at a time, in the order
//! in which runs were asked for, and takes care of requests whose coordinators have died or could not start.

use std::time::Duration;

use super::request::{CoordinatorTask, RequestState, is_carried_out};

/// How often coordinators of one request may die or fail to start before it is given up.
pub const ATTEMPTS: u32 = 5;

/// The longest rest after an error.
const LONGEST_REST: Duration = Duration::from_secs(60);

/// How long the janitor rests after this number of errors in a row: a second after the first, twice as long after each further one.
pub fn rest_after(failures: u32) -> Duration {
    let seconds = 1_u64
        .checked_shl(failures.saturating_sub(1))
        .unwrap_or(u64::MAX);
    Duration::from_secs(seconds).min(LONGEST_REST)
}

/// The action for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing now.
    Wait,
    /// Launch a coordinator.
    Launch(CoordinatorTask),
    /// Back into the queue, where its place has stayed.
    WaitAgain,
    /// There is no worker slot: the coordinator of the run that is on is to do it, and until then the request is as it was.
    LeaveToCoordinator,
    /// It counts as one whose coordinator has died.
    TakeForDead,
    /// It was cancelled before it had a row: end it.
    Cancel,
    /// No coordinator could be started: end it.
    GiveUpStarting,
    /// The coordinators of the request have died: end the request.
    GiveUp,
    /// The database of the request was dropped: end the request, and remove what it made from another database.
    EndHomeless,
}

/// State of the worker that the janitor has launched for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worker {
    /// It has not ended.
    Runs,
    /// It has.
    Ended,
    /// A janitor before this one has launched it.
    Unknown,
}

/// Whether there was a worker slot for a coordinator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// There was.
    There,
    /// There was none.
    Missing,
    /// There has been none for so long that a request that is to be queued is refused.
    MissingForLong,
}

/// A request whose coordinator has died, or could not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The errand that the coordinator was launched for.
    pub task: CoordinatorTask,
    /// How many of its coordinators have died or could not start, this one included.
    pub failures: u32,
    /// Whether it could be launched at all.
    pub slot: Slot,
    /// Whether its row is there.
    pub has_row: bool,
    /// Whether its database is there.
    pub has_home: bool,
}

/// A request that is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct New {
    /// Whether it was cancelled already.
    pub is_cancelled: bool,
    /// Whether a run is being carried out or cleared up.
    pub is_busy: bool,
    /// How many come before it. A request that was made before may not stand in the queue yet.
    pub before: usize,
    /// Whether no experiment has the turn now that this run is not of.
    pub may_begin: bool,
    /// Whether a worker is there that puts requests of its database into the queue.
    pub has_queue_worker: bool,
}

/// The action for a new request.
pub fn of_new(new: &New) -> Action {
    match new {
        _ if new.is_cancelled => Action::Cancel,
        _ if !new.is_busy && new.before == 0 && new.may_begin => {
            Action::Launch(CoordinatorTask::Run)
        }
        _ if new.has_queue_worker => Action::Wait,
        _ => Action::Launch(CoordinatorTask::Enqueue),
    }
}

/// The action for a request whose coordinator is to start; None when it has failed to, see [`Failed::at_start`]. A new coordinator replaces that of
/// an earlier janitor; should the old one still start, it finds the request taken.
pub fn of_starting(worker: Worker, task: CoordinatorTask) -> Option<Action> {
    match worker {
        Worker::Runs => Some(Action::Wait),
        Worker::Unknown => Some(Action::Launch(task)),
        Worker::Ended => None,
    }
}

/// Whether a coordinator that works is gone. Of one that an earlier janitor has launched only the pid is known.
pub fn is_dead(worker: Worker, pid_is_alive: bool) -> bool {
    worker == Worker::Ended || !pid_is_alive
}

/// Which request in the queue comes next, by ticket: the first that does not stay where it is: being cancelled, of a database that is closed, or
/// while an experiment has the turn.
pub fn next_in_queue<T>(queue: impl IntoIterator<Item = (u64, bool, T)>) -> Option<T> {
    queue
        .into_iter()
        .filter(|(_, stays, _)| !stays)
        .min_by_key(|(ticket, ..)| *ticket)
        .map(|(.., request)| request)
}

/// Whether one of these requests is being carried out or cleared up.
pub fn is_busy(requests: impl IntoIterator<Item = (RequestState, CoordinatorTask)>) -> bool {
    requests
        .into_iter()
        .any(|(state, task)| is_carried_out(state, task))
}

impl Failed {
    /// After a coordinator that could not start.
    pub fn at_start(self) -> Action {
        let may_try_again = self.failures < ATTEMPTS;
        match self.task {
            _ if !self.has_home => Action::EndHomeless,
            // Tried again on a later patrol, when a slot may be free.
            CoordinatorTask::Run if may_try_again && self.has_row => Action::WaitAgain,
            CoordinatorTask::Withdraw if may_try_again && self.has_row => match self.slot {
                Slot::There => Action::WaitAgain,
                Slot::Missing | Slot::MissingForLong => Action::LeaveToCoordinator,
            },
            CoordinatorTask::Recover => Action::TakeForDead,
            CoordinatorTask::Enqueue if self.slot == Slot::Missing => Action::LeaveToCoordinator,
            _ => Action::GiveUpStarting,
        }
    }

    /// After one that died at its work.
    pub fn at_work(self) -> Action {
        let may_try_again = self.failures < ATTEMPTS;
        match self.task {
            _ if !self.has_home => Action::EndHomeless,
            CoordinatorTask::Enqueue if self.has_row => Action::WaitAgain,
            CoordinatorTask::Enqueue | CoordinatorTask::Withdraw if may_try_again => {
                Action::Launch(self.task)
            }
            CoordinatorTask::Run | CoordinatorTask::Recover if may_try_again => {
                Action::Launch(CoordinatorTask::Recover)
            }
            _ => Action::GiveUp,
        }
    }
}

#[cfg(test)]
mod tests;
