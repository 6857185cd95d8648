-- The environments of the targets of experiment $1: that of each one's first run that counts.
WITH counted AS (SELECT x.target_number AS number, min(x.run_id) AS run_id, percentile_cont(0.5) WITHIN GROUP (ORDER BY r.stall_seconds) AS stalls,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY r.device_bytes_per_transaction) AS written, percentile_cont(0.5) WITHIN GROUP (ORDER BY r.flushes_per_transaction) AS flushes,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY (r.facts #>> '{flush,before_us}')::float8) AS flush_us,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY r.device_read_bytes) AS device_read,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY coalesce(r.io_read_bytes, r.client_blocks_read * 8192)) AS server_read,
    avg(r.checkpoints_requested)::float8 AS forced, avg(r.checkpoints_requested + r.checkpoints_timed)::float8 AS checkpoints
  FROM fsbench.experiment_run x JOIN fsbench.run_log r USING (run_id)
  WHERE x.experiment_id = $1::bigint AND x.outcome IN ('measured', 'behind') GROUP BY 1)
SELECT coalesce(jsonb_agg(jsonb_build_object('number', c.number, 'kind', r.target_definition ->> 'kind', 'filesystem', e.filesystem,
  'mkfs_command', e.mkfs_command, 'has_mkfs_options', coalesce(r.target_definition ->> 'mkfs_options', '') <> '',
    'device', r.target_definition ->> 'device', 'kernel', nullif(split_part(e.kernel, ' ', 2), ''),
    'mount_options', r.target_definition ->> 'mount_options', 'durability_codes', e.durability_codes,
  'virtualization', e.virtualization, 'container', e.container, 'limits', e.limits, 'data_bytes', r.data_bytes, 'memory_bytes', e.memory_bytes,
    'asking_server_shared_buffers_bytes', (e.storage #>> '{asking_server,shared_buffers_bytes}')::float8, 'shared_buffers_bytes', e.shared_buffers_bytes, 'stall_seconds', c.stalls,
  'device_bytes_per_transaction', c.written, 'flushes_per_transaction', c.flushes, 'flush_us', c.flush_us,
  'crash', r.used #>> '{options,crash}' = 'true', 'power_loss_protected', (r.target_definition ->> 'power_loss_protected')::boolean,
  'settings', coalesce(r.target_definition -> 'settings', '{}') || coalesce(t.own -> 'settings', '{}'),
  'block_settings', r.target_definition -> 'block_settings', 'kernel_settings', r.target_definition -> 'kernel_settings',
  'layout', r.target_definition ->> 'layout', 'members', coalesce(jsonb_array_length(r.target_definition -> 'devices'), (r.target_definition ->> 'image_count')::integer),
    'log_devices', CASE jsonb_typeof(r.target_definition -> 'log_devices') WHEN 'array' THEN jsonb_array_length(r.target_definition -> 'log_devices') END,
    'layout_options', r.target_definition -> 'layout_options', 'has_log_device', coalesce(r.target_definition ->> 'log_device', r.target_definition ->> 'log_size_bytes') IS NOT NULL,
    'layers', CASE WHEN r.target_definition ->> 'layout' IS NOT NULL THEN coalesce(e.layers, e.storage -> 'layers') END,
  'workload', r.workload, 'clients', r.clients, 'forced_checkpoints', c.forced, 'checkpoints', c.checkpoints,
    'data_checksums', e.data_checksums, 'device_read_bytes', c.device_read, 'server_read_bytes', c.server_read,
    'is_on_loop', jsonb_path_exists(e.layers, '$[*] ? (@.kind == "loop")'),
    'power_cuts', (SELECT jsonb_build_object('cuts', sum(p.cuts), 'failed', sum(p.failed)) FROM fsbench.experiment_run y JOIN fsbench.power_cut_result p USING (run_id)
      WHERE y.experiment_id = $1::bigint AND y.target_number = c.number AND y.outcome = 'power_cut' AND NOT p.control AND p.outcome <> 'void')) ORDER BY c.number), '[]')
FROM counted c JOIN fsbench.run_log r USING (run_id) LEFT JOIN fsbench.environment e USING (run_id)
  JOIN fsbench.experiment_target t ON t.experiment_id = $1::bigint AND t.target_number = c.number
