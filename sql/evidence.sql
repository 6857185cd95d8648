-- Evidence of a run about its storage, by stored figures.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;
INSERT INTO fsbench.run_log (run_id, status, target, workload, asked, used, requested_by, measured_from, measured_ms, tps, stall_seconds, commit_p50_ms, commit_p99_ms, commit_max_ms)
VALUES (130, 'done', 'xfs', 'tpcb', '{}', '{}', 'x', '2026-01-10 23:59:50+00', 30000, 990, 2, 0.4, 3.1, 950), (131, 'failed', 'xfs', 'tpcb', '{}', '{}', 'x', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO fsbench.environment (run_id, kernel, filesystem, device, mount_point, mount_options, device_model, write_cache, io_scheduler, nr_requests, server_version, vm, storage, layers, hostname)
VALUES (130, 'Linux 6.1.0', 'xfs', '/dev/mapper/data', '/srv', 'rw,noatime', 'Maker Disk 9', 'write back', 'none', 1023, 'PostgreSQL 15.20',
        '{"dirty_ratio": 20, "swappiness": 60}', '{"result": {"wwn": "eui.0025", "serial": "S-1"}}',
        '[{"kind": "lvm", "name": "data", "device": "253:0", "bytes": 107374182400}, {"kind": "disk", "name": "nvme0n1", "device": "259:0", "wwn": "eui.0025", "serial": "S-1", "queue": {"scheduler": "none"}}]', 'secret');
INSERT INTO fsbench.sample (run_id, second, interval_ms, transactions, device_reads, device_writes, device_flushes, device_read_bytes, device_write_bytes, device_w_await_ms, device_f_await_ms,
    device_aqu_sz, device_util_percent)
SELECT 130, s, 1000, CASE WHEN s IN (12, 13) THEN 5 ELSE 1000 END, 1, CASE WHEN s IN (12, 13) THEN 10 ELSE 2000 END, CASE WHEN s IN (12, 13) THEN 2 ELSE 900 END, 4096, 2e7, 0.2,
       CASE WHEN s IN (12, 13) THEN 480 ELSE 0.4 END, 3, 60 FROM generate_series(0, 29) s;
SELECT * FROM fsbench.evidence(130);
-- Whether the flushes can be real, in a sentence.
UPDATE fsbench.run_log SET facts = '{"flush": {"before_us": 412.34, "after_us": 398}}', client_wal_syncs = 25000, device_flushes = 25204, wal_bytes = 80000000, device_write_bytes = 600000000 WHERE run_id = 130;
UPDATE fsbench.environment SET durability = 'durable by settings (not tried)', durability_codes = '[]' WHERE run_id = 130;
SELECT says FROM fsbench.evidence(130) WHERE part = 'fsync';
UPDATE fsbench.environment SET durability = 'not known: a flush is too short for any device', durability_codes = '[{"code": "flush_too_fast", "us": 1.2, "device": "any"}]' WHERE run_id = 130;
SELECT says FROM fsbench.evidence(130) WHERE part = 'fsync';
UPDATE fsbench.environment SET durability = 'not durable: fsync off, tmpfs is in memory', durability_codes = '[{"code": "fsync_off"}, {"code": "in_memory", "what": "tmpfs"}]' WHERE run_id = 130;
SELECT says FROM fsbench.evidence(130) WHERE part = 'fsync';
-- A second in which the sampler stood still is as long as it was; and WAL has its device.
UPDATE fsbench.sample SET interval_ms = 2000 WHERE run_id = 130 AND second IN (12, 13);
UPDATE fsbench.sample SET wal_device_writes = 100, wal_device_flushes = 50, wal_device_f_await_ms = second + 1 WHERE run_id = 130;
SELECT * FROM fsbench.evidence(130) WHERE part ~ '^(stall|flushes|whole)';

-- The container and its limits.
UPDATE fsbench.environment SET container = 'docker', limits = '{"memory_bytes": 2147483648, "processors": 1, "io": [{"device": "254:0", "name": "vda", "write_bytes": 62914560}]}' WHERE run_id = 130;
SELECT says FROM fsbench.evidence(130) WHERE part = 'configuration' AND says ~ 'container';
UPDATE fsbench.environment SET container = 'none', limits = '{"io": 5}' WHERE run_id = 130;
SELECT says FROM fsbench.evidence(130) WHERE part = 'configuration' AND says ~ 'container|cgroup';

-- Wrong input.
SELECT * FROM fsbench.evidence(131);
SELECT * FROM fsbench.evidence(9999);
SELECT * FROM fsbench.evidence(NULL);
DELETE FROM fsbench.run_log WHERE run_id IN (130, 131);
