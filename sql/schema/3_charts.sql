-- Charts for psql: one column of text. What is drawn is read with the caller's rights.

CREATE FUNCTION fsbench._draw(what jsonb, width integer, height integer, ascii boolean) RETURNS SETOF text
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE ROWS 16 AS 'MODULE_PATHNAME', 'fsbench_chart_wrapper';
COMMENT ON FUNCTION fsbench._draw IS 'Draws a chart that chart() or chart_experiment() has put together. Private';

CREATE FUNCTION fsbench._is_ascii_wanted(ascii boolean) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
    AS $$ SELECT coalesce(ascii, pg_client_encoding() <> 'UTF8' OR current_setting('server_encoding') <> 'UTF8') $$;
COMMENT ON FUNCTION fsbench._is_ascii_wanted IS 'Whether a chart has to do without blocks: as asked, else where the client or the database cannot show them. Private';

CREATE FUNCTION fsbench.chart(run_id bigint, metric text DEFAULT 'tps', width integer DEFAULT 80, height integer DEFAULT 8, ascii boolean DEFAULT NULL)
    RETURNS SETOF text LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp ROWS 16 AS $$
DECLARE
    run fsbench.run_log;
    shown jsonb;
    checkpoints bigint;
BEGIN
    IF $1 IS NULL OR $2 IS NULL OR $3 IS NULL OR $4 IS NULL THEN
        RAISE EXCEPTION 'run_id, metric, width and height must not be null' USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = 'Only ascii may be: then blocks are drawn where client and database have them.', HINT = 'Call it as in SELECT fsbench.chart(7).';
    END IF;
    SELECT * INTO run FROM fsbench.run_log r WHERE r.run_id = $1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'run % does not exist', $1 USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = 'There is no row with this run_id in fsbench.run_log of this database.', HINT = 'See fsbench.result.';
    ELSIF $2 <> 'tps' AND NOT EXISTS (
        SELECT FROM pg_attribute a
        WHERE a.attrelid = 'fsbench.sample'::regclass AND a.attname = $2 AND a.attnum > 0 AND a.attname NOT IN ('run_id', 'second')
          AND a.atttypid IN ('smallint'::regtype, 'integer'::regtype, 'bigint'::regtype, 'real'::regtype, 'double precision'::regtype, 'numeric'::regtype))
    THEN
        RAISE EXCEPTION 'a second has no figure "%"', $2 USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = 'Known are tps and the columns of fsbench.sample that are numbers.', HINT = 'See \d fsbench.sample.';
    END IF;
    -- A second that is not there belongs to the one before.
    WITH sample AS (
        SELECT s.second, CASE WHEN $2 = 'tps' THEN s.transactions * 1000.0 / nullif(s.interval_ms, 0) ELSE (to_jsonb(s) ->> $2)::float8 END AS value,
               s.transactions * 1000.0 / nullif(s.interval_ms, 0) AS tps,
               lead(s.second, 1, s.second + 1) OVER (ORDER BY s.second) - s.second AS seconds
        FROM fsbench.sample s WHERE s.run_id = $1
    ), filled AS (
        SELECT n AS second, s.value, s.tps FROM sample s, generate_series(s.second, s.second + s.seconds - 1) n
    )
    SELECT jsonb_build_object('values', jsonb_agg(f.value ORDER BY n), 'tps', jsonb_agg(f.tps ORDER BY n)) INTO shown
    FROM (SELECT generate_series(0, max(second)) AS n FROM filled) every LEFT JOIN filled f ON f.second = every.n;
    IF NOT jsonb_path_exists(shown, '$.values[*] ? (@ != null)') THEN
        RAISE EXCEPTION 'run % has no second with a % that could be drawn', $1, $2 USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = format('Its workload is %s, its status %s.', run.workload, run.status),
                  HINT = CASE WHEN run.workload = 'scan' THEN 'Call fsbench.scan_curve() for its curve, or take a figure of its device: device_read_bytes.'
                              ELSE 'See fsbench.sample for the figures of its seconds.' END;
    END IF;
    SELECT count(*), shown || jsonb_build_object('checkpoints',
           coalesce(jsonb_agg(jsonb_build_array(c.start_second, coalesce(c.end_second, 1000000000) + 1) ORDER BY c.number), '[]'))
    INTO checkpoints, shown FROM fsbench.checkpoint c WHERE c.run_id = $1;
    RETURN QUERY SELECT * FROM fsbench._draw(jsonb_build_object('seconds', shown || jsonb_build_object('title',
        format('run %s, %s, %s: %s checkpoint%s; %s', $1, fsbench._shown_target(run.target, run.target_version), run.workload, checkpoints, CASE WHEN checkpoints = 1 THEN '' ELSE 's' END, $2))),
        $3, $4, fsbench._is_ascii_wanted($5));
END
$$;
COMMENT ON FUNCTION fsbench.chart IS 'A run by second, drawn with characters: tps, or any column of fsbench.sample that is a number, over the measured window, with its checkpoints and stalls below. Where a column stands for several seconds it shows the lowest, the median and the highest of them. width: characters in a line, 40 to 500; height: rows of the plot, 2 to 100; ascii: without blocks, by itself where client or database do not have them';

CREATE FUNCTION fsbench.chart_experiment(experiment text, width integer DEFAULT 80, ascii boolean DEFAULT NULL) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp ROWS 10 AS $$
DECLARE
    e record;
    rows jsonb;
    blocks integer;
    unlike boolean;
BEGIN
    IF $1 IS NULL OR $2 IS NULL THEN
        RAISE EXCEPTION 'experiment and width must not be null' USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = 'Only ascii may be: then blocks are drawn where client and database have them.',
                  HINT = 'Call it as in SELECT fsbench.chart_experiment(''new server'').';
    END IF;
    -- The best one is what the others are compared with.
    SELECT jsonb_agg(jsonb_build_object('label', c.target, 'ratio', CASE WHEN c.verdict IN ('best', 'leading') THEN coalesce(c.ratio, 1) ELSE c.ratio END,
               'low', c.low, 'high', c.high, 'remark', c.verdict || CASE WHEN NOT c.same_durability THEN ' *' ELSE '' END)),
           max(c.blocks), bool_or(NOT c.same_durability)
    INTO rows, blocks, unlike FROM fsbench.compare($1) c;
    SELECT x.status, x.metric, x.margin, CASE WHEN x.goal = 'best' THEN 'what each is compared with' ELSE t.target END AS reference INTO e
    FROM fsbench.experiment x LEFT JOIN fsbench.experiment_target t ON t.experiment_id = x.experiment_id AND t.target_number = x.baseline_number
    WHERE x.experiment = $1;
    IF blocks IS NULL THEN
        RAISE EXCEPTION 'experiment "%" has no look that could be drawn', $1 USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = format('Its status is %s, and no block counts yet.', e.status),
                  HINT = 'The first look is after 3 blocks; see fsbench.experiments for how far it is.';
    END IF;
    RETURN QUERY SELECT * FROM fsbench._draw(jsonb_build_object('intervals', jsonb_build_object(
        'title', format('experiment %s, %s after %s blocks: %s, ratio to %s%s', $1, e.status, blocks, e.metric, e.reference,
            CASE WHEN unlike THEN '; * not as durable' ELSE '' END),
        'rows', rows, 'margin', e.margin, 'reference', e.reference)), $2, 8, fsbench._is_ascii_wanted($3));
END
$$;
COMMENT ON FUNCTION fsbench.chart_experiment IS 'What an experiment says of its targets at its last look (fsbench.compare), drawn with characters: each ratio as a dot with its interval, against the margin within which a difference does not count. width and ascii as in fsbench.chart()';
