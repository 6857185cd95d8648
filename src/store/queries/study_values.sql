-- The values of metric $2 of the runs of experiment $1 that count, an array a target.
SELECT coalesce(jsonb_agg(v.list ORDER BY v.target_number), '[]') FROM (SELECT t.target_number,
  coalesce(jsonb_agg(m.value ORDER BY x.block) FILTER (WHERE m.value IS NOT NULL), '[]') AS list
FROM fsbench.experiment_target t LEFT JOIN fsbench.experiment_run x
  ON x.experiment_id = t.experiment_id AND x.target_number = t.target_number AND x.outcome IN ('measured', 'behind')
LEFT JOIN LATERAL (SELECT fsbench._metric(x.run_id, $2) AS value) m ON true
WHERE t.experiment_id = $1::bigint GROUP BY 1) v
