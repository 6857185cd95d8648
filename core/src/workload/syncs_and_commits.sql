-- Facts about a run, $1, of workload io or commit, and the latest run of the other one before it, on the same target. No row where there is none.
SELECT jsonb_build_object('syncs_per_second', x.iops, 'jobs', x.copies, 'commits_per_second', x.tps, 'other_run_id', x.run_id,
    'has_other_commits', r.workload = 'io',
    -- Each subvolume of btrfs has a number of its own.
    'is_wal_elsewhere', coalesce(e.wal_st_dev <> e.st_dev AND (e.wal_device = e.device AND e.device LIKE '/%') IS NOT TRUE, false))
FROM fsbench.run_log r LEFT JOIN fsbench.environment e USING (run_id), LATERAL (
    (SELECT j.iops, j.copies, c.tps, c.run_id
     FROM fsbench.io_job j JOIN fsbench.run_log c ON c.workload = 'commit' AND c.status = 'done' AND c.rate IS NULL AND c.tps > 0 AND c.clients = j.copies
         AND c.target = r.target AND c.target_version IS NOT DISTINCT FROM r.target_version AND c.run_id < r.run_id
     WHERE j.run_id = r.run_id AND j.sync_call = 'fdatasync' AND j.sync_every = 1 AND j.iops > 0
     ORDER BY c.run_id DESC, j.position LIMIT 1)
    UNION ALL
    (SELECT j.iops, j.copies, r.tps, i.run_id
     FROM fsbench.run_log i JOIN fsbench.io_job j ON j.run_id = i.run_id AND j.sync_call = 'fdatasync' AND j.sync_every = 1 AND j.iops > 0 AND j.copies = r.clients
     WHERE r.workload = 'commit' AND r.rate IS NULL AND r.tps > 0 AND i.workload = 'io' AND i.status = 'done'
         AND i.target = r.target AND i.target_version IS NOT DISTINCT FROM r.target_version AND i.run_id < r.run_id
     ORDER BY i.run_id DESC, j.position LIMIT 1)) x
WHERE r.run_id = $1::bigint
