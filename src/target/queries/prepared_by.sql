-- The latest job that has prepared target $1, or prepares it for no run; none when it was released since.
SELECT to_jsonb(j) FROM (
      SELECT run_id, action, result ->> 'mount_point' AS mount_point FROM fsbench.helper_job
      WHERE target = $1 AND action IN ('prepare', 'release')
        AND (status = 'done' OR run_id IS NULL AND status IN ('queued', 'running'))
      ORDER BY job_id DESC LIMIT 1) j WHERE action = 'prepare'
