-- Upgrades pgfsbench from 1.0.0 to 1.0.1. New objects get the rights of sql/schema/5_rights.sql here: REVOKE ... FROM PUBLIC, GRANT ... TO pg_monitor.
-- The library grants them to operators after the upgrade.
\echo Use "ALTER EXTENSION pgfsbench UPDATE" to load this file. \quit
COMMENT ON COLUMN fsbench.progress.done IS 'Steps of the phase that are done: rows in load, statements in vacuum, milliseconds or transactions in warmup and measure, cycles of a search for the sustainable rate (of how many it can take at most); in provision, percent of the sync of an array that the helper makes; of the workload fsync, bytes of its file in provision and tests in measure; steps in maintenance';
COMMENT ON FUNCTION fsbench.prepare_data IS 'Copies this whole server (from_server => true) as it runs, by pg_basebackup, or the base backup in a directory that root has allowed (from_directory), and keeps the copy under a name for runs: fsbench.run(data => ''shop'', database => ''shop'', ...). Returns its bytes. max_rate: bytes a second that are read at most, such as 50M. The copy takes room near the data directory. Then the copies that this database has made and that were not used for the longest time go until pgfsbench.prepared_data_limit holds. They stay while a run is on or queued, or if an experiment uses them that is not over. The view pg_stat_progress_basebackup shows how far it is. For superusers: a role that may execute this function can have runs on copies of all data of the server';
COMMENT ON COLUMN fsbench.environment.layers IS 'What the data lie on, from above to the disks: partitions, LVM, encryption, RAID and btrfs over several devices (level, chunk_bytes, raid_disks, members, degraded, sync_action, bitmap, consistency_policy, safe_mode_delay_ms, stripe_cache_size, mismatch_sectors), loop devices and what holds their files, each with its queue, and disks with WWN and serial number as far as everybody may read them; NULL for a filesystem without a device (tmpfs, NFS, overlay), and for zfs that pgfsbench-helper has not made';

-- texts => false leaves out the DETAIL of errors of scripts.
CREATE OR REPLACE FUNCTION fsbench.export(experiment text DEFAULT NULL, run_ids bigint[] DEFAULT NULL, history text DEFAULT NULL, texts boolean DEFAULT true) RETURNS SETOF text
    -- Reads one snapshot: data that are removed meanwhile are in the file whole, or not at all.
    LANGUAGE plpgsql STABLE PARALLEL UNSAFE ROWS 1000
    SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on SET timezone = 'GMT' SET intervalstyle = 'postgres' SET extra_float_digits = 1
    AS $$
#variable_conflict use_column
DECLARE
    ids bigint[];
    experiment_ids bigint[] := '{}';
    problem text;
    hash bytea := '';
    line text;
    longest integer;
    n integer := 0;
    part record;
    expression text;
    names jsonb;
    hashes text[];              -- of texts that the runs refer to
    salt text := gen_random_uuid();
BEGIN
    IF num_nonnulls($1, $2, $3) <> 1 THEN
        RAISE EXCEPTION 'one of experiment, run_ids and history must be given'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = 'A file has one experiment, some runs, or all runs with a label.',
                  HINT = 'Call it as in \copy (SELECT fsbench.export(''new server'')) TO ''x.jsonl''.';
    END IF;
    IF $1 IS NOT NULL THEN
        SELECT array_agg(e.experiment_id), max(CASE WHEN e.status NOT IN ('done', 'cancelled') THEN e.status END) INTO experiment_ids, problem
        FROM fsbench.experiment e WHERE e.experiment = $1;
        IF experiment_ids IS NULL THEN
            RAISE EXCEPTION 'experiment "%" does not exist', $1
                USING ERRCODE = 'invalid_parameter_value', DETAIL = 'There is no experiment of this name in this database.', HINT = 'See fsbench.experiments.';
        ELSIF problem IS NOT NULL THEN
            RAISE EXCEPTION 'experiment "%" is not over', $1 USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = format('Its status is %s.', problem),
                      HINT = 'Wait for it with CALL fsbench.wait_experiment(), or end it with fsbench.cancel_experiment().';
        END IF;
        SELECT array_agg(DISTINCT x.run_id) INTO ids
        FROM fsbench.experiment_run x JOIN fsbench.run_log r USING (run_id) WHERE x.experiment_id = ANY (experiment_ids);
    ELSIF $2 IS NOT NULL THEN
        IF cardinality($2) = 0 THEN
            RAISE EXCEPTION 'run_ids must name runs'
                USING ERRCODE = 'invalid_parameter_value', DETAIL = 'It is empty.', HINT = 'Call it as in \copy (SELECT fsbench.export(run_ids => ''{7,8}'')) TO ''x.jsonl''.';
        END IF;
        PERFORM fsbench._check_runs($2);
        ids := ARRAY(SELECT DISTINCT r FROM unnest($2) r ORDER BY r);
    ELSE
        -- A label with an @ may be one of this database, too.
        SELECT coalesce(array_agg(r.run_id) FILTER (WHERE i.run_id IS NULL), array_agg(r.run_id)) INTO ids
        FROM fsbench.run_log r LEFT JOIN fsbench.imported_run i USING (run_id) WHERE r.label = $3 AND r.status IN ('done', 'failed', 'cancelled');
        IF ids IS NULL THEN
            RAISE EXCEPTION 'no run has the label "%"', $3
                USING ERRCODE = 'invalid_parameter_value', DETAIL = 'There is no row with this label in fsbench.run_log of this database that is over.',
                      HINT = 'Give it to the runs: fsbench.start(label => ...).';
        END IF;
    END IF;
    ids := coalesce(ids, '{}');
    SELECT fsbench._some_runs(array_agg(r.run_id)) INTO problem FROM fsbench.run_log r WHERE r.run_id = ANY (ids) AND r.status NOT IN ('done', 'failed', 'cancelled');
    IF problem IS NOT NULL THEN
        RAISE EXCEPTION 'run % is not over', problem
            USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = 'Only what is over is exported.', HINT = 'Wait for it with CALL fsbench.wait().';
    END IF;
    SELECT fsbench._some_runs(array_agg(i.run_id)) INTO problem FROM fsbench.imported_run i WHERE i.run_id = ANY (ids);
    IF problem IS NOT NULL THEN
        RAISE EXCEPTION 'run % was imported', problem
            USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = 'A file tells of what was measured where it is written.',
                  HINT = 'Take the file that it came from; fsbench.imported says of which host.';
    END IF;

    FOR part IN SELECT 0 AS place, NULL::name AS relation, NULL::text AS key, NULL::text AS parent, NULL::name[] AS left_out, NULL::text AS option
                UNION ALL SELECT x.* FROM fsbench._exported() x ORDER BY place
    LOOP
        CONTINUE WHEN (part.relation IN ('statement', 'verification') OR part.option IS NOT NULL) AND $4 IS FALSE;
        IF part.relation IS NULL THEN
            SELECT format('"pgfsbench_export": %s', jsonb_build_object('format', 1, 'pgfsbench', fsbench.version(), 'exported_at', clock_timestamp(),
                'hostname', max(e.hostname), 'host_fingerprints', coalesce(jsonb_agg(DISTINCT e.host_fingerprint) FILTER (WHERE e.host_fingerprint IS NOT NULL), '[]'),
                'runs', cardinality(ids), 'experiments', cardinality(experiment_ids))) INTO line
            FROM fsbench.environment e WHERE e.run_id = ANY (ids);
            n := n + 1;
            line := fsbench._export_line(format('{"n": %s, %s}', n, line));
            hash := fsbench._line_hash(hash, line);
            RETURN NEXT line;
            CONTINUE;
        END IF;
        -- A function takes a hundred arguments, and a run has more columns.
        SELECT jsonb_agg(p.names ORDER BY p.g), string_agg(format('jsonb_build_array(%s)', p.list), ' || ' ORDER BY p.g) INTO names, expression
        FROM (SELECT (a.attnum / 90) AS g, jsonb_agg(a.attname ORDER BY a.attnum) AS names, string_agg(CASE
                  -- Texts are in the file once, or not at all.
                  WHEN (part.relation, a.attname) IN (('experiment', 'asked'), ('experiment', 'parameters')) THEN
                      (SELECT concat('t.', a.attname, string_agg(format(' #- %L', CASE a.attname WHEN 'asked' THEN '{run}'::text[] ELSE '{}' END || ARRAY[d.option, m]), ''))
                       FROM fsbench._document_tables() d, unnest('{sha256}' || d.texts) m)
                  WHEN (part.relation, a.attname) = ('run_log', 'used') AND $4 IS FALSE THEN 'fsbench._hide_hashes(t.used, ''{options}'', $3)'
                  WHEN (part.relation, a.attname) = ('run_log', 'asked') AND $4 IS FALSE THEN 'fsbench._hide_hashes(t.asked, ''{}'', $3)'
                  -- The error of a failed check, or of a command of a text, says what was left out.
                  WHEN (part.relation, a.attname) = ('run_log', 'error_detail') AND $4 IS FALSE
                      THEN 'CASE WHEN NOT EXISTS (SELECT FROM fsbench.verification v WHERE v.run_id = t.run_id AND NOT v.passed) '
                          'AND NOT EXISTS (SELECT FROM fsbench._document_tables() d WHERE t.used #>> ARRAY[''options'', d.option, ''sha256''] IS NOT NULL) THEN t.error_detail END'
                  ELSE format('t.%I', a.attname) END, ', ' ORDER BY a.attnum) AS list
              FROM pg_attribute a WHERE a.attrelid = ('fsbench.' || part.relation)::regclass AND a.attnum > 0 AND NOT a.attisdropped
                AND a.attname <> ALL (part.left_out) GROUP BY 1) p;
        SELECT jsonb_agg(c.name) INTO names FROM jsonb_array_elements(names) g, jsonb_array_elements(g) c (name);
        hashes := CASE WHEN part.option IS NOT NULL THEN ARRAY(SELECT r.used #>> ARRAY['options', part.option, 'sha256'] FROM fsbench.run_log r WHERE r.run_id = ANY (ids)) END;
        -- At most 200 rows, and few bytes: fsbench.import() takes a line and a row apart in memory.
        FOR line, longest IN EXECUTE format('SELECT jsonb_agg(r.row ORDER BY r.nr)::text, max(CASE WHEN r.bytes > 33000 THEN octet_length(fsbench._export_line(r.row::text)) END) FROM ('
                'SELECT s.*, s.nr / 200 AS place, sum(s.bytes) OVER (ORDER BY s.nr) / 150000 AS piece FROM ('
                'SELECT x.row, octet_length(x.row::text) AS bytes, row_number() OVER (ORDER BY %s) - 1 AS nr FROM (SELECT %s AS row, t.* FROM %s t WHERE t.%I = ANY (%s)) x) s) r '
            'GROUP BY r.place, r.piece ORDER BY min(r.nr)', part.key, expression,
            -- A long document has several rows, one after the other.
            CASE WHEN part.option IS NOT NULL THEN format('(SELECT d.sha256, p AS part, substr(d.document, 10000 * p + 1, 10000) AS document FROM fsbench.%I d, generate_series(0, length(d.document) / 10000) p)', part.relation)
                ELSE format('fsbench.%I', part.relation) END, part.parent, CASE WHEN part.option IS NOT NULL THEN '$2' ELSE '$1' END)
            USING CASE part.parent WHEN 'run_id' THEN ids ELSE experiment_ids END, hashes, salt
        LOOP
            IF longest > 100000 THEN
                RAISE EXCEPTION 'a row of table "%" is too long for a file', part.relation
                    USING ERRCODE = 'program_limit_exceeded', DETAIL = format('It has %s bytes, and fsbench.import() reads at most 100000.', longest),
                          HINT = 'Export the other runs with fsbench.export(run_ids => ...).';
            END IF;
            n := n + 1;
            line := fsbench._export_line(format('{"n": %s, "table": "%s", "columns": %s, "rows": %s}', n, part.relation, names, line));
            hash := fsbench._line_hash(hash, line);
            RETURN NEXT line;
        END LOOP;
    END LOOP;
    RETURN NEXT format('{"n": %s, "end": {"lines": %s, "sha256": "%s"}}', n + 1, n, encode(hash, 'hex'));
END
$$;
-- As sql/schema/6_install.sql does for all functions.
ALTER FUNCTION fsbench.export
    SET array_nulls = on
    SET backslash_quote = 'safe_encoding'
    SET bytea_output = 'hex'
    SET datestyle = 'ISO'
    SET extra_float_digits = 1
    SET intervalstyle = 'postgres'
    SET quote_all_identifiers = off
    SET standard_conforming_strings = on
    SET timezone = 'GMT'
    SET transform_null_equals = off;
