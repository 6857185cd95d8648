-- Targets, of those ($1) that were prepared for the runs $2, whose run is over and that no coordinator clears up after: none lives, or it has begun
-- with another run. A release that failed is tried again ever more rarely.
SELECT t.target, t.run_id FROM unnest($1::text[], $2::bigint[]) AS t (target, run_id),
  LATERAL (SELECT count(*) FILTER (WHERE j.status = 'failed') AS failures, max(j.started_at) AS last,
      bool_or(j.status = 'queued' AND j.server_started = pg_postmaster_start_time() OR j.status = 'running') AS goes_on
    FROM fsbench.helper_job j
    WHERE j.target = t.target AND j.run_id = t.run_id AND j.action = 'release') AS released
WHERE NOT EXISTS (SELECT FROM fsbench.run_log r WHERE r.run_id = t.run_id AND r.status IN ('queued', 'running'))
  AND (EXISTS (SELECT FROM fsbench.run_log WHERE status = 'running')
       OR NOT EXISTS (SELECT FROM pg_stat_activity
                      WHERE datname = current_database() AND backend_type = 'fsbench coordinator'))
  AND goes_on IS NOT TRUE
  AND (last IS NULL OR last < clock_timestamp() - interval '1 second' * 2 ^ least(failures, 10))
