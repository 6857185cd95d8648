//! The statements of a run, where pg_stat_statements is loaded and its extension is in the home database: the entries of the
//! work database, which is nobody's but the run's, are reset at the start of the window and read at its end.

use pgfsbench_core::{finding::Statements, statement};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    errors::{Fault, read_json, sqlstate},
    janitor,
    pg::{sql, xact},
    statistics::or_unknown,
};

/// Watches the statements of a run.
#[derive(Default)]
pub struct Watch {
    /// Whether there is anything to be read at the end.
    works: bool,
    /// Rows to be stored, once the window is over.
    pub rows: Vec<Value>,
    /// Whether they are known, or why not.
    pub recorded: Option<Statements>,
}

/// Where pg_stat_statements stands in this server and this database.
#[derive(Deserialize)]
struct State {
    is_loaded: bool,
    is_created: bool,
    reset: Option<String>,
    read: Option<String>,
}

/// Calls of the extension's functions for a database, `$1`.
struct Calls {
    reset: String,
    read: String,
}

/// Its name, as a library and as an extension.
pub const EXTENSION: &str = "pg_stat_statements";

/// Whether a server has loaded it: only then its settings are real ones.
pub const LOADED: &str = "SELECT EXISTS (SELECT FROM pg_settings WHERE name = 'pg_stat_statements.max' AND vartype = 'integer')";

/// A function of the extension itself, whatever others have created beside it: who may do so could have made one that fits a
/// call better, and it would run with all rights. With arguments of exactly its types nothing fits better.
const FUNCTION: &str = "SELECT quote_ident(nspname) || '.' || quote_ident(proname) AS name, oidvectortypes(proargtypes) AS types \
    FROM pg_extension e JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid \
        AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e' \
      JOIN pg_proc p ON p.oid = d.objid JOIN pg_namespace n ON n.oid = pronamespace \
    WHERE extname = 'pg_stat_statements'";

/// Whether this server has loaded it. In a transaction.
pub fn is_loaded() -> Result<bool, Fault> {
    Ok(sql::read(LOADED, &[])?.as_deref() == Some("t"))
}

/// The calls, or why there are none. In the transaction that makes them: names may have changed since another one.
fn calls() -> Result<Result<Calls, Statements>, Fault> {
    let text = sql::read(
        &format!(
            "WITH f AS ({FUNCTION}) SELECT jsonb_build_object('is_loaded', ({LOADED}), \
               'is_created', EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_stat_statements'), \
               'reset', (SELECT name || '(0::oid, $1::oid, 0::bigint' || CASE types WHEN 'oid, oid, bigint' THEN ')' ELSE ', false)' END \
                 FROM f WHERE name LIKE '%.pg_stat_statements_reset' AND types IN ('oid, oid, bigint', 'oid, oid, bigint, boolean')), \
               'read', (SELECT name || '(true)' FROM f WHERE name LIKE '%.pg_stat_statements' AND types = 'boolean'))"
        ),
        &[],
    )?;
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
            ..
        } => Ok(Ok(Calls { reset, read })),
        _ => Err(Fault::new(
            sqlstate::NOT_IN_THIS_STATE,
            "extension \"pg_stat_statements\" has another version than its library",
        )
        .hint("Bring it up to date: ALTER EXTENSION pg_stat_statements UPDATE.")),
    }
}

/// Sets what is known of the database's statements to nothing.
fn reset(database: u32) -> Result<Result<(), Statements>, Fault> {
    // 0 would be those of all databases.
    if database == 0 {
        return Ok(Ok(()));
    }
    xact::transaction(|| match calls()? {
        Err(why) => Ok(Err(why)),
        Ok(calls) => {
            let query = format!("SELECT {}::text", calls.reset);
            sql::write(&query, &[Some(&database.to_string())])?;
            Ok(Ok(()))
        }
    })
}

/// A work database has gone: what is known of its statements would stay among what others want to see.
pub fn forget(work_database: u32) {
    janitor::or_log("could not reset pg_stat_statements", || {
        reset(work_database).map(|_| ())
    });
}

impl Watch {
    /// Before the clients begin.
    pub fn begin(&mut self, work_database: u32) -> Result<(), Fault> {
        match or_unknown(reset(work_database))? {
            Some(Ok(())) => self.works = true,
            Some(Err(why)) => self.recorded = Some(why),
            None => {}
        }
        Ok(())
    }

    /// At the start of a window after a warm-up, which is nothing to it. The sooner after it the better: what is done until then
    /// is missing.
    pub fn begin_again(&mut self, work_database: u32) -> Result<(), Fault> {
        if self.works {
            self.works = matches!(or_unknown(reset(work_database))?, Some(Ok(())));
        }
        Ok(())
    }

    /// At its end; with whether the clients had times of reads and writes taken.
    pub fn end(&mut self, work_database: u32, io_timing: bool) -> Result<(), Fault> {
        if !self.works {
            return Ok(());
        }
        let read = || -> Result<Vec<Map<String, Value>>, Fault> {
            let text = xact::transaction(|| {
                let Ok(calls) = calls()? else {
                    return Ok(None);
                };
                let query = format!(
                    "SELECT coalesce(jsonb_agg(to_jsonb(s)), '[]') FROM {} s WHERE dbid = $1::oid",
                    calls.read
                );
                sql::read(&query, &[Some(&work_database.to_string())])
            })?;
            read_json("answer", &text.unwrap_or_default())
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
}
