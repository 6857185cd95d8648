//! Rows of studies. All of this with the rights of the extension's owner.

use std::collections::BTreeMap;

use pgfsbench_core::study::{
    arguments::StudyArguments,
    definition::Study,
    evidence::Knee,
    not_tested::{Facts, OnImage},
};
use serde::Deserialize;

use crate::{
    errors::{Fault, read_stored, to_json_text},
    pg::sql,
};

/// A study that was started.
#[derive(Debug, Deserialize)]
pub struct Started {
    pub definition: Study,
    pub asked: StudyArguments,
    pub facts: Facts,
    pub requested_by: String,
    /// OID of the role of that name; None when there is none any more.
    pub role: Option<u32>,
}

/// The study of this name that a user has defined.
pub fn defined(name: &str) -> Result<Option<Study>, Fault> {
    let text = sql::read_latest(
        "SELECT definition FROM fsbench.study_definition WHERE study = $1",
        &[Some(name)],
    )?;
    text.map(|text| read_stored("study", &text)).transpose()
}

/// Names of those.
pub fn names() -> Result<Vec<String>, Fault> {
    let text = sql::read_latest(
        "SELECT coalesce(jsonb_agg(study ORDER BY study), '[]') FROM fsbench.study_definition",
        &[],
    )?;
    read_stored("studies", &text.unwrap_or_default())
}

/// Forgets one; false if there is none.
pub fn forget(name: &str) -> Result<bool, Fault> {
    let gone = sql::write(
        "DELETE FROM fsbench.study_definition WHERE study = $1 RETURNING study",
        &[Some(name)],
    )?;
    Ok(gone.is_some())
}

/// The study of this name that was started.
pub fn started(name: &str) -> Result<Option<Started>, Fault> {
    let text = sql::read_latest(
        "SELECT to_jsonb(s) || jsonb_build_object('role', r.oid::bigint) FROM fsbench.study s \
         LEFT JOIN pg_catalog.pg_roles r ON r.rolname = s.requested_by WHERE s.study = $1",
        &[Some(name)],
    )?;
    text.map(|text| read_stored("study", &text)).transpose()
}

/// Stores that a study is started.
pub fn insert(
    study: &Study,
    arguments: &StudyArguments,
    facts: &Facts,
    by: &str,
) -> Result<(), Fault> {
    sql::write(
        "INSERT INTO fsbench.study (study, definition, asked, facts, requested_by) \
         VALUES ($1, $2::jsonb, jsonb_strip_nulls($3::jsonb), $4::jsonb, $5)",
        &[
            Some(&study.study),
            Some(&to_json_text(study)?),
            Some(&to_json_text(arguments)?),
            Some(&to_json_text(facts)?),
            Some(by),
        ],
    )?;
    Ok(())
}

/// Stores that a target belongs to it. One that was kept when the study was dropped does already.
pub fn insert_target(study: &str, variant: &str, target: &str) -> Result<(), Fault> {
    sql::write(
        "INSERT INTO fsbench.study_target (study, variant, target_name) VALUES ($1, $2, $3) \
         ON CONFLICT (study, variant) DO UPDATE SET target_name = EXCLUDED.target_name",
        &[Some(study), Some(variant), Some(target)],
    )?;
    Ok(())
}

/// Stores that an experiment is of one of its questions.
pub fn insert_experiment(study: &str, question: &str, experiment_id: i64) -> Result<(), Fault> {
    sql::write(
        "INSERT INTO fsbench.study_experiment (study, question, experiment_id) VALUES ($1, $2, $3::bigint)",
        &[
            Some(study),
            Some(question),
            Some(&experiment_id.to_string()),
        ],
    )?;
    Ok(())
}

/// Experiments by question.
pub fn experiments(study: &str) -> Result<BTreeMap<String, i64>, Fault> {
    let text = sql::read_latest(
        "SELECT coalesce(jsonb_object_agg(question, experiment_id), '{}') FROM fsbench.study_experiment WHERE study = $1",
        &[Some(study)],
    )?;
    read_stored("experiments of a study", &text.unwrap_or_default())
}

/// An experiment of it that is on, or waits.
pub fn on(study: &str) -> Result<Option<String>, Fault> {
    sql::read_latest(
        "SELECT e.experiment FROM fsbench.study_experiment s JOIN fsbench.experiment e USING (experiment_id) \
         WHERE s.study = $1 AND e.status IN ('queued', 'running') ORDER BY e.experiment_id LIMIT 1",
        &[Some(study)],
    )
}

/// Whether this study alone has made a target.
pub fn has_made(study: &str, target: &str) -> Result<bool, Fault> {
    let found = sql::read_latest(
        "SELECT 1 FROM fsbench.study_target WHERE study = $1 AND target_name = $2",
        &[Some(study), Some(target)],
    )?;
    Ok(found.is_some())
}

/// Forgets the targets that a study has made.
pub fn forget_targets(study: &str) -> Result<(), Fault> {
    sql::write(
        "WITH locked AS (SELECT t.target FROM fsbench.target t \
           WHERE t.target IN (SELECT s.target_name FROM fsbench.study_target s WHERE s.study = $1) ORDER BY t.target FOR UPDATE OF t) \
         DELETE FROM fsbench.target t USING locked l WHERE t.target = l.target",
        &[Some(study)],
    )?;
    Ok(())
}

/// Recorded targets of a study that are on images.
pub fn on_images(study: &Study) -> Result<BTreeMap<String, OnImage>, Fault> {
    let targets: Vec<&String> = study
        .variants
        .iter()
        .filter_map(|v| v.target.as_ref())
        .collect();
    let text = sql::read_latest(
        "SELECT coalesce(jsonb_object_agg(t.target, jsonb_build_object('mount_options', t.mount_options, 'pool_properties', t.pool_properties, \
           'block_settings', t.block_settings)), '{}') \
         FROM fsbench.target t WHERE t.kind = 'image' AND t.target IN (SELECT jsonb_array_elements_text($1::jsonb))",
        &[Some(&to_json_text(&targets)?)],
    )?;
    read_stored("targets of a study", &text.unwrap_or_default())
}

/// The values of a figure of the runs that count, by number of target.
pub fn values(experiment_id: i64, metric: &str) -> Result<Vec<Vec<f64>>, Fault> {
    let text = sql::read_latest(
        include_str!("queries/study_values.sql"),
        &[Some(&experiment_id.to_string()), Some(metric)],
    )?;
    read_stored("figures of runs", &text.unwrap_or_default())
}

/// Knees of the scans of each target, all its runs together; of what a dump has brought, only what scans may have.
pub fn knees(experiment_id: i64) -> Result<BTreeMap<usize, Knee>, Fault> {
    let text = sql::read_latest(
        include_str!("queries/study_knees.sql"),
        &[Some(&experiment_id.to_string())],
    )?;
    let knees: BTreeMap<String, Knee> =
        read_stored("knees of an experiment", &text.unwrap_or_default())?;
    let by_number = knees.into_iter();
    Ok(by_number
        .filter_map(|(number, knee)| Some((number.parse().ok()?, knee)))
        .collect())
}

/// Removes a study; its experiments are removed before. Gives the names of its targets, which stay known as its own.
pub fn delete(study: &str) -> Result<Vec<String>, Fault> {
    let targets = sql::read_latest(
        "SELECT coalesce(jsonb_agg(target_name ORDER BY target_name), '[]') FROM fsbench.study_target WHERE study = $1",
        &[Some(study)],
    )?;
    sql::write("DELETE FROM fsbench.study WHERE study = $1", &[Some(study)])?;
    read_stored("targets of a study", &targets.unwrap_or_default())
}

/// The runs of an experiment, also those that do not count.
pub fn runs(experiment_id: i64) -> Result<String, Fault> {
    let text = sql::read_latest(
        "SELECT coalesce(jsonb_agg(run_id), '[]') FROM fsbench.experiment_run WHERE experiment_id = $1::bigint AND run_id IS NOT NULL",
        &[Some(&experiment_id.to_string())],
    )?;
    Ok(text.unwrap_or_default())
}

/// Removes runs with everything that is stored of them.
pub fn delete_runs(runs: &str) -> Result<(), Fault> {
    sql::write(
        "DELETE FROM fsbench.run_log WHERE run_id IN (SELECT jsonb_array_elements_text($1::jsonb)::bigint) AND status <> 'running'",
        &[Some(runs)],
    )?;
    Ok(())
}
