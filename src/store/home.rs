//! The result of a run that another server has carried out, brought home.

use serde_json::Value;

use crate::{errors::Fault, pg::sql};

/// Columns of `run_log` that come from the server that has carried a run out.
const MEASURED: &[&str] = &[
    "balances",
    "checkpoints_logged",
    "checkpoints_requested",
    "checkpoints_timed",
    "clock_read_ns",
    "clients",
    "commit_avg_ms",
    "commit_max_ms",
    "commit_p50_ms",
    "commit_p99_ms",
    "complete_checkpoints",
    "data_bytes",
    "failed",
    "late",
    "latency_avg_ms",
    "latency_max_ms",
    "latency_p50_ms",
    "latency_p90_ms",
    "latency_p95_ms",
    "latency_p99_ms",
    "latency_p999_ms",
    "latency_stddev_ms",
    "load_ms",
    "measured_from",
    "measured_ms",
    "scale",
    "skipped",
    "stall_seconds",
    "status",
    "tps",
    "track_io_timing",
    "track_wal_io_timing",
    "transactions_outside",
    "transactions_total",
    "wal_bytes",
    "xids_used",
    "zero_seconds",
    "ended_at",
    "phases",
    "facts",
    "client_wal_records",
    "client_wal_fpi",
    "client_wal_bytes",
    "client_wal_writes",
    "client_wal_syncs",
    "client_wal_write_ms",
    "client_wal_sync_ms",
    "client_blocks_hit",
    "client_blocks_read",
    "client_blocks_dirtied",
    "client_blocks_written",
    "client_block_read_ms",
    "client_block_write_ms",
    "client_cpu_seconds",
    "cpu_seconds",
    "cpu_ms_per_transaction",
    "device_read_bytes",
    "device_write_bytes",
    "device_flushes",
    "device_bytes_per_transaction",
    "flushes_per_transaction",
    "changed_bytes",
    "server_write_bytes",
    "server_write_amplification",
    "filesystem_write_amplification",
    "write_amplification",
    "wal_start_lsn",
    "wal_end_lsn",
];

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

/// Stores the whole result of a run that another server has carried out: its row in a document, and for each of [`TABLES`]
/// arrays of rows, JSON.
pub fn import(
    run_id: i64,
    document: &str,
    tables: &[Vec<String>],
    phases: &Value,
) -> Result<(), Fault> {
    let id = run_id.to_string();
    let columns = MEASURED.join(", ");
    let values: Vec<String> = MEASURED
        .iter()
        .map(|column| format!("n.{column}"))
        .collect();
    let values = values.join(", ");
    // What was used is what was asked for here, but for a window that was cut there, and what was chosen there.
    sql::write(
        &format!(
            "UPDATE fsbench.run_log r SET (used, {columns}) = (SELECT \
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
            import_rows(table.name, &id, slice)?;
        }
    }
    Ok(())
}

pub(super) fn import_rows(table: &str, run_id: &str, rows: &str) -> Result<(), Fault> {
    sql::write(
        &format!(
            "INSERT INTO fsbench.{table} SELECT n.* FROM jsonb_array_elements($2::jsonb) e, \
               jsonb_populate_record(NULL::fsbench.{table}, e || jsonb_build_object('run_id', $1::bigint)) n"
        ),
        &[Some(run_id), Some(rows)],
    )?;
    Ok(())
}
