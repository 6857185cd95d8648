-- Calls that need pgfsbench-helper, where there is none; with one: tests/it/helper.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SELECT fsbench.create_target('made', filesystem => 'ext4', image_size => '64MB') \gset
SELECT fsbench.create_target('there', directory => '/tmp', settings => '{"wal_compression": "on"}') \gset

-- Plans of what needs no helper.
SELECT step, who, action FROM fsbench.plan('default');
SELECT step, who, action FROM fsbench.plan('there', scale => 1, options => '{"fillfactor": 77}');
SELECT step, who, action FROM fsbench.plan('there', 'scan', options => '{"cache": "cold", "unlogged": true}');
SELECT step, who, action, command FROM fsbench.plan(workload => 'fsync');
SELECT action, command FROM fsbench.plan('default', 'commit', transactions => 10, keep => true);
SELECT command LIKE '%/initdb --auth=peer --encoding=UTF8 --locale=C --no-sync --no-clean --data-checksums --wal-segsize=16 --username=% -D /tmp/pgfsbench-<random>/data'
FROM fsbench.plan('there', options => '{"data": "loaded"}') WHERE action = 'initdb';
SELECT unnest(regexp_matches(command, '^(?:wal_compression|listen_addresses|shared_preload_libraries) = .*$', 'gn'))
FROM fsbench.plan('there', options => '{"data": "loaded"}') WHERE action = 'write settings';
SELECT step, who, action FROM fsbench.plan('there', options => '{"crash": true, "data": "loaded"}');
SELECT action FROM fsbench.plan('there', options => '{"maintenance": true, "cache": "cold"}') WHERE action IN ('maintain', 'forget the data');
SELECT string_agg(action, ', ' ORDER BY step) FROM fsbench.plan(scale => 1, clients => 2, duration => '1 s', warmup => '0', rate => 10, latency_limit_ms => 5,
    seed => 1, settings => '{"work_mem": "7MB"}', label => 'x', force => true);
-- Arguments that a run would refuse.
SELECT * FROM fsbench.plan(workload => 'nothing');
SELECT * FROM fsbench.plan(workload => 'fsync', scale => 1);
SELECT * FROM fsbench.plan('default', options => '{"crash": true}');
SELECT * FROM fsbench.plan('there', options => '{"crash": 1}');

-- Targets that the helper does not make.
SELECT * FROM fsbench.plan('nowhere');
SELECT * FROM fsbench.plan(NULL);
SELECT * FROM fsbench.prepare_target('there');
SELECT * FROM fsbench.prepare_target('default');
SELECT * FROM fsbench.prepare_target('nowhere');
SELECT * FROM fsbench.prepare_target(NULL);
SELECT fsbench.release_target('there');

-- Changes that are not committed yet cannot be prepared, nor is a target prepared twice.
BEGIN;
SELECT fsbench.create_target('new', filesystem => 'ext4', image_size => '64MB') \gset
SELECT * FROM fsbench.prepare_target('new');
ROLLBACK;

-- Without a helper.
SELECT * FROM fsbench.prepare_target('made');
SELECT target, action, request, status, error, ended_at >= requested_at, started_at FROM fsbench.helper_job;
DELETE FROM fsbench.helper_job;
SELECT count(*) FROM fsbench.helper_description;
INSERT INTO fsbench.helper_description VALUES (false, 'infinity', '', '{}');

-- The doctor works all the same.
SELECT item, state FROM fsbench.doctor() WHERE subject = 'helper';
SELECT item FROM fsbench.doctor() WHERE subject = 'filesystem';
SELECT item, state FROM fsbench.doctor() WHERE item IN ('preload', 'extension', 'archiving', 'fsync', 'worker slots',
    'log_checkpoints', 'autovacuum', 'checkpoints', 'old transactions', 'kind');
SELECT count(*) FROM fsbench.doctor()
WHERE state NOT IN ('ok', 'info', 'warning', 'missing') OR (state = 'ok') <> (hint IS NULL) OR detail IS NULL;

-- Devices that the helper's configuration does not name are not used.
SELECT count(*) FROM fsbench.device WHERE usable OR why_not NOT LIKE 'the helper has not told yet whether its configuration names it%'
  OR (hint IS NULL) <> (why_not LIKE '%, and %') OR path NOT LIKE '/dev/%' OR node NOT LIKE '/dev/%' OR size_bytes <= 0;
-- One that the helper has seen, as it told: what is to be erased is named beforehand.
INSERT INTO fsbench.helper_description (seen_at, helper_version, description) VALUES (now(), '0', '{"devices": [
    {"path": "/dev/disk/by-id/ata-X_SN1", "node": "/dev/sdx", "model": "Model X", "serial": "SN1", "wwn": "0x5000", "bytes": 1000204886016,
     "contents": "ext4, label \"old\"", "usable": true}]}');
SELECT count(*) FROM fsbench.device WHERE NOT usable AND why_not NOT LIKE 'the helper''s configuration does not name it%';
SELECT path, model, serial, size_bytes, contents, usable, why_not, wwn, node FROM fsbench.device WHERE node = '/dev/sdx';
SELECT fsbench.create_target('disk', filesystem => 'xfs', device => '/dev/disk/by-id/ata-X_SN1');
SELECT device_identity FROM fsbench.target WHERE target = 'disk';
SELECT fsbench.start(target => 'disk', workload => 'scan', size => '970GB', options => '{"cache": "cold"}');
DELETE FROM fsbench.helper_description;
SELECT fsbench.drop_target('disk');
SELECT fsbench.drop_target('made'), fsbench.drop_target('there');
