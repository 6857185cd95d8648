-- Maintenance of a database, timed after the measured window.
SET client_min_messages = warning;
SELECT run_id AS run FROM fsbench.run(scale => 1, clients => 1, transactions => 50, seed => 3, options => '{"maintenance": true}') \gset
SELECT step, position, ms > 0 AS ms, bytes / 1000000 AS mb, wal_bytes > 0 AS wal FROM fsbench.maintenance WHERE run_id = :run AND step IN ('bulk_load', 'index_build') ORDER BY position;
SELECT step, position, ms > 0 AS ms, bytes > 15e6 AS bytes, wal_bytes >= 0 AS wal FROM fsbench.maintenance WHERE run_id = :run AND step NOT IN ('bulk_load', 'index_build') ORDER BY position;
SELECT string_agg(phase ->> 'phase', ' ') AS phases FROM fsbench.result, jsonb_array_elements(phases) phase WHERE run_id = :run;
-- The steps are the phase.
SELECT (SELECT sum(ms) FROM fsbench.maintenance WHERE run_id = :run) <= (phase ->> 'ms')::float8 AS within
FROM fsbench.result, jsonb_array_elements(phases) phase WHERE run_id = :run AND phase ->> 'phase' = 'maintenance';
-- It changes nothing of what was measured.
SELECT run_id AS without FROM fsbench.run(scale => 1, clients => 1, transactions => 50, seed => 3) \gset
SELECT count(DISTINCT balances) AS balances, count(DISTINCT transactions_total) AS transactions FROM fsbench.result WHERE run_id IN (:run, :without);
SELECT count(*) AS steps FROM fsbench.maintenance WHERE run_id = :without;
-- Unlogged tables make next to no WAL; a kept database has pgbench's tables only.
SELECT run_id AS kept FROM fsbench.run(workload => 'select-only', scale => 1, clients => 1, transactions => 10, keep => true,
    options => '{"maintenance": true, "unlogged": true, "fillfactor": 50}') \gset
SELECT step, bytes / 1000000 AS mb, wal_bytes < 1e6 AS little_wal FROM fsbench.maintenance WHERE run_id = :kept AND position < 3 ORDER BY position;
SELECT work_database FROM fsbench.result WHERE run_id = :kept \gset
\c :work_database
SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1;
\c contrib_regression
DROP DATABASE :"work_database";
-- It is not for every workload, and has no end that a quick look could promise.
SELECT fsbench.start(workload => 'fsync', options => '{"maintenance": true}');
SELECT fsbench.start(options => '{"maintenance": 1}');
