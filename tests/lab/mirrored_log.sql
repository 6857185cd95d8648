-- In a guest of four disks: filesystems whose external log is an array of md over two of them, runs there, and what is left. Lines begin with "fact:".
\set QUIET on
\pset tuples_only on
\pset format unaligned
SET client_min_messages = warning;
SELECT fsbench.create_target('alone', filesystem => 'ext4', device => (:'devices'::text[])[1], log_devices => (:'devices'::text[])[3:4]) \g /dev/null
SELECT fsbench.create_target('striped', filesystem => 'xfs', layout => 'lvm-stripe', devices => (:'devices'::text[])[1:2],
    log_devices => (:'devices'::text[])[3:4]) \g /dev/null
-- A run begins when what the one before has made is removed. After a crash of the server the filesystem is mounted once more.
SELECT format('SELECT run_id FROM fsbench.run(target => %L, scale => 1, clients => 2, transactions => 50, seed => 1, options => ''{"wait_turn": true, "crash": true}'')', name)
FROM unnest('{alone,striped}'::text[]) AS name \gexec
-- In a slow guest, what was made is still being removed when the run has returned.
DO $$ BEGIN WHILE EXISTS (SELECT FROM fsbench.progress) LOOP PERFORM pg_sleep(0.1); END LOOP; END $$;
-- The guest's disks are files in memory, and its clock is coarse: a flush may be too short.
SELECT format('fact: %s %s on %s, log on %s of %s disks, degraded %s, external %s, %s', r.target, r.status, e.filesystem, a ->> 'level', a ->> 'raid_disks',
    a ->> 'degraded', e.geometry ->> 'log_is_external',
    (SELECT coalesce(string_agg(c ->> 'code', ' '), 'durable') FROM jsonb_array_elements(e.durability_codes) AS c WHERE c ->> 'code' <> 'flush_too_fast'))
FROM fsbench.run_log r JOIN fsbench.environment e USING (run_id), LATERAL (SELECT e.storage #> '{result,log,array}' AS a) AS s ORDER BY r.run_id;
SELECT format('fact: below the log of %s: %s', r.target, string_agg(layer ->> 'kind', ' ' ORDER BY place))
FROM fsbench.run_log r JOIN fsbench.environment e USING (run_id), jsonb_array_elements(e.storage -> 'log_layers') WITH ORDINALITY AS l (layer, place)
GROUP BY run_id, r.target ORDER BY run_id;
SELECT format('fact: below %s: %s', r.target, string_agg(layer ->> 'kind', ' ' ORDER BY place))
FROM fsbench.run_log r JOIN fsbench.environment e USING (run_id), jsonb_array_elements(e.layers) WITH ORDINALITY AS l (layer, place)
GROUP BY run_id, r.target ORDER BY run_id;
SELECT 'fact: finding ' || code || ' of ' || string_agg(r.target, ', ' ORDER BY run_id) FROM fsbench.finding JOIN fsbench.run_log r USING (run_id)
WHERE code ~ '^(raid|stripe|misaligned)' GROUP BY code ORDER BY code;
SELECT format('fact: %s %s times', action, count(*)) FROM fsbench.helper_job WHERE action = 'remount' AND status = 'done' GROUP BY action;
SELECT 'fact: ' || count(*) || ' waits for a sync' FROM fsbench.helper_job, jsonb_array_elements(steps) AS step
WHERE action = 'prepare' AND step ->> 'step' = 'await_sync' AND step ->> 'output' = 'in sync';
-- The superblock of each goes last, in a step of its own.
SELECT format('fact: %s members emptied', count(*) / 2) FROM fsbench.helper_job, jsonb_array_elements(steps) AS step WHERE action = 'release' AND step ->> 'step' = 'make_blank' AND step ->> 'output' = '';
SELECT 'fact: known devices of logs: ' || count(*) FROM fsbench.target WHERE jsonb_array_length(log_device_identity) = 2;
SELECT 'fact: ' || count(*) FILTER (WHERE usable) || ' of ' || count(*) || ' disks are usable again' FROM fsbench.describe_devices()
WHERE path = ANY (:'devices');
\! echo "fact: $(grep -c '^md' /proc/mdstat) arrays are left"
\! echo "fact: $(ls -d /sys/block/dm-* 2>/dev/null | wc -l) volumes are left"
