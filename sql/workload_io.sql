-- The workload io: the real fio on files beside the database.
SET client_min_messages = warning;
SELECT run_id AS run FROM fsbench.run(workload => 'io', duration => '8 s', seed => 1,
    options => '{"pattern": "randrw", "size": "8MB", "jobs": 2, "fdatasync_every": 8, "rate": 400, "mix": 75}') \gset
SELECT job, direction, access, copies, file_bytes, sync_call, sync_every, operations > 0 AS operations, bytes = operations * 8192 AS bytes, runtime_ms BETWEEN 7000 AND 9000 AS runtime,
       mb_per_second > 0 AS mb, iops > 0 AS iops, latency_min_ms <= latency_p50_ms * 1.04 AND latency_p50_ms <= latency_p90_ms AND latency_p90_ms <= latency_p95_ms
           AND latency_p95_ms <= latency_p99_ms AND latency_p99_ms <= latency_max_ms * 1.04 AS in_order,
       latency_p999_ms IS NULL = (operations < 10000) AS p999, user_cpu_ms + system_cpu_ms > 0 AS cpu, steady IS NOT NULL AS judged
FROM fsbench.io_job WHERE run_id = :run ORDER BY direction;
-- The histograms hold all operations.
SELECT h.transaction, h.measure, h.transactions = j.operations AS all, (SELECT sum(n) FROM unnest(h.counts) n) = j.operations AS counts
FROM fsbench.histogram h JOIN fsbench.io_job j ON j.run_id = h.run_id AND j.job = h.transaction AND j.direction = h.measure WHERE h.run_id = :run ORDER BY 2;
-- The row: no table, no client, no transaction.
SELECT workload, scale, clients, status, transactions_total, commit_p99_ms, data_bytes, duration, warmup, tps BETWEEN 300 AND 420 AS tps, xids_used < 100 AS few_ids, wal_bytes < 4000000 AS little_wal
FROM fsbench.result WHERE run_id = :run;
SELECT r.tps = sum(j.operations) * 1000 / max(j.runtime_ms) AS tps FROM fsbench.result r JOIN fsbench.io_job j USING (run_id) WHERE run_id = :run AND direction <> 'sync' GROUP BY r.tps;
-- Seconds of fio, which charts show.
SELECT direction, count(*) BETWEEN 6 AND 8 AS seconds, min(second) < 4 AS early, bool_and(bytes = operations * 8192 OR abs(bytes / operations / 8192 - 1) < 0.02) AS bytes FROM fsbench.io_second WHERE run_id = :run GROUP BY direction ORDER BY 1;
SELECT sum(transactions) BETWEEN 2000 AND 3400 AS operations, bool_and(latency_avg_ms IS NULL AND commit_p99_ms IS NULL AND client_wal_bytes IS NULL) AS no_clients,
       bool_or(client_cpu_ms IS NOT NULL) AS cpu_of_fio FROM fsbench.sample WHERE run_id = :run;
-- Seconds in which no job was logged are unknown, and no finding counts them.
SELECT bool_and(second BETWEEN s.first AND s.last) AS logged FROM fsbench.sample, (SELECT min(second) AS first, max(second) AS last FROM fsbench.io_second WHERE run_id = :run) s
WHERE run_id = :run AND transactions IS NOT NULL;
-- Percentiles of each direction.
SELECT measure, fsbench.percentile(0.5, :run, measure) = fsbench.percentile(0.5, :run, measure, transaction) AS percentile FROM fsbench.histogram WHERE run_id = :run ORDER BY measure;
\set SHOW_CONTEXT never
SELECT fsbench.percentile(0.5, :run);
\set SHOW_CONTEXT errors
SELECT count(*) > 5 AS chart FROM fsbench.chart(:run, ascii => true);
SELECT string_agg(phase ->> 'phase', ' ') AS phases FROM fsbench.result, jsonb_array_elements(phases) phase WHERE run_id = :run;
SELECT used -> 'chosen' AS chosen, used #>> '{options,size}' AS size FROM fsbench.result WHERE run_id = :run;
-- Metrics of experiments.
SELECT fsbench._metric(:run, 'iops') = r.tps AS iops, fsbench._metric(:run, 'sync_p99_ms') = j.latency_p99_ms AS sync, fsbench._metric(:run, 'tps') = r.tps AS tps
FROM fsbench.result r JOIN fsbench.io_job j USING (run_id) WHERE run_id = :run AND direction = 'sync';
SELECT direction, round((fsbench._metric(:run, direction || '_mb_per_s') / mb_per_second)::numeric, 3) AS mb FROM fsbench.io_job WHERE run_id = :run AND direction <> 'sync' ORDER BY 1;
-- All five patterns on the same files.
SELECT run_id AS study FROM fsbench.run(workload => 'io', duration => '15 s', options => '{"size": "8MB", "jobs": 2, "sample": false}') \gset
SELECT position, job, string_agg(direction, ' ' ORDER BY direction) AS directions, bool_and(operations > 0) AS done FROM fsbench.io_job WHERE run_id = :study GROUP BY position, job ORDER BY position;
SELECT count(*) FROM fsbench.finding WHERE run_id = :study AND code IN ('drift', 'stalls', 'warming_up');
-- A job file is parsed, and written anew.
SELECT run_id AS file FROM fsbench.run(workload => 'io', options => jsonb_build_object('job_file', E'[global]\nsize=2m\nruntime=1\nbs=4k\n[log]\nrw=write\nfsync=1\n[data]\nrw=randread\nnumjobs=2\n')) \gset
SELECT position, job, direction, access, copies, sync_call, operations > 0 AS done FROM fsbench.io_job WHERE run_id = :file ORDER BY position, direction;
-- fio's own steady state is stored if it is asked for. fio may have ended the job before its time.
SELECT run_id AS steady FROM fsbench.run(workload => 'io', duration => '6 s', options => '{"pattern": "read", "size": "8MB", "jobs": 2, "rate": 200, "steady_state": "iops:50%", "steady_state_seconds": 2}') \gset
SELECT fio_steady_state, fio_steady_seconds, fio_steady IS NOT NULL AS judged, fio_steady_percent >= 0 OR NOT fio_steady AS figure FROM fsbench.io_job WHERE run_id = :steady;
-- The later one of two runs tells that syncs and commits of the target are unlike; a run with a rate, other clients or another target tells nothing.
BEGIN;
INSERT INTO fsbench.run_log (run_id, status, target, workload, clients, rate, tps, asked, used, requested_by)
SELECT run_id, 'done', target, workload, clients, rate, tps, '{}', '{}', 'x' FROM (VALUES (800001, 'there', 'io', NULL, NULL, 400.0), (800002, 'elsewhere', 'commit', 2, NULL, 10),
    (800003, 'there', 'commit', 3, NULL, 10), (800004, 'there', 'commit', 2, 10, 10), (800005, 'there', 'commit', 2, NULL, 10), (800006, 'there', 'io', NULL, NULL, 400),
    (800007, 'there', 'commit', 2, NULL, 300)) r (run_id, target, workload, clients, rate, tps);
INSERT INTO fsbench.io_job (run_id, position, job, direction, access, copies, file_bytes, sync_call, sync_every, operations, iops)
SELECT run_id, 1, 'log', 'sync', 'write', 2, 8192, 'fdatasync', 1, 1000, 400 FROM unnest('{800001,800006}'::bigint[]) run_id;
SELECT run_id, message FROM generate_series(800001, 800007) run_id, fsbench.judge(run_id) WHERE code = 'commits_unlike_syncs';
ROLLBACK;
-- The directory of the run is gone.
SELECT count(*) FROM pg_ls_dir('base/pgsql_tmp') name WHERE name LIKE '%pgfsbench%';

-- Arguments that the workload refuses.
\set VERBOSITY default
SELECT fsbench.start(workload => 'io', scale => 10);
SELECT fsbench.start(workload => 'io', clients => 4);
SELECT fsbench.start(workload => 'io', transactions => 4);
SELECT fsbench.start(workload => 'io', options => '{"pattern": "trim"}');
SELECT fsbench.start(workload => 'io', options => '{"engine": "/tmp/x.so"}');
SELECT fsbench.start(workload => 'io', options => '{"size": "8kB"}');
SELECT fsbench.start(workload => 'io', duration => '5 s');
SELECT fsbench.start(workload => 'io', options => '{"pattern": "read", "mix": 70}');
SELECT fsbench.start(workload => 'io', options => '{"pattern": "randread", "fdatasync_every": 1}');
SELECT fsbench.start(workload => 'io', options => jsonb_build_object('job_file', E'[a]\nrw=read\nexec_prerun=touch /tmp/x\n'));
SELECT fsbench.start(workload => 'io', options => jsonb_build_object('job_file', E'[a]\nrw=read\nsize=${HOME}\n'));
SELECT fsbench.start(workload => 'tpcb', options => '{"pattern": "read"}');
-- Which program it is, is a matter of the server's configuration.
\set VERBOSITY terse
SET pgfsbench.fio = '/bin/true';
