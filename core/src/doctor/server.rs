//! The server: what it needs, what would be refused, and what would make figures mean less.

use serde::Deserialize;

use super::report::{INFO, Line, MISSING, OK, Report, WARNING};
use crate::{
    finding::{self, RunFacts, ServerFacts, Statements, XminHolder},
    io_rings::{self, Rings},
    run::preflight::{Reserve, ServerState},
    texts::finding::server::not_recorded,
    units::format_bytes,
    workload,
};

/// Under this many worker slots a run with a few clients does not fit.
pub const FEW_SLOTS: i64 = 16;
/// The number that is suggested then.
pub const ENOUGH_SLOTS: i64 = 64;

/// Settings and state of the server that do not decide whether a run is refused.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Server {
    pub version: String,
    pub workers: i64,
    pub shared_buffers_bytes: u64,
    pub fsync: String,
    pub full_page_writes: String,
    pub synchronous_commit: String,
    pub track_io_timing: String,
    pub track_wal_io_timing: String,
    pub log_checkpoints: bool,
    pub log_min_messages: String,
    pub autovacuum: bool,
    pub checkpoint_timeout: String,
    pub max_wal_size: String,
    pub statements_available: bool,
}

/// Room for files in a directory.
#[derive(Clone, Debug, Default)]
pub struct FreeSpace {
    pub directory: String,
    /// Bytes that are free.
    pub free: u64,
    /// Bytes of the filesystem.
    pub size: u64,
}

/// All that is found out of the server.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Settings and state.
    pub server: Server,
    /// Facts that decide whether a run is refused.
    pub state: ServerState,
    /// Version of the extension in this database.
    pub extension: String,
    /// Version of the library.
    pub library: &'static str,
    /// The statement that has the server load the library; None: it has.
    pub preload: Option<String>,
    /// Worker slots that are taken.
    pub background_workers: i64,
    /// RAM.
    pub memory: Option<u64>,
    /// Rings of io_uring; None where the server has none.
    pub rings: Option<Rings>,
    /// Bytes of locked memory that the server's operating system user may have; None: no limit.
    pub locked_memory_limit: Option<u64>,
    /// Who holds back vacuum.
    pub xmin_holders: Vec<XminHolder>,
    /// The finding that a run would have on statements of its workload.
    pub statements: Statements,
    /// Room for data, and for WAL; None: not known.
    pub data: Option<FreeSpace>,
    /// See `data`.
    pub wal: Option<FreeSpace>,
    /// The setting pgfsbench.reserved_space.
    pub reserve: u64,
}

/// The lines about the server.
pub fn check(facts: &Facts) -> Vec<Line> {
    let (server, state) = (&facts.server, &facts.state);
    let mut report = Report::new("server");
    report.add("version", OK, format!("PostgreSQL {}", server.version));
    let same = facts.extension == facts.library;
    report.say(
        "extension",
        if same { OK } else { MISSING },
        format!(
            "the library is version {}, the extension {}",
            facts.library, facts.extension
        ),
        Some("Restart the server, and then run ALTER EXTENSION pgfsbench UPDATE.".into()),
    );
    match &facts.preload {
        None => report.add("preload", OK, "pgfsbench is in shared_preload_libraries"),
        Some(statement) => report.say(
            "preload",
            MISSING,
            "pgfsbench is not in shared_preload_libraries, so that no benchmark can run",
            Some(format!("Run {statement} and restart the server.")),
        ),
    }
    let free = (server.workers - facts.background_workers).max(0);
    report.say(
        "worker slots",
        if server.workers < FEW_SLOTS {
            WARNING
        } else {
            OK
        },
        format!(
            "{free} of {} are free; a run takes its clients and 2 more",
            server.workers
        ),
        Some(format!(
            "Run ALTER SYSTEM SET max_worker_processes = {}; and restart the server.",
            ENOUGH_SLOTS
        )),
    );
    let foreseen = foreseen(facts);
    neighbours(&mut report, &foreseen, state);
    promises(&mut report, &foreseen, server, facts.memory);
    watched(&mut report, &foreseen, server, state);
    report.foretell(
        "old transactions",
        &foreseen,
        "old_xmin",
        "nothing holds back vacuum",
    );
    of_statements(&mut report, server, facts.statements);
    rings(&mut report, facts);
    room(&mut report, facts);
    report.lines
}

/// Reports whether a target server gets its rings in addition to those of this server.
fn rings(report: &mut Report, facts: &Facts) {
    let Some(own) = facts.rings else { return };
    // Connections are few there; the rest is carried over, or alike.
    let theirs = Rings {
        max_connections: Rings::default().max_connections,
        ..own
    };
    let limit = facts.locked_memory_limit;
    let fit = io_rings::fit(own, theirs, limit);
    report.say(
        "io_uring",
        if fit { OK } else { WARNING },
        format!(
            "{}{}",
            io_rings::arithmetic(own, theirs, 1, limit),
            if fit {
                ""
            } else {
                ": where the kernel counts rings, no target server starts"
            }
        ),
        Some(io_rings::HINT.into()),
    );
}

/// The facts by which a run on the target default would be judged, as far as the server reports them beforehand.
fn foreseen(facts: &Facts) -> RunFacts {
    let (server, state) = (&facts.server, &facts.state);
    RunFacts {
        // The default one, which writes.
        workload: workload::ALL.first().copied(),
        fsync: Some(server.fsync != "off"),
        full_page_writes: Some(server.full_page_writes != "off"),
        synchronous_commit: Some(server.synchronous_commit.clone()),
        log_checkpoints: Some(server.log_checkpoints),
        // Messages about checkpoints have the level LOG.
        checkpoints_logged: Some(
            server.log_checkpoints
                && !["fatal", "panic"].contains(&server.log_min_messages.as_str()),
        ),
        xmin_holders: Some(facts.xmin_holders.clone()),
        server: ServerFacts {
            autovacuum: Some(server.autovacuum),
            archiving: Some(state.is_archiving()),
            walsenders: Some(state.walsenders),
            slots: Some(state.slots),
            synchronous_standbys: Some(state.is_synchronous()),
            ..ServerFacts::default()
        },
        ..RunFacts::default()
    }
}

/// Reports the conditions under which runs on the target default are refused.
fn neighbours(report: &mut Report, facts: &RunFacts, state: &ServerState) {
    for (code, quiet) in [
        ("archiving", "WAL is not archived"),
        ("replication", "there are no standbys and no slots"),
    ] {
        match finding::foretell(facts, code) {
            None => report.add(code, OK, quiet),
            Some(found) => report.say(
                code,
                WARNING,
                format!("{}; runs on target default are refused", found.message),
                Some(format!("{} force => true overrides it.", found.hint)),
            ),
        }
    }
    let (database, age) = (&state.oldest_database, state.oldest_age);
    let frozen_at = state.freeze_max_age;
    // A long run: one that takes half of the ids.
    let is_young = state.check_transaction_ids(frozen_at as f64 / 2.0).is_ok();
    report.say(
        "transaction ids",
        if is_young { OK } else { WARNING },
        format!(
            "database \"{database}\" has an age of {age}, and is frozen at {frozen_at}{}",
            if is_young {
                ""
            } else {
                ": long runs on target default are refused"
            }
        ),
        Some("Run vacuumdb --all --freeze, or use another target.".into()),
    );
}

/// Settings that change what is measured, or what is seen of it.
fn promises(report: &mut Report, facts: &RunFacts, server: &Server, memory: Option<u64>) {
    for (name, code, value) in [
        ("fsync", "fsync_off", &server.fsync),
        (
            "full_page_writes",
            "full_page_writes_off",
            &server.full_page_writes,
        ),
        (
            "synchronous_commit",
            "synchronous_commit_off",
            &server.synchronous_commit,
        ),
    ] {
        report.foretell(name, facts, code, value);
    }
    for (name, value) in [
        ("track_io_timing", &server.track_io_timing),
        ("track_wal_io_timing", &server.track_wal_io_timing),
    ] {
        report.say(
            name,
            if value == "on" { OK } else { INFO },
            if value == "on" {
                "on"
            } else {
                "off: times of reads and writes are not known"
            },
            Some(format!(
                "Run ALTER SYSTEM SET {name} = on; SELECT pg_reload_conf();"
            )),
        );
    }
    report.add(
        "memory",
        if memory.is_some() { OK } else { INFO },
        format!(
            "RAM {}, shared_buffers {}",
            memory.map_or("unknown".into(), format_bytes),
            format_bytes(server.shared_buffers_bytes)
        ),
    );
}

/// A window holds at least three checkpoints, and they should be timed: WAL of a fast run forces them from here on.
const FEW_WAL_BYTES: u64 = 4 << 30;

/// Reports whether runs can record their checkpoints and dead rows.
fn watched(report: &mut Report, facts: &RunFacts, server: &Server, state: &ServerState) {
    report.foretell("log_checkpoints", facts, "log_checkpoints_off", "on");
    report.foretell("autovacuum", facts, "autovacuum_off", "on");
    let few = state.max_wal_bytes < FEW_WAL_BYTES;
    report.say(
        "checkpoints",
        if few { INFO } else { OK },
        format!(
            "checkpoint_timeout {}, max_wal_size {}{}",
            server.checkpoint_timeout,
            server.max_wal_size,
            if few {
                ": a fast run forces checkpoints before their time"
            } else {
                ""
            }
        ),
        Some("Run ALTER SYSTEM SET max_wal_size = '16GB'; SELECT pg_reload_conf();".into()),
    );
}

/// The finding that a run would have on statements of its workload.
fn of_statements(report: &mut Report, server: &Server, expected: Statements) {
    let item = "pg_stat_statements";
    let Some((why, hint)) = not_recorded(expected) else {
        report.say(item, OK, "it is loaded, and its extension is there", None);
        return;
    };
    let why = match expected {
        Statements::NotLoaded if !server.statements_available => {
            "pg_stat_statements is not installed"
        }
        _ => why,
    };
    let detail = format!("statements of a workload are not recorded: {why}");
    report.say(item, INFO, detail, Some(hint.into()));
}

fn room(report: &mut Report, facts: &Facts) {
    for (item, place) in [("room for data", &facts.data), ("room for WAL", &facts.wal)] {
        let Some(place) = place else {
            report.add(item, INFO, "could not be found out");
            continue;
        };
        let has_room = Reserve(facts.reserve).watch(&place.directory, place.free);
        report.say(
            item,
            if has_room.is_ok() { OK } else { MISSING },
            format!(
                "{} of {} are free for \"{}\", {} of them reserved",
                format_bytes(place.free),
                format_bytes(place.size),
                place.directory,
                format_bytes(facts.reserve)
            ),
            Some("Make room, or lower pgfsbench.reserved_space.".into()),
        );
    }
}

#[cfg(test)]
mod tests;
