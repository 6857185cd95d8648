-- Upgrades pgfsbench from 0.2.0 to 0.3.0. What is new has the rights that sql/schema/5_rights.sql gives it: REVOKE ... FROM PUBLIC, GRANT ... TO pg_monitor. What
-- operators get of it, the library gives them afterwards.
\echo Use "ALTER EXTENSION pgfsbench UPDATE" to load this file. \quit

-- Known in PostgreSQL 18, too.
COMMENT ON COLUMN fsbench.run_log.client_wal_writes IS 'How often clients wrote WAL to its file';
COMMENT ON COLUMN fsbench.result.client_wal_writes IS 'How often clients wrote WAL to its file';
COMMENT ON COLUMN fsbench.run_log.client_wal_syncs IS 'How often clients flushed WAL (walwriter and others do too)';
COMMENT ON COLUMN fsbench.result.client_wal_syncs IS 'How often clients flushed WAL (walwriter and others do too)';
COMMENT ON COLUMN fsbench.sample.client_wal_writes IS 'How often clients wrote WAL to its file';
COMMENT ON COLUMN fsbench.sample.client_wal_syncs IS 'How often clients flushed WAL';
-- Studies: published benchmarks that are repeated here. What is claimed, and what was measured.

CREATE TABLE fsbench.study_definition (
    study      text PRIMARY KEY,
    definition jsonb NOT NULL,
    defined_by name NOT NULL DEFAULT session_user,
    defined_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE fsbench.study_definition IS 'Studies that somebody has defined (fsbench.define_study); read them with those that come with pgfsbench through the view fsbench.studies';
COMMENT ON COLUMN fsbench.study_definition.study IS 'Name';
COMMENT ON COLUMN fsbench.study_definition.definition IS 'Claims, variants, questions and published figures, as docs/studies.md describes them';
COMMENT ON COLUMN fsbench.study_definition.defined_by IS 'Role that has defined it';
COMMENT ON COLUMN fsbench.study_definition.defined_at IS 'When';

CREATE TABLE fsbench.study (
    study        text PRIMARY KEY,
    definition   jsonb NOT NULL,
    asked        jsonb NOT NULL,
    facts        jsonb NOT NULL,
    requested_by name NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE fsbench.study IS 'Studies that were started in this database';
COMMENT ON COLUMN fsbench.study.study IS 'Name';
COMMENT ON COLUMN fsbench.study.definition IS 'As it was when it was started: what was claimed before the first run is what is judged';
COMMENT ON COLUMN fsbench.study.asked IS 'Arguments as given';
COMMENT ON COLUMN fsbench.study.facts IS 'What of this machine and server decided what was left out: kernel, memory, processors, version, filesystems that are missing, and why';
COMMENT ON COLUMN fsbench.study.requested_by IS 'Role that asked';
COMMENT ON COLUMN fsbench.study.created_at IS 'When it was recorded';

CREATE TABLE fsbench.study_experiment (
    study         text NOT NULL REFERENCES fsbench.study ON DELETE CASCADE,
    question      text NOT NULL,
    experiment_id bigint NOT NULL UNIQUE REFERENCES fsbench.experiment ON DELETE CASCADE,
    PRIMARY KEY (study, question)
);
COMMENT ON TABLE fsbench.study_experiment IS 'The experiments of each study, one a question';
COMMENT ON COLUMN fsbench.study_experiment.study IS 'Study';
COMMENT ON COLUMN fsbench.study_experiment.question IS 'Question of its definition';
COMMENT ON COLUMN fsbench.study_experiment.experiment_id IS 'Experiment that answers it';

CREATE TABLE fsbench.study_target (
    study       text NOT NULL REFERENCES fsbench.study ON DELETE CASCADE,
    variant     text NOT NULL,
    target_name text NOT NULL,
    PRIMARY KEY (study, variant)
);
COMMENT ON TABLE fsbench.study_target IS 'The targets that each study has made';
COMMENT ON COLUMN fsbench.study_target.study IS 'Study';
COMMENT ON COLUMN fsbench.study_target.variant IS 'Variant of its definition';
COMMENT ON COLUMN fsbench.study_target.target_name IS 'Target in fsbench.target';

-- They steer which filesystems are made, and which are removed.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['study_definition', 'study', 'study_experiment', 'study_target'] LOOP
        EXECUTE pg_catalog.format('CREATE TRIGGER check_writer BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON fsbench.%I '
            'FOR EACH STATEMENT EXECUTE FUNCTION fsbench._check_writer()', name);
        EXECUTE pg_catalog.format('COMMENT ON TRIGGER check_writer ON fsbench.%I IS %L', name, 'Only the owner of the extension changes studies');
    END LOOP;
END
$$;

SELECT pg_catalog.pg_extension_config_dump('fsbench.study_definition', '');
SELECT pg_catalog.pg_extension_config_dump('fsbench.study', '');
SELECT pg_catalog.pg_extension_config_dump('fsbench.study_experiment', '');
SELECT pg_catalog.pg_extension_config_dump('fsbench.study_target', '');

-- What users call and read of studies.

CREATE FUNCTION fsbench._builtin_studies() RETURNS TABLE (study text, definition text)
    LANGUAGE c STABLE PARALLEL SAFE ROWS 6
    AS 'MODULE_PATHNAME', 'fsbench_builtin_studies_wrapper';
COMMENT ON FUNCTION fsbench._builtin_studies IS 'The studies that come with pgfsbench, as JSON. Private; read fsbench.studies';

CREATE FUNCTION fsbench._study(asked jsonb, plan_only boolean) RETURNS text
    LANGUAGE c VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'fsbench_study_wrapper';
COMMENT ON FUNCTION fsbench._study IS 'Starts a study, or only says what that would be. Private: called by fsbench.study() and study_plan()';

CREATE FUNCTION fsbench.study(study text, image_size text DEFAULT NULL, device text DEFAULT NULL, part text DEFAULT NULL, quick boolean DEFAULT false,
    period boolean DEFAULT NULL, scale integer DEFAULT NULL, duration interval DEFAULT NULL, blocks integer DEFAULT NULL, log_device text DEFAULT NULL,
    bindir text DEFAULT NULL, power_loss_protected boolean DEFAULT NULL, start boolean DEFAULT true)
    RETURNS text
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
    RETURN fsbench._study(pg_catalog.jsonb_build_object('study', study, 'image_size', image_size, 'device', device, 'part', part, 'quick', quick,
        'period', period, 'scale', scale, 'duration_us', (EXTRACT(epoch FROM duration) OPERATOR(pg_catalog.*) 1e6::numeric)::bigint, 'blocks', blocks,
        'log_device', log_device, 'bindir', bindir, 'power_loss_protected', power_loss_protected, 'start', start), false);
COMMENT ON FUNCTION fsbench.study IS 'Repeats a published benchmark on an image or a device of this machine: makes its targets, and starts an experiment for each question of the part. Returns its name at once. See fsbench.study_claims() and fsbench.study_report(). quick: an hour''s worth in ten minutes; scale, duration and blocks shrink or enlarge it. period: with the settings of its time (true), of today (false), or those of its time only beside the published table (NULL). log_device: for variants whose log is elsewhere; bindir: a second build of the server; power_loss_protected: of the device, as in fsbench.create_target(); start => false only records it';

CREATE FUNCTION fsbench.study_plan(study text, image_size text DEFAULT NULL, device text DEFAULT NULL, part text DEFAULT NULL, quick boolean DEFAULT false,
    period boolean DEFAULT NULL, scale integer DEFAULT NULL, duration interval DEFAULT NULL, blocks integer DEFAULT NULL, log_device text DEFAULT NULL,
    bindir text DEFAULT NULL, power_loss_protected boolean DEFAULT NULL, start boolean DEFAULT true)
    RETURNS TABLE (part text, item text, says text)
    LANGUAGE sql VOLATILE PARALLEL UNSAFE ROWS 60 SET search_path = pg_catalog, pg_temp
    AS $$
    SELECT r.part, r.item, r.says FROM jsonb_to_recordset(fsbench._study(jsonb_build_object('study', $1, 'image_size', $2, 'device', $3, 'part', $4,
        'quick', $5, 'period', $6, 'scale', $7, 'duration_us', (EXTRACT(epoch FROM $8) * 1e6)::bigint, 'blocks', $9, 'log_device', $10, 'bindir', $11,
        'power_loss_protected', $12, 'start', $13), true)::jsonb) AS r (part text, item text, says text)
    $$;
COMMENT ON FUNCTION fsbench.study_plan IS 'What fsbench.study() would do with these arguments, which it changes nothing by: its experiments, what they need, what is left out here and what would bring it, how each claim is decided, and run by run';

CREATE FUNCTION fsbench.study_claims(study text)
    RETURNS TABLE (claim text, says text, seen text, decided_by text, here text, estimate float8, low float8, high float8, why text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 20
    AS 'MODULE_PATHNAME', 'fsbench_study_claims_wrapper';
COMMENT ON FUNCTION fsbench.study_claims IS 'Each claim of a study: what is claimed (says), what the author saw (seen), what decides it, and whether it holds here: holds, does not hold, inconclusive or not tested. estimate, low, high: the ratio that decides with its interval; by ranges of the runs that of the medians, and of the ranges; of a knee degrees';

CREATE FUNCTION fsbench.study_report(study text)
    RETURNS TABLE (question text, variant text, metric text, published float8, unit text, published_percent float8, measured float8,
        measured_percent float8, runs integer, ratio float8, low float8, high float8, compared text, remark text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 30
    AS 'MODULE_PATHNAME', 'fsbench_study_report_wrapper';
COMMENT ON FUNCTION fsbench.study_report IS 'The author''s table with ours beside it, each also in percent of its best: figures of two machines are not compared. ratio, low, high: here, to the baseline of the question. compared: whether the variant stands to the baseline as it did there: same order, reversed, or not told apart';

CREATE FUNCTION fsbench.define_study(definition jsonb) RETURNS text
    LANGUAGE c VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'fsbench_define_study_wrapper';
COMMENT ON FUNCTION fsbench.define_study IS 'Records a study of your own, in the form of those that come with pgfsbench (fsbench.studies.definition), checked as strictly, or puts it in place of one that you have defined before; returns its name';

CREATE FUNCTION fsbench.drop_study(study text, keep_runs boolean DEFAULT false) RETURNS text
    LANGUAGE c VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'fsbench_drop_study_wrapper';
COMMENT ON FUNCTION fsbench.drop_study IS 'Removes a study that was started and is not on, with its experiments, and with its targets and runs unless keep_runs; of one that was not started the definition, if it is your own. Returns its name';

CREATE VIEW fsbench.studies AS
    SELECT d.study, d.definition ->> 'title' AS title, d.definition ->> 'author' AS author, (d.definition ->> 'year')::integer AS year,
           ARRAY(SELECT q.part FROM pg_catalog.jsonb_array_elements(d.definition -> 'questions') WITH ORDINALITY AS e (question, place),
                 LATERAL (SELECT e.question ->> 'part' AS part) q GROUP BY q.part ORDER BY pg_catalog.min(e.place)) AS parts,
           pg_catalog.jsonb_array_length(d.definition -> 'claims') AS claims, d.is_own,
           CASE WHEN s.study IS NULL THEN NULL
                WHEN n.open > 0 THEN 'on' ELSE 'over' END AS status,
           s.created_at, n.experiments, d.definition
    FROM (SELECT b.study, b.definition::jsonb AS definition, false AS is_own FROM fsbench._builtin_studies() b
          UNION ALL SELECT o.study, o.definition, true FROM fsbench.study_definition o) d
    LEFT JOIN fsbench.study s USING (study)
    LEFT JOIN LATERAL (SELECT pg_catalog.array_agg(e.experiment ORDER BY e.experiment_id) AS experiments,
                              pg_catalog.count(*) FILTER (WHERE e.status NOT IN ('done', 'cancelled')) AS open
        FROM fsbench.study_experiment x JOIN fsbench.experiment e USING (experiment_id) WHERE x.study = d.study) n ON true
    ORDER BY d.is_own, d.definition ->> 'year', d.study;
COMMENT ON VIEW fsbench.studies IS 'Studies that fsbench.study() repeats: those that come with pgfsbench, and your own';
COMMENT ON COLUMN fsbench.studies.study IS 'Name';
COMMENT ON COLUMN fsbench.studies.title IS 'Title';
COMMENT ON COLUMN fsbench.studies.author IS 'Author';
COMMENT ON COLUMN fsbench.studies.year IS 'Year of its publication';
COMMENT ON COLUMN fsbench.studies.parts IS 'Parts: one is made at a time, or all';
COMMENT ON COLUMN fsbench.studies.claims IS 'How many claims it has';
COMMENT ON COLUMN fsbench.studies.is_own IS 'Whether somebody has defined it here';
COMMENT ON COLUMN fsbench.studies.status IS 'on while an experiment of it is not over, over after that; NULL: not started here';
COMMENT ON COLUMN fsbench.studies.created_at IS 'When it was started here';
COMMENT ON COLUMN fsbench.studies.experiments IS 'Names of its experiments, in the order in which they are made';
COMMENT ON COLUMN fsbench.studies.definition IS 'All of it, as fsbench.define_study() takes it';

CREATE VIEW fsbench.published AS
    SELECT d.study, f.variant, f.metric, f.value, f.unit, f.runs, f.remark, coalesce(f.source, d.definition ->> 'source') AS source
    FROM fsbench.studies d,
         LATERAL ROWS FROM (pg_catalog.jsonb_to_recordset(d.definition -> 'published')
             AS (variant text, metric text, value float8, unit text, runs float8[], remark text, source text)) WITH ORDINALITY
             AS f (variant, metric, value, unit, runs, remark, source, place)
    ORDER BY d.is_own, d.year, d.study, f.place;
COMMENT ON VIEW fsbench.published IS 'The figures that the authors of studies have published, of their machines; fsbench.study_report() has ours beside them';
COMMENT ON COLUMN fsbench.published.study IS 'Study';
COMMENT ON COLUMN fsbench.published.variant IS 'Variant that it is of';
COMMENT ON COLUMN fsbench.published.metric IS 'What was measured, in the author''s words';
COMMENT ON COLUMN fsbench.published.value IS 'Figure';
COMMENT ON COLUMN fsbench.published.unit IS 'Its unit';
COMMENT ON COLUMN fsbench.published.runs IS 'Each run, where they were published';
COMMENT ON COLUMN fsbench.published.remark IS 'What is to be known about it';
COMMENT ON COLUMN fsbench.published.source IS 'Where it was published';

ALTER VIEW fsbench.studies SET (security_invoker = true);
ALTER VIEW fsbench.published SET (security_invoker = true);
REVOKE ALL ON fsbench.study_definition, fsbench.study, fsbench.study_experiment, fsbench.study_target, fsbench.studies, fsbench.published FROM PUBLIC;
REVOKE ALL ON FUNCTION fsbench._builtin_studies, fsbench._study, fsbench.study, fsbench.study_plan, fsbench.study_claims, fsbench.study_report,
    fsbench.define_study, fsbench.drop_study FROM PUBLIC;
GRANT SELECT ON fsbench.study_definition, fsbench.study, fsbench.study_experiment, fsbench.study_target, fsbench.studies, fsbench.published TO pg_monitor;
GRANT EXECUTE ON FUNCTION fsbench._builtin_studies(), fsbench.study_claims(text), fsbench.study_report(text) TO pg_monitor;

CREATE OR REPLACE FUNCTION fsbench._metric(run_id bigint, metric text) RETURNS float8
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (SELECT CASE $2
        WHEN 'tps' THEN r.tps
        WHEN 'missed' THEN (r.skipped + r.late)::float8
        WHEN 'even_seconds' THEN 1 - r.stall_seconds / nullif(r.measured_ms / 1000, 0)
        WHEN 'tps_cv' THEN (SELECT (stddev_samp(s.transactions / s.interval_ms) / nullif(avg(s.transactions / s.interval_ms), 0))::float8
            FROM fsbench.sample s WHERE s.run_id = r.run_id AND s.interval_ms > 0)
        WHEN 'recovery_ms' THEN (SELECT y.recovery_ms FROM fsbench.recovery y WHERE y.run_id = r.run_id)
        WHEN 'maintenance_ms' THEN (SELECT sum(m.ms) FROM fsbench.maintenance m WHERE m.run_id = r.run_id)
        WHEN 'scan_bytes_per_s' THEN (SELECT 1e9 * max(d.gb) FROM (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY s.gb_per_second) AS gb
            FROM fsbench.scan s WHERE s.run_id = r.run_id AND s.used GROUP BY s.degree) d)
        ELSE (to_jsonb(r) ->> $2)::float8 END
        FROM fsbench.run_log r WHERE r.run_id = $1);

CREATE OR REPLACE FUNCTION fsbench._operator_rights(verb text, preposition text, role regrole) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    what text;
BEGIN
    IF role IS NULL THEN
        RAISE EXCEPTION 'role must not be null'
            USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = 'It says who may run benchmarks.',
                  HINT = 'Give the name of a role.';
    END IF;
    FOR what IN
        SELECT r.what FROM (
            SELECT 'USAGE ON SCHEMA fsbench'
            UNION ALL SELECT 'SELECT ON ALL TABLES IN SCHEMA fsbench'
            UNION ALL SELECT format('EXECUTE ON ROUTINE %s', p.oid::regprocedure)
            FROM pg_proc p, aclexplode(p.proacl) a
            WHERE p.pronamespace = 'fsbench'::regnamespace AND a.grantee = 'pg_monitor'::regrole AND a.privilege_type = 'EXECUTE') r (what)
        WHERE role <> 'pg_monitor'::regrole
        UNION ALL
        VALUES ('INSERT, UPDATE ON TABLE fsbench.acknowledgement'),
            ('EXECUTE ON FUNCTION fsbench.run, fsbench.start, fsbench.sustainable_rate, fsbench.cancel, fsbench._renew_lease, fsbench._repeat, fsbench.acknowledge, '
             'fsbench._experiment, fsbench.experiment, fsbench.plan_experiment, fsbench._change_experiment, fsbench.pause_experiment, fsbench.resume_experiment, '
             'fsbench.cancel_experiment, fsbench.extend_experiment, fsbench.confirm_experiment, fsbench.drop_experiment, fsbench.import, fsbench.drop_imported, fsbench._study, '
             'fsbench.study, fsbench.study_plan, fsbench.drop_study')
    LOOP
        EXECUTE format('%s %s %s %s', verb, what, preposition, role);
    END LOOP;
END
$$;

CREATE OR REPLACE FUNCTION fsbench.help() RETURNS TABLE (verb text, what text, example text)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
    AS $$
    VALUES
        ('doctor', 'what is here, what is missing', 'SELECT * FROM fsbench.doctor()'),
        ('run', 'makes a run, and waits for it', 'SELECT * FROM fsbench.run(target => ''xfs'')'),
        ('sustainable_rate', 'how fast it can go at 20 ms', 'SELECT * FROM fsbench.sustainable_rate(''xfs'', 20)'),
        ('start', 'starts a run or queues it', 'SELECT fsbench.start(scale => 10, clients => 8)'),
        ('wait', 'waits for a run, and shows it', 'SELECT * FROM fsbench.wait(7)'),
        ('wait', 'waits for runs, holding nothing', 'CALL fsbench.wait(7)'),
        ('cancel', 'cancels a run', 'SELECT fsbench.cancel(7)'),
        ('judge', 'judges a run again', 'SELECT * FROM fsbench.judge(7)'),
        ('findings', 'in what several runs differ', 'SELECT * FROM fsbench.findings(''{7,8}'')'),
        ('diff', 'what differs between two runs', 'SELECT * FROM fsbench.diff(7, 8)'),
        ('percentile', 'any percentile of its latency', 'SELECT fsbench.percentile(0.999, 7)'),
        ('bucket_low_ms', 'where a histogram bucket begins', 'SELECT fsbench.bucket_low_ms(700)'),
        ('bucket_high_ms', 'where it ends', 'SELECT fsbench.bucket_high_ms(700)'),
        ('wait_profile', 'what a run''s clients waited for', 'SELECT * FROM fsbench.wait_profile(7)'),
        ('scan_curve', 'speed of scans, by degree', 'SELECT * FROM fsbench.scan_curve(7)'),
        ('scan_knee', 'where more workers do not help', 'SELECT * FROM fsbench.scan_knee(7)'),
        ('knee', 'the same of any curve', 'SELECT * FROM fsbench.knee(''{1,2,4}'', ''{9,5,5}'')'),
        ('chart', 'a run by second, as a chart', 'SELECT fsbench.chart(7)'),
        ('chart_scan', 'speed of scans, as a chart', 'SELECT fsbench.chart_scan(7)'),
        ('chart_experiment', 'verdicts, as a chart', 'SELECT fsbench.chart_experiment(''new'')'),
        ('evidence', 'a run, for the storage team', 'SELECT * FROM fsbench.evidence(7)'),
        ('history', 'nights of a label, and changes', 'SELECT * FROM fsbench.history(''nightly'')'),
        ('check_history', 'an error when it got worse', 'SELECT * FROM fsbench.check_history(''nightly'')'),
        ('acknowledge', 'accepts a change for the worse', 'SELECT fsbench.acknowledge(7, ''new disk'')'),
        ('thin', 'forgets seconds of old runs', 'SELECT * FROM fsbench.thin(''90 days'', only_say => true)'),
        ('report', 'a page to send', 'SELECT fsbench.report(''new'')'),
        ('chart_svg', 'its verdicts, as a picture', 'SELECT fsbench.chart_svg(''new'')'),
        ('export', 'an experiment, to be taken away', 'SELECT fsbench.export(''new'')'),
        ('import', 'reads what others have exported', 'SELECT * FROM fsbench.import(:''file'', ''db1'')'),
        ('drop_imported', 'forgets what came of a host', 'SELECT fsbench.drop_imported(''db1'')'),
        ('chart_history', 'nights of a label, as a chart', 'SELECT fsbench.chart_history(''nightly'')'),
        ('experiment', 'finds out which is best', 'SELECT fsbench.experiment(''new'', ''{ext4,xfs}'')'),
        ('plan_experiment', 'what that would do', 'SELECT * FROM fsbench.plan_experiment(''new'', ''{ext4,xfs}'')'),
        ('compare', 'what it says of each target', 'SELECT * FROM fsbench.compare(''new'')'),
        ('compare_runs', 'two runs side by side', 'SELECT * FROM fsbench.compare_runs(7, 8)'),
        ('recommend', 'what to do then', 'SELECT * FROM fsbench.recommend(''new'')'),
        ('wait_experiment', 'waits until it is over', 'CALL fsbench.wait_experiment(''new'')'),
        ('pause_experiment', 'makes no further run of it', 'SELECT fsbench.pause_experiment(''new'')'),
        ('resume_experiment', 'goes on with it', 'SELECT fsbench.resume_experiment(''new'')'),
        ('cancel_experiment', 'ends it with what is known', 'SELECT fsbench.cancel_experiment(''new'')'),
        ('extend_experiment', 'makes more blocks', 'SELECT fsbench.extend_experiment(''new'', 16)'),
        ('confirm_experiment', 'makes it once more', 'SELECT fsbench.confirm_experiment(''new'')'),
        ('drop_experiment', 'forgets it, keeps results', 'SELECT fsbench.drop_experiment(''new'')'),
        ('study_plan', 'what a study would do', 'SELECT * FROM fsbench.study_plan(''heron-2010'', ''4GB'')'),
        ('study', 'repeats a published benchmark', 'SELECT fsbench.study(''heron-2010'', ''4GB'')'),
        ('study_claims', 'which of its claims hold here', 'SELECT * FROM fsbench.study_claims(''heron-2010'')'),
        ('study_report', 'its table, ours beside it', 'SELECT * FROM fsbench.study_report(''heron-2010'')'),
        ('define_study', 'records a study of your own', 'SELECT fsbench.define_study(''{"study": "own"}'')'),
        ('drop_study', 'forgets what was made of it', 'SELECT fsbench.drop_study(''heron-2010'')'),
        ('verdict', 'is the difference real?', 'SELECT * FROM fsbench.verdict(''{9,8,9}'', ''{{7,7,8}}'')'),
        ('verdict_best', 'which target is the best?', 'SELECT * FROM fsbench.verdict_best(''{{9,8,9},{7,7,8}}'')'),
        ('set_aside', 'mean without what is far away', 'SELECT * FROM fsbench.set_aside(''{1,1,2,1,2,9}'')'),
        ('change_points', 'when the level has changed', 'SELECT * FROM fsbench.change_points(''{4,4,4,5,5,5}'')'),
        ('rate_estimate', 'at which rate so many are late', 'SELECT fsbench.rate_estimate(''{1,2}'', ''{99,99}'', ''{0,9}'', 0.01)'),
        ('student_t', 'a quantile of Student''s t', 'SELECT fsbench.student_t(0.005, 3)'),
        ('create_target', 'records a directory as a target', 'SELECT fsbench.create_target(''a'', directory => ''/mnt/a'')'),
        ('create_target', 'records a filesystem to be made', 'SELECT fsbench.create_target(''xfs'', ''xfs'', image_size => ''2GB'')'),
        ('alter_target', 'changes a target', 'SELECT fsbench.alter_target(''xfs'', drop_caches => false)'),
        ('drop_target', 'forgets a target, keeps results', 'SELECT fsbench.drop_target(''xfs'')'),
        ('plan', 'every step of a run, beforehand', 'SELECT * FROM fsbench.plan(''xfs'')'),
        ('prepare_target', 'makes and mounts a filesystem', 'SELECT * FROM fsbench.prepare_target(''xfs'')'),
        ('release_target', 'unmounts and removes it', 'SELECT fsbench.release_target(''xfs'')'),
        ('describe_devices', 'lists devices, newly looked at', 'SELECT * FROM fsbench.describe_devices()'),
        ('drop_prepared_data', 'removes the data that runs copy', 'SELECT fsbench.drop_prepared_data()'),
        ('grant_operator', 'lets a role make runs', 'SELECT fsbench.grant_operator(''bob'')'),
        ('revoke_operator', 'takes that back', 'SELECT fsbench.revoke_operator(''bob'')'),
        ('version', 'version of the library', 'SELECT fsbench.version()'),
        ('help', 'this list; more: \df+ fsbench.*', 'SELECT * FROM fsbench.help()')
    $$;
-- How a value of a column has to be written in JSON, so that a cast can go wrong in a clear way only; and what values no run has.
CREATE OR REPLACE FUNCTION fsbench._import_column(relation name, attname name, type oid, at integer, OUT value text, OUT wrong text)
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    given text := format('(r -> %s)', at);
    words text := format('(r ->> %s)', at);
BEGIN
    CASE
        WHEN type = 'jsonb'::regtype THEN
            value := format('nullif(%s, ''null'')', given);
            wrong := CASE WHEN attname IN ('phases', 'steps', 'layers', 'wal_layers', 'looks', 'run_order')
                THEN format('jsonb_typeof(%s) NOT IN (''array'', ''null'') OR (jsonb_typeof(%s) = ''array'' AND jsonb_array_length(%s) > %s)', given, given, given,
                    -- Each look is gone through whenever somebody asks for verdicts.
                    CASE WHEN attname IN ('looks', 'run_order') THEN 50 ELSE 10000 END)
                WHEN relation = 'scan' THEN format('jsonb_typeof(%s) NOT IN (''array'', ''object'', ''null'')', given)
                ELSE format('jsonb_typeof(%s) NOT IN (''object'', ''null'')', given) END;
        WHEN type IN ('smallint[]'::regtype, 'bigint[]'::regtype, 'text[]'::regtype) THEN
            value := format('CASE WHEN jsonb_typeof(%s) = ''array'' THEN ARRAY(SELECT e.x FROM jsonb_array_elements_text(%s) WITH ORDINALITY e (x, o) ORDER BY e.o)::%s END',
                given, given, type::regtype);
            wrong := format('jsonb_typeof(%s) NOT IN (''array'', ''null'') OR (jsonb_typeof(%s) = ''array'' AND jsonb_array_length(%s) > 10000)', given, given, given);
        WHEN type IN ('smallint'::regtype, 'integer'::regtype, 'bigint'::regtype, 'real'::regtype, 'float8'::regtype, 'numeric'::regtype) THEN
            value := format('%s::%s', words, type::regtype);
            wrong := format('jsonb_typeof(%s) NOT IN (''number'', ''null'')', given);
        WHEN type = 'boolean'::regtype THEN
            value := format('%s::boolean', words);
            wrong := format('jsonb_typeof(%s) NOT IN (''boolean'', ''null'')', given);
        WHEN type = 'timestamptz'::regtype THEN
            value := format('%s::timestamptz', words);
            wrong := format('jsonb_typeof(%s) NOT IN (''string'', ''null'') OR %s !~ ''^\d{4}-\d\d-\d\dT[0-9:.+-]+$'' '
                'OR NOT %s::timestamptz BETWEEN ''2000-01-01 UTC'' AND clock_timestamp() + interval ''1 day''', given, words, words);
        ELSE
            value := format('%s::%s', words, type::regtype);
            -- Short ones are names.
            wrong := format('jsonb_typeof(%s) NOT IN (''string'', ''null'') OR length(%s) > %s OR (%L AND %s ~ ''[[:cntrl:]]'')', given, words,
                CASE WHEN attname IN ('target', 'workload', 'target_name', 'label', 'experiment', 'code', 'metric', 'transaction') THEN 200 ELSE 100000 END,
                attname IN ('target', 'workload', 'target_name', 'label', 'experiment', 'code', 'metric', 'transaction'), words);
    END CASE;
END
$$;
