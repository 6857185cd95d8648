//! Core's statistics views over a measured window: counters at its end less those at its start, under the names that they
//! have in that version of the server. Whatever columns a view has: what is a number counts, but for a few.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::rows;

/// A row of a view: the view, what the row is about (empty for a view of one row), and its columns.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Row(pub String, pub String, pub Map<String, Value>);

/// Numbers that do not count anything.
const NO_COUNTERS: [&str; 2] = ["datid", "numbackends"];
/// Numbers that stay as they are.
const CONSTANTS: [&str; 1] = ["op_bytes"];

/// Whether a counter is a number that stays as it is.
pub fn is_constant(counter: &str) -> bool {
    CONSTANTS.contains(&counter)
}

/// When counters of a row were last set to 0.
const RESET: &str = "stats_reset";
/// How pg_stat_io calls processes like the clients.
const CLIENTS: &str = "background worker/";

/// Whether the settings that have the server take times were on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Timing {
    /// track_io_timing.
    pub io: bool,
    /// track_wal_io_timing.
    pub wal: bool,
}

/// A row of `fsbench.statistic`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Counter {
    pub view: String,
    /// The object of its row.
    pub object: String,
    /// The column.
    pub counter: String,
    /// Change of the counter; None when unknown.
    pub value: Option<f64>,
}

impl rows::Row for Counter {
    const TABLE: &'static str = "statistic";
}

/// The counters of a window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Difference {
    /// Rows to be stored.
    pub rows: Vec<Counter>,
    /// Views that were set to 0 meanwhile.
    pub reset: Vec<String>,
}

/// Counters at the end of a window less those at its start. A counter that was reset meanwhile, or whose start is not known, is not known;
/// nor are times that were not taken: those of the clients' work by `clients`, others by `server`.
pub fn difference(start: &[Row], end: &[Row], clients: Timing, server: Timing) -> Difference {
    let mut difference = Difference::default();
    for Row(view, object, columns) in end {
        let before = start
            .iter()
            .find(|Row(of, about, _)| (of, about) == (view, object))
            .map(|Row(_, _, columns)| columns);
        let was_reset = before.is_some_and(|before| before.get(RESET) != columns.get(RESET));
        if was_reset && !difference.reset.contains(view) {
            difference.reset.push(view.clone());
        }
        let timing = match view.as_str() {
            "pg_stat_io" if !object.starts_with(CLIENTS) => server,
            _ => clients,
        };
        let counters: Vec<(&String, Option<f64>)> = columns
            .iter()
            .filter(|(name, _)| !NO_COUNTERS.contains(&name.as_str()))
            .filter_map(|(name, value)| Some((name, value.as_f64()?)))
            .map(|(name, value)| {
                let known = !was_reset && is_taken(view, object, name, timing);
                let before = before.and_then(|before| before.get(name)?.as_f64());
                let change = match before {
                    _ if is_constant(name) => Some(value),
                    before => before.map(|before| value - before),
                };
                (name, change.filter(|change| known && *change >= 0.0))
            })
            .collect();
        // Most of the dozens of rows of that view are about what never happens.
        let is_idle =
            |(name, change): &(&String, Option<f64>)| *change == Some(0.0) || is_constant(name);
        if view == "pg_stat_io"
            && counters
                .iter()
                .all(|counter| counter.1.is_none() || is_idle(counter))
            && !was_reset
            && before.is_some()
        {
            continue;
        }
        let rows = counters.into_iter().map(|(name, value)| Counter {
            view: view.clone(),
            object: object.clone(),
            counter: name.clone(),
            value,
        });
        difference.rows.extend(rows);
    }
    difference
}

/// Whether the server takes a time, if it is one that needs a setting.
fn is_taken(view: &str, object: &str, counter: &str, timing: Timing) -> bool {
    if !counter.ends_with("_time") {
        return true;
    }
    match view {
        "pg_stat_wal" => timing.wal,
        "pg_stat_io" if object.contains("/wal/") => timing.wal,
        "pg_stat_io" => timing.io,
        "pg_stat_database" if counter.starts_with("blk_") => timing.io,
        _ => true,
    }
}

/// A counter of a window; None when it is not known.
pub fn value(rows: &[Counter], view: &str, counter: &str) -> Option<f64> {
    rows.iter()
        .find(|row| row.view == view && row.counter == counter)
        .and_then(|row| row.value)
}

/// Checkpoints that began in a window because it was time, and for other reasons, by the counters of whatever version.
pub fn checkpoints(rows: &[Counter]) -> Option<(u32, u32)> {
    let count = |names: [(&str, &str); 2]| {
        names
            .iter()
            .find_map(|(view, counter)| value(rows, view, counter))
            .map(|count| count as u32)
    };
    let timed = count([
        ("pg_stat_checkpointer", "num_timed"),
        ("pg_stat_bgwriter", "checkpoints_timed"),
    ]);
    let requested = count([
        ("pg_stat_checkpointer", "num_requested"),
        ("pg_stat_bgwriter", "checkpoints_req"),
    ]);
    timed.zip(requested)
}

/// Bytes of relations, and of WAL, that the server read and wrote in a window, by pg_stat_io; see [`io_bytes`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct IoBytes {
    /// Read.
    #[serde(rename = "io_read_bytes")]
    pub read: Option<u64>,
    /// Written.
    #[serde(rename = "io_write_bytes")]
    pub write: Option<u64>,
    /// Bytes by which files became longer.
    #[serde(rename = "io_extend_bytes")]
    pub extend: Option<u64>,
    /// WAL that was written.
    #[serde(rename = "io_wal_write_bytes")]
    pub wal_write: Option<u64>,
}

/// Bytes of a window by pg_stat_io, if the server has that view: since 18 it has bytes, and before that operations of `op_bytes` each.
pub fn io_bytes(rows: &[Counter]) -> IoBytes {
    let rows: Vec<&Counter> = rows.iter().filter(|row| row.view == "pg_stat_io").collect();
    let of = |object: &str, counter: &str| {
        let mut found = rows
            .iter()
            .filter(|row| row.object == object && row.counter == counter);
        found.next().map(|row| row.value)
    };
    let mut objects: Vec<&str> = rows.iter().map(|row| row.object.as_str()).collect();
    objects.sort_unstable();
    objects.dedup();
    let sum = |is_wal: bool, bytes: &str, operations: &str| {
        let of_kind = |object: &&&str| object.contains("/wal/") == is_wal;
        let mut all = objects.iter().filter(of_kind).peekable();
        all.peek()?;
        let each = all.map(|object| match of(object, bytes) {
            Some(bytes) => bytes,
            None => match (of(object, operations), of(object, "op_bytes")) {
                (Some(operations), Some(size)) => operations.zip(size).map(|(n, size)| n * size),
                // A process that never does such a thing.
                _ => Some(0.0),
            },
        });
        each.sum::<Option<f64>>().map(|bytes| bytes as u64)
    };
    IoBytes {
        read: sum(false, "read_bytes", "reads"),
        write: sum(false, "write_bytes", "writes"),
        extend: sum(false, "extend_bytes", "extends"),
        wal_write: sum(true, "write_bytes", "writes"),
    }
}

#[cfg(test)]
mod tests;
