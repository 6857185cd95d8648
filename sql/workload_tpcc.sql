-- The workload tpcc-like with two warehouses: what a run stores, and the tables and keys that it loads.
SET client_min_messages = warning;
SELECT run_id AS run FROM fsbench.run(workload => 'tpcc-like', scale => 2, clients => 2, transactions => 100, warmup => '0', seed => 7, keep => true,
    options => '{"unlogged": true, "conditions": "all"}') \gset
SELECT moment, position, name, passed FROM fsbench.verification WHERE run_id = :run ORDER BY moment, position;
SELECT position, transaction, weight, committed, rolled_back, failed FROM fsbench.transaction_result WHERE run_id = :run ORDER BY position;
SELECT sum(remote_lines) > 0 AS remote_lines, sum(remote_payments) > 0 AS remote_payments, sum(orders) = sum(new_orders + wrong_orders) AS orders
FROM fsbench.tpcc_client WHERE run_id = :run;
SELECT work_database FROM fsbench.result WHERE run_id = :run \gset
\c :work_database
SELECT relname, relpersistence, reltuples::integer FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'i' ORDER BY 1;
SELECT conrelid::regclass AS of, convalidated, pg_get_constraintdef(oid) AS key FROM pg_constraint
WHERE connamespace = 'public'::regnamespace AND contype IN ('f', 'p') ORDER BY conrelid::regclass::text, contype DESC, 3;
SELECT s_w_id, count(*), count(DISTINCT s_i_id) AS items, sum(s_remote_cnt) > 0 AS remote FROM stock GROUP BY 1 ORDER BY 1;
SELECT tablename, count(*) AS columns_with_statistics FROM pg_stats WHERE schemaname = 'public' GROUP BY 1 ORDER BY 1;
\c contrib_regression
SET client_min_messages = warning;
DROP DATABASE :"work_database";
