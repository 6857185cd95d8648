-- An experiment of twelve runs of 120 seconds, in four blocks, with everything that a page shows: stored figures, the same each time.
SET client_min_messages = warning;
SELECT fsbench.create_target(name, directory => '/tmp') FROM unnest('{ext4,xfs,btrfs}'::text[]) AS name;
SELECT fsbench.experiment('new server', '{ext4,xfs,btrfs}', baseline => 'ext4', seed => 7, scale => 10, clients => 8, transactions => 1000, start => false);
INSERT INTO fsbench.run_log (run_id, status, target, workload, scale, clients, transactions, asked, used, requested_by, requested_at, started_at, measured_from, ended_at,
    measured_ms, transactions_total, tps, latency_avg_ms, latency_p50_ms, latency_p99_ms, latency_max_ms, commit_p50_ms, commit_p99_ms, stall_seconds, zero_seconds,
    device_bytes_per_transaction, data_bytes, label, failed, skipped, late, complete_checkpoints, target_definition)
SELECT 200 + 3 * b + n, 'done', t, 'tpcb', 10, 8, 1000, '{"scale": 10, "clients": 8}', '{}', 'x', at, at, at + interval '10 s', at + interval '140 s',
       120000, 120 * round(tps), tps, 8000 / tps, 7500 / tps, 24000 / tps, 400 + 100 * n, 4000 / tps, 12000 / tps, n, 0,
       9000 + 4000 * n, 1.6e8, 'nightly', 0, NULL, NULL, 3, jsonb_build_object('kind', 'directory', 'directory', '/srv/' || t, 'settings', jsonb_build_object('max_wal_size', '4GB'))
FROM unnest('{ext4,xfs,btrfs}'::text[]) WITH ORDINALITY t (t, i), LATERAL (SELECT i::integer - 1 AS n) n, generate_series(0, 3) b,
     LATERAL (SELECT timestamptz '2026-01-10 20:00:00+00' + (3 * b + n) * interval '5 min' AS at,
              (ARRAY[1000, 1110, 640])[i] * (1 + 0.004 * sin(7 * b + 3 * n)) AS tps) v;
INSERT INTO fsbench.environment (run_id, pgfsbench_version, server_version, server_version_num, kernel, hostname, machine, virtualization, processors, processor_model,
    memory_bytes, shared_buffers_bytes, data_checksums, scope, durability, durability_codes, data_directory, filesystem, device, mount_point, mount_options, wal_filesystem, settings,
    write_cache, device_model, rotational, io_scheduler, layers)
SELECT run_id, '0.1.0', 'PostgreSQL 15.20', 150020, 'Linux 6.1.0', 'db1.example', 'x86_64', 'none', 16, 'Some Processor', 137438953472, 34359738368, false, 'data and WAL',
       CASE target WHEN 'btrfs' THEN 'not durable: barriers off' ELSE 'durable' END,
       CASE target WHEN 'btrfs' THEN '[{"code": "barriers_off"}]' ELSE '[]' END::jsonb, '/srv/bench/data', target, '/dev/nvme0n1p2', '/srv/bench', 'rw,noatime', target,
       '{"fsync": "on"}', 'write back', 'Maker Disk 9', false, 'none', '[{"depth": 0, "kind": "disk", "name": "nvme0n1", "serial": "S-123456", "wwn": "eui.0025"}]'
FROM fsbench.run_log WHERE run_id >= 200;
INSERT INTO fsbench.sample (run_id, second, interval_ms, transactions, latency_p50_ms, latency_p99_ms, commit_p99_ms, device_writes, device_reads, device_flushes, device_write_bytes, device_read_bytes,
    device_f_await_ms, device_w_await_ms, device_aqu_sz, device_util_percent, dirty_bytes, writeback_bytes, cpu_usr_percent, cpu_nice_percent, cpu_sys_percent, cpu_iowait_percent, cpu_steal_percent, cpu_idle_percent)
SELECT r.run_id, s, 1000, CASE WHEN r.target = 'btrfs' AND s = 70 THEN 3 ELSE r.tps * (1 + 0.1 * sin(s / 5.0) - CASE WHEN s % 40 > 30 THEN 0.3 ELSE 0 END) END,
       7500 / r.tps, 24000 / r.tps * (1 + 0.5 * (s % 40 > 30)::integer), 12000 / r.tps, 2000, 10, 900, 2e7, 1e5, 0.4 + 0.1 * sin(s), 0.2, 3, 60, 4e8 + 1e8 * sin(s / 9.0), 1e6, 40, 0, 20, 15, 0, 25
FROM fsbench.run_log r, generate_series(0, 119) s WHERE r.run_id >= 200;
INSERT INTO fsbench.checkpoint (run_id, number, kind, started_at, start_second, end_second, started_before, ended_after)
SELECT run_id, n, 'checkpoint', measured_from + n * interval '40 s', 40 * n - 10, 40 * n - 1, false, false FROM fsbench.run_log, generate_series(1, 3) n WHERE run_id >= 200;
INSERT INTO fsbench.histogram (run_id, transaction, measure, transactions, sum_ms, sum_squares_ms, min_ms, max_ms, buckets, counts)
SELECT r.run_id, 'tpcb', t.measure, 120000, 1, 1, 0.5, r.latency_max_ms, h.buckets, h.counts
FROM fsbench.run_log r, (VALUES ('latency', 0), ('commit', -32)) t (measure, shift),
     LATERAL (SELECT array_agg((700 + t.shift + b + 8 * (r.run_id % 3))::smallint ORDER BY b) AS buckets, array_agg((120000 * 0.08 * 0.92 ^ b)::bigint + 1 ORDER BY b) AS counts FROM generate_series(0, 150) b) h
WHERE r.run_id >= 200;
INSERT INTO fsbench.wait_event (run_id, second, wait_event_type, wait_event, samples)
SELECT r.run_id, s, w.type, w.event, w.samples + s % 7 FROM fsbench.run_log r, generate_series(0, 119) s,
     (VALUES ('CPU', 'CPU', 300), ('IO', 'WALSync', 350), ('Lock', 'transactionid', 100), ('LWLock', 'WALWrite', 50)) w (type, event, samples) WHERE r.run_id >= 200;
INSERT INTO fsbench.finding (run_id, code, severity, message, hint, weight)
SELECT run_id, 'stalls', 'warning', '1 second with under a tenth of the median', 'See fsbench.sample.', 400 FROM fsbench.run_log WHERE target = 'btrfs' AND run_id >= 200
UNION ALL SELECT run_id, 'data_fits_ram', 'warning', 'data of 160 MB fits in RAM', 'Take a larger scale.', 300 FROM fsbench.run_log WHERE run_id >= 200;
INSERT INTO fsbench.recovery (run_id, unmounted, recovery_ms, redo_ms, first_transaction_ms, wal_replayed_bytes, balances_verified)
SELECT run_id, true, 800 + 100 * (run_id % 5), 500, 1200 + 100 * (run_id % 5), 2e8, true FROM fsbench.run_log WHERE run_id >= 200;
INSERT INTO fsbench.experiment_run (experiment_id, block, position, target_number, attempt, run_id, outcome, boot_id, planned_at)
SELECT e.experiment_id, (r.run_id - 200) / 3 + 1, (r.run_id - 200) % 3 + 1, (r.run_id - 200) % 3, 1, r.run_id, 'measured', 'boot', r.started_at
FROM fsbench.experiment e, fsbench.run_log r WHERE e.experiment = 'new server' AND r.run_id >= 200;
UPDATE fsbench.experiment SET status = 'done', too_short = false, started_at = '2026-01-10 20:00:00+00', ended_at = '2026-01-10 21:00:00+00' WHERE experiment = 'new server';
