-- Stores the request to the helper and its result, $2, with the environment of run $1.
UPDATE fsbench.environment SET storage = $2::jsonb - 'layers',
      -- A server cannot see the devices of zfs. WAL is on the same filesystem.
      layers = coalesce(layers, $2::jsonb -> 'layers'),
      wal_layers = coalesce(wal_layers, $2::jsonb -> 'layers'),
      mkfs_version = $2::jsonb #>> '{result,mkfs_version}',
      mkfs_command = (SELECT string_agg(word, ' ' ORDER BY place) FROM fsbench.helper_job j,
         jsonb_array_elements(j.steps) s, jsonb_array_elements_text(s->'argv') WITH ORDINALITY a(word, place)
         WHERE j.run_id = $1::bigint AND j.action = 'prepare' AND j.status = 'done'
           AND s->>'step' IN ('mkfs', 'create_pool')),
      geometry = nullif($2::jsonb #> '{result,geometry}', 'null'),
      block_size_bytes = coalesce(($2::jsonb #>> '{result,geometry,block_bytes}')::bigint, block_size_bytes)
    WHERE run_id = $1::bigint
