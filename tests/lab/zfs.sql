-- In a guest: pools of zfs that the helper makes over three disks, runs on them, and what is left of them. Lines begin with "fact:".
\set QUIET on
\pset tuples_only on
\pset format unaligned
SET client_min_messages = warning;
SELECT fsbench.create_target(layout, filesystem => 'zfs', devices => (:'devices'::text[])[1:members], layout => layout, dataset_properties => 'recordsize=8k')
FROM (VALUES ('zfs-stripe', 2), ('zfs-mirror', 2), ('zfs-raidz', 3)) AS t (layout, members) \g /dev/null
SELECT fsbench.create_target('plain', filesystem => 'zfs', device => (:'devices'::text[])[1]) \g /dev/null
SELECT fsbench.create_target('logged', filesystem => 'zfs', device => (:'devices'::text[])[1], log_devices => (:'devices'::text[])[2:3]) \g /dev/null
-- A run begins when the one before has been removed.
SELECT format('SELECT run_id FROM fsbench.run(target => %L, scale => 1, clients => 2, transactions => 50, seed => 1, options => ''{"wait_turn": true}'')', name)
FROM unnest('{plain,zfs-stripe,zfs-mirror,zfs-raidz,logged}'::text[]) AS name \gexec
-- In a slow guest, what was made is still being removed when the run has returned.
DO $$ BEGIN WHILE EXISTS (SELECT FROM fsbench.progress) LOOP PERFORM pg_sleep(0.1); END LOOP; END $$;
SELECT format('fact: %s %s on %s, recordsize %s, %s', r.target, r.status, e.filesystem, e.storage #>> '{result,properties,recordsize}', e.durability)
FROM fsbench.run_log r JOIN fsbench.environment e USING (run_id) ORDER BY r.run_id;
SELECT format('fact: below %s: %s', r.target, string_agg(layer ->> 'kind', ' ' ORDER BY place))
FROM fsbench.run_log r JOIN fsbench.environment e USING (run_id), jsonb_array_elements(e.layers) WITH ORDINALITY AS l (layer, place)
GROUP BY run_id, r.target ORDER BY run_id;
SELECT regexp_replace(command, '^\S*zpool create .* pgfsbench-\S+ ', 'fact: pool of ')
FROM fsbench.helper_log WHERE action = 'prepare' AND step = 'create_pool' ORDER BY job_id;
SELECT 'fact: ' || count(*) || ' pools destroyed' FROM fsbench.helper_job, jsonb_array_elements(steps) AS step
WHERE action = 'release' AND step ->> 'step' = 'destroy_pool' AND (step ->> 'exit_code')::int = 0;
SELECT 'fact: ' || count(*) FILTER (WHERE usable) || ' of ' || count(*) || ' disks are usable again' FROM fsbench.describe_devices()
WHERE path = ANY (:'devices');
\! echo "fact: $(zpool list -H 2> /dev/null | wc -l) pools are left"
