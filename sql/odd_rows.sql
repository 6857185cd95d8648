-- Rows that no version writes, as a changed dump may bring them: they can be cancelled, paused and dropped, and hide no other row.
SET client_min_messages = error;
INSERT INTO fsbench.experiment (experiment_id, experiment, status, goal, baseline_number, metric, margin, max_blocks, looks, run_order, seed, parameters, asked, run_seconds, requested_by, mark)
SELECT 3000 + n, name, 'paused', 'baseline', 0, 'tps', 0.05, 3, '[{"blocks": 3, "place": 3, "horizon": 3}]', '[[0, 1]]', 1, '{}', '{}', 60, current_user, ''
FROM unnest(ARRAY['sound', 'times', 'numbers', 'order', 'looks', 'asked', 'baseline']) WITH ORDINALITY AS e (name, n);
INSERT INTO fsbench.experiment_target (experiment_id, target_number, target, target_name)
SELECT 3000 + n, t, 'target ' || t, 'default' FROM generate_series(1, 7) n, generate_series(0, 1) t;
UPDATE fsbench.experiment SET started_at = '-infinity', ended_at = 'infinity', run_seconds = 1e308, status = 'queued' WHERE experiment = 'times';
UPDATE fsbench.experiment SET on_seconds = 'NaN', run_seconds = 'Infinity', parameters = '{"rate": "fast", "n": 1e400}' WHERE experiment = 'numbers';
UPDATE fsbench.experiment SET run_order = '[[0, 99]]' WHERE experiment = 'order';
UPDATE fsbench.experiment SET looks = '"never"' WHERE experiment = 'looks';
UPDATE fsbench.experiment SET asked = '{"cycle_us": {}, "max_duration_us": "long"}' WHERE experiment = 'asked';
UPDATE fsbench.experiment SET baseline_number = 7 WHERE experiment = 'baseline';
RESET client_min_messages;
-- Views show the others, and say what is wrong.
SELECT experiment, status FROM fsbench.experiments WHERE experiment_id BETWEEN 3001 AND 3007;
SELECT experiment, target, verdict, says FROM fsbench.comparison WHERE experiment IN ('sound', 'times', 'numbers', 'order', 'looks', 'asked', 'baseline') ORDER BY experiment, target;
SELECT count(*) FROM fsbench.chart_block;
SELECT count(*) >= 7 FROM fsbench.chart_target;
-- Who asks for one of them is told, with what to do.
SELECT * FROM fsbench.compare('order');
SELECT * FROM fsbench.recommend('looks');
-- Each of them can be ended and removed.
SELECT fsbench.cancel_experiment(experiment), experiment FROM fsbench.experiment WHERE experiment_id BETWEEN 3002 AND 3007 ORDER BY experiment_id;
SELECT experiment, event, message FROM fsbench.experiment_log JOIN fsbench.experiment USING (experiment_id) WHERE experiment_id BETWEEN 3002 AND 3007 AND event = 'cancelled' ORDER BY experiment_id;
SELECT fsbench.drop_experiment(experiment) FROM fsbench.experiment WHERE experiment_id BETWEEN 3001 AND 3007 ORDER BY experiment_id;

-- A target definition that is no object is no definition, and later runs have their own.
SET client_min_messages = error;
INSERT INTO fsbench.run_log (run_id, status, target, workload, requested_by, tps, label, target_definition, target_version, facts, used, asked, requested_at)
VALUES (3000, 'done', 'default', 'tpcb', current_user, 100, 'odd', '"x"', 1, '[1]', '{}', '{}', now() - interval '1 day'),
       (3001, 'done', 'default', 'tpcb', current_user, 100.123456789012345, 'odd', '{"kind": "default"}', 2, '{"flush": "x"}', '{}', '{}', now());
RESET client_min_messages;
SELECT version > 2 AS is_another FROM fsbench._results_of('default', '{"kind": "other"}');
SET client_min_messages = warning;
SELECT run_id FROM fsbench.run(scale => 1, clients => 1, transactions => 10, seed => 1) \gset
SELECT status FROM fsbench.result WHERE run_id = :run_id;
SELECT count(*) FROM fsbench.history('odd');
SELECT * FROM fsbench.judge(3001);

-- Floats are the same whatever the session shows of them.
SET extra_float_digits = -15;
CREATE TEMP TABLE shown AS SELECT a FROM fsbench.compare_runs(3000, 3001) WHERE metric = 'tps' UNION ALL SELECT b FROM fsbench.compare_runs(3000, 3001) WHERE metric = 'tps'
    UNION ALL SELECT value FROM fsbench.history('odd') WHERE run_id = 3001;
RESET extra_float_digits;
SELECT a FROM shown;
SET extra_float_digits = -15;
SELECT count(*) FROM fsbench.plan_experiment('digits', factors => '{"clients": [1, 2]}', scale => 1, duration => '2 s', margin => 1.0 / 3, seed => 1, rate => 123.456789::float8) WHERE says ~ 'margin 33.3 %';
SELECT fsbench.experiment('digits', factors => '{"clients": [1, 2]}', scale => 1, duration => '2 s', margin => 1.0 / 3, seed => 1, rate => 123.456789::float8, start => false) IS NOT NULL;
RESET extra_float_digits;
SELECT margin, parameters -> 'rate' AS rate FROM fsbench.experiment WHERE experiment = 'digits';
SELECT fsbench.drop_experiment('digits');
RESET client_min_messages;

-- Arguments that fit their types and mean nothing.
SELECT fsbench.plan_experiment('x', targets => '{{a,b},{c,d}}');
SELECT fsbench.plan_experiment(U&'a\202Eb', targets => '{a,b}');
SELECT fsbench.start(label => U&'a\202Eb');
SET client_min_messages = warning;
SELECT fsbench.create_target('odd_rows', filesystem => 'ext4', image_size => '1GB');
RESET client_min_messages;
SELECT fsbench.alter_target('odd_rows', reset => '{NULL}');
SELECT fsbench.drop_target('odd_rows');
\set SHOW_CONTEXT never
SELECT fsbench.acknowledge(3000, repeat('x', 10001));
SELECT fsbench.report(run_ids => '{3000}', metric => 'beauty');
SELECT * FROM fsbench.findings(ARRAY(SELECT generate_series(100001, 200000)));
SELECT fsbench.percentile(0.5, '{100001,NULL,100002}'::bigint[]);
BEGIN;
INSERT INTO fsbench.experiment (experiment_id, experiment, status, goal, metric, margin, max_blocks, looks, run_order, seed, parameters, asked, run_seconds, requested_by, mark)
VALUES (3010, 'block', 'done', 'best', 'tps', 0.05, 3, '[]', '[]', 1, '{}', '{}', 60, current_user, '');
UPDATE fsbench.experiment SET status = 'queued' WHERE experiment = 'block';
CALL fsbench.wait_experiment('block');
ROLLBACK;
DELETE FROM fsbench.run_log WHERE label = 'odd' OR run_id = :run_id;

-- A file is taken apart without being parsed, whatever it holds.
SELECT fsbench._line_count(l), fsbench._line_member(l, 'table'), ARRAY(SELECT r FROM fsbench._line_rows(l, 2, 10) r)
FROM unnest(ARRAY['{"n": 2, "table": "sample", "rows": [[1, "a],"], [2, {"x": [3]}], [4], [5]]}', '{"rows": []}', '{"rows": 1}', '[]', '{', '', '{"rows": [[[}', 'x']) l;

-- Lines of a file or another server where a number stands in a string, or is small and prints as a long text.
SELECT fsbench._import_line(E'{"a": "\\"", "b": 1e130000, "c": "\\""}');
SELECT fsbench._odd_column('run_log', '[{"facts": {"x": 1e400, "a": "\""}}]', '{}');
SELECT fsbench._odd_column('run_log', ('[{"facts": ' || repeat('[', 60) || repeat(']', 60) || '}]')::jsonb, '{}');
-- A number so small that quotients of it are no float8.
SELECT t.relation, fsbench._odd_column(t.relation, t.rows, '{}') FROM (VALUES ('run_log'::name, '[{"measured_ms": 1e-301}]'::jsonb), ('run_log', '[{"measured_ms": 0}]'),
    ('run_log', '[{"measured_ms": -5e-324}]'), ('run_log', '[{"measured_ms": 0.001}]')) t (relation, rows);
-- Parameters of a run that later code reads.
SELECT u AS odd FROM unnest(ARRAY['{}', '{"bound": {"duration_ms": 20000}, "warmup_ms": 2000, "scale": 1, "clients": 4, "seed": -7, "within_ms": null, "settings": {"work_mem": "4MB"},
    "options": {"unlogged": false, "cache": "cold", "degrees": [1, 2], "leader": true}, "chosen": ["scale"]}',
    '{"bound": 7}', '{"bound": {"duration_ms": "20 s"}}', '{"bound": {"transactions": -1}}', '{"warmup_ms": "2000"}', '{"warmup_ms": 1e30}', '{"scale": [1]}', '{"settings": []}',
    '{"settings": {"work_mem": {}}}', '{"options": "none"}', '{"options": {"unlogged": "maybe"}}', '{"chosen": "all"}', '[]']::jsonb[]) u
WHERE fsbench._odd_column('run_log', jsonb_build_array(jsonb_build_object('used', u)), '{}') = 'used';
