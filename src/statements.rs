//! The statements of a run, where pg_stat_statements is loaded and its extension is in the home database: the entries of the
//! work database, which is nobody's but the run's, are reset at the start of the window and read at its end.

use pgfsbench_core::{finding::Statements, statement};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    errors::Fault,
    pg::{sql, utility, xact},
    statistics::or_unknown,
};

/// Watches the statements of a run.
#[derive(Default)]
pub struct Watch {
    /// The schema of the extension, where it works.
    schema: Option<String>,
    /// Rows to be stored, once the window is over.
    pub rows: Vec<Value>,
    /// Whether they are known, or why not.
    pub recorded: Option<Statements>,
}

/// Where pg_stat_statements stands in this server and this database.
#[derive(Deserialize)]
struct State {
    is_loaded: bool,
    schema: Option<String>,
}

/// Its name, as a library and as an extension.
pub const EXTENSION: &str = "pg_stat_statements";

/// Whether a server has loaded it: only then its settings are real ones.
pub const LOADED: &str = "SELECT EXISTS (SELECT FROM pg_settings WHERE name = 'pg_stat_statements.max' AND vartype = 'integer')";

/// Whether this server has loaded it. In a transaction.
pub fn is_loaded() -> Result<bool, Fault> {
    Ok(sql::read(LOADED, &[])?.as_deref() == Some("t"))
}

fn state() -> Result<State, Fault> {
    let text = xact::transaction(|| {
        sql::read(
            &format!(
                "SELECT jsonb_build_object('is_loaded', ({LOADED}), 'schema', \
                   (SELECT nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = extnamespace WHERE extname = 'pg_stat_statements'))"
            ),
            &[],
        )
    })?;
    serde_json::from_str(&text.unwrap_or_default()).map_err(super::collect::unreadable)
}

fn forget(schema: &str, work_database: u32) -> Result<(), Fault> {
    let query = format!(
        "SELECT {}.pg_stat_statements_reset(0, $1::oid, 0)::text",
        utility::identifier(schema)
    );
    xact::transaction(|| sql::write(&query, &[Some(&work_database.to_string())])).map(|_| ())
}

impl Watch {
    /// At the start of the window.
    pub fn begin(&mut self, work_database: u32) -> Result<(), Fault> {
        let Some(state) = or_unknown(state())? else {
            return Ok(());
        };
        match state {
            State {
                is_loaded: false, ..
            } => self.recorded = Some(Statements::NotLoaded),
            State { schema: None, .. } => self.recorded = Some(Statements::NotCreated),
            State {
                schema: Some(schema),
                ..
            } => {
                if or_unknown(forget(&schema, work_database))?.is_some() {
                    self.schema = Some(schema);
                }
            }
        }
        Ok(())
    }

    /// At its end; with whether the clients had times of reads and writes taken.
    pub fn end(&mut self, work_database: u32, io_timing: bool) -> Result<(), Fault> {
        let Some(schema) = &self.schema else {
            return Ok(());
        };
        let query = format!(
            "SELECT coalesce(jsonb_agg(to_jsonb(s)), '[]') FROM {}.pg_stat_statements s WHERE dbid = $1::oid",
            utility::identifier(schema)
        );
        let read = || -> Result<Vec<Map<String, Value>>, Fault> {
            let text =
                xact::transaction(|| sql::read(&query, &[Some(&work_database.to_string())]))?;
            serde_json::from_str(&text.unwrap_or_default()).map_err(super::collect::unreadable)
        };
        if let Some(entries) = or_unknown(read())? {
            self.rows = statement::rows(&entries, io_timing);
            self.recorded = Some(match self.rows.is_empty() {
                true => Statements::Nothing,
                false => Statements::Recorded,
            });
        }
        Ok(())
    }

    /// The work database goes: what is known of it would stay among what others want to see.
    pub fn forget(&self, work_database: u32) -> Result<(), Fault> {
        match &self.schema {
            Some(schema) => or_unknown(forget(schema, work_database)).map(|_| ()),
            None => Ok(()),
        }
    }
}
