//! The server: what it needs, what would be refused, and what would make figures mean less.

use pgfsbench_core::{
    finding::{self, RunFacts, ServerFacts, Statements},
    spec::Workload,
    units::format_bytes,
};
use serde::Deserialize;

use super::{
    super::guard,
    report::{INFO, Line, MISSING, OK, Report, WARNING},
};
use crate::{
    errors::{Fault, read_json},
    host::{
        location::{self, Location},
        machine,
    },
    pg::{settings, shmem, sql},
    run::{
        preflight::{self, ServerState},
        worker_slots,
    },
    watch::{
        statements,
        surroundings::{OLD_XMIN_AGE, OldXmin},
    },
};

/// What the server says of itself, beside what decides whether a run is refused.
#[derive(Deserialize)]
struct Server {
    version: String,
    workers: i64,
    shared_buffers_bytes: u64,
    fsync: String,
    full_page_writes: String,
    synchronous_commit: String,
    track_io_timing: String,
    track_wal_io_timing: String,
    log_checkpoints: bool,
    log_min_messages: String,
    autovacuum: bool,
    checkpoint_timeout: String,
    max_wal_size: String,
    statements_available: bool,
}

const SERVER: &str = include_str!("queries/server.sql");

/// The lines about the server.
pub fn look(extension: &str) -> Result<Vec<Line>, Fault> {
    let text = sql::read(SERVER, &[])?.unwrap_or_default();
    let server: Server = read_json("server", &text)?;
    let state = preflight::server_state()?;
    let mut report = Report::new("server");
    report.add("version", OK, format!("PostgreSQL {}", server.version));
    let same = extension == guard::VERSION;
    report.say(
        "extension",
        if same { OK } else { MISSING },
        format!(
            "the library is version {}, the extension {extension}",
            guard::VERSION
        ),
        Some("Restart the server, and then run ALTER EXTENSION pgfsbench UPDATE.".into()),
    );
    match shmem::board() {
        Some(_) => report.add("preload", OK, "pgfsbench is in shared_preload_libraries"),
        None => report.say(
            "preload",
            MISSING,
            "pgfsbench is not in shared_preload_libraries, so that no benchmark can run",
            Some(format!(
                "Run {} and restart the server.",
                guard::preload_statement()?
            )),
        ),
    }
    let free = (server.workers - worker_slots::background_workers(&[])?).max(0);
    report.say(
        "worker slots",
        if server.workers < worker_slots::FEW_SLOTS {
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
            worker_slots::ENOUGH_SLOTS
        )),
    );
    let facts = facts(&server, &state);
    neighbours(&mut report, &facts, &state);
    promises(&mut report, &facts, &server);
    watched(&mut report, &facts, &server, &state);
    old_transactions(&mut report, OldXmin::oldest()?);
    of_statements(&mut report, &server, statements::expected()?);
    room(&mut report);
    Ok(report.lines)
}

/// What a run on the target default would be judged by, as far as the server tells it beforehand.
fn facts(server: &Server, state: &ServerState) -> RunFacts {
    RunFacts {
        // One that writes.
        workload: Some(Workload::Tpcb),
        fsync: Some(server.fsync != "off"),
        full_page_writes: Some(server.full_page_writes != "off"),
        synchronous_commit: Some(server.synchronous_commit.clone()),
        log_checkpoints: Some(server.log_checkpoints),
        // What is told of a checkpoint is of level log.
        checkpoints_logged: Some(
            server.log_checkpoints
                && !["fatal", "panic"].contains(&server.log_min_messages.as_str()),
        ),
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

/// What would make runs on the target default be refused.
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
    let is_young = age < frozen_at / 2;
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
fn promises(report: &mut Report, facts: &RunFacts, server: &Server) {
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
    let (_, memory) = machine::machine();
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

/// What a run shows of its checkpoints and dead rows.
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

fn old_transactions(report: &mut Report, oldest: Option<i64>) {
    let old = oldest.filter(|&age| age >= OLD_XMIN_AGE);
    report.say(
        "old transactions",
        if old.is_some() { WARNING } else { OK },
        match old {
            Some(age) => format!("somebody holds back vacuum by {age} transactions"),
            None => "nobody holds back vacuum".into(),
        },
        Some("See pg_stat_activity, pg_stat_replication, pg_replication_slots and pg_prepared_xacts, and end what nobody uses.".into()),
    );
}

/// What a run would say of the statements of its workload.
fn of_statements(report: &mut Report, server: &Server, expected: Statements) {
    let item = "pg_stat_statements";
    let Some((why, hint)) = expected.why_not() else {
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

fn room(report: &mut Report) {
    let reserve = settings::reserved_space_bytes();
    for (item, place) in [
        ("room for data", location::data_location()),
        ("room for WAL", location::wal_location()),
    ] {
        let space = place.as_ref().and_then(Location::space);
        let (Some(place), Some((free, size))) = (place, space) else {
            report.add(item, INFO, "could not be found out");
            continue;
        };
        report.say(
            item,
            if free > reserve { OK } else { MISSING },
            format!(
                "{} of {} are free for \"{}\", {} of them reserved",
                format_bytes(free),
                format_bytes(size),
                place.directory,
                format_bytes(reserve)
            ),
            Some("Make room, or lower pgfsbench.reserved_space.".into()),
        );
    }
}
