-- Views for users.

CREATE VIEW fsbench.progress AS
    SELECT p.run_id, p.status, r.target, r.workload, p.phase, CASE WHEN p.total > 0 THEN least(floor(100.0 * p.done / p.total), 100)::integer END AS percent, p.done, p.total,
           ceil(p.seconds_left)::bigint AS seconds_left, floor(p.phase_seconds)::bigint AS phase_seconds,
           round(p.tps::numeric, 1)::float8 AS tps, round(p.tps_last_second::numeric, 1)::float8 AS tps_last_second,
           round(p.latency_p99_ms::numeric, 3)::float8 AS latency_p99_ms, p.coordinator_pid, p.runs_before,
           p.probe, round(p.rate::numeric, 1)::float8 AS rate
    FROM fsbench._progress() p LEFT JOIN fsbench.run_log r USING (run_id)
    ORDER BY p.run_id;
COMMENT ON VIEW fsbench.progress IS 'Runs of this database that are queued or active, and how far they are';
COMMENT ON COLUMN fsbench.progress.status IS 'queued or running';
COMMENT ON COLUMN fsbench.progress.target IS 'Target';
COMMENT ON COLUMN fsbench.progress.workload IS 'Workload';
COMMENT ON COLUMN fsbench.progress.phase IS 'queued, provision, load, vacuum, checkpoint, warmup, measure, verify, maintenance, recovery, collect or cleanup';
COMMENT ON COLUMN fsbench.progress.percent IS 'How much of the phase is done, in percent; NULL where unknown';
COMMENT ON COLUMN fsbench.progress.done IS 'Steps of the phase that are done: rows in load, statements in vacuum, milliseconds or transactions in warmup and measure, cycles of a search for the sustainable rate (of how many it can take at most); in provision, percent of the sync of an array that the helper makes; of the workload fsync, bytes of its file in provision and tests in measure; steps in maintenance';
COMMENT ON COLUMN fsbench.progress.total IS 'Steps of the phase in all; NULL where unknown';
COMMENT ON COLUMN fsbench.progress.seconds_left IS 'Seconds left in the phase, from its speed so far; NULL where unknown';
COMMENT ON COLUMN fsbench.progress.phase_seconds IS 'Seconds in the phase so far';
COMMENT ON COLUMN fsbench.progress.tps IS 'Transactions per second in the phase so far';
COMMENT ON COLUMN fsbench.progress.tps_last_second IS 'Transactions per second in the last second; NULL before the first is over';
COMMENT ON COLUMN fsbench.progress.latency_p99_ms IS '99th percentile of the latency in the last second (ms)';
COMMENT ON COLUMN fsbench.progress.coordinator_pid IS 'Process that owns the run';
COMMENT ON COLUMN fsbench.progress.probe IS 'Current probe of a search for the sustainable rate';
COMMENT ON COLUMN fsbench.progress.rate IS 'The rate that it tries (transactions per second of all clients)';
COMMENT ON COLUMN fsbench.progress.runs_before IS 'Number of runs before a queued run, including the active one and those of other databases';

CREATE VIEW fsbench.result AS
    SELECT r.run_id, fsbench._shown_target(r.target, r.target_version) AS target,
           e.filesystem, e.scope, e.durability, r.workload, r.scale, r.clients, r.status, r.started_at,
           r.tps, r.latency_avg_ms, r.latency_stddev_ms, r.latency_p50_ms, r.latency_p90_ms, r.latency_p95_ms,
           r.latency_p99_ms, r.latency_p999_ms, r.latency_max_ms, r.commit_avg_ms, r.commit_p50_ms, r.commit_p99_ms,
           r.commit_max_ms, r.transactions_total, r.transactions_outside, r.skipped, r.late, r.skipped + r.late AS missed, r.failed, r.stall_seconds,
           r.zero_seconds, r.load_ms, r.measured_ms, r.data_bytes, r.wal_bytes, r.xids_used, r.complete_checkpoints, r.checkpoints_timed, r.checkpoints_requested, r.checkpoints_logged,
           r.track_io_timing, r.track_wal_io_timing, r.clock_read_ns,
           f.findings, f.worst AS worst_finding,
           r.duration, r.transactions, r.warmup, r.rate, r.latency_limit_ms, r.seed, r.label, r.forced, r.used, r.asked,
           r.requested_by, r.requested_at, r.measured_from, r.ended_at, r.phases, r.steps, r.work_database, r.kept,
           r.error_code, r.error, r.error_detail, r.error_hint, r.balances,
           e.pgfsbench_version, e.server_version, e.server_version_num, e.kernel, e.hostname, e.machine,
           e.virtualization, e.processors, e.processor_model, e.memory_bytes, e.shared_buffers_bytes, e.data_checksums, e.data_directory,
           e.device, e.mount_point, e.mount_options, e.st_dev, e.filesystem_size_bytes, e.filesystem_free_bytes, e.wal_directory, e.wal_filesystem, e.wal_device,
           e.wal_mount_options, e.wal_st_dev, e.settings,
           r.client_wal_records, r.client_wal_fpi, r.client_wal_bytes, r.client_wal_writes, r.client_wal_syncs,
           r.client_wal_write_ms, r.client_wal_sync_ms, r.client_blocks_hit, r.client_blocks_read,
           r.client_blocks_dirtied, r.client_blocks_written, r.client_block_read_ms, r.client_block_write_ms,
           r.client_cpu_seconds, r.cpu_seconds, r.cpu_ms_per_transaction, r.device_read_bytes, r.device_write_bytes,
           r.device_flushes, r.device_bytes_per_transaction, r.flushes_per_transaction, r.changed_bytes,
           r.server_write_bytes, r.io_read_bytes, r.io_write_bytes, r.io_extend_bytes, r.io_wal_write_bytes, r.server_write_amplification, r.filesystem_write_amplification,
           r.write_amplification, r.wal_start_lsn, r.wal_end_lsn,
           e.mkfs_version, e.block_size_bytes, e.device_model, e.rotational, e.write_cache, e.io_scheduler, e.read_ahead_kb,
           e.container, e.clock_source, e.host_fingerprint, e.configuration_fingerprint,
           r.data_bytes::float8 / nullif(e.memory_bytes, 0) AS data_ram_ratio,
           r.data_bytes::float8 / nullif(e.shared_buffers_bytes, 0) AS data_shared_buffers_ratio,
           r.sustainable_rate, r.sustainable_rate_low, r.sustainable_rate_high, r.sustainable_rate_estimate, r.sustainable_rate_says,
           r.target AS target_name, r.target_version,
           left(encode(sha256(convert_to(r.target_definition::text, 'UTF8')), 'hex'), 16) AS target_fingerprint, r.target_definition,
           r.behind, e.limits
    FROM fsbench.run_log r
    LEFT JOIN fsbench.environment e USING (run_id)
    LEFT JOIN LATERAL (
        SELECT count(*)::integer AS findings,
               (ARRAY['info', 'warning', 'invalid'])[max(array_position(ARRAY['info', 'warning', 'invalid'], severity))] AS worst
        FROM fsbench.finding WHERE run_id = r.run_id) f ON true;
COMMENT ON VIEW fsbench.result IS 'Everything about each run; samples, histograms and findings are in tables of their own';
COMMENT ON COLUMN fsbench.result.data_ram_ratio IS 'data_bytes / memory_bytes: up to 1 reads may all come from RAM';
COMMENT ON COLUMN fsbench.result.data_shared_buffers_ratio IS 'data_bytes / shared_buffers_bytes: up to 1 reads may all come from shared buffers';
COMMENT ON COLUMN fsbench.result.target IS 'Target that was measured; xfs#2 for the second definition of a target xfs that has results, and so on. Group by it: a target that was defined anew is another one';
COMMENT ON COLUMN fsbench.result.target_name IS 'Name of the target in fsbench.target, in whichever definition';
COMMENT ON COLUMN fsbench.result.target_fingerprint IS 'The same for runs on targets that are defined alike, whatever their names: a hash of target_definition';
COMMENT ON COLUMN fsbench.result.findings IS 'Number of findings about the run; they are in fsbench.finding';
COMMENT ON COLUMN fsbench.result.missed IS 'Transactions that missed the latency limit: late and skipped ones';
COMMENT ON COLUMN fsbench.result.worst_finding IS 'Worst severity among them: invalid, warning or info; NULL when there is none';

CREATE VIEW fsbench.device AS
    SELECT d.path, d.model, d.serial, d.bytes AS size_bytes, d.contents, d.usable, d.why_not, d.wwn, d.partition_uuid, d.node,
           d.hint, h.seen_at
    FROM fsbench.helper_description h,
         pg_catalog.jsonb_to_recordset(h.description -> 'devices') AS d (path text, model text, serial text, bytes bigint, contents text,
             usable boolean, why_not text, wwn text, partition_uuid text, node text, hint text)
    UNION ALL
    SELECT b.path, b.model, b.serial, b.size_bytes, NULL, false,
           pg_catalog.concat_ws(', and ', CASE WHEN EXISTS (SELECT FROM fsbench.helper_description)
               THEN 'the helper''s configuration does not name it' ELSE 'the helper has not told yet whether its configuration names it' END, b.in_use),
           b.wwn, NULL, b.node,
           CASE WHEN b.in_use IS NULL THEN pg_catalog.format(E'[[device]]\npath = "%s"\n# Two lines for /etc/pgfsbench/helper.toml; '
               'then: systemctl restart pgfsbench-helper',
               pg_catalog.replace(pg_catalog.replace(b.path, E'\\', E'\\\\'), '"', E'\\"')) END,
           pg_catalog.clock_timestamp()
    FROM fsbench._block_devices() b
    WHERE NOT EXISTS (SELECT FROM fsbench.helper_description h, pg_catalog.jsonb_array_elements(h.description -> 'devices') d
                      WHERE d ->> 'node' = b.node OR d ->> 'path' IN (b.path, b.node))
    ORDER BY 6 DESC, 1;
COMMENT ON VIEW fsbench.device IS 'Block devices of this machine: those that the helper''s configuration names, as it last saw them, and the others, which it does not touch. fsbench.describe_devices() has it look again';
COMMENT ON COLUMN fsbench.device.path IS 'Path, as fsbench.create_target() takes it; one that stays over reboots, where there is one';
COMMENT ON COLUMN fsbench.device.model IS 'Model of the disk';
COMMENT ON COLUMN fsbench.device.serial IS 'Serial number of the disk';
COMMENT ON COLUMN fsbench.device.size_bytes IS 'Size of the device';
COMMENT ON COLUMN fsbench.device.contents IS 'Contents of the device; NULL where only root could see them';
COMMENT ON COLUMN fsbench.device.usable IS 'Whether the helper would erase it for a target now';
COMMENT ON COLUMN fsbench.device.why_not IS 'The reason against its use';
COMMENT ON COLUMN fsbench.device.wwn IS 'World-wide name of the disk, or what its kind has instead';
COMMENT ON COLUMN fsbench.device.partition_uuid IS 'UUID of the partition, where it is one and the helper has seen it';
COMMENT ON COLUMN fsbench.device.node IS 'The kernel''s name, which can change at each boot';
COMMENT ON COLUMN fsbench.device.hint IS 'What makes it usable: lines for the helper''s configuration, or what to change there';
COMMENT ON COLUMN fsbench.device.seen_at IS 'Time of the look: the helper''s last one, or now';

CREATE VIEW fsbench.prepared_target AS
    WITH latest AS (
        SELECT DISTINCT ON (target) target, action, result ->> 'mount_point' AS mount_point, run_id, ended_at
        FROM fsbench.helper_job
        WHERE status = 'done' AND action IN ('prepare', 'release') AND server_started = pg_catalog.pg_postmaster_start_time()
        ORDER BY target, job_id DESC)
    SELECT p.target, p.mount_point, p.run_id, h.seen_at
    FROM fsbench.helper_description h,
         pg_catalog.jsonb_to_recordset(h.description -> 'prepared') AS p (target text, mount_point text, run_id bigint)
    WHERE NOT EXISTS (SELECT FROM latest l WHERE l.target = p.target AND l.ended_at > h.seen_at)
    UNION ALL
    SELECT l.target, l.mount_point, l.run_id, l.ended_at
    -- A dump has jobs of runs, and no description: without one the jobs are of another database.
    FROM latest l, fsbench.helper_description h
    WHERE l.action = 'prepare' AND h.seen_at < l.ended_at
    ORDER BY 1;
COMMENT ON VIEW fsbench.prepared_target IS 'Targets whose filesystem the helper has made and not released: by its last look, and by its jobs since then';
COMMENT ON COLUMN fsbench.prepared_target.mount_point IS 'Mount point';
COMMENT ON COLUMN fsbench.prepared_target.run_id IS 'Run that it is prepared for; NULL: fsbench.prepare_target() was called';

CREATE FUNCTION fsbench.describe_devices() RETURNS SETOF fsbench.device LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM fsbench._describe();
    RETURN QUERY SELECT * FROM fsbench.device;
END
$$;
COMMENT ON FUNCTION fsbench.describe_devices IS 'Has the helper look at the devices of its configuration again, and shows fsbench.device';

CREATE VIEW fsbench.prepared_data AS
    SELECT contents, scale, fillfactor, unlogged, data_checksums, postgres, bytes, to_timestamp(created_epoch) AS created_at,
        to_timestamp(used_epoch) AS used_at, directory, data
    FROM fsbench._prepared_data();
COMMENT ON VIEW fsbench.prepared_data IS 'Data that were loaded once and are copied to targets. How much is kept is set by pgfsbench.prepared_data_limit; fsbench.drop_prepared_data() removes what runs have loaded, fsbench.drop_data() what has a name';
COMMENT ON COLUMN fsbench.prepared_data.contents IS 'What the tables are: pgbench, scan with the kind of its rows, or own: a copy of a user''s server';
COMMENT ON COLUMN fsbench.prepared_data.scale IS 'Scale as in pgbench; of a scan, millions of rows';
COMMENT ON COLUMN fsbench.prepared_data.fillfactor IS 'Fillfactor of the tables';
COMMENT ON COLUMN fsbench.prepared_data.unlogged IS 'Whether the tables are unlogged';
COMMENT ON COLUMN fsbench.prepared_data.data_checksums IS 'Whether the cluster has data checksums';
COMMENT ON COLUMN fsbench.prepared_data.postgres IS 'Program that made them';
COMMENT ON COLUMN fsbench.prepared_data.bytes IS 'Bytes of the whole data directory';
COMMENT ON COLUMN fsbench.prepared_data.created_at IS 'When they were loaded';
COMMENT ON COLUMN fsbench.prepared_data.used_at IS 'When they were last copied; what was not used for the longest time is removed first';
COMMENT ON COLUMN fsbench.prepared_data.directory IS 'Where they are';
COMMENT ON COLUMN fsbench.prepared_data.data IS 'Name that fsbench.prepare_data() gave them; NULL for data that a run has loaded';

-- One row for each step, and one for the end of each job. Words are quoted as a shell takes them.
CREATE VIEW fsbench.helper_log AS
    SELECT j.job_id, date_trunc('second', coalesce(j.started_at, j.requested_at)) AS at, j.run_id, j.target, j.action,
           s.step, s.ms, s.problem, s.command
    FROM fsbench.helper_job j, LATERAL (
        SELECT r.number, r.report ->> 'step' AS step, round((r.report ->> 'ms')::numeric, 1)::float8 AS ms,
               CASE WHEN r.report ->> 'exit_code' <> '0' THEN 'exit code ' || (r.report ->> 'exit_code') END AS problem,
               (SELECT string_agg(CASE WHEN word ~ '^[A-Za-z0-9_@%+=:,./-]+$' OR r.report #>> '{argv,0}' NOT LIKE '/%' THEN word
                                       ELSE '''' || replace(word, '''', E'''\\''''') || '''' END, ' ' ORDER BY w.number)
                FROM jsonb_array_elements_text(r.report -> 'argv') WITH ORDINALITY AS w(word, number)) AS command
        FROM jsonb_array_elements(j.steps) WITH ORDINALITY AS r(report, number)
        UNION ALL
        SELECT NULL, j.status, round(extract(epoch FROM j.ended_at - j.started_at) * 1000, 1)::float8, j.error, NULL) s
    ORDER BY j.job_id, s.number;
COMMENT ON VIEW fsbench.helper_log IS 'What pgfsbench-helper did, step by step, and how each of its jobs ended: fsbench.helper_job to be read. What programs printed is there, in steps';
COMMENT ON COLUMN fsbench.helper_log.at IS 'When the helper began with the job; of one that waits, when it was asked for';
COMMENT ON COLUMN fsbench.helper_log.step IS 'Step, as in fsbench.plan(); in the last row of a job how it ended: done or failed; or queued, running';
COMMENT ON COLUMN fsbench.helper_log.ms IS 'Duration (ms); in the last row, of the whole job';
COMMENT ON COLUMN fsbench.helper_log.problem IS 'The error; NULL without one';
COMMENT ON COLUMN fsbench.helper_log.command IS 'The executed command, or the action in words';

CREATE VIEW fsbench.script_command AS
    SELECT c.run_id, t.transaction AS script, c.command, c.line, c.kind,
           left(btrim(array_to_string((string_to_array(s.document::jsonb -> 'scripts' -> (c.position - 1) ->> 'text', chr(10)))[c.line : greatest(c.line,
               lead(c.line, 1, 2147483647) OVER (PARTITION BY c.run_id, c.position ORDER BY c.command) - 1)], chr(10)), chr(10) || ' '), 200) AS text,
           c.executions, c.failures, c.latency_avg_ms, c.latency_stddev_ms, c.latency_p50_ms, c.latency_p90_ms, c.latency_p95_ms, c.latency_p99_ms, c.latency_p999_ms,
           c.latency_max_ms, c.position
    FROM fsbench.command_result c JOIN fsbench.transaction_result t USING (run_id, position) JOIN fsbench.run_log r USING (run_id)
    LEFT JOIN fsbench.script s ON s.sha256 = r.used #>> '{options,script,sha256}';
COMMENT ON VIEW fsbench.script_command IS 'Commands of scripts in measured transactions, with their texts';
COMMENT ON COLUMN fsbench.script_command.script IS 'Name of the script';
COMMENT ON COLUMN fsbench.script_command.text IS 'Lines of the script from its first one up to the next command, at most 200 characters; NULL where the text is not stored';
