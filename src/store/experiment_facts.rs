//! Stored facts about the runs of an experiment other than its metric.

use std::collections::BTreeMap;

use pgfsbench_core::{
    experiment::{answer::warning::WarningCount, limits::ResourceUse, recommend::Facts},
    finding::Durability,
};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    errors::{Fault, read_stored},
    pg::sql,
};

/// Facts of a target of an experiment beside its metric.
#[derive(Debug, Default, Deserialize)]
pub struct TargetFactsRow {
    pub number: usize,
    /// Promises of its runs, each kind once.
    pub durability: Option<Vec<Durability>>,
    pub warnings: Option<Vec<WarningCount>>,
    /// Checkpoints that began in the window of a run because of WAL, and all that did: means.
    pub forced_checkpoints: Option<f64>,
    pub checkpoints: Option<f64>,
    /// Whether it is on an SSD that was not trimmed before each run: what the run before has left there may show.
    pub carries_over: bool,
}

/// Facts of all targets, from the runs that count.
pub fn target_facts(experiment_id: i64) -> Result<Vec<TargetFactsRow>, Fault> {
    let text = sql::read_latest(
        include_str!("queries/experiment_target_facts.sql"),
        &[Some(&experiment_id.to_string())],
    )?;
    read_stored("targets of an experiment", &text.unwrap_or_default())
}

/// The stored environments of the runs of each target, as `recommend` takes them.
pub fn facts(experiment_id: i64) -> Result<Vec<Facts>, Fault> {
    let text = sql::read_latest(
        include_str!("queries/experiment_facts.sql"),
        &[Some(&experiment_id.to_string())],
    )?;
    read_stored("targets of an experiment", &text.unwrap_or_default())
}

/// Shares of each resource that were used in the windows of each target: means over the last three runs that count, since a second has many rows.
pub fn used(experiment_id: i64) -> Result<Vec<ResourceUse>, Fault> {
    let text = sql::read_latest(
        include_str!("queries/experiment_used.sql"),
        &[Some(&experiment_id.to_string())],
    )?;
    read_stored("what was used up", &text.unwrap_or_default())
}

/// Where a run that counts was made.
#[derive(Clone, Debug, Deserialize)]
pub struct RunSurroundings {
    pub block: u32,
    pub number: usize,
    pub run_id: i64,
    /// Tells it from others: the same where nothing that is compared differs.
    pub mark: String,
    /// Values of factors.
    pub own: Value,
}

/// Fields that change from moment to moment, or with each run.
const OF_THE_MOMENT: &str = "{run_id,filesystem_free_bytes,filesystem_size_bytes,cpu_mhz_min,cpu_mhz_max,st_dev,wal_st_dev,device,wal_device,data_directory,wal_directory,\
    mount_point,wal_mount_point,mkfs_command,configuration_fingerprint,storage,durability_codes}";

/// Where the runs that count were made, in their order.
pub fn surroundings(experiment_id: i64) -> Result<Vec<RunSurroundings>, Fault> {
    let text = sql::read_latest(
        "SELECT coalesce(jsonb_agg(jsonb_build_object('block', x.block, 'number', x.target_number, 'run_id', x.run_id, 'own', t.own, \
             'mark', hashtextextended(concat_ws(' ', x.target_number, r.target_definition, to_jsonb(e) - $2::text[], e.storage #> '{result,serial}'), 0)::text) ORDER BY x.planned_at), '[]') \
         FROM fsbench.experiment_run x JOIN fsbench.experiment_target t USING (experiment_id, target_number) JOIN fsbench.run_log r USING (run_id) \
           LEFT JOIN fsbench.environment e USING (run_id) \
         WHERE x.experiment_id = $1::bigint AND x.outcome IN ('measured', 'behind')",
        &[Some(&experiment_id.to_string()), Some(OF_THE_MOMENT)],
    )?;
    read_stored("surroundings of runs", &text.unwrap_or_default())
}

/// Settings that this server has, and when each can be changed.
pub fn contexts() -> Result<BTreeMap<String, String>, Fault> {
    let text = sql::read(
        "SELECT jsonb_object_agg(name, context) FROM pg_catalog.pg_settings",
        &[],
    )?;
    read_stored("settings", &text.unwrap_or_default())
}
