-- Wait events of the clients of a run.

CREATE TABLE fsbench.wait_event (
    run_id           bigint NOT NULL REFERENCES fsbench.run_log ON DELETE CASCADE,
    second           integer NOT NULL,
    wait_event_type  text NOT NULL,
    wait_event       text NOT NULL,
    samples          integer NOT NULL,
    PRIMARY KEY (run_id, second, wait_event_type, wait_event)
);
COMMENT ON TABLE fsbench.wait_event IS 'What the clients of a run waited for in each second: each was looked at 100 times a second while it was at work. Of a run of fsync these are the writers of the test that went on, of a run of scans the processes that scanned or read the table. fsbench.wait_profile() adds it up';
COMMENT ON COLUMN fsbench.wait_event.second IS 'Second of the measured window, from 0';
COMMENT ON COLUMN fsbench.wait_event.wait_event_type IS 'Type of the wait event, as in pg_stat_activity; CPU: the client waited for nothing, so that it ran or wanted a processor; other: what came after the first 24 events of a second';
COMMENT ON COLUMN fsbench.wait_event.wait_event IS 'Wait event, as in pg_stat_activity; Extension: under a rate, the client waited until its next transaction was due';
COMMENT ON COLUMN fsbench.wait_event.samples IS 'Number of looks at which a client waited for it';

CREATE FUNCTION fsbench.wait_profile(run_id bigint, from_second integer DEFAULT NULL, to_second integer DEFAULT NULL)
    RETURNS TABLE (wait_event_type text, wait_event text, samples bigint, percent float8)
    LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    IF $1 IS NOT NULL AND NOT EXISTS (SELECT FROM fsbench.run_log r WHERE r.run_id = $1) THEN
        RAISE EXCEPTION 'run % does not exist', $1 USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = 'There is no row with this run_id in fsbench.run_log of this database.', HINT = 'See fsbench.result.';
    END IF;
    RETURN QUERY
        SELECT w.wait_event_type, w.wait_event, sum(w.samples),
               round(100 * sum(w.samples) / sum(sum(w.samples)) OVER (), 2)::float8
        FROM fsbench.wait_event w
        WHERE w.run_id = $1 AND w.second BETWEEN coalesce($2, 0) AND coalesce($3, 2147483647)
        GROUP BY w.wait_event_type, w.wait_event
        ORDER BY 3 DESC, 1, 2;
END
$$;
COMMENT ON FUNCTION fsbench.wait_profile IS 'What the clients of a run spent their time with, the most frequent first: wait events as in pg_stat_activity, and CPU where they waited for nothing; all of it, or from one second to another. Empty for a run without a sampler';
