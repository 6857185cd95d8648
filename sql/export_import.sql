-- Files: out of one database and into another. Both are this one here, and the runs are stored by hand.
\set SHOW_CONTEXT never
\pset format unaligned
SET client_min_messages = warning;
SET timezone = 'UTC';
-- Other tests know the numbers of their runs.
SELECT last_value AS run_id, is_called FROM fsbench.run_id_seq \gset
-- Two targets take turns; names and texts are as bad as they can be.
INSERT INTO fsbench.run_log (run_id, status, target, workload, scale, clients, duration, label, asked, used, requested_by, requested_at, started_at, measured_from, ended_at,
    tps, latency_p99_ms, measured_ms, transactions_total, stall_seconds, target_definition, target_version, error, error_hint, skipped, kept, work_database, work_mark)
SELECT 2000 + n, 'done', CASE n % 2 WHEN 0 THEN 'ext4' ELSE 'xfs' END, 'tpcb', 10, 4, '1 min', 'turns "of" 100 % \ two', '{"target": "x\"y"}', '{}', 'somebody',
    now() - interval '1 hour' + n * interval '1 min', now() - interval '1 hour' + n * interval '1 min', now() - interval '1 hour' + n * interval '1 min',
    now() - interval '1 hour' + n * interval '1 min' + interval '1 min', 1000 + (n % 2) * 200 + n, 10.5, 60000, 60000, 0,
    format('{"kind": "image", "filesystem": "%s"}', CASE n % 2 WHEN 0 THEN 'ext4' ELSE 'xfs' END)::jsonb, 1,
    E'a\\b\tc\r\n"d" %41 ü\u0001', 'Run rm -r.', 12345, true, 'postgres', 'some mark'
FROM generate_series(0, 5) n;
INSERT INTO fsbench.environment (run_id, hostname, host_fingerprint, kernel, filesystem, mkfs_command, settings, layers)
SELECT run_id, 'db1', 'abc', 'Linux 6.1', target, '/sbin/mkfs.' || target || ' /dev/loop0', '{"work_mem": "4MB"}', '[{"depth": 0, "kind": "disk"}]' FROM fsbench.run_log WHERE run_id BETWEEN 2000 AND 2005;
INSERT INTO fsbench.sample (run_id, second, interval_ms, transactions, device_f_await_ms) SELECT r, s, 1000, 1000 + s, 0.1 FROM generate_series(2000, 2005) r, generate_series(0, 49) s;
INSERT INTO fsbench.histogram SELECT r, 'tpcb', 'latency', 300, 900, 2800, 1, 9, '{640,670,700}', '{100,150,50}' FROM generate_series(2000, 2005) r;
UPDATE fsbench.environment SET virtualization = E'kvm)\nmkfs|mkfs.xfs -f /dev/sda\u009b1m\u2028\\n\\\n', vm = E'{"a\\nb": "c\\u0001\\\\u0001\u0085"}' WHERE run_id BETWEEN 2000 AND 2005;
INSERT INTO fsbench.finding (run_id, code, severity, message, hint) VALUES (2001, 'stalls', 'warning', 'it stalled', 'Run rm -r.'), (2001, 'imported', 'invalid', 'not really', NULL);
INSERT INTO fsbench.scan (run_id, scan, degree, repeat, workers_planned, workers_launched, started_at, ms, planning_ms, rows, bytes, gb_per_second, rows_per_second, buffers_hit, buffers_read, worker_buffers, leader_buffers, used)
VALUES (2000, 1, 1, 1, 1, 1, now(), 77.5, 1, 1, 1, 1, 1, 1, 1, '{}', 1, true);
INSERT INTO fsbench.wait_event VALUES (2000, 0, 'IO', 'WALSync', 7);
INSERT INTO fsbench.fsync (run_id, method, writes, writers, position, block_bytes, direct, syncs, buckets, counts) VALUES (2000, 'fdatasync', 1, 1, 1, 8192, false, 1, '{640}', '{1}');
INSERT INTO fsbench.experiment (experiment_id, experiment, status, goal, baseline_number, metric, margin, max_blocks, looks, run_order, seed, parameters, asked, run_seconds,
    requested_by, mark, started_at, ended_at, confirms)
VALUES (2000, 'turns', 'done', 'baseline', 0, 'tps', 0.05, 3, '[{"blocks": 3, "place": 3, "horizon": 3}]', '[[0, 1], [1, 0], [0, 1]]', 1, '{"workload": "tpcb"}',
    '{"targets": ["ext4", "xfs"], "baseline": "ext4"}', 60, 'somebody', 'its mark', now() - interval '1 hour', now(), 99);
UPDATE fsbench.experiment SET open_because = '[]' WHERE experiment_id = 2000;
INSERT INTO fsbench.experiment_target (experiment_id, target_number, target, target_name) VALUES (2000, 0, 'ext4', 'ext4'), (2000, 1, 'xfs', 'xfs');
INSERT INTO fsbench.experiment_run (experiment_id, block, position, target_number, attempt, run_id, outcome)
SELECT 2000, n / 2 + 1, n % 2, n % 2, 1, 2000 + n, 'measured' FROM generate_series(0, 5) n;
INSERT INTO fsbench.experiment_log (experiment_id, event, block, message, by) VALUES (2000, 'started', NULL, NULL, 'somebody'), (2000, 'look', 3, 'xfs more', NULL), (2000, 'done', 3, 'xfs more', NULL);


-- As \copy does it, both ways. A line is JSON as it stands in the file.
\copy (SELECT fsbench.export('turns')) TO PROGRAM 'cat > "$PG_ABS_BUILDDIR/results/turns.jsonl"'
CREATE TEMP TABLE incoming (line text);
\copy incoming FROM PROGRAM 'cat "$PG_ABS_BUILDDIR/results/turns.jsonl"'
SELECT count(*), count(*) FILTER (WHERE line ~ '\\'), count(*) FILTER (WHERE jsonb_typeof(line::jsonb) = 'object'), max(length(line)) < 200000 AS short FROM incoming;
SELECT line::jsonb -> 'table' AS relation, count(*), sum(jsonb_array_length(line::jsonb -> 'rows')) FROM incoming WHERE line::jsonb ? 'table' GROUP BY 1 ORDER BY min((line::jsonb ->> 'n')::integer);
SELECT line::jsonb -> 'pgfsbench_export' ->> 'format', line::jsonb #>> '{pgfsbench_export,hostname}' FROM incoming WHERE line LIKE '%pgfsbench_export%';
-- Nothing of where it was made that could be found again there, and not who asked.
SELECT count(*) FROM incoming WHERE line ~ 'requested_by|work_mark|some mark|its mark|confirms|somebody';

\set imported 'SELECT suffix, experiments, runs, already_here FROM fsbench.import((SELECT string_agg(line, E''\\n'') FROM incoming))'
:imported;
:imported;
\set file `cat "$PG_ABS_BUILDDIR/results/turns.jsonl"`
SELECT * FROM fsbench.import(:'file');
SELECT host, hostname, host_fingerprints, format, pgfsbench_version = fsbench.version() AS version, imported_by = current_user AS by FROM fsbench.imported_file;
-- It is all there, under other names and numbers, and belongs to who imported it.
SELECT target, label, status, host, run_id_there, host_fingerprint, run_id > 2005 OR run_id < 2000 AS renumbered FROM fsbench.imported ORDER BY run_id_there;
SELECT count(*) FROM fsbench.imported i JOIN fsbench.run_log a USING (run_id) JOIN fsbench.run_log b ON b.run_id = i.run_id_there
WHERE to_jsonb(a) - '{run_id,target,label,requested_by,kept,work_database,work_mark,error,error_hint}'::text[]
    = to_jsonb(b) - '{run_id,target,label,requested_by,kept,work_database,work_mark,error,error_hint}'::text[]
  AND NOT a.kept AND a.work_database IS NULL AND a.work_mark IS NULL AND a.requested_by = current_user;
SELECT count(*) FROM fsbench.imported i JOIN fsbench.sample a USING (run_id) JOIN fsbench.sample b ON b.run_id = i.run_id_there AND b.second = a.second
WHERE to_jsonb(a) - 'run_id' = to_jsonb(b) - 'run_id';
SELECT count(*) FROM fsbench.imported i JOIN fsbench.histogram a USING (run_id) JOIN fsbench.histogram b ON b.run_id = i.run_id_there AND to_jsonb(a) - 'run_id' = to_jsonb(b) - 'run_id';
-- No text of it can pass for a line, or for a hint, of pgfsbench.
SELECT DISTINCT a.error, a.error_hint FROM fsbench.imported i JOIN fsbench.run_log a USING (run_id);
SELECT virtualization, vm FROM fsbench.imported i JOIN fsbench.environment e USING (run_id) WHERE run_id_there = 2000;
SELECT count(*) FROM fsbench.recommend('turns@db1') WHERE says ~ '[[:cntrl:]]';
SELECT i.run_id_there, f.code, f.severity, f.message, f.hint FROM fsbench.imported i JOIN fsbench.finding f USING (run_id) WHERE i.run_id_there IN (2000, 2001) ORDER BY 1, 2;
SELECT experiment, status, confirms, requested_by = current_user AS by, mark <> 'its mark' AS unmarked FROM fsbench.experiment e JOIN fsbench.imported_experiment USING (experiment_id);
SELECT l.event, l.block, l.message, l.by FROM fsbench.experiment_log l JOIN fsbench.imported_experiment USING (experiment_id) ORDER BY l.log_id;
SELECT target, verdict, says FROM fsbench.compare('turns@db1');
SELECT count(*) FROM (SELECT target, verdict, says FROM fsbench.compare('turns') INTERSECT SELECT target, verdict, says FROM fsbench.compare('turns@db1')) s;
SELECT target, target_name FROM fsbench.experiment_target JOIN fsbench.imported_experiment USING (experiment_id) ORDER BY target_number;

-- It steers nothing: it is not gone on with, no line is made of it, and nothing is to be found out by it about what is here.
SELECT count(*) > 0 AS lines FROM fsbench.recommend('turns') WHERE part IN ('mkfs', 'fstab', 'udev', 'sysctl', 'postgresql.conf');
SELECT part, says FROM fsbench.recommend('turns@db1') WHERE part IN ('mkfs', 'fstab', 'udev', 'sysctl', 'postgresql.conf') OR says LIKE '%imported%';
SELECT fsbench.extend_experiment('turns@db1', 12);
SELECT fsbench.confirm_experiment('turns@db1');
SELECT fsbench.resume_experiment('turns@db1');
\set VERBOSITY sqlstate
SELECT fsbench.export('turns@db1');
SELECT fsbench.export(run_ids => ARRAY[(SELECT min(run_id) FROM fsbench.imported)]);
\set VERBOSITY default
SELECT run_id AS theirs FROM fsbench.imported WHERE run_id_there = 2000 \gset
SELECT metric, regexp_replace(says, 'run \d+', 'run N', 'g') FROM fsbench.compare_runs(2001, :theirs) WHERE metric = 'tps' OR metric IS NULL;
SELECT regexp_replace(says, 'run \d+', 'run N', 'g') FROM fsbench.compare_runs(2000, 2001) WHERE metric = 'tps';
SELECT results FROM fsbench._results_of('ext4', '{}');
-- A label with an @ may be one of this database: what came under it neither hides that a run is missing, nor keeps it from being exported.
INSERT INTO fsbench.run_log (run_id, status, target, workload, scale, clients, duration, label, asked, used, requested_by, requested_at, tps)
SELECT 2006, 'done', 'ext4', 'tpcb', 10, 4, '1 min', label, '{}', '{}', 'somebody', now() - interval '40 days', 1000 FROM fsbench.imported WHERE run_id = :theirs;
\set VERBOSITY sqlstate
SELECT fsbench.check_history(label) FROM fsbench.run_log WHERE run_id = 2006;
\set VERBOSITY default
SELECT count(*) FROM fsbench.run_log r, fsbench.export(history => r.label) WHERE r.run_id = 2006;
DELETE FROM fsbench.run_log WHERE run_id = 2006;
-- A setting of the caller's does not change how a file is read. PostgreSQL 19 has it no more.
SELECT current_setting('server_version_num')::integer < 190000 AS can_be_off \gset
\if :can_be_off
SET standard_conforming_strings = off;
SET escape_string_warning = off;
\endif
SELECT suffix, experiments, runs, already_here FROM fsbench.import((SELECT string_agg(line, chr(10)) FROM incoming), 'scs');
SELECT count(*) FROM fsbench.export('turns') e WHERE e = ANY (ARRAY(SELECT line FROM incoming));
\if :can_be_off
RESET standard_conforming_strings;
RESET escape_string_warning;
\endif
SELECT fsbench.drop_imported('scs');

SELECT fsbench.drop_imported('db1');

-- Changed files. With the checksum as it was, and with a new one.
SELECT md5(string_agg(t::text, ' ' ORDER BY t::text)) AS before FROM fsbench.run_log t \gset
CREATE FUNCTION pg_temp.forged(old text, new text, host text DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    hash bytea := '';
    file text := '';
    l record;
    n integer := 0;
BEGIN
    FOR l IN SELECT replace(line, old, new) AS line FROM incoming WHERE line NOT LIKE '%"end": {"lines"%' ORDER BY (line::jsonb ->> 'n')::integer LOOP
        CONTINUE WHEN l.line = '';
        n := n + 1;
        hash := fsbench._line_hash(hash, l.line);
        file := file || l.line || E'\n';
    END LOOP;
    file := file || format('{"n": %s, "end": {"lines": %s, "sha256": "%s"}}', n + 1, n, encode(hash, 'hex'));
    RETURN (SELECT concat_ws(' ', experiments, runs, already_here) FROM fsbench.import(file, coalesce(host, 'forged')));
END
$$;
SELECT fsbench.import(NULL);
SELECT fsbench.import('');
SELECT fsbench.import('{"n": 1, "pgfsbench_export": oh}');
\set VERBOSITY terse
SELECT fsbench.import(replace(:'file', '1001', '1002'));
\set VERBOSITY default
SELECT fsbench.import(left(:'file', -10));
SELECT fsbench.import(regexp_replace(:'file', '\{"n": 7[^\n]*\n', ''));
SELECT fsbench.import(:'file', 'a host');
\set VERBOSITY terse
SELECT fsbench.import(replace(replace(:'file', '"format": 1', '"format": 2'), '"pgfsbench": "', '"pgfsbench": "9'));
SELECT pg_temp.forged('"status"', '"statuses"');
SELECT pg_temp.forged('"zero_seconds"', '"work_database"');
SELECT pg_temp.forged('"zero_seconds"', '"status"');
\set VERBOSITY default
SELECT pg_temp.forged('"table": "wait_event"', '"table": "target"');
SELECT pg_temp.forged('"table": "wait_event"', '"table": "run_log"');
SELECT pg_temp.forged('"table": "wait_event"', '"table": "../pg_class; DROP TABLE x"');
SELECT pg_temp.forged('"done"', '"running"');
SELECT pg_temp.forged('"done"', '"queued"');
SELECT pg_temp.forged('"done"', '"paused"');
SELECT pg_temp.forged('[2003, ', '[2002, ');
SELECT pg_temp.forged('[2003, "done"', '[99, "done"');
SELECT pg_temp.forged('[2003, "done"', '["2003", "done"');
SELECT pg_temp.forged('"xfs", "tpcb", 10', '"xfs", "tpcb", 1e10');
SELECT pg_temp.forged('"xfs", "tpcb", 10', '"xfs", "tpcb", 1.5');
SELECT pg_temp.forged('"xfs", "tpcb", 10', '"xfs", "tpcb"');
SELECT pg_temp.forged('"xfs", "tpcb", 10', '"x%0Afs", "tpcb", 10');
SELECT pg_temp.forged('"xfs", "tpcb", 10', format('"%s", "tpcb", 10', repeat('x', 300)));
SELECT pg_temp.forged('{"target": ', '{"target%00": ');
SELECT pg_temp.forged('"turns %22of%22 100 %25 %5C two"', '["a"]');
SELECT pg_temp.forged('1040, ', '"NaN", ');
SELECT pg_temp.forged('1040, ', '1e30, ');
SELECT pg_temp.forged('10.5, ', '"Infinity", ');
SELECT pg_temp.forged('"2', '"3');
SELECT pg_temp.forged('"invalid"', '"fine"');
SELECT pg_temp.forged('[100, 150, 50]', '[100, -150, 50]');
SELECT pg_temp.forged('[100, 150, 50]', '[100, 150]');
SELECT pg_temp.forged('[640, 670, 700]', '[640, 670, 32000]');
SELECT pg_temp.forged('[2000, 1, 1000, ', '[2000, 1, -1, ');
SELECT pg_temp.forged('"tps", 0.05', '"error", 0.05');
SELECT pg_temp.forged('[[0, 1], [1, 0], [0, 1]]', '[' || repeat('[0, 1], ', 60) || '[0, 1]]');
SELECT pg_temp.forged('"ext4", "xfs"]', '"ext4", "xfs"], "x": ' || repeat('[', 20000));
-- Small in the file, and large or not to be read again when it is stored.
SELECT pg_temp.forged('{"work_mem": "4MB"}', '{"work_mem": 1e131071}');
SELECT pg_temp.forged('{"work_mem": "4MB"}', '{"work_mem": 1e-16000}');
SELECT pg_temp.forged('{"work_mem": "4MB"}', '{"work_mem": [' || repeat('0e-16000, ', 10) || '1]}');
SELECT pg_temp.forged('{"work_mem": "4MB"}', '{"work_mem": ' || repeat('[', 200) || repeat(']', 200) || '}');
SELECT pg_temp.forged('"runs": 6', '"runs": ' || repeat('[', 200) || repeat(']', 200));
SELECT fsbench.import('{"n": 1, "pgfsbench_export": ' || repeat(E'\n1', 100000));
SELECT pg_temp.forged('[2000, 0, "IO", "WALSync", 7]', '[2000, 0, "IO", "WALSync", 7]' || repeat(', [2000, 0, "IO", "WALSync", 7]', 200));
-- More than a file may have is refused before any row is parsed.
SELECT fsbench.import((SELECT line FROM incoming WHERE line LIKE '%pgfsbench_export%') || format(E'\n{"n": 2, "table": "%s", "columns": [], "rows": [%s]}\n{"n": 3}', t.name, repeat('[], ', t.most) || '[]'))
FROM (VALUES ('run_log', 100000)) t (name, most);
SELECT fsbench.import((SELECT line FROM incoming WHERE line LIKE '%pgfsbench_export%') || format(E'\n{"n": 2, "table": "%s", "columns": [], "rows": [%s]}\n{"n": 3}', t.name, repeat('[], ', t.most) || '[]'))
FROM (VALUES ('experiment', 1000)) t (name, most);
SELECT fsbench.import((SELECT line FROM incoming WHERE line LIKE '%pgfsbench_export%') || format(E'\n{"n": 2, "table": %s, "columns": [], "rows": [%s]}\n{"n": 3}', t.name, repeat('[], ', t.most) || '[]'))
FROM (VALUES ('experiment', 1000)) t (name, most);
-- The first line.
SELECT pg_temp.forged('"format": 1', '"format": -7');
SELECT pg_temp.forged('"host_fingerprints": ["abc"]', '"host_fingerprints": 7');
SELECT pg_temp.forged('"exported_at": "', '"exported_at": "infinity');
SELECT pg_temp.forged('"exported_at": "2', '"exported_at": "99992');
-- Figures that would break a view, a chart or a page.
SELECT pg_temp.forged('12345, ', '9223372036854775807, ');
SELECT pg_temp.forged(', 0.1, ', ', 3e38, ');
SELECT pg_temp.forged('"WALSync", 7', '"WALSync", 0');
SELECT pg_temp.forged('[2000, 0, "IO"', '[2000, 10000000, "IO"');
SELECT pg_temp.forged('[2000, 1, 1000, ', '[2000, 10000000, 1000, ');
SELECT pg_temp.forged('[2000, 1, 1000, ', '[2000, -1, 1000, ');
SELECT pg_temp.forged('77.5, ', '0, ');
SELECT pg_temp.forged('[2000, 1, 1, 1, ', '[2000, 1, 0, 1, ');
SELECT pg_temp.forged('"fdatasync"', '"<a href=//x>"');
SELECT pg_temp.forged('"00:01:00"', '"178000000 years"');
SELECT pg_temp.forged('[100, 150, 50]', '[100, 9000000000000000000, 50]');
-- The DETAIL names the version, which changes with each release.
DO $$
DECLARE
    detail text;
BEGIN
    PERFORM pg_temp.forged('"columns": ["run_id", "code"', '"columns": ["run_id", null');
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    RAISE WARNING '%: %', SQLERRM, replace(detail, (SELECT extversion FROM pg_extension WHERE extname = 'pgfsbench'), 'VERSION');
END
$$;
SELECT pg_temp.forged(', 2003, "measured"', ', null, "measured"');
SELECT pg_temp.forged('"baseline", 0, ', '"baseline", 2, ');
SELECT pg_temp.forged('"kind": "disk"', '"kind": "disc"');
SELECT count(*) FROM fsbench.imported_file;
SELECT md5(string_agg(t::text, ' ' ORDER BY t::text)) = :'before' AS unchanged FROM fsbench.run_log t;
SELECT count(*) FROM fsbench.experiment;

DELETE FROM fsbench.imported_file WHERE host = 'forged';
:imported;
-- Runs from a host of another name are other runs. An experiment with runs that are here already does not bring them twice.
SELECT pg_temp.forged('"tps", 0.05', '"tps", 0.06', 'db1');
SELECT pg_temp.forged('"turns"', '"turned"', 'db1');
-- A run that is here already, with other figures.
SELECT pg_temp.forged(' 1203, ', ' 1903, ', 'db1');
-- A run that is here already, with other seconds, another histogram, another kernel, a second less, and a wait more.
SELECT pg_temp.forged('[2000, 1, 1000, ', '[2000, 1, 999, ', 'db1');
SELECT pg_temp.forged('[100, 150, 50]', '[100, 140, 60]', 'db1');
SELECT pg_temp.forged('"Linux 6.1"', '"Linux 9.1"', 'db1');
BEGIN;
UPDATE incoming SET line = regexp_replace(line, '\[2003, 7, [^]]*\], ', '') WHERE line LIKE '%"sample"%';
SELECT pg_temp.forged('', '', 'db1');
ROLLBACK;
SELECT pg_temp.forged('[2000, 0, "IO", "WALSync", 7]', '[2000, 0, "IO", "WALSync", 7], [2000, 1, "IO", "WALSync", 7]', 'db1');
-- Rows that were thinned since are no other figure.
BEGIN;
DELETE FROM fsbench.sample WHERE run_id = (SELECT min(run_id) FROM fsbench.imported WHERE host = 'db1');
SELECT pg_temp.forged('', '', 'db1');
ROLLBACK;
SELECT e.experiment, x.block, x.run_id = i.run_id AS shared FROM fsbench.experiment e JOIN fsbench.experiment_run x USING (experiment_id) JOIN fsbench.imported i USING (run_id)
WHERE e.experiment = 'turned@db1' AND x.position = 0 ORDER BY 2;

-- An operator imports, and removes these imports; imports of a host by another role stay.
CREATE ROLE regress_fsbench_importer;
GRANT SELECT ON incoming TO regress_fsbench_importer;
SET ROLE regress_fsbench_importer;
:imported;
RESET ROLE;
SELECT fsbench.grant_operator('regress_fsbench_importer');
SET ROLE regress_fsbench_importer;
:imported;
SELECT suffix, experiments, runs, already_here FROM fsbench.import((SELECT string_agg(line, E'\n') FROM incoming), 'db3');
INSERT INTO fsbench.imported_run SELECT run_id, import_id, 1, 'x' FROM fsbench.imported LIMIT 1;
SELECT fsbench.drop_imported('db1');
SELECT fsbench.drop_imported('nowhere');
SELECT fsbench.drop_imported(NULL);
SELECT fsbench.export(run_ids => '{}');
-- Nor when the command of another role calls it, as an index does.
RESET ROLE;
CREATE SCHEMA regress_fsbench_hers AUTHORIZATION regress_fsbench_importer;
SET ROLE regress_fsbench_importer;
CREATE FUNCTION regress_fsbench_hers.dropper(integer) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN CASE WHEN current_setting('regress.armed', true) = 'on' THEN fsbench.drop_imported('db1') END;
END
$$;
CREATE TABLE regress_fsbench_hers.trap (n integer);
CREATE INDEX ON regress_fsbench_hers.trap (regress_fsbench_hers.dropper(n));
INSERT INTO regress_fsbench_hers.trap VALUES (1), (2);
RESET ROLE;
SET regress.armed = 'on';
ANALYZE regress_fsbench_hers.trap;
RESET regress.armed;
SET client_min_messages = error;
DROP SCHEMA regress_fsbench_hers CASCADE;
SET client_min_messages = warning;
SET ROLE regress_fsbench_importer;
SELECT DISTINCT r.requested_by FROM fsbench.imported i JOIN fsbench.run_log r USING (run_id) WHERE host = 'db3';
SELECT requested_by FROM fsbench.experiment WHERE experiment = 'turns@db3';
SELECT fsbench.drop_imported('db3');
RESET ROLE;
SELECT host, imported_by = current_user AS by, count(*) FROM fsbench.imported GROUP BY 1, 2;
SELECT fsbench.drop_imported('db1');
SELECT count(*), (SELECT count(*) FROM fsbench.imported_file) FROM fsbench.imported;
SELECT count(*) FROM fsbench.experiment WHERE experiment LIKE '%@%';

-- An older file: of a version that had fewer columns and tables.
CREATE FUNCTION pg_temp.without(column_name text) RETURNS void LANGUAGE sql AS $$
    UPDATE incoming SET line = format('{"n": %s, "table": %s, "columns": %s, "rows": %s}', line::jsonb -> 'n', line::jsonb -> 'table', (line::jsonb -> 'columns') - $1,
        (SELECT jsonb_agg(r - (SELECT c.o::integer - 1 FROM jsonb_array_elements_text(line::jsonb -> 'columns') WITH ORDINALITY c (name, o) WHERE c.name = $1)) FROM jsonb_array_elements(line::jsonb -> 'rows') r))
    WHERE line::jsonb -> 'columns' ? $1
$$;
SELECT pg_temp.without(c) FROM unnest('{pilot_cycle,sustainable_rate,pressure_io_full_percent,journal_mode,weight,burn_in,rate_share,versions}'::text[]) c;
SELECT pg_temp.forged('"db1", "abc"', '"db1", "abc"', 'old');
SELECT target, verdict, says FROM fsbench.compare('turns@old');
SELECT fsbench.drop_imported('old');

-- Exports that are refused.
SELECT fsbench.export();
SELECT fsbench.export('no such');
SELECT fsbench.export('turns', '{2000}');
SELECT fsbench.export(run_ids => '{2000,99999}');
SELECT fsbench.export(history => 'no such label');
UPDATE fsbench.experiment SET status = 'paused' WHERE experiment = 'turns';
SELECT fsbench.export('turns');
SELECT count(*) > 5 AS lines FROM fsbench.export(run_ids => '{2000}');
SELECT count(*) > 5 AS lines FROM fsbench.export(history => 'turns "of" 100 % \ two');
DELETE FROM fsbench.experiment WHERE experiment = 'turns';
DELETE FROM fsbench.run_log WHERE run_id BETWEEN 2000 AND 2005;
SELECT fsbench.revoke_operator('regress_fsbench_importer');
DROP OWNED BY regress_fsbench_importer;
DROP ROLE regress_fsbench_importer;
SELECT setval('fsbench.run_id_seq', :run_id, :'is_called') = :run_id AS as_before;
