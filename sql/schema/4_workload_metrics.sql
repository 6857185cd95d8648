-- Figures that only runs of one workload have. Workloads declare them in core; the test workload_tables compares.

CREATE FUNCTION fsbench._workload_metric(run_id bigint, metric text) RETURNS float8 LANGUAGE sql STABLE PARALLEL SAFE
    RETURN CASE
        WHEN starts_with($2, 'fsync_ops_') THEN (SELECT f.ops_per_second FROM fsbench.fsync f WHERE f.run_id = $1 AND f.writes = 1 AND f.method = substr($2, 11) ORDER BY f.writers LIMIT 1)
        WHEN $2 = 'scan_bytes_per_s' THEN (SELECT 1e9 * max(d.gb) FROM (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY s.gb_per_second) AS gb FROM fsbench.scan s WHERE s.run_id = $1 AND s.used GROUP BY s.degree) d)
        WHEN starts_with($2, 'scan_gb_per_s_at_') THEN (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY s.gb_per_second) FROM fsbench.scan s WHERE s.run_id = $1 AND s.used AND s.degree = substr($2, 18)::integer)
        WHEN starts_with($2, 'scan_ms_at_') THEN (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY s.ms) FROM fsbench.scan s WHERE s.run_id = $1 AND s.used AND s.degree = substr($2, 12)::integer)
        WHEN $2 = 'load_gb_per_s' THEN (SELECT max(s.bytes) / 1e6 / nullif(max(r.load_ms), 0) FROM fsbench.scan s JOIN fsbench.run_log r USING (run_id) WHERE s.run_id = $1)
        WHEN $2 = 'read_mb_per_s' THEN (SELECT sum(j.bytes) / 1e3 / nullif(sum(j.runtime_ms), 0) FROM fsbench.io_job j WHERE j.run_id = $1 AND j.direction = 'read')
        WHEN $2 = 'write_mb_per_s' THEN (SELECT sum(j.bytes) / 1e3 / nullif(sum(j.runtime_ms), 0) FROM fsbench.io_job j WHERE j.run_id = $1 AND j.direction = 'write')
        WHEN $2 = 'iops' THEN (SELECT r.tps FROM fsbench.run_log r WHERE r.run_id = $1 AND EXISTS (SELECT FROM fsbench.io_job j WHERE j.run_id = r.run_id))
        WHEN $2 = 'sync_p99_ms' THEN (SELECT max(j.latency_p99_ms) FROM fsbench.io_job j WHERE j.run_id = $1 AND j.direction = 'sync')
        WHEN $2 = 'notpm' THEN (SELECT t.notpm FROM fsbench.tpcc t WHERE t.run_id = $1)
        END;
COMMENT ON FUNCTION fsbench._workload_metric IS 'A figure of a run that only runs of its workload have; NULL for other figures and other runs. Private';
