//! Core's statistics views over the measured window.

use pgfsbench_core::statistics::{self, Difference, Row, Timing};
use serde::Deserialize;

use crate::{
    errors::{Fault, read_json},
    pg::{
        report, sql,
        version::{SHARED_STATISTICS, STAT_IO},
        xact,
    },
};

/// Statistics at the start of the window, and then what has become of them.
#[derive(Default)]
pub struct Watch {
    start: Option<Reading>,
    /// The counters of the window, once it is over.
    pub difference: Option<Difference>,
    /// Whether the clients' settings had times taken.
    clients: Option<Timing>,
}

#[derive(Deserialize)]
struct Reading {
    rows: Vec<Row>,
    timing: Timing,
}

/// A session's settings, as JSON of [`Timing`].
pub const TIMING: &str = "jsonb_build_object('io', current_setting('track_io_timing')::bool, \
     'wal', current_setting('track_wal_io_timing')::bool)";

/// The views, and the settings of the server.
fn read(work_database: u32) -> Result<Reading, Fault> {
    let mut views: Vec<String> = SHARED_STATISTICS
        .iter()
        .map(|view| format!("SELECT '{view}', '', to_jsonb(v) FROM {view} v"))
        .collect();
    views.push(
        "SELECT 'pg_stat_database', '', to_jsonb(v) FROM pg_stat_database v WHERE datid = $1::oid"
            .into(),
    );
    views.extend(STAT_IO.iter().map(|view| {
        format!("SELECT '{view}', concat_ws('/', backend_type, object, context), to_jsonb(v) FROM {view} v")
    }));
    let query = format!(
        "SELECT jsonb_build_object('rows', jsonb_agg(jsonb_build_array(view, object, columns)), 'timing', {TIMING}) \
         FROM ({}) AS s(view, object, columns)",
        views.join(" UNION ALL ")
    );
    let text = xact::transaction(|| sql::read(&query, &[Some(&work_database.to_string())]))?;
    read_json("answer", &text.unwrap_or_default())
}

impl Watch {
    /// When the clients have sent off what they did before the window.
    pub fn begin(&mut self, work_database: u32) -> Result<(), Fault> {
        self.start = report::or_unknown(read(work_database))?;
        Ok(())
    }

    /// A client may have sent some of what it did in the window before that was read: the start is not known.
    pub fn begin_late(&mut self) {
        self.start = None;
    }

    /// When the clients have sent off everything; `clients` are their settings.
    pub fn end(&mut self, work_database: u32, clients: Option<Timing>) -> Result<(), Fault> {
        self.clients = clients;
        let Some(end) = report::or_unknown(read(work_database))? else {
            return Ok(());
        };
        let start = self.start.as_ref().map_or(&[][..], |start| &start.rows);
        let of_clients = clients.unwrap_or(end.timing);
        self.difference = Some(statistics::difference(
            start, &end.rows, of_clients, end.timing,
        ));
        Ok(())
    }

    /// The clients' settings.
    pub fn clients(&self) -> Option<Timing> {
        self.clients
    }
}
