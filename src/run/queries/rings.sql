-- Settings that decide how many rings of io_uring this server has; NULL where it has none.
SELECT jsonb_object_agg(name, setting::bigint)
FROM pg_settings
WHERE name IN ('max_connections', 'autovacuum_worker_slots', 'max_worker_processes', 'max_wal_senders', 'io_max_concurrency')
  AND current_setting('io_method', true) = 'io_uring'
