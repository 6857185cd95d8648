//! The server: holders of xmin, other work during the run, and other receivers of WAL.

use super::super::{Finding, RunFacts, Severity, Statements};
use crate::units::format_count;

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
    let named = holders.iter().take(MOST_LISTED).map(|holder| {
        let age = holder
            .age
            .map_or(String::new(), |age| format!(" ({age} transactions old)"));
        format!("{} {}{age}", holder.kind.as_str(), holder.name)
    });
    let mut message = format!(
        "vacuum is held back by {}",
        named.collect::<Vec<_>>().join(", ")
    );
    if holders.len() > MOST_LISTED {
        message += &format!(", and {} more", holders.len() - MOST_LISTED);
    }
    let hint = "Dead rows pile up and slow the run down: end old transactions, and drop slots that nobody uses.";
    Some(Finding::new("old_xmin", Severity::Warning, message, hint))
}

/// Without rows of checkpoints, their seconds and their causes are unknown.
pub fn log_checkpoints_off(facts: &RunFacts) -> Option<Finding> {
    (!facts.checkpoints_logged?).then(|| {
        let (message, hint) = match facts.log_checkpoints {
            Some(false) => (
                "log_checkpoints is off: checkpoints are only counted",
                "Set log_checkpoints to on and reload, to have a row of each checkpoint in fsbench.checkpoint.",
            ),
            _ => (
                "the server does not log its checkpoints: they are only counted",
                "Set log_min_messages to warning, or lower, and reload, to have a row of each checkpoint in fsbench.checkpoint.",
            ),
        };
        Finding::new("log_checkpoints_off", Severity::Info, message, hint)
    })
}

/// Dead rows are not removed while the run is on.
pub fn autovacuum_off(facts: &RunFacts) -> Option<Finding> {
    let leaves_some = facts.workload?.leaves_dead_rows();
    (leaves_some && !facts.server.autovacuum?).then(|| {
        let hint = "Dead rows pile up the longer the run is: set autovacuum to on and reload.";
        Finding::new(
            "autovacuum_off",
            Severity::Warning,
            "autovacuum is off",
            hint,
        )
    })
}

/// Vacuum reads and writes during the run.
pub fn vacuums(facts: &RunFacts) -> Option<Finding> {
    let vacuums = facts.server.vacuums.filter(|&n| n > 0)?;
    let message = match facts.server.vacuum_seconds {
        Some(seconds) => format!(
            "the tables of the run were vacuumed {} while it was measured, in {}",
            times(vacuums),
            format_count(seconds, "second")
        ),
        None => format!(
            "the tables of the run were vacuumed {} while it was measured",
            times(vacuums)
        ),
    };
    let hint = "Runs that are compared should have about as many: use windows of the same length.";
    Some(Finding::new("vacuums", Severity::Info, message, hint))
}

fn times(n: u64) -> String {
    match n {
        1 => "once".into(),
        n => format!("{n} times"),
    }
}

/// Figures that come from views have lost their beginning.
pub fn statistics_reset(facts: &RunFacts) -> Option<Finding> {
    let statements = (facts.statements == Some(Statements::Reset)).then_some("pg_stat_statements");
    let views = facts.reset_views.iter().flatten().map(String::as_str);
    let names: Vec<&str> = views.chain(statements).collect();
    if names.is_empty() && facts.server.statistics_reset != Some(true) {
        return None;
    }
    let message = match names.is_empty() {
        false => format!(
            "the server's statistics were reset in the run: {}",
            names.join(", ")
        ),
        true => "the server's statistics were reset in the run".into(),
    };
    let hint = "Figures that come from them are not known, or not those of the run: have nobody call pg_stat_reset_shared() and its like meanwhile.";
    Some(Finding::new(
        "statistics_reset",
        Severity::Warning,
        message,
        hint,
    ))
}

/// Nothing is wrong with such a run; it could tell more.
pub fn statements_not_recorded(facts: &RunFacts) -> Option<Finding> {
    let (why, hint) = facts.statements?.why_not()?;
    Some(Finding::new(
        "statements_not_recorded",
        Severity::Info,
        format!("the statements of the workload were not recorded: {why}"),
        hint,
    ))
}

/// The server was started anew.
pub fn server_restarted(facts: &RunFacts) -> Option<Finding> {
    facts.server.restarted?.then(|| {
        let hint = "See the server's log for the reason, and run it again.";
        Finding::new(
            "server_restarted",
            Severity::Invalid,
            "the server was restarted in the run",
            hint,
        )
    })
}

/// Each segment of WAL is copied while the run is on.
pub fn archiving(facts: &RunFacts) -> Option<Finding> {
    facts.server.archiving?.then(|| {
        let hint = "Archiving reads all WAL again: use a server of its own, or a target.";
        Finding::new("archiving", Severity::Warning, "WAL is archived", hint)
    })
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
        let mut message = format!(
            "there are {} and {}",
            format_count(walsenders, "WAL sender"),
            format_count(slots, "replication slot")
        );
        if is_synchronous {
            message += ", and synchronous_standby_names is set";
        }
        let hint = "Commits may wait for standbys, and WAL is read and kept for them: use a server of its own, or a target.";
        Finding::new("replication", Severity::Warning, message, hint)
    })
}
