//! Checkpoints: what the server's messages say of them, and which of them belong to a measured window.

mod message;

pub use message::{Event, cause, cause_words, distance_and_estimate, event};

use serde::Serialize;

use crate::rows::{self, timestamp};

/// One finished checkpoint or restartpoint, from the checkpointer's own figures. Times of it that the server logs are whole
/// milliseconds, rounded up, as it logs them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checkpoint {
    /// True for a restartpoint.
    pub is_restartpoint: bool,
    /// Bits of its cause, see [`cause_words`]; 0 when it is not known.
    pub cause: u32,
    /// Start, microseconds since 1970.
    pub started_us: i64,
    /// End, microseconds since 1970.
    pub ended_us: i64,
    /// Start by the monotonic clock.
    pub start_ns: u64,
    /// End by the monotonic clock.
    pub end_ns: u64,
    /// Writing buffers out.
    pub write_ms: u64,
    /// Having files on disk.
    pub sync_ms: u64,
    /// All of it.
    pub total_ms: u64,
    /// Buffers that it wrote.
    pub buffers: u64,
    /// SLRU buffers that it wrote; None before PostgreSQL 18.
    pub slru: Option<u32>,
    /// Files that it synced.
    pub sync_files: u64,
    /// The longest sync of a file.
    pub longest_ms: u64,
    /// The mean of them.
    pub average_ms: u64,
    /// The sum of them, microseconds.
    pub sync_sum_us: u64,
    /// Files of WAL made ahead.
    pub wal_added: u64,
    /// Files of WAL removed.
    pub wal_removed: u64,
    /// Files of WAL renamed for later.
    pub wal_recycled: u64,
    /// WAL since the one before, kB; None when the message could not be read.
    pub distance_kb: Option<u64>,
    /// The server's own estimate of the distance, kB.
    pub estimate_kb: Option<u64>,
}

/// A checkpoint that has begun and not ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenCheckpoint {
    /// True for a restartpoint.
    pub is_restartpoint: bool,
    /// Bits of its cause.
    pub cause: u32,
    /// Start, microseconds since 1970.
    pub started_us: i64,
    /// Start by the monotonic clock.
    pub start_ns: u64,
}

/// The checkpoint that still goes on. None if its end was reported since, or if it began before `over_ns`: then it has ended, though
/// its end was never reported (log_checkpoints was turned off meanwhile).
pub fn still_going(
    going: Option<OpenCheckpoint>,
    ended: &[Checkpoint],
    over_ns: u64,
) -> Option<OpenCheckpoint> {
    let has_ended = |going: &OpenCheckpoint| ended.iter().any(|c| c.started_us == going.started_us);
    going.filter(|going| going.start_ns >= over_ns && !has_ended(going))
}

/// A measured window, by the monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub start_ns: u64,
    pub end_ns: u64,
}

/// A row of `fsbench.checkpoint`; its columns say what they are. What has not ended has no figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    pub number: usize,
    pub kind: &'static str,
    pub cause: Option<String>,
    pub started_at: String,
    pub ended_at: Option<String>,
    pub start_second: i64,
    pub end_second: Option<i64>,
    pub started_before: bool,
    pub ended_after: bool,
    pub write_ms: Option<u64>,
    pub sync_ms: Option<u64>,
    pub total_ms: Option<u64>,
    pub buffers_written: Option<u64>,
    pub slru_written: Option<u32>,
    pub sync_files: Option<u64>,
    pub longest_sync_ms: Option<u64>,
    pub average_sync_ms: Option<u64>,
    pub aggregate_sync_ms: Option<f64>,
    pub wal_files_added: Option<u64>,
    pub wal_files_removed: Option<u64>,
    pub wal_files_recycled: Option<u64>,
    pub distance_bytes: Option<u64>,
    pub estimate_bytes: Option<u64>,
}

impl rows::Row for Row {
    const TABLE: &'static str = "checkpoint";
}

/// Checkpoints of a measured window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OfWindow {
    /// The rows to be stored of those that touch the window, in their order; without the run.
    pub rows: Vec<Row>,
    /// Checkpoints that began and ended in it.
    pub complete: u32,
    /// Checkpoints that began in it.
    pub began: u32,
    /// Checkpoints that began in the window because they were due by time.
    pub timed: u32,
}

impl Window {
    /// The checkpoints that touch the window, in the order in which they began.
    pub fn of(self, ended: &[Checkpoint], going: Option<OpenCheckpoint>) -> OfWindow {
        let mut of_window = OfWindow::default();
        let touching = ended
            .iter()
            .filter(|c| c.start_ns < self.end_ns && c.end_ns >= self.start_ns);
        for checkpoint in touching {
            let span = (checkpoint.start_ns, Some(checkpoint.end_ns));
            of_window.add(self, span, self.row(checkpoint), checkpoint.cause);
        }
        if let Some(going) = going.filter(|going| going.start_ns < self.end_ns) {
            let span = (going.start_ns, None);
            of_window.add(self, span, self.row_of_going(going), going.cause);
        }
        of_window
    }

    /// Second of the window, negative before it.
    fn second(self, ns: u64) -> i64 {
        (ns as i64)
            .wrapping_sub(self.start_ns as i64)
            .div_euclid(1_000_000_000)
    }

    fn row_of_going(self, going: OpenCheckpoint) -> Row {
        Row {
            kind: kind(going.is_restartpoint),
            cause: words(going.cause),
            started_at: timestamp(going.started_us),
            start_second: self.second(going.start_ns),
            ..Row::default()
        }
    }

    fn row(self, c: &Checkpoint) -> Row {
        Row {
            kind: kind(c.is_restartpoint),
            cause: words(c.cause),
            started_at: timestamp(c.started_us),
            ended_at: Some(timestamp(c.ended_us)),
            start_second: self.second(c.start_ns),
            end_second: Some(self.second(c.end_ns)),
            write_ms: Some(c.write_ms),
            sync_ms: Some(c.sync_ms),
            total_ms: Some(c.total_ms),
            buffers_written: Some(c.buffers),
            slru_written: c.slru,
            sync_files: Some(c.sync_files),
            longest_sync_ms: Some(c.longest_ms),
            average_sync_ms: Some(c.average_ms),
            aggregate_sync_ms: Some(c.sync_sum_us as f64 / 1e3),
            wal_files_added: Some(c.wal_added),
            wal_files_removed: Some(c.wal_removed),
            wal_files_recycled: Some(c.wal_recycled),
            distance_bytes: c.distance_kb.map(|kb| kb * 1024),
            estimate_bytes: c.estimate_kb.map(|kb| kb * 1024),
            ..Row::default()
        }
    }
}

impl OfWindow {
    /// One that began at the first time, and ended at the second if it has.
    fn add(&mut self, window: Window, span: (u64, Option<u64>), mut row: Row, cause: u32) {
        let (start_ns, end_ns) = span;
        let began_in = start_ns >= window.start_ns;
        let ended_in = end_ns.is_some_and(|ns| ns <= window.end_ns);
        if began_in {
            self.began += 1;
            self.timed += u32::from(cause_words(cause).any(|word| word == "time"));
            self.complete += u32::from(ended_in);
        }
        row.number = self.rows.len() + 1;
        row.started_before = !began_in;
        row.ended_after = !ended_in;
        self.rows.push(row);
    }
}

fn kind(is_restartpoint: bool) -> &'static str {
    if is_restartpoint {
        "restartpoint"
    } else {
        "checkpoint"
    }
}

/// The words of a cause, as the server's log has them; None when it is not known.
fn words(cause: u32) -> Option<String> {
    let words: Vec<&str> = cause_words(cause).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

#[cfg(test)]
mod tests;
