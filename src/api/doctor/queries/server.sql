-- Facts about the server that do not decide whether a run is refused.
SELECT jsonb_build_object(
    'version', current_setting('server_version'),
    'workers', current_setting('max_worker_processes')::bigint,
    'shared_buffers_bytes', pg_size_bytes(current_setting('shared_buffers')),
    'fsync', current_setting('fsync'), 'full_page_writes', current_setting('full_page_writes'),
    'synchronous_commit', current_setting('synchronous_commit'),
    'track_io_timing', current_setting('track_io_timing'),
    'track_wal_io_timing', current_setting('track_wal_io_timing'),
    'log_checkpoints', current_setting('log_checkpoints')::bool, 'autovacuum', current_setting('autovacuum')::bool,
    'checkpoint_timeout', current_setting('checkpoint_timeout'), 'max_wal_size', current_setting('max_wal_size'),
    'statements_available', EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_stat_statements'),
    'log_min_messages', (SELECT reset_val FROM pg_settings WHERE name = 'log_min_messages'))
