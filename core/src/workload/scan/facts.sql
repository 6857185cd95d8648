-- Facts about the scans of a run, $1, by the names of ScanFacts.
SELECT jsonb_build_object(
    'degrees_not_launched', (SELECT coalesce(jsonb_agg(DISTINCT s.degree), '[]') FROM fsbench.scan s
       WHERE s.run_id = r.run_id AND (workers_planned <> degree OR workers_launched <> degree)),
    'gb_per_second', best.gb_per_second, 'read_gb_per_second', reading.gb_per_second, 'readers', reading.readers,
    'cache', coalesce(r.used #>> '{options,cache}', 'warm'),
    'scans', (SELECT jsonb_agg(jsonb_build_object('degree', degree, 'repeat', repeat, 'used', used, 'bytes', bytes,
       'outside', buffers_read * 8192, 'storage', CASE WHEN tells THEN process_read_bytes END, 'device', CASE WHEN tells THEN device_read_bytes END,
       'for_others', others_read_bytes)
       ORDER BY scan) FROM fsbench.scan s, LATERAL (SELECT page_cache_bytes IS NOT NULL OR NOT used AS tells) t
       WHERE s.run_id = r.run_id AND workers_planned = degree AND workers_launched = degree))
FROM fsbench.run_log r
  LEFT JOIN LATERAL (SELECT degree, percentile_cont(0.5) WITHIN GROUP (ORDER BY gb_per_second) AS gb_per_second
       FROM fsbench.scan c WHERE c.run_id = r.run_id AND c.used GROUP BY degree ORDER BY 2 DESC LIMIT 1) best ON true
  LEFT JOIN LATERAL (SELECT readers, gb_per_second FROM fsbench.scan_read c
       WHERE c.run_id = r.run_id AND block_bytes = 8192 AND readers <= best.degree
         + CASE WHEN r.used #> '{options,leader}' = 'false' THEN 0 ELSE 1 END
       ORDER BY readers DESC LIMIT 1) reading ON true
WHERE r.run_id = $1::bigint
