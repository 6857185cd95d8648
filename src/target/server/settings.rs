//! The settings of a target server: what the asking server has, what the target says, and what a benchmark needs.

use std::{collections::BTreeMap, path::Path};

use crate::{errors::Fault, pg::sql};

/// Settings of the asking server that its target servers get too: memory, WAL, checkpoints, commit, planner and I/O. Never
/// those that name files, programs or other servers.
const COPIED: [&str; 51] = [
    "autovacuum_max_workers",
    "autovacuum_naptime",
    "autovacuum_vacuum_cost_delay",
    "autovacuum_vacuum_cost_limit",
    "backend_flush_after",
    "bgwriter_delay",
    "bgwriter_flush_after",
    "bgwriter_lru_maxpages",
    "bgwriter_lru_multiplier",
    "checkpoint_completion_target",
    "checkpoint_flush_after",
    "checkpoint_timeout",
    "commit_delay",
    "commit_siblings",
    "cpu_index_tuple_cost",
    "cpu_operator_cost",
    "cpu_tuple_cost",
    "effective_cache_size",
    "effective_io_concurrency",
    "file_copy_method",
    "file_extend_method",
    "fsync",
    "full_page_writes",
    "huge_pages",
    "io_combine_limit",
    "io_max_combine_limit",
    "io_max_concurrency",
    "io_method",
    "io_workers",
    "jit",
    "log_checkpoints",
    "maintenance_io_concurrency",
    "maintenance_work_mem",
    "max_parallel_maintenance_workers",
    "max_parallel_workers",
    "max_parallel_workers_per_gather",
    "max_wal_size",
    "min_wal_size",
    "pgfsbench.max_clients",
    "pgfsbench.reserved_space",
    "random_page_cost",
    "seq_page_cost",
    "shared_buffers",
    "synchronous_commit",
    "track_io_timing",
    "track_wal_io_timing",
    "wal_buffers",
    "wal_compression",
    "wal_sync_method",
    "wal_writer_delay",
    "work_mem",
];

/// The settings of a target server, in the order in which they win over those before.
pub struct Settings {
    /// What the asking server has; see [`copied`].
    pub copied: BTreeMap<String, String>,
    /// What the target says.
    pub of_target: BTreeMap<String, String>,
    /// What a benchmark needs.
    pub needed: Vec<(&'static str, String)>,
}

impl Settings {
    /// As a configuration file of a server that listens in that directory, and nowhere else.
    pub fn to_file(&self, socket_directory: &Path, port: &str) -> String {
        let socket = format!("\"{}\"", socket_directory.display());
        let always = [
            ("listen_addresses", ""),
            ("port", port),
            ("unix_socket_directories", &socket),
            ("unix_socket_permissions", "0700"),
            ("logging_collector", "off"),
            ("log_destination", "stderr"),
        ];
        let mut settings: BTreeMap<&str, &str> = BTreeMap::new();
        for given in [&self.copied, &self.of_target] {
            settings.extend(
                given
                    .iter()
                    .map(|(name, value)| (name.as_str(), value.as_str())),
            );
        }
        settings.extend(
            self.needed
                .iter()
                .map(|(name, value)| (*name, value.as_str())),
        );
        settings.extend(always);
        // Backslashes are escapes in the file, too.
        let escaped = |value: &str| value.replace('\\', "\\\\").replace('\'', "''");
        settings
            .iter()
            .map(|(name, value)| format!("{name} = '{}'\n", escaped(value)))
            .collect()
    }
}

/// Those of a run's settings that only a session can have.
pub fn of_session(settings: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, Fault> {
    let of_server = of_server(settings)?;
    let mut of_session = settings.clone();
    of_session.retain(|name, _| !of_server.contains_key(name));
    Ok(of_session)
}

/// Those of a run's settings that only a whole server can have. In a transaction.
pub fn of_server(settings: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, Fault> {
    let text = sql::read(
        "SELECT coalesce(jsonb_object_agg(key, value), '{}') FROM jsonb_each_text($1::jsonb) \
         WHERE EXISTS (SELECT FROM pg_settings WHERE lower(name) = key AND context IN ('postmaster', 'sighup'))",
        &[Some(&serde_json::json!(settings).to_string())],
    )?;
    Ok(text
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default())
}

/// The settings of this server that a target server gets too. In a transaction, with the owner's rights.
pub fn copied() -> Result<BTreeMap<String, String>, Fault> {
    let text = sql::read(
        "SELECT jsonb_object_agg(name, current_setting(name)) FROM pg_settings \
         WHERE name = ANY (string_to_array($1, ',')) AND source IN ('configuration file', 'command line', 'environment variable')",
        &[Some(&COPIED.join(","))],
    )?;
    Ok(text
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default())
}
