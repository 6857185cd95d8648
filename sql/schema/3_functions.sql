-- Functions for users. run and start have the same parameters; a parameter that is not given is chosen, and announced.
--
-- Operators and functions must not depend on the caller's search_path: bodies in SQL are parsed when they are created (RETURN), those in PL/pgSQL set
-- their own.

CREATE FUNCTION fsbench.version() RETURNS text LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'fsbench_version_wrapper';
COMMENT ON FUNCTION fsbench.version IS 'Version of the pgfsbench library that is loaded';

CREATE FUNCTION fsbench.run(target text DEFAULT 'default', workload text DEFAULT 'tpcb', scale integer DEFAULT NULL, size text DEFAULT NULL,
    clients integer DEFAULT NULL, duration interval DEFAULT NULL, transactions bigint DEFAULT NULL, warmup interval DEFAULT NULL, rate float8 DEFAULT NULL,
    latency_limit_ms float8 DEFAULT NULL, seed bigint DEFAULT NULL, settings jsonb DEFAULT NULL, options jsonb DEFAULT NULL, label text DEFAULT NULL,
    keep boolean DEFAULT false, force boolean DEFAULT false, scripts text DEFAULT NULL, variables jsonb DEFAULT NULL, init_script text DEFAULT NULL,
    checks jsonb DEFAULT NULL, protocol text DEFAULT NULL, max_tries integer DEFAULT NULL, continue_on_error boolean DEFAULT NULL, data text DEFAULT NULL,
    database text DEFAULT NULL) RETURNS TABLE (run_id bigint, target text, tps float8, latency_p99_ms float8, latency_max_ms float8,
        commit_p99_ms float8, stall_seconds integer, findings text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1 AS 'MODULE_PATHNAME', 'fsbench_run_wrapper';
COMMENT ON FUNCTION fsbench.run IS 'Makes a benchmark run, waits for it, and returns its result in one row; everything about it is in fsbench.result. Use it as SELECT * FROM fsbench.run(...)';

CREATE FUNCTION fsbench.start(target text DEFAULT 'default', workload text DEFAULT 'tpcb', scale integer DEFAULT NULL, size text DEFAULT NULL,
    clients integer DEFAULT NULL, duration interval DEFAULT NULL, transactions bigint DEFAULT NULL, warmup interval DEFAULT NULL, rate float8 DEFAULT NULL,
    latency_limit_ms float8 DEFAULT NULL, seed bigint DEFAULT NULL, settings jsonb DEFAULT NULL, options jsonb DEFAULT NULL, label text DEFAULT NULL,
    keep boolean DEFAULT false, force boolean DEFAULT false, scripts text DEFAULT NULL, variables jsonb DEFAULT NULL, init_script text DEFAULT NULL,
    checks jsonb DEFAULT NULL, protocol text DEFAULT NULL, max_tries integer DEFAULT NULL, continue_on_error boolean DEFAULT NULL, data text DEFAULT NULL,
    database text DEFAULT NULL) RETURNS bigint LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000000 AS 'MODULE_PATHNAME', 'fsbench_start_wrapper';
COMMENT ON FUNCTION fsbench.start IS 'Starts a benchmark run, or queues it behind others, and returns its id at once; takes the parameters of fsbench.run';

CREATE FUNCTION fsbench.sustainable_rate(target text DEFAULT 'default', latency_limit_ms float8 DEFAULT NULL, percentile float8 DEFAULT 99,
    workload text DEFAULT 'tpcb', scale integer DEFAULT NULL, size text DEFAULT NULL, clients integer DEFAULT NULL, duration interval DEFAULT NULL,
    warmup interval DEFAULT NULL, seed bigint DEFAULT NULL, settings jsonb DEFAULT NULL, options jsonb DEFAULT NULL, label text DEFAULT NULL,
    force boolean DEFAULT false, scripts text DEFAULT NULL, variables jsonb DEFAULT NULL, init_script text DEFAULT NULL, checks jsonb DEFAULT NULL,
    protocol text DEFAULT NULL, max_tries integer DEFAULT NULL, continue_on_error boolean DEFAULT NULL, data text DEFAULT NULL, database text DEFAULT NULL)
    RETURNS TABLE (run_id bigint, target text, rate float8, low float8, high float8, probes integer, says text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1 AS 'MODULE_PATHNAME', 'fsbench_sustainable_rate_wrapper';
COMMENT ON FUNCTION fsbench.sustainable_rate IS 'Searches for the highest rate (transactions per second) at which the percentile of latency, from the time when each transaction was due, stays under the limit; one run, whose probes are in fsbench.probe. rate is NULL when there is none. duration: of one cycle, of which a search takes 5 to 26; without it a checkpoint cycle, at least a minute. The other parameters are those of fsbench.run. In the background: fsbench.start with latency_limit_ms and options => ''{"sustain": 99}''';

CREATE FUNCTION fsbench.wait(run_id bigint) RETURNS TABLE (run_id bigint, target text, tps float8, latency_p99_ms float8, latency_max_ms float8,
        commit_p99_ms float8, stall_seconds integer, findings text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1 AS 'MODULE_PATHNAME', 'fsbench_wait_wrapper';
COMMENT ON FUNCTION fsbench.wait(bigint) IS 'Waits until a run is over and returns its result as fsbench.run does; raises the error of a run that failed or was cancelled. It holds a snapshot meanwhile: CALL fsbench.wait(run_id) does not';

CREATE FUNCTION fsbench.cancel(run_id bigint) RETURNS boolean LANGUAGE c STRICT VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_cancel_wrapper';
COMMENT ON FUNCTION fsbench.cancel IS 'Cancels a run that is queued or running; false for a run that is over or unknown';

CREATE FUNCTION fsbench._start(asked text) RETURNS bigint
    LANGUAGE c STRICT VOLATILE PARALLEL UNSAFE COST 1000000 AS 'MODULE_PATHNAME', 'fsbench_start_asked_wrapper';
COMMENT ON FUNCTION fsbench._start IS 'Starts a run by its arguments as one JSON document, checked as those of fsbench.start(). Only superusers have it do a part of a run. Private: other servers call it for their runs here';

CREATE FUNCTION fsbench._ended(run_id bigint, timeout_ms integer) RETURNS boolean
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_ended_wrapper';
COMMENT ON FUNCTION fsbench._ended IS 'Waits up to this time (ms) for the end of a run, and returns whether it is over; an error for an unknown run. Private';

-- A procedure of the same name as the function: CALL counts the output columns of the function as arguments, and a plain
-- SELECT prefers a function that is not variadic, so that each finds its own. It commits, so that it cannot have a search_path
-- of its own: it uses no operator, and one function, with its schema.
CREATE PROCEDURE fsbench.wait(VARIADIC run_ids bigint[]) LANGUAGE plpgsql AS $$
DECLARE
    id bigint;
BEGIN
    IF run_ids IS NULL THEN
        PERFORM fsbench._ended(NULL, 0);
    END IF;
    FOREACH id IN ARRAY run_ids LOOP
        WHILE NOT fsbench._ended(id, 1000) LOOP
            COMMIT;  -- gives the snapshot back
        END LOOP;
    END LOOP;
END
$$;
COMMENT ON PROCEDURE fsbench.wait(bigint[]) IS 'Waits until these runs are over, one after the other, without holding a snapshot for more than a second; see fsbench.result for what came out';

CREATE FUNCTION fsbench._progress(OUT run_id bigint, OUT status text, OUT phase text, OUT done bigint, OUT total bigint, OUT seconds_left float8,
    OUT phase_seconds float8, OUT tps float8, OUT tps_last_second float8, OUT latency_p99_ms float8, OUT coordinator_pid integer, OUT runs_before integer,
    OUT probe integer, OUT rate float8) RETURNS SETOF record LANGUAGE c VOLATILE PARALLEL RESTRICTED ROWS 2 AS 'MODULE_PATHNAME', 'fsbench_progress_wrapper';
COMMENT ON FUNCTION fsbench._progress IS 'Runs of this database that are queued or active, from shared memory. Private; read fsbench.progress';

CREATE FUNCTION fsbench._renew_lease(run_id bigint) RETURNS boolean
    LANGUAGE c STRICT VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_renew_lease_wrapper';
COMMENT ON FUNCTION fsbench._renew_lease IS 'Extends the lease of a run (option lease_ms) to its full length from now on; false for a run that is over, unknown or without a lease. Private: other servers call it for runs that they have started here';

CREATE FUNCTION fsbench._start_together(run_id bigint, start_ns bigint DEFAULT NULL) RETURNS boolean
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_start_together_wrapper';
COMMENT ON FUNCTION fsbench._start_together IS 'Whether a run waits for its start (option instances); with start_ns, the run begins at that time of CLOCK_MONOTONIC. Private: the server that has started the runs of all instances calls it';

CREATE FUNCTION fsbench._check_preloaded() RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_check_preloaded_wrapper';
COMMENT ON FUNCTION fsbench._check_preloaded IS 'Warns when the library is not preloaded or worker slots are few. Private; called by CREATE EXTENSION';

CREATE FUNCTION fsbench.bucket_low_ms(bucket integer) RETURNS float8 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    -- A histogram has 2048 buckets. What a restored row has beyond them breaks no view.
    RETURN CASE WHEN bucket < 32 THEN bucket WHEN bucket < 4096 THEN (32 + bucket % 32) * 2.0::float8 ^ (bucket / 32 - 1) END / 1e6;
COMMENT ON FUNCTION fsbench.bucket_low_ms IS 'Lower end (ms, inclusive) of a bucket of fsbench.histogram';

CREATE FUNCTION fsbench.bucket_high_ms(bucket integer) RETURNS float8 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN fsbench.bucket_low_ms(CASE WHEN bucket < 4096 THEN bucket + 1 END);
COMMENT ON FUNCTION fsbench.bucket_high_ms IS 'Upper end (ms, exclusive) of a bucket of fsbench.histogram';

-- Each transaction of a workload with several types is in two histograms: in that of its type, and in that of all.
CREATE FUNCTION fsbench._is_of_all(run_id bigint, transaction text) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
    RETURN NOT EXISTS (SELECT FROM fsbench.transaction_result t JOIN fsbench.run_log r USING (run_id)
        WHERE t.run_id = $1 AND t.transaction = $2 AND r.workload <> $2);
COMMENT ON FUNCTION fsbench._is_of_all IS 'Whether a histogram of a run counts its transactions of all types, or of a workload with one type. Private';

-- The histogram of a type has its intended rollbacks, too.
CREATE FUNCTION fsbench._rolled_back(run_id bigint, transaction text) RETURNS float8 LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
    RETURN coalesce((SELECT sum(t.rolled_back) FROM fsbench.transaction_result t WHERE t.run_id = $1 AND t.transaction = $2), 0)::float8;
COMMENT ON FUNCTION fsbench._rolled_back IS 'Transactions of a type in a histogram of a run that were rolled back as intended. Private';

CREATE FUNCTION fsbench.percentile(fraction float8, run_ids bigint[], measure text DEFAULT 'latency', transaction text DEFAULT NULL) RETURNS float8
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    known text[];
    measures text[];
    others text;
    result float8;
BEGIN
    IF fraction IS NULL OR run_ids IS NULL THEN
        RETURN NULL;
    END IF;
    IF NOT fraction BETWEEN 0 AND 1 THEN
        RAISE EXCEPTION 'fraction % is out of range', fraction USING ERRCODE = 'invalid_parameter_value', DETAIL = 'It must be between 0 and 1.',
                  HINT = 'The 99th percentile is 0.99.';
    END IF;
    PERFORM fsbench._check_runs(run_ids);
    SELECT array_agg(DISTINCT name ORDER BY name) INTO known
    FROM (SELECT h.transaction FROM fsbench.histogram h WHERE h.run_id = ANY (run_ids)) AS n(name);
    IF $4 <> ALL (known) THEN
        RAISE EXCEPTION 'there is no transaction "%"', $4 USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = format('These runs have %s.', array_to_string(known, ', ')), HINT = 'Leave it out for all transactions of the workload.';
    END IF;
    SELECT array_agg(name ORDER BY length(name), name) INTO measures
    FROM (SELECT DISTINCT h.measure FROM fsbench.histogram h
          WHERE h.run_id = ANY (run_ids)
            AND CASE WHEN $4 IS NOT NULL THEN h.transaction = $4 ELSE fsbench._is_of_all(h.run_id, h.transaction) END) AS m(name);
    IF measures IS NOT NULL AND ($3 = ANY (measures)) IS NOT TRUE THEN
        SELECT string_agg(DISTINCT h.transaction, ', ') INTO others FROM fsbench.histogram h WHERE h.run_id = ANY (run_ids) AND h.measure = $3;
        RAISE EXCEPTION 'there is no measure "%"', coalesce($3, 'NULL') USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = coalesce('Only these transactions have it: ' || others || '.', 'These runs have no histogram of it.'),
                  HINT = CASE WHEN others IS NULL
                         THEN format('Use one of %s%s.', array_to_string(measures[:20], ', '), CASE WHEN cardinality(measures) > 20 THEN ', ...' ELSE '' END)
                         ELSE 'Give one of them as the argument "transaction".' END;
    END IF;
    WITH chosen AS (
        SELECT h.* FROM fsbench.histogram h
        WHERE h.run_id = ANY (run_ids) AND h.measure = $3
          AND CASE WHEN $4 IS NOT NULL THEN h.transaction = $4 ELSE fsbench._is_of_all(h.run_id, h.transaction) END
    ), merged AS (
        SELECT b.bucket, sum(b.count) AS count FROM chosen, unnest(buckets, counts) AS b(bucket, count) GROUP BY b.bucket
    ), running AS (
        SELECT bucket, sum(count) OVER (ORDER BY bucket) AS upto, sum(count) OVER () AS total FROM merged
    )
    SELECT least(greatest((fsbench.bucket_low_ms(bucket) + fsbench.bucket_high_ms(bucket)) / 2,
                          (SELECT min(min_ms) FROM chosen)), (SELECT max(max_ms) FROM chosen)) INTO result
    FROM running
    WHERE upto >= greatest(ceil(fraction::numeric * total), 1)
    ORDER BY bucket LIMIT 1;
    RETURN result;
END
$$;
COMMENT ON FUNCTION fsbench.percentile(float8, bigint[], text, text) IS 'Any percentile (fraction 0 to 1) of the latency of one or several runs in ms, from their merged histograms; within 3.2 %. measure: latency, service (from the real start of each transaction, under a rate), commit, command N of a script, or read, write and sync of io; transaction: a type of fsbench.transaction_result or a job of io, NULL for all of the workload. NULL where no run has a histogram';

CREATE FUNCTION fsbench.percentile(fraction float8, run_id bigint, measure text DEFAULT 'latency', transaction text DEFAULT NULL) RETURNS float8
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN fsbench.percentile(fraction, ARRAY[run_id], measure, transaction);
COMMENT ON FUNCTION fsbench.percentile(float8, bigint, text, text) IS 'Any percentile (fraction 0 to 1) of the latency of one run in ms; see the function with several runs';

CREATE FUNCTION fsbench.create_target(target text, filesystem text DEFAULT NULL, device text DEFAULT NULL, image_size text DEFAULT NULL,
    directory text DEFAULT NULL, connection text DEFAULT NULL, mkfs_options text DEFAULT NULL, mount_options text DEFAULT NULL, log_device text DEFAULT NULL,
    log_size text DEFAULT NULL, pool_properties text DEFAULT NULL, dataset_properties text DEFAULT NULL, image_sparse boolean DEFAULT NULL,
    ssd_state text DEFAULT NULL, block_settings jsonb DEFAULT NULL, kernel_settings jsonb DEFAULT NULL, drop_caches boolean DEFAULT NULL,
    settings jsonb DEFAULT NULL, bindir text DEFAULT NULL, data_checksums boolean DEFAULT NULL, power_loss_protected boolean DEFAULT NULL,
    try boolean DEFAULT false, devices text[] DEFAULT NULL, image_count integer DEFAULT NULL, layout text DEFAULT NULL, layout_options jsonb DEFAULT NULL,
    initial_sync text DEFAULT NULL, log_devices text[] DEFAULT NULL) RETURNS text
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_create_target_wrapper';
COMMENT ON FUNCTION fsbench.create_target IS 'Records a target to benchmark and returns its name; nothing is written there yet. Its kind follows from what defines it: filesystem with device or image_size, or with several devices or images (image_count) that a layout joins (made by pgfsbench-helper for each run), directory (where each run puts a server of its own), or connection (another server that has pgfsbench, which carries the runs out in its own data directory: keywords and values of libpq, without a password). settings: of the target server, also those that need a restart; bindir: its programs. try: pgfsbench-helper makes and mounts it once on a sparse image, by which it is seen whether mkfs and the kernel take the options. The other arguments are described at the columns of fsbench.target';

CREATE FUNCTION fsbench.alter_target(target text, filesystem text DEFAULT NULL, device text DEFAULT NULL, image_size text DEFAULT NULL,
    directory text DEFAULT NULL, connection text DEFAULT NULL, mkfs_options text DEFAULT NULL, mount_options text DEFAULT NULL, log_device text DEFAULT NULL,
    log_size text DEFAULT NULL, pool_properties text DEFAULT NULL, dataset_properties text DEFAULT NULL, image_sparse boolean DEFAULT NULL,
    ssd_state text DEFAULT NULL, block_settings jsonb DEFAULT NULL, kernel_settings jsonb DEFAULT NULL, drop_caches boolean DEFAULT NULL,
    settings jsonb DEFAULT NULL, bindir text DEFAULT NULL, data_checksums boolean DEFAULT NULL, power_loss_protected boolean DEFAULT NULL,
    reset text[] DEFAULT NULL, devices text[] DEFAULT NULL, image_count integer DEFAULT NULL, layout text DEFAULT NULL, layout_options jsonb DEFAULT NULL,
    initial_sync text DEFAULT NULL, log_devices text[] DEFAULT NULL) RETURNS text
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_alter_target_wrapper';
COMMENT ON FUNCTION fsbench.alter_target IS 'Changes the arguments that are given, resets those that reset names (arguments of create_target), and leaves the rest; refused while a run is on the target';

CREATE FUNCTION fsbench._prepared_data(OUT contents text, OUT scale integer, OUT fillfactor integer, OUT unlogged boolean, OUT data_checksums boolean,
    OUT postgres text, OUT bytes bigint, OUT created_epoch bigint, OUT used_epoch bigint, OUT directory text, OUT data text) RETURNS SETOF record
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_prepared_data_wrapper';
COMMENT ON FUNCTION fsbench._prepared_data IS 'What the view fsbench.prepared_data shows. Private';

CREATE FUNCTION fsbench.drop_prepared_data() RETURNS bigint LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_drop_prepared_data_wrapper';
COMMENT ON FUNCTION fsbench.drop_prepared_data IS 'Removes all data that runs have loaded once to copy them to targets, and returns their bytes; data of fsbench.prepare_data() stay. It is refused while a run uses them, or an experiment that is not over is to copy them again';

CREATE FUNCTION fsbench.prepare_data(data text, from_server boolean DEFAULT false, max_rate text DEFAULT NULL, from_directory text DEFAULT NULL) RETURNS bigint
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000000 AS 'MODULE_PATHNAME', 'fsbench_prepare_data_wrapper';
COMMENT ON FUNCTION fsbench.prepare_data IS 'Copies this whole server (from_server => true) as it runs, by pg_basebackup, or the base backup in a directory that root has allowed (from_directory), and keeps the copy under a name for runs: fsbench.run(data => ''shop'', database => ''shop'', ...). Returns its bytes. max_rate: bytes a second that are read at most, such as 50M. The copy takes room near the data directory. Then the copies that this database has made and that were not used for the longest time go until pgfsbench.prepared_data_limit holds. They stay while a run is on or queued, or if an experiment uses them that is not over. The view pg_stat_progress_basebackup shows how far it is. For superusers: a role that may execute this function can have runs on copies of all data of the server';

CREATE FUNCTION fsbench.drop_data(data text) RETURNS bigint LANGUAGE c STRICT VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_drop_data_wrapper';
COMMENT ON FUNCTION fsbench.drop_data IS 'Removes the copy of a server that fsbench.prepare_data() has made, and returns its bytes; refused while a run copies it, or an experiment that is not over is to copy it again';

CREATE FUNCTION fsbench.script_from_statements(database text DEFAULT NULL, top integer DEFAULT 10) RETURNS text
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_script_from_statements_wrapper';
COMMENT ON FUNCTION fsbench.script_from_statements IS 'A start for the argument scripts of fsbench.run(), to be edited: the statements of a database (without it, this one) that pg_stat_statements has with the most calls and with the most blocks changed, weighted by calls. A parameter that is compared with an integer column is drawn from the range of that column in pg_stats; the others are listed as -- choose. All is read with the rights of the caller';

CREATE FUNCTION fsbench.drop_target(target text) RETURNS text LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_drop_target_wrapper';
COMMENT ON FUNCTION fsbench.drop_target IS 'Removes a target; refused while a run is on it. Results of its runs stay';

CREATE FUNCTION fsbench.prepare_target(target text) RETURNS TABLE (target text, directory text, mount_point text, device text,
        filesystem text, mount_options text, mount_options_not_shown text[], mkfs_options text, mkfs_version text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1 AS 'MODULE_PATHNAME', 'fsbench_prepare_target_wrapper';
COMMENT ON FUNCTION fsbench.prepare_target IS 'Has the helper make and mount the filesystem of a target, for a look at it between runs, and returns where it is mounted. It stays until fsbench.release_target(), and no run uses it meanwhile. A ROLLBACK does not undo it';

CREATE FUNCTION fsbench.release_target(target text) RETURNS boolean
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000000 AS 'MODULE_PATHNAME', 'fsbench_release_target_wrapper';
COMMENT ON FUNCTION fsbench.release_target IS 'Has the helper unmount and remove what fsbench.prepare_target() has made; false when nothing was prepared';

CREATE FUNCTION fsbench.plan(target text DEFAULT 'default', workload text DEFAULT 'tpcb', scale integer DEFAULT NULL, size text DEFAULT NULL,
    clients integer DEFAULT NULL, duration interval DEFAULT NULL, transactions bigint DEFAULT NULL, warmup interval DEFAULT NULL, rate float8 DEFAULT NULL,
    latency_limit_ms float8 DEFAULT NULL, seed bigint DEFAULT NULL, settings jsonb DEFAULT NULL, options jsonb DEFAULT NULL, label text DEFAULT NULL,
    keep boolean DEFAULT false, force boolean DEFAULT false, scripts text DEFAULT NULL, variables jsonb DEFAULT NULL, init_script text DEFAULT NULL,
    checks jsonb DEFAULT NULL, protocol text DEFAULT NULL, max_tries integer DEFAULT NULL, continue_on_error boolean DEFAULT NULL, data text DEFAULT NULL,
    database text DEFAULT NULL) RETURNS TABLE (step integer, who text, action text, command text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 20 AS 'MODULE_PATHNAME', 'fsbench_plan_wrapper';
COMMENT ON FUNCTION fsbench.plan IS 'Every step of a run beforehand, in the order in which they begin; takes the parameters of fsbench.run. Changes nothing. Shows the command lines of the helper (root), of the coordinator in this server, and of the measured server. fsbench.result.steps has what a run did';

CREATE FUNCTION fsbench._block_devices() RETURNS TABLE (path text, node text, model text, serial text, wwn text, size_bytes bigint, in_use text)
    LANGUAGE c VOLATILE PARALLEL SAFE ROWS 10 AS 'MODULE_PATHNAME', 'fsbench_block_devices_wrapper';
COMMENT ON FUNCTION fsbench._block_devices IS 'Disks and partitions of this machine as the server''s operating system user sees them. Private; read fsbench.device';

CREATE FUNCTION fsbench._describe() RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000000 AS 'MODULE_PATHNAME', 'fsbench_describe_wrapper';
COMMENT ON FUNCTION fsbench._describe IS 'Has the helper look at its devices again. Private; called by fsbench.describe_devices()';

CREATE FUNCTION fsbench.doctor() RETURNS TABLE (subject text, item text, state text, detail text, hint text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 40 AS 'MODULE_PATHNAME', 'fsbench_doctor_wrapper';
COMMENT ON FUNCTION fsbench.doctor IS 'What benchmarks need and what of it is here, and what findings would tell of it: the server, the machine (which is looked at for a second), the helper, each filesystem. state is ok, info, warning (it works, and can mislead or be refused) or missing (it does not work); hint says what to do. Works without the helper too';

CREATE FUNCTION fsbench.judge(run_id bigint) RETURNS TABLE (code text, severity text, message text, hint text)
    LANGUAGE c STRICT VOLATILE PARALLEL UNSAFE ROWS 10 AS 'MODULE_PATHNAME', 'fsbench_judge_wrapper';
COMMENT ON FUNCTION fsbench.judge IS 'Judges a run that is done again, by everything that is stored of it, with the rules of this version of pgfsbench, and returns its findings, the worst first; writes nothing. What only the moment knew (not_released) is returned as it was stored then';
