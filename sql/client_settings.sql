-- Settings of the clients: applied there, stored with the run, and nowhere else.
SET client_min_messages = warning;
\set small 'scale => 1, clients => 1, transactions => 50, seed => 1'

SELECT run_id AS plain FROM fsbench.run(:small) \gset
SELECT run_id AS set FROM fsbench.run(:small, settings => '{"Synchronous_Commit": false, "work_mem": 8192, "wal_compression": true, "plan_cache_mode": "auto"}') \gset
SELECT used -> 'settings' AS settings, durability LIKE 'not durable: %' AS is_lost, durability LIKE '%synchronous_commit off%' AS is_said FROM fsbench.result WHERE run_id IN (:plain, :set) ORDER BY run_id;
SELECT code, severity, message FROM fsbench.finding WHERE run_id = :set AND code LIKE 'synchronous%';
SELECT count(*) AS findings_without FROM fsbench.finding WHERE run_id = :plain AND code LIKE 'synchronous%';
-- Values that mean off are off.
SELECT run_id AS no FROM fsbench.run(:small, settings => '{"synchronous_commit": "NO"}') \gset
SELECT durability, (SELECT count(*) FROM fsbench.finding f WHERE f.run_id = r.run_id AND code = 'synchronous_commit_off') AS findings
FROM fsbench.result r WHERE run_id = :no;
-- run and wait say the same of several findings.
SELECT run_id AS several, findings AS found FROM fsbench.run(scale => 1, clients => 2, transactions => 50, settings => '{"synchronous_commit": "off"}') \gset
SELECT findings = :'found' AS same, findings ~ '^[0-9]+' AS number FROM fsbench.wait(:several);
-- The caller's own settings are the caller's.
SHOW synchronous_commit;
SHOW work_mem;
SET work_mem = '77MB';
SELECT run_id AS mine FROM fsbench.run(:small) \gset
SELECT used -> 'settings' AS settings FROM fsbench.result WHERE run_id = :mine;
RESET work_mem;

-- They are in force: clients that keep one snapshot fail where they meet, which is counted, and told.
SELECT run_id AS failing FROM fsbench.run(scale => 1, clients => 4, transactions => 300, seed => 1,
                                          settings => '{"default_transaction_isolation": "repeatable read"}') \gset
SELECT status, failed > 0 AS some_failed, transactions_total + failed = 4 * 300 AS all_accounted_for,
       failed = (SELECT sum(failed) FROM fsbench.sample s WHERE s.run_id = r.run_id) AS samples_have_failed,
       (balances ->> 'history_rows')::bigint = transactions_total AS history_has_the_others
FROM fsbench.result r WHERE run_id = :failing;
SELECT code, severity FROM fsbench.finding WHERE run_id = :failing AND severity = 'invalid';

-- Settings that have no effect in the clients, or are the benchmark's own.
SELECT * FROM fsbench.run(:small, settings => '{"statement_timeout": "1ms"}');
SELECT * FROM fsbench.run(:small, settings => '{"pgfsbench.reserved_space": "1TB"}');
SET pgfsbench.no_such = 1;

-- PostgreSQL's own errors for wrong values.
SELECT * FROM fsbench.run(:small, settings => '{"temp_file_limit": "some"}');
SELECT * FROM fsbench.run(:small, settings => '{"log_statement": "everything"}');
