//! The result of a run that another server has carried out, brought home.

use serde_json::Value;

use super::insert_array;
use crate::{
    errors::{Fault, read_json},
    pg::sql,
};

/// Columns of `run_log` that stay as they are here; all others come from the server that has carried a run out.
const OF_HERE: &str = "{run_id,status,target,target_definition,target_version,workload,duration,transactions,warmup,rate,latency_limit_ms,seed,label,forced,asked,used,\
    requested_by,requested_at,started_at,error_code,error,error_detail,error_hint,work_database,work_database_oid,work_mark,kept}";

/// A table with rows of a run, beside `run_log`.
#[derive(Clone, Copy)]
pub struct Table {
    /// Its name in the schema.
    pub name: &'static str,
    /// What tells the rows of a run apart: columns, in the order of the rows.
    pub key: &'static str,
}

/// All of them. What a run on another server has put there is brought home.
pub const TABLES: &[Table] = &[
    Table::new("checkpoint", "number"),
    Table::new("environment", "run_id"),
    Table::new("histogram", "transaction"),
    Table::new("finding", "code"),
    Table::new("sample", "second"),
    Table::new("wait_event", "second, wait_event_type, wait_event"),
    Table::new("scan", "scan"),
    Table::new("scan_read", "readers, block_bytes"),
    Table::new("fsync", "method, writes, writers"),
    Table::new("statement", "queryid, toplevel"),
    Table::new("statistic", "view, object, counter"),
    Table::new("maintenance", "position"),
];

impl Table {
    const fn new(name: &'static str, key: &'static str) -> Self {
        Self { name, key }
    }
}

/// Stores the whole result of a run that another server has carried out, and that is done: its row in a document, and for each of [`TABLES`]
/// arrays of rows, JSON.
pub fn import(
    run_id: i64,
    document: &str,
    tables: &[Vec<String>],
    phases: &Value,
) -> Result<(), Fault> {
    let id = run_id.to_string();
    let columns = sql::read(
        "SELECT jsonb_build_array(string_agg(attname, ', '), string_agg('n.' || attname, ', ')) FROM pg_attribute \
         WHERE attrelid = 'fsbench.run_log'::regclass AND attnum > 0 AND NOT attisdropped AND attname <> ALL ($1::name[])",
        &[Some(OF_HERE)],
    )?;
    let (columns, values): (String, String) = read_json("columns", &columns.unwrap_or_default())?;
    // What was used is what was asked for here, but for a window that was cut there, and what was chosen there.
    sql::write(
        &format!(
            "UPDATE fsbench.run_log r SET status = 'done', (used, {columns}) = (SELECT \
                 r.used || jsonb_build_object('bound', n.used->'bound', 'warmup_ms', n.used->'warmup_ms', \
                   'scale', n.scale, 'clients', n.clients) || jsonb_build_object('options', coalesce(r.used->'options', '{{}}') || coalesce((SELECT jsonb_object_agg(key, value) \
                     FROM jsonb_each(n.used->'options') WHERE key IN ('writers', 'degrees', 'loaders', 'readers')), '{{}}')), {values} \
               FROM jsonb_populate_record(NULL::fsbench.run_log, $2::jsonb->'run' || jsonb_build_object( \
                 'ended_at', clock_timestamp(), 'phases', $3::jsonb)) n) \
             WHERE r.run_id = $1::bigint"
        ),
        &[Some(&id), Some(document), Some(&phases.to_string())],
    )?;
    for (table, slices) in TABLES.iter().zip(tables) {
        for slice in slices {
            insert_array(run_id, table.name, slice)?;
        }
    }
    Ok(())
}
