//! The server: its settings and its room.

use super::Text;
use crate::{io_rings, units::format_bytes};

pub fn version(version: &str) -> Text {
    Text::new("version", format!("PostgreSQL {version}"))
}

pub fn extension(library: &str, extension: &str) -> Text {
    let says = format!("the library is version {library}, the extension {extension}");
    let hint = "Restart the server, and then run ALTER EXTENSION pgfsbench UPDATE.";
    Text::new("extension", says).advise("extension", hint)
}

pub fn preloaded() -> Text {
    Text::new("preloaded", "pgfsbench is in shared_preload_libraries")
}

/// `statement` has the server load the library.
pub fn not_preloaded(statement: &str) -> Text {
    let says = "pgfsbench is not in shared_preload_libraries, so that no benchmark can run";
    let hint = format!("Run {statement} and restart the server.");
    Text::new("not_preloaded", says).advise("not_preloaded", hint)
}

pub fn worker_slots(free: i64, all: i64, enough: i64) -> Text {
    let says = format!("{free} of {all} are free; a run takes its clients and 2 more");
    let hint =
        format!("Run ALTER SYSTEM SET max_worker_processes = {enough}; and restart the server.");
    Text::new("worker_slots", says).advise("worker_slots", hint)
}

/// `sum` is the arithmetic of locked memory.
pub fn io_uring(sum: &str, do_fit: bool) -> Text {
    let then = match do_fit {
        true => "",
        false => ": where the kernel counts rings, no target server starts",
    };
    Text::new("io_uring", format!("{sum}{then}")).advise("io_uring", io_rings::HINT)
}

pub fn not_archiving() -> Text {
    Text::new("not_archiving", "WAL is not archived")
}

pub fn not_replicating() -> Text {
    let says = "there are no standbys and no slots";
    Text::new("not_replicating", says)
}

/// Runs on the target default are refused, for the reason of this finding.
pub fn refused_on_default(message: &str, hint: &str) -> Text {
    let says = format!("{message}; runs on target default are refused");
    let hint = format!("{hint} force => true overrides it.");
    Text::new("refused_on_default", says).advise("refused_on_default", hint)
}

pub fn transaction_ids(database: &str, age: i64, frozen_at: i64, is_young: bool) -> Text {
    let then = match is_young {
        true => "",
        false => ": long runs on target default are refused",
    };
    let says =
        format!("database \"{database}\" has an age of {age}, and is frozen at {frozen_at}{then}");
    let hint = "Run vacuumdb --all --freeze, or use another target.";
    Text::new("transaction_ids", says).advise("transaction_ids", hint)
}

pub fn timing(setting: &str, is_on: bool) -> Text {
    let says = match is_on {
        true => "on",
        false => "off: times of reads and writes are not known",
    };
    let hint = format!("Run ALTER SYSTEM SET {setting} = on; SELECT pg_reload_conf();");
    Text::new("timing", says).advise("timing", hint)
}

/// Bytes.
pub fn memory(memory: Option<u64>, shared_buffers: u64) -> Text {
    let says = format!(
        "RAM {}, shared_buffers {}",
        memory.map_or("unknown".into(), format_bytes),
        format_bytes(shared_buffers)
    );
    Text::new("memory", says)
}

pub fn checkpoints(timeout: &str, max_wal_size: &str, is_small: bool) -> Text {
    let then = match is_small {
        true => ": a fast run forces checkpoints before their time",
        false => "",
    };
    let says = format!("checkpoint_timeout {timeout}, max_wal_size {max_wal_size}{then}");
    let hint = "Run ALTER SYSTEM SET max_wal_size = '16GB'; SELECT pg_reload_conf();";
    Text::new("checkpoints", says).advise("checkpoints", hint)
}

pub fn nothing_holds_back_vacuum() -> Text {
    Text::new("nothing_holds_back_vacuum", "nothing holds back vacuum")
}

pub fn statements() -> Text {
    Text::new("statements", "it is loaded, and its extension is there")
}

/// The reason and the hint of the finding, unless the program is not installed.
pub fn no_statements(why: &str, hint: &str, is_installed: bool) -> Text {
    let why = match is_installed {
        true => why,
        false => "pg_stat_statements is not installed",
    };
    let says = format!("statements of a workload are not recorded: {why}");
    Text::new("no_statements", says).advise("no_statements", hint)
}

pub fn room_not_known() -> Text {
    Text::new("room_not_known", "could not be found out")
}

/// Bytes.
pub fn room(directory: &str, free: u64, size: u64, reserve: u64) -> Text {
    let says = format!(
        "{} of {} are free for \"{directory}\", {} of them reserved",
        format_bytes(free),
        format_bytes(size),
        format_bytes(reserve)
    );
    let hint = "Make room, or lower pgfsbench.reserved_space.";
    Text::new("room", says).advise("room", hint)
}
