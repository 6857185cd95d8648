//! How many worker slots this server has, and who takes them.

pub use pgfsbench_core::doctor::server::{ENOUGH_SLOTS, FEW_SLOTS};
use pgfsbench_core::units::whole_number;

use crate::{
    errors::Fault,
    pg::{config, sql},
};

/// A process that is none of these is a background worker. The logical replication launcher is one, but has its slot before it can be seen,
/// and until the server stops.
const OWN_PROCESSES: [&str; 15] = [
    "client backend",
    "autovacuum launcher",
    "autovacuum worker",
    "background writer",
    "checkpointer",
    "walwriter",
    "archiver",
    "startup",
    "walreceiver",
    "walsender",
    "walsummarizer",
    "logger",
    "slotsync worker",
    "io worker",
    "logical replication launcher",
];

/// The setting max_worker_processes.
pub fn max_worker_processes() -> Result<i64, Fault> {
    number("max_worker_processes")
}

/// A setting that is a number without a unit.
pub fn number(setting: &str) -> Result<i64, Fault> {
    let text = config::shown(setting)?;
    Ok(whole_number(setting, text.as_deref())?)
}

/// How many background workers there are, without those of some types. With the owner's rights.
pub fn background_workers(without: &[&str]) -> Result<i64, Fault> {
    let others = [&OWN_PROCESSES, without].concat();
    let count = sql::read(
        "SELECT count(*) + (pg_catalog.current_setting('max_logical_replication_workers')::int > 0)::int \
           FROM pg_catalog.pg_stat_activity WHERE backend_type <> ALL (string_to_array($1, ','))",
        &[Some(&others.join(","))],
    )?;
    let what = "the number of background workers";
    Ok(whole_number(what, count.as_deref())?)
}
