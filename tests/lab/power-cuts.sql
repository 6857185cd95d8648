-- In a guest: power cuts of images, on arrays of md and on filesystems that other kernels lack, and what is left of them. Lines begin with "fact:".
\set QUIET on
\pset tuples_only on
\pset format unaligned
SET client_min_messages = warning;
SELECT fsbench.create_target(name, filesystem => fs, layout => layout, image_count => images, image_size => size, image_sparse => true, mount_options => options)
FROM (VALUES ('raid1', 'ext4', 'raid1', 2, '1GB', NULL), ('raid5', 'xfs', 'raid5', 3, '600MB', NULL), ('f2fs', 'f2fs', NULL, NULL, '1GB', NULL),
             ('f2fs-nobarrier', 'f2fs', NULL, NULL, '1GB', 'nobarrier'), ('nilfs2', 'nilfs2', NULL, NULL, '1GB', NULL), ('reiserfs', 'reiserfs', NULL, NULL, '1GB', NULL))
     AS t (name, fs, layout, images, size, options) \g /dev/null
-- A run begins when what the one before has made is removed.
SELECT format('SELECT run_id FROM fsbench.run(target => %L, workload => ''power-cut'', clients => 2, duration => ''1 s'', seed => 1, options => ''{"cuts": 8, "wait_turn": true}'')', name)
FROM unnest('{raid1,raid5,f2fs,f2fs-nobarrier,nilfs2,reiserfs}'::text[]) AS name \gexec
-- In a slow guest, what was made is still being removed when the run has returned.
DO $$ BEGIN WHILE EXISTS (SELECT FROM fsbench.progress) LOOP PERFORM pg_sleep(0.1); END LOOP; END $$;
SELECT format('%s: %s', r.target, r.error) FROM fsbench.run_log r WHERE error IS NOT NULL ORDER BY run_id;
SELECT r.target, p.part, p.number, p.unflushed, p.outcome, p.problem FROM fsbench.power_cut_point p JOIN fsbench.run_log r USING (run_id) WHERE p.outcome <> 'passed' ORDER BY run_id, part, number;
SELECT format('%s: %s cuts in %s', r.target, sum(cuts), date_trunc('second', r.ended_at - r.started_at)) FROM fsbench.power_cut_result p JOIN fsbench.run_log r USING (run_id)
GROUP BY r.run_id ORDER BY r.run_id;
-- With few power cuts no page may be torn.
SELECT format('fact: %s: %s', r.target, string_agg(format('%s %s', part, CASE WHEN p.failed > 0 THEN 'failed' ELSE 'kept' END), ', ' ORDER BY control, part))
FROM fsbench.power_cut_result p JOIN fsbench.run_log r USING (run_id) WHERE part <> 'full_page_writes_off' GROUP BY r.run_id ORDER BY r.run_id;
SELECT format('fact: something to lose: %s', string_agg(DISTINCT r.target, ', ')) FROM fsbench.power_cut_point p JOIN fsbench.run_log r USING (run_id)
WHERE part = 'commits' AND unflushed > 0 AND acknowledged > 0;
\! echo "fact: $(grep -c '^md' /proc/mdstat) arrays, $(ls -d /sys/block/loop*/loop 2> /dev/null | wc -l) devices, $(ls /run/lab/images | wc -l) files and $(pgrep -c -f '[_]record ') processes are left"
