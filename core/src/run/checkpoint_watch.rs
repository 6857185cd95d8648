//! The checkpoints of a run: rows from the checkpointer's own reports where it logs them, else their number from the control
//! file.

use serde::Deserialize;

use super::row::Checkpoints;
use crate::{
    board::CheckpointRing,
    checkpoint::{self, Checkpoint, OfWindow, Window},
    statistics::{self, Counter},
};

/// Watches the server's checkpoints for a run.
#[derive(Default)]
pub struct Watch {
    cursor: u64,
    before_own: u64,
    /// Every checkpoint that began before this time is over.
    over_ns: u64,
    ended: Vec<Checkpoint>,
    lost: u64,
    /// Whether the run's own CHECKPOINT was reported.
    own_was_reported: Option<bool>,
    /// Whether log_checkpoints has been off.
    was_off: bool,
    control: ControlFile,
    /// The result, once the window is over.
    pub outcome: Option<Outcome>,
}

/// Counts checkpoints that began after the start of the window and have ended: the control file names the latest one.
#[derive(Default)]
struct ControlFile {
    start_lsn: u64,
    latest: u64,
    complete: u32,
}

/// Positions of WAL and of the latest checkpoint.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Position {
    /// The end of WAL.
    pub lsn: u64,
    /// Redo position of the latest checkpoint.
    pub redo: u64,
    pub checkpoint: u64,
    /// The setting log_checkpoints.
    pub log_checkpoints: bool,
}

/// The figures to be stored.
pub struct Outcome {
    /// The checkpoints that touch the window.
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
    pub fn before_own<const N: usize>(&mut self, ring: &CheckpointRing<N>, now_ns: u64) {
        self.cursor = ring.written();
        self.before_own = self.cursor;
        self.over_ns = now_ns;
    }

    /// After it: the server reports its checkpoints, or it does not.
    pub fn after_own<const N: usize>(&mut self, ring: &CheckpointRing<N>, now_ns: u64) {
        let was_reported = ring.written() > self.before_own;
        if !was_reported {
            // It may be what was said to have begun.
            self.over_ns = now_ns;
        }
        self.own_was_reported = Some(was_reported);
        self.poll(ring);
    }

    /// Takes what has been reported.
    pub fn poll<const N: usize>(&mut self, ring: &CheckpointRing<N>) {
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
        self.poll(ring);
        let going = checkpoint::still_going(going, &self.ended, self.over_ns);
        let of_window = window.of(&self.ended, going);
        let lost = u32::try_from(self.lost).unwrap_or(u32::MAX);
        let all = of_window.began.saturating_add(lost);
        let logged = self
            .own_was_reported
            .map(|reported| reported && !self.was_off && self.control.complete <= all);
        self.outcome = Some(Outcome {
            complete: match logged {
                // The overwritten ones came between others of the window.
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
    /// How many files of WAL they renamed for later, in the window; None when not all are known.
    pub fn recycled(&self) -> Option<u64> {
        let rows = self.of_window.rows.iter().filter(|row| !row.ended_after);
        let renamed = rows.map(|row| row.wal_files_recycled.unwrap_or(0));
        (self.logged == Some(true)).then(|| renamed.sum())
    }

    /// How many began in the window because it was time, and how many for other reasons; None when not all are known.
    pub fn timed_and_requested(&self) -> Option<(u32, u32)> {
        let OfWindow { began, timed, .. } = self.of_window;
        (self.logged == Some(true)).then(|| (timed, began - timed))
    }
}

/// How many checkpoints a window had, by the checkpointer's reports, and by the server's counters where these do not tell.
pub fn counted(outcome: Option<&Outcome>, counters: Option<&[Counter]>) -> Checkpoints {
    let reported = outcome.and_then(Outcome::timed_and_requested);
    let (timed, requested) = reported
        .or_else(|| statistics::checkpoints(counters?))
        .unzip();
    Checkpoints {
        complete_checkpoints: outcome.map(|outcome| outcome.complete),
        checkpoints_timed: timed,
        checkpoints_requested: requested,
        checkpoints_logged: outcome.and_then(|outcome| outcome.logged),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::cause;

    const SECOND: u64 = 1_000_000_000;
    const WINDOW: Window = Window {
        start_ns: 100 * SECOND,
        end_ns: 200 * SECOND,
    };

    fn position(lsn: u64, redo: u64, checkpoint: u64) -> Position {
        Position {
            lsn,
            redo,
            checkpoint,
            log_checkpoints: true,
        }
    }

    fn checkpoint(start_s: u64, end_s: u64) -> Checkpoint {
        Checkpoint {
            cause: cause(b"x: time"),
            start_ns: start_s * SECOND,
            end_ns: end_s * SECOND,
            started_us: start_s as i64 * 1_000_000,
            ..Checkpoint::default()
        }
    }

    /// A watch in whose window the control file has named one more checkpoint, and a ring with what the checkpointer reported:
    /// the run's own, and those of `window`.
    fn closed(own: bool, window: &[Checkpoint], log_checkpoints: bool) -> Outcome {
        let ring = CheckpointRing::<8>::new();
        let mut watch = Watch::default();
        watch.before_own(&ring, 50 * SECOND);
        if own {
            ring.complete(&checkpoint(60, 61));
        }
        watch.after_own(&ring, 70 * SECOND);
        watch.at_start(position(1000, 900, 950));
        for ended in window {
            ring.complete(ended);
        }
        let at_end = Position {
            log_checkpoints,
            ..position(5000, 2000, 2100)
        };
        watch.see(at_end);
        watch.close(&ring, WINDOW);
        watch.outcome.expect("it is closed")
    }

    #[test]
    fn reported_checkpoints_are_rows_and_counts() {
        let outcome = closed(true, &[checkpoint(110, 120), checkpoint(190, 210)], true);
        assert_eq!(outcome.logged, Some(true));
        assert_eq!((outcome.complete, outcome.of_window.rows.len()), (1, 2));
        let counted = counted(Some(&outcome), None);
        assert_eq!(
            (counted.checkpoints_timed, counted.checkpoints_requested),
            (Some(2), Some(0))
        );
    }

    #[test]
    fn what_the_server_does_not_log_the_control_file_counts() {
        // The own CHECKPOINT was not reported; one of the window was not; or log_checkpoints was turned off.
        for (own, window, log) in [
            (false, vec![checkpoint(110, 120)], true),
            (true, vec![], true),
            (true, vec![checkpoint(110, 120)], false),
        ] {
            let outcome = closed(own, &window, log);
            assert_eq!(outcome.logged, Some(false));
            assert_eq!(outcome.complete, 1);
            let counted = counted(Some(&outcome), None);
            assert_eq!(
                (counted.checkpoints_timed, counted.complete_checkpoints),
                (None, Some(1))
            );
        }
    }

    #[test]
    fn counters_stand_in_for_reports() {
        let counter = |counter: &str, value| Counter {
            view: "pg_stat_bgwriter".into(),
            counter: counter.into(),
            value: Some(value),
            ..Counter::default()
        };
        let counters = [
            counter("checkpoints_timed", 1.0),
            counter("checkpoints_req", 3.0),
        ];
        let unlogged = closed(false, &[], true);
        let found = counted(Some(&unlogged), Some(&counters));
        assert_eq!(
            (found.checkpoints_timed, found.checkpoints_requested),
            (Some(1), Some(3))
        );
        let logged = closed(true, &[checkpoint(110, 120)], true);
        let found = counted(Some(&logged), Some(&counters));
        assert_eq!(
            (found.checkpoints_timed, found.checkpoints_requested),
            (Some(1), Some(0))
        );
        assert_eq!(counted(None, None), Checkpoints::default());
    }
}
