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
VALUES (101, 1, 'timed', 'epoch', 5, 12, false, false), (101, 2, 'timed', 'epoch', 30, NULL, false, true);
INSERT INTO fsbench.sample (run_id, second, interval_ms, transactions) SELECT 104, s, 1000, 500 + s % 100 FROM generate_series(0, 1799) s;
INSERT INTO fsbench.scan (run_id, scan, degree, repeat, started_at, workers_planned, workers_launched, used, ms, planning_ms, rows, bytes,
    buffers_hit, buffers_read, worker_buffers, leader_buffers)
SELECT 102, row_number() OVER (), degree, repeat, 'epoch', degree, degree, degree <> 8 OR repeat > 1, ms + repeat, 0, 1, 1e9, 0, 0, '{}', 0
FROM (VALUES (1, 1000), (2, 510), (4, 300), (8, 299)) d (degree, ms), generate_series(1, 3) repeat;

SELECT fsbench.chart(101, ascii => true);
SELECT fsbench.chart(101, 'latency_p99_ms', width => 60, height => 4, ascii => true);
SELECT fsbench.chart(104, width => 60, height => 4, ascii => true);
SELECT fsbench.chart_scan(102, ascii => true);
-- Blocks where the client has them.
SET client_encoding = 'UTF8';
SELECT max(octet_length(c) - length(c)) > 0 AS blocks FROM fsbench.chart(101) c;
SET client_encoding = 'SQL_ASCII';
SELECT max(octet_length(c) - length(c)) AS blocks FROM fsbench.chart(101) c;
RESET client_encoding;

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
SELECT fsbench.chart_scan(101);
SELECT fsbench.chart_scan(9999);
SELECT fsbench.chart_scan(NULL);
SELECT fsbench._draw('{"bars": 1}', 80, 8, true);
DELETE FROM fsbench.run_log WHERE run_id BETWEEN 101 AND 104;
