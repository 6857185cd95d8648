-- Results hang on the name of a target, and its definition can change: what was defined anew is another one.
SET client_min_messages = warning;
SELECT run_id FROM fsbench.run(scale => 1, clients => 1, transactions => 20, seed => 1) \gset
RESET client_min_messages;
SELECT target, target_name, target_version, target_definition, length(target_fingerprint) AS fingerprint FROM fsbench.result WHERE run_id = :run_id;

BEGIN;
-- A result of a target, as it is now.
CREATE FUNCTION pg_temp.measure(name text, state text DEFAULT 'done') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    id bigint;
BEGIN
    INSERT INTO fsbench.run_log (status, target, workload, asked, used, requested_by, target_definition, tps)
    SELECT state, name, 'tpcb', '{}', '{}', 'somebody', fsbench._definition(t), 1000 FROM fsbench.target t WHERE t.target = name RETURNING run_id INTO id;
    UPDATE fsbench.run_log r SET target_version = (SELECT version FROM fsbench._results_of(r.target, r.target_definition, r.run_id))
    WHERE r.run_id = id AND status = 'done';
    RETURN (SELECT concat_ws(' ', target, target_version) FROM fsbench.result WHERE run_id = id);
END
$$;
SELECT fsbench.create_target('anew', filesystem => 'xfs', image_size => '1GB', mount_options => 'noatime');
-- Nothing hangs on it yet.
SELECT fsbench.alter_target('anew', mount_options => 'noatime,logbufs=8');
SELECT pg_temp.measure('anew'), pg_temp.measure('anew');
-- An unchanged definition is not announced.
SELECT fsbench.alter_target('anew', filesystem => 'xfs', image_size => '1024MB');
SELECT fsbench.alter_target('anew', filesystem => 'ext4', reset => '{mount_options}');
-- A failed run has no result, so a change after it makes no other target.
SELECT pg_temp.measure('anew', 'failed');
SELECT fsbench.alter_target('anew', mkfs_options => '-b 4096');
SELECT pg_temp.measure('anew');
SELECT fsbench.alter_target('anew', settings => '{"wal_compression": "on"}');
SELECT fsbench.alter_target('anew', reset => '{settings}');
SELECT fsbench.alter_target('anew', filesystem => 'xfs', mount_options => 'noatime,logbufs=8', reset => '{mkfs_options}');
SELECT pg_temp.measure('anew');
-- Dropped and created again: by its definition, too.
SELECT fsbench.drop_target('anew');
SELECT fsbench.create_target('anew', filesystem => 'ext4', image_size => '1GB', mkfs_options => '-b 4096');
SELECT pg_temp.measure('anew');
SELECT fsbench.drop_target('anew');
SELECT fsbench.create_target('anew', filesystem => 'btrfs', image_size => '1GB');
SELECT pg_temp.measure('anew');
SELECT target, target_name, target_version, count(*), target_definition FROM fsbench.result WHERE target_name = 'anew' GROUP BY 1, 2, 3, 5 ORDER BY 3;
-- Another name for the same has the same fingerprint.
SELECT fsbench.create_target('alike', filesystem => 'btrfs', image_size => '1GB');
SELECT pg_temp.measure('alike');
SELECT count(*), count(DISTINCT target_fingerprint) FROM fsbench.result WHERE target IN ('alike', 'anew#3');
-- No target has such a name.
SAVEPOINT refused;
SELECT fsbench.start(target => 'anew#2');
ROLLBACK TO refused;

-- The first run finds the marks of a device; another device in its place is another target.
SELECT fsbench.create_target('disk', filesystem => 'xfs', device => '/dev/disk/by-id/none');
SELECT pg_temp.measure('disk');
UPDATE fsbench.target SET device_identity = '{"serial": "A", "bytes": 8}' WHERE target = 'disk';
SELECT pg_temp.measure('disk');
UPDATE fsbench.target SET device_identity = '{"serial": "B", "bytes": 8}' WHERE target = 'disk';
SELECT pg_temp.measure('disk');
UPDATE fsbench.target SET device_identity = '{"serial": "A", "bytes": 8, "wwn": "w"}' WHERE target = 'disk';
SELECT pg_temp.measure('disk');
-- Numbers stay when results are deleted.
DELETE FROM fsbench.run_log WHERE target = 'disk' AND target_version = 1;
SELECT pg_temp.measure('disk');
SELECT a.name, b.name, fsbench._same_definition(a.definition, b.definition) AS same
FROM (VALUES (1, 'none', '{}'::jsonb), (2, 'log A', '{"log_device_identity": {"serial": "A"}}'), (3, 'log B', '{"log_device_identity": {"serial": "B"}}')) a (n, name, definition),
     (VALUES (1, 'none', '{}'::jsonb), (2, 'log A', '{"log_device_identity": {"serial": "A"}}'), (3, 'log B', '{"log_device_identity": {"serial": "B"}}')) b (n, name, definition)
WHERE a.n <= b.n ORDER BY a.n, b.n;
ROLLBACK;
