-- In a guest: a target on the disk of a case, a run there, and what is to be known of it, in lines that begin with "fact:".
\set QUIET on
\pset tuples_only on
\pset format unaligned
\setenv NAME :name
\setenv DEVICE :device
SELECT :'raid' <> '' AS has_raid \gset
\if :has_raid
\! echo "fact: $(cat /sys/block/${DEVICE#/dev/}/md/level) of $(cat /sys/block/${DEVICE#/dev/}/md/raid_disks) disks"
\endif
SELECT 'fact: ' || why_not FROM fsbench.describe_devices() WHERE path = :'member' AND path <> :'device';
-- One program for all processes: to start one takes a guest a twentieth of a second.
\! echo "fact: the helper's rights $(sed -s -n '/^Name:\tpgfsbench-helpe$/,/^CapBnd:/ s/^CapBnd:\t//p' /proc/[0-9]*/status 2> /dev/null | sort -u | paste -sd,)"
SELECT fsbench.create_target(:'name', filesystem => :'fs', device => :'device');
SELECT run_id FROM fsbench.run(target => :'name', scale => 1, clients => 2, transactions => 50, seed => 1) \gset
-- In a slow guest, what was made is still being removed when the run has returned.
DO $$ BEGIN WHILE EXISTS (SELECT FROM fsbench.progress) LOOP PERFORM pg_sleep(0.1); END LOOP; END $$;
SELECT 'fact: run on ' || filesystem FROM fsbench.result WHERE run_id = :run_id;
SELECT format('fact: %s, %s transactions', status, transactions_total) FROM fsbench.run_log WHERE run_id = :run_id;
SELECT format('fact: %s on %s, %s, in a guest: %s', filesystem, device, scope, virtualization) FROM fsbench.environment WHERE run_id = :run_id;
SELECT 'fact: found ' || code FROM fsbench.finding
WHERE run_id = :run_id AND code IN ('raid_degraded', 'raid_resync', 'stripe_unknown', 'jfs_does_not_flush') ORDER BY code;
\if :has_raid
\! echo "fact: stripes of $(cat /sys/block/${DEVICE#/dev/}/queue/minimum_io_size) and $(cat /sys/block/${DEVICE#/dev/}/queue/optimal_io_size)"
SELECT format('fact: stripes of %s and %s', geometry ->> 'stripe_unit_bytes', geometry ->> 'stripe_width_bytes')
FROM fsbench.environment WHERE run_id = :run_id;
\endif
SELECT 'fact: ' || string_agg(format('%s %s for %s', action, status, CASE run_id WHEN :run_id THEN 'the run' ELSE run_id::text END), ', ' ORDER BY job_id)
FROM fsbench.helper_job WHERE action IN ('prepare', 'release') AND target = :'name';
-- Once more, over what it has written itself; what it takes for its own is known by the UUID, which some programs choose.
SELECT 'fact: again ' || filesystem FROM fsbench.prepare_target(:'name');
\! echo "fact: mounted $(findmnt -n -o FSTYPE "/run/pgfsbench/mnt/postgres@$NAME")"
SELECT 'fact: released ' || fsbench.release_target(:'name');
