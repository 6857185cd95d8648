-- A run of scans, one of fsync, and a year's end of nights: stored figures for the charts that the experiment of figures.sql has not.
SET client_min_messages = warning;
INSERT INTO fsbench.run_log (run_id, status, target, workload, scale, clients, label, asked, used, requested_by, requested_at, started_at, measured_from, ended_at, measured_ms, tps,
    target_definition)
SELECT 300 + n, 'done', 'xfs', w, 1, 1, 'loose', '{}', '{}', 'x', at, at, at, at, 60000, NULL, '{"kind": "directory", "directory": "/srv/xfs"}'
FROM (VALUES (0, 'scan'), (1, 'fsync')) v (n, w), LATERAL (SELECT timestamptz '2026-01-11 20:00:00+00' + n * interval '1 hour' AS at) a;
INSERT INTO fsbench.scan (run_id, scan, degree, repeat, started_at, workers_planned, workers_launched, used, ms, planning_ms, rows, bytes, gb_per_second, buffers_hit, buffers_read,
    worker_buffers, leader_buffers)
SELECT 300, 5 * d.n + r, d.degree, r, '2026-01-11 20:00:00+00', d.degree, d.degree, true, d.ms * (1 + 0.002 * r), 1, 1000000, 8e9, 8e6 / (d.ms * (1 + 0.002 * r)), 0, 976563, '{}', 0
FROM (VALUES (0, 1, 4000), (1, 2, 2000), (2, 4, 1000), (3, 8, 990), (4, 16, 1000)) d (n, degree, ms), generate_series(1, 5) r;
INSERT INTO fsbench.fsync (run_id, method, writes, writers, position, block_bytes, direct, syncs, ops_per_second, latency_p50_ms, latency_p90_ms, latency_p99_ms, latency_max_ms, buckets, counts)
SELECT 301, m.method, 1, w, 4 * m.n + w, 8192, false, 5000, 1000 / m.ms, m.ms, 1.5 * m.ms, 3 * m.ms, 40 * m.ms, '{}', '{}'
FROM (VALUES (0, 'open_datasync', 0.4), (1, 'fdatasync', 0.41), (2, 'fsync', 0.8), (3, 'none', 0.004)) m (n, method, ms), generate_series(1, 2) w;
INSERT INTO fsbench.run_log (run_id, status, target, workload, scale, clients, label, asked, used, requested_by, requested_at, started_at, measured_from, ended_at, measured_ms, tps,
    target_definition)
SELECT 400 + n, CASE n WHEN 5 THEN 'failed' ELSE 'done' END, 'xfs', 'tpcb', 10, 8, 'weekly', '{}', '{}', 'x', at, at, at, at, 60000,
       1000 * (1 + 0.01 * sin(5 * n)) * CASE WHEN n > 14 THEN 0.8 ELSE 1 END, '{"kind": "directory", "directory": "/srv/xfs"}'
FROM generate_series(1, 24) n, LATERAL (SELECT timestamptz '2026-01-12 20:00:00+00' + n * interval '1 day' AS at) a;
INSERT INTO fsbench.environment (run_id, kernel, server_version, hostname, filesystem, durability, durability_codes, processors)
SELECT run_id, CASE WHEN run_id > 414 THEN 'Linux 6.2.0' ELSE 'Linux 6.1.0' END, CASE WHEN run_id > 407 THEN 'PostgreSQL 15.21' ELSE 'PostgreSQL 15.20' END, 'db1.example', 'xfs', 'durable', '[]', 16
FROM fsbench.run_log WHERE run_id >= 300;
