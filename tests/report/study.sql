-- A study that was repeated: heron-2010 on an image, as if both experiments of its part had been made, four blocks each. A kernel without reiserfs and jfs.
SET client_min_messages = warning;
SELECT fsbench.create_target('heron-2010.' || name, directory => '/tmp') FROM unnest('{xfs,ext2,ext3,ext4,xfs-tuned}'::text[]) AS name;
SELECT fsbench.experiment('heron-2010 ' || question, '{heron-2010.xfs,heron-2010.ext2,heron-2010.ext3,heron-2010.ext4,heron-2010.xfs-tuned}',
    baseline => 'heron-2010.xfs', seed => 7, scale => 32, clients => 32, transactions => 1000, start => false) FROM unnest('{published,cycles}'::text[]) AS question;
INSERT INTO fsbench.study (study, definition, asked, facts, requested_by, created_at)
SELECT study, definition, '{"study": "heron-2010", "image_size": "4GB", "start": true}',
       '{"kernel": "6.1.0", "server_version_num": 150020, "memory_bytes": 25276502016, "processors": 16, "max_wal_bytes": 1073741824, "reserved_bytes": 0,
         "missing": {"reiserfs": {"why": "this kernel has no reiserfs", "brings": "make lab STUDY=heron-2010"}, "jfs": {"why": "this kernel has no jfs", "brings": "make lab STUDY=heron-2010"}}}',
       'x', '2026-02-10 20:00:00+00'
FROM fsbench.study_definitions WHERE study = 'heron-2010';
INSERT INTO fsbench.study_experiment (study, question, experiment_id)
SELECT 'heron-2010', substr(experiment, 12), experiment_id FROM fsbench.experiment WHERE experiment LIKE 'heron-2010 %';
INSERT INTO fsbench.run_log (run_id, status, target, workload, scale, clients, transactions, asked, used, requested_by, requested_at, started_at, measured_from, ended_at,
    measured_ms, transactions_total, tps, latency_avg_ms, latency_max_ms, stall_seconds, target_definition)
SELECT 100 + 20 * q + 5 * b + n, 'done', 'heron-2010.' || t, 'tpcb', 32, 32, 1000, '{"scale": 32, "clients": 32}', '{}', 'x', at, at, at + interval '10 s', at + interval '80 s',
       60000, 60 * round(tps), tps, 32000 / tps, 400, 0, jsonb_build_object('kind', 'image', 'filesystem', t, 'image_size', '4GB')
FROM unnest('{xfs,ext2,ext3,ext4,xfs-tuned}'::text[]) WITH ORDINALITY t (t, i), LATERAL (SELECT i::integer - 1 AS n) n, generate_series(0, 3) b, generate_series(0, 1) q,
     LATERAL (SELECT timestamptz '2026-02-10 20:00:00+00' + q * interval '3 hours' + (5 * b + n) * interval '5 min' AS at,
              (ARRAY[1500, 1710, 800, 1490, 1540])[i] * (1 + 0.006 * sin(7 * b + 3 * n + q)) AS tps) v;
INSERT INTO fsbench.environment (run_id, pgfsbench_version, server_version, server_version_num, kernel, hostname, machine, virtualization, processors, processor_model,
    memory_bytes, durability, durability_codes, data_directory, filesystem, device, mount_point, mount_options, settings, device_model)
SELECT run_id, '0.3.0', 'PostgreSQL 15.20', 150020, 'Linux 6.1.0', 'db1.example', 'x86_64', 'kvm', 16, 'Some Processor', 25276502016, 'durable', '[]',
       '/srv/bench/data', rtrim(substr(target, 12), '-tuned'), '/dev/loop0', '/srv/bench', CASE WHEN target LIKE '%tuned' THEN 'rw,noatime,logbufs=8' ELSE 'rw' END,
       '{"fsync": "on"}', 'Maker Disk 9'
FROM fsbench.run_log WHERE run_id BETWEEN 100 AND 139;
INSERT INTO fsbench.finding (run_id, code, severity, message, hint, weight)
SELECT run_id, 'data_fits_ram', 'warning', 'data of 480 MB fits in RAM', 'Take a larger scale.', 300 FROM fsbench.run_log WHERE run_id BETWEEN 100 AND 139;
INSERT INTO fsbench.experiment_run (experiment_id, block, position, target_number, attempt, run_id, outcome, boot_id, planned_at)
SELECT e.experiment_id, (r.run_id - 100) % 20 / 5 + 1, (r.run_id - 100) % 5 + 1, (r.run_id - 100) % 5, 1, r.run_id, 'measured', 'boot', r.started_at
FROM fsbench.experiment e JOIN fsbench.run_log r ON r.run_id BETWEEN 100 AND 139 AND e.experiment = CASE WHEN r.run_id < 120 THEN 'heron-2010 published' ELSE 'heron-2010 cycles' END;
UPDATE fsbench.experiment SET status = 'done', too_short = false, started_at = '2026-02-10 20:00:00+00', ended_at = '2026-02-11 02:00:00+00' WHERE experiment LIKE 'heron-2010 %';
