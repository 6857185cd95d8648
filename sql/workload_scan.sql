-- Parallel count(*): the workload scan.
\set SHOW_CONTEXT never
SET client_min_messages = warning;

-- A run: each degree, in an order by the seed, all workers there, all rows counted.
SELECT run_id FROM fsbench.run(workload => 'scan', scale => 1, seed => 1,
    options => '{"degrees": [1, 2, 4], "repeats": 2, "unlogged": true, "loaders": 3, "readers": [1, 2]}') \gset
SELECT status, workload, scale, clients, transactions, duration, load_ms > 0 AS loaded,
       (SELECT array_agg(p ->> 'phase') FROM jsonb_array_elements(phases) p) AS phases
FROM fsbench.result WHERE run_id = :run_id;
SELECT row_number() OVER (ORDER BY scan) AS scan, degree, repeat, workers_planned, workers_launched, used, why_not, rows, bytes / 8192 AS blocks,
       buffers_hit + buffers_read >= bytes / 8192 AS all_blocks,
       leader_buffers + (SELECT sum(b) FROM unnest(worker_buffers) b) = buffers_hit + buffers_read AS shares_add_up,
       cardinality(worker_buffers) AS workers, skew >= 1 AS skewed, ms > planning_ms AS takes_time, io_ms IS NOT NULL AS io,
       cached_bytes >= bytes * 0.99 AS warm, jsonb_typeof(wait_events) AS waits, plan #>> '{0,Plan,Plans,0,Node Type}' AS below
FROM fsbench.scan WHERE run_id = :run_id AND used ORDER BY scan;
SELECT degree, repeats, median_ms BETWEEN min_ms AND max_ms AS median, round((gb_per_second * median_ms)::numeric, 1) AS mb,
       round((rows_per_second * median_ms / 1000)::numeric) AS rows, efficiency = speedup / degree AS efficiency
FROM fsbench.scan_curve(:run_id);
SELECT degree, fsbench._metric(:run_id, 'scan_gb_per_s_at_' || degree) BETWEEN min(gb_per_second) AND max(gb_per_second) AS metric
FROM fsbench.scan WHERE run_id = :run_id AND used GROUP BY degree ORDER BY degree;
SELECT count(*) AS knees, bool_and(says <> '') AS said FROM fsbench.scan_knee(:run_id);
-- Each scan's own figures hang together, and they were seen to work or wait.
SELECT bool_and(abs(rows_per_second * ms / 1000 / rows - 1) < 1e-6) AS rows_per_second,
       bool_and(abs(gb_per_second * ms * 1e6 / bytes - 1) < 1e-6) AS gb_per_second,
       bool_and(abs(skew / ((SELECT max(b) / avg(b) FROM unnest(worker_buffers || leader_buffers) b)) - 1) < 1e-6) AS skew,
       sum(seen) > 0 AS seen, bool_or(wait_events ? 'none') AS works
FROM fsbench.scan, LATERAL (SELECT coalesce(sum(n::int), 0) AS seen FROM jsonb_each_text(wait_events) e (wait, n)) w WHERE run_id = :run_id;
SELECT bool_and(abs(c.skew / s.skew - 1) < 1e-6) AS median_skew FROM fsbench.scan_curve(:run_id) c,
  LATERAL (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY skew) AS skew FROM fsbench.scan WHERE run_id = :run_id AND degree = c.degree AND used) s;

SELECT readers, block_bytes, bytes / 8192 AS blocks, ms > 0 AS takes_time, gb_per_second > 0 AS speed, cached_bytes >= bytes * 0.99 AS warm
FROM fsbench.scan_read WHERE run_id = :run_id ORDER BY 1, 2;
-- Figures of the storage and of the scanning processes.
SELECT count(*) > 0 AS seconds, bool_and(transactions IS NULL AND client_wal_bytes IS NULL AND client_cpu_ms IS NULL) AS no_clients,
       bool_and(wal_bytes IS NOT NULL AND cpu_idle_percent IS NOT NULL AND cached_bytes > 0) AS figures
FROM fsbench.sample WHERE run_id = :run_id;
SELECT count(*) > 0 AS seen, bool_or(wait_event = 'CPU') AS works FROM fsbench.wait_profile(:run_id);
SELECT (facts #>> '{machine,cpu_sampler}')::float8 BETWEEN 0 AND 1 AS sampler FROM fsbench.run_log WHERE run_id = :run_id;

-- Bytes that do not compress, loaded by one; all in shared buffers; without the leader.
SELECT run_id FROM fsbench.run(workload => 'scan', scale => 1, seed => 1, settings => '{"track_io_timing": false}',
    options => '{"degrees": [2], "repeats": 1, "payload": 40, "loaders": 1, "readers": [], "cache": "shared_buffers", "leader": false}') \gset
SELECT degree, workers_launched, rows, bytes / 8192 AS blocks, buffers_read, leader_buffers < 10 AS leader_is_idle, io_ms
FROM fsbench.scan WHERE run_id = :run_id AND used;

-- Where the server compiles the scan's expressions, the compiler is loaded before each scan, by a query that is compiled, inlined and
-- optimized as the scan is: it counts the rows of a catalog. Where they are not compiled, it stays out.
SELECT run_id FROM fsbench.run(workload => 'scan', scale => 1, seed => 1, keep => true,
    settings => '{"jit": true, "jit_above_cost": 0, "jit_inline_above_cost": 0, "jit_optimize_above_cost": 0}',
    options => '{"degrees": [1, 2], "repeats": 2, "readers": []}') \gset
SELECT count(*) FILTER (WHERE used) AS used, bool_and(rows = 1000000) AS all_rows FROM fsbench.scan WHERE run_id = :run_id;
SELECT work_database, (SELECT count(*) FROM fsbench.scan WHERE run_id = :run_id) AS made FROM fsbench.result WHERE run_id = :run_id \gset
\c :work_database
SELECT seq_tup_read / (SELECT count(*) FROM pg_attribute) = :made AS before_each FROM pg_stat_sys_tables WHERE relname = 'pg_attribute';
\c contrib_regression
SET client_min_messages = warning;
DROP DATABASE :"work_database";
SELECT run_id FROM fsbench.run(workload => 'scan', scale => 1, seed => 1, keep => true, settings => '{"jit": false, "jit_above_cost": 0}',
    options => '{"degrees": [1], "repeats": 1, "readers": []}') \gset
SELECT work_database FROM fsbench.result WHERE run_id = :run_id \gset
\c :work_database
SELECT seq_tup_read / (SELECT count(*) FROM pg_attribute) AS loaded FROM pg_stat_sys_tables WHERE relname = 'pg_attribute';
\c contrib_regression
SET client_min_messages = warning;
DROP DATABASE :"work_database";

-- Wrong arguments.
SELECT fsbench.run(workload => 'scan', options => '{"degrees": [0]}');
SELECT fsbench.run(workload => 'scan', options => '{"degrees": [2, 2]}');
SELECT fsbench.run(workload => 'scan', options => '{"degrees": [1.5]}');
SELECT fsbench.run(workload => 'scan', options => '{"degrees": [1, 9]}');
SELECT fsbench.run(workload => 'scan', clients => 4);
SELECT fsbench.run(workload => 'scan', size => '100000TB');
SELECT fsbench.run(workload => 'tpcb', options => '{"degrees": [1]}');
SELECT fsbench.scan_curve(0);
SELECT fsbench.scan_knee(0);
SELECT * FROM fsbench.scan_curve(NULL);

-- Nothing is left.
SELECT count(*) AS work_databases FROM pg_database WHERE datname LIKE 'fsbench_work%';
