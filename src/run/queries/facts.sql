-- Facts by which a run, $1, is judged: what has no column, and what columns of the tables hold, by the names of RunFacts.
SELECT jsonb_build_array(coalesce(r.facts, '{}'), jsonb_build_object(
      'quick', jsonb_typeof(r.used->'within_ms') IS NOT DISTINCT FROM 'number',
      -- Each of several servers has this rate, and seconds are those of all servers.
      'workload', r.workload, 'clients', r.clients, 'scale', r.scale, 'rate', r.rate * n.servers,
      'unlogged', (r.used #>> '{options,unlogged}')::boolean,
      'data_bytes', r.data_bytes, 'checkpoints', r.complete_checkpoints,
      'checkpoints_logged', r.checkpoints_logged,
      'measured', r.transactions_total, 'failed', r.failed,
      -- A search for a rate tries rates that are too high.
      'skipped', CASE WHEN search IS NULL THEN r.skipped END,
      -- Each of several servers has its own.
      'shared_buffers_bytes', e.shared_buffers_bytes * n.servers, 'memory_bytes', e.memory_bytes,
      'seconds_tps', (SELECT jsonb_agg(transactions * 1000 / interval_ms ORDER BY second) FROM fsbench.sample s
         WHERE s.run_id = r.run_id AND interval_ms >= 500 AND transactions IS NOT NULL AND search IS NULL),
      'cache', coalesce(r.used #>> '{options,cache}', 'warm'),
      'server', jsonb_build_object('extends_by_fallocate',
         coalesce(e.settings #>> '{file_extend_method,setting}' = 'posix_fallocate', e.server_version_num >= 160000)),
      'crash', coalesce((SELECT jsonb_build_object('committed', transactions_committed, 'found', transactions_found,
         'problem', problem, 'verified', balances_verified) FROM fsbench.recovery c WHERE c.run_id = r.run_id), '{}'),
      -- All runs of power cuts with the same key count: a later run that lost nothing makes up for no loss.
      'power_cuts', coalesce((SELECT jsonb_build_object('cuts', sum(p.cuts), 'failed', sum(p.failed))
         FROM fsbench.run_log c JOIN fsbench.environment ce USING (run_id) JOIN fsbench.power_cut_result p USING (run_id)
         WHERE NOT p.control AND p.outcome <> 'void' AND c.workload = 'power-cut' AND c.status = 'done' AND c.run_id <= r.run_id
            -- A target may have another name. Definition, machine, kernel, server and the settings on which durability depends must agree.
            AND fsbench._same_definition(c.target_definition, r.target_definition)
            AND ce.host_fingerprint = e.host_fingerprint AND ce.kernel = e.kernel AND ce.server_version_num = e.server_version_num
            AND (c.facts -> 'fsync', c.facts -> 'full_page_writes', c.facts -> 'synchronous_commit')
               IS NOT DISTINCT FROM (r.facts -> 'fsync', r.facts -> 'full_page_writes', r.facts -> 'synchronous_commit')
            AND NOT EXISTS (SELECT FROM unnest('{wal_sync_method,debug_io_direct,wal_init_zero,wal_recycle}'::text[]) name
               WHERE ce.settings #> ARRAY[name, 'setting'] IS DISTINCT FROM e.settings #> ARRAY[name, 'setting'])
            AND NOT EXISTS (SELECT FROM fsbench.imported_run i WHERE i.run_id = c.run_id)), '{}'),
      'storage', jsonb_build_object(
         'mount_options_not_shown', e.storage #> '{result,mount_options_not_shown}',
         'properties_not_in_force', e.storage #> '{result,properties_not_in_force}',
         'compression', e.storage #> '{result,properties,compression}', 'zfs_sync', e.storage #> '{result,properties,sync}',
         'log_layers', e.storage -> 'log_layers',
         'cloned', r.used #>> '{options,data}' = 'cloned',
         'attributes', e.data_attributes, 'file_attributes', e.data_file_attributes, 'has_fallocate', e.fallocate,
         'filesystem', e.filesystem, 'mount_options', e.mount_options, 'mkfs_command', e.mkfs_command,
         'stripe_unit_bytes', e.geometry->'stripe_unit_bytes', 'size_bytes', e.filesystem_size_bytes,
         'free_bytes', e.filesystem_free_bytes, 'on_device', e.storage #> '{request,storage}' ? 'device',
         'ssd_state', e.storage #>> '{result,ssd_state}', 'power_loss_protected', e.storage->'power_loss_protected',
         'made', coalesce(e.storage ? 'request', false), 'layout', e.storage #>> '{result,layout}',
         'layout_chunk', e.storage #>> '{result,layout_options,chunk}', 'device_write_bytes', r.device_write_bytes, 'device_read_bytes', r.device_read_bytes,
         'server_read_bytes', coalesce(r.io_read_bytes, r.client_blocks_read * 8192),
         'server_write_bytes', r.server_write_bytes + CASE WHEN r.changed_bytes > 0 THEN r.transactions_total * 8192 ELSE 0 END,
         'write_cache', e.write_cache, 'rotational', e.rotational, 'discard_max_bytes', e.discard_max_bytes,
         -- Runs of version 1.0.0 on zfs have them in storage.
         'layers', coalesce(e.layers, e.storage -> 'layers')),
      'wal_sync', jsonb_build_object('servers', n.servers, 'syncs', r.client_wal_syncs, 'sync_ms', r.client_wal_sync_ms, 'window_ms', r.measured_ms, 'wal_bytes', r.wal_bytes,
         -- Settings that are not stored have their default.
         'method', CASE WHEN e.settings IS NOT NULL THEN coalesce(e.settings #>> '{wal_sync_method,setting}', 'fdatasync') END,
         'device_flushes', CASE WHEN is_together THEN s.flushes ELSE s.wal_flushes END,
         'device_write_bytes', CASE WHEN is_together THEN s.written ELSE s.wal_written END),
      'wal_storage', CASE WHEN e.wal_st_dev <> e.st_dev THEN jsonb_build_object('filesystem', e.wal_filesystem,
         'mount_options', e.wal_mount_options, 'layers', e.wal_layers) END,
      'machine', jsonb_build_object(
         'virtualization', e.virtualization, 'clock_source', e.clock_source, 'governor', e.cpu_governor,
         'cpu_clients', r.client_cpu_seconds * 1000 / nullif(r.measured_ms * e.processors, 0),
         'cpu_idle', s.idle, 'cpu_iowait', s.iowait, 'cpu_steal', s.steal, 'memory_pressure', s.memory_pressure,
         'dirty_bytes_max', s.dirty, 'dirty_bytes_limit', e.vm->'dirty_bytes'),
      'checkpoints_seen', jsonb_build_object('timed', r.checkpoints_timed, 'requested', r.checkpoints_requested,
         'cycles', r.measured_ms / 1000 / nullif(extract(epoch FROM CASE WHEN e.settings IS NULL THEN NULL
            WHEN timeout IS NULL THEN '5min' WHEN timeout ~ '^[0-9]{1,5}(s|min|h|d)$' THEN timeout END::interval), 0),
         'distance_bytes', (SELECT avg(distance_bytes) FROM fsbench.checkpoint c WHERE c.run_id = r.run_id
            AND NOT started_before AND NOT ended_after)),
      'waits', jsonb_build_object('lock_share', (SELECT sum(samples) FILTER (WHERE wait_event_type = 'Lock')::float8
         / nullif(sum(samples), 0) FROM fsbench.wait_event w WHERE w.run_id = r.run_id)),
      'asking_server_shared_buffers_bytes', e.storage #> '{asking_server,shared_buffers_bytes}',
      'latency_ms', r.latency_avg_ms,
      'service_ms', (SELECT sum_ms / nullif(transactions, 0) FROM fsbench.histogram h
         WHERE h.run_id = r.run_id AND measure = 'service' AND fsbench._is_of_all(h.run_id, h.transaction))))
    FROM fsbench.run_log r LEFT JOIN fsbench.environment e USING (run_id),
      LATERAL (SELECT greatest(count(*), 1) AS servers FROM fsbench.run_instance i WHERE i.run_id = r.run_id) n,
      LATERAL (SELECT r.used #>> '{options,sustain}' AS search, e.settings #>> '{checkpoint_timeout,setting}' AS timeout,
         -- Each subvolume of btrfs has a number of its own.
         e.wal_st_dev = e.st_dev OR (e.wal_device = e.device AND e.device LIKE '/%') AS is_together) o,
      LATERAL (SELECT avg(cpu_idle_percent) FILTER (WHERE interval_ms >= 500) / 100 AS idle,
         avg(cpu_iowait_percent) FILTER (WHERE interval_ms >= 500) / 100 AS iowait,
         avg(cpu_steal_percent) FILTER (WHERE interval_ms >= 500) / 100 AS steal,
         avg(pressure_memory_some_percent) FILTER (WHERE interval_ms >= 500) / 100 AS memory_pressure,
         round(max(dirty_bytes + writeback_bytes))::bigint AS dirty,
         -- A second of which nothing is known may have had them all.
         CASE WHEN bool_and(device_flushes IS NOT NULL) THEN sum(device_flushes) END AS flushes,
         CASE WHEN bool_and(device_write_bytes IS NOT NULL) THEN round(sum(device_write_bytes::float8)) END AS written,
         CASE WHEN bool_and(wal_device_flushes IS NOT NULL) THEN sum(wal_device_flushes) END AS wal_flushes,
         CASE WHEN bool_and(wal_device_write_bytes IS NOT NULL) THEN round(sum(wal_device_write_bytes::float8)) END AS wal_written
         FROM fsbench.sample WHERE run_id = r.run_id) s
    WHERE r.run_id = $1::bigint AND r.status = 'done'
