-- Charts in psql, of stored figures.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

INSERT INTO fsbench.run_log (run_id, status, target, workload, asked, used, requested_by)
VALUES (101, 'done', 'ext4', 'tpcb', '{}', '{}', 'x'), (102, 'done', 'xfs', 'scan', '{}', '{}', 'x'), (103, 'failed', 'xfs', 'tpcb', '{}', '{}', 'x'),
       (104, 'done', 'xfs', 'tpcb', '{}', '{}', 'x');
-- A stall at second 20, a checkpoint from 5 to 12 and one that goes on after the end; second 31 belongs to the one before.
INSERT INTO fsbench.sample (run_id, second, interval_ms, transactions, latency_p99_ms)
SELECT 101, s, CASE s WHEN 30 THEN 2000 ELSE 1000 END, CASE s WHEN 20 THEN 10 WHEN 30 THEN 2400 ELSE 1000 + 20 * s END, CASE WHEN s <> 20 THEN s / 10.0 END
FROM generate_series(0, 33) s WHERE s <> 31;
INSERT INTO fsbench.checkpoint (run_id, number, kind, started_at, start_second, end_second, started_before, ended_after)
VALUES (101, 1, 'checkpoint', 'epoch', 5, 12, false, false), (101, 2, 'checkpoint', 'epoch', 30, NULL, false, true);
INSERT INTO fsbench.sample (run_id, second, interval_ms, transactions) SELECT 104, s, 1000, 500 + s % 100 FROM generate_series(0, 1799) s;
INSERT INTO fsbench.scan (run_id, scan, degree, repeat, started_at, workers_planned, workers_launched, used, ms, planning_ms, rows, bytes,
    buffers_hit, buffers_read, worker_buffers, leader_buffers)
SELECT 102, row_number() OVER (), degree, repeat, 'epoch', degree, degree, degree <> 8 OR repeat > 1, ms + repeat, 0, 1, 1e9, 0, 0, '{}', 0
FROM (VALUES (1, 1000), (2, 510), (4, 300), (8, 299)) d (degree, ms), generate_series(1, 3) repeat;

SELECT fsbench.chart(101, ascii => true);
SELECT fsbench.chart(101, 'latency_p99_ms', width => 60, height => 4, ascii => true);
SELECT fsbench.chart(104, width => 60, height => 4, ascii => true);
-- Blocks where the client has them.
SET client_encoding = 'UTF8';
SELECT max(octet_length(c) - length(c)) > 0 AS blocks FROM fsbench.chart(101) c;
SET client_encoding = 'SQL_ASCII';
SELECT max(octet_length(c) - length(c)) AS blocks FROM fsbench.chart(101) c;
RESET client_encoding;

-- An experiment of stored figures, three blocks.
SELECT fsbench.create_target(name, directory => '/tmp') FROM unnest('{ext4,xfs,btrfs,ext2}'::text[]) AS name;
SELECT fsbench.experiment(name, '{ext4,xfs,btrfs,ext2}', baseline => baseline, seed => 7, scale => 1, clients => 1, transactions => 10, start => false) > 0
FROM (VALUES ('charted', 'ext4'), ('charted best', NULL)) AS e (name, baseline);
SELECT fsbench.chart_experiment('charted');
INSERT INTO fsbench.run_log (run_id, status, target, workload, asked, used, requested_by, tps, transactions_total, measured_ms)
SELECT 110 + 4 * block + number, 'done', (ARRAY['ext4', 'xfs', 'btrfs', 'ext2'])[number + 1], 'tpcb', '{}', '{}', 'x',
       (ARRAY[1000, 1100, 640, 1010])[number + 1] * (1 + 0.004 * (block * number % 3)), 1, 1
FROM generate_series(0, 2) block, generate_series(0, 3) number;
INSERT INTO fsbench.environment (run_id, filesystem, durability, durability_codes)
SELECT run_id, target, CASE target WHEN 'ext2' THEN 'not durable: barriers off' ELSE 'durable' END, CASE target WHEN 'ext2' THEN '[{"code": "barriers_off"}]' ELSE '[]' END::jsonb FROM fsbench.run_log WHERE run_id BETWEEN 110 AND 121;
INSERT INTO fsbench.experiment_run (experiment_id, block, position, target_number, attempt, run_id, outcome)
SELECT e.experiment_id, (r.run_id - 110) / 4 + 1, (r.run_id - 110) % 4 + 1, (r.run_id - 110) % 4, 1, r.run_id, 'measured'
FROM fsbench.experiment e, fsbench.run_log r WHERE r.run_id BETWEEN 110 AND 121;
UPDATE fsbench.experiment SET status = 'done', too_short = false;
UPDATE fsbench.run_log SET target_definition = jsonb_build_object('kind', 'directory', 'directory', '/mnt/' || target) WHERE run_id BETWEEN 110 AND 121;
SELECT fsbench.chart_experiment('charted', ascii => true);
SELECT fsbench.chart_experiment('charted best', width => 60, ascii => true);
SELECT max(octet_length(c) - length(c)) > 0 AS blocks FROM fsbench.chart_experiment('charted', ascii => false) c;
-- The views that charts are drawn from.
SELECT target, round(ratio::numeric, 2), round(low::numeric, 2), round(high::numeric, 2), round(margin_low::numeric, 3), round(margin_high::numeric, 3), verdict
FROM fsbench.chart_verdict WHERE experiment = 'charted' ORDER BY target;
SELECT target, block, position, run_id, counts, round(value::numeric, 1), round(ratio::numeric, 3) FROM fsbench.chart_block WHERE experiment = 'charted best' ORDER BY run_id LIMIT 4;
SELECT target, runs, run_ids, metric_median, durability, filesystem FROM fsbench.chart_target WHERE experiment = 'charted' ORDER BY target;
SELECT count(*), count(tps), sum(stalled::integer), min(second) FILTER (WHERE stalled) FROM fsbench.chart_second WHERE run_id = 101;
SELECT number, kind, from_second, to_second FROM fsbench.chart_checkpoint WHERE run_id = 101 ORDER BY number;
SELECT degree, round(lowest_gb_per_second::numeric, 2), round(gb_per_second::numeric, 2), round(highest_gb_per_second::numeric, 2), repeats, is_knee FROM fsbench.chart_scan_speed WHERE run_id = 102 ORDER BY degree;
INSERT INTO fsbench.histogram (run_id, transaction, measure, transactions, sum_ms, sum_squares_ms, min_ms, max_ms, buckets, counts)
VALUES (101, 'tpcb', 'latency', 10000, 1, 1, 1, 20, '{560,620}', '{9900,100}'), (101, 'tpcb', 'commit', 9999, 1, 1, 1, 9, '{560}', '{9999}');
SELECT measure, percentile, round(ms::numeric, 2) FROM fsbench.chart_latency WHERE run_id = 101 AND percentile >= 99 ORDER BY 1, 2;
INSERT INTO fsbench.wait_event VALUES (101, 0, 'CPU', 'CPU', 30), (101, 0, 'IO', 'WALSync', 70);
SELECT second, wait, samples, round(percent::numeric, 1) FROM fsbench.chart_wait WHERE run_id = 101 ORDER BY wait;

-- Wrong input.
\pset tuples_only off
SELECT fsbench.chart(9999);
SELECT fsbench.chart(101, 'tsp');
SELECT fsbench.chart(101, 'second');
SELECT fsbench.chart(101, width => 20);
SELECT fsbench.chart(101, height => 1000);
SELECT fsbench.chart(NULL);
SELECT fsbench.chart(102);
SELECT fsbench.chart(103);
SELECT fsbench.chart(101, 'commit_p99_ms');
SELECT fsbench.chart_experiment('nothing');
SELECT fsbench.chart_experiment(NULL);
SELECT fsbench.chart_experiment('charted', width => 20);
SELECT fsbench._draw('{"bars": 1}', 80, 8, true);
SELECT fsbench._draw(jsonb_build_array(repeat('x', 101000000)), 80, 8, true);
SELECT fsbench.drop_experiment(experiment) FROM fsbench.experiments WHERE experiment LIKE 'charted%';
SELECT fsbench.drop_target(name) FROM unnest('{ext4,xfs,btrfs,ext2}'::text[]) AS name;
DELETE FROM fsbench.run_log WHERE run_id BETWEEN 101 AND 121;
