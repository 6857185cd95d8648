//! The server: what it needs, what would be refused, and what would make figures mean less.

use serde::Deserialize;

use super::report::{INFO, Line, MISSING, OK, Report, WARNING};
use crate::{
    finding::{self, RunFacts, ServerFacts, Statements, XminHolder},
    io_rings::{self, Rings},
    run::preflight::{Reserve, ServerState},
    texts::{
        doctor::{server as texts, value as of_value},
        finding::server::not_recorded,
    },
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
    report.say("version", OK, texts::version(&server.version));
    let same = facts.extension == facts.library;
    let text = texts::extension(facts.library, &facts.extension);
    report.say("extension", if same { OK } else { MISSING }, text);
    match &facts.preload {
        None => report.say("preload", OK, texts::preloaded()),
        Some(statement) => report.say("preload", MISSING, texts::not_preloaded(statement)),
    }
    let free = (server.workers - facts.background_workers).max(0);
    let are_few = server.workers < FEW_SLOTS;
    report.say(
        "worker slots",
        if are_few { WARNING } else { OK },
        texts::worker_slots(free, server.workers, ENOUGH_SLOTS),
    );
    let foreseen = foreseen(facts);
    neighbours(&mut report, &foreseen, state);
    promises(&mut report, &foreseen, server, facts.memory);
    watched(&mut report, &foreseen, server, state);
    report.foretell(
        "old transactions",
        &foreseen,
        "old_xmin",
        texts::nothing_holds_back_vacuum(),
    );
    of_statements(&mut report, server, facts.statements);
    rings(&mut report, facts);
    room(&mut report, facts);
    report.lines
}

/// Reports whether a target server gets its rings in addition to those of this server.
fn rings(report: &mut Report, facts: &Facts) {
    let Some(own) = facts.rings else { return };
    let theirs = own.of_target(|_| None);
    let limit = facts.locked_memory_limit;
    let fit = io_rings::fit(Some(own), theirs, 1, limit);
    let sum = io_rings::arithmetic(Some(own), theirs, 1, limit);
    let state = if fit { OK } else { WARNING };
    report.say("io_uring", state, texts::io_uring(&sum, fit));
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
        ("archiving", texts::not_archiving()),
        ("replication", texts::not_replicating()),
    ] {
        let (state, text) = match finding::foretell(facts, code) {
            None => (OK, quiet),
            Some(found) => (
                WARNING,
                texts::refused_on_default(&found.message, &found.hint),
            ),
        };
        report.say(code, state, text);
    }
    let (database, age) = (&state.oldest_database, state.oldest_age);
    let frozen_at = state.freeze_max_age;
    // A long run: one that takes half of the ids.
    let is_young = state.check_transaction_ids(frozen_at as f64 / 2.0).is_ok();
    report.say(
        "transaction ids",
        if is_young { OK } else { WARNING },
        texts::transaction_ids(database, age, frozen_at, is_young),
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
        report.foretell(name, facts, code, of_value(value));
    }
    for (name, value) in [
        ("track_io_timing", &server.track_io_timing),
        ("track_wal_io_timing", &server.track_wal_io_timing),
    ] {
        let is_on = value == "on";
        let state = if is_on { OK } else { INFO };
        report.say(name, state, texts::timing(name, is_on));
    }
    let state = if memory.is_some() { OK } else { INFO };
    let text = texts::memory(memory, server.shared_buffers_bytes);
    report.say("memory", state, text);
}

/// A window holds at least three checkpoints, and they should be timed: WAL of a fast run forces them from here on.
const FEW_WAL_BYTES: u64 = 4 << 30;

/// Reports whether runs can record their checkpoints and dead rows.
fn watched(report: &mut Report, facts: &RunFacts, server: &Server, state: &ServerState) {
    for (item, code) in [
        ("log_checkpoints", "log_checkpoints_off"),
        ("autovacuum", "autovacuum_off"),
    ] {
        report.foretell(item, facts, code, of_value("on"));
    }
    let is_small = state.max_wal_bytes < FEW_WAL_BYTES;
    report.say(
        "checkpoints",
        if is_small { INFO } else { OK },
        texts::checkpoints(&server.checkpoint_timeout, &server.max_wal_size, is_small),
    );
}

/// The finding that a run would have on statements of its workload.
fn of_statements(report: &mut Report, server: &Server, expected: Statements) {
    let (state, text) = match not_recorded(expected) {
        None => (OK, texts::statements()),
        Some((why, hint)) => {
            let is_installed = expected != Statements::NotLoaded || server.statements_available;
            (INFO, texts::no_statements(why, hint, is_installed))
        }
    };
    report.say("pg_stat_statements", state, text);
}

fn room(report: &mut Report, facts: &Facts) {
    for (item, place) in [("room for data", &facts.data), ("room for WAL", &facts.wal)] {
        let Some(place) = place else {
            report.say(item, INFO, texts::room_not_known());
            continue;
        };
        let has_room = Reserve(facts.reserve).watch(&place.directory, place.free);
        report.say(
            item,
            if has_room.is_ok() { OK } else { MISSING },
            texts::room(&place.directory, place.free, place.size, facts.reserve),
        );
    }
}

#[cfg(test)]
mod tests;
