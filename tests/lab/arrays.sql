-- In a guest: arrays of md and volumes of LVM that the helper makes over at most five disks, runs on them, and what is left of them. Lines begin with "fact:".
\set QUIET on
\pset tuples_only on
\pset format unaligned
SET client_min_messages = warning;
SELECT fsbench.create_target(layout, filesystem => CASE layout WHEN 'raid10' THEN 'xfs' ELSE 'ext4' END, devices => (:'devices'::text[])[1:members], layout => layout,
    layout_options => options::jsonb, initial_sync => sync)
FROM (VALUES ('raid0', NULL, NULL, 4), ('linear', NULL, NULL, 4), ('raid1', '{"bitmap": "internal"}', NULL, 4), ('raid5', '{"chunk": "64k"}', 'check', 4),
             ('raid6', NULL, NULL, 4), ('raid10', '{"chunk": "256k"}', 'skip', 4), ('lvm-linear', NULL, NULL, 4), ('lvm-stripe', NULL, NULL, 4),
             ('lvm-raid1', NULL, 'check', 2), ('lvm-raid5', NULL, NULL, 4), ('lvm-raid6', NULL, NULL, 5),
             ('lvm-raid10', '{"chunk": "128k"}', 'skip', 4)) AS t (layout, options, sync, members) \g /dev/null
-- A run begins when what the one before has made is removed.
SELECT format('SELECT run_id FROM fsbench.run(target => %L, scale => 1, clients => 2, transactions => 50, seed => 1, options => ''{"wait_turn": true}'')', layout)
FROM unnest('{lvm-linear,lvm-stripe,lvm-raid1,lvm-raid5,lvm-raid6,lvm-raid10,raid0,linear,raid1,raid5,raid10}'::text[]) AS layout \gexec
DO $$ BEGIN WHILE EXISTS (SELECT FROM fsbench.progress) LOOP PERFORM pg_sleep(0.1); END LOOP; END $$;
SELECT fsbench.start(target => 'raid6', scale => 1, clients => 2, transactions => 50, seed => 1) \g /dev/null
DO $$
DECLARE
    seen boolean := false;
BEGIN
    WHILE EXISTS (SELECT FROM fsbench.progress) LOOP
        seen := seen OR EXISTS (SELECT FROM fsbench.progress WHERE phase = 'provision' AND percent BETWEEN 1 AND 99);
        PERFORM pg_sleep(0.05);
    END LOOP;
    PERFORM set_config('lab.seen', seen::text, false);
END $$;
SELECT 'fact: a sync under way is seen: ' || current_setting('lab.seen');
-- In a slow guest, what was made is still being removed when the run has returned.
DO $$ BEGIN WHILE EXISTS (SELECT FROM fsbench.progress) LOOP PERFORM pg_sleep(0.1); END LOOP; END $$;
SELECT format('fact: %s %s, %s of %s disks, chunk %s, bitmap %s, degraded %s, stripes %s and %s', r.target, r.status, a ->> 'level', a ->> 'raid_disks',
    a ->> 'chunk_size', coalesce(a ->> 'bitmap_location', '-'), coalesce(a ->> 'degraded', '-'), e.geometry ->> 'stripe_unit_bytes',
    e.geometry ->> 'stripe_width_bytes')
FROM fsbench.run_log r JOIN fsbench.environment e USING (run_id), LATERAL (SELECT e.storage #> '{result,array}' AS a) AS s
WHERE r.target NOT LIKE 'lvm%' ORDER BY r.run_id;
SELECT format('fact: %s %s, %s %s, stripes %s and %s, %s', r.target, r.status, split_part(line, ' ', 3),
    CASE split_part(line, ' ', 3) WHEN 'linear' THEN regexp_count(line, ' linear ')::text ELSE split_part(line, ' ', 4) END,
    e.geometry ->> 'stripe_unit_bytes', e.geometry ->> 'stripe_width_bytes', e.durability)
FROM fsbench.run_log r JOIN fsbench.environment e USING (run_id), LATERAL (SELECT e.storage #>> '{result,array,table}' AS line) AS s
WHERE r.target LIKE 'lvm%' ORDER BY r.run_id;
SELECT 'fact: finding ' || code || ' of ' || string_agg(r.target, ', ' ORDER BY run_id) FROM fsbench.finding JOIN fsbench.run_log r USING (run_id)
WHERE code ~ '^(raid|stripe|misaligned)' GROUP BY code ORDER BY code;
SELECT format('fact: %s windows without work of arrays, %s of volumes', count(*) FILTER (WHERE target NOT LIKE 'lvm%'), count(*) FILTER (WHERE target LIKE 'lvm%'))
FROM fsbench.run_log WHERE facts #> '{storage,array_work}' = '[]';
SELECT 'fact: ' || count(*) || ' waits for a sync' FROM fsbench.helper_job, jsonb_array_elements(steps) AS step
WHERE action = 'prepare' AND step ->> 'step' = 'await_sync' AND step ->> 'output' = 'in sync';
SELECT 'fact: checked: ' || string_agg(target, ', ' ORDER BY job_id) FROM fsbench.helper_job, jsonb_array_elements(steps) AS step
WHERE action = 'prepare' AND step ->> 'step' = 'await_sync' AND step ->> 'output' = 'checked';
-- The superblock of each goes last, in a step of its own.
SELECT format('fact: %s members of arrays and %s of volumes emptied', count(*) FILTER (WHERE target NOT LIKE 'lvm%') / 2, count(*) FILTER (WHERE target LIKE 'lvm%') / 2)
FROM fsbench.helper_job, jsonb_array_elements(steps) AS step WHERE action = 'release' AND step ->> 'step' = 'make_blank' AND step ->> 'output' = '';
SELECT format('fact: %s volumes removed', count(*)) FROM fsbench.helper_job, jsonb_array_elements(steps) AS step
WHERE action = 'release' AND step ->> 'step' = 'remove_volume' AND (step ->> 'exit_code')::int = 0;
SELECT 'fact: ' || count(*) FILTER (WHERE usable) || ' of ' || count(*) || ' disks are usable again' FROM fsbench.describe_devices()
WHERE path = ANY (:'devices');
\! echo "fact: $(grep -c '^md' /proc/mdstat) arrays are left"
\! echo "fact: $(ls -d /sys/block/dm-* 2>/dev/null | wc -l) volumes are left"
