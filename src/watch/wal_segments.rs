//! The segments of WAL in pg_wal: the one that is written, and those that are ready.

use std::fs;

use pgfsbench_core::{finding::WalFacts, run::wal_segments::Segments};
use serde::Deserialize;

use crate::{
    errors::{Fault, of_file, read_json, sqlstate},
    pg::{session, sql, xact},
};

/// Segments at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot {
    /// The segment that was written.
    pub now: Segments,
    /// The server's settings.
    pub settings: Settings,
    /// How many were ready.
    pub ready: u64,
}

/// The server's settings for WAL.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Settings {
    pub segment_bytes: u64,
    pub max_bytes: u64,
    pub completion: f64,
    pub recycles: bool,
}

#[derive(Deserialize)]
struct WalState {
    name: String,
    #[serde(flatten)]
    settings: Settings,
}

const ASK: &str = "SELECT jsonb_build_object('name', pg_walfile_name(pg_current_wal_insert_lsn()), \
      'segment_bytes', pg_size_bytes(current_setting('wal_segment_size')), 'max_bytes', pg_size_bytes(current_setting('max_wal_size')), \
      'completion', current_setting('checkpoint_completion_target')::float8, 'recycles', current_setting('wal_recycle')::boolean)";

/// Reads the segments that are there now.
pub fn read() -> Result<Snapshot, Fault> {
    let text = xact::transaction(|| sql::read(ASK, &[]))?;
    let WalState { name, settings } = read_json("answer", &text.unwrap_or_default())?;
    let now = Segments::now(&name, settings.segment_bytes).ok_or_else(|| {
        Fault::new(sqlstate::INTERNAL, "could not read the name of a segment")
            .detail(format!("It is \"{name}\"."))
    })?;
    let directory = session::data_directory().join("pg_wal");
    let entries = fs::read_dir(&directory).map_err(|e| of_file("read", &directory, &e))?;
    // Files that are renamed or removed meanwhile were not ready.
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let names: Vec<String> = names.collect();
    let ready = now.ready(names.iter().map(String::as_str));
    Ok(Snapshot {
        now,
        settings,
        ready,
    })
}

/// The facts of a window, by what was there when it began and when it ended, and how many files checkpoints have renamed in it; None
/// where that is not known.
pub fn facts(start: Option<Snapshot>, end: Option<Snapshot>, recycled: Option<u64>) -> WalFacts {
    let both = start.zip(end);
    let begun = both.map(|(start, end)| end.now.since(start.now));
    let created = both.zip(begun).zip(recycled);
    let settings = start.map(|start| start.settings);
    WalFacts {
        segment_bytes: settings.map(|s| s.segment_bytes),
        max_bytes: settings.map(|s| s.max_bytes),
        completion: settings.map(|s| s.completion),
        recycles: settings.map(|s| s.recycles),
        ready: start.map(|start| start.ready),
        left: end.map(|end| end.ready),
        begun,
        created: created.map(|(((start, end), begun), recycled)| {
            (end.ready + begun).saturating_sub(start.ready + recycled)
        }),
    }
}
