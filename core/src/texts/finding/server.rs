//! The server.

use crate::{finding_row::Text, statement::Statements, units::format_count};

/// A session or an object that holds back vacuum: its kind, its name, and transaction ids since.
pub type XminHolder<'a> = (&'a str, &'a str, Option<u64>);

/// The first holders, and the number of the others.
pub fn old_xmin(holders: &[XminHolder<'_>], others: usize) -> Text {
    let named = holders.iter().map(|(kind, name, age)| {
        let age = age.map_or(String::new(), |age| format!(" ({age} transactions old)"));
        format!("{kind} {name}{age}")
    });
    let named = named.collect::<Vec<_>>().join(", ");
    let others = match others {
        0 => String::new(),
        others => format!(", and {others} more"),
    };
    let hint =
        "Dead rows pile up and slow the run down: end old transactions, and drop unused slots.";
    Text::new(
        "old_xmin",
        format!("vacuum is held back by {named}{others}"),
        hint,
    )
}

/// Checkpoints are not logged, by log_checkpoints or by the level of messages.
pub fn log_checkpoints_off(by_log_checkpoints: bool) -> Text {
    let (message, hint) = match by_log_checkpoints {
        true => (
            "log_checkpoints is off: checkpoints are only counted",
            "Set log_checkpoints to on and reload, to have a row of each checkpoint in fsbench.checkpoint.",
        ),
        false => (
            "the server does not log its checkpoints: they are only counted",
            "Set log_min_messages to warning, or lower, and reload, to have a row of each checkpoint in fsbench.checkpoint.",
        ),
    };
    Text::new("log_checkpoints_off", message, hint)
}

pub fn autovacuum_off() -> Text {
    let hint = "Dead rows pile up the longer the run is: set autovacuum to on and reload.";
    Text::new("autovacuum_off", "autovacuum is off", hint)
}

pub fn vacuums(times: u64, seconds: Option<u64>) -> Text {
    let times = match times {
        1 => "once".into(),
        n => format!("{n} times"),
    };
    let seconds = seconds.map_or(String::new(), |seconds| {
        format!(", in {}", format_count(seconds, "second"))
    });
    let message =
        format!("the tables of the run were vacuumed {times} while it was measured{seconds}");
    let hint = "Runs that are compared should have about as many: use windows of the same length.";
    Text::new("vacuums", message, hint)
}

/// The views that were reset, where they are known.
pub fn statistics_reset(views: &[&str]) -> Text {
    let mut message = "the server's statistics were reset in the run".to_owned();
    if !views.is_empty() {
        message += &format!(": {}", views.join(", "));
    }
    let hint = "Figures that come from them are not known, or not those of the run: do not call pg_stat_reset_shared() and its like during a run.";
    Text::new("statistics_reset", message, hint)
}

pub fn statements_not_recorded(statements: Statements) -> Option<Text> {
    let (why, hint) = not_recorded(statements)?;
    let message = format!("the statements of the workload were not recorded: {why}");
    Some(Text::new("statements_not_recorded", message, hint))
}

/// Why statements are not known, and what helps. None where they are known, or where the finding about a reset tells it.
pub fn not_recorded(statements: Statements) -> Option<(&'static str, &'static str)> {
    Some(match statements {
        Statements::Recorded | Statements::Reset => return None,
        Statements::NotLoaded => (
            "pg_stat_statements is not loaded",
            "Add pg_stat_statements to shared_preload_libraries, restart, and run CREATE EXTENSION pg_stat_statements in the \
             database of pgfsbench; servers on targets get it then, too.",
        ),
        Statements::NotCreated => (
            "extension \"pg_stat_statements\" is not in the database",
            "Run CREATE EXTENSION pg_stat_statements in the database of pgfsbench.",
        ),
        Statements::Nothing => (
            "pg_stat_statements has nothing of them",
            "Set pg_stat_statements.track to top and compute_query_id to auto.",
        ),
        Statements::Evicted => (
            "pg_stat_statements had no room for all statements of the server",
            "Raise pg_stat_statements.max and restart.",
        ),
        Statements::Outdated => (
            "extension \"pg_stat_statements\" has another version than its library",
            "Run ALTER EXTENSION pg_stat_statements UPDATE in the database of pgfsbench.",
        ),
        Statements::Failed => (
            "pg_stat_statements could not be asked",
            "See the server's log for the error.",
        ),
    })
}

pub fn server_restarted() -> Text {
    let hint = "See the server's log for the reason, and run it again.";
    Text::new(
        "server_restarted",
        "the server was restarted in the run",
        hint,
    )
}

pub fn archiving() -> Text {
    let hint = "Archiving reads all WAL again: use a server of its own, or a target.";
    Text::new("archiving", "WAL is archived", hint)
}

pub fn replication(walsenders: u64, slots: u64, is_synchronous: bool) -> Text {
    let mut message = format!(
        "there are {} and {}",
        format_count(walsenders, "WAL sender"),
        format_count(slots, "replication slot")
    );
    if is_synchronous {
        message += ", and synchronous_standby_names is set";
    }
    let hint = "Commits may wait for standbys, and WAL is read and kept for them: use a server of its own, or a target.";
    Text::new("replication", message, hint)
}
