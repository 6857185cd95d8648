-- Properties that several runs share, and their differences.

-- A list in an error has an end, whatever the caller gives.
CREATE FUNCTION fsbench._some_runs(run_ids bigint[]) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT string_agg(coalesce(s.id::text, 'NULL'), ', ' ORDER BY s.id) FILTER (WHERE s.place <= 10) || CASE WHEN count(*) > 10 THEN format(', and %s more', count(*) - 10) ELSE '' END
    FROM (SELECT d.id, row_number() OVER (ORDER BY d.id) AS place FROM (SELECT DISTINCT u.id FROM unnest($1) u (id)) d) s
    $$;
COMMENT ON FUNCTION fsbench._some_runs IS 'The first ten of some runs in words, and how many more they are. Private';

CREATE FUNCTION fsbench._check_runs(run_ids bigint[]) RETURNS void LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    unknown bigint[];
BEGIN
    SELECT array_agg(id) INTO unknown
    FROM unnest(run_ids) AS id WHERE NOT EXISTS (SELECT FROM fsbench.run_log r WHERE r.run_id = id);
    IF unknown IS NOT NULL THEN
        RAISE EXCEPTION 'run % does not exist', fsbench._some_runs(unknown) USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = 'There is no row with this run_id in fsbench.run_log of this database.', HINT = 'See fsbench.result.';
    END IF;
END
$$;
COMMENT ON FUNCTION fsbench._check_runs IS 'Refuses numbers of runs that there are not. Private';

CREATE FUNCTION fsbench.findings(run_ids bigint[])
    RETURNS TABLE (code text, severity text, differs boolean, runs_with bigint[], runs_without bigint[], message text, hint text)
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp ROWS 10 AS $$
DECLARE
    done bigint[];
    others bigint[];
BEGIN
    PERFORM fsbench._check_runs(run_ids);
    SELECT array_agg(r.run_id ORDER BY r.run_id) FILTER (WHERE r.status = 'done'),
           array_agg(r.run_id ORDER BY r.run_id) FILTER (WHERE r.status <> 'done') INTO done, others
    FROM fsbench.run_log r WHERE r.run_id = ANY (run_ids);
    IF others IS NOT NULL THEN
        RAISE NOTICE 'run % is not done, and is left out', fsbench._some_runs(others);
    END IF;
    RETURN QUERY
    WITH found AS (
        SELECT f.*, array_position(ARRAY['info', 'warning', 'invalid'], f.severity) AS badness
        FROM fsbench.finding f WHERE f.run_id = ANY (done)
    ), grouped AS (
        SELECT f.code, max(f.badness) AS badness, max(f.weight) AS weight, array_agg(f.run_id ORDER BY f.run_id) AS runs_with,
               count(*) < cardinality(done) OR min(f.badness) < max(f.badness) AS differs
        FROM found f GROUP BY f.code
    )
    SELECT g.code, worst.severity, g.differs, g.runs_with,
           ARRAY(SELECT id FROM unnest(done) AS id WHERE id <> ALL (g.runs_with) ORDER BY id), worst.message, worst.hint
    FROM grouped g, LATERAL (SELECT f.* FROM found f WHERE f.code = g.code ORDER BY f.badness DESC, f.run_id LIMIT 1) worst
    ORDER BY g.differs DESC, g.badness DESC, g.weight DESC, g.code COLLATE "C";
END
$$;
COMMENT ON FUNCTION fsbench.findings IS 'The findings of several runs, one row each: first those in which the runs differ (differs: not all of them have it, or not all as severe), then those that all share; among these the worst first, then those that change the figures most (weight in fsbench.finding). severity, message and hint are those of the first run that has it worst. Runs that are not done have no findings, and are left out with a NOTICE';

CREATE FUNCTION fsbench.diff(run_a bigint, run_b bigint) RETURNS TABLE (area text, name text, a text, b text, matters text, why text)
    LANGUAGE c STRICT VOLATILE PARALLEL UNSAFE ROWS 20 AS 'MODULE_PATHNAME', 'fsbench_diff_wrapper';
COMMENT ON FUNCTION fsbench.diff IS 'What differs between two runs, by what is stored of them: their parameters, targets, filesystems, mount options, devices, settings, versions, kernels and hosts. matters tells how likely it changes the figures, much before maybe before hardly, and why tells why. NULL: not given, the default, or not known (why says so). What every run has of its own (its data directory, its port, how full its disk was) is left out';

CREATE FUNCTION fsbench.power_cut(target text, cuts integer DEFAULT 300, clients integer DEFAULT NULL, duration interval DEFAULT NULL,
    settings jsonb DEFAULT NULL, seed bigint DEFAULT NULL, fsync_error boolean DEFAULT NULL) RETURNS TABLE (run_id bigint, part text, outcome text, says text)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp COST 1000000 ROWS 7 AS $$
#variable_conflict use_column
DECLARE
    run bigint;
BEGIN
    SELECT r.run_id INTO STRICT run FROM fsbench.run(target => $1, workload => 'power-cut', clients => $3, duration => $4, settings => $5, seed => $6,
        options => jsonb_strip_nulls(jsonb_build_object('cuts', $2, 'fsync_error', $7))) r;
    RETURN QUERY SELECT p.run_id, p.part, p.outcome, p.says FROM fsbench.power_cut_result p WHERE p.run_id = run ORDER BY p.control, p.part;
    RETURN QUERY SELECT e.run_id, e.operation || '_error', e.outcome, e.says FROM fsbench.power_cut_error e WHERE e.run_id = run ORDER BY e.operation;
END
$$;
COMMENT ON FUNCTION fsbench.power_cut IS 'Whether commits survive power cuts on a target with images or a device: a run of the workload power-cut, and its rows of fsbench.power_cut_result. cuts: how many times the power is cut while clients commit; fsync_error: whether a flush and a write of the device fail, too, whose rows are those of fsbench.power_cut_error; the other parameters are those of fsbench.run';

CREATE FUNCTION fsbench._watch_begin(target text, duration interval) RETURNS bigint
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_watch_begin_wrapper';
COMMENT ON FUNCTION fsbench._watch_begin IS 'Begins a watch of the server of a target; gives its number. Private: fsbench.power_cut_watch() calls it';

CREATE FUNCTION fsbench._watch_commit(watch_id bigint) RETURNS boolean
    LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_watch_commit_wrapper';
COMMENT ON FUNCTION fsbench._watch_commit IS 'Has the other server commit the next number, and notes it; false when the watch is over. Private: fsbench.power_cut_watch() calls it';

CREATE FUNCTION fsbench._watch_verify(watch_id bigint) RETURNS void
    LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_watch_verify_wrapper';
COMMENT ON FUNCTION fsbench._watch_verify IS 'Counts the numbers of a watch on the other server. Private: fsbench.power_cut_verify() calls it';

CREATE FUNCTION fsbench._witness(mark text, number bigint) RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_witness_wrapper';
COMMENT ON FUNCTION fsbench._witness IS 'Stores a number for a watch of another server; without a number removes those of the watch. Private: the other server calls it';

CREATE PROCEDURE fsbench.power_cut_watch(target text, duration interval DEFAULT NULL) LANGUAGE plpgsql AS $$
DECLARE
    watch bigint;
BEGIN
    watch := fsbench._watch_begin(target, duration);
    COMMIT;
    WHILE fsbench._watch_commit(watch) LOOP
        COMMIT;  -- the number is on disk here
    END LOOP;
END
$$;
COMMENT ON PROCEDURE fsbench.power_cut_watch IS 'Makes this server the witness of a power cut of another one, which the target''s connection leads to: that server commits numbers, and each number that it has acknowledged is on disk here before the next one is sent. It ends when the connection is lost, or after duration. Each session that calls it is a client. See fsbench.power_cut_verify()';

CREATE FUNCTION fsbench.power_cut_verify(target text DEFAULT NULL)
    RETURNS TABLE (watch_id bigint, server text, acknowledged bigint, missing bigint, first_missing bigint, says text)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp ROWS 4 AS $$
#variable_conflict use_column
DECLARE
    watch bigint;
    watches bigint[] := ARRAY(SELECT w.watch_id FROM fsbench.power_cut_watch w WHERE w.verified_at IS NULL AND w.acknowledged > 0 AND ($1 IS NULL OR w.target = $1) ORDER BY w.watch_id);
BEGIN
    FOREACH watch IN ARRAY watches LOOP
        PERFORM fsbench._watch_verify(watch);
    END LOOP;
    RETURN QUERY SELECT w.watch_id, w.target, w.acknowledged, w.missing, w.first_missing, w.says FROM fsbench.power_cut_watch w WHERE w.watch_id = ANY (watches) ORDER BY w.watch_id;
END
$$;
COMMENT ON FUNCTION fsbench.power_cut_verify IS 'After a power cut of the server of a target, or of all targets: how many commits that it has acknowledged to fsbench.power_cut_watch() are missing there. A watch is counted again until that server has restarted';
