-- The workload script: pgbench's language, in sessions of the role that asks.
SET client_min_messages = warning;
-- Tables by a script of the caller's, which knows the scale.
SELECT run_id AS run FROM fsbench.run(workload => 'script', clients => 2, transactions => 10, seed => 42, scale => 3, keep => true,
    init_script => $$CREATE TABLE seen (client int, a bigint, b text, c float8);
        CREATE TABLE counted (n bigint);
        \set rows 10 * :scale
        INSERT INTO counted SELECT g FROM generate_series(1, :rows) g;$$,
    variables => '{"most": 1000000, "word": "it''s"}', scripts => $$\set a random(1, :most)
        SELECT count(*) AS n, max(n) AS top FROM counted \gset all_
        \if :all_n = 30
        INSERT INTO seen VALUES (:client_id, :a, :word, :all_top * 2);
        \else
        INSERT INTO nowhere VALUES (1);
        \endif
        BEGIN;
        SAVEPOINT s;
        DELETE FROM counted;
        ROLLBACK TO SAVEPOINT s;
        COMMIT;$$,
    checks => '[{"name": "rows", "sql": "SELECT count(*) FROM seen", "expected": 20}]') \gset
SELECT status, workload, scale, clients, transactions_total, transactions_outside, failed, commit_p50_ms > 0 AS commit FROM fsbench.result WHERE run_id = :run;
SELECT position, transaction, weight, committed, rolled_back, failed, retried, retries, limit_ms, late, latency_p50_ms <= latency_max_ms AS latency
FROM fsbench.transaction_result WHERE run_id = :run;
-- The branch that is not taken has no executions.
SELECT command, line, kind, executions, failures, text FROM fsbench.script_command WHERE run_id = :run ORDER BY command;
SELECT measure, transaction, transactions FROM fsbench.histogram WHERE run_id = :run ORDER BY measure COLLATE "C";
SELECT fsbench.percentile(0.5, :run, 'command 3') > 0 AS command, fsbench.percentile(0.5, :run, 'commit') > 0 AS commit;
\set SHOW_CONTEXT never
SELECT fsbench.percentile(0.5, :run, 'command 99');
\set SHOW_CONTEXT errors
SELECT used -> 'options' -> 'script' ->> 'names' AS names, s.document::jsonb - 'scripts' AS texts
FROM fsbench.run_log r JOIN fsbench.script s ON s.sha256 = used -> 'options' -> 'script' ->> 'sha256' WHERE run_id = :run;
SELECT work_database FROM fsbench.result WHERE run_id = :run \gset
\c :work_database
-- pgbench --random-seed=42 of two clients draws these.
SELECT client, (array_agg(a ORDER BY ctid))[1:3] AS a, min(b) AS b, min(c) AS c, count(*) FROM seen GROUP BY client ORDER BY client;
\c contrib_regression
SET client_min_messages = warning;
DROP DATABASE :"work_database";

-- Scripts of pgbench's own beside one of the caller's, on pgbench's tables; the simple protocol has several statements in one.
SELECT run_id AS run FROM fsbench.run(workload => 'script', clients => 2, transactions => 50, scale => 1, seed => 1, protocol => 'simple',
    scripts => '[{"name": "tpcb-like", "weight": 2}, "select-only", {"name": "own", "text": "SELECT 1 AS a\\; SELECT 2 AS b \\gset\nSELECT :b / (:b - 1);"}]') \gset
SELECT status, transactions_total, failed FROM fsbench.result WHERE run_id = :run;
-- The choice is that of pgbench with as many threads as clients.
SELECT position, transaction, weight, committed FROM fsbench.transaction_result WHERE run_id = :run ORDER BY position;
-- Percentiles of all scripts count each transaction once.
SELECT transaction, transactions = committed AS counted, fsbench.percentile(1, :run, transaction => transaction) BETWEEN latency_max_ms * 0.96 AND latency_max_ms AS largest
FROM fsbench.histogram h LEFT JOIN fsbench.transaction_result USING (run_id, transaction) WHERE run_id = :run AND measure = 'latency' ORDER BY transaction;
SELECT fsbench.percentile(1, :run) BETWEEN latency_max_ms * 0.96 AND latency_max_ms AS largest FROM fsbench.result WHERE run_id = :run;

-- Other meta commands: the time of \sleep counts, and \aset takes the last row of each statement that has one.
SELECT run_id AS run FROM fsbench.run(workload => 'script', clients => 1, transactions => 4, init_script => 'CREATE TABLE t (a text);', variables => '{"n": 0}',
    scripts => E'\\set n :n + 1\n\\if :n = 1\nINSERT INTO t VALUES (''one'');\n\\elif :n = 2\nINSERT INTO t VALUES (''two'');\n\\elif :n = 3\nINSERT INTO t VALUES (''three'');\n\\else\n'
        'INSERT INTO t VALUES (''more'');\n\\endif\nSELECT g AS last, g * 2 AS twice FROM generate_series(1, :n::int) g \\aset\nSELECT 7 AS last WHERE false \\aset\n\\sleep 5 ms\n'
        '\\startpipeline\nINSERT INTO t VALUES (:last::int + :twice::int);\n\\endpipeline',
    checks => '[{"sql": "SELECT string_agg(a, $$ $$) FROM t", "expected": "one 3 two 6 three 9 more 12"}]') \gset
SELECT status, latency_p50_ms >= 5 AS sleeps FROM fsbench.result WHERE run_id = :run;

-- Prepared statements as with pgbench -M prepared: each case ends with its SQLSTATE, and NULL is the text that pgbench sends.
SELECT run_id AS run FROM fsbench.run(workload => 'script', clients => 1, transactions => 60, seed => 3, continue_on_error => true, variables => '{"big": 3000000000, "half": 2.5}',
    init_script => 'CREATE TABLE t (a text);',
    scripts => '[{"name": "int4", "text": "SELECT 1 WHERE 1 = :big;"}, {"name": "no integer", "text": "SELECT :half + 1;"}, {"name": "no type", "text": "SELECT :big IS NULL;"},
        {"name": "null", "text": "\\set n null\nINSERT INTO t VALUES (coalesce(:n, ''none'')), (coalesce(:undefined, ''none''));"}]',
    checks => '[{"sql": "SELECT string_agg(DISTINCT a, $$ $$ ORDER BY a) FROM t", "expected": "NULL none"}]') \gset
SELECT t.transaction, committed > 0 AS committed, f.sqlstate, f.transactions = t.failed AND f.transactions > 0 AS failed FROM fsbench.transaction_result t LEFT JOIN fsbench.transaction_failure f USING (run_id, position)
WHERE run_id = :run ORDER BY position;

-- A second try begins with the same random numbers, and the latency runs from the first one.
SELECT run_id AS run FROM fsbench.run(workload => 'script', clients => 1, transactions => 5, max_tries => 2, seed => 1,
    init_script => 'CREATE SEQUENCE tries; CREATE TABLE drawn (try bigint, a bigint, b bigint);',
    scripts => E'\\set a random(1, 1000000000)\n\\set b random_gaussian(1, 1000000, 2.5)\nSELECT nextval(''tries'') AS try \\gset\nINSERT INTO drawn VALUES (:try, :a, :b);\n\\if :try % 2 = 1\n'
        'SELECT pg_sleep(0.02);\nDO $$BEGIN RAISE ''again'' USING ERRCODE = ''40001''; END$$;\n\\endif',
    checks => '[{"sql": "SELECT count(*) FROM drawn", "expected": 10}, {"sql": "SELECT count(*) FROM drawn o JOIN drawn e ON e.try = o.try + 1 WHERE o.try % 2 = 1 AND (e.a, e.b) = (o.a, o.b)", "expected": 5},
        {"sql": "SELECT count(DISTINCT a) FROM drawn", "expected": 5}]') \gset
SELECT committed, failed, retried, retries, latency_p50_ms >= 20 AS from_first_try FROM fsbench.transaction_result WHERE run_id = :run;
SELECT sqlstate, transactions, retries FROM fsbench.transaction_failure WHERE run_id = :run;
SELECT sum(r.tps) > 0 AND abs(sum(r.tps) / max(l.tps) - 1) < 1e-6 AS tps FROM fsbench.transaction_result r JOIN fsbench.run_log l USING (run_id) WHERE run_id = :run;

-- The order of serializable transactions that are tried again is one after the other; a pipeline that fails leaves nothing.
SELECT run_id AS run FROM fsbench.run(workload => 'script', clients => 4, transactions => 50, max_tries => 100000,
    init_script => 'CREATE TABLE c (n int); INSERT INTO c VALUES (0);',
    scripts => E'BEGIN ISOLATION LEVEL SERIALIZABLE;\nSELECT n FROM c \\gset\nUPDATE c SET n = :n + 1;\nCOMMIT;',
    checks => '[{"sql": "SELECT n FROM c", "expected": 200}]') \gset
SELECT status, transactions_total, failed FROM fsbench.result WHERE run_id = :run;
SELECT committed, failed, retried <= retries AS retries FROM fsbench.transaction_result WHERE run_id = :run;
-- How many tries failed is left to chance.
SELECT r.retries = (SELECT coalesce(sum(f.retries), 0) FROM fsbench.transaction_failure f WHERE f.run_id = :run AND sqlstate = '40001' AND transactions = 0) AS retries
FROM fsbench.transaction_result r WHERE run_id = :run;
SELECT run_id AS run FROM fsbench.run(workload => 'script', clients => 1, transactions => 2, continue_on_error => true,
    init_script => 'CREATE TABLE t (a int);',
    scripts => E'\\startpipeline\nINSERT INTO t VALUES (1);\n\\syncpipeline\nINSERT INTO t VALUES (2);\nSELECT 1 / (SELECT 0);\n\\endpipeline',
    checks => '[{"sql": "SELECT string_agg(a::text, $$,$$) FROM t", "expected": "1,1"}]') \gset
SELECT status, transactions_total, failed FROM fsbench.result WHERE run_id = :run;

SELECT sqlstate, transactions, retries FROM fsbench.transaction_failure WHERE run_id = :run;
SELECT line, kind, executions, failures FROM fsbench.command_result WHERE run_id = :run ORDER BY command;

-- Ways to fail, each with its SQLSTATE; scripts whose commands are not measured.
SELECT run_id AS run FROM fsbench.run(workload => 'script', clients => 1, transactions => 40, seed => 3, continue_on_error => true, latency_limit_ms => 60000,
    init_script => 'CREATE TABLE t (a int PRIMARY KEY); INSERT INTO t VALUES (1);', options => '{"commands": false}',
    scripts => '[{"name": "divide", "text": "SELECT 1 / (SELECT 0);"}, {"name": "twice", "text": "INSERT INTO t VALUES (1);"}, {"name": "raise", "text": "DO $$BEGIN RAISE ''x'' USING ERRCODE = ''XY123''; END$$;"},
        {"name": "well", "text": "SELECT 1;"}]') \gset
SELECT t.transaction, committed = 0 AS none, late, f.sqlstate, f.transactions = t.failed AS failed FROM fsbench.transaction_result t LEFT JOIN fsbench.transaction_failure f USING (run_id, position)
WHERE run_id = :run ORDER BY position;
SELECT count(*) AS commands FROM fsbench.command_result WHERE run_id = :run;

-- Each COMMIT counts, and each statement that commits by itself; a ROLLBACK does not.
SELECT run_id AS run FROM fsbench.run(workload => 'script', clients => 1, transactions => 10, seed => 1, init_script => 'CREATE TABLE t (a int);',
    scripts => '[{"name": "rolled back", "text": "BEGIN;\nINSERT INTO t VALUES (1);\nROLLBACK;"}, {"name": "two", "text": "BEGIN;\nINSERT INTO t VALUES (1);\nCOMMIT;\nSELECT 1;"}]') \gset
SELECT r.transaction, h.transactions = 2 * r.committed AS commits FROM fsbench.transaction_result r
LEFT JOIN fsbench.histogram h ON h.run_id = r.run_id AND h.transaction = r.transaction AND measure = 'commit' WHERE r.run_id = :run ORDER BY position;

-- Statements with consequences for later ones: a command of a pipeline that cannot be rolled back, a rule that makes a utility statement, portals of a loop that commits.
SELECT run_id AS run FROM fsbench.run(workload => 'script', clients => 1, transactions => 1, continue_on_error => true, init_script => 'SELECT 1;',
    scripts => E'\\startpipeline\nCREATE DATABASE regress_pipeline;\nSELECT 1 / (SELECT 0);\n\\endpipeline') \gset
SELECT failed, (SELECT count(*) FROM pg_database WHERE datname = 'regress_pipeline') AS made FROM fsbench.result WHERE run_id = :run;
DROP DATABASE regress_pipeline;
-- Statements of a pipeline are a transaction block since PostgreSQL 18.
SELECT run_id AS run FROM fsbench.run(workload => 'script', clients => 1, transactions => 1, continue_on_error => true, init_script => 'CREATE TABLE t (a int);',
    scripts => E'\\startpipeline\nINSERT INTO t VALUES (1);\nLOCK TABLE t;\n\\endpipeline',
    checks => jsonb_build_array(jsonb_build_object('sql', 'SELECT count(*) FROM t', 'expected', (current_setting('server_version_num')::int >= 180000)::int))) \gset
SELECT status, (failed = 0) = (current_setting('server_version_num')::int >= 180000) AS block FROM fsbench.result WHERE run_id = :run;
SELECT run_id AS run FROM fsbench.run(workload => 'script', clients => 1, transactions => 3, init_script => 'CREATE TABLE t (a int);',
    scripts => E'INSERT INTO t VALUES (1);\nCREATE OR REPLACE RULE r AS ON INSERT TO t DO INSTEAD NOTIFY told;',
    checks => '[{"sql": "SELECT count(*) FROM t", "expected": 1}]') \gset
SELECT status, transactions_total FROM fsbench.result WHERE run_id = :run;
SELECT run_id AS run FROM fsbench.run(workload => 'script', clients => 1, transactions => 3, continue_on_error => true, init_script => 'CREATE TABLE t (a int);',
    scripts => E'INSERT INTO t SELECT count(*) FROM pg_cursors WHERE name LIKE ''<unnamed%'';\n'
        'DO $$DECLARE r record; BEGIN FOR r IN SELECT generate_series(1, 3) LOOP COMMIT; PERFORM 1 / 0; END LOOP; END$$;',
    checks => '[{"sql": "SELECT count(*) || $$ $$ || max(a) FROM t", "expected": "3 0"}]') \gset
SELECT status, failed FROM fsbench.result WHERE run_id = :run;

-- A statement that outlasts the window and the grace is cancelled, and its transaction counts as failed; the window is not longer.
SELECT run_id AS run FROM fsbench.run(workload => 'script', clients => 1, duration => '1 s', warmup => '0', init_script => 'SELECT 1;', scripts => 'SELECT pg_sleep(3600);',
    options => '{"grace_ms": 500}') \gset
SELECT status, transactions_total, failed, measured_ms FROM fsbench.result WHERE run_id = :run;
SELECT sqlstate, transactions FROM fsbench.transaction_failure WHERE run_id = :run;
-- A statement that catches its cancel is cancelled again.
SELECT run_id AS run FROM fsbench.run(workload => 'script', clients => 1, duration => '1 s', warmup => '0', init_script => 'SELECT 1;', options => '{"grace_ms": 500}',
    scripts => 'DO $$BEGIN BEGIN PERFORM pg_sleep(3600); EXCEPTION WHEN query_canceled THEN NULL; END; PERFORM pg_sleep(3600); END$$;') \gset
SELECT status, transactions_total, failed, measured_ms FROM fsbench.result WHERE run_id = :run;
SELECT fsbench.start(workload => 'script', scripts => 'SELECT 1;', options => '{"grace_ms": -1}');
SELECT fsbench.start(options => '{"grace_ms": 1}');

-- A text that cannot be compiled is refused before anything is made.
SELECT count(*) AS runs FROM fsbench.run_log \gset
\set VERBOSITY default
SELECT fsbench.start(workload => 'script');
SELECT fsbench.start(workload => 'script', scripts => E'SELECT 1;\n\\set x 1 +* 2\nSELECT 2;');
SELECT fsbench.start(workload => 'script', scripts => 'SELECT ''10:30'', '':x'';');
SELECT fsbench.start(workload => 'script', scripts => 'SELECT 1;', init_script => E'SELECT 1;\n\\nothing');
SELECT fsbench.start(workload => 'script', scripts => '[{"name": "x"}]');
SELECT fsbench.start(workload => 'script', scripts => 'SELECT 1;', checks => '[{"sql": "SELECT 1"}]');
SELECT fsbench.start(workload => 'script', scripts => 'SELECT 1;', max_tries => 0);
SELECT fsbench.start(workload => 'script', scripts => 'SELECT 1;', options => '{"crash": true}');
SELECT fsbench.start(workload => 'tpcb', scripts => 'SELECT 1;');
SELECT count(*) - :runs AS made FROM fsbench.run_log;

-- Errors of a transaction end the run, with script and line.
\set try 'SELECT fsbench.run(workload => ''script'', clients => 1, transactions => 1, seed => 1, init_script => ''SELECT 1;'', scripts => '
:try E'SELECT 1;\n\nSELECT 1 / (SELECT 0);');
:try E'\\set x 1 / 0');
:try 'BEGIN;');
:try E'SELECT 1 WHERE false \\gset');
:try 'COPY pg_class TO STDOUT;');
:try 'SELECT $1;');
SELECT fsbench.run(workload => 'script', clients => 1, transactions => 1, scripts => 'SELECT 1;', init_script => E'SELECT 1;\nSELEC 2;');
SELECT fsbench.run(workload => 'script', clients => 1, transactions => 1, scripts => 'SELECT 1;', init_script => 'SELECT 1;',
    checks => '[{"name": "one", "sql": "SELECT 1", "expected": 1}, {"name": "sum", "sql": "SELECT 3", "expected": 4}, {"name": "null", "sql": "SELECT NULL", "expected": null}]');
-- The checks around the failed one are stored, too.
SELECT position, name, moment, expected, found, passed, note FROM fsbench.verification WHERE run_id = (SELECT max(run_id) FROM fsbench.run_log) ORDER BY position;
SELECT fsbench.run(workload => 'script', clients => 1, transactions => 1, scripts => 'SELECT 1;', init_script => 'SELECT 1;',
    checks => '[{"name": "one", "sql": "SELECT 1", "expected": 1}, {"name": "gone", "sql": "SELECT 1 FROM gone", "expected": 1}, {"name": "last", "sql": "SELECT 1", "expected": 1}]');
SELECT position, name, passed, note FROM fsbench.verification WHERE run_id = (SELECT max(run_id) FROM fsbench.run_log) ORDER BY position;

-- A script can do what the role that asks can do, and no more.
CREATE ROLE regress_shopper LOGIN;
CREATE ROLE regress_group;
GRANT USAGE ON SCHEMA fsbench TO regress_shopper, regress_group;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA fsbench TO regress_shopper, regress_group;
SET SESSION AUTHORIZATION regress_group;
SELECT fsbench.start(workload => 'script', scripts => 'SELECT 1;');
SET SESSION AUTHORIZATION regress_shopper;
SELECT run_id > 0 AS done FROM fsbench.run(workload => 'script', clients => 2, transactions => 5, scale => 1, scripts => 'tpcb-like');
SELECT run_id > 0 AS done FROM fsbench.run(workload => 'script', clients => 1, transactions => 1,
    init_script => 'CREATE TABLE who (who text);', scripts => E'RESET ROLE;\nRESET SESSION AUTHORIZATION;\nINSERT INTO who SELECT session_user || current_user;',
    checks => '[{"sql": "SELECT who FROM who", "expected": "regress_shopperregress_shopper"}]');
SELECT run_id > 0 AS done FROM fsbench.run(workload => 'script', clients => 1, transactions => 1, scripts => 'SELECT 1;',
    init_script => E'RESET ROLE;\nRESET SESSION AUTHORIZATION;\nCREATE FUNCTION who() RETURNS text LANGUAGE sql SECURITY DEFINER RETURN session_user || current_user;',
    checks => '[{"sql": "SELECT who()", "expected": "regress_shopperregress_shopper"}]');
-- Insufficient privilege, whatever a version of PostgreSQL says of it.
\set VERBOSITY sqlstate
:try 'SET ROLE regress_group;');
:try $$COPY (SELECT 1) TO PROGRAM 'id';$$);
:try $$LOAD 'auto_explain';$$);
:try $$ALTER SYSTEM SET work_mem = '1MB';$$);
:try $$SELECT pg_read_file('/etc/passwd');$$);
:try $$SELECT lo_export(0, '/tmp/x');$$);
:try $$SET session_replication_role = 'replica';$$);
SELECT fsbench.start(workload => 'script', scripts => 'SELECT 1;', settings => '{"session_replication_role": "replica"}');
\set VERBOSITY default
RESET SESSION AUTHORIZATION;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA fsbench FROM regress_shopper, regress_group;
REVOKE ALL ON SCHEMA fsbench FROM regress_shopper, regress_group;
DROP ROLE regress_shopper, regress_group;
