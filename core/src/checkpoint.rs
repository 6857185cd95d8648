//! Checkpoints: what the server's messages say of them, and which of them belong to a measured window.

mod message;

pub use message::{Event, cause, cause_words, distance_and_estimate, event};

use serde_json::{Value, json};

/// One finished checkpoint or restartpoint, from the checkpointer's own figures. Times of it that the server logs are whole
/// milliseconds, rounded up, as it logs them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checkpoint {
    /// Whether it is a restartpoint.
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
    /// The same as the server expects it, kB.
    pub estimate_kb: Option<u64>,
}

/// A checkpoint that has begun and not ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Going {
    /// Whether it is a restartpoint.
    pub is_restartpoint: bool,
    /// Bits of its cause.
    pub cause: u32,
    /// Start, microseconds since 1970.
    pub started_us: i64,
    /// Start by the monotonic clock.
    pub start_ns: u64,
}

/// What still goes on of what was said to have begun: not what has ended, of which the end may have been reported since, and not
/// what began before `over_ns`, whose end was never reported (log_checkpoints was turned off meanwhile) and is known all the same.
pub fn still_going(going: Option<Going>, ended: &[Checkpoint], over_ns: u64) -> Option<Going> {
    let has_ended = |going: &Going| ended.iter().any(|c| c.started_us == going.started_us);
    going.filter(|going| going.start_ns >= over_ns && !has_ended(going))
}

/// A measured window, by the monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Its start.
    pub start_ns: u64,
    /// Its end.
    pub end_ns: u64,
}

/// Checkpoints of a measured window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OfWindow {
    /// The rows to be stored of those that touch the window, in their order; without the run.
    pub rows: Vec<Value>,
    /// How many began and ended in it.
    pub complete: u32,
    /// How many began in it.
    pub began: u32,
    /// How many of those that began in it were due by time.
    pub timed: u32,
}

impl Window {
    /// Those of some checkpoints that touch the window, in the order in which they began.
    pub fn of(self, ended: &[Checkpoint], going: Option<Going>) -> OfWindow {
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

    fn row_of_going(self, going: Going) -> Value {
        json!({
            "kind": kind(going.is_restartpoint), "cause": words(going.cause),
            "started_us": going.started_us, "start_second": self.second(going.start_ns),
        })
    }

    fn row(self, c: &Checkpoint) -> Value {
        json!({
            "kind": kind(c.is_restartpoint), "cause": words(c.cause),
            "started_us": c.started_us, "ended_us": c.ended_us,
            "start_second": self.second(c.start_ns), "end_second": self.second(c.end_ns),
            "write_ms": c.write_ms, "sync_ms": c.sync_ms, "total_ms": c.total_ms,
            "buffers_written": c.buffers, "slru_written": c.slru, "sync_files": c.sync_files,
            "longest_sync_ms": c.longest_ms, "average_sync_ms": c.average_ms,
            "aggregate_sync_ms": c.sync_sum_us as f64 / 1e3,
            "wal_files_added": c.wal_added, "wal_files_removed": c.wal_removed, "wal_files_recycled": c.wal_recycled,
            "distance_bytes": c.distance_kb.map(|kb| kb * 1024), "estimate_bytes": c.estimate_kb.map(|kb| kb * 1024),
        })
    }
}

impl OfWindow {
    /// One that began at the first time, and ended at the second if it has.
    fn add(&mut self, window: Window, span: (u64, Option<u64>), mut row: Value, cause: u32) {
        let (start_ns, end_ns) = span;
        let began_in = start_ns >= window.start_ns;
        let ended_in = end_ns.is_some_and(|ns| ns <= window.end_ns);
        if began_in {
            self.began += 1;
            self.timed += u32::from(cause_words(cause).any(|word| word == "time"));
            self.complete += u32::from(ended_in);
        }
        row["number"] = json!(self.rows.len() + 1);
        row["started_before"] = json!(!began_in);
        row["ended_after"] = json!(!ended_in);
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
