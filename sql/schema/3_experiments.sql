-- What users call for experiments.

CREATE FUNCTION fsbench._experiment(asked jsonb, plan_only boolean) RETURNS text
    LANGUAGE c VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'fsbench_experiment_wrapper';
COMMENT ON FUNCTION fsbench._experiment IS 'Records an experiment, and starts it unless its arguments say otherwise; or only says what it would be. Private: called by fsbench.experiment() and plan_experiment()';

CREATE FUNCTION fsbench.experiment(experiment text, targets text[] DEFAULT NULL, goal text DEFAULT NULL, baseline text DEFAULT NULL,
    metric text DEFAULT NULL, margin float8 DEFAULT 0.05, max_blocks integer DEFAULT NULL, max_duration interval DEFAULT NULL,
    filesystems text[] DEFAULT NULL, device text DEFAULT NULL, image_size text DEFAULT NULL, factors jsonb DEFAULT NULL, grid boolean DEFAULT false,
    control boolean DEFAULT false, cycle interval DEFAULT NULL, probe_wait interval DEFAULT NULL, start boolean DEFAULT true,
    workload text DEFAULT NULL, scale integer DEFAULT NULL, size text DEFAULT NULL, clients integer DEFAULT NULL, duration interval DEFAULT NULL,
    transactions bigint DEFAULT NULL, warmup interval DEFAULT NULL, rate fsbench.rate DEFAULT NULL, latency_limit_ms float8 DEFAULT NULL,
    seed bigint DEFAULT NULL, settings jsonb DEFAULT NULL, options jsonb DEFAULT NULL, force boolean DEFAULT false,
    budget interval DEFAULT NULL, neighbours text DEFAULT 'unexpected')
    RETURNS bigint
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
    RETURN (CAST(fsbench._experiment(pg_catalog.jsonb_build_object(
        'experiment', experiment, 'targets', targets, 'goal', goal, 'baseline', baseline, 'metric', metric, 'margin', margin,
        'max_blocks', max_blocks, 'max_duration_us', (EXTRACT(epoch FROM max_duration) OPERATOR(pg_catalog.*) 1e6::numeric)::bigint,
        'filesystems', filesystems, 'device', device, 'image_size', image_size, 'factors', factors, 'grid', grid, 'control', control,
        'cycle_us', (EXTRACT(epoch FROM cycle) OPERATOR(pg_catalog.*) 1e6::numeric)::bigint,
        'probe_wait_us', (EXTRACT(epoch FROM probe_wait) OPERATOR(pg_catalog.*) 1e6::numeric)::bigint, 'start', start,
        'budget_us', (EXTRACT(epoch FROM budget) OPERATOR(pg_catalog.*) 1e6::numeric)::bigint, 'neighbours', neighbours,
        'rate', rate::text, 'run', pg_catalog.jsonb_build_object('workload', workload, 'scale', scale, 'size', size, 'clients', clients,
            'duration_us', (EXTRACT(epoch FROM duration) OPERATOR(pg_catalog.*) 1e6::numeric)::bigint, 'transactions', transactions,
            'warmup_us', (EXTRACT(epoch FROM warmup) OPERATOR(pg_catalog.*) 1e6::numeric)::bigint,
            'latency_limit_ms', latency_limit_ms, 'seed', seed, 'settings', settings, 'options', options, 'force', coalesce(force, false))), false) AS jsonb)
        OPERATOR(pg_catalog.->>) 'experiment_id')::bigint;
COMMENT ON FUNCTION fsbench.experiment IS 'Records an experiment and starts it: targets take turns in blocks until it is settled which is best, or (with a baseline) whether each is more, less or the same. Returns its number (experiment_id) at once, as fsbench.start() returns that of a run; all functions take its name. See fsbench.experiments, and fsbench.compare(). filesystems with device or image_size makes its own targets; factors varies parameters; duration and what follows are the parameters of fsbench.run(), without a duration a checkpoint cycle of warm-up and three cycles measured. max_blocks: 12 unless it is given. budget, such as 20 min, chooses checkpoint cycle, windows and blocks so that it is over within that time. neighbours: expected where other programs use the machine all the time, so that no run is made again for them. rate: a number, or a share of what the slowest target does without one, such as 70%';

CREATE FUNCTION fsbench.plan_experiment(experiment text, targets text[] DEFAULT NULL, goal text DEFAULT NULL, baseline text DEFAULT NULL,
    metric text DEFAULT NULL, margin float8 DEFAULT 0.05, max_blocks integer DEFAULT NULL, max_duration interval DEFAULT NULL,
    filesystems text[] DEFAULT NULL, device text DEFAULT NULL, image_size text DEFAULT NULL, factors jsonb DEFAULT NULL, grid boolean DEFAULT false,
    control boolean DEFAULT false, cycle interval DEFAULT NULL, probe_wait interval DEFAULT NULL, start boolean DEFAULT true,
    workload text DEFAULT NULL, scale integer DEFAULT NULL, size text DEFAULT NULL, clients integer DEFAULT NULL, duration interval DEFAULT NULL,
    transactions bigint DEFAULT NULL, warmup interval DEFAULT NULL, rate fsbench.rate DEFAULT NULL, latency_limit_ms float8 DEFAULT NULL,
    seed bigint DEFAULT NULL, settings jsonb DEFAULT NULL, options jsonb DEFAULT NULL, force boolean DEFAULT false,
    budget interval DEFAULT NULL, neighbours text DEFAULT 'unexpected')
    RETURNS TABLE (part text, item text, says text)
    LANGUAGE sql VOLATILE PARALLEL UNSAFE ROWS 30 SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT r.part, r.item, r.says FROM jsonb_to_recordset(fsbench._experiment(jsonb_build_object(
        'experiment', $1, 'targets', $2, 'goal', $3, 'baseline', $4, 'metric', $5, 'margin', $6,
        'max_blocks', $7, 'max_duration_us', (EXTRACT(epoch FROM $8) * 1e6)::bigint,
        'filesystems', $9, 'device', $10, 'image_size', $11, 'factors', $12, 'grid', $13, 'control', $14,
        'cycle_us', (EXTRACT(epoch FROM $15) * 1e6)::bigint,
        'probe_wait_us', (EXTRACT(epoch FROM $16) * 1e6)::bigint, 'start', $17, 'rate', $25::text,
        'budget_us', (EXTRACT(epoch FROM $31) * 1e6)::bigint, 'neighbours', $32,
        'run', jsonb_build_object('workload', $18, 'scale', $19, 'size', $20, 'clients', $21,
            'duration_us', (EXTRACT(epoch FROM $22) * 1e6)::bigint, 'transactions', $23,
            'warmup_us', (EXTRACT(epoch FROM $24) * 1e6)::bigint,
            'latency_limit_ms', $26, 'seed', $27, 'settings', $28, 'options', $29, 'force', coalesce($30, false))), true)::jsonb -> 'plan')
        AS r (part text, item text, says text)
    $$;
COMMENT ON FUNCTION fsbench.plan_experiment IS 'What fsbench.experiment() would do with these arguments, which it changes nothing by: runs, hours, room and transaction ids, the order of the targets, and how many blocks half an hour, a night and a weekend reach, with the smallest difference that they would find';

CREATE FUNCTION fsbench._change_experiment(experiment text, verb text, max_blocks integer DEFAULT NULL) RETURNS text
    LANGUAGE c VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'fsbench_change_experiment_wrapper';
COMMENT ON FUNCTION fsbench._change_experiment IS 'Pauses, resumes, starts, cancels, extends, repeats or drops an experiment. Private';

CREATE FUNCTION fsbench.pause_experiment(experiment text) RETURNS text
    LANGUAGE sql VOLATILE PARALLEL UNSAFE RETURN fsbench._change_experiment(experiment, 'pause');
COMMENT ON FUNCTION fsbench.pause_experiment IS 'Makes no further run of an experiment; the one that is on comes to its end, and counts. Returns the status';

CREATE FUNCTION fsbench.resume_experiment(experiment text) RETURNS text
    LANGUAGE sql VOLATILE PARALLEL UNSAFE RETURN fsbench._change_experiment(experiment, 'resume');
COMMENT ON FUNCTION fsbench.resume_experiment IS 'Goes on with an experiment that is paused, or was only recorded. Returns the status';

CREATE FUNCTION fsbench.cancel_experiment(experiment text) RETURNS text
    LANGUAGE sql VOLATILE PARALLEL UNSAFE RETURN fsbench._change_experiment(experiment, 'cancel');
COMMENT ON FUNCTION fsbench.cancel_experiment IS 'Ends an experiment with what is known by its complete blocks, and cancels the run that is on. Returns the status';

CREATE FUNCTION fsbench.extend_experiment(experiment text, max_blocks integer) RETURNS text
    LANGUAGE sql VOLATILE PARALLEL UNSAFE RETURN fsbench._change_experiment(experiment, 'extend', max_blocks);
COMMENT ON FUNCTION fsbench.extend_experiment IS 'Has an experiment make up to 16 or 24 blocks, or those of the looks that its early end has left out; max_duration counts anew from then on. Returns the status';

CREATE FUNCTION fsbench.confirm_experiment(experiment text) RETURNS text
    LANGUAGE sql VOLATILE PARALLEL UNSAFE RETURN fsbench._change_experiment(experiment, 'confirm');
COMMENT ON FUNCTION fsbench.confirm_experiment IS 'Starts the same experiment again, which confirms what was decided when it says the same on another boot or day. Returns the name of the new one';

CREATE FUNCTION fsbench.drop_experiment(experiment text) RETURNS text
    LANGUAGE sql VOLATILE PARALLEL UNSAFE RETURN fsbench._change_experiment(experiment, 'drop');
COMMENT ON FUNCTION fsbench.drop_experiment IS 'Removes an experiment that is not on; its runs and their results stay. Returns its name';

CREATE FUNCTION fsbench._experiment_ended(experiment text, timeout_ms integer) RETURNS boolean
    LANGUAGE c VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'fsbench_experiment_ended_wrapper';
COMMENT ON FUNCTION fsbench._experiment_ended IS 'Waits at most that long (ms) for the end of an experiment, and says whether it is over; an error when there is none of that name, or when it is paused. Private';

-- It commits, so that it cannot have a search_path of its own: it uses no operator, and one function, with its schema.
CREATE PROCEDURE fsbench.wait_experiment(experiment text)
    LANGUAGE plpgsql
    AS $$
BEGIN
    WHILE NOT fsbench._experiment_ended(experiment, 1000) LOOP
        COMMIT;  -- gives the snapshot back
    END LOOP;
END
$$;
COMMENT ON PROCEDURE fsbench.wait_experiment IS 'Waits until an experiment is over, without holding a snapshot for more than a second; see fsbench.compare() for what came out';

CREATE FUNCTION fsbench.compare(experiment text, metric text DEFAULT NULL)
    RETURNS TABLE (target text, ratio float8, low float8, high float8, verdict text, says text, blocks integer, durability text,
        same_durability boolean, further_time interval, warnings text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 5
    AS 'MODULE_PATHNAME', 'fsbench_compare_wrapper';
COMMENT ON FUNCTION fsbench.compare IS 'What an experiment says of each target, at its last look: ratio to what it is compared with (the baseline, or the best), with low and high, the interval of that look; verdict, and in words (says). With goal best, verdict is best, equivalent to the best, out or open; with a baseline more, less, equivalent or inconclusive. Only the metric that was declared decides. further_time: what a decision would still take, NULL when there is one. warnings: findings of its runs';

CREATE FUNCTION fsbench.recommend(experiment text) RETURNS TABLE (part text, says text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 20
    AS 'MODULE_PATHNAME', 'fsbench_recommend_wrapper';
COMMENT ON FUNCTION fsbench.recommend IS 'What to do after an experiment, to be read from top to bottom: the choice, what is open, the statement to go on (next), why, each one''s figures, what it gains and costs, under which conditions, what was not tested, findings that touch it, and lines to be pasted';

CREATE FUNCTION fsbench.compare_runs(run_a bigint, run_b bigint)
    RETURNS TABLE (metric text, a float8, b float8, ratio float8, says text)
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp ROWS 12
    AS $$
DECLARE
    row_a jsonb;
    row_b jsonb;
    differs text;
    hosts bigint;
BEGIN
    PERFORM fsbench._check_runs(ARRAY[run_a, run_b]);
    IF run_a = run_b THEN
        RAISE EXCEPTION 'run % cannot be compared with itself', run_a
            USING ERRCODE = 'invalid_parameter_value', DETAIL = 'The two arguments are the same run.',
                  HINT = 'Give two runs; fsbench.result has those of this database.';
    END IF;
    SELECT to_jsonb(r) INTO row_a FROM fsbench.run_log r WHERE r.run_id = run_a;
    SELECT to_jsonb(r) INTO row_b FROM fsbench.run_log r WHERE r.run_id = run_b;
    SELECT string_agg(DISTINCT n.key, ', ' ORDER BY n.key) INTO differs
    FROM unnest('{workload,scale,clients,duration,transactions,warmup,rate}'::text[]) AS n(key) WHERE row_a -> n.key IS DISTINCT FROM row_b -> n.key;
    -- What was imported is of another host, whatever its file says.
    SELECT count(DISTINCT coalesce('@' || f.host, 'of ' || e.host_fingerprint)) INTO hosts
    FROM unnest(ARRAY[run_a, run_b]) u (run_id) LEFT JOIN fsbench.environment e USING (run_id)
    LEFT JOIN fsbench.imported_run i USING (run_id) LEFT JOIN fsbench.imported_file f USING (import_id);
    IF hosts = 1 AND (SELECT count(*) FROM fsbench.imported_run i WHERE i.run_id IN (run_a, run_b)) = 1 THEN
        hosts := 2;
    END IF;
    RETURN QUERY
    SELECT m.name, (row_a ->> m.name)::float8, (row_b ->> m.name)::float8,
           (row_b ->> m.name)::float8 / nullif((row_a ->> m.name)::float8, 0),
           CASE WHEN hosts > 1 THEN 'inconclusive (device confounded)' ELSE 'inconclusive (one run each)' END || CASE WHEN (row_a ->> m.name)::float8 > 0 THEN format(': run %s has %s times the %s of run %s', run_b,
               round(((row_b ->> m.name)::float8 / (row_a ->> m.name)::float8)::numeric, 2), m.name, run_a) ELSE '' END
           || CASE WHEN m.is_latency AND row_a -> 'rate' = 'null' THEN ', which at full speed mirrors tps' ELSE '' END
    FROM (VALUES (1, 'tps', false), (2, 'latency_p50_ms', true), (3, 'latency_p99_ms', true), (4, 'latency_max_ms', true), (5, 'commit_p99_ms', true),
                 (6, 'stall_seconds', false), (7, 'cpu_ms_per_transaction', false), (8, 'write_amplification', false),
                 (9, 'device_bytes_per_transaction', false), (10, 'load_ms', false)) AS m(place, name, is_latency)
    WHERE row_a ->> m.name IS NOT NULL AND row_b ->> m.name IS NOT NULL
    ORDER BY m.place;
    RETURN QUERY SELECT NULL::text, NULL::float8, NULL::float8, NULL::float8,
        'what two loose runs cannot tell: how much such runs differ by themselves, and whether something else changed between them; fsbench.experiment() has targets take turns'
        || CASE WHEN hosts > 1 THEN '; they were made on different hosts, and so on different devices' ELSE '' END || CASE WHEN differs IS NOT NULL THEN '; they differ in ' || differs || ', see fsbench.diff()' ELSE '; see fsbench.diff()' END;
END
$$;
COMMENT ON FUNCTION fsbench.compare_runs IS 'The figures of two runs side by side, with their ratio (of the second one to the first one). Two runs decide nothing: the last row says what they cannot tell';
