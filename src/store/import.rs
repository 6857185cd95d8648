//! The result of a run that another server has carried out, brought home.

use pgfsbench_core::{
    spec::ResultTable,
    workload::{self, measured_tables},
};
use serde_json::Value;

use super::insert_array;
use crate::{
    errors::{Fault, read_json, sqlstate},
    pg::{libpq::IS_IT_PGFSBENCH, sql},
};

/// Columns of `run_log` that stay as they are here; all others come from the server that has carried a run out.
const OF_HERE: &str = "{run_id,status,target,target_definition,target_version,workload,duration,transactions,warmup,rate,latency_limit_ms,seed,label,forced,asked,used,\
    requested_by,requested_at,started_at,error_code,error,error_detail,error_hint,work_database,work_database_oid,work_mark,kept,copied}";

/// Refuses figures that no run has. `document` and `tables` are as [`import`] takes them.
pub fn check(document: &str, tables: &[Vec<String>]) -> Result<(), Fault> {
    let run = "SELECT fsbench._odd_column('run_log', jsonb_build_array($1::jsonb -> 'run'), array_remove($2::name[], 'used'))";
    refuse_odd("run_log", sql::read(run, &[Some(document), Some(OF_HERE)])?)?;
    for (table, slices) in measured_tables().iter().zip(tables) {
        for slice in slices {
            check_rows(*table, slice)?;
        }
    }
    Ok(())
}

/// Refuses rows of a table, a JSON array, with a figure that no run has.
pub fn check_rows(table: ResultTable, rows: &str) -> Result<(), Fault> {
    let odd = "SELECT fsbench._odd_column($1::name, $2::jsonb, '{run_id}'::name[])";
    refuse_odd(table.name, sql::read(odd, &[Some(table.name), Some(rows)])?)
}

/// Stores rows of a table, a JSON array.
pub fn insert_rows(run_id: i64, table: ResultTable, rows: &str) -> Result<(), Fault> {
    insert_array(run_id, table.name, rows)
}

fn refuse_odd(table: &str, column: Option<String>) -> Result<(), Fault> {
    match column {
        None => Ok(()),
        Some(column) => Err(Fault::new(
            sqlstate::SYSTEM,
            "the target server has sent a figure that no run has",
        )
        .detail(format!(
            "Column {column} of table {table} is of a wrong kind, or out of range."
        ))
        .hint(IS_IT_PGFSBENCH)),
    }
}

/// Forgets the hints that another server has given with its findings: they would be shown as those of pgfsbench.
pub fn forget_hints(run_id: i64) -> Result<(), Fault> {
    sql::write(
        "UPDATE fsbench.finding SET hint = NULL WHERE run_id = $1::bigint",
        &[Some(&run_id.to_string())],
    )?;
    Ok(())
}

/// Stores the whole result of a run that another server has carried out, and that is done: its row in a document, and for each of [`measured_tables`]
/// arrays of rows, JSON.
pub fn import(
    run_id: i64,
    document: &str,
    tables: &[Vec<String>],
    phases: &Value,
    steps: &Value,
) -> Result<(), Fault> {
    let id = run_id.to_string();
    let columns = sql::read(
        "SELECT jsonb_build_array(string_agg(attname, ', '), string_agg('n.' || attname, ', ')) FROM pg_attribute \
         WHERE attrelid = 'fsbench.run_log'::regclass AND attnum > 0 AND NOT attisdropped AND attname <> ALL ($1::name[])",
        &[Some(OF_HERE)],
    )?;
    let (columns, values): (String, String) = read_json("columns", &columns.unwrap_or_default())?;
    let there = workload::options_of_machine().join(",");
    sql::write(
        &include_str!("queries/import_run.sql")
            .replace("{columns}", &columns)
            .replace("{values}", &values),
        &[
            Some(&id),
            Some(document),
            Some(&phases.to_string()),
            Some(&there),
            Some(&steps.to_string()),
        ],
    )?;
    for (table, slices) in measured_tables().iter().zip(tables) {
        for slice in slices {
            insert_array(run_id, table.name, slice)?;
        }
    }
    Ok(())
}
