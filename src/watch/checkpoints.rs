//! The checkpoints of a run: rows from the checkpointer's own reports where it logs them, else their number from the control
//! file.

use pgfsbench_core::{
    board::CheckpointRing,
    checkpoint::{self, Checkpoint, OfWindow, Window},
};

use crate::clock;

/// Watches the server's checkpoints for a run.
#[derive(Default)]
pub struct Watch {
    cursor: u64,
    before_own: u64,
    /// What began before this time is over.
    over_ns: u64,
    ended: Vec<Checkpoint>,
    lost: u64,
    /// Whether the run's own CHECKPOINT was reported.
    own_was_reported: Option<bool>,
    /// Whether log_checkpoints has been off.
    was_off: bool,
    control: ControlFile,
    /// What there is to be told, once the window is over.
    pub outcome: Option<Outcome>,
}

/// Counts checkpoints that began after the start of the window and have ended: the control file names the latest one.
#[derive(Default)]
struct ControlFile {
    start_lsn: u64,
    latest: u64,
    complete: u32,
}

/// Where WAL and the latest checkpoint are.
#[derive(Clone, Copy, Debug, serde::Deserialize)]
pub struct Position {
    /// The end of WAL.
    pub lsn: u64,
    /// Where the latest checkpoint began.
    pub redo: u64,
    /// Its record.
    pub checkpoint: u64,
    /// The setting log_checkpoints.
    pub log_checkpoints: bool,
}

/// What is to be stored.
pub struct Outcome {
    /// Those that touch the window.
    pub of_window: OfWindow,
    /// How many began and ended in it.
    pub complete: u32,
    /// Whether all of them are in the rows.
    pub logged: Option<bool>,
    /// Whether log_checkpoints was on.
    pub log_checkpoints: bool,
}

impl Watch {
    /// Before the run's own CHECKPOINT; those before it are nothing to the run, and over when it is.
    pub fn before_own<const N: usize>(&mut self, ring: &CheckpointRing<N>) {
        self.cursor = ring.written();
        self.before_own = self.cursor;
        self.over_ns = clock::now_ns();
    }

    /// After it: the server reports its checkpoints, or it does not.
    pub fn after_own<const N: usize>(&mut self, ring: &CheckpointRing<N>) {
        let was_reported = ring.written() > self.before_own;
        if !was_reported {
            // It may be what was said to have begun.
            self.over_ns = clock::now_ns();
        }
        self.own_was_reported = Some(was_reported);
        self.look(ring);
    }

    /// Takes what has been reported.
    pub fn look<const N: usize>(&mut self, ring: &CheckpointRing<N>) {
        let found = ring.read_since(&mut self.cursor);
        self.ended.extend(found.ended);
        self.lost += found.lost;
    }

    /// At the start of the window.
    pub fn at_start(&mut self, position: Position) {
        self.control = ControlFile {
            start_lsn: position.lsn,
            latest: position.checkpoint,
            complete: 0,
        };
        self.was_off |= !position.log_checkpoints;
    }

    /// In each second of the window, and at its end.
    pub fn see(&mut self, position: Position) {
        self.was_off |= !position.log_checkpoints;
        if position.checkpoint != self.control.latest {
            self.control.latest = position.checkpoint;
            self.control.complete += u32::from(position.redo >= self.control.start_lsn);
        }
    }

    /// The window is over, and everything else that is measured in it has been.
    pub fn close<const N: usize>(&mut self, ring: &CheckpointRing<N>, window: Window) {
        // First what goes on: one that ends meanwhile is then among those that have ended, not in neither.
        let going = ring.going();
        self.look(ring);
        let going = checkpoint::still_going(going, &self.ended, self.over_ns);
        let of_window = window.of(&self.ended, going);
        let lost = u32::try_from(self.lost).unwrap_or(u32::MAX);
        let all = of_window.began.saturating_add(lost);
        let logged = self
            .own_was_reported
            .map(|reported| reported && !self.was_off && self.control.complete <= all);
        self.outcome = Some(Outcome {
            complete: match logged {
                // Those that were overwritten came between others of the window.
                Some(true) => of_window.complete.saturating_add(lost),
                _ => self.control.complete,
            },
            of_window,
            logged,
            log_checkpoints: !self.was_off,
        });
    }
}

impl Outcome {
    /// How many began in the window because it was time, and how many for other reasons; None when not all are known.
    pub fn timed_and_requested(&self) -> Option<(u32, u32)> {
        let OfWindow { began, timed, .. } = self.of_window;
        (self.logged == Some(true)).then(|| (timed, began - timed))
    }
}
