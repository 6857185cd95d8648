-- Histories of stored runs: nights, changes of level, the alarm, and how it is acknowledged.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;
SET timezone = 'UTC';
-- Under one label, twenty nights on a target, the third of which failed, and from the fifteenth on 8 % slower with another kernel; and sixteen on another
-- target, the last of which is bad.
INSERT INTO fsbench.run_log (run_id, status, target, workload, scale, label, asked, used, requested_by, requested_at, tps, latency_p99_ms, target_definition)
SELECT 1000 + n, CASE n WHEN 3 THEN 'failed' ELSE 'done' END, 'ext4', 'tpcb', 10, 'stored nights', '{}'::jsonb, '{}'::jsonb, 'x', now() - (20 - n) * interval '1 day' - interval '9 hours',
       1000 * (1 + 0.01 * sin(n * 5)) * CASE WHEN n >= 15 THEN 0.92 ELSE 1 END, 10 + 0.1 * sin(n), '{"filesystem": "ext4"}'::jsonb FROM generate_series(1, 20) n
UNION ALL
SELECT 1100 + n, 'done', 'xfs', 'tpcb', 10, 'stored nights', '{}', '{}', 'x', now() - (20 - n) * interval '1 day' - interval '8 hours',
       1100 * (1 + 0.01 * sin(n * 3)) * CASE WHEN n = 20 THEN 0.8 ELSE 1 END, 10 + 0.1 * sin(n), '{"filesystem": "xfs"}' FROM generate_series(5, 20) n;
INSERT INTO fsbench.environment (run_id, kernel, filesystem)
SELECT run_id, CASE WHEN run_id % 100 < 15 THEN 'Linux 6.1.1' ELSE 'Linux 6.1.2' END, target FROM fsbench.run_log WHERE label = 'stored nights';

SELECT segment, night, target, run_id, runs, round(value::numeric, 1), status, round(before::numeric), round(after::numeric), round(ratio::numeric, 3),
       round(low::numeric, 3), round(high::numeric, 3), seen_after, differs
FROM fsbench.history('stored nights') WHERE status <> 'good' OR night < 3;
-- Another kind of disk or machine is marked, and starts no segment.
SELECT segment, night, status, marks FROM fsbench.history('stored nights') WHERE marks IS NOT NULL;
BEGIN;
UPDATE fsbench.run_log SET target_definition = target_definition || jsonb_build_object('device_identity', jsonb_build_object('serial', 'S' || run_id / 1010)) WHERE label = 'stored nights' AND target = 'ext4';
UPDATE fsbench.environment SET layers = jsonb_build_array(jsonb_build_object('kind', 'disk', 'model', 'Maker Disk 9', 'serial', 'S' || run_id / 1010)) WHERE run_id BETWEEN 1001 AND 1020;
SELECT segment, night, status, marks FROM fsbench.history('stored nights') WHERE marks ~ 'serial';
ROLLBACK;
SELECT status, count(*) FROM fsbench.history('stored nights', 'latency_p99_ms') GROUP BY 1 ORDER BY 1;

-- The history is worse until a role acknowledges the change.
\set ON_ERROR_STOP off
SELECT * FROM fsbench.check_history('stored nights');
\echo :LAST_ERROR_SQLSTATE
SELECT fsbench.acknowledge(1015, 'the new kernel');
SELECT run_id, note, acknowledged_by = current_user FROM fsbench.acknowledgement;
-- One bad night is no error. It is too late to repeat it.
SELECT state, segment, run_id, round(value::numeric, 1), round(expected::numeric, 1), says FROM fsbench.check_history('stored nights');
SELECT state, says FROM fsbench.check_history('stored nights', worse_by => 0.5);
SELECT state, says FROM fsbench.check_history('stored nights', 'latency_p99_ms');
-- Two more runs in the same night, as good as ever: their median is its value. Two as bad: it stays suspect.
BEGIN;
INSERT INTO fsbench.run_log (run_id, status, target, workload, scale, label, asked, used, requested_by, requested_at, tps, target_definition)
SELECT 1200 + n, 'done', 'xfs', 'tpcb', 10, 'stored nights', '{}', '{}', 'x', now() - interval '8 hours' + n * interval '10 min', 1100, '{"filesystem": "xfs"}' FROM generate_series(1, 2) n;
SELECT state, segment, says FROM fsbench.check_history('stored nights') WHERE segment = 2;
UPDATE fsbench.run_log SET tps = 880 WHERE run_id > 1200;
SELECT state, segment, says FROM fsbench.check_history('stored nights') WHERE segment = 2;
-- Repeats that have failed repeat nothing.
UPDATE fsbench.run_log SET status = 'failed' WHERE run_id > 1200;
SELECT state, segment, says FROM fsbench.check_history('stored nights') WHERE segment = 2;
ROLLBACK;
-- Runs that never stop, one every three hours: a night is six hours, and the last good run is not missing as long as it comes.
BEGIN;
INSERT INTO fsbench.run_log (run_id, status, target, workload, scale, label, asked, used, requested_by, requested_at, tps, target_definition)
SELECT 1300 + n, 'done', 'xfs', 'tpcb', 10, 'all day', '{}', '{}', 'x', now() - (41 - n) * interval '3 hours', 1000, '{"filesystem": "xfs"}' FROM generate_series(1, 40) n;
SELECT count(*), min(runs), max(runs) FROM fsbench.history('all day');
SELECT state, run_id, says FROM fsbench.check_history('all day', due => '4 hours');
UPDATE fsbench.run_log SET status = 'failed' WHERE run_id > 1330;
\set VERBOSITY terse
SELECT state, says FROM fsbench.check_history('all day', due => '4 hours');
\set VERBOSITY default
ROLLBACK;
-- A run that is dated in the future, as by a wrong clock, does not end the others.
BEGIN;
INSERT INTO fsbench.run_log (run_id, status, target, workload, scale, label, asked, used, requested_by, requested_at, tps, target_definition)
VALUES (1250, 'done', 'btrfs', 'tpcb', 10, 'stored nights', '{}', '{}', 'x', now() + interval '10 days', 500, '{"filesystem": "btrfs"}');
SELECT state, segment FROM fsbench.check_history('stored nights');
ROLLBACK;
-- A run that is not to be used is no good one, and none at all is missed.
BEGIN;
INSERT INTO fsbench.finding (run_id, code, severity, message) SELECT run_id, 'x', 'invalid', 'x' FROM fsbench.run_log WHERE run_id IN (1019, 1020, 1119, 1120);
SELECT count(*) FROM fsbench.history('stored nights') WHERE status = 'missing';
SELECT state, segment, run_id, says FROM fsbench.check_history('stored nights', due => '30 years');
\set VERBOSITY terse
SELECT * FROM fsbench.check_history('stored nights');
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;
\set VERBOSITY default

-- Seconds of old runs are forgotten; what they came to is not.
BEGIN;
DELETE FROM fsbench.sample;
DELETE FROM fsbench.wait_event;
UPDATE fsbench.run_log SET ended_at = requested_at + interval '1 hour' WHERE label = 'stored nights';
INSERT INTO fsbench.sample (run_id, second, interval_ms) SELECT r.run_id, s, 1000 FROM fsbench.run_log r, generate_series(0, 9) s WHERE label = 'stored nights';
INSERT INTO fsbench.wait_event SELECT r.run_id, 0, 'CPU', 'CPU', 1 FROM fsbench.run_log r WHERE label = 'stored nights';
SELECT runs, seconds, waits, bytes > 0, removed FROM fsbench.thin('10 days', only_say => true);
SELECT runs, seconds, waits, bytes > 0, removed FROM fsbench.thin('10 days');
SELECT runs, seconds, waits, bytes, removed FROM fsbench.thin('10 days');
SELECT count(DISTINCT run_id), count(*), (SELECT count(*) FROM fsbench.wait_event), (SELECT count(*) FROM fsbench.history('stored nights')) FROM fsbench.sample;
ROLLBACK;

-- Wrong input.
SELECT * FROM fsbench.thin('-1 day');
SELECT * FROM fsbench.history(NULL);
SELECT * FROM fsbench.history('no such label');
SELECT * FROM fsbench.history('stored nights', 'stall_seconds');
SELECT * FROM fsbench.check_history('stored nights', worse_by => 0);
SELECT * FROM fsbench.check_history('stored nights', worse_by => 'NaN');
SELECT * FROM fsbench.check_history('stored nights', due => '-1 day');
SELECT fsbench.acknowledge(99999);
SELECT fsbench.acknowledge(NULL);
DELETE FROM fsbench.run_log WHERE label = 'stored nights';
SELECT count(*) FROM fsbench.acknowledgement;
