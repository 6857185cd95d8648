-- Evidence of a run about its storage, for the people that run that storage: they know neither this extension nor its tables.

CREATE FUNCTION fsbench._seconds_in_words(run_id bigint, from_second integer, to_second integer) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    -- A second of a stall may be longer than one: figures are added up, and divided by the time that it was.
    -- Figures that were not counted are left out.
    SELECT concat_ws('; ', format('%s s', round(w.seconds::numeric)), round(w.transactions / w.seconds) || ' tps',
        round(w.reads / w.seconds) || ' reads/s', round((w.read_bytes / w.seconds / 1e6)::numeric, 1) || ' MB/s read',
        round(w.writes / w.seconds) || ' writes/s', round((w.write_bytes / w.seconds / 1e6)::numeric, 1) || ' MB/s written',
        round(w.flushes / w.seconds) || ' flushes/s',
        -- Each second counts as often as it had requests.
        CASE WHEN w.writes > 0 THEN round((w.write_ms / w.writes)::numeric, 2) || ' ms a write' END,
        CASE WHEN w.flushes > 0 THEN round((w.flush_ms / w.flushes)::numeric, 2) || ' ms a flush' END,
        round((w.queue / w.seconds)::numeric, 1) || ' requests under way', round((w.busy / w.seconds)::numeric) || ' % busy',
        CASE WHEN w.wal_flushes > 0 THEN format('device of WAL: %s writes/s, %s flushes/s, %s ms a flush', round(w.wal_writes / w.seconds), round(w.wal_flushes / w.seconds),
            round((w.wal_flush_ms / w.wal_flushes)::numeric, 2)) END)
    FROM (SELECT sum(s.interval_ms::float8) / 1000 AS seconds, sum(s.transactions::float8) AS transactions, sum(s.device_reads::float8) AS reads, sum(s.device_read_bytes::float8) AS read_bytes,
                 sum(s.device_writes::float8) AS writes, sum(s.device_write_bytes::float8) AS write_bytes, sum(s.device_flushes::float8) AS flushes,
                 sum(s.device_w_await_ms::float8 * s.device_writes) AS write_ms, sum(s.device_f_await_ms::float8 * s.device_flushes) AS flush_ms,
                 sum(s.device_aqu_sz::float8 * s.interval_ms) / 1000 AS queue, sum(s.device_util_percent::float8 * s.interval_ms) / 1000 AS busy,
                 sum(s.wal_device_writes::float8) AS wal_writes, sum(s.wal_device_flushes::float8) AS wal_flushes, sum(s.wal_device_f_await_ms::float8 * s.wal_device_flushes) AS wal_flush_ms
          FROM fsbench.sample s WHERE s.run_id = $1 AND s.second BETWEEN $2 AND $3 AND s.interval_ms >= 500) w
    WHERE w.seconds > 0
    $$;
COMMENT ON FUNCTION fsbench._seconds_in_words IS 'What the device did in some seconds of a run, in words. Private';

CREATE FUNCTION fsbench._limits_in_words(limits jsonb) RETURNS text
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'fsbench_limits_in_words_wrapper';
COMMENT ON FUNCTION fsbench._limits_in_words IS 'Limits of a cgroup, as fsbench.environment has them, in words; NULL: none, or not known. Private';

CREATE FUNCTION fsbench.evidence(run_id bigint) RETURNS TABLE (part text, at_utc text, says text)
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp ROWS 30 AS $$
DECLARE
    run fsbench.run_log;
    e fsbench.environment;
    device text;
    stall record;
    piece record;
    utc text := 'YYYY-MM-DD HH24:MI:SS "UTC"';
BEGIN
    PERFORM fsbench._check_runs(ARRAY[$1]);
    SELECT * INTO run FROM fsbench.run_log r WHERE r.run_id = $1;
    SELECT * INTO e FROM fsbench.environment v WHERE v.run_id = $1;
    IF run.measured_from IS NULL OR NOT EXISTS (SELECT FROM fsbench.sample s WHERE s.run_id = $1) THEN
        RAISE EXCEPTION 'run % has no seconds that could be shown', $1 USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = format('Its status is %s.', run.status), HINT = 'Take a run of fsbench.result that is done, and was made with samples.';
    END IF;
    RETURN QUERY SELECT 'window', to_char(run.measured_from AT TIME ZONE 'UTC', utc),
        concat_ws('; ', format('%s s', round(run.measured_ms / 1000)), format('%s tps', round(run.tps)), format('%s stalled seconds', run.stall_seconds));
    device := concat_ws('; ', e.device, e.device_model, 'WWN ' || (e.storage #>> '{result,wwn}'), 'serial number ' || (e.storage #>> '{result,serial}'),
        'partition ' || (e.storage #>> '{result,partition_uuid}'), 'mounted on ' || e.mount_point, 'write cache ' || e.write_cache);
    IF device <> '' THEN
        RETURN QUERY SELECT 'device', NULL::text, device;
    END IF;
    RETURN QUERY
    SELECT CASE WHEN l.is_wal THEN 'path of WAL' ELSE 'path' END, NULL::text,
        concat_ws('; ', l.layer ->> 'kind', l.layer ->> 'name', 'number ' || (l.layer ->> 'device'), pg_size_pretty((l.layer ->> 'bytes')::bigint), l.layer ->> 'model', l.layer ->> 'level',
            'WWN ' || (l.layer ->> 'wwn'), 'serial number ' || (l.layer ->> 'serial'), 'scheduler ' || (l.layer #>> '{queue,scheduler}'), 'nr_requests ' || (l.layer #>> '{queue,nr_requests}'), 'queue depth ' || (l.layer #>> '{queue,queue_depth}'),
            'write cache ' || (l.layer #>> '{queue,write_cache}'))
    FROM (SELECT false AS is_wal, x.* FROM jsonb_array_elements(e.layers) WITH ORDINALITY x (layer, n)
          UNION ALL SELECT true, x.* FROM jsonb_array_elements(CASE WHEN e.wal_layers IS DISTINCT FROM e.layers THEN e.wal_layers END) WITH ORDINALITY x (layer, n)) l
    ORDER BY l.is_wal, l.n;
    -- Percentiles are of the means of seconds: the kernel counts, and does not keep single requests.
    RETURN QUERY
    SELECT f.part, NULL::text, format('%s in all; mean of a second: median %s ms, p90 %s ms, p99 %s ms, longest %s ms, over %s seconds', sum(f.flushes),
        round((percentile_cont(0.5) WITHIN GROUP (ORDER BY f.ms))::numeric, 3), round((percentile_cont(0.9) WITHIN GROUP (ORDER BY f.ms))::numeric, 3),
        round((percentile_cont(0.99) WITHIN GROUP (ORDER BY f.ms))::numeric, 3), round(max(f.ms)::numeric, 3), count(f.ms))
    FROM (SELECT 'flushes' AS part, s.device_flushes AS flushes, s.device_f_await_ms AS ms FROM fsbench.sample s WHERE s.run_id = $1
          UNION ALL SELECT 'flushes of WAL', s.wal_device_flushes, s.wal_device_f_await_ms FROM fsbench.sample s WHERE s.run_id = $1) f
    GROUP BY f.part HAVING count(f.ms) > 0 ORDER BY f.part;
    RETURN QUERY
    SELECT 'commits', NULL::text, concat_ws(', ', format('median %s ms', round(run.commit_p50_ms::numeric, 3)), format('p99 %s ms', round(run.commit_p99_ms::numeric, 3)),
        'longest ' || round(run.commit_max_ms::numeric, 3) || ' ms')
    WHERE run.commit_p99_ms IS NOT NULL;
    -- By codes: the probe of the run, and WAL against the device's counters.
    RETURN QUERY
    SELECT 'fsync', NULL::text, concat_ws('; ',
        CASE WHEN c.too_fast THEN 'too fast to be true' WHEN c.unknown OR c.too_fast IS NULL OR p.before_us IS NULL THEN 'cannot be known' ELSE 'plausible' END,
        'durability: ' || e.durability,
        'flush before the clients ' || round(p.before_us, 1) || ' us (median)', 'flush after the clients ' || round(p.after_us, 1) || ' us (median)',
        'syncs of WAL by clients ' || run.client_wal_syncs, 'flushes of the devices ' || run.device_flushes,
        'bytes of WAL ' || run.wal_bytes, 'bytes written to the devices ' || run.device_write_bytes)
    FROM (SELECT bool_or(x.code IN ('flush_too_fast', 'sync_too_fast', 'sync_below_probe', 'no_flushes', 'no_writes')) AS too_fast,
                 -- Promises that the server's settings change are not the device's.
                 bool_or(x.code NOT IN ('fsync_off', 'synchronous_commit_off', 'full_page_writes_off', 'unlogged_tables', 'where_a_test_syncs')) AS unknown
          FROM (SELECT coalesce(d.code ->> 'code', '') AS code FROM jsonb_array_elements(e.durability_codes) d (code)
                UNION ALL SELECT 'where_a_test_syncs' WHERE e.durability_codes IS NOT NULL) x) c,
         (SELECT (run.facts #>> '{flush,before_us}')::numeric AS before_us, (run.facts #>> '{flush,after_us}')::numeric AS after_us) p;
    RETURN QUERY
    SELECT 'sync test', NULL::text, format('%s, %s writers: median %s ms, p99 %s ms, longest %s ms', f.method, f.writers, round(f.latency_p50_ms::numeric, 3), round(f.latency_p99_ms::numeric, 3),
        round(f.latency_max_ms::numeric, 3)) FROM fsbench.fsync f WHERE f.run_id = $1 AND f.method <> 'none' ORDER BY f.position;
    RETURN QUERY SELECT 'whole window', NULL::text, w FROM fsbench._seconds_in_words($1, 0, 2147483647) w;
    FOR stall IN
        SELECT min(s.second) AS first, max(s.second) AS last, row_number() OVER (ORDER BY min(s.second)) AS number
        FROM (SELECT c.second, c.second - row_number() OVER (ORDER BY c.second) AS island FROM fsbench.chart_second c WHERE c.run_id = $1 AND c.stalled) s
        GROUP BY s.island ORDER BY 1
    LOOP
        FOR piece IN SELECT * FROM (VALUES ('before', greatest(stall.first - 5, 0), stall.first - 1), ('during', stall.first, stall.last), ('after', stall.last + 1, stall.last + 5)) p (name, first, last) LOOP
            RETURN QUERY SELECT format('stall %s, %s', stall.number, piece.name), to_char((run.measured_from + make_interval(secs => piece.first)) AT TIME ZONE 'UTC', utc), w
            FROM fsbench._seconds_in_words($1, piece.first, piece.last) w WHERE w IS NOT NULL;
        END LOOP;
    END LOOP;
    RETURN QUERY
    SELECT 'configuration', NULL::text, c.says
    FROM (VALUES (1, concat_ws('; ', e.filesystem, e.mount_options, 'block size ' || e.block_size_bytes)), (2, e.mkfs_command), (3, e.kernel),
        (4, concat_ws('; ', 'scheduler ' || e.io_scheduler, 'nr_requests ' || e.nr_requests, 'queue depth ' || e.queue_depth, 'read-ahead ' || e.read_ahead_kb || ' kB')),
        (5, (SELECT string_agg(format('%s = %s', v.key, v.value), '; ' ORDER BY v.key) FROM jsonb_each_text(e.vm) v WHERE v.key ~ 'dirty')),
        (6, e.server_version),
        (7, concat_ws('; ', 'container ' || nullif(e.container, 'none'), 'limits of the server''s cgroup: ' || fsbench._limits_in_words(e.limits)))) c (n, says) WHERE c.says <> '' ORDER BY c.n;
END
$$;
COMMENT ON FUNCTION fsbench.evidence IS 'What a run shows of its storage, for a ticket to those who run that storage: the device and the path to it, what flushes and commits took, each stall in UTC with what the device did before, during and after it, and the configuration; nothing else';
