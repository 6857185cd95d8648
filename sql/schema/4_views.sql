-- What users read.

CREATE VIEW fsbench.progress AS
    SELECT p.run_id, p.status, r.target, r.workload, p.phase, p.done, p.total, p.seconds_left, p.phase_seconds, p.tps, p.tps_last_second,
           p.latency_p99_ms, p.coordinator_pid
    FROM fsbench._progress() p LEFT JOIN fsbench.run_log r USING (run_id)
    ORDER BY p.run_id;
COMMENT ON VIEW fsbench.progress IS 'Runs of this database that are queued or active, and how far they are';
COMMENT ON COLUMN fsbench.progress.run_id IS 'Run';
COMMENT ON COLUMN fsbench.progress.status IS 'queued or running';
COMMENT ON COLUMN fsbench.progress.target IS 'Target';
COMMENT ON COLUMN fsbench.progress.workload IS 'Workload';
COMMENT ON COLUMN fsbench.progress.phase IS 'queued, provision, load, vacuum, checkpoint, warmup, measure, verify, collect or cleanup';
COMMENT ON COLUMN fsbench.progress.done IS 'Steps of the phase that are done: rows in load, statements in vacuum, milliseconds or transactions in warmup and measure';
COMMENT ON COLUMN fsbench.progress.total IS 'Steps of the phase in all; NULL where unknown';
COMMENT ON COLUMN fsbench.progress.seconds_left IS 'Seconds left in the phase, from its speed so far; NULL where unknown';
COMMENT ON COLUMN fsbench.progress.phase_seconds IS 'Seconds in the phase so far';
COMMENT ON COLUMN fsbench.progress.tps IS 'Transactions per second in the phase so far';
COMMENT ON COLUMN fsbench.progress.tps_last_second IS 'Transactions per second in the last second';
COMMENT ON COLUMN fsbench.progress.latency_p99_ms IS '99th percentile of the latency in the last second (ms)';
COMMENT ON COLUMN fsbench.progress.coordinator_pid IS 'Process that owns the run';

CREATE VIEW fsbench.result AS
    SELECT r.run_id, r.target, e.filesystem, e.scope, e.durability, r.workload, r.scale, r.clients, r.status, r.started_at,
           r.tps, r.latency_avg_ms, r.latency_stddev_ms, r.latency_p50_ms, r.latency_p90_ms, r.latency_p95_ms,
           r.latency_p99_ms, r.latency_p999_ms, r.latency_max_ms, r.commit_avg_ms, r.commit_p50_ms, r.commit_p99_ms,
           r.commit_max_ms, r.transactions_total, r.transactions_outside, r.skipped, r.late, r.skipped + r.late AS missed, r.failed, r.stall_seconds,
           r.zero_seconds, r.load_ms, r.measured_ms, r.data_bytes, r.wal_bytes, r.xids_used, r.complete_checkpoints,
           f.findings, f.worst AS worst_finding,
           r.duration, r.transactions, r.warmup, r.rate, r.latency_limit_ms, r.seed, r.label, r.forced, r.used, r.asked,
           r.requested_by, r.requested_at, r.measured_from, r.ended_at, r.phases, r.work_database, r.kept,
           r.error_code, r.error, r.error_detail, r.error_hint, r.balances,
           e.pgfsbench_version, e.server_version, e.server_version_num, e.kernel, e.hostname, e.machine,
           e.virtualization, e.processors, e.processor_model, e.memory_bytes, e.shared_buffers_bytes, e.data_directory,
           e.device, e.mount_point, e.mount_options, e.st_dev, e.data_size_bytes, e.data_free_bytes, e.wal_directory, e.wal_filesystem, e.wal_device,
           e.wal_mount_options, e.wal_st_dev, e.settings
    FROM fsbench.run_log r
    LEFT JOIN fsbench.environment e USING (run_id)
    LEFT JOIN LATERAL (
        SELECT count(*)::integer AS findings,
               (ARRAY['info', 'warning', 'invalid'])[max(array_position(ARRAY['info', 'warning', 'invalid'], severity))] AS worst
        FROM fsbench.finding WHERE run_id = r.run_id) f ON true;
COMMENT ON VIEW fsbench.result IS 'Everything about each run; samples, histograms and findings are in tables of their own';

-- Its columns say what those of the tables say that they come from.
DO $$
DECLARE
    col record;
BEGIN
    FOR col IN
        SELECT v.attname, pg_catalog.col_description(t.attrelid, t.attnum) AS text
        FROM pg_catalog.pg_attribute v JOIN pg_catalog.pg_attribute t USING (attname)
        WHERE v.attrelid = 'fsbench.result'::pg_catalog.regclass AND v.attnum > 0
          AND t.attrelid IN ('fsbench.run_log'::pg_catalog.regclass, 'fsbench.environment'::pg_catalog.regclass)
          AND (t.attname <> 'run_id' OR t.attrelid = 'fsbench.run_log'::pg_catalog.regclass)
    LOOP
        EXECUTE pg_catalog.format('COMMENT ON COLUMN fsbench.result.%I IS %L', col.attname, col.text);
    END LOOP;
END
$$;
COMMENT ON COLUMN fsbench.result.findings IS 'Number of findings about the run; they are in fsbench.finding';
COMMENT ON COLUMN fsbench.result.missed IS 'Transactions that missed the latency limit: late and skipped ones';
COMMENT ON COLUMN fsbench.result.worst_finding IS 'Worst severity among them: invalid, warning or info; NULL when there is none';
