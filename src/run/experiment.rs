//! Functions on experiments for conductors and sessions.

mod differences;

use std::{fs, path::Path};

use pgfsbench_core::{
    experiment::{
        answer::{
            self, Checkpoints, TargetFacts, Warning,
            open::{self, Open},
        },
        conditions, limits,
        metric::Metric,
        recommend::{self, Facts},
        state::State,
        steps,
        throttled::{self, Step},
    },
    finding::Durability,
    verdict::Reason,
};

use crate::{
    errors::Fault,
    host::environment,
    pg::{sql, xact},
    store::experiment as rows,
};

/// Tells this start of the operating system from others.
pub fn boot_id() -> String {
    let read = fs::read_to_string("/proc/sys/kernel/random/boot_id");
    read.unwrap_or_default().trim().to_owned()
}

fn kernel() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    release.trim().to_owned()
}

/// Versions of kernel, server and extension, and a mark of the server's settings, in one text.
pub fn versions() -> Result<String, Fault> {
    let (server, settings) = xact::transaction(|| {
        let server = sql::read("SELECT current_setting('server_version')", &[])?;
        Ok::<_, Fault>((server, environment::settings_mark()?))
    })?;
    let versions = format!(
        "kernel {}, PostgreSQL {}, pgfsbench {}",
        kernel(),
        server.unwrap_or_default(),
        super::cleanup::VERSION
    );
    Ok(conditions::conditions(&versions, &settings))
}

/// Ends an experiment after its last complete block: looks, status, and what is said of it; `by` is the role that does. In a transaction.
pub fn end(
    state: &State,
    blocks: u32,
    status: &str,
    ended_by: Option<Reason>,
    why: Option<&str>,
    by: Option<&str>,
) -> Result<(), Fault> {
    let id = state.experiment.experiment_id;
    let planned = state.experiment.looks();
    let looks = match ended_by {
        Some(reason) => planned.ended(blocks, reason),
        None => planned,
    };
    rows::end(id, status, why, &looks.looks, ended_by)?;
    if let Some(state) = rows::state(id, None)? {
        let (line, open) = line(&state)?;
        rows::set_answer(id, &line, &open)?;
        rows::log(id, status, Some(blocks), Some(&line), by)?;
    }
    Ok(())
}

/// The answer in one line, and what is open.
fn line(state: &State) -> Result<(String, Open), Fault> {
    let answers = answers(state, steps::declared(state))?;
    Ok((answer::line(state, &answers), open::of(state, &answers)))
}

/// Stores the answer after so many blocks, in one line, with where max_duration will end it; gives the line. In a transaction.
pub fn answer_while_on(state: &State, blocks: u32) -> Result<String, Fault> {
    let early = steps::ends_early(state, blocks);
    let early = early.map_or_else(String::new, |early| format!("; {early}"));
    let (line, open) = line(state)?;
    let line = line + &early;
    rows::set_answer(state.experiment.experiment_id, &line, &open)?;
    Ok(line)
}

/// The answer for each target, with confirmations by other experiments. In a transaction.
pub fn answers(state: &State, metric: Metric) -> Result<Vec<answer::Row>, Fault> {
    answers_with(state, metric, &target_facts(state)?)
}

/// The answer for each target, from facts that were read already.
pub fn answers_with(
    state: &State,
    metric: Metric,
    target_facts: &[TargetFacts],
) -> Result<Vec<answer::Row>, Fault> {
    let mut answers = answer::rows(state, metric, target_facts);
    for id in rows::sessions_of(state.experiment.experiment_id)? {
        let Some(other) = rows::state(id, None)? else {
            continue;
        };
        if metric.name == state.experiment.metric && answer::is_another_session(state, &other) {
            let theirs = answer::rows(
                &other,
                steps::declared(&other),
                &self::target_facts(&other)?,
            );
            answer::confirm(&mut answers, state, &other, &theirs);
        }
    }
    let is_declared = metric.name == state.experiment.metric;
    if is_declared && answers.iter().any(answer::Row::is_equivalent) {
        let mut found = vec![None; state.targets.len()];
        for used in rows::used(state.experiment.experiment_id)? {
            if let Some(found) = found.get_mut(used.number) {
                *found = limits::limit(&used, state.experiment.has_rate);
            }
        }
        answer::name_limits(&mut answers, state, &found);
    }
    Ok(answers)
}

/// Facts of the targets beside their metric, by number. In a transaction.
pub fn target_facts(state: &State) -> Result<Vec<TargetFacts>, Fault> {
    let known = rows::target_facts(state.experiment.experiment_id)?;
    let differences = differences::of(state)?;
    // The disk has changed once more since its blocks were made again.
    let throttled = throttled::step(state);
    let mut target_facts = vec![TargetFacts::default(); state.targets.len()];
    for row in &known {
        let Some(target) = target_facts.get_mut(row.number) else {
            continue;
        };
        let changed = differences.changed.get(&row.number);
        target.durability = Durability::together(row.durability.as_deref().unwrap_or_default());
        target.warnings = warnings(row, changed, throttled.as_ref());
        let differs = differences.within.get(&row.number);
        target.differs = differs.cloned().unwrap_or_default();
        let checkpoints = row.forced_checkpoints.zip(row.checkpoints);
        target.checkpoints = checkpoints.map(|(forced, all)| Checkpoints { forced, all });
    }
    Ok(target_facts)
}

/// Findings of a target's runs, and what has changed between them.
fn warnings(
    row: &rows::TargetFactsRow,
    changed: Option<&String>,
    throttled: Option<&Step>,
) -> Vec<Warning> {
    let found = row.warnings.iter().flatten().cloned().map(Warning::Found);
    let changed = changed.cloned().map(Warning::Changed);
    let throttled = throttled.cloned().map(Warning::Throttled);
    let carry_over = row.carries_over.then_some(Warning::CarryOver);
    found
        .chain(changed)
        .chain(throttled)
        .chain(carry_over)
        .collect()
}

/// The machine and the server that lines are to be pasted on. In a transaction.
pub fn here() -> Result<recommend::ThisServer, Fault> {
    Ok(recommend::ThisServer {
        kernel: kernel(),
        // As sd_booted(3) finds out.
        has_systemd: Path::new("/run/systemd/system").is_dir(),
        contexts: rows::contexts()?,
        data_checksums: sql::read("SELECT current_setting('data_checksums')", &[])?
            .is_some_and(|checksums| checksums == "on"),
    })
}

/// The stored environments of the runs of each target. In a transaction.
pub fn facts(state: &State) -> Result<Vec<Facts>, Fault> {
    rows::facts(state.experiment.experiment_id)
}
