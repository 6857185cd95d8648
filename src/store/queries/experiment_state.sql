-- Experiment $1 with its targets and runs, which have the value of the metric that decides, and of metric $2 where that is another one.
SELECT jsonb_build_object(
  'experiment', to_jsonb(e) || jsonb_build_object('has_rate', (e.parameters ->> 'rate') IS NOT NULL OR e.rate_share IS NOT NULL,
    'rate', (e.parameters ->> 'rate')::float8, 'wal_segments', (e.parameters #>> '{options,wal_segments}')::bigint,
    'max_wal_is_given', coalesce(e.asked #> '{run,settings}' ? 'max_wal_size', false) OR EXISTS (SELECT FROM fsbench.experiment_target t
      LEFT JOIN fsbench.target g ON g.target = t.target_name WHERE t.experiment_id = e.experiment_id
        AND (t.own -> 'settings' ? 'max_wal_size' OR g.settings ? 'max_wal_size')),
    'cycle_is_given', e.asked ->> 'cycle_us' IS NOT NULL, 'raised_max_wal_size', CASE WHEN NOT coalesce(e.asked #> '{run,settings}' ? 'max_wal_size', false)
      THEN e.parameters #>> '{settings,max_wal_size}' END,
    'elapsed_seconds', fsbench._on_seconds(e),
    'was_throttled', EXISTS (SELECT FROM fsbench.experiment_log l WHERE l.experiment_id = e.experiment_id AND l.event = 'throttled'), 'max_duration_seconds', (e.asked ->> 'max_duration_us')::float8 / 1e6),
  'targets', (SELECT jsonb_agg(to_jsonb(t) ORDER BY t.target_number) FROM fsbench.experiment_target t WHERE t.experiment_id = e.experiment_id),
  'runs', coalesce((SELECT jsonb_agg(to_jsonb(x) || jsonb_build_object('status', r.status, 'error_code', r.error_code,
      'error', r.error, 'value', fsbench._metric(r.run_id, e.metric),
      'other_value', CASE WHEN $2 <> e.metric THEN fsbench._metric(r.run_id, $2) END, 'tps', r.tps,
        'seconds', extract(epoch FROM r.ended_at - r.started_at)::float8,
      'wal', CASE WHEN x.block = 0 AND r.status = 'done' AND r.facts #>> '{wal,recycles}' IS NOT NULL THEN (r.facts -> 'wal') || jsonb_build_object(
        'bytes', coalesce(r.wal_bytes, 0), 'seconds', r.measured_ms / 1000, 'forced', coalesce(r.checkpoints_requested, 0),
        'room_bytes', greatest((SELECT v.filesystem_free_bytes FROM fsbench.environment v WHERE v.run_id = r.run_id) - coalesce(r.data_bytes, 0), 0)) END,
      'flush_us', (r.facts #>> '{flush,before_us}')::float8, 'found_none', CASE WHEN r.sustainable_rate IS NULL THEN r.sustainable_rate_says END,
      'disturbed', EXISTS (SELECT FROM fsbench.finding f WHERE f.run_id = r.run_id AND f.code = 'noisy_neighbour'),
      'cpu_others', coalesce(jsonb_path_query_first(r.facts, '$.machine.cpu_others ? (@.type() == "number" && @ >= 0 && @ <= 1)', silent => true),
        jsonb_path_query_first(r.facts, '$.machine.cpu_others_at_least ? (@.type() == "number" && @ >= 0 && @ <= 1)', silent => true)),
      'others_seen', CASE WHEN jsonb_typeof(r.facts #> '{machine,cpu_others}') IS DISTINCT FROM 'null' THEN 'all'
        WHEN jsonb_typeof(r.facts #> '{machine,cpu_others_at_least}') = 'number' THEN 'least' ELSE 'nothing' END,
      'device_others', jsonb_path_query_first(r.facts, '$.machine.device_others ? (@.type() == "number" && @ >= 0 && @ <= 1)', silent => true),
        'scheduled', CASE WHEN r.rate IS NOT NULL THEN r.transactions_total + r.skipped + r.failed END,
      'not_in_time', CASE WHEN r.rate IS NOT NULL THEN r.skipped + r.failed + coalesce(r.behind, 0) END,
      'invalid', coalesce((SELECT jsonb_agg(f.code ORDER BY f.code) FROM fsbench.finding f
        WHERE f.run_id = r.run_id AND f.severity = 'invalid'), '[]')) ORDER BY x.planned_at, x.attempt)
    FROM fsbench.experiment_run x LEFT JOIN fsbench.run_log r USING (run_id) WHERE x.experiment_id = e.experiment_id), '[]'))
FROM fsbench.experiment e WHERE e.experiment_id = $1::bigint
