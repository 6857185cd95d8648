//! The statements of a run, where pg_stat_statements is loaded and its extension is in the home database: the entries of the run's own work database
//! are reset at the start of the window and read at its end.

pub use pgfsbench_core::statement::EXTENSION;
use pgfsbench_core::{
    finding::Statements,
    statement::{self, Statement},
};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    errors::{Fault, read_json},
    pg::{report, sql, xact},
};

/// Watches the statements of a run.
#[derive(Default)]
pub struct Watch {
    /// State of pg_stat_statements at the start of the window; None if nothing is to be read at its end.
    start: Option<Info>,
    /// Rows to be stored, once the window is over.
    pub rows: Vec<Statement>,
    /// Whether they are known, or why not.
    pub recorded: Option<Statements>,
}

/// Whether pg_stat_statements is loaded in this server and created in this database, and the calls of its functions there.
#[derive(Deserialize)]
struct State {
    is_loaded: bool,
    is_created: bool,
    reset: Option<String>,
    read: Option<String>,
    info: Option<String>,
}

/// Calls of the extension's functions for a database, `$1`.
struct Calls {
    reset: String,
    read: String,
    /// An SQL expression of [`Info`] as JSON.
    info: String,
}

/// The row of pg_stat_statements_info; without values if the extension is older than that function.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
struct Info {
    /// When all entries were removed, by whatever call.
    stats_reset: Option<String>,
    /// How often entries were removed since others needed their place.
    dealloc: Option<i64>,
}

/// Fewer calls than this part of the transactions are not those of the whole window: entries of the work database alone were removed, of which the
/// extension tells nothing.
const PART_OF_CALLS: u64 = 3;

/// Settings with which nothing is recorded: as new sessions have them.
const RECORDS_NOTHING: &str = "SELECT EXISTS (SELECT FROM pg_settings WHERE \
    (name, reset_val) IN (('pg_stat_statements.track', 'none'), ('compute_query_id', 'off')))";

/// Whether a server has loaded it: only then its settings are real ones.
pub const LOADED: &str = "SELECT EXISTS (SELECT FROM pg_settings WHERE name = 'pg_stat_statements.max' AND vartype = 'integer')";

/// The state of the extension, and the calls. `{loaded}`: whether it is loaded.
const STATE: &str = include_str!("queries/statements.sql");

/// The finding that a run would have on its statements, as far as it is known beforehand. In a transaction.
pub fn expected() -> Result<Statements, Fault> {
    Ok(match calls()? {
        Err(why) => why,
        Ok(_) if sql::read(RECORDS_NOTHING, &[])?.as_deref() == Some("t") => Statements::Nothing,
        Ok(_) => Statements::Recorded,
    })
}

/// Whether this server has loaded it. In a transaction.
pub fn is_loaded() -> Result<bool, Fault> {
    Ok(sql::read(LOADED, &[])?.as_deref() == Some("t"))
}

/// The calls, or why there are none. In the transaction that makes them: names may have changed since another one.
fn calls() -> Result<Result<Calls, Statements>, Fault> {
    let text = sql::read(&STATE.replace("{loaded}", LOADED), &[])?;
    let state: State = read_json("answer", &text.unwrap_or_default())?;
    match state {
        State {
            is_loaded: false, ..
        } => Ok(Err(Statements::NotLoaded)),
        State {
            is_created: false, ..
        } => Ok(Err(Statements::NotCreated)),
        State {
            reset: Some(reset),
            read: Some(read),
            info,
            ..
        } => Ok(Ok(Calls {
            reset,
            read,
            info: info.unwrap_or_else(|| "'{}'::jsonb".into()),
        })),
        _ => Ok(Err(Statements::Outdated)),
    }
}

/// Sets what is known of the database's statements to nothing, and gives what the extension tells of itself then.
fn reset(database: u32) -> Result<Result<Info, Statements>, Fault> {
    // 0 would be those of all databases.
    if database == 0 {
        return Ok(Ok(Info::default()));
    }
    xact::transaction(|| match calls()? {
        Err(why) => Ok(Err(why)),
        Ok(calls) => {
            let query = format!("SELECT {}::text", calls.reset);
            sql::write(&query, &[Some(&database.to_string())])?;
            // Ours may have removed the last entries of all, and is then the latest.
            let info = sql::read(&format!("SELECT {}", calls.info), &[])?;
            read_json("answer", &info.unwrap_or_default()).map(Ok)
        }
    })
}

/// A work database has gone: what is known of its statements would stay among what others want to see.
pub fn forget(work_database: u32) {
    report::or_log("could not reset pg_stat_statements", || {
        reset(work_database).map(|_| ())
    });
}

/// The values that are read at the end of a window.
#[derive(Deserialize)]
struct Reading {
    info: Info,
    entries: Vec<Map<String, Value>>,
}

fn read(work_database: u32) -> Result<Result<Reading, Statements>, Fault> {
    xact::transaction(|| {
        let calls = match calls()? {
            Ok(calls) => calls,
            Err(why) => return Ok(Err(why)),
        };
        let query = format!(
            "SELECT jsonb_build_object('info', {}, 'entries', \
               (SELECT coalesce(jsonb_agg(to_jsonb(s)), '[]') FROM {} s WHERE dbid = $1::oid))",
            calls.info, calls.read
        );
        let text = sql::read(&query, &[Some(&work_database.to_string())])?;
        read_json("answer", &text.unwrap_or_default()).map(Ok)
    })
}

impl Watch {
    /// Before the clients begin.
    pub fn begin(&mut self, work_database: u32) -> Result<(), Fault> {
        let reset = report::or_unknown(reset(work_database))?;
        match reset.unwrap_or(Err(Statements::Failed)) {
            Ok(info) => self.start = Some(info),
            Err(why) => {
                self.start = None;
                self.recorded = Some(why);
            }
        }
        Ok(())
    }

    /// At the start of a window after a warm-up, which is nothing to it. The sooner after it the better: what is done until then
    /// is missing.
    pub fn begin_again(&mut self, work_database: u32) -> Result<(), Fault> {
        match self.start {
            Some(_) => self.begin(work_database),
            None => Ok(()),
        }
    }

    /// At its end; with whether the clients had times of reads and writes taken, and how many transactions they made, each of
    /// which has a statement of every kind that is in all of them; 0 where that is not so. `is_on_own`: the data are a user's own.
    pub fn end(
        &mut self,
        work_database: u32,
        io_timing: bool,
        transactions: u64,
        is_on_own: bool,
    ) -> Result<(), Fault> {
        let Some(start) = self.start.take() else {
            return Ok(());
        };
        let reading = report::or_unknown(read(work_database))?;
        self.recorded = Some(match reading.unwrap_or(Err(Statements::Failed)) {
            Err(why) => why,
            Ok(Reading { info, .. }) if info.stats_reset != start.stats_reset => Statements::Reset,
            Ok(Reading { info, .. }) if info.dealloc != start.dealloc => Statements::Evicted,
            Ok(Reading { entries, .. }) => {
                let rows = statement::rows(&entries, io_timing);
                let calls = rows.iter().filter_map(|row| row.calls).max();
                match calls {
                    None => Statements::Nothing,
                    Some(calls) if calls < transactions / PART_OF_CALLS => Statements::Reset,
                    Some(_) => {
                        self.rows = match is_on_own {
                            true => statement::without_values(rows),
                            false => rows,
                        };
                        Statements::Recorded
                    }
                }
            }
        });
        Ok(())
    }
}
