-- Facts about the runs of experiment $1 that count, other than their metric: a row a target, as one array.
WITH counted AS (SELECT x.target_number AS number, x.run_id,
    r.target_definition ->> 'kind' = 'device' AND coalesce(r.target_definition ->> 'ssd_state', '') <> 'trimmed'
      AND (SELECT e.discard_max_bytes > 0 FROM fsbench.environment e WHERE e.run_id = x.run_id) AS carries_over,
    r.checkpoints_requested AS forced, r.checkpoints_requested + r.checkpoints_timed AS checkpoints
  FROM fsbench.experiment_run x JOIN fsbench.run_log r USING (run_id) WHERE x.experiment_id = $1::bigint AND x.outcome IN ('measured', 'behind')),
of_target AS (SELECT c.number, count(*) AS runs, coalesce(bool_or(c.carries_over), false) AS carries_over, avg(c.forced)::float8 AS forced, avg(c.checkpoints)::float8 AS checkpoints,
    jsonb_agg(DISTINCT e.durability_codes) FILTER (WHERE e.durability_codes IS NOT NULL) AS durability
  FROM counted c LEFT JOIN fsbench.environment e USING (run_id) GROUP BY 1),
found AS (SELECT c.number, f.code, count(*) AS with_it, max(f.weight) AS weight FROM counted c JOIN fsbench.finding f USING (run_id)
  WHERE f.severity = 'warning' GROUP BY 1, 2)
SELECT coalesce(jsonb_agg(jsonb_build_object('number', t.number, 'durability', t.durability,
  'carries_over', t.carries_over, 'forced_checkpoints', t.forced, 'checkpoints', t.checkpoints,
  'warnings', (SELECT jsonb_agg(jsonb_build_object('code', f.code, 'with_it', f.with_it, 'runs', t.runs) ORDER BY f.weight DESC, f.code COLLATE "C") FROM found f WHERE f.number = t.number))), '[]')
FROM of_target t
