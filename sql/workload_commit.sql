-- The workload commit: an INSERT of one row and a COMMIT.
SET client_min_messages = warning;
SELECT run_id AS run FROM fsbench.run(workload => 'commit', clients => 3, transactions => 100, seed => 1) \gset
-- No row is read, and none is updated. What the table held is verified: 3 clients, 100 rows each, all of them numbered as they came.
SELECT status, workload, scale, clients, transactions_total, transactions_outside, failed, balances, changed_bytes, tps > 0 AS tps, commit_p50_ms > 0 AS commit
FROM fsbench.result WHERE run_id = :run;
SELECT position, name, moment, expected, found, passed, note FROM fsbench.verification WHERE run_id = :run ORDER BY position;
-- Its transaction has a histogram beside that of COMMIT alone.
SELECT transaction, measure, transactions FROM fsbench.histogram WHERE run_id = :run ORDER BY 2;
SELECT fsbench.percentile(1, :run) BETWEEN 0.96 * r.latency_max_ms AND r.latency_max_ms AS transaction,
       fsbench.percentile(1, :run, measure => 'commit') BETWEEN 0.96 * r.commit_max_ms AND r.commit_max_ms AS commit
FROM fsbench.result r WHERE run_id = :run;
SELECT fsbench.percentile(0.5, :run, transaction => 'tpcb');
-- Findings of workloads that write hold here too, except for those about rows that are read or updated.
SELECT code FROM fsbench.finding WHERE run_id = :run AND code IN ('no_complete_checkpoint', 'data_fits_shared_buffers', 'data_fits_ram', 'autovacuum_off') ORDER BY 1;

-- A kept database has one table, without an index.
SELECT run_id AS kept FROM fsbench.run(workload => 'commit', clients => 2, transactions => 5, keep => true, settings => '{"synchronous_commit": false}',
    options => '{"unlogged": true}') \gset
SELECT work_database FROM fsbench.result WHERE run_id = :kept \gset
SELECT code FROM fsbench.finding WHERE run_id = :kept AND code IN ('synchronous_commit_off', 'unlogged') ORDER BY 1;
\c :work_database
SELECT client, array_agg(number ORDER BY number) AS numbers FROM fsbench_commit GROUP BY client ORDER BY client;
SELECT relpersistence, relhasindex FROM pg_class WHERE relname = 'fsbench_commit';
\c contrib_regression
SET client_min_messages = warning;
DROP DATABASE :"work_database";

-- It takes what transactions take, and nothing of tables that are loaded.
\set VERBOSITY default
SELECT fsbench.start(workload => 'commit', scale => 10);
SELECT fsbench.start(workload => 'commit', options => '{"fillfactor": 90}');
SELECT fsbench.start(workload => 'commit', options => '{"maintenance": true}');
SELECT fsbench.start(workload => 'commit', options => '{"crash": true}');
