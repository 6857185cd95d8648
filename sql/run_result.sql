-- A small run: what must hold of its result, whatever the machine.
\pset null '(null)'
SET client_min_messages = warning;

SELECT run_id, target, tps > 0 AS some_tps, latency_p99_ms > 0 AS some_latency, latency_max_ms >= latency_p99_ms AS max_above_p99,
       commit_p99_ms > 0 AS some_commit, findings <> '' AS findings_said, findings AS findings_text
FROM fsbench.run(scale => 2, clients => 2, transactions => 500, seed => 1, label => 'regress',
                 settings => '{"work_mem": "5MB", "SYNCHRONOUS_COMMIT": true}') \gset
\echo :target :some_tps :some_latency :max_above_p99 :some_commit :findings_said

-- The row.
SELECT status, target, workload, scale, clients, duration, transactions, warmup, rate, latency_limit_ms, seed, label, forced,
       requested_by = current_user AS requested_by_me, kept, error_code, error, transactions_total, transactions_outside,
       skipped, late, failed, complete_checkpoints
FROM fsbench.run_log WHERE run_id = :run_id \gx

-- As asked, and as used.
SELECT asked ->> 'clients' AS asked_clients, asked ->> 'duration_us' AS asked_duration, used ->> 'clients' AS used_clients,
       used -> 'chosen' AS chosen, used -> 'settings' AS settings, used -> 'options' AS options
FROM fsbench.result WHERE run_id = :run_id \gx

-- Counts agree: the window, the seconds, the histograms, the history.
SELECT r.transactions_total = r.clients * r.transactions AS as_many_as_asked,
       r.transactions_total = (SELECT sum(transactions) FROM fsbench.sample WHERE run_id = :run_id) AS samples_add_up,
       r.transactions_total = h.transactions AS histogram_counts_all, h.transactions = (SELECT sum(c) FROM unnest(h.counts) c) AS histogram_adds_up,
       (r.balances ->> 'history_rows')::bigint = r.transactions_total + r.transactions_outside AS history_has_all,
       r.balances ->> 'accounts' = r.balances ->> 'history' AS accounts_agree, r.balances ->> 'tellers' = r.balances ->> 'history' AS tellers_agree,
       r.balances ->> 'branches' = r.balances ->> 'history' AS branches_agree
FROM fsbench.run_log r JOIN fsbench.histogram h ON h.run_id = r.run_id AND h.transaction = r.workload AND h.measure = 'latency'
WHERE r.run_id = :run_id \gx

SELECT measure, transactions, cardinality(buckets) = cardinality(counts) AS paired, min_ms <= max_ms AS ordered,
       (SELECT bool_and(c > 0) FROM unnest(counts) c) AS only_used_buckets, (SELECT array_agg(b ORDER BY b) = buckets FROM unnest(buckets) b) AS buckets_ascend,
       (SELECT sum(c) FROM unnest(counts) c) = transactions AS adds_up,
       fsbench.bucket_low_ms(buckets[1]) <= min_ms AND min_ms < fsbench.bucket_high_ms(buckets[1]) AS min_in_first_bucket,
       fsbench.bucket_low_ms(buckets[cardinality(buckets)]) <= max_ms
           AND max_ms < fsbench.bucket_high_ms(buckets[cardinality(buckets)]) AS max_in_last_bucket
FROM fsbench.histogram WHERE run_id = :run_id ORDER BY measure;

-- Seconds are whole, in order, and as long as the window; a busy machine lets the sampler come late.
SELECT min(second) = 0 AND max(second) >= count(*) - 1 AS in_order, bool_and(interval_ms > 0) AS have_length,
       abs(sum(interval_ms) - (SELECT measured_ms FROM fsbench.run_log WHERE run_id = :run_id)) < 10000 AS as_long_as_the_window,
       bool_and(transactions = 0 OR latency_p50_ms <= latency_p95_ms AND latency_p95_ms <= latency_p99_ms
                AND latency_p99_ms <= latency_max_ms * 1.032) AS percentiles_ascend,
       max(latency_max_ms) = (SELECT latency_max_ms FROM fsbench.run_log WHERE run_id = :run_id) AS same_maximum
FROM fsbench.sample WHERE run_id = :run_id;

-- The figures of the row, against each other and against the histogram.
SELECT abs(tps * measured_ms / 1000 - transactions_total) < 0.5 AS tps_is_count_over_time,
       latency_p50_ms <= latency_p90_ms AND latency_p90_ms <= latency_p95_ms AND latency_p95_ms <= latency_p99_ms
           AND latency_p99_ms <= latency_max_ms AS percentiles_ascend, latency_p999_ms IS NULL AS no_p999_of_so_few,
       latency_avg_ms BETWEEN h.min_ms AND h.max_ms AND abs(latency_avg_ms - h.sum_ms / h.transactions) < 1e-6 AS mean_agrees,
       abs(latency_stddev_ms ^ 2 - (h.sum_squares_ms / h.transactions - (h.sum_ms / h.transactions) ^ 2))
           <= 1e-3 * h.sum_squares_ms / h.transactions AS deviation_agrees,
       commit_avg_ms < latency_avg_ms AND commit_p50_ms <= commit_p99_ms AND commit_p99_ms <= commit_max_ms AS commit_is_part,
       load_ms > 0 AND wal_bytes > 0 AND data_bytes > 20000000 AS load_and_wal, xids_used >= transactions_total AS xids_counted
FROM fsbench.run_log r JOIN fsbench.histogram h ON h.run_id = r.run_id AND h.transaction = r.workload AND h.measure = 'latency'
WHERE r.run_id = :run_id \gx

-- Any percentile: of one run, as stored; between the extremes; ascending; NULL where there are no figures.
SELECT bool_and(fsbench.percentile(p, :run_id) BETWEEN min_ms AND max_ms) AS within,
       bool_and(fsbench.percentile(p, :run_id) >= fsbench.percentile(p - 0.01, :run_id)) AS ascending, fsbench.percentile(1, :run_id) <= max(max_ms) AS top
FROM generate_series(0.01, 1, 0.01) p, fsbench.histogram WHERE run_id = :run_id AND measure = 'latency';
SELECT abs(fsbench.percentile(0.5, run_id) / latency_p50_ms - 1) < 0.032 AS p50, abs(fsbench.percentile(0.99, run_id) / latency_p99_ms - 1) < 0.032 AS p99,
       abs(fsbench.percentile(0.99, run_id, 'commit') / commit_p99_ms - 1) < 0.032 AS commit_p99,
       fsbench.percentile(NULL::float8, run_id) AS nothing, fsbench.percentile(0.5, ARRAY[]::bigint[]) AS no_runs
FROM fsbench.run_log WHERE run_id = :run_id \gx
\set SHOW_CONTEXT never
SELECT fsbench.percentile(99, :run_id);
SELECT fsbench.percentile(-1, :run_id);
SELECT fsbench.percentile('NaN', :run_id);
SELECT fsbench.percentile(0.5, 0);
SELECT fsbench.percentile(0.5, ARRAY[:run_id, -7, 0]);
SELECT fsbench.percentile(0.5, :run_id, 'bogus');
SELECT fsbench.percentile(0.5, :run_id, 'service');
SELECT fsbench.percentile(0.5, :run_id, transaction => 'bogus');

-- Merged histograms: twice the same run has the same percentiles.
SELECT fsbench.percentile(0.9, ARRAY[:run_id, :run_id]) = fsbench.percentile(0.9, :run_id) AS merged;

-- Phases: all, in their order, one after the other, all over.
SELECT p ->> 'phase' AS phase, (p ->> 'ms')::float8 >= 0 AS over,
       (p ->> 'started_ms')::float8 >= coalesce(lag((p ->> 'started_ms')::float8 + (p ->> 'ms')::float8) OVER (ORDER BY n), 0) - 0.001 AS in_order
FROM fsbench.run_log, jsonb_array_elements(phases) WITH ORDINALITY AS t(p, n) WHERE run_id = :run_id ORDER BY n;
SELECT requested_at <= started_at AND started_at <= measured_from AND measured_from < ended_at AS times_in_order FROM fsbench.run_log WHERE run_id = :run_id;

-- The environment.
SELECT pgfsbench_version = fsbench.version() AS own_version, server_version = version() AS server_version,
       server_version_num = current_setting('server_version_num')::int AS version_num, kernel <> '' AS kernel,
       hostname <> '' AS hostname, machine <> '' AS machine, virtualization <> '' AS virtualization, processors > 0 AS processors, memory_bytes > 0 AS memory,
       shared_buffers_bytes = pg_size_bytes(current_setting('shared_buffers')) AS shared_buffers,
       scope IN ('data and WAL', 'data only') AS scope, durability <> '' AS durability, data_directory = current_setting('data_directory') AS data_directory, filesystem <> '' AS filesystem,
       device <> '' AS device, mount_point <> '' AS mount_point, mount_options <> '' AS mount_options,
       st_dev ~ '^\d+:\d+$' AS st_dev, filesystem_size_bytes >= filesystem_free_bytes AS sizes, wal_directory <> '' AS wal_directory,
       wal_filesystem <> '' AND wal_device <> '' AND wal_mount_options <> '' AS wal, (wal_st_dev = st_dev) = (scope = 'data and WAL') AS scope_by_device
FROM fsbench.environment WHERE run_id = :run_id \gx
SELECT name FROM pg_settings s WHERE source NOT IN ('default', 'override', 'client', 'session') AND context <> 'internal'
  AND name <> 'bytea_output' -- workers have their own of settings that only print values
  AND NOT EXISTS (SELECT FROM fsbench.environment WHERE run_id = :run_id AND settings::text LIKE '%"' || s.name || '"%');

-- The narrow row is the same from wait, and in full in the view.
SELECT round(r.tps::numeric, CASE WHEN r.tps < 1000 THEN 1 ELSE 0 END)::float8 = w.tps AS same_tps, w.target = r.target AS same_target,
       w.stall_seconds IS NOT DISTINCT FROM r.stall_seconds AS same_stalls,
       substring(w.findings FROM '^[0-9]+') = r.findings::text AS same_number, w.findings = :'findings_text' AS same_findings
FROM fsbench.wait(:run_id) w JOIN fsbench.result r USING (run_id);
SELECT code, severity, message <> '' AND hint <> '' AS said FROM fsbench.finding WHERE run_id = :run_id AND code = 'no_complete_checkpoint';

-- Findings can be judged again from stored rows; these are only returned.
SELECT count(*) > 0 AS some, bool_and(f.code IS NOT NULL) AS stored, bool_and(j.code IS NOT NULL) AS found_again
FROM (SELECT * FROM fsbench.finding WHERE run_id = :run_id) f FULL JOIN fsbench.judge(:run_id) j USING (code, severity, message, hint);
BEGIN;
UPDATE fsbench.run_log SET facts = facts || '{"fsync": false}', failed = 1000000 WHERE run_id = :run_id;
SELECT code, severity FROM fsbench.judge(:run_id) WHERE severity = 'invalid';
UPDATE fsbench.run_log SET facts = NULL, failed = NULL WHERE run_id = :run_id;
DELETE FROM fsbench.environment WHERE run_id = :run_id;
SELECT code, severity FROM fsbench.judge(:run_id) WHERE severity = 'invalid';
ROLLBACK;
SELECT * FROM fsbench.judge(NULL);
SELECT * FROM fsbench.judge(0);

-- Nothing is left.
SELECT count(*) AS work_databases FROM pg_database WHERE datname LIKE 'fsbench_work%';
SELECT count(*) AS journal_entries FROM pg_ls_dir('.') AS dir(name), LATERAL pg_ls_dir(name) AS entry(name) WHERE dir.name = 'pgfsbench';
DO $$
BEGIN
    -- The coordinator ends a little later.
    FOR i IN 1..6000 LOOP
        EXIT WHEN NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type LIKE 'fsbench%' AND backend_type <> 'fsbench janitor');
        PERFORM pg_stat_clear_snapshot(), pg_sleep(0.01);
    END LOOP;
END
$$;
SELECT count(*) AS workers FROM pg_stat_activity WHERE backend_type LIKE 'fsbench%' AND backend_type <> 'fsbench janitor';
SELECT count(*) AS in_progress FROM fsbench.progress;
