-- Results of the scans of a run together.

CREATE FUNCTION fsbench.knee(degrees integer[], ms float8[]) RETURNS TABLE (verdict text, degree integer, low float8, high float8, tolerance float8, says text)
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'fsbench_knee_wrapper';
COMMENT ON FUNCTION fsbench.knee IS 'The knee of a scaling curve, given the degree and the time (ms) of each measurement, several of one degree being its repeats: the degree after which another worker no longer helps. verdict: knee (it is between low and high, 95 % by bootstrap over the repeats; degree is the smallest one that no other is faster than by more than tolerance), flat, still_rising, or not_identifiable; says: the same in words';

CREATE FUNCTION fsbench._check_scan(run_id bigint) RETURNS void LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    is_a text;
BEGIN
    SELECT r.workload INTO is_a FROM fsbench.run_log r WHERE r.run_id = $1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'run % does not exist', $1 USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = 'There is no row with this run_id in fsbench.run_log of this database.', HINT = 'See fsbench.result.';
    ELSIF is_a <> 'scan' THEN
        RAISE EXCEPTION 'run % is none of the workload scan', $1 USING ERRCODE = 'invalid_parameter_value', DETAIL = format('Its workload is %s.', is_a),
                  HINT = 'See fsbench.result for those that are.';
    END IF;
END
$$;
COMMENT ON FUNCTION fsbench._check_scan IS 'Refuses a run that is none of the workload scan. Private';

CREATE FUNCTION fsbench.scan_curve(run_id bigint)
    RETURNS TABLE (degree integer, repeats bigint, not_used bigint, median_ms float8, min_ms float8, max_ms float8,
        gb_per_second float8, rows_per_second float8, speedup float8, efficiency float8, skew float8)
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp ROWS 10 AS $$
BEGIN
    PERFORM fsbench._check_scan($1);
    RETURN QUERY
    WITH curve AS (
        SELECT s.degree, count(*) FILTER (WHERE s.used) AS repeats, count(*) FILTER (WHERE NOT s.used) AS not_used,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY s.ms) FILTER (WHERE s.used) AS median_ms,
               min(s.ms) FILTER (WHERE s.used) AS min_ms, max(s.ms) FILTER (WHERE s.used) AS max_ms,
               max(s.bytes) AS bytes, max(s.rows) AS rows,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY s.skew) FILTER (WHERE s.used) AS skew
        FROM fsbench.scan s WHERE s.run_id = $1 AND s.degree > 0 AND s.ms > 0 AND s.ms < 'Infinity' GROUP BY s.degree
    ), base AS (
        SELECT c.degree * c.median_ms AS work FROM curve c ORDER BY c.degree LIMIT 1
    )
    SELECT c.degree, c.repeats, c.not_used, c.median_ms, c.min_ms, c.max_ms,
           c.bytes / 1e6 / c.median_ms, c.rows * 1000 / c.median_ms,
           b.work / c.median_ms, b.work / c.median_ms / c.degree, c.skew
    FROM curve c LEFT JOIN base b ON true ORDER BY c.degree;
END
$$;
COMMENT ON FUNCTION fsbench.scan_curve IS 'The curve of a run of the workload scan, for plotting: for each degree the scans that count and those that do not (not_used: not all workers were there, or the cache was not as asked), median, shortest and longest time (ms), bytes (10^9) and rows per second at the median, speed-up (how many times as fast as with one worker; without degree 1 the smallest one that was asked for counts as perfectly parallel; NULL when no scan of it counts), efficiency (speed-up / degree), and median skew';

CREATE FUNCTION fsbench.scan_knee(run_id bigint) RETURNS TABLE (verdict text, degree integer, low float8, high float8, tolerance float8, says text)
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp ROWS 1 AS $$
BEGIN
    PERFORM fsbench._check_scan($1);
    RETURN QUERY
    SELECT k.verdict, k.degree, k.low, k.high, k.tolerance,
           CASE WHEN c.counting < 3 AND c.counting < c.asked
                THEN format('not identifiable: it takes at least three degrees, and only %s of %s have scans that count', c.counting, c.asked)
                ELSE k.says END
    -- A row that no scan has made breaks no view over all runs.
    FROM (SELECT coalesce((array_agg(s.degree ORDER BY s.scan) FILTER (WHERE s.used))[:100000], '{}') AS degrees,
                 coalesce((array_agg(s.ms ORDER BY s.scan) FILTER (WHERE s.used))[:100000], '{}') AS ms,
                 count(DISTINCT s.degree) AS asked, count(DISTINCT s.degree) FILTER (WHERE s.used) AS counting
          FROM fsbench.scan s WHERE s.run_id = $1 AND s.degree > 0 AND s.ms > 0 AND s.ms < 'Infinity') c, fsbench.knee(c.degrees, c.ms) k;
END
$$;
COMMENT ON FUNCTION fsbench.scan_knee IS 'The knee of a run of the workload scan: the degree after which another worker no longer helps; see fsbench.knee()';

GRANT EXECUTE ON FUNCTION fsbench._check_scan(bigint), fsbench.scan_curve(bigint), fsbench.scan_knee(bigint) TO pg_monitor;
