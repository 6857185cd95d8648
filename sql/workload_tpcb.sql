-- The three workloads and their tables, which are pgbench's.
SET client_min_messages = warning;
\set small 'scale => 2, clients => 2, transactions => 100, seed => 7'

-- Each, and pgbench's own names for them.
SELECT run_id AS tpcb FROM fsbench.run(:small, workload => 'tpcb') \gset
SELECT run_id AS tpcb_like FROM fsbench.run(:small, workload => 'tpcb-like') \gset
SELECT run_id AS simple FROM fsbench.run(:small, workload => 'tpcb-simple-update') \gset
SELECT run_id AS simple_alias FROM fsbench.run(:small, workload => 'simple-update') \gset
SELECT run_id AS reading FROM fsbench.run(:small, workload => 'select-only') \gset

SELECT workload, transactions_total, balances ->> 'history_rows' AS history_rows, balances ->> 'accounts' = balances ->> 'history' AS accounts_agree,
       (balances ->> 'tellers')::bigint <> 0 AS tellers_written, (balances ->> 'branches')::bigint <> 0 AS branches_written,
       xids_used >= transactions_total AS ids_used,
       (SELECT array_agg(transaction || ' ' || measure ORDER BY measure) FROM fsbench.histogram h WHERE h.run_id = r.run_id) AS histograms
FROM fsbench.result r WHERE run_id IN (:tpcb, :tpcb_like, :simple, :simple_alias, :reading) ORDER BY run_id;
-- The checks of each workload are stored with their outcomes.
SELECT workload, moment, position, name, expected = found AS equal, passed, note
FROM fsbench.verification JOIN fsbench.result USING (run_id) WHERE run_id IN (:tpcb, :simple, :reading) ORDER BY run_id, position;
-- Under another name it is the same.
SELECT (SELECT balances FROM fsbench.result WHERE run_id = :tpcb) = (SELECT balances FROM fsbench.result WHERE run_id = :tpcb_like) AS tpcb,
       (SELECT balances FROM fsbench.result WHERE run_id = :simple) = (SELECT balances FROM fsbench.result WHERE run_id = :simple_alias) AS simple;
-- A reader has nothing that a checkpoint would write.
SELECT code FROM fsbench.finding WHERE run_id = :reading AND code LIKE '%checkpoint%';

-- A kept work database is open, and holds pgbench's tables.
SELECT run_id AS kept FROM fsbench.run(:small, keep => true) \gset
SELECT kept, work_database, datallowconn, pg_get_userbyid(datdba) = current_user AS mine, datconnlimit
FROM fsbench.result JOIN pg_database ON datname = work_database WHERE run_id = :kept \gset
\echo :kept :datallowconn :mine :datconnlimit
SELECT shobj_description(oid, 'pg_database') ~ 'mark [0-9a-f]{32}$' AS marked FROM pg_database WHERE datname = :'work_database';
\c :work_database
SELECT attrelid::regclass AS of, attname, format_type(atttypid, atttypmod) AS type, attnotnull FROM pg_attribute
WHERE attrelid IN (SELECT oid FROM pg_class WHERE relname LIKE 'pgbench%' AND relkind = 'r') AND attnum > 0 ORDER BY attrelid::regclass::text, attnum;
SELECT relname, relpersistence, reloptions FROM pg_class WHERE relname LIKE 'pgbench%' AND relkind = 'r' ORDER BY 1;
SELECT conrelid::regclass AS of, conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid::regclass::text LIKE 'pgbench%' AND contype <> 'n' ORDER BY conrelid::regclass::text;
SELECT relname, relpersistence, reltuples, relpages, relallvisible FROM pg_class WHERE relname LIKE 'pgbench%' AND relkind = 'i' ORDER BY 1;
SELECT count(*), min(aid), max(aid), count(DISTINCT aid), bool_and(bid = (aid - 1) / 100000 + 1) AS bid, bool_and(filler = '') AS filler FROM pgbench_accounts;
SELECT count(*), min(tid), max(tid), bool_and(bid = (tid - 1) / 10 + 1) AS bid, bool_and(filler IS NULL) AS filler FROM pgbench_tellers;
SELECT count(*), min(bid), max(bid), bool_and(filler IS NULL) AS filler FROM pgbench_branches;
SELECT count(*), bool_and(delta BETWEEN -5000 AND 5000) AS delta, bool_and(mtime IS NOT NULL) AS mtime, bool_and(filler IS NULL) AS filler,
       bool_and(tid BETWEEN 1 AND 20 AND bid BETWEEN 1 AND 2 AND aid BETWEEN 1 AND 200000) AS in_range FROM pgbench_history;
SELECT count(*) AS extensions FROM pg_extension WHERE extname <> 'plpgsql';
\c contrib_regression
SET client_min_messages = warning;
DROP DATABASE :"work_database";

-- Options: fillfactor as pgbench's, and unlogged tables.
SELECT target FROM fsbench.run(:small, keep => true, options => '{"fillfactor": 70, "unlogged": true}');
SELECT work_database, used -> 'options' AS options FROM fsbench.result ORDER BY run_id DESC LIMIT 1 \gset
\echo :options
\c :work_database
SELECT relname, relpersistence, reloptions FROM pg_class WHERE relname LIKE 'pgbench%' ORDER BY 1;
\c contrib_regression
DROP DATABASE :"work_database";

-- Without the sampler: no seconds, and the rest is the same.
SET client_min_messages = warning;
SELECT run_id AS unsampled FROM fsbench.run(:small, options => '{"sample": false}') \gset
SELECT status, transactions_total, stall_seconds, zero_seconds, (SELECT count(*) FROM fsbench.sample s WHERE s.run_id = r.run_id) AS samples,
       balances = (SELECT balances FROM fsbench.result WHERE run_id = :tpcb) AS same_balances
FROM fsbench.result r WHERE run_id = :unsampled;

-- size is another way to say scale.
SELECT run_id AS sized FROM fsbench.run(size => '20 MB', clients => 1, transactions => 10) \gset
SELECT scale, clients, asked ->> 'size' AS size FROM fsbench.result WHERE run_id = :sized;
SELECT count(*) AS work_databases FROM pg_database WHERE datname LIKE 'fsbench_work%';
