//! Names of settings that a target's server may be given. They go into its configuration file, where some of them are more than
//! settings: they read other files, run programs, load libraries or lead to other servers.

use crate::refusal::{Refusal, quoted};

/// Names that a configuration file takes for directives to read another one.
const DIRECTIVES: [&str; 3] = ["include", "include_dir", "include_if_exists"];
/// Parts of names of settings that name programs, libraries or other servers, or that pgfsbench sets itself.
const PARTS: [&str; 16] = [
    ".on_",
    "_command",
    "_directories",
    "_libraries",
    "_tablespace",
    "archive_",
    "conninfo",
    "control_path",
    "library_path",
    "log_destination",
    "log_filename",
    "logging_collector",
    "primary_",
    "start_proc",
    "synchronous_standby_names",
    "unix_socket_",
];
/// Ends of names of settings that name files.
const ENDS: [&str; 4] = ["_directory", "_dir", "_file", "keyfile"];
/// Settings that are refused by their whole name.
const NAMES: [&str; 9] = [
    "bonjour",
    "bonjour_name",
    "cluster_name",
    "default_table_access_method",
    "jit_provider",
    "listen_addresses",
    "max_worker_processes",
    "port",
    "ssl",
];

/// The name in lower case, if it is one of a setting that a target may have. Whether the server has it is not known here.
pub fn check_name(name: &str) -> Result<String, Refusal> {
    let lower = name.to_ascii_lowercase();
    let refused = DIRECTIVES.contains(&lower.as_str())
        || NAMES.contains(&lower.as_str())
        || PARTS.iter().any(|part| lower.contains(part))
        || ENDS.iter().any(|end| lower.ends_with(end));
    if refused {
        return Err(Refusal::argument(format!(
            "setting {} cannot be set for a target",
            quoted(name)
        ))
        .detail("It names files, programs or other servers, or is set by pgfsbench.")
        .hint("Leave it out."));
    }
    if lower.split('.').count() > 2 || !lower.split('.').all(is_word) {
        return Err(Refusal::argument(format!(
            "{} is no name of a setting",
            quoted(name)
        ))
        .detail("Names of settings begin with a letter or an underscore, and have letters, digits and underscores; those of extensions have a prefix with a dot.")
        .hint("Give an object of names and values, like {\"shared_buffers\": \"1GB\"}."));
    }
    Ok(lower)
}

fn is_word(text: &str) -> bool {
    let first = |c: char| c.is_ascii_lowercase() || c == '_';
    text.starts_with(first) && text.chars().all(|c| first(c) || c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::check;
    use proptest::prelude::*;

    #[test]
    fn settings_of_a_server() {
        for name in [
            "work_mem",
            "Shared_Buffers",
            "DateStyle",
            "jit",
            "ssl_ciphers",
            "wal_sync_method",
            "pg_stat_statements.track",
            "pgfsbench.max_clients",
            "io_method",
            "data_sync_retry",
        ] {
            assert_eq!(check_name(name), Ok(name.to_lowercase()));
        }
    }

    /// All of PostgreSQL 15 to 18 that name files, programs, libraries or other servers, and those that a run sets by itself.
    #[test]
    fn what_names_files_programs_and_servers_is_refused() {
        for name in "archive_cleanup_command archive_command archive_library archive_mode bonjour bonjour_name cluster_name \
             config_file data_directory default_table_access_method default_tablespace dynamic_library_path extension_control_path external_pid_file \
             hba_file ident_file include include_dir include_if_exists jit_provider krb_server_keyfile listen_addresses \
             local_preload_libraries log_destination log_directory log_filename logging_collector max_worker_processes \
             oauth_validator_libraries plperl.on_init plperl.on_plperl_init plperl.on_plperlu_init pltcl.start_proc \
             pltclu.start_proc plv8.start_proc port primary_conninfo primary_slot_name promote_trigger_file \
             recovery_end_command restore_command session_preload_libraries shared_preload_libraries ssl ssl_ca_file \
             ssl_cert_file ssl_crl_dir ssl_crl_file ssl_dh_params_file ssl_key_file ssl_passphrase_command \
             ssl_passphrase_command_supports_reload stats_temp_directory synchronous_standby_names temp_tablespaces \
             unix_socket_directories unix_socket_group unix_socket_permissions"
            .split_whitespace()
        {
            for written in [name.to_owned(), name.to_uppercase()] {
                let refusal = check_name(&written).expect_err(&written);
                assert!(refusal.message.contains("cannot be set"), "{refusal:?}");
                check::style(&refusal);
            }
        }
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for name in [
            "",
            " ",
            ".",
            "a.",
            ".a",
            "a..b",
            "a.b.c",
            "1a",
            "a.1b",
            "a b",
            "a-b",
            "a=b",
            "a'b",
            "a\nb",
            "a#b",
            "größe",
            "work_mem = 1 include",
            "$user",
        ] {
            check::style(&check_name(name).expect_err(name));
        }
    }

    proptest! {
        #[test]
        fn an_accepted_name_is_one_word_or_two(name in "(include|Include_if|[a-zA-Z0-9_]{1,6})([./@ -]?[a-z0-9_]{0,4}){0,2}|\\PC{0,3}") {
            if let Ok(name) = check_name(&name) {
                prop_assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.".contains(&b)));
                prop_assert!(!DIRECTIVES.contains(&name.as_str()));
            }
        }
    }
}
