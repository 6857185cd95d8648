//! What is stored of the runs of an experiment beside the metric that it is about.

use std::collections::BTreeMap;

use pgfsbench_core::experiment::{limits::Used, recommend::Facts};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    errors::{Fault, read_json},
    pg::sql,
};

/// Facts of a target of an experiment beside its metric.
#[derive(Debug, Default, Deserialize)]
pub struct BesideRow {
    pub number: usize,
    pub durability: Option<String>,
    pub warnings: Option<String>,
    pub runs: u32,
    /// How many of its runs had a processor probe far from the median of all.
    pub probes_off: u32,
    /// Checkpoints that began in the window of a run because of WAL, and all that did: means.
    pub forced_checkpoints: Option<f64>,
    pub checkpoints: Option<f64>,
    /// Whether it is on an SSD that was not trimmed before each run: what the run before has left there may show.
    pub carries_over: bool,
}

/// The same of all targets, by what is stored of the runs that count.
pub fn beside(experiment_id: i64) -> Result<Vec<BesideRow>, Fault> {
    let text = sql::read_latest(
        "WITH usual AS (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x.processor_probe) AS probe FROM fsbench.experiment_run x WHERE x.experiment_id = $1::bigint), \
         counted AS (SELECT x.target_number AS number, x.run_id, abs(x.processor_probe / (SELECT u.probe FROM usual u) - 1) > 0.05 AS is_off, \
             r.target_definition ->> 'kind' = 'device' AND coalesce(r.target_definition ->> 'ssd_state', '') <> 'trimmed' \
               AND (SELECT e.discard_max_bytes > 0 FROM fsbench.environment e WHERE e.run_id = x.run_id) AS carries_over, \
             r.checkpoints_requested AS forced, r.checkpoints_requested + r.checkpoints_timed AS checkpoints \
           FROM fsbench.experiment_run x JOIN fsbench.run_log r USING (run_id) WHERE x.experiment_id = $1::bigint AND x.outcome IN ('measured', 'behind')), \
         of_target AS (SELECT c.number, count(*) AS runs, count(*) FILTER (WHERE c.is_off) AS probes_off, \
             coalesce(bool_or(c.carries_over), false) AS carries_over, avg(c.forced)::float8 AS forced, avg(c.checkpoints)::float8 AS checkpoints, \
             string_agg(DISTINCT e.durability, '; ') AS durability \
           FROM counted c LEFT JOIN fsbench.environment e USING (run_id) GROUP BY 1), \
         found AS (SELECT c.number, f.code, count(*) AS with_it, max(f.weight) AS weight FROM counted c JOIN fsbench.finding f USING (run_id) \
           WHERE f.severity = 'warning' GROUP BY 1, 2) \
         SELECT coalesce(jsonb_agg(jsonb_build_object('number', t.number, 'durability', t.durability, 'runs', t.runs, 'probes_off', t.probes_off, 'carries_over', t.carries_over, 'forced_checkpoints', t.forced, 'checkpoints', t.checkpoints, \
           'warnings', (SELECT string_agg(CASE WHEN f.with_it < t.runs THEN format('%s (%s of %s runs)', f.code, f.with_it, t.runs) \
               ELSE f.code END, ', ' ORDER BY f.weight DESC, f.code COLLATE \"C\") FROM found f WHERE f.number = t.number))), '[]') \
         FROM of_target t",
        &[Some(&experiment_id.to_string())],
    )?;
    read_json("targets of an experiment", &text.unwrap_or_default())
}

/// The stored environments of the runs of each target, as `recommend` takes them.
pub fn facts(experiment_id: i64) -> Result<Vec<Facts>, Fault> {
    let text = sql::read_latest(
        "WITH counted AS (SELECT x.target_number AS number, min(x.run_id) AS run_id, percentile_cont(0.5) WITHIN GROUP (ORDER BY r.stall_seconds) AS stalls, \
             avg(r.checkpoints_requested)::float8 AS forced, avg(r.checkpoints_requested + r.checkpoints_timed)::float8 AS checkpoints \
           FROM fsbench.experiment_run x JOIN fsbench.run_log r USING (run_id) \
           WHERE x.experiment_id = $1::bigint AND x.outcome IN ('measured', 'behind') GROUP BY 1) \
         SELECT coalesce(jsonb_agg(jsonb_build_object('number', c.number, 'kind', r.target_definition ->> 'kind', 'filesystem', e.filesystem, \
           'mkfs_command', e.mkfs_command, 'has_mkfs_options', coalesce(r.target_definition ->> 'mkfs_options', '') <> '', 'device', r.target_definition ->> 'device', 'kernel', nullif(split_part(e.kernel, ' ', 2), ''), 'mount_options', r.target_definition ->> 'mount_options', 'durability', e.durability, \
           'virtualization', e.virtualization, 'data_bytes', r.data_bytes, 'memory_bytes', e.memory_bytes, 'stall_seconds', c.stalls, \
           'crash', r.used #>> '{options,crash}' = 'true', 'power_loss_protected', (r.target_definition ->> 'power_loss_protected')::boolean, \
           'settings', coalesce(r.target_definition -> 'settings', '{}') || coalesce(t.own -> 'settings', '{}'), \
           'block_settings', r.target_definition -> 'block_settings', 'kernel_settings', r.target_definition -> 'kernel_settings', \
           'workload', r.workload, 'clients', r.clients, 'forced_checkpoints', c.forced, 'checkpoints', c.checkpoints) ORDER BY c.number), '[]') \
         FROM counted c JOIN fsbench.run_log r USING (run_id) LEFT JOIN fsbench.environment e USING (run_id) \
           JOIN fsbench.experiment_target t ON t.experiment_id = $1::bigint AND t.target_number = c.number",
        &[Some(&experiment_id.to_string())],
    )?;
    read_json("targets of an experiment", &text.unwrap_or_default())
}

/// What was used up in the windows of each target: means over the last three runs that count, since a second has many rows.
pub fn used(experiment_id: i64) -> Result<Vec<Used>, Fault> {
    let text = sql::read_latest(
        "SELECT coalesce(jsonb_agg(u), '[]') FROM (SELECT x.number, avg(s.idle) AS idle, avg(s.busy) AS device_busy, avg(s.memory) AS memory_pressure, \
             avg(w.locks) AS locks, avg(w.flushes) AS flushes \
           FROM (SELECT r.target_number AS number, r.run_id, row_number() OVER (PARTITION BY r.target_number ORDER BY r.block DESC) AS nth FROM fsbench.experiment_run r \
             WHERE r.experiment_id = $1::bigint AND r.outcome IN ('measured', 'behind')) x LEFT JOIN LATERAL (SELECT avg(s.cpu_idle_percent + s.cpu_iowait_percent) / 100 AS idle, \
               avg(greatest(s.device_util_percent, s.wal_device_util_percent)) / 100 AS busy, avg(s.pressure_memory_some_percent) / 100 AS memory \
             FROM fsbench.sample s WHERE s.run_id = x.run_id) s ON true \
           LEFT JOIN LATERAL (SELECT (sum(w.samples) FILTER (WHERE w.wait_event_type = 'Lock' OR (w.wait_event_type = 'LWLock' \
                 AND w.wait_event NOT IN ('WALWrite', 'WALInsert'))))::float8 / nullif(sum(w.samples), 0) AS locks, \
               (sum(w.samples) FILTER (WHERE w.wait_event IN ('WALWrite', 'WALSync', 'WalSync', 'WalWrite')))::float8 / nullif(sum(w.samples), 0) AS flushes \
             FROM fsbench.wait_event w WHERE w.run_id = x.run_id) w ON true \
           WHERE x.nth <= 3 GROUP BY x.number) u",
        &[Some(&experiment_id.to_string())],
    )?;
    read_json("what was used up", &text.unwrap_or_default())
}

/// Where a run that counts was made.
#[derive(Clone, Debug, Deserialize)]
pub struct Surrounding {
    pub block: u32,
    pub number: usize,
    pub run_id: i64,
    /// Tells it from others: the same where nothing that is compared differs.
    pub mark: String,
    /// Values of factors.
    pub own: Value,
}

/// What differs from one moment to the next, and whatever is compared.
const OF_THE_MOMENT: &str = "{run_id,filesystem_free_bytes,filesystem_size_bytes,cpu_mhz_min,cpu_mhz_max,st_dev,wal_st_dev,device,wal_device,data_directory,wal_directory,\
    mount_point,wal_mount_point,mkfs_command,configuration_fingerprint,storage}";

/// Where the runs that count were made, in their order.
pub fn surroundings(experiment_id: i64) -> Result<Vec<Surrounding>, Fault> {
    let text = sql::read_latest(
        "SELECT coalesce(jsonb_agg(jsonb_build_object('block', x.block, 'number', x.target_number, 'run_id', x.run_id, 'own', t.own, \
             'mark', hashtextextended(concat_ws(' ', x.target_number, r.target_definition, to_jsonb(e) - $2::text[], e.storage #> '{result,serial}'), 0)::text) ORDER BY x.planned_at), '[]') \
         FROM fsbench.experiment_run x JOIN fsbench.experiment_target t USING (experiment_id, target_number) JOIN fsbench.run_log r USING (run_id) \
           LEFT JOIN fsbench.environment e USING (run_id) \
         WHERE x.experiment_id = $1::bigint AND x.outcome IN ('measured', 'behind')",
        &[Some(&experiment_id.to_string()), Some(OF_THE_MOMENT)],
    )?;
    read_json("surroundings of runs", &text.unwrap_or_default())
}

/// Settings that this server has, and when each can be changed.
pub fn contexts() -> Result<BTreeMap<String, String>, Fault> {
    let text = sql::read(
        "SELECT jsonb_object_agg(name, context) FROM pg_catalog.pg_settings",
        &[],
    )?;
    read_json("settings", &text.unwrap_or_default())
}
