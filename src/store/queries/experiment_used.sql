-- Shares of each resource that were used in the windows of each target of experiment $1: means over its last three runs that count.
SELECT coalesce(jsonb_agg(u), '[]') FROM (SELECT x.number, avg(s.idle) AS idle, avg(s.busy) AS device_busy, avg(s.memory) AS memory_pressure,
  avg(w.locks) AS locks, avg(w.flushes) AS flushes
FROM (SELECT r.target_number AS number, r.run_id, row_number() OVER (PARTITION BY r.target_number ORDER BY r.block DESC) AS nth FROM fsbench.experiment_run r
  WHERE r.experiment_id = $1::bigint AND r.outcome IN ('measured', 'behind')) x LEFT JOIN LATERAL (SELECT avg(s.cpu_idle_percent + s.cpu_iowait_percent) / 100 AS idle,
    avg(greatest(s.device_util_percent, s.wal_device_util_percent)) / 100 AS busy, avg(s.pressure_memory_some_percent) / 100 AS memory
  FROM fsbench.sample s WHERE s.run_id = x.run_id) s ON true
LEFT JOIN LATERAL (SELECT (sum(w.samples) FILTER (WHERE w.wait_event_type = 'Lock' OR (w.wait_event_type = 'LWLock'
      AND w.wait_event NOT IN ('WALWrite', 'WALInsert'))))::float8 / nullif(sum(w.samples), 0) AS locks,
    (sum(w.samples) FILTER (WHERE w.wait_event IN ('WALWrite', 'WALSync', 'WalSync', 'WalWrite')))::float8 / nullif(sum(w.samples), 0) AS flushes
  FROM fsbench.wait_event w WHERE w.run_id = x.run_id) w ON true
WHERE x.nth <= 3 GROUP BY x.number) u
