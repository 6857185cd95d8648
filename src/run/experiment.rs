//! Functions on experiments for conductors and sessions.

use std::fs;

use pgfsbench_core::{
    difference::{self, Area, Matters},
    experiment::{
        answer::{self, Beside},
        metric::Metric,
        recommend::Facts,
        state::{Goal, State},
        steps,
    },
    verdict::Reason,
};

use serde_json::Value;

use crate::{
    errors::Fault,
    pg::{sql, xact},
    store::{self, experiment as rows},
};

/// Tells this start of the operating system from others.
pub fn boot_id() -> String {
    let read = fs::read_to_string("/proc/sys/kernel/random/boot_id");
    read.unwrap_or_default().trim().to_owned()
}

/// Versions of kernel, server and extension, in one text.
pub fn versions() -> Result<String, Fault> {
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let server = xact::transaction(|| sql::read("SELECT current_setting('server_version')", &[]))?;
    Ok(format!(
        "kernel {}, PostgreSQL {}, pgfsbench {}",
        kernel.trim(),
        server.unwrap_or_default(),
        super::cleanup::VERSION
    ))
}

/// Ends an experiment after its last complete block: looks, status, and what is said of it. In a transaction.
pub fn end(
    state: &State,
    blocks: u32,
    status: &str,
    ended_by: Option<Reason>,
    why: Option<&str>,
) -> Result<(), Fault> {
    let id = state.experiment.experiment_id;
    let planned = state.experiment.looks();
    let looks = match ended_by {
        Some(reason) => planned.ended(blocks, reason),
        None => planned,
    };
    rows::end(id, status, why, &looks.looks, ended_by)?;
    if let Some(state) = rows::state(id, None)? {
        let said = said(&state, steps::declared(&state))?;
        let line = answer::line(&state, &said);
        rows::set_answer(id, &line)?;
        rows::log(id, status, Some(blocks), Some(&line), None)?;
    }
    Ok(())
}

/// The answer for each target, with confirmations by other experiments. In a transaction.
pub fn said(state: &State, metric: Metric) -> Result<Vec<answer::Row>, Fault> {
    let beside = beside(state)?;
    let mut said = answer::rows(state, metric, &beside);
    let name = &state.experiment.experiment;
    for id in rows::sessions_of(name)? {
        let Some(other) = rows::state(id, None)? else {
            continue;
        };
        if metric.name == state.experiment.metric && answer::is_another_session(state, &other) {
            answer::confirm(&mut said, state, &other);
        }
    }
    Ok(said)
}

/// Facts of the targets beside their metric, by number. In a transaction.
pub fn beside(state: &State) -> Result<Vec<Beside>, Fault> {
    let known = rows::beside(state.experiment.experiment_id)?;
    let mut beside = vec![Beside::default(); state.targets.len()];
    let of = |number: usize| known.iter().find(|row| row.number == number);
    let reference = state.experiment.baseline.unwrap_or(0);
    for row in &known {
        let Some(target) = beside.get_mut(row.number) else {
            continue;
        };
        target.durability.clone_from(&row.durability);
        target.warnings = warnings(row);
        let other = match (state.experiment.goal, row.number == reference) {
            (Goal::Best, true) => None,
            _ => of(reference).filter(|_| row.number != reference),
        };
        if let (Some(own), Some(other)) = (row.first_run, other.and_then(|o| o.first_run)) {
            target.differs = undeclared(other, own)?;
        }
    }
    Ok(beside)
}

/// Findings of a target's runs, and how many were made while the processor was not as usual.
fn warnings(row: &rows::BesideRow) -> Option<String> {
    let off = (row.probes_off > 0)
        .then(|| format!("processor_probe ({} of {} runs)", row.probes_off, row.runs));
    let parts: Vec<String> = row.warnings.clone().into_iter().chain(off).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The stored environments of the runs of each target. In a transaction.
pub fn facts(state: &State) -> Result<Vec<Facts>, Fault> {
    rows::facts(state.experiment.experiment_id)
}

/// Differences between two runs of an experiment that were neither declared nor follow from the targets.
fn undeclared(a: i64, b: i64) -> Result<Option<String>, Fault> {
    let (Some(a), Some(b)) = (store::document(a)?, store::document(b)?) else {
        return Ok(None);
    };
    if is_on_another_device(&a, &b) {
        return Ok(Some("device confounded".into()));
    }
    let differences = difference::between(&a, &b);
    let is_confounding = |d: &difference::Difference| {
        d.matters != Matters::Hardly && matches!(d.area, Area::Version | Area::Kernel | Area::Host)
    };
    let names: Vec<&str> = (differences.iter())
        .filter(|d| is_confounding(d))
        .map(|d| d.name.as_str())
        .collect();
    Ok((!names.is_empty()).then(|| format!("differs: {}", names.join(", "))))
}

/// Whether two targets are on different devices: what the filesystem is on is another thing then.
fn is_on_another_device(a: &Value, b: &Value) -> bool {
    match (place_of(a), place_of(b)) {
        (Some(a), Some(b)) => a != b,
        _ => false,
    }
}

/// The storage of a run's filesystem; None if it is not known. Images are files of one place, whatever device they become.
fn place_of(run: &Value) -> Option<String> {
    let definition = &run["definition"];
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match definition["kind"].as_str() {
        Some("image") => Some("image".into()),
        Some(kind @ ("device" | "connection")) => text(&definition[kind]),
        _ => text(&run["environment"]["device"]),
    }
}
