-- Knees of the scans of each target of experiment $1, all its runs together.
SELECT coalesce(jsonb_object_agg(k.target_number, k.knee), '{}') FROM (SELECT t.target_number, to_jsonb(n) AS knee
FROM (SELECT x.target_number, (array_agg(s.degree))[:100000] AS degrees, (array_agg(s.ms))[:100000] AS ms
  FROM fsbench.experiment_run x JOIN fsbench.scan s USING (run_id)
  WHERE x.experiment_id = $1::bigint AND x.outcome IN ('measured', 'behind') AND s.used
    AND s.degree > 0 AND s.ms > 0 AND s.ms < 'Infinity' GROUP BY 1) t,
LATERAL fsbench.knee(t.degrees, t.ms) n) k
