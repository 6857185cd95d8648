-- The workload fsync: writing and syncing as WAL is written and synced.
SET client_min_messages = warning;
-- Too quick to say anything, but everything is there.
SELECT run_id AS run FROM fsbench.run(workload => 'fsync', duration => '360 ms', seed => 1, options => '{"writers": [1, 2]}') \gset
SELECT method, writes, writers, block_bytes, syncs > 0 AS syncs, ops_per_second > 0 AS ops,
       latency_min_ms <= latency_p50_ms AND latency_p50_ms <= latency_p90_ms AND latency_p90_ms <= latency_p95_ms
           AND latency_p95_ms <= latency_p99_ms AND latency_p99_ms <= latency_max_ms AS in_order,
       latency_p999_ms IS NULL = (syncs < 10000) AS p999, (SELECT sum(n) FROM unnest(counts) n) = syncs AS histogram
FROM fsbench.fsync WHERE run_id = :run ORDER BY method, writes, writers;
SELECT count(DISTINCT position), min(position), max(position), bool_and(NOT direct OR method LIKE 'open%') AS direct FROM fsbench.fsync WHERE run_id = :run;
-- The row: what the server itself does, by one writer. No table, no client, no transaction.
SELECT workload, scale, clients, status, r.tps = f.ops_per_second AS tps, r.latency_p50_ms = f.latency_p50_ms AS p50, r.latency_max_ms = f.latency_max_ms AS max,
       transactions_total, commit_p99_ms, data_bytes, load_ms, duration, warmup, xids_used < 100 AS few_ids, measured_ms > 360 AS measured
FROM fsbench.result r, fsbench.fsync f
WHERE r.run_id = :run AND f.run_id = r.run_id AND f.method = current_setting('wal_sync_method') AND f.writes = 1 AND f.writers = 1;
SELECT transaction, measure, h.transactions = f.syncs AS syncs FROM fsbench.histogram h JOIN fsbench.fsync f USING (run_id)
WHERE run_id = :run AND f.method = current_setting('wal_sync_method') AND f.writes = 1 AND f.writers = 1;
SELECT string_agg(phase ->> 'phase', ' ') AS phases FROM fsbench.result, jsonb_array_elements(phases) phase WHERE run_id = :run;
SELECT used -> 'options' -> 'methods' AS methods, used -> 'options' -> 'writers' AS writers, used -> 'chosen' AS chosen FROM fsbench.result WHERE run_id = :run;
-- Figures of the storage, but none of transactions: the workload has none.
SELECT count(*) > 0 AS seconds, sum(interval_ms) > 300 AS window, bool_and(transactions IS NULL AND skipped IS NULL AND late IS NULL AND failed IS NULL) AS no_transactions,
       bool_and(latency_avg_ms IS NULL AND commit_p99_ms IS NULL AND client_wal_bytes IS NULL AND client_blocks_hit IS NULL) AS no_clients,
       bool_and(wal_bytes IS NOT NULL AND cpu_idle_percent IS NOT NULL AND client_cpu_ms IS NOT NULL AND dirty_bytes IS NOT NULL) AS figures
FROM fsbench.sample WHERE run_id = :run;
SELECT count(*) > 0 AS seen, bool_or(lower(wait_event) IN ('walwrite', 'walsync')) AS writes, bool_and(lower(wait_event) IN ('walwrite', 'walsync', 'cpu', 'extension')) AS nothing_else
FROM fsbench.wait_profile(:run);
SELECT cpu_seconds >= client_cpu_seconds AS cpu, cpu_ms_per_transaction, flushes_per_transaction FROM fsbench.result WHERE run_id = :run;
SELECT (facts #>> '{machine,cpu_sampler}')::float8 BETWEEN 0 AND 1 AS sampler FROM fsbench.run_log WHERE run_id = :run;
-- As metrics of experiments: each way to sync, by as few writers as were tested.
SELECT method, fsbench._metric(:run, 'fsync_ops_' || method) = ops_per_second AS metric FROM fsbench.fsync WHERE run_id = :run AND writes = 1 AND writers = 1 ORDER BY method;
SELECT fsbench._metric(:run, 'fsync_ops_nothing') AS unknown;
-- The order is the seed's.
SELECT run_id AS again FROM fsbench.run(workload => 'fsync', duration => '360 ms', seed => 1, options => '{"writers": [1, 2]}') \gset
SELECT count(*) FROM fsbench.fsync a JOIN fsbench.fsync b USING (method, writes, writers, position) WHERE a.run_id = :run AND b.run_id = :again;
-- Only some of it; without what the server does, there is no figure that stands for the run.
SELECT run_id AS some FROM fsbench.run(workload => 'fsync', duration => '50 ms', options => '{"methods": ["none"], "writers": [3], "sample": false}') \gset
SELECT tps, latency_p99_ms, commit_p99_ms, stall_seconds FROM fsbench.result WHERE run_id = :some;
SELECT method, writes, writers FROM fsbench.fsync WHERE run_id = :some;
SELECT count(*) FROM fsbench.sample WHERE run_id = :some;
-- Its file is gone.
SELECT count(*) FROM pg_ls_waldir() WHERE name LIKE 'pgfsbench%';

-- Arguments that the workload refuses.
\set VERBOSITY default
SELECT fsbench.start(workload => 'fsync', scale => 10);
SELECT fsbench.start(workload => 'fsync', clients => 4);
SELECT fsbench.start(workload => 'fsync', warmup => '0');
SELECT fsbench.start(workload => 'fsync', settings => '{"work_mem": "1MB"}');
SELECT fsbench.start(workload => 'fsync', keep => true);
SELECT fsbench.start(workload => 'fsync', options => '{"unlogged": true}');
SELECT fsbench.start(workload => 'fsync', options => '{"methods": ["fsync_writethrough"]}');
SELECT fsbench.start(workload => 'fsync', options => '{"writers": [0]}');
SELECT fsbench.start(workload => 'fsync', options => '{"writers": [64]}');
SELECT fsbench.start(workload => 'fsync', duration => '100 ms');
SELECT fsbench.start(workload => 'tpcb', options => '{"writers": [1]}');
