//! The server: holders of xmin, other work during the run, and other receivers of WAL.

use super::super::{Finding, RunFacts, Severity, Statements};
use crate::texts::finding::server as text;

/// At most this many that hold back vacuum are named.
const MOST_LISTED: usize = 5;

fn is_beside_databases(facts: &RunFacts) -> bool {
    facts
        .workload
        .is_some_and(|workload| !workload.uses_database())
}

pub fn old_xmin(facts: &RunFacts) -> Option<Finding> {
    // Without tables there are no dead rows.
    if is_beside_databases(facts) {
        return None;
    }
    let holders = facts
        .xmin_holders
        .as_ref()
        .filter(|holders| !holders.is_empty())?;
    let listed = holders.iter().take(MOST_LISTED);
    let listed: Vec<_> = listed
        .map(|holder| (holder.kind.as_str(), holder.name.as_str(), holder.age))
        .collect();
    let text = text::old_xmin(&listed, holders.len() - listed.len());
    Some(Finding::new(Severity::Warning, text))
}

/// Without rows of checkpoints, their seconds and their causes are unknown.
pub fn log_checkpoints_off(facts: &RunFacts) -> Option<Finding> {
    (!facts.checkpoints_logged?).then(|| {
        let text = text::log_checkpoints_off(facts.log_checkpoints == Some(false));
        Finding::new(Severity::Info, text)
    })
}

/// Dead rows are not removed while the run is on.
pub fn autovacuum_off(facts: &RunFacts) -> Option<Finding> {
    let leaves_some = facts.workload?.leaves_dead_rows();
    (leaves_some && !facts.server.autovacuum?)
        .then(|| Finding::new(Severity::Warning, text::autovacuum_off()))
}

/// Vacuum reads and writes during the run.
pub fn vacuums(facts: &RunFacts) -> Option<Finding> {
    let vacuums = facts.server.vacuums.filter(|&n| n > 0)?;
    let text = text::vacuums(vacuums, facts.server.vacuum_seconds);
    Some(Finding::new(Severity::Info, text))
}

/// Figures that come from views have lost their beginning.
pub fn statistics_reset(facts: &RunFacts) -> Option<Finding> {
    let statements = (facts.statements == Some(Statements::Reset)).then_some("pg_stat_statements");
    let views = facts.reset_views.iter().flatten().map(String::as_str);
    let names: Vec<&str> = views.chain(statements).collect();
    if names.is_empty() && facts.server.statistics_reset != Some(true) {
        return None;
    }
    let text = text::statistics_reset(&names);
    Some(Finding::new(Severity::Warning, text))
}

/// Nothing is wrong with such a run; it could tell more.
pub fn statements_not_recorded(facts: &RunFacts) -> Option<Finding> {
    let text = text::statements_not_recorded(facts.statements?)?;
    Some(Finding::new(Severity::Info, text))
}

/// The server was started anew.
pub fn server_restarted(facts: &RunFacts) -> Option<Finding> {
    facts
        .server
        .restarted?
        .then(|| Finding::new(Severity::Invalid, text::server_restarted()))
}

/// Each segment of WAL is copied while the run is on.
pub fn archiving(facts: &RunFacts) -> Option<Finding> {
    facts
        .server
        .archiving?
        .then(|| Finding::new(Severity::Warning, text::archiving()))
}

/// WAL goes to others, and commits may wait for them.
pub fn replication(facts: &RunFacts) -> Option<Finding> {
    if is_beside_databases(facts) {
        // It makes no WAL.
        return None;
    }
    let server = &facts.server;
    let (walsenders, slots) = (server.walsenders.unwrap_or(0), server.slots.unwrap_or(0));
    let is_synchronous = server.synchronous_standbys.unwrap_or(false);
    (walsenders > 0 || slots > 0 || is_synchronous).then(|| {
        let text = text::replication(walsenders, slots, is_synchronous);
        Finding::new(Severity::Warning, text)
    })
}
