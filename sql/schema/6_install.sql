-- Settings of the caller's session decide neither how our SQL is read nor what our texts say: each function with a search_path of its own has these,
-- too, and so has one that reads figures as text. Functions in C have them for their statements (READING_AND_PRINTING in core).
DO $$
DECLARE
    routine pg_catalog.regprocedure;
BEGIN
    FOR routine IN
        SELECT p.oid FROM pg_catalog.pg_proc p
        WHERE p.pronamespace = 'fsbench'::pg_catalog.regnamespace AND (p.proconfig IS NOT NULL OR p.proname = '_metric')
    LOOP
        EXECUTE 'ALTER FUNCTION ' || routine || $s$
            SET array_nulls = on
            SET backslash_quote = 'safe_encoding'
            SET bytea_output = 'hex'
            SET datestyle = 'ISO'
            SET extra_float_digits = 1
            SET intervalstyle = 'postgres'
            SET quote_all_identifiers = off
            SET standard_conforming_strings = on
            SET timezone = 'GMT'
            SET transform_null_equals = off$s$;
    END LOOP;
END
$$;

-- A column without a comment gets the comment of the column of that name in a relation that the view reads, or else a common one.
DO $$
DECLARE
    col record;
    sources text[] := '{result run_log, result environment, sample run_log, helper_log helper_job, prepared_target helper_description, script_command command_result,
        tpcc tpcc_client, tpcc_transaction transaction_result, experiments experiment, comparison experiment, chart_verdict comparison, chart_verdict experiment,
        chart_block experiment_run, chart_block experiment_target, chart_target experiment_target, chart_second sample, chart_second result,
        chart_checkpoint checkpoint, chart_latency histogram, chart_latency result, chart_wait wait_event, chart_scan_speed scan, chart_scan_speed result,
        chart_fsync fsync, chart_fsync result, chart_recovery recovery, chart_recovery result, study_definitions study_definition,
        studies study_definitions, imported imported_run, imported imported_file, imported environment, helper_session helper_description,
        helper_job run_log, run_instance sample, run_instance run_log, io_second wait_event, io_second io_job, probe run_log, power_cut_error power_cut_result,
        prepared_target progress, chart_published published, chart_published chart_claim, study experiment}';
BEGIN
    FOR col IN
        SELECT c.oid::pg_catalog.regclass AS relation, a.attname, s.text
        FROM pg_catalog.pg_class c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid
        CROSS JOIN LATERAL (
            SELECT pg_catalog.col_description(t.attrelid, t.attnum) AS text, u.place
            FROM pg_catalog.unnest(sources) WITH ORDINALITY u (words, place)
            JOIN pg_catalog.pg_attribute t ON t.attrelid = ('fsbench.' || pg_catalog.split_part(u.words, ' ', 2))::pg_catalog.regclass AND t.attname = a.attname
            WHERE pg_catalog.split_part(u.words, ' ', 1) = c.relname AND pg_catalog.col_description(t.attrelid, t.attnum) IS NOT NULL
            UNION ALL
            SELECT m.text, 1000 FROM (VALUES ('run_id', 'Run'), ('experiment', 'Experiment'), ('experiment_id', 'Experiment'), ('study', 'Study'),
                ('latency_p50_ms', 'Median (ms), within 3.2 %'), ('latency_p90_ms', '90th percentile (ms), within 3.2 %'),
                ('latency_p95_ms', '95th percentile (ms), within 3.2 %'), ('latency_p99_ms', '99th percentile (ms), within 3.2 %'),
                ('latency_p999_ms', '99.9th percentile (ms); NULL under 10,000 values'), ('latency_stddev_ms', 'Standard deviation (ms)'),
                ('latency_min_ms', 'Shortest (ms), exact'), ('latency_max_ms', 'Longest (ms), exact')) m (name, text)
            WHERE m.name = a.attname
            ORDER BY place LIMIT 1) s
        WHERE c.relnamespace = 'fsbench'::pg_catalog.regnamespace AND c.relkind IN ('r', 'v') AND a.attnum > 0 AND NOT a.attisdropped
          AND pg_catalog.col_description(c.oid, a.attnum) IS NULL
    LOOP
        EXECUTE pg_catalog.format('COMMENT ON COLUMN %s.%I IS %L', col.relation, col.attname, col.text);
    END LOOP;
END
$$;

-- A dump has everything that is stored, but for what the helper says of this machine. A target that was prepared by hand is prepared in this database alone.
DO $$
DECLARE
    relation record;
BEGIN
    FOR relation IN SELECT c.oid, c.relname FROM pg_catalog.pg_class c
        WHERE c.relnamespace = 'fsbench'::pg_catalog.regnamespace AND c.relkind IN ('r', 'S') AND c.relname NOT IN ('helper_description', 'helper_session') ORDER BY 1
    LOOP
        PERFORM pg_catalog.pg_extension_config_dump(relation.oid,
            CASE relation.relname WHEN 'target' THEN 'WHERE kind <> ''default''' WHEN 'helper_job' THEN 'WHERE run_id IS NOT NULL' ELSE '' END);
    END LOOP;
END
$$;

-- Says at once what would make the first run fail.
SELECT fsbench._check_preloaded();
