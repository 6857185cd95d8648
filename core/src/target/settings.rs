//! The settings of a target server: what the asking server has, what the target says, and what a benchmark needs.

use std::{collections::BTreeMap, path::Path};

use crate::{spec::Spec, statement};

/// Worker slots that a target server has in addition to those of the clients and the run: janitor, logical replication launcher,
/// parallel workers.
const FURTHER_WORKERS: u32 = 16;

/// The settings that a run needs of the server that is put on its target: those of each run, and those of its workload. `run` is the
/// number of the run; with `records_statements` the server loads pg_stat_statements.
pub fn needed(spec: &Spec, run: &str, records_statements: bool) -> Vec<(&'static str, String)> {
    let mut libraries = vec!["pgfsbench"];
    if records_statements {
        libraries.insert(0, statement::EXTENSION);
    }
    let workers = spec.workers() + FURTHER_WORKERS;
    let mut needed = vec![
        ("shared_preload_libraries", libraries.join(", ")),
        ("max_worker_processes", workers.to_string()),
        ("cluster_name", cluster_name(run)),
    ];
    needed.extend(spec.workload.server_settings(spec));
    needed
}

/// The cluster_name by which the target server of a run is recognized.
pub fn cluster_name(run: &str) -> String {
    format!("pgfsbench run {run}")
}

/// The settings of a target server, in the order in which they win over those before.
pub struct Settings {
    /// The asking server's values of [`COPIED`](super::carried_over::COPIED).
    pub copied: BTreeMap<String, String>,
    /// The target's own settings.
    pub of_target: BTreeMap<String, String>,
    /// Settings that a benchmark needs.
    pub needed: Vec<(&'static str, String)>,
}

impl Settings {
    /// The value of a setting that the file has.
    pub fn value(&self, name: &str) -> Option<&str> {
        let needed = self.needed.iter().rev().find(|(needed, _)| *needed == name);
        needed
            .map(|(_, value)| value)
            .or_else(|| self.of_target.get(name))
            .or_else(|| self.copied.get(name))
            .map(String::as_str)
    }

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
    use crate::{
        spec::{Facts, RunArguments},
        workload::resolve,
    };
    use proptest::prelude::*;
    use serde_json::json;

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
        let settings = settings(&given);
        let value = |name| settings.value(name);
        assert_eq!(value("fsync"), Some("off"));
        assert_eq!(value("work_mem"), Some("4MB"));
        assert_eq!(value("restart_after_crash"), Some("off"));
        assert_eq!(value("io_method"), None);
        let names: Vec<&str> = lines
            .iter()
            .filter_map(|line| line.split(' ').next())
            .collect();
        assert!(names.is_sorted(), "each is there once: {names:?}");
    }

    fn needed_of(workload: &str, options: serde_json::Value) -> BTreeMap<&'static str, String> {
        let arguments = RunArguments {
            target: Some("there".into()),
            workload: Some(workload.into()),
            options: Some(options),
            ..RunArguments::default()
        };
        let facts = Facts {
            processors: 2,
            memory_bytes: 4 << 30,
            free_worker_slots: 40,
            max_clients: 64,
            max_worker_processes: 64,
            max_parallel_workers: 8,
            server_version_num: 150_020,
            data_free_bytes: 100 << 30,
            targets: vec!["there".into()],
            ..Facts::default()
        };
        let spec = resolve(&arguments, &facts).expect("it can be run");
        needed(&spec, "7", workload == "scan").into_iter().collect()
    }

    #[test]
    fn a_workload_gets_what_it_needs_beside_what_each_run_needs() {
        let of_tpcb = needed_of("tpcb", json!({}));
        let given = |name| of_tpcb.get(name).map(String::as_str);
        assert_eq!(given("shared_preload_libraries"), Some("pgfsbench"));
        assert_eq!(given("cluster_name"), Some("pgfsbench run 7"));
        // 8 clients, coordinator and sampler, and 16 more.
        assert_eq!(given("max_worker_processes"), Some("26"));
        assert_eq!(given("max_parallel_workers"), None);
        let of_scan = needed_of("scan", json!({"degrees": [1, 6], "cache": "cold"}));
        let given = |name| of_scan.get(name).map(String::as_str);
        let libraries = Some("pg_stat_statements, pgfsbench");
        assert_eq!(given("shared_preload_libraries"), libraries);
        assert_eq!(given("max_parallel_workers"), Some("6"));
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
