-- Work of the storage, per second and per run: relations that hold on every machine.
\pset null '(null)'
SET client_min_messages = warning;

SELECT run_id FROM fsbench.run(scale => 2, clients => 2, transactions => 2000, warmup => '0', seed => 1,
                               settings => '{"track_wal_io_timing": true, "track_io_timing": true}') \gset

-- The clients' own counters: the seconds add up to the run.
SELECT s.wal_records = r.client_wal_records AS wal_records, s.wal_fpi = r.client_wal_fpi AS wal_fpi, s.wal_bytes = r.client_wal_bytes AS wal_bytes,
       coalesce(s.wal_syncs = r.client_wal_syncs, r.server_version_num >= 180000) AS wal_syncs,
       coalesce(abs(s.wal_sync_ms - r.client_wal_sync_ms) < 1, r.server_version_num >= 180000) AS wal_sync_ms,
       s.blocks_hit = r.client_blocks_hit AS blocks_hit, s.blocks_read = r.client_blocks_read AS blocks_read,
       s.blocks_written = r.client_blocks_written AS blocks_written, abs(s.cpu_ms / 1000 - r.client_cpu_seconds) < 0.01 AS cpu
FROM fsbench.result r, (SELECT sum(client_wal_records) AS wal_records, sum(client_wal_fpi) AS wal_fpi, sum(client_wal_bytes) AS wal_bytes,
             sum(client_wal_syncs) AS wal_syncs, sum(client_wal_sync_ms::float8) AS wal_sync_ms,
             sum(client_blocks_hit) AS blocks_hit, sum(client_blocks_read) AS blocks_read,
             sum(client_blocks_written) AS blocks_written, sum(client_cpu_ms::float8) AS cpu_ms
      FROM fsbench.sample WHERE run_id = :run_id) s
WHERE run_id = :run_id \gx

-- Least cost of each transaction, and its changes.
SELECT client_wal_records >= 5 * transactions_total AS records, client_wal_bytes < 1.05 * wal_bytes AS others_write_too,
       client_blocks_hit > 0 AS hits, wal_end_lsn - wal_start_lsn = wal_bytes AS lsns,
       changed_bytes = 36 * transactions_total AS changed, server_write_bytes >= wal_bytes AS server,
       server_write_amplification > 1 AS amplified, cpu_seconds >= client_cpu_seconds AS processors,
       abs(cpu_ms_per_transaction - cpu_seconds * 1000 / transactions_total) < 1e-9 AS per_transaction,
       (io_extend_bytes IS NULL) = (server_version_num < 160000) AS io_told,
       (io_wal_write_bytes > 0) IS NOT DISTINCT FROM CASE WHEN server_version_num >= 180000 THEN true END AS io_of_wal_told
FROM fsbench.result WHERE run_id = :run_id \gx

-- Figures that every Linux has.
SELECT bool_and(abs(cpu_usr_percent + cpu_nice_percent + cpu_sys_percent + cpu_iowait_percent + cpu_irq_percent + cpu_soft_percent
                    + cpu_steal_percent + cpu_idle_percent - 100) < 0.1) AS shares_of_the_processors,
       bool_and(memory_free_bytes > 0 AND memory_available_bytes > 0 AND cached_bytes > 0 AND dirty_bytes >= 0) AS memory,
       bool_and(wal_bytes >= 0 AND wal_flushed_bytes >= 0) AS wal
FROM fsbench.sample WHERE run_id = :run_id;

-- Waits.
SELECT count(*) > 0 AS some, abs(sum(percent) - 100) < 0.1 AS whole,
       sum(samples) = (SELECT sum(samples) FROM fsbench.wait_event WHERE run_id = :run_id) AS add_up,
       bool_or(wait_event_type = 'CPU' AND wait_event = 'CPU') AS processor, (SELECT count(*) FROM fsbench.wait_profile(:run_id, 100000)) AS later
FROM fsbench.wait_profile(:run_id);
SELECT * FROM fsbench.wait_profile(NULL);
SELECT * FROM fsbench.wait_profile(-1);

-- Transactions that fail cost too, and are in both.
SELECT run_id AS failing FROM fsbench.run(scale => 1, clients => 4, transactions => 300, seed => 1,
                                          settings => '{"default_transaction_isolation": "repeatable read"}') \gset
SELECT failed > 0 AS some_failed, s.wal_bytes = r.client_wal_bytes AS wal_bytes, s.blocks_hit = r.client_blocks_hit AS blocks_hit FROM fsbench.result r,
     (SELECT sum(client_wal_bytes) AS wal_bytes, sum(client_blocks_hit) AS blocks_hit FROM fsbench.sample WHERE run_id = :failing) s
WHERE run_id = :failing;

-- Without a sampler none of it is known.
SELECT run_id AS unsampled FROM fsbench.run(workload => 'select-only', scale => 2, clients => 2, transactions => 500, seed => 1,
                               options => '{"sample": false}') \gset
SELECT client_wal_records, client_wal_syncs, client_blocks_hit, client_cpu_seconds, cpu_seconds, cpu_ms_per_transaction,
       device_write_bytes, device_flushes, flushes_per_transaction, changed_bytes, server_write_bytes, write_amplification,
       wal_bytes IS NOT NULL AS wal_bytes_known
FROM fsbench.result WHERE run_id = :unsampled \gx
SELECT (SELECT count(*) FROM fsbench.sample WHERE run_id = :unsampled) AS samples, (SELECT count(*) FROM fsbench.wait_profile(:unsampled)) AS waits;

-- Reading changes nothing; times are unknown where they are not measured.
SELECT run_id AS reading FROM fsbench.run(workload => 'select-only', scale => 2, clients => 2, transactions => 500, seed => 1,
                               settings => '{"track_wal_io_timing": false, "track_io_timing": false}') \gset
SELECT client_wal_sync_ms, client_block_read_ms, changed_bytes, server_write_amplification, write_amplification,
       client_wal_records IS NOT NULL AS records_known, client_blocks_hit > 0 AS hits
FROM fsbench.result WHERE run_id = :reading \gx

SELECT count(*) AS columns_without_comment FROM pg_attribute a
WHERE a.attrelid IN ('fsbench.sample'::regclass, 'fsbench.wait_event'::regclass, 'fsbench.result'::regclass) AND a.attnum > 0
  AND col_description(a.attrelid, a.attnum) IS NULL;

-- A second in which everything is known takes less than 400 bytes, with its share of the index.
CREATE TEMP TABLE full_second (LIKE fsbench.sample INCLUDING ALL);
INSERT INTO full_second
SELECT s.* FROM generate_series(0, 9999) AS second,
    pg_catalog.jsonb_populate_record(NULL::full_second, (SELECT jsonb_object_agg(attname, second) FROM pg_attribute
        WHERE attrelid = 'fsbench.sample'::regclass AND attnum > 0 AND NOT attisdropped)) s;
SELECT (SELECT count(*) FROM pg_attribute WHERE attrelid = 'fsbench.sample'::regclass AND attnum > 0 AND NOT attisdropped)
           = num_nonnulls(VARIADIC (SELECT array_agg(value) FROM jsonb_each_text(to_jsonb(t)))) AS everything_is_known,
       CASE WHEN pg_total_relation_size('full_second') / 10000.0 < 400 THEN 'under 400'
           ELSE round(pg_total_relation_size('full_second') / 10000.0) || ' bytes' END AS bytes_per_second
FROM full_second t LIMIT 1;
