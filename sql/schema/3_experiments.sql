-- Functions for experiments.

CREATE FUNCTION fsbench.experiment(experiment text, targets text[] DEFAULT NULL, goal text DEFAULT NULL, baseline text DEFAULT NULL, metric text DEFAULT NULL,
    margin float8 DEFAULT 0.05, max_blocks integer DEFAULT NULL, max_duration interval DEFAULT NULL, filesystems text[] DEFAULT NULL, device text DEFAULT NULL,
    image_size text DEFAULT NULL, factors jsonb DEFAULT NULL, grid boolean DEFAULT false, control boolean DEFAULT false, cycle interval DEFAULT NULL,
    start boolean DEFAULT true, workload text DEFAULT NULL, scale integer DEFAULT NULL, size text DEFAULT NULL, clients integer DEFAULT NULL,
    duration interval DEFAULT NULL, transactions bigint DEFAULT NULL, warmup interval DEFAULT NULL, rate fsbench.rate DEFAULT NULL,
    latency_limit_ms float8 DEFAULT NULL, seed bigint DEFAULT NULL, settings jsonb DEFAULT NULL, options jsonb DEFAULT NULL, force boolean DEFAULT false,
    budget interval DEFAULT NULL, neighbours text DEFAULT 'unexpected', scripts text DEFAULT NULL, variables jsonb DEFAULT NULL, init_script text DEFAULT NULL,
    checks jsonb DEFAULT NULL, protocol text DEFAULT NULL, max_tries integer DEFAULT NULL, continue_on_error boolean DEFAULT NULL, data text DEFAULT NULL,
    database text DEFAULT NULL) RETURNS bigint LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000000 AS 'MODULE_PATHNAME', 'fsbench_experiment_wrapper';
COMMENT ON FUNCTION fsbench.experiment IS 'Records an experiment and starts it: targets take turns in blocks until it is settled which is best, or (with a baseline) whether each is more, less or the same. Returns its number (experiment_id) at once, as fsbench.start() returns that of a run; all functions take its name. See fsbench.experiments, and fsbench.compare(). filesystems with device or image_size makes its own targets; factors varies parameters; duration and what follows are the parameters of fsbench.run(), without a duration a checkpoint cycle of warm-up and three cycles measured. max_blocks: 12 unless it is given. budget, such as 20 min, chooses checkpoint cycle, windows and blocks so that it is over within that time. neighbours: expected where other programs use the machine all the time, so that no run is made again for them. rate: a number, or a share of what the slowest target does without one, such as 70%';

CREATE FUNCTION fsbench.plan_experiment(experiment text, targets text[] DEFAULT NULL, goal text DEFAULT NULL, baseline text DEFAULT NULL,
    metric text DEFAULT NULL, margin float8 DEFAULT 0.05, max_blocks integer DEFAULT NULL, max_duration interval DEFAULT NULL, filesystems text[] DEFAULT NULL,
    device text DEFAULT NULL, image_size text DEFAULT NULL, factors jsonb DEFAULT NULL, grid boolean DEFAULT false, control boolean DEFAULT false,
    cycle interval DEFAULT NULL, start boolean DEFAULT true, workload text DEFAULT NULL, scale integer DEFAULT NULL, size text DEFAULT NULL,
    clients integer DEFAULT NULL, duration interval DEFAULT NULL, transactions bigint DEFAULT NULL, warmup interval DEFAULT NULL,
    rate fsbench.rate DEFAULT NULL, latency_limit_ms float8 DEFAULT NULL, seed bigint DEFAULT NULL, settings jsonb DEFAULT NULL, options jsonb DEFAULT NULL,
    force boolean DEFAULT false, budget interval DEFAULT NULL, neighbours text DEFAULT 'unexpected', scripts text DEFAULT NULL, variables jsonb DEFAULT NULL,
    init_script text DEFAULT NULL, checks jsonb DEFAULT NULL, protocol text DEFAULT NULL, max_tries integer DEFAULT NULL,
    continue_on_error boolean DEFAULT NULL, data text DEFAULT NULL, database text DEFAULT NULL) RETURNS TABLE (part text, item text, says text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 30 AS 'MODULE_PATHNAME', 'fsbench_plan_experiment_wrapper';
COMMENT ON FUNCTION fsbench.plan_experiment IS 'Shows what fsbench.experiment() would do with these arguments, and changes nothing: runs, hours, room and transaction ids, the order of the targets, and how many blocks half an hour, a night and a weekend reach, with the smallest difference that they would find';

CREATE FUNCTION fsbench._change_experiment(experiment text, verb text, max_blocks integer DEFAULT NULL) RETURNS text
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_change_experiment_wrapper';
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
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_experiment_ended_wrapper';
COMMENT ON FUNCTION fsbench._experiment_ended IS 'Waits up to this time (ms) for the end of an experiment, and returns whether it is over; an error for an unknown name, or a paused experiment. Private';

-- It commits, so that it cannot have a search_path of its own: each function and operator has its schema.
CREATE PROCEDURE fsbench.wait_experiment(experiment text) LANGUAGE plpgsql AS $$
DECLARE
    answer text;
    page text;
BEGIN
    WHILE NOT fsbench._experiment_ended(experiment, 1000) LOOP
        COMMIT;  -- gives the snapshot back
    END LOOP;
    SELECT COALESCE(e.answer, e.status_reason, 'no look was taken'),
           -- It is pasted: a row of a dump could hold any name.
           CASE WHEN e.experiment OPERATOR(pg_catalog.!~) '[[:cntrl:]]' THEN pg_catalog.format('Its page, from psql: SELECT fsbench.report(%L) \g (format=unaligned tuples_only=on) report.html', e.experiment) END
        INTO answer, page FROM fsbench.experiments e WHERE e.experiment OPERATOR(pg_catalog.=) $1;
    RAISE NOTICE '%', answer USING HINT = COALESCE(page, 'See fsbench.compare().');
END
$$;
COMMENT ON PROCEDURE fsbench.wait_experiment IS 'Waits until an experiment is over, without holding a snapshot for more than a second. It ends with a NOTICE: the answer in one line, and the statement that makes its page';

CREATE FUNCTION fsbench.compare(experiment text, metric text DEFAULT NULL)
    RETURNS TABLE (target text, ratio float8, low float8, high float8, verdict text, says text, blocks integer, durability text,
        same_durability boolean, further_time interval, warnings text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 5 AS 'MODULE_PATHNAME', 'fsbench_compare_wrapper';
COMMENT ON FUNCTION fsbench.compare IS 'What an experiment says of each target, at its last look: ratio to what it is compared with (the baseline, or the best), with low and high, the interval of that look; verdict, and in words (says). With goal best, verdict is best, leading (ahead of all others, and not yet decided), equivalent to the best, out (certainly not the best) or open (not decided); with a baseline more, less, equivalent or inconclusive. Only the metric that was declared decides. further_time: what a decision would still take, NULL when there is one. warnings: findings of its runs';

-- One experiment whose rows cannot be read hides no other one in a view.
CREATE FUNCTION fsbench._compared(experiment text)
    RETURNS TABLE (target text, ratio float8, low float8, high float8, verdict text, says text, blocks integer, durability text,
        same_durability boolean, further_time interval, warnings text)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp ROWS 5 AS $$
BEGIN
    RETURN QUERY SELECT c.* FROM fsbench.compare($1) c;
EXCEPTION WHEN data_corrupted OR data_exception OR internal_error OR program_limit_exceeded THEN
    says := 'cannot be read: ' || SQLERRM;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION fsbench._compared IS 'fsbench.compare(), or why that cannot be read. Private: views call it';

CREATE FUNCTION fsbench.recommend(experiment text) RETURNS TABLE (part text, says text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 20 AS 'MODULE_PATHNAME', 'fsbench_recommend_wrapper';
COMMENT ON FUNCTION fsbench.recommend IS 'What to do after an experiment, from top to bottom: the choice, what is open, the statement that continues it (next), the reasons, the figures, gains, costs and circumstances of each target, what was not tested, findings, and lines to paste';

CREATE FUNCTION fsbench._advice(experiment text) RETURNS TABLE (part text, says text, topic text, setting text, value text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 20 AS 'MODULE_PATHNAME', 'fsbench_advice_wrapper';
COMMENT ON FUNCTION fsbench._advice IS 'fsbench.recommend(), with topic, which names in a few words what was not tested, and with the server''s setting that a line is about, and its value. Private: pages read it';

CREATE FUNCTION fsbench.compare_runs(run_a bigint, run_b bigint) RETURNS TABLE (metric text, a float8, b float8, ratio float8, says text)
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp ROWS 12 AS $$
DECLARE
    one fsbench.run_log;
    other fsbench.run_log;
    differs text;
    hosts bigint;
BEGIN
    PERFORM fsbench._check_runs(ARRAY[run_a, run_b]);
    IF run_a = run_b THEN
        RAISE EXCEPTION 'run % cannot be compared with itself', run_a USING ERRCODE = 'invalid_parameter_value', DETAIL = 'The two arguments are the same run.',
                  HINT = 'Give two runs; fsbench.result has those of this database.';
    END IF;
    SELECT * INTO one FROM fsbench.run_log r WHERE r.run_id = run_a;
    SELECT * INTO other FROM fsbench.run_log r WHERE r.run_id = run_b;
    SELECT string_agg(n.key, ', ' ORDER BY n.key) INTO differs
    FROM (VALUES ('workload', one.workload IS DISTINCT FROM other.workload), ('scale', one.scale IS DISTINCT FROM other.scale),
                 ('clients', one.clients IS DISTINCT FROM other.clients), ('duration', one.duration IS DISTINCT FROM other.duration),
                 ('transactions', one.transactions IS DISTINCT FROM other.transactions), ('warmup', one.warmup IS DISTINCT FROM other.warmup),
                 ('rate', one.rate IS DISTINCT FROM other.rate)) n (key, is_other) WHERE n.is_other;
    -- Imported runs count as another host's, whatever their file says.
    SELECT count(DISTINCT coalesce('@' || f.host, 'of ' || e.host_fingerprint)) INTO hosts
    FROM unnest(ARRAY[run_a, run_b]) u (run_id) LEFT JOIN fsbench.environment e USING (run_id)
    LEFT JOIN fsbench.imported_run i USING (run_id) LEFT JOIN fsbench.imported_file f USING (import_id);
    IF hosts = 1 AND (SELECT count(*) FROM fsbench.imported_run i WHERE i.run_id IN (run_a, run_b)) = 1 THEN
        hosts := 2;
    END IF;
    RETURN QUERY
    SELECT m.name, m.a, m.b, m.b / nullif(m.a, 0),
           CASE WHEN hosts > 1 THEN 'inconclusive (device confounded)' ELSE 'inconclusive (one run each)' END || CASE WHEN m.a > 0 THEN format(': run %s has %s times the %s of run %s', run_b,
               round((m.b / m.a)::numeric, 2), m.name, run_a) ELSE '' END
           -- At full speed the mean latency is clients / tps. Others are, where their ratio is that of tps turned over.
           || CASE WHEN m.is_latency AND one.rate IS NULL AND other.rate IS NULL AND one.clients = other.clients
                AND m.b * other.tps BETWEEN 0.95 * m.a * one.tps AND 1.05 * m.a * one.tps THEN ', which at full speed mirrors tps' ELSE '' END
    FROM (VALUES (1, 'tps', one.tps, other.tps, false), (2, 'latency_p50_ms', one.latency_p50_ms, other.latency_p50_ms, true),
                 (3, 'latency_p99_ms', one.latency_p99_ms, other.latency_p99_ms, true), (4, 'latency_max_ms', one.latency_max_ms, other.latency_max_ms, true),
                 (5, 'commit_p99_ms', one.commit_p99_ms, other.commit_p99_ms, true), (6, 'stall_seconds', one.stall_seconds, other.stall_seconds, false),
                 (7, 'cpu_ms_per_transaction', one.cpu_ms_per_transaction, other.cpu_ms_per_transaction, false),
                 (8, 'write_amplification', one.write_amplification, other.write_amplification, false),
                 (9, 'device_bytes_per_transaction', one.device_bytes_per_transaction, other.device_bytes_per_transaction, false),
                 (10, 'load_ms', one.load_ms, other.load_ms, false)) AS m (place, name, a, b, is_latency)
    WHERE m.a IS NOT NULL AND m.b IS NOT NULL
    ORDER BY m.place;
    RETURN QUERY SELECT NULL::text, NULL::float8, NULL::float8, NULL::float8,
        'what two loose runs cannot tell: how much such runs differ by themselves, and whether something else changed between them; fsbench.experiment() has targets take turns'
        || CASE WHEN hosts > 1 THEN '; they were made on different hosts, and so on different devices' ELSE '' END || CASE WHEN differs IS NOT NULL THEN '; they differ in ' || differs || ', see fsbench.diff()' ELSE '; see fsbench.diff()' END;
END
$$;
COMMENT ON FUNCTION fsbench.compare_runs IS 'The figures of two runs side by side, with their ratio (of the second one to the first one). Two runs decide nothing: the last row says what they cannot tell';
