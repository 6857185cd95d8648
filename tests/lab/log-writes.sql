-- In a guest: power cuts of a disk that dm-log-writes records, and what is left of them. Lines begin with "fact:".
\set QUIET on
\pset tuples_only on
\pset format unaligned
SET client_min_messages = warning;
SELECT 'fact: ' || detail FROM fsbench.doctor() WHERE item = 'power cuts';
SELECT fsbench.create_target(:'name', filesystem => :'fs', device => :'device');
SELECT clock_timestamp() AS began \gset
SELECT run_id FROM fsbench.run(target => :'name', workload => 'power-cut', clients => 2, duration => '1 s', seed => 1, options => '{"cuts": 3}') \gset
-- In a slow guest, what was made is still being removed when the run has returned.
DO $$ BEGIN WHILE EXISTS (SELECT FROM fsbench.progress) LOOP PERFORM pg_sleep(0.1); END LOOP; END $$;
SELECT format('%s cuts in %s', sum(cuts), clock_timestamp() - :'began') FROM fsbench.power_cut_result WHERE run_id = :run_id;
SELECT part, number, entry, unflushed, acknowledged, lost, holes, outcome, problem FROM fsbench.power_cut_point WHERE run_id = :run_id ORDER BY part, number;
-- With few power cuts no page may be torn.
SELECT format('fact: %s %s, %s cuts', part, CASE WHEN failed > 0 THEN 'failed' ELSE 'kept' END, cuts) FROM fsbench.power_cut_result
WHERE run_id = :run_id AND part <> 'full_page_writes_off' ORDER BY control, part;
SELECT format('fact: commits acknowledged before cuts: %s', max(acknowledged) > 0) FROM fsbench.power_cut_point WHERE run_id = :run_id AND part = 'commits';
SELECT format('fact: %s of dm-log-writes removed', count(*)) FROM fsbench.helper_job, jsonb_array_elements(steps) AS step
WHERE step ->> 'step' = 'remove_log_writes' AND (step ->> 'exit_code')::int = 0;
\! echo "fact: $(ls -d /sys/block/dm-* /sys/block/loop*/loop 2> /dev/null | wc -l) devices, $(ls /run/lab/images | wc -l) files and $(pgrep -c -f '[_]mark|[_]record ') processes are left"
SELECT 'fact: the disk is usable again: ' || usable FROM fsbench.describe_devices() WHERE path = :'device';
