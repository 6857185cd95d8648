//! The findings of a run, from the stored facts: the same for a run that has just ended, for one of last year, and
//! for one that came home from a target or was restored from a dump.

use pgfsbench_core::finding::{self, Durability, Finding, RunFacts};
use serde_json::Value;

use crate::{
    board::outcome::Outcome,
    errors::{Fault, read_stored, sqlstate, unreadable_row},
    pg::sql,
    store::{self, definition},
};

/// The facts that columns of the tables hold, by the names of [`RunFacts`]. They win over those in `run_log.facts`, the
/// first element, which holds what has no column.
const FACTS: &str = include_str!("queries/facts.sql");

/// Lays values over others, names within names; null says nothing.
fn overlay(base: &mut Value, over: Value) {
    match (base, over) {
        (_, Value::Null) => {}
        (Value::Object(base), Value::Object(over)) => {
            for (name, value) in over {
                overlay(base.entry(name).or_insert(Value::Null), value);
            }
        }
        (base, over) => *base = over,
    }
}

/// The facts of a run that is done; None when there is no such run. In a transaction.
fn facts(run_id: i64) -> Result<Option<RunFacts>, Fault> {
    let Some(text) = sql::read_latest(FACTS, &[Some(&run_id.to_string())])? else {
        return Ok(None);
    };
    let parts: Vec<Value> = read_stored("facts", &text)?;
    let mut facts = Value::Object(Default::default());
    for part in parts {
        overlay(&mut facts, part);
    }
    let mut facts: RunFacts =
        serde_json::from_value(facts).map_err(|e| unreadable_row("facts", e))?;
    if let Some(wal) = &mut facts.wal_storage {
        wal.complete();
    }
    Ok(Some(facts))
}

/// The findings that follow from what is stored of a run, and those that only the moment could tell and that are stored;
/// the worst first. None when there is no such run, or it is not done. In a transaction.
pub fn judge(run_id: i64) -> Result<Option<Vec<Finding>>, Fault> {
    facts(run_id)?
        .map(|facts| judged(run_id, &facts))
        .transpose()
}

/// Findings about the results that only the workload of the run has.
fn findings_of_workload(run_id: i64, facts: &RunFacts) -> Result<Vec<Finding>, Fault> {
    let Some((workload, query)) = facts
        .workload
        .and_then(|workload| Some((workload, workload.facts_query()?)))
    else {
        return Ok(Vec::new());
    };
    match sql::read_latest(query, &[Some(&run_id.to_string())])? {
        Some(facts) => workload
            .findings(&facts)
            .map_err(|e| unreadable_row("facts", e)),
        None => Ok(Vec::new()),
    }
}

fn judged(run_id: i64, facts: &RunFacts) -> Result<Vec<Finding>, Fault> {
    let mut findings = store::findings(run_id)?;
    findings.retain(|finding| finding::is_of_the_moment(&finding.code));
    findings.extend(finding::judge(facts));
    findings.extend(findings_of_workload(run_id, facts)?);
    finding::sort(&mut findings);
    Ok(findings)
}

/// Judges a run by what is stored of it by now, and stores what is found in the place of what was found before: findings,
/// durability, and what
/// tells its configuration, and the definition of its target, from others. Gives how the run ended, which is complete then.
pub fn store(run_id: i64) -> Result<Outcome, Fault> {
    definition::set_version(run_id)?;
    store::set_configuration_fingerprint(run_id)?;
    if let Some(facts) = facts(run_id)? {
        if let Some(durability) = Durability::of(&facts) {
            store::set_durability(run_id, &durability)?;
        }
        store::replace_findings(run_id, &judged(run_id, &facts)?)?;
    }
    store::outcome_of(run_id)?.ok_or_else(|| Fault::new(sqlstate::INTERNAL, "the run has no row"))
}
