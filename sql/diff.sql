-- Differences between two runs.
SET client_min_messages = warning;
SELECT run_id AS a FROM fsbench.run(scale => 1, clients => 1, transactions => 20, seed => 1, label => 'a') \gset
SELECT run_id AS b FROM fsbench.run(scale => 1, clients => 1, transactions => 20, seed => 1, label => 'b') \gset
SELECT run_id AS c FROM fsbench.run(scale => 2, clients => 2, transactions => 20, seed => 2, settings => '{"synchronous_commit": "off", "work_mem": "5MB"}') \gset
RESET client_min_messages;

-- Nothing but what the machine does by itself.
SELECT * FROM fsbench.diff(:a, :b) WHERE matters <> 'hardly' AND name NOT LIKE 'cpu_mhz%';
SELECT * FROM fsbench.diff(:a, :c) WHERE area = 'parameters';
SELECT count(*) FROM (SELECT name, a, b FROM fsbench.diff(:a, :c) EXCEPT SELECT name, b, a FROM fsbench.diff(:c, :a)) d;

-- At full speed a latency mirrors tps where its ratio is that of tps turned over.
BEGIN;
UPDATE fsbench.run_log SET (tps, latency_p50_ms, latency_p99_ms) = (100, 10, 20) WHERE run_id = :a;
UPDATE fsbench.run_log SET (tps, latency_p50_ms, latency_p99_ms) = (200, 5.1, 80) WHERE run_id = :b;
SELECT metric, says LIKE '%mirrors tps' AS mirrors FROM fsbench.compare_runs(:a, :b) WHERE metric ~ '^(tps|latency_p.*)$';
UPDATE fsbench.run_log SET latency_p50_ms = 9 WHERE run_id = :b;
SELECT metric, says LIKE '%mirrors tps' AS mirrors FROM fsbench.compare_runs(:a, :b) WHERE metric = 'latency_p50_ms';
ROLLBACK;

-- Another target, disk, kernel, server and host.
BEGIN;
UPDATE fsbench.environment SET (filesystem, mount_options, mount_point, device, device_model, kernel, hostname, host_fingerprint, durability, settings, wal_st_dev,
    layers, vm, io_scheduler, server_version)
  = ('ext4', 'rw,relatime', '/a', '/dev/sda1', 'SSD', 'Linux 6.1', 'here', 'aa', 'durable by settings (not tried)', '{}', st_dev,
     '[{"kind": "partition"}, {"kind": "disk", "model": "SSD"}]', '{"dirty_ratio": 20}', 'none', 'PostgreSQL 15.4') WHERE run_id = :a;
UPDATE fsbench.environment SET (filesystem, mount_options, mount_point, device, device_model, kernel, hostname, host_fingerprint, durability, settings, wal_st_dev,
    layers, vm, io_scheduler, server_version)
  = ('xfs', 'rw,noatime,logbsize=32k', '/b', '/dev/loop0', NULL, 'Linux 6.6', 'there', 'bb', 'not durable: fsync off', '{"fsync": {"setting": "off", "source": "command line"}}', st_dev,
     '[{"kind": "loop", "direct_io": false}, {"kind": "filesystem", "name": "ext4 on /"}, {"kind": "disk"}]', '{"dirty_ratio": 40}', 'none', 'PostgreSQL 17.1') WHERE run_id = :b;
UPDATE fsbench.run_log SET target = 'there', target_definition = '{"kind": "image", "filesystem": "xfs", "mount_options": "noatime"}', target_version = 2 WHERE run_id = :b;
SELECT * FROM fsbench.diff(:a, :b) WHERE name NOT LIKE 'cpu_mhz%';
-- A run that has failed has no known facts but its arguments.
UPDATE fsbench.run_log SET status = 'failed' WHERE run_id = :c;
DELETE FROM fsbench.environment WHERE run_id = :c;
SELECT area, name, a, b, matters FROM fsbench.diff(:a, :c);
SELECT area, name, a, b, matters, why FROM fsbench.diff(:c, :a) WHERE area = 'run';
ROLLBACK;

SELECT fsbench.diff(0, 1000000000);
SELECT fsbench.diff(7, 7);
SELECT count(*) FROM fsbench.diff(NULL, 1);
