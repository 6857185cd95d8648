//! Which definition of its target a run has measured. Results hang on the name of a target, whose definition can change: each
//! definition that has results has a number of its own, the first one 1.

use pgfsbench_core::target::redefined::Results;
use serde_json::Value;

use crate::{
    errors::{Fault, read_stored},
    pg::sql,
};

/// Stores with a run how its target is defined now.
pub fn set_definition(run_id: i64) -> Result<(), Fault> {
    sql::write(
        "UPDATE fsbench.run_log r SET target_definition = fsbench._definition(t) FROM fsbench.target t \
         WHERE t.target = r.target AND r.run_id = $1::bigint",
        &[Some(&run_id.to_string())],
    )?;
    Ok(())
}

/// Numbers the definition of a run that is done: as those of other results that have the same, or anew.
pub fn set_version(run_id: i64) -> Result<(), Fault> {
    sql::write(
        "UPDATE fsbench.run_log r SET target_version = \
           (SELECT version FROM fsbench._results_of(r.target, r.target_definition, r.run_id)) \
         WHERE r.run_id = $1::bigint AND r.target_definition IS NOT NULL",
        &[Some(&run_id.to_string())],
    )?;
    Ok(())
}

/// The results of a target's name, with the change that this session has just made; None if there is no such target.
pub fn results_of(target: &str) -> Result<Option<Results>, Fault> {
    let text = sql::read_latest(
        "SELECT to_jsonb(r) || jsonb_build_object('definition', d.definition) \
         FROM (SELECT target, fsbench._definition(t) AS definition FROM fsbench.target t WHERE target = $1) d, \
           fsbench._results_of(d.target, d.definition) r",
        &[Some(target)],
    )?;
    text.map(|text| read_stored("results", &text)).transpose()
}

/// All that is stored of where and how a run was made, as [`pgfsbench_core::difference`] takes it; None when there is no such
/// run.
pub fn document(run_id: i64) -> Result<Option<Value>, Fault> {
    let text = sql::read_latest(
        "SELECT jsonb_build_object('run', jsonb_build_object('target', r.target, 'status', r.status), \
           'definition', r.target_definition, 'used', r.used, 'environment', to_jsonb(e)) \
         FROM fsbench.run_log r LEFT JOIN fsbench.environment e USING (run_id) WHERE r.run_id = $1::bigint",
        &[Some(&run_id.to_string())],
    )?;
    text.map(|text| read_stored("run", &text)).transpose()
}

/// Whether two targets are defined alike, by all that a definition has. By which marks a device is recognized, each run looks at by itself.
pub fn are_alike(target: &str, other: &str) -> Result<bool, Fault> {
    let found = sql::read_latest(
        "SELECT 1 FROM fsbench.target a, fsbench.target b WHERE a.target = $1 AND b.target = $2 \
           AND fsbench._definition(a) - '{device_identity,log_device_identity}'::text[] = fsbench._definition(b) - '{device_identity,log_device_identity}'::text[]",
        &[Some(target), Some(other)],
    )?;
    Ok(found.is_some())
}
