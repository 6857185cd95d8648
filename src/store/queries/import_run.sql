-- The row of run $1 from the document $2 of the server that has carried it out, its phases $3 and its steps $5. The arguments in use are
-- those asked for here, but for a window that was cut there, and values that were chosen there: those of the options $4.
UPDATE fsbench.run_log r SET status = 'done', (used, {columns}) = (SELECT
        r.used - '{scale,clients}'::text[] || jsonb_strip_nulls(jsonb_build_object('scale', n.scale, 'clients', n.clients))
          || jsonb_build_object('bound', n.used->'bound', 'warmup_ms', n.used->'warmup_ms') || jsonb_build_object('options', coalesce(r.used->'options', '{}') || coalesce((
            SELECT jsonb_object_agg(key, value)
            FROM jsonb_each(n.used->'options') WHERE key = ANY (string_to_array($4, ','))), '{}')), {values}
      FROM jsonb_populate_record(NULL::fsbench.run_log, $2::jsonb->'run' || jsonb_build_object(
        'ended_at', clock_timestamp(), 'phases', $3::jsonb, 'steps', $5::jsonb)) n)
    WHERE r.run_id = $1::bigint
