//! The server: what it needs, what would be refused, and what would make figures mean less.

use pgfsbench_core::{
    finding::Statements,
    units::{format_bytes, format_count},
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

const SERVER: &str = "SELECT jsonb_build_object( \
      'version', current_setting('server_version'), \
      'workers', current_setting('max_worker_processes')::bigint, \
      'shared_buffers_bytes', pg_size_bytes(current_setting('shared_buffers')), \
      'fsync', current_setting('fsync'), 'full_page_writes', current_setting('full_page_writes'), \
      'synchronous_commit', current_setting('synchronous_commit'), \
      'track_io_timing', current_setting('track_io_timing'), \
      'track_wal_io_timing', current_setting('track_wal_io_timing'), \
      'log_checkpoints', current_setting('log_checkpoints')::bool, 'autovacuum', current_setting('autovacuum')::bool, \
      'checkpoint_timeout', current_setting('checkpoint_timeout'), 'max_wal_size', current_setting('max_wal_size'), \
      'statements_available', EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_stat_statements'), \
      'log_min_messages', (SELECT reset_val FROM pg_settings WHERE name = 'log_min_messages'))";

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
    neighbours(&mut report, &state);
    promises(&mut report, &server);
    watched(&mut report, &server, &state);
    old_transactions(&mut report, OldXmin::oldest()?);
    of_statements(&mut report, &server, statements::expected()?);
    room(&mut report);
    Ok(report.lines)
}

/// What would make runs on the target default be refused.
fn neighbours(report: &mut Report, state: &ServerState) {
    let refused = "Use a server of its own, other targets than default, or force => true.";
    let mut warn = |item: &str, is_quiet: bool, quiet: &str, detail: String| {
        let (state, detail) = match is_quiet {
            true => (OK, quiet.to_owned()),
            false => (
                WARNING,
                format!("{detail}; runs on target default are refused"),
            ),
        };
        report.say(item, state, detail, Some(refused.into()));
    };
    warn(
        "archiving",
        !state.is_archiving(),
        "WAL is not archived",
        format!("archive_mode is \"{}\"", state.archive_mode),
    );
    warn(
        "replication",
        !state.is_replicated() && !state.is_synchronous(),
        "there are no standbys and no slots",
        format!(
            "there are {} and {}; synchronous_standby_names is \"{}\"",
            format_count(state.walsenders, "WAL sender"),
            format_count(state.slots, "replication slot"),
            state.synchronous_standby_names
        ),
    );
    warn(
        "transaction ids",
        state.oldest_age < state.freeze_max_age / 2,
        &format!(
            "database \"{}\" has an age of {} of {}",
            state.oldest_database, state.oldest_age, state.freeze_max_age
        ),
        format!(
            "database \"{}\" has an age of {}, and is frozen at {}: long",
            state.oldest_database, state.oldest_age, state.freeze_max_age
        ),
    );
}

/// Settings that change what is measured, or what is seen of it.
fn promises(report: &mut Report, server: &Server) {
    for (name, value, without) in [
        (
            "fsync",
            &server.fsync,
            "a power cut destroys the database; no disk is measured",
        ),
        (
            "full_page_writes",
            &server.full_page_writes,
            "torn pages after a power cut, and less WAL",
        ),
        (
            "synchronous_commit",
            &server.synchronous_commit,
            "COMMIT does not wait for the disk",
        ),
    ] {
        let is_off = value == "off";
        report.say(
            name,
            if is_off { WARNING } else { OK },
            if is_off {
                format!("off: {without}")
            } else {
                value.clone()
            },
            Some(format!(
                "Run ALTER SYSTEM RESET {name}; SELECT pg_reload_conf(); unless that is wanted."
            )),
        );
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
fn watched(report: &mut Report, server: &Server, state: &ServerState) {
    let set = |name: &str, value: &str| {
        Some(format!(
            "Run ALTER SYSTEM SET {name} = {value}; SELECT pg_reload_conf();"
        ))
    };
    // What is told of a checkpoint is of level log.
    let is_heard = !["fatal", "panic"].contains(&server.log_min_messages.as_str());
    let (detail, hint) = match (server.log_checkpoints, is_heard) {
        (true, true) => ("on".into(), None),
        (false, _) => (
            "off: checkpoints are only counted, without their times and causes".into(),
            set("log_checkpoints", "on"),
        ),
        (true, false) => (
            format!(
                "on, but log_min_messages is {}: checkpoints are only counted, without their times and causes",
                server.log_min_messages
            ),
            set("log_min_messages", "warning"),
        ),
    };
    let state_of_log = if hint.is_none() { OK } else { WARNING };
    report.say("log_checkpoints", state_of_log, detail, hint);
    report.say(
        "autovacuum",
        if server.autovacuum { OK } else { WARNING },
        if server.autovacuum {
            "on"
        } else {
            "off: dead rows pile up while a run is on"
        },
        set("autovacuum", "on"),
    );
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
        set("max_wal_size", "'16GB'"),
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
