-- How run $1 ended, by its row. A run that is not over and has no coordinator counts as failed with SQLSTATE $2.
SELECT CASE WHEN status = 'done' THEN jsonb_build_object('done', jsonb_build_object('run_id', run_id,
        'target', target, 'filesystem', filesystem, 'workload', workload, 'tps', tps,
        'latency_p99_ms', latency_p99_ms, 'latency_max_ms', latency_max_ms, 'commit_p99_ms', commit_p99_ms,
        'stall_seconds', stall_seconds, 'findings', findings, 'worst', worst_finding,
        'worst_code', coalesce((SELECT code FROM fsbench.finding f WHERE f.run_id = r.run_id AND severity = worst_finding
          ORDER BY weight DESC, code COLLATE "C" LIMIT 1), '')))
      ELSE jsonb_build_object('failed', jsonb_build_object('sqlstate', coalesce(error_code, $2),
        'message', coalesce(error, 'the run is ' || status), 'detail', error_detail, 'hint', error_hint)) END
    FROM fsbench.result r WHERE run_id = $1::bigint
