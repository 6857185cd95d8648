-- Results of scripts: figures of one script, and files that carry the texts.
\set SHOW_CONTEXT never
\pset format unaligned
SET client_min_messages = warning;
\set scripts '[{"name": "order", "weight": 2, "text": "SELECT 1;\\nUPDATE shop SET sold = sold + 1;"}, {"name": "stock", "text": "SELECT sold FROM shop;"}]'
SELECT run_id AS run FROM fsbench.run(workload => 'script', clients => 2, transactions => 50, seed => 1, scripts => :'scripts', variables => '{"secret": 42}',
    init_script => 'CREATE TABLE shop (sold int); INSERT INTO shop VALUES (0);', checks => '[{"name": "some", "sql": "SELECT sold > 0 FROM shop", "expected": true}]') \gset

-- A metric of one script; those of all add up.
SELECT metric, fsbench._metric(:run, metric) > 0 AS is_there
FROM unnest('{tps of order,latency_p50_ms of order,latency_p99_ms of stock,latency_p999_ms of stock,commit_p99_ms of order,tps of nobody,latency_p99_ms of}'::text[]) metric;
SELECT abs(fsbench._metric(:run, 'tps of order') + fsbench._metric(:run, 'tps of stock') - tps) < tps / 1000 AS sum FROM fsbench.run_log WHERE run_id = :run;
SELECT fsbench._metric(run_id, 'latency_p99_ms of stock') = fsbench.percentile(0.99, run_id, 'latency', 'stock') AS p99 FROM fsbench.run_log WHERE run_id = :run;
SELECT DISTINCT transaction, measure FROM fsbench.chart_latency WHERE run_id = :run ORDER BY 1, 2;

-- An experiment that has such runs.
INSERT INTO fsbench.experiment (experiment_id, experiment, status, goal, baseline_number, metric, margin, max_blocks, looks, run_order, seed, parameters, asked, run_seconds,
    requested_by, mark, started_at, ended_at)
VALUES (2100, 'shop', 'done', 'baseline', 0, 'tps of order', 0.05, 3, '[{"blocks": 3, "place": 3, "horizon": 3}]', '[[0, 1], [1, 0], [0, 1]]', 1,
    jsonb_build_object('workload', 'script', 'script', jsonb_build_object('scripts', :'scripts')),
    jsonb_build_object('targets', '["a", "b"]'::jsonb, 'baseline', 'a', 'run', jsonb_build_object('workload', 'script', 'script', jsonb_build_object('scripts', :'scripts'))), 60,
    'somebody', 'its mark', now() - interval '1 hour', now());
UPDATE fsbench.experiment SET open_because = '[]' WHERE experiment_id = 2100;
INSERT INTO fsbench.experiment_target (experiment_id, target_number, target, target_name) VALUES (2100, 0, 'a', 'a'), (2100, 1, 'b', 'b');
INSERT INTO fsbench.experiment_run (experiment_id, block, position, target_number, attempt, run_id, outcome) VALUES (2100, 1, 0, 0, 1, :run, 'measured');
SELECT count(*) FROM fsbench.compare('shop');
SELECT count(*) FROM fsbench.compare('shop', 'tps of stock');
SELECT * FROM fsbench.compare('shop', 'tps of nobody');
SELECT * FROM fsbench.compare('shop', 'load_ms of order');

-- Wrong arguments are refused before an experiment begins.
\set of_shop 'SELECT fsbench.experiment(''e'', ''{a,b}'', workload => ''script'', start => false, scripts => :''scripts'', '
:of_shop metric => 'tps of nobody');
:of_shop metric => 'latency_p99_ms of stock');
SELECT fsbench.experiment('e', '{a,b}', metric => 'tps of order');
SELECT fsbench.experiment('e', factors => '{"clients": [1, 2]}', workload => 'script', start => false, scripts => E'\\set row permute(:client_id, 10)\nSELECT :row;');

-- The texts are in a file once, and come out of it as they were.
CREATE TEMP TABLE incoming AS SELECT line FROM fsbench.export('shop') line;
SELECT line::jsonb -> 'table' AS relation, jsonb_array_length(line::jsonb -> 'rows') AS rows FROM incoming
WHERE line::jsonb ->> 'table' IN ('script', 'transaction_result', 'command_result') ORDER BY (line::jsonb ->> 'n')::integer;
SELECT count(*) FROM incoming WHERE line LIKE '%UPDATE shop%';
SELECT s.sha256, s.document FROM fsbench.script s JOIN fsbench.run_log r ON s.sha256 = r.used #>> '{options,script,sha256}' WHERE r.run_id = :run \gset
DELETE FROM fsbench.script WHERE sha256 = :'sha256';
CREATE FUNCTION pg_temp.imported(old text DEFAULT '', new text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    hash bytea := '';
    file text := '';
    l record;
    n integer := 0;
BEGIN
    FOR l IN SELECT replace(line, old, new) AS line FROM incoming WHERE line NOT LIKE '%"end": {"lines"%' ORDER BY (line::jsonb ->> 'n')::integer LOOP
        n := n + 1;
        hash := fsbench._line_hash(hash, l.line);
        file := file || l.line || E'\n';
    END LOOP;
    file := file || format('{"n": %s, "end": {"lines": %s, "sha256": "%s"}}', n + 1, n, encode(hash, 'hex'));
    RETURN (SELECT concat_ws(' ', experiments, runs, already_here) FROM fsbench.import(file, 'shop1'));
END
$$;
-- Another text, another hash, and no document.
SELECT pg_temp.imported('UPDATE shop', 'DELETE shop');
\set VERBOSITY terse
SELECT pg_temp.imported(:'sha256', repeat('0', 64));
\set VERBOSITY default
SELECT fsbench._export_line(to_jsonb(:'document'::text)::text) AS in_file \gset
BEGIN;
UPDATE incoming SET line = replace(line, :'in_file', '"[1]"');
UPDATE incoming SET line = replace(line, :'sha256', encode(sha256('[1]'), 'hex'));
SELECT pg_temp.imported();
ROLLBACK;
SELECT count(*) FROM fsbench.script WHERE sha256 = :'sha256';
SELECT pg_temp.imported();
SELECT document = :'document' AS as_it_was FROM fsbench.script WHERE sha256 = :'sha256';
SELECT script, line, kind, text FROM fsbench.script_command JOIN fsbench.imported USING (run_id) ORDER BY script, command;
SELECT count(*) FROM fsbench.compare('shop@shop1', 'tps of stock');
-- A second time the file changes nothing.
SELECT pg_temp.imported();
SELECT fsbench.drop_imported('shop1');
-- A text to which no run of the file refers is refused.
BEGIN;
DELETE FROM fsbench.script WHERE sha256 = :'sha256';
UPDATE fsbench.run_log SET used = used #- '{options,script}' WHERE run_id = :run;
UPDATE incoming SET line = replace(line, :'sha256', repeat('0', 64)) WHERE line::jsonb ->> 'table' = 'run_log';
SELECT pg_temp.imported();
ROLLBACK;

-- A long document has several rows, of which none may be lost or changed.
BEGIN;
CREATE TEMP TABLE long AS SELECT encode(sha256(convert_to(d, 'UTF8')), 'hex') AS sha256, d FROM (SELECT
    jsonb_build_object('scripts', jsonb_build_array(jsonb_build_object('name', 'order', 'weight', 1, 'text', repeat(E'SELECT "\u00e9", ''%\\\n'';\t', 20000))))::text AS d) x;
INSERT INTO fsbench.script SELECT * FROM long;
UPDATE fsbench.run_log SET used = jsonb_set(used, '{options,script,sha256}', to_jsonb(l.sha256)) FROM long l WHERE run_id = :run;
TRUNCATE incoming;
INSERT INTO incoming SELECT line FROM fsbench.export(run_ids => ARRAY[:run]) line;
SELECT count(*) > 1 AS lines, sum(jsonb_array_length(line::jsonb -> 'rows')) = max(length(d)) / 10000 + 1 AS rows, max(octet_length(line)) < 2000000 AS short
FROM incoming, long WHERE line::jsonb ->> 'table' = 'script';
DELETE FROM fsbench.script s USING long l WHERE s.sha256 = l.sha256;
SELECT pg_temp.imported();
SELECT document = d AS as_it_was FROM fsbench.script JOIN long USING (sha256);
SAVEPOINT s;
SELECT pg_temp.imported('SELECT', 'DELETE');
ROLLBACK TO SAVEPOINT s;
DELETE FROM incoming WHERE (line::jsonb ->> 'n')::int = (SELECT max((line::jsonb ->> 'n')::int) FROM incoming WHERE line::jsonb ->> 'table' = 'script');
SELECT pg_temp.imported();
ROLLBACK;

-- A search for the sustainable rate takes scripts.
SELECT run_id AS search, rate > 0 AS found FROM fsbench.sustainable_rate(latency_limit_ms => 1000000, workload => 'script', clients => 2, duration => '1 s', warmup => '0',
    scripts => :'scripts', init_script => 'CREATE TABLE shop (sold int); INSERT INTO shop VALUES (0);') \gset
SELECT status, (SELECT count(*) > 0 FROM fsbench.script s WHERE s.sha256 = r.used #>> '{options,script,sha256}') AS texts, sustainable_rate > 0 AS found
FROM fsbench.run_log r WHERE run_id = :search;
-- Figures of several rates together say nothing.
SELECT transaction, committed > 0 AS committed, latency_p50_ms FROM fsbench.transaction_result WHERE run_id = :search ORDER BY position;
SELECT (SELECT count(*) FROM fsbench.histogram WHERE run_id = :search) AS histograms, (SELECT count(*) FROM fsbench.command_result WHERE run_id = :search) AS commands;
DELETE FROM fsbench.run_log WHERE run_id = :search;
-- A statement that would hold a cycle for ever is cut off, and its client goes on with the next one.
SELECT run_id AS search FROM fsbench.sustainable_rate(latency_limit_ms => 1000000, workload => 'script', clients => 2, duration => '1 s', warmup => '0',
    scripts => E'SELECT nextval(''n'') AS n \\gset\n\\if :n = 5\nSELECT pg_sleep(3600);\n\\endif\nSELECT pg_sleep(0.01);', init_script => 'CREATE SEQUENCE n;',
    options => '{"grace_ms": 300}') \gset
SELECT status, failed, sustainable_rate > 0 AS found FROM fsbench.run_log WHERE run_id = :search;
DELETE FROM fsbench.run_log WHERE run_id = :search;

-- A run that waits for its turn keeps its texts.
SELECT fsbench.start(workload => 'script', clients => 1, transactions => 20, scripts => 'SELECT pg_sleep(0.05);', init_script => 'SELECT 1;') AS first,
    fsbench.start(workload => 'script', clients => 1, transactions => 3, scripts => :'scripts', init_script => 'CREATE TABLE shop (sold int);') AS second \gset
CALL fsbench.wait(:first, :second);
SELECT status, transactions_total FROM fsbench.result WHERE run_id IN (:first, :second) ORDER BY run_id;

-- Without texts: names stay.
INSERT INTO fsbench.statement (run_id, queryid, toplevel, query) VALUES (:run, 1, true, 'SELECT sold FROM shop');
SELECT count(*) FROM fsbench.export('shop') line WHERE line LIKE '%"statement"%';
SELECT count(*) FILTER (WHERE line ~ 'UPDATE shop|SELECT sold|CREATE TABLE|secret|"statement"') AS texts, count(*) FILTER (WHERE line LIKE '%order + stock%') > 0 AS names
FROM fsbench.export('shop', texts => false) line;
SELECT count(*) AS hashes FROM fsbench.export('shop', texts => false) line, fsbench.run_log r WHERE strpos(line, r.used #>> '{options,script,sha256}') > 0;
-- Runs of one file with equal texts have equal hashes, which are others in the next file.
CREATE FUNCTION pg_temp.hashes() RETURNS text[] LANGUAGE sql AS $$
    SELECT array_agg(m[1]) FROM fsbench.export('shop', texts => false) line, regexp_matches(line, '"sha256": "([0-9a-f]{64})"', 'g') m WHERE line LIKE '%"table": "run_log"%' $$;
SELECT cardinality(a) > 0 AS some, cardinality(ARRAY(SELECT DISTINCT unnest(a))) AS different, a <> pg_temp.hashes() AS in_next_file FROM pg_temp.hashes() a;
DELETE FROM fsbench.experiment WHERE experiment = 'shop';
-- Texts go with the last run that refers to them.
SELECT count(*) FROM fsbench.script WHERE sha256 = :'sha256';
DELETE FROM fsbench.run_log WHERE run_id = :run;
SELECT count(*) FROM fsbench.script WHERE sha256 = :'sha256';
