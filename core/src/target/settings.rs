//! The settings of a target server: what the asking server has, what the target says, and what a benchmark needs.

use std::{collections::BTreeMap, path::Path};

/// Settings of the asking server that its target servers get too: memory, WAL, checkpoints, commit, planner and I/O. Never
/// those that name files, programs or other servers.
pub const COPIED: [&str; 51] = [
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
    /// The asking server's values of [`COPIED`].
    pub copied: BTreeMap<String, String>,
    /// The target's own settings.
    pub of_target: BTreeMap<String, String>,
    /// Settings that a benchmark needs.
    pub needed: Vec<(&'static str, String)>,
}

impl Settings {
    /// The configuration file of a server that listens in that directory, and nowhere else.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn settings(of_target: &[(&str, &str)]) -> Settings {
        let given = |given: &[(&str, &str)]| {
            let given = given
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into()));
            given.collect()
        };
        Settings {
            copied: given(&[("fsync", "on"), ("work_mem", "4MB")]),
            of_target: given(of_target),
            needed: vec![("restart_after_crash", "off".into())],
        }
    }

    #[test]
    fn the_target_wins_over_this_server_and_what_is_needed_over_both() {
        let given = [
            ("fsync", "off"),
            ("restart_after_crash", "on"),
            ("port", "1"),
        ];
        let file = settings(&given).to_file(Path::new("/x/y"), "5433");
        let lines: Vec<&str> = file.lines().collect();
        for line in [
            "fsync = 'off'",
            "work_mem = '4MB'",
            "restart_after_crash = 'off'",
            "port = '5433'",
            "listen_addresses = ''",
            "unix_socket_directories = '\"/x/y\"'",
        ] {
            assert!(lines.contains(&line), "{line}: {file}");
        }
        let names: Vec<&str> = lines
            .iter()
            .filter_map(|line| line.split(' ').next())
            .collect();
        assert!(names.is_sorted(), "each is there once: {names:?}");
    }

    #[test]
    fn nothing_is_copied_that_names_files_or_others() {
        for name in COPIED {
            let is_name = [
                "_file",
                "_directory",
                "_command",
                "_libraries",
                "conninfo",
                "_names",
            ];
            assert!(!is_name.iter().any(|end| name.ends_with(end)), "{name}");
        }
        assert!(COPIED.is_sorted());
    }

    proptest! {
        /// Reads as guc-file.l does: a value in quotes ends at the first quote that is not doubled.
        #[test]
        fn no_value_leaves_its_quotes(value in "[^\\x00-\\x1f]{0,20}") {
            let file = settings(&[("x.y", &value)]).to_file(Path::new("/x"), "1");
            let line = file.lines().find(|line| line.starts_with("x.y = '")).expect("it is there");
            let inner = &line["x.y = '".len()..line.len() - 1];
            let plain = inner.replace("\\\\", "").replace("''", "");
            prop_assert!(!plain.contains('\'') && !plain.contains('\\'), "{line}");
        }
    }
}
