-- Properties that several runs share, and their differences.

-- A list in an error has an end, whatever the caller gives.
CREATE FUNCTION fsbench._some_runs(run_ids bigint[]) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT string_agg(coalesce(s.id::text, 'NULL'), ', ' ORDER BY s.id) FILTER (WHERE s.place <= 10) || CASE WHEN count(*) > 10 THEN format(', and %s more', count(*) - 10) ELSE '' END
    FROM (SELECT d.id, row_number() OVER (ORDER BY d.id) AS place FROM (SELECT DISTINCT u.id FROM unnest($1) u (id)) d) s
    $$;
COMMENT ON FUNCTION fsbench._some_runs IS 'The first ten of some runs in words, and how many more they are. Private';

CREATE FUNCTION fsbench._check_runs(run_ids bigint[]) RETURNS void
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    unknown bigint[];
BEGIN
    SELECT array_agg(id) INTO unknown
    FROM unnest(run_ids) AS id WHERE NOT EXISTS (SELECT FROM fsbench.run_log r WHERE r.run_id = id);
    IF unknown IS NOT NULL THEN
        RAISE EXCEPTION 'run % does not exist', fsbench._some_runs(unknown)
            USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = 'There is no row with this run_id in fsbench.run_log of this database.',
                  HINT = 'See fsbench.result.';
    END IF;
END
$$;
COMMENT ON FUNCTION fsbench._check_runs IS 'Refuses numbers of runs that there are not. Private';

CREATE FUNCTION fsbench.findings(run_ids bigint[])
    RETURNS TABLE (code text, severity text, differs boolean, runs_with bigint[], runs_without bigint[], message text, hint text)
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp ROWS 10
    AS $$
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

CREATE FUNCTION fsbench.diff(run_a bigint, run_b bigint)
    RETURNS TABLE (area text, name text, a text, b text, matters text, why text)
    LANGUAGE c STRICT VOLATILE PARALLEL UNSAFE ROWS 20
    AS 'MODULE_PATHNAME', 'fsbench_diff_wrapper';
COMMENT ON FUNCTION fsbench.diff IS 'What differs between two runs, by what is stored of them: their parameters, targets, filesystems, mount options, devices, settings, versions, kernels and hosts. matters tells how likely it changes the figures, much before maybe before hardly, and why tells why. NULL: not given, the default, or not known (why says so). What every run has of its own (its data directory, its port, how full its disk was) is left out';

CREATE FUNCTION fsbench.power_cut(target text, cuts integer DEFAULT 300, clients integer DEFAULT NULL, duration interval DEFAULT NULL,
    settings jsonb DEFAULT NULL, seed bigint DEFAULT NULL)
    RETURNS TABLE (run_id bigint, part text, outcome text, says text)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp COST 1000000 ROWS 4
    AS $$
#variable_conflict use_column
DECLARE
    run bigint;
BEGIN
    SELECT r.run_id INTO STRICT run FROM fsbench.run(target => $1, workload => 'power-cut', clients => $3, duration => $4, settings => $5, seed => $6,
        options => jsonb_strip_nulls(jsonb_build_object('cuts', $2))) r;
    RETURN QUERY SELECT p.run_id, p.part, p.outcome, p.says FROM fsbench.power_cut_result p WHERE p.run_id = run ORDER BY p.control, p.part;
END
$$;
COMMENT ON FUNCTION fsbench.power_cut IS 'Whether commits survive power cuts on a target with an image: a run of the workload power-cut, and its rows of fsbench.power_cut_result. cuts: how many times the power is cut while clients commit; the other parameters are those of fsbench.run';
