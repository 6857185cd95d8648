//! The settings of the asking server: each is carried over to its target servers, or there is a reason why not.

/// Settings of the asking server that its target servers get too: what decides memory, WAL, checkpoints, commits, vacuum, plans and I/O. Never
/// those that name files, programs or other servers.
pub const COPIED: [&str; 163] = [
    "autovacuum",
    "autovacuum_analyze_scale_factor",
    "autovacuum_analyze_score_weight",
    "autovacuum_analyze_threshold",
    "autovacuum_max_parallel_workers",
    "autovacuum_max_workers",
    "autovacuum_naptime",
    "autovacuum_vacuum_cost_delay",
    "autovacuum_vacuum_cost_limit",
    "autovacuum_vacuum_insert_scale_factor",
    "autovacuum_vacuum_insert_score_weight",
    "autovacuum_vacuum_insert_threshold",
    "autovacuum_vacuum_max_threshold",
    "autovacuum_vacuum_scale_factor",
    "autovacuum_vacuum_score_weight",
    "autovacuum_vacuum_threshold",
    "autovacuum_work_mem",
    "autovacuum_worker_slots",
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
    "commit_timestamp_buffers",
    "constraint_exclusion",
    "cpu_index_tuple_cost",
    "cpu_operator_cost",
    "cpu_tuple_cost",
    "cursor_tuple_fraction",
    "deadlock_timeout",
    "debug_io_direct",
    "default_statistics_target",
    "default_transaction_deferrable",
    "default_transaction_isolation",
    "dynamic_shared_memory_type",
    "effective_cache_size",
    "effective_io_concurrency",
    "enable_async_append",
    "enable_bitmapscan",
    "enable_distinct_reordering",
    "enable_eager_aggregate",
    "enable_gathermerge",
    "enable_group_by_reordering",
    "enable_hashagg",
    "enable_hashjoin",
    "enable_incremental_sort",
    "enable_indexonlyscan",
    "enable_indexscan",
    "enable_material",
    "enable_memoize",
    "enable_mergejoin",
    "enable_nestloop",
    "enable_parallel_append",
    "enable_parallel_hash",
    "enable_partition_pruning",
    "enable_partitionwise_aggregate",
    "enable_partitionwise_join",
    "enable_presorted_aggregate",
    "enable_self_join_elimination",
    "enable_seqscan",
    "enable_sort",
    "enable_tidscan",
    "file_copy_method",
    "file_extend_method",
    "from_collapse_limit",
    "fsync",
    "full_page_writes",
    "geqo",
    "geqo_effort",
    "geqo_generations",
    "geqo_pool_size",
    "geqo_seed",
    "geqo_selection_bias",
    "geqo_threshold",
    "hash_mem_multiplier",
    "huge_page_size",
    "huge_pages",
    "io_combine_limit",
    "io_max_combine_limit",
    "io_max_concurrency",
    "io_max_workers",
    "io_method",
    "io_min_workers",
    "io_worker_idle_timeout",
    "io_worker_launch_interval",
    "io_workers",
    "jit",
    "jit_above_cost",
    "jit_expressions",
    "jit_inline_above_cost",
    "jit_optimize_above_cost",
    "jit_tuple_deforming",
    "join_collapse_limit",
    "log_checkpoints",
    "maintenance_io_concurrency",
    "maintenance_work_mem",
    "max_files_per_process",
    "max_parallel_maintenance_workers",
    "max_parallel_workers",
    "max_parallel_workers_per_gather",
    "max_pred_locks_per_page",
    "max_pred_locks_per_relation",
    "max_pred_locks_per_transaction",
    "max_wal_senders",
    "max_wal_size",
    "min_dynamic_shared_memory",
    "min_eager_agg_group_size",
    "min_parallel_index_scan_size",
    "min_parallel_table_scan_size",
    "min_wal_size",
    "multixact_member_buffers",
    "multixact_offset_buffers",
    "notify_buffers",
    "old_snapshot_threshold",
    "parallel_leader_participation",
    "parallel_setup_cost",
    "parallel_tuple_cost",
    "pgfsbench.fio",
    "pgfsbench.max_clients",
    "pgfsbench.reserved_space",
    "plan_cache_mode",
    "random_page_cost",
    "recovery_init_sync_method",
    "recovery_prefetch",
    "recursive_worktable_factor",
    "seq_page_cost",
    "serializable_buffers",
    "shared_buffers",
    "shared_memory_type",
    "subtransaction_buffers",
    "synchronize_seqscans",
    "synchronous_commit",
    "temp_buffers",
    "timing_clock_source",
    "track_commit_timestamp",
    "track_cost_delay_timing",
    "track_io_timing",
    "track_wal_io_timing",
    "transaction_buffers",
    "vacuum_buffer_usage_limit",
    "vacuum_cost_delay",
    "vacuum_cost_limit",
    "vacuum_cost_page_dirty",
    "vacuum_cost_page_hit",
    "vacuum_cost_page_miss",
    "vacuum_truncate",
    "wal_buffers",
    "wal_compression",
    "wal_decode_buffer_size",
    "wal_init_zero",
    "wal_level",
    "wal_log_hints",
    "wal_recycle",
    "wal_skip_threshold",
    "wal_sync_method",
    "wal_writer_delay",
    "wal_writer_flush_after",
    "work_mem",
];

/// All other settings of PostgreSQL 15 to 19, by the reason why target servers do not get the asking server's value.
pub const NOT_COPIED: [(&str, &str); 16] = [
    (
        "it names a file, a program, a library or another server",
        "archive_cleanup_command archive_command archive_library bonjour bonjour_name config_file data_directory dynamic_library_path \
         extension_control_path extension_destdir external_pid_file hba_file hosts_file ident_file jit_provider krb_server_keyfile \
         listen_addresses local_preload_libraries oauth_validator_libraries output_plugin_libraries port primary_conninfo primary_slot_name \
         promote_trigger_file recovery_end_command restore_command session_preload_libraries ssl_ca_file ssl_cert_file ssl_crl_dir \
         ssl_crl_file ssl_dh_params_file ssl_key_file ssl_passphrase_command ssl_passphrase_command_supports_reload unix_socket_directories \
         unix_socket_group unix_socket_permissions",
    ),
    (
        "a run sets it itself",
        "cluster_name max_worker_processes shared_preload_libraries",
    ),
    (
        "data and WAL are on the filesystem that is measured",
        "allow_in_place_tablespaces default_tablespace temp_tablespaces",
    ),
    (
        "initdb or the build decides it, or it only shows something",
        "block_size data_checksums data_directory_mode debug_assertions debug_exec_backend effective_wal_level huge_pages_status \
         in_hot_standby integer_datetimes lc_collate lc_ctype max_function_args max_identifier_length max_index_keys num_os_semaphores \
         segment_size server_encoding server_version server_version_num shared_memory_size shared_memory_size_in_huge_pages ssl_library \
         wal_block_size wal_segment_size",
    ),
    (
        "the server has no archive, no standby, no slot and no subscription",
        "archive_mode archive_timeout hot_standby hot_standby_feedback idle_replication_slot_timeout logical_decoding_work_mem \
         max_active_replication_origins max_logical_replication_workers max_parallel_apply_workers_per_subscription \
         max_repack_replication_slots max_replication_slots max_slot_wal_keep_size max_standby_archive_delay max_standby_streaming_delay \
         max_sync_workers_per_subscription recovery_min_apply_delay recovery_target recovery_target_action recovery_target_inclusive \
         recovery_target_lsn recovery_target_name recovery_target_time recovery_target_timeline recovery_target_xid summarize_wal \
         sync_replication_slots synchronized_standby_slots synchronous_standby_names vacuum_defer_cleanup_age wal_keep_size \
         wal_receiver_create_temp_slot wal_receiver_status_interval wal_receiver_timeout wal_retrieve_retry_interval \
         wal_sender_shutdown_timeout wal_sender_timeout wal_summary_keep_time",
    ),
    (
        "only the run connects, as the operating system user and by a socket",
        "authentication_timeout client_connection_check_interval db_user_namespace gss_accept_delegation krb_caseins_users max_connections \
         md5_password_warnings password_encryption password_expiration_warning_threshold reserved_connections scram_iterations ssl \
         ssl_ciphers ssl_ecdh_curve ssl_groups ssl_max_protocol_version ssl_min_protocol_version ssl_prefer_server_ciphers ssl_sni \
         ssl_tls13_ciphers superuser_reserved_connections tcp_keepalives_count tcp_keepalives_idle tcp_keepalives_interval tcp_user_timeout",
    ),
    (
        "it says how SQL is read or how values are printed, on which no workload depends",
        "DateStyle IntervalStyle TimeZone array_nulls backslash_quote bytea_output client_encoding default_text_search_config \
         escape_string_warning extra_float_digits icu_validation_level lc_messages lc_monetary lc_numeric lc_time quote_all_identifiers \
         standard_conforming_strings timezone_abbreviations transform_null_equals xmlbinary xmloption",
    ),
    (
        "it is for the sessions of people",
        "allow_alter_system application_name check_function_bodies client_min_messages compute_query_id createrole_self_grant \
         default_transaction_read_only event_triggers exit_on_error idle_in_transaction_session_timeout idle_session_timeout \
         lo_compat_privileges lock_timeout max_stack_depth restrict_nonsystem_relation_kind row_security search_path \
         session_replication_role statement_timeout stats_fetch_consistency temp_file_limit transaction_deferrable transaction_isolation \
         transaction_read_only transaction_timeout",
    ),
    (
        "no workload uses what it is for",
        "default_table_access_method gin_fuzzy_search_limit gin_pending_list_limit max_locks_per_transaction max_notify_queue_pages \
         max_prepared_transactions",
    ),
    (
        "prepared data are the same whatever it says",
        "default_toast_compression",
    ),
    (
        "a new cluster has young transaction ids",
        "autovacuum_freeze_max_age autovacuum_freeze_score_weight autovacuum_multixact_freeze_max_age \
         autovacuum_multixact_freeze_score_weight vacuum_failsafe_age vacuum_freeze_min_age vacuum_freeze_table_age \
         vacuum_max_eager_freeze_failure_rate vacuum_multixact_failsafe_age vacuum_multixact_freeze_min_age \
         vacuum_multixact_freeze_table_age",
    ),
    (
        "the log of a target server is on the filesystem that is measured, and short",
        "backtrace_functions checkpoint_warning debug_pretty_print debug_print_parse debug_print_plan debug_print_raw_parse \
         debug_print_rewritten event_source log_autoanalyze_min_duration log_autovacuum_min_duration log_connections log_destination \
         log_directory log_disconnections log_duration log_error_verbosity log_executor_stats log_file_mode log_filename log_hostname \
         log_line_prefix log_lock_failures log_lock_waits log_min_duration_sample log_min_duration_statement log_min_error_statement \
         log_min_messages log_parameter_max_length log_parameter_max_length_on_error log_parser_stats log_planner_stats \
         log_recovery_conflict_waits log_replication_commands log_rotation_age log_rotation_size log_startup_progress_interval \
         log_statement log_statement_sample_rate log_statement_stats log_temp_files log_timezone log_transaction_sample_rate \
         log_truncate_on_rotation logging_collector syslog_facility syslog_ident syslog_sequence_numbers syslog_split_messages \
         trace_connection_negotiation trace_notify trace_recovery_messages trace_sort",
    ),
    (
        "a run reads these statistics",
        "track_activities track_activity_query_size track_counts track_functions update_process_title",
    ),
    (
        "a run decides what a crash does",
        "data_sync_retry remove_temp_files_after_crash restart_after_crash send_abort_for_crash send_abort_for_kill",
    ),
    (
        "it is for developers of PostgreSQL",
        "allow_system_table_mods composite_type_mismatch debug_discard_caches debug_logical_replication_streaming debug_parallel_query \
         force_parallel_mode ignore_checksum_failure ignore_invalid_pages ignore_system_indexes jit_debugging_support jit_dump_bitcode \
         jit_profiling_support post_auth_delay pre_auth_delay wal_consistency_checking zero_damaged_pages",
    ),
    (
        "it is for queries and maintenance outside of a run",
        "pgfsbench.max_queued pgfsbench.prepared_data_directory pgfsbench.prepared_data_limit pgfsbench.progress",
    ),
];

/// Why target servers do not get a setting; None if they get it, or nothing is known of it.
pub fn why_not(name: &str) -> Option<&'static str> {
    let has = |names: &str| names.split_whitespace().any(|one| one == name);
    let found = NOT_COPIED.iter().find(|(_, names)| has(names));
    found.map(|(reason, _)| *reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

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

    #[test]
    fn each_setting_is_listed_once() {
        let others = NOT_COPIED
            .iter()
            .flat_map(|(_, names)| names.split_whitespace());
        let mut seen = BTreeSet::new();
        for name in COPIED.into_iter().chain(others) {
            assert!(seen.insert(name), "{name} is listed twice");
        }
        assert_eq!(
            why_not("wal_segment_size"),
            Some("initdb or the build decides it, or it only shows something")
        );
        assert_eq!(why_not("shared_buffers"), None);
    }
}
